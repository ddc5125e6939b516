"""Play a policy over many tasks and record every episode: several pages at one time, resumable, failures kept.

A folder of rollouts holds one recording an episode, `episodes.jsonl` with one line each, and `rollout.json` with what made
it. An episode that broke down (the browser died) or was interrupted keeps its recording, marked as such, and is played
again under another name: none is lost, none counts twice.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cuadata import __version__, recording, registry, schema
from cuadata.browsing.loop import shared
from cuadata.building import folders
from cuadata.contracts import Choice, Policy
from cuadata.environment import browsers_for, stage_of
from cuadata.episodes import registration
from cuadata.episodes.episode import Episode
from cuadata.errors import CallError, DataError
from cuadata.scores.tables import TRIVIAL
from cuadata.types import Ended, Outcome, Task

if TYPE_CHECKING:
    from cuadata.browsing.browsers import Browsers
    from cuadata.episodes.stage import Stage

EPISODES, MADE = "episodes.jsonl", "rollout.json"
#: Seconds that one action may take before the browser is given up.
LIMIT = 240.0
BROKEN: tuple[Ended, ...] = ("error", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be played."""

    family: Annotated[str, "page family, or miniwob-TASK"]
    policy: Annotated[str, "name of the policy"]
    seeds: Annotated[Sequence[int], "one task each"]
    samples: Annotated[int, "episodes a task"] = 1
    policy_options: Annotated[Mapping[str, Any], "keyword arguments of the policy"] = field(default_factory=dict)
    family_options: Annotated[Mapping[str, Any], "keyword arguments of the family"] = field(default_factory=dict)
    max_steps: Annotated[int | None, "steps an episode; None: twice the solution, at least 30"] = None
    workers: Annotated[int, "pages that are played at one time"] = 2
    browsers: Annotated[int, "browsers that the pages share"] = 1
    screenshot: Annotated[bool, "record pictures"] = True
    no_effect_lines: Annotated[bool, "tell the policy when its last action changed nothing"] = False
    retries: Annotated[int, "further tries of an episode that broke down"] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One line of `episodes.jsonl`."""

    name: Annotated[str, "folder of the recording"]
    seed: Annotated[int, "seed of the task"]
    sample: Annotated[int, "which episode of this task, from 0"]
    ended: Annotated[Ended, "why it ended"]
    exact: Annotated[bool | None, "success by the exact criterion; None where it broke down"]
    default: Annotated[bool | None, "success by the lenient criterion; None where it broke down"]
    raw: Annotated[float | None, "the page's own reward, else the sum of all terms"]
    steps: Annotated[int, "actions taken, unreadable answers among them"]
    fired: Annotated[tuple[str, ...], "reward terms that paid, in order"] = ()
    thinking: Annotated[float, "seconds that the policy took"] = 0.0
    acting: Annotated[float, "seconds that the browser took"] = 0.0


def play(
    plan: Plan,
    out: Path,
    *,
    force: bool = False,
    progress: Callable[[], None] | None = None,
    browsers: Browsers | None = None,
) -> list[Played]:
    """Play what `out` does not hold yet; every episode that counts, in the plan's order.

    `browsers` are used and left running; without them the plan's own are started and ended. CallError where `out` holds rollouts of another plan and `force` is not
    set, and where another process plays into it.
    """
    check(plan)
    with folders.alone(out):
        return _play(plan, out, force, progress, browsers)


def _play(
    plan: Plan, out: Path, force: bool, progress: Callable[[], None] | None, browsers: Browsers | None
) -> list[Played]:
    done = _begin(plan, out, force)
    left = [(seed, sample) for seed in plan.seeds for sample in range(plan.samples) if (seed, sample) not in done]
    for played in _episodes(plan, out, left, browsers):
        done[played.seed, played.sample] = played
        if progress is not None:
            progress()
    return [done[seed, sample] for seed in plan.seeds for sample in range(plan.samples)]


def check(plan: Plan) -> None:
    """CallError for names and numbers that cannot be played, before any browser starts."""
    if not registration.known(plan.family):
        raise CallError(
            f"no family is named '{plan.family}'; there are: {', '.join(registration.families())}, miniwob-TASK"
        )
    if plan.policy not in registry.policies:
        raise CallError(f"no policy is named '{plan.policy}'; there are: {', '.join(registry.policies.names())}")
    if min(plan.samples, plan.workers, plan.browsers) < 1 or not plan.seeds:
        raise CallError("seeds, samples, workers and browsers are 1 or more")


def policy_of(name: str, options: Mapping[str, Any]) -> Policy:
    """A policy by name. CallError for options that it does not take, or lacks."""
    made = registry.policies[name]
    try:
        return made(**options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise CallError(f"policy {name}: {error}; options are given as --option NAME=VALUE") from error


def made_of(plan: Plan) -> dict[str, Any]:
    """What made the rollouts, as plain values; the number of seeds is left out, so that a run can be made longer."""
    return {
        "family": plan.family, "policy": plan.policy, "policy_options": dict(plan.policy_options),
        "family_options": dict(plan.family_options), "max_steps": plan.max_steps, "screenshot": plan.screenshot,
        "no_effect_lines": plan.no_effect_lines, "version": __version__,
    }  # fmt: skip


def _begin(plan: Plan, out: Path, force: bool) -> dict[tuple[int, int], Played]:
    """The episodes that count already; what an earlier process left unfinished is marked as interrupted."""
    made = made_of(plan)
    header = out / MADE
    if header.is_file() and not force:
        held = json.loads(header.read_text())
        if {**held, "version": ""} != {**made, "version": ""}:
            raise CallError(f"{out} holds rollouts of another plan; give another folder, or --force")
    elif out.exists() and any(out.iterdir()):
        if not force:
            raise CallError(f"{out} is not empty and holds no rollouts; give another folder, or --force")
        folders.spare(out, recordings=False)
        _empty(out)
    out.mkdir(parents=True, exist_ok=True)
    folders.put(header, json.dumps(made, indent=2, sort_keys=True) + "\n")
    held_lines = {line.name: line for line in lines(out)}
    for folder in recording.find(out):
        if folder.name not in held_lines:
            line = _read_back(folder)
            held_lines[line.name] = line
            _append(out, line)
    counting = (line for line in held_lines.values() if line.ended not in BROKEN)
    return {(line.seed, line.sample): line for line in counting}


def _empty(out: Path) -> None:
    import shutil

    for held in out.iterdir():
        if held.is_dir():
            shutil.rmtree(held)
        else:
            held.unlink()


def _read_back(folder: Path) -> Played:
    """The line of a recording that has none: the process ended before it was written."""
    with contextlib.suppress(DataError):
        recording.resume(folder, take_over=True).close(Outcome(ended="interrupted", reason="the process ended"))
    held = recording.read(folder, pictures=False)
    seed, sample = _numbers(folder.name)
    known = held.outcome.ended not in BROKEN
    return Played(
        name=folder.name, seed=seed, sample=sample, ended=held.outcome.ended, exact=held.outcome.success,
        default=(held.outcome.raw or 0) > 0 if known else None, raw=held.outcome.raw, steps=len(held.steps),
        fired=tuple(r.name for s in held.steps for r in s.rewards),
    )  # fmt: skip


def lines(out: Path) -> Iterator[Played]:
    """The lines of a folder; a last line that was cut off is left out."""
    file = out / EPISODES
    for line in file.read_bytes().split(b"\n") if file.is_file() else ():
        with contextlib.suppress(ValueError):
            if line.strip():
                yield schema.from_json(line, Played)


_WRITING = threading.Lock()


def _append(out: Path, line: Played) -> None:
    import os

    with _WRITING, (out / EPISODES).open("ab") as file:
        if file.tell() and not (out / EPISODES).read_bytes().endswith(b"\n"):
            file.write(b"\n")
        file.write(schema.to_json(line) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _name(seed: int, sample: int, again: int) -> str:
    return f"seed{seed}-sample{sample}" + (f"-again{again}" if again else "")


def _numbers(name: str) -> tuple[int, int]:
    parts = name.split("-")
    return int(parts[0].removeprefix("seed")), int(parts[1].removeprefix("sample"))


def _episodes(
    plan: Plan, out: Path, left: Sequence[tuple[int, int]], given: Browsers | None = None
) -> Iterator[Played]:
    """Episodes as they end; each worker has a page and a policy of its own."""
    if not left:
        return
    first = registration.task(plan.family, plan.seeds[0], **plan.family_options)
    browsers = given or browsers_for(first, plan.browsers)
    todo: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
    for one in left:
        todo.put(one)
    ended: queue.SimpleQueue[Played | BaseException] = queue.SimpleQueue()
    stop = threading.Event()

    def work(number: int) -> None:
        try:
            stage = stage_of(first, screenshot=plan.screenshot, browser=browsers.seat(number))
            policy = policy_of(plan.policy, plan.policy_options)
            try:
                while not stop.is_set() and not todo.empty():
                    with contextlib.suppress(queue.Empty):
                        ended.put(_tries(plan, out, stage, policy, *todo.get_nowait()))
            finally:
                shared().run(stage.close(), 30)
        except BaseException as error:  # noqa: BLE001
            ended.put(error)

    with ThreadPoolExecutor(min(plan.workers, len(left))) as pool:
        try:
            for number in range(min(plan.workers, len(left))):
                pool.submit(work, number)
            for _ in left:
                told = ended.get()
                if isinstance(told, BaseException):
                    raise told
                yield told
        finally:
            stop.set()
            pool.shutdown()
            if given is None:
                shared().run(browsers.close(), 30)


def _tries(plan: Plan, out: Path, stage: Stage, policy: Policy, seed: int, sample: int) -> Played:
    """One episode, played again where it broke down."""
    played = None
    for _ in range(plan.retries + 1):
        again = next(n for n in range(1_000_000) if not (out / _name(seed, sample, n)).exists())
        played = attempt(plan, out / _name(seed, sample, again), stage, policy, seed, sample)
        _append(out, played)
        if played.ended not in BROKEN:
            break
    assert played is not None
    return played


def attempt(plan: Plan, folder: Path, stage: Stage, policy: Policy, seed: int, sample: int) -> Played:
    """One episode from its beginning to its end, every step on disk before the next is chosen."""
    task = registration.task(plan.family, seed, **plan.family_options)
    episode = Episode(stage, task, max_steps=plan.max_steps, no_effect_lines=plan.no_effect_lines)
    loop, clock = shared(), _Clock()
    try:
        with clock.acting():
            loop.run(episode.begin(), LIMIT)
    except Exception as error:  # noqa: BLE001
        with _writer(folder, episode.task, plan, stage) as writer:
            writer.close(Outcome(ended="error", reason=f"the page did not open: {error}"[:300]))
        return _line(folder, episode, seed, sample, clock, ended="error")
    policy.reset(episode.task, seed + sample * 1_000_003)
    with _writer(folder, episode.task, plan, stage) as writer:
        while episode.ended == "running":
            with clock.thinking():
                choice = policy.act(episode.observation, episode.prompt())
            for _ in played(episode, choice, clock):
                if len(writer) < len(episode.steps):
                    writer.add(episode.steps[-1])
        writer.close(episode.outcome)
    return _line(folder, episode, seed, sample, clock)


def played(episode: Episode, choice: Choice, clock: _Clock | None = None) -> Iterator[None]:
    """Play what a policy chose and the further actions of the same text, one a turn, until the episode ends."""
    clock = clock or _Clock()
    if choice.action is None:
        episode.misread(choice.failure or "the policy chose nothing", output=choice.output, logprob=choice.logprob)
        yield
        return
    chosen = episode.observation
    for number, action in enumerate((choice.action, *choice.rest)):
        if episode.ended != "running":
            return
        first = number == 0
        with clock.acting():
            shared().run(
                episode.play(
                    action,
                    output=choice.output if first else None,
                    logprob=choice.logprob if first else None,
                    chosen=chosen,
                ),
                LIMIT,
            )
        yield


class _Clock:
    """Where the time of an episode went, seconds."""

    def __init__(self) -> None:
        self.spent = {"thinking": 0.0, "acting": 0.0}

    def thinking(self) -> contextlib.AbstractContextManager[None]:
        return self._count("thinking")

    def acting(self) -> contextlib.AbstractContextManager[None]:
        return self._count("acting")

    @contextlib.contextmanager
    def _count(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spent[what] += time.perf_counter() - began


def _writer(folder: Path, task: Task, plan: Plan, stage: Stage) -> recording.Writer:
    return recording.create(
        folder,
        id=f"{task.id}/{plan.policy}/{folder.name}",
        instruction=task.instruction,
        source=plan.policy,
        task=task,
        viewport=task.viewport,
        device_pixel_ratio=task.device_pixel_ratio,
        browser=stage.browser,
        site=task.family,
    )


def _line(folder: Path, episode: Episode, seed: int, sample: int, clock: _Clock, ended: Ended | None = None) -> Played:
    known = (ended or episode.ended) not in BROKEN
    return Played(
        name=folder.name, seed=seed, sample=sample, ended=ended or episode.ended, exact=episode.exact if known else None,
        default=episode.default if known else None, raw=episode.raw if known else None, steps=len(episode.steps),
        fired=tuple(r.name for s in episode.steps for r in s.rewards), thinking=round(clock.spent["thinking"], 3),
        acting=round(clock.spent["acting"], 3),
    )  # fmt: skip


def _has_model(plan: Plan) -> bool:
    """Whether a model chooses; where none does, next to all of the time is the browser's."""
    return str(plan.policy_options.get("helper", "oracle") if plan.policy == "stumble" else plan.policy) not in TRIVIAL


def summary(plan: Plan, held: Sequence[Played], seconds: float) -> dict[str, Any]:
    """What a rollout came to, as plain values: both criteria with intervals, terms, ends, and where the time went."""
    from collections import Counter

    from msgspec import to_builtins

    from cuadata.statistics.intervals import average, rate

    thinking, acting = sum(p.thinking for p in held), sum(p.acting for p in held)
    return {
        "family": plan.family,
        "policy": plan.policy,
        "episodes": len(held),
        "exact": to_builtins(rate([p.exact is True for p in held])),
        "default": to_builtins(rate([p.default is True for p in held])),
        "mean_raw": average([p.raw or 0.0 for p in held]) if held else 0.0,
        "ended": dict(sorted(Counter(p.ended for p in held).items())),
        "terms": dict(Counter(name for p in held for name in p.fired)),
        "steps": sum(p.steps for p in held),
        "seconds": round(seconds, 1),
        "episodes_an_hour": round(3600 * len(held) / seconds) if seconds > 0 else None,
        "browser_share": round(acting / (acting + thinking), 3) if acting + thinking > 0 else None,
        "has_model": _has_model(plan),
    }
