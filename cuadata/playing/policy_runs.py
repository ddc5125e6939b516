"""Evaluating a policy in environments: a fixed set of seeds, each played to its end, trivial policies beside it."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cuadata import __version__, parity, registry
from cuadata.contracts import Format, Policy, Prompt
from cuadata.episodes import registration
from cuadata.errors import CallError, DataError
from cuadata.playing import attempts, playing, voting_policy
from cuadata.playing.attempts import Named, episode_of
from cuadata.scores import runs, tables
from cuadata.scores.evaluation import described, save_result
from cuadata.scores.runs import Episode, Run
from cuadata.types import Outcome

if TYPE_CHECKING:
    from cuadata.environment import BrowserEnv

Progress = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be played."""

    family: Annotated[str, "page family, or miniwob-TASK"]
    policy: Annotated[str, "name of the policy"]
    seeds: Annotated[Sequence[int], "one episode each, times `samples`"]
    name: Annotated[str | None, "what tables call the run; the policy's name where None"] = None
    samples: Annotated[int, "episodes a seed"] = 1
    vote: Annotated[int | None, "answers of the policy joined into one action"] = None
    policy_options: Annotated[Mapping[str, Any], "keyword arguments of the policy"] = field(default_factory=dict)
    family_options: Annotated[Mapping[str, Any], "keyword arguments of the family"] = field(default_factory=dict)
    environment: Annotated[Mapping[str, Any], "keyword arguments of the environment"] = field(default_factory=dict)
    workers: Annotated[int, "pages that are played at one time"] = 1

    def run(self) -> Run:
        """What made the run, for its header."""
        options = {"policy": self.policy_options, "family": self.family_options, "environment": self.environment}
        return Run(
            name=self.name or self.policy,
            kind="episodes",
            what=self.family,
            items=runs.items(id_of(self, *one) for one in self.tries()),
            count=len(self.seeds) * self.samples,
            format=self.policy_options.get("format"),
            vote=self.vote,
            options=json.dumps({k: dict(v) for k, v in options.items() if v}, sort_keys=True, default=str),
            version=__version__,
        )

    def tries(self) -> Iterator[tuple[int, int]]:
        """Every seed and sample, in order."""
        return ((seed, sample) for seed in self.seeds for sample in range(self.samples))


def id_of(plan: Plan, seed: int, sample: int) -> str:
    """The id of an episode: the same for every policy, so that runs pair up."""
    return f"{plan.family}/{seed}" + (f"/{sample}" if plan.samples > 1 else "")


def plan(
    family: str,
    policy: str,
    seeds: str,
    *,
    name: str | None = None,
    samples: int = 1,
    vote: int | None = None,
    option: Sequence[str] = (),
    set: Sequence[str] = (),
    max_steps: int | None = None,
    no_effect_lines: bool = False,
    workers: int = 1,
) -> Plan:
    """A plan from what a command line says. CallError where it says nothing that could be played."""
    if not policy:
        raise CallError(f"'{family}' needs --policy to be played as a family, or --gold to be scored as predictions")
    made = Plan(
        family=family,
        policy=policy,
        seeds=runs.seeds(seeds),
        name=name,
        samples=samples,
        vote=vote,
        policy_options=options(option),
        family_options=options(set),
        environment=({} if max_steps is None else {"max_steps": max_steps})
        | ({"no_effect_lines": True} if no_effect_lines else {}),
        workers=workers,
    )
    check(made)
    return made


def length(plan: Plan, *, trivial: bool = True) -> int:
    """Episodes that an evaluation plays, those of trivial policies among them."""
    return len(plan.seeds) * (plan.samples + (len(_trivial(plan)) if trivial else 0))


