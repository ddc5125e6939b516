"""Where a step stands in its trajectory: what came before it, and whether anything is missing between."""

from __future__ import annotations

from cuadata.rows import Candidate
from cuadata.splitting.recovery import WITHOUT_INPUT
from cuadata.types import Step, Trajectory


def position(trajectory: Trajectory, step: Step) -> int | None:
    """Where the step stands; None where it is not of this trajectory.

    Its index need not be its place, steps may miss, and need not be its alone: two recordings may have run into each other.
    """
    steps = trajectory.steps
    if 0 <= step.index < len(steps) and _is(steps[step.index], step):
        return step.index
    places = [i for i, one in enumerate(steps) if one.index == step.index]
    return next((i for i in places if _is(steps[i], step)), places[0] if places else None)


def _is(one: Step, step: Step) -> bool:
    """Whether they are one step, of which splitting makes a copy that knows its phase."""
    return one.index == step.index and one.time == step.time and one.observation is step.observation


_last: tuple[Trajectory, bool] | None = None


def in_order(trajectory: Trajectory) -> bool:
    """Whether no step of it is missing and time never goes back; kept until another one is asked about."""
    global _last
    last = _last
    if last is not None and last[0] is trajectory:
        return last[1]
    found = _in_order(trajectory.steps)
    _last = trajectory, found
    return found


def _in_order(steps: tuple[Step, ...]) -> bool:
    before = steps[0] if steps else None
    for place, step in enumerate(steps):
        if step.index != place or (before is not None and step.time < before.time):
            return False
        before = step
    return True


def steps_before(candidate: Candidate) -> tuple[Step, ...] | None:
    """The steps before this one, oldest first; None where the candidate came without its trajectory."""
    if candidate.trajectory is None or candidate.step is None:
        return None
    at = position(candidate.trajectory, candidate.step)
    return None if at is None else candidate.trajectory.steps[:at]


def input_before(candidate: Candidate) -> Step | None:
    """The input before this one; None for the first, and where that is not known."""
    for step in reversed(steps_before(candidate) or ()):
        if step.action.type not in WITHOUT_INPUT:
            return step
    return None
