"""Runs of 5 to 15 actions for models that plan ahead, and the pictures on both sides of an action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from cuadata.rows import Chunk, Example, Transition
from cuadata.seeing.differences import seen_difference, state_difference
from cuadata.splitting.examples import caused_switch, examples
from cuadata.splitting.phases import phases
from cuadata.splitting.recovery import WITHOUT_INPUT, after_of, happened
from cuadata.types import Phase, Step, Trajectory


def chunks(trajectory: Trajectory, *, smallest: int = 5, largest: int = 15) -> Iterator[Chunk]:
    """A trajectory's actions in runs of `smallest` to `largest`, cut at its natural boundaries, in order.

    A boundary is where the page changes, where a dismissal gives way to the task, where something is submitted, and last
    where the phase changes. The confidence is the share of the steps with an effect among those whose effect is known.
    Steps without a picture, and trajectories with fewer than `smallest` actions, give none.
    """
    if not 1 <= smallest <= largest:
        raise ValueError(
            f"chunks of {smallest} to {largest} actions cannot be; the first is at least 1, the last not below"
        )
    rows = {c.example.step_index: c.example for c in examples(trajectory) if c.example.phase != "reason"}
    steps, found = trajectory.steps, phases(trajectory)
    held = [i for i, s in enumerate(steps) if s.action.type not in WITHOUT_INPUT and not caused_switch(steps, i)]
    for first, last in _runs(steps, found, held, smallest, largest):
        run = held[first:last]
        example = rows.get(steps[run[0]].index)
        if example is not None and steps[run[0]].observation.screenshot is not None:
            yield _chunk(example, steps, run)


def transitions(trajectory: Trajectory) -> Iterator[Transition]:
    """(before, action, after) for every action with a picture on both sides, in order."""
    steps = trajectory.steps
    position = {step.index: i for i, step in enumerate(steps)}
    for candidate in examples(trajectory):
        step = candidate.step
        if step is None or step.action.type in WITHOUT_INPUT:
            continue
        later = after_of(steps, position[step.index])
        if step.observation.screenshot is None or later is None or later.screenshot is None:
            continue
        effect = step.effect
        yield Transition(
            **_shared(candidate.example),
            after=later.screenshot,
            similarity=None if effect is None else effect.similarity,
            changed=None if effect is None else effect.region,
            state=state_difference(step.observation, later) if effect is None else effect.state,
        )


def _runs(
    steps: Sequence[Step], found: Sequence[Phase | None], held: Sequence[int], smallest: int, largest: int
) -> Iterator[tuple[int, int]]:
    """Where each run begins and ends among the held positions."""
    first, count = 0, len(held)
    while count - first >= smallest:
        left = count - first
        if left <= largest:
            yield first, count
            return
        # A cut leaves enough for one more run, unless what is left is too short for two runs whatever is done.
        sizes = [n for n in range(smallest, largest + 1) if left - n >= smallest] or [largest]
        size = max(sizes, key=lambda n: (_strength(steps, found, held, first + n - 1), n))
        yield first, first + size
        first += size


def _strength(steps: Sequence[Step], found: Sequence[Phase | None], held: Sequence[int], at: int) -> int:
    """How natural a cut after this position is, 0 to 4."""
    here, next_one = held[at], held[at + 1]
    later = steps[next_one].observation
    if steps[here].observation.url != later.url:
        return 4
    if found[here] == "dismiss" and found[next_one] != "dismiss":
        return 3
    if found[here] == "enter" and steps[here].action.type != "type":
        return 2
    return 1 if found[here] != found[next_one] else 0


def _chunk(example: Example, steps: Sequence[Step], run: Sequence[int]) -> Chunk:
    known = [worked for i in run if (worked := happened(steps[i])) is not None]
    last = after_of(steps, run[-1])
    return Chunk(
        **_shared(example),
        actions=tuple(steps[i].action for i in run),
        confidence=sum(known) / len(known) if known else 0.0,
        confidence_kind="effect",
        postcondition=() if last is None else seen_difference(steps[run[0]].observation, last),
    )


def _shared(example: Example) -> dict[str, Any]:
    """The columns that every config shares."""
    return {field.name: getattr(example, field.name) for field in fields(Example)}
