"""Recovery rows cut from a trajectory: the action that helped, with the tries before it as an actor would be told of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from cuadata.rows import Candidate, Example, Recovery
from cuadata.splitting import recovery, rescues
from cuadata.splitting.examples import candidate, history_lines, no_effect_lines, target_row
from cuadata.types import Observation, Step, StepLabel, Trajectory


def recoveries(trajectory: Trajectory, *, history: int = 5, most: int = 3) -> Iterator[Candidate]:
    """Every failure that a later step ended, as a candidate whose example is a `Recovery`, in order.

    History and context are those of the live prompt of that moment: the tries stand in the history, and the line that says
    that the last one changed nothing in the context. At most the last `most` tries are kept in `failed`. A recovery whose
    cause the evidence does not tell has an empty one.
    """
    steps = trajectory.steps
    for found in rescues.rescues(steps, _labels(steps), most=most):
        step = steps[found.helped]
        before = steps[: found.helped]
        made = candidate(trajectory, step, history_lines(before, history), str(step.index))
        held = {field.name: getattr(made.example, field.name) for field in fields(Example)}
        row = Recovery(
            **held | {"context": no_effect_lines(before), "label": "recovery"},
            failed=tuple(steps[at].action for at in found.failed),
            failed_target=None if found.failed_target is None else target_row(found.failed_target),
            cause=found.cause,
            miss_distance=found.miss_distance,
        )
        yield Candidate(example=row, observation=made.observation, step=step, task=made.task, trajectory=trajectory)


def _labels(steps: Sequence[Step]) -> Sequence[StepLabel | None]:
    """The labels that the recording holds; where it holds none, those that need no look for a way back to an earlier state."""
    if any(step.label is not None for step in steps):
        return [step.label for step in steps]
    return recovery.label(steps, same_state=_never)


def _never(one: Observation, other: Observation) -> bool:
    return False
