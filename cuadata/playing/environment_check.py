"""Proves an environment's rewards alive before anyone trains on them.

Played are the solution, every wrong path that the family names, the solution with every action done three times, a random
policy, and the solution under every markup that the family can be drawn in. The verdict fails where a term fires on no
path, the solution does not reach success, success stands before anything is done, a wrong path reaches it or earns the
final term, a term pays more than its value, or the rewards notice the markup.
"""

from __future__ import annotations

import inspect
import queue
import typing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Any

from cuadata import registry
from cuadata.browsing.loop import shared
from cuadata.environment import browsers_for, stage_of
from cuadata.episodes import registration
from cuadata.episodes.episode import Episode, budget
from cuadata.episodes.stage import Stage
from cuadata.episodes.terms import check as check_terms
from cuadata.errors import CallError
from cuadata.playing.playing import played
from cuadata.types import Ended, Task

#: Options of a family that change how a page is built and nothing that it means.
MARKUPS = ("markup", "button")
SOLUTION, THRICE, RANDOM = "solution", "every_action_thrice", "random"
#: Browsers that the pages of a check share.
BROWSERS = 2
#: Path, task, policy and the most steps that an episode may take.
Job = tuple[str, Task, str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One episode of a check."""

    path: Annotated[str, "solution, a wrong path's name, every_action_thrice, random, or NAME=VALUE of a markup"]
    seed: Annotated[int, "seed of the task"]
    rewards: Annotated[tuple[tuple[str, float], ...], "what was paid, in order: term and value"]
    by_step: Annotated[tuple[float, ...], "reward of each step"]
    success: Annotated[bool, "by the exact criterion, at the end"]
    ended: Annotated[Ended, "why it ended"]
    reason: Annotated[str | None, "detail"] = None
    won: Annotated[bool, "success stood on the page before anything was done"] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check found."""

    family: str
    terms: Annotated[tuple[str, ...], "the terms of all tasks played, in order"]
    runs: tuple[Run, ...]
    problems: Annotated[tuple[str, ...], "why it fails, one sentence each; empty where it passes"]

    def fired(self) -> dict[str, dict[str, int]]:
        """Term to path to how often it paid."""
        found: dict[str, dict[str, int]] = {name: {} for name in self.terms}
        for run in self.runs:
            for name, value in run.rewards:
                if value > 0:
                    held = found.setdefault(name, {})
                    held[run.path] = held.get(run.path, 0) + 1
        return found

    def plain(self) -> dict[str, Any]:
        """For `--json`."""
        paths = dict.fromkeys(run.path for run in self.runs)
        return {
            "family": self.family,
            "passes": not self.problems,
            "problems": list(self.problems),
            "terms": self.fired(),
            "paths": {
                path: {
                    "episodes": sum(r.path == path for r in self.runs),
                    "successes": sum(r.success for r in self.runs if r.path == path),
                    "mean_reward": _mean([sum(r.by_step) for r in self.runs if r.path == path]),
                }
                for path in paths
            },
        }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def choices(family: str, option: str) -> tuple[str, ...]:
    """The values that a family's option can take, from its signature; empty where it has no such option."""
    if registration.is_file(family):
        return ()
    name = "miniwob" if family.startswith(registration.MINIWOB) else family
    function = registry.families[name]
    if option not in inspect.signature(function).parameters:
        return ()
    hint = typing.get_type_hints(function).get(option)
    literals = [hint, *typing.get_args(hint)]
    return next((typing.get_args(h) for h in literals if typing.get_origin(h) is typing.Literal), ())


def wrong_paths(family: str) -> tuple[str, ...]:
    """The wrong paths that a family names."""
    return tuple(path for path in choices(family, "path") if path != SOLUTION)


def check(
    family: str,
    seeds: Sequence[int] = range(3),
    *,
    random_steps: int = 20,
    workers: int = 1,
    progress: Callable[[], None] | None = None,
    **options: Any,
) -> Report:
    """Play everything on these seeds, on `workers` pages at one time, and judge it.

    CallError for a family that is none, terms that cannot be right, or fewer than one page.
    """
    if workers < 1:
        raise CallError(f"workers are pages that are played at one time, 1 or more; got {workers}")
    if not registration.known(family):
        raise CallError(f"no family is named '{family}'; there are: {', '.join(registration.families())}, miniwob-TASK")
    first = registration.task(family, seeds[0], **options)
    check_terms(first)
    todo = list(_todo(family, seeds, random_steps, options))
    names = dict.fromkeys(term.name for _, task, _, _ in todo for term in task.terms)
    runs: list[Run] = []
    for run in _all(first, todo, workers):
        runs.append(run)
        if progress is not None:
            progress()
    terms = tuple(names) or ("raw",)
    final = first.terms[-1].name if first.terms else "raw"
    return Report(family=family, terms=terms, runs=tuple(runs), problems=tuple(problems(runs, terms, final, first)))


def length(family: str, seeds: Sequence[int]) -> int:
    """Episodes that a check plays."""
    return sum(1 for _ in _kinds(family)) * len(seeds)


def _kinds(family: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield SOLUTION, {}
    for path in wrong_paths(family):
        yield path, {"path": path}
    for option in MARKUPS:
        for value in choices(family, option):
            yield f"{option}={value}", {option: value}
    yield THRICE, {}
    yield RANDOM, {}


def _todo(family: str, seeds: Sequence[int], random_steps: int, options: dict[str, Any]) -> Iterator[Job]:
    for seed in seeds:
        for path, given in _kinds(family):
            task = registration.task(family, seed, **{**options, **given})
            if path == THRICE:
                task = replace(task, solution=tuple(move for move in task.solution for _ in range(3)))
            policy, most = ("random", min(random_steps, budget(task))) if path == RANDOM else ("oracle", None)
            yield path, task, policy, most


def _all(first: Task, todo: Sequence[Job], workers: int) -> Iterator[Run]:
    """Every episode, in order, on pages of their own: a gauntlet takes thirteen walks a seed, one of them three times as long."""
    browsers = browsers_for(first, min(workers, BROWSERS))
    idle: queue.SimpleQueue[Stage] = queue.SimpleQueue()
    for number in range(workers):
        idle.put(stage_of(first, screenshot=False, effect=False, browser=browsers.seat(number)))

    def one(job: Job) -> Run:
        path, task, policy, most = job
        stage = idle.get()
        try:
            return play(stage, task, path, policy, most)
        finally:
            idle.put(stage)

    try:
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(one, todo)
    finally:
        while not idle.empty():
            shared().run(idle.get().close(), 30)
        shared().run(browsers.close(), 30)


def play(stage: Stage, task: Task, path: str, policy: str, max_steps: int | None = None) -> Run:
    """One episode; a policy that is done ends it."""
    episode = Episode(stage, task, max_steps=max_steps)
    player = registry.policies[policy]()
    loop = shared()
    loop.run(episode.begin(), 240)
    player.reset(episode.task, task.seed)
    won = episode.exact
    while episode.ended == "running":
        for _ in played(episode, player.act(episode.observation, episode.prompt())):
            pass
    return Run(
        path=path,
        seed=task.seed,
        rewards=tuple((r.name, r.value) for s in episode.steps for r in s.rewards),
        by_step=tuple(round(sum(r.value for r in s.rewards), 6) for s in episode.steps),
        success=episode.exact,
        ended=episode.ended,
        reason=episode.reason,
        won=won,
    )


def problems(runs: Sequence[Run], terms: Sequence[str], final: str, task: Task) -> Iterator[str]:
    """Every reason to refuse the environment, one sentence each."""
    for run in runs:
        where = f"seed {run.seed}, {run.path}"
        if run.ended == "error":
            yield f"{where}: the environment broke down: {run.reason}"
        if run.path == SOLUTION and run.won:
            yield f"{where}: success stands on the page before anything is done"
        if run.path == SOLUTION and not run.success:
            yield f"{where}: the solution does not reach success ({run.ended}: {run.reason})"
        if _is_wrong(run) and run.success:
            yield f"{where}: a wrong path reaches success"
        if _is_wrong(run) and any(name == final and value > 0 for name, value in run.rewards):
            yield f"{where}: a wrong path earns the final term '{final}'"
        yield from (f"{where}: {words}" for words in _farmed(run, task))
    paid = {name for run in runs for name, value in run.rewards if value > 0}
    alive = {name for r in runs if r.path == SOLUTION for name, v in r.rewards if v > 0}
    for name in terms:
        if name not in paid:
            yield f"the term '{name}' never fired on any path: it is dead"
    if terms and not alive:
        yield "no term fired under the solution"
    elif final not in alive:
        yield f"the final term '{final}' never fired under the solution"
    yield from _noticed(runs)


def _is_wrong(run: Run) -> bool:
    return run.path not in (SOLUTION, THRICE, RANDOM) and "=" not in run.path


def _farmed(run: Run, task: Task) -> Iterator[str]:
    """Terms that paid more than their value at any moment: what going round in a circle would earn."""
    values = {t.name: t.value for t in task.terms}
    held: dict[str, float] = {}
    told: set[str] = set()
    for name, value in run.rewards:
        held[name] = held.get(name, 0.0) + value
        if name in values and held[name] > max(values[name], 0.0) + 1e-9 and name not in told:
            told.add(name)
            yield f"the term '{name}' paid {held[name]:g}, more than its value {values[name]:g}: it can be farmed"


def _noticed(runs: Sequence[Run]) -> Iterator[str]:
    """Markups under which the same solution earned something else."""
    for run in runs:
        if "=" not in run.path:
            continue
        plain = next(r for r in runs if r.seed == run.seed and r.path == SOLUTION)
        if run.rewards != plain.rewards or run.success != plain.success:
            yield (
                f"seed {run.seed}: with {run.path} the solution earned {dict(run.rewards)} instead of "
                f"{dict(plain.rewards)}: the rewards notice the markup"
            )
