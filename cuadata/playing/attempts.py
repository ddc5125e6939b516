"""From an attempt at a task, live or recorded, to the episode that tables and comparisons are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuadata import recording, text_files
from cuadata.episodes.episode import MISREAD
from cuadata.errors import DataError
from cuadata.playing import playing, turns
from cuadata.scores import runs
from cuadata.scores.failures import Turn
from cuadata.scores.runs import Episode, Run
from cuadata.splitting.overlays import Key
from cuadata.types import Observation, Outcome, Step, Task


@dataclass(frozen=True, slots=True)
class Named:
    """Which episode it is."""

    id: str
    family: str
    seed: int
    sample: int = 0


def episode_of(
    task: Task,
    steps: Sequence[Step],
    first: Observation | None,
    outcome: Outcome,
    default: bool | None,
    named: Named,
) -> Episode:
    """What tables and comparisons need of an attempt; `first` is the page at its start, None where it did not open."""
    stray = turns.strays(task, [step.observation for step in steps])
    start = None if first is None else turns.selections(task, first)
    return runs.episode(
        turns=tuple(_turn(step, task, stray) for step in steps),
        ending=turns.ending(task, outcome, steps, first),
        id=named.id,
        family=named.family,
        seed=named.seed,
        sample=named.sample,
        instruction=task.instruction,
        default=default if outcome.success is not None else None,
        raw=outcome.raw,
        reward=sum(r.value for step in steps for r in step.rewards),
        size=None if start is None else start.requested,
        axes=task.axes,
        cluster=f"{named.family}/{named.seed}",
        reason=outcome.reason,
    )


def _turn(step: Step, task: Task, stray: set[Key]) -> Turn:
    failure = (step.error or "").partition(f"{MISREAD}: ")[2]
    if failure:
        return turns.misread(step.output or "", failure, step.observation, stray)
    return turns.turn(step, task, stray, reward=sum(r.value for r in step.rewards))


def recorded(folder: Path) -> tuple[Run, tuple[Episode, ...]]:
    """The episodes of a folder that `cuadata rollout` filled, as a run; those that broke down and were played again are out.

    DataError where the folder holds no rollouts.
    """
    if not (folder / playing.MADE).is_file():
        raise DataError(f"no {playing.MADE}: these are no rollouts", place=str(folder))
    made = json.loads(text_files.read(folder / playing.MADE))
    lines = {(one.seed, one.sample): one for one in playing.lines(folder)}
    several = any(sample for _, sample in lines)
    held: list[Episode] = []
    browser = ""
    for (seed, sample), line in sorted(lines.items()):
        read = recording.read(folder / line.name, pictures=False)
        if read.task is None:
            raise DataError("the recording names no task", place=str(folder / line.name))
        browser = browser or read.browser
        first = read.steps[0].observation if read.steps else None
        named = f"{made['family']}/{seed}" + (f"/{sample}" if several else "")
        of = Named(named, made["family"], seed, sample)
        held.append(episode_of(read.task, read.steps, first, read.outcome, line.default, of))
    run = Run(
        name=made["policy"], kind="episodes", what=made["family"], items=runs.items(e.id for e in held), count=len(held),
        format=made["policy_options"].get("format"), options=json.dumps(made, sort_keys=True), version=made["version"],
        browser=browser,
    )  # fmt: skip
    return run, tuple(held)