def options(texts: Sequence[str]) -> dict[str, Any]:
    """Keyword arguments from `name=value` texts; a value is JSON where it can be read as such, and else the text itself."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise CallError(f"'{text}' sets nothing; write name=value")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value
    return found


def check(plan: Plan) -> None:
    """CallError for a family, a policy or numbers that are none, before any browser starts."""
    if not registration.known(plan.family):
        raise CallError(
            f"no family is named '{plan.family}'; there are: {', '.join(registration.families())}, miniwob-TASK"
        )
    if plan.policy not in registry.policies:
        raise CallError(
            f"no policy is named '{plan.policy}'; there are: {', '.join(registry.policies.names()) or 'none'}"
        )
    if plan.samples < 1 or plan.workers < 1 or (plan.vote is not None and plan.vote < 1):
        raise CallError("samples, workers and vote are 1 or more")


def evaluate(
    plan: Plan, out: Path | None = None, *, force: bool = False, trivial: bool = True, progress: Progress | None = None
) -> tuple[Run, dict[str, Any]]:
    """Play the plan and the trivial policies on the same seeds; the run, and the summary that `--json` prints.

    With `out` every episode is written as it ends and interrupted work resumes; trivial policies have folders of their
    own in `out/trivial`. CallError as `check`.
    """
    check(plan)
    held = play(plan, out, force=force, progress=progress)
    beside: dict[str, tuple[Episode, ...]] = {}
    for name in _trivial(plan) if trivial else ():
        other = Plan(
            family=plan.family,
            policy=name,
            seeds=plan.seeds,
            family_options=plan.family_options,
            environment=plan.environment,
            workers=plan.workers,
        )
        beside[name] = play(other, None if out is None else out / "trivial" / name, force=force, progress=progress)
    run = _with_browser(plan.run())
    result = {**described(run), **tables.summary(held, beside)}
    if out is not None:
        save_result(out, result)
    return run, result


def evaluate_recorded(folder: Path, out: Path | None = None, *, force: bool = False) -> tuple[Run, dict[str, Any]]:
    """The same for episodes that `cuadata rollout` recorded; trivial policies are not played beside them."""
    run, held = attempts.recorded(folder)
    result = {**described(run), **tables.summary(held)}
    if out is not None:
        runs.begin(out, run, force=force, reads=[folder])
        done = {one.id for one in runs.episodes(out)}
        for one in held:
            if one.id not in done:
                runs.append(out, one)
        save_result(out, result)
    return run, result


def _with_browser(run: Run) -> Run:
    from cuadata.browsing import browser_find

    found = browser_find.find()
    return replace(run, browser=f"{found.kind} {found.version}")


def _trivial(plan: Plan) -> list[str]:
    """The trivial policies that there are, without the one that is played anyway."""
    return [name for name in tables.TRIVIAL if name != plan.policy and name in registry.policies]


def play(
    plan: Plan, out: Path | None = None, *, force: bool = False, progress: Progress | None = None
) -> tuple[Episode, ...]:
    """Every episode of a plan, in the plan's order; what `out` holds already is not played again."""
    done: dict[str, Episode] = {}
    if out is not None:
        runs.begin(out, _with_browser(plan.run()), force=force)
        done = {one.id: one for one in runs.episodes(out)}
    left = [one for one in plan.tries() if id_of(plan, *one) not in done]
    for episode in _episodes(plan, left, out):
        done[episode.id] = episode
        if out is not None:
            runs.append(out, episode)
        if progress is not None:
            progress()
    return tuple(done[id_of(plan, *one)] for one in plan.tries())


def check_lines(plan: Plan, trained_on: Path | None) -> str | None:
    """What is to be said of a run, before it starts, that puts lines into its prompts; None where there are none.

    DataError that names them where the rows that the model was trained on never had such lines.
    """
    if not plan.environment.get("no_effect_lines"):
        return None
    name = plan.name or plan.policy
    if trained_on is None:
        return f"{name} is told no_effect lines; --trained-on DATA would say whether its training rows had any"
    form = plan.policy_options.get("format")
    family = registry.formats[form] if form else None
    rows = (parity.skeleton(row, family, place=place) for place, row in parity.read(trained_on))
    parity.refuse_new_lines(rows, ["no_effect"], name)
    return f"{name} is told no_effect lines, as its training rows were"


def _episodes(plan: Plan, tries: Sequence[tuple[int, int]], out: Path | None) -> Iterator[Episode]:
    """Episodes as they end, on as many pages as there are workers; each worker has a page and a policy of its own."""
    if not tries:
        return
    seats = threading.local()
    with ExitStack() as opened:
        lock = threading.Lock()

        def one(chosen: tuple[int, int]) -> Episode:
            if not hasattr(seats, "held"):
                with lock:
                    seats.held = (opened.enter_context(closing(_environment(plan))), _policy(plan))
            env, policy = seats.held
            return attempt(env, policy, plan, *chosen, out=out)

        pool = ThreadPoolExecutor(min(plan.workers, len(tries)))
        opened.callback(pool.shutdown, cancel_futures=True)
        yield from pool.map(one, tries)


def _environment(plan: Plan) -> BrowserEnv:
    from cuadata import environment

    return environment.make(plan.family, plan.seeds[0], **{**plan.family_options, **plan.environment})


def _policy(plan: Plan) -> Policy:
    inner = playing.policy_of(plan.policy, plan.policy_options)
    return inner if plan.vote is None else voting_policy.Voting(inner, plan.vote)


def attempt(
    env: BrowserEnv, policy: Policy, plan: Plan, seed: int, sample: int = 0, *, out: Path | None = None
) -> Episode:
    """One episode of a policy, from reset to its end; played once more where it broke down.

    Where the policy speaks a format, what it is asked goes into the prompts of `out`.
    """
    form = plan.policy_options.get("format")
    ask = None if out is None or form is None else functools.partial(_noted, out / runs.PROMPTS, registry.formats[form])
    played = _attempt(env, policy, plan, seed, sample, ask)
    return _attempt(env, policy, plan, seed, sample, ask) if played.ended in playing.BROKEN else played


def _noted(log: Path, form: Format, prompt: Prompt) -> None:
    parity.append(log, prompt, form)


def _attempt(
    env: BrowserEnv, policy: Policy, plan: Plan, seed: int, sample: int, asked: Callable[[Prompt], None] | None
) -> Episode:
    named = Named(id_of(plan, seed, sample), plan.family, seed, sample)
    try:
        env.reset(seed=seed)
    except DataError as error:
        task = registration.task(plan.family, seed, **plan.family_options)
        return episode_of(task, (), None, Outcome(ended="error", success=None, reason=str(error)), None, named)
    assert env.episode is not None
    episode = env.episode
    first = episode.observation
    policy.reset(episode.task, seed + sample * 1_000_003)
    while episode.ended == "running":
        prompt = episode.prompt()
        if asked is not None:
            asked(prompt)
        choice = policy.act(episode.observation, prompt)
        for _ in playing.played(episode, choice):
            pass
    return episode_of(episode.task, episode.steps, first, episode.outcome, episode.default, named)
