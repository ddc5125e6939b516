"""Failing and recovering: the role of each step, and the figures that show a stuck actor.

An actor that only ever saw actions succeed repeats a missed click for ever. The labels tell which steps to train on and
which to keep as context only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated

from cuadata.types import Action, Observation, Point, Step, StepLabel

#: Steps of these types put nothing into the page: they are neither without effect nor a recovery.
WITHOUT_INPUT = ("reason", "done", "infeasible")
#: What these show goes away by itself: the pointer moves on. They are a look, not a detour.
_LOOKS = ("hover", "wait")


def same_action(one: Action, other: Action, *, near: float = 4.0) -> bool:
    """Whether two actions are one action tried twice: equal but for where, and there within `near` CSS px.

    Two pointer actions on one element are the same wherever they hit it.
    """
    if one.type != other.type or _content(one) != _content(other):
        return False
    if one.element is not None and other.element is not None:
        return one.element == other.element and _close(one.end, other.end, near)
    return _close(one.point, other.point, near) and _close(one.end, other.end, near)


def _content(action: Action) -> tuple[object, ...]:
    return (
        action.text,
        action.value,
        action.keys,
        action.modifiers,
        action.scroll_x or 0,
        action.scroll_y or 0,
        action.scroll_unit,
        action.files,
        action.url,
        action.page,
        action.accept,
    )


def _close(one: object, other: object, near: float) -> bool:
    if not isinstance(one, Point) or not isinstance(other, Point):
        return one is other
    return math.hypot(one.x - other.x, one.y - other.y) <= near


def happened(step: Step) -> bool | None:
    """Whether a step had an effect; None where that is not known. A step that could not be carried out had none."""
    if step.effect is None:
        return False if step.error is not None else None
    return step.effect.happened


def label(
    steps: Sequence[Step], *, same_state: Callable[[Observation, Observation], bool], near: float = 4.0
) -> tuple[StepLabel | None, ...]:
    """The role of each step in failing and recovering, in order; None where its effect is not known.

    `no_effect`; `no_effect_repeat`: the same action again, nothing having changed since; `detour`: a step whose effect
    is taken back later; `recovery`: the step that takes it back, or the first effect after a failure; else `progress`.
    `same_state` says whether two observations show one state of the page.
    """
    labels: list[StepLabel | None] = []
    failed: list[Action] = []
    returns = _returns(steps, same_state)
    for number, step in enumerate(steps):
        effect = happened(step)
        if step.action.type in WITHOUT_INPUT and step.error is None:
            labels.append("progress")
        elif effect is None:
            labels.append(None)
        elif not effect:
            again = any(same_action(step.action, earlier, near=near) for earlier in failed)
            labels.append("no_effect_repeat" if again else "no_effect")
            failed.append(step.action)
        elif number in returns:
            labels.append("recovery")
            failed.clear()
        elif any(start <= number < end for end, start in returns.items()):
            labels.append("detour")
        else:
            labels.append("recovery" if failed else "progress")
            failed.clear()
    return tuple(labels)


def _returns(steps: Sequence[Step], same_state: Callable[[Observation, Observation], bool]) -> dict[int, int]:
    """Step that returns to an earlier state -> the step that left it. Spans do not overlap; the longest is taken."""
    found: dict[int, int] = {}
    start = 0
    while start < len(steps):
        leaves = happened(steps[start]) and steps[start].action.type not in _LOOKS
        end = _return_to(steps, start, same_state) if leaves else None
        if end is None:
            start += 1
        else:
            found[end] = start
            start = end + 1
    return found


def _return_to(steps: Sequence[Step], start: int, same_state: Callable[[Observation, Observation], bool]) -> int | None:
    """The last later step with an effect after which the page is as it was before step `start`."""
    left = steps[start].observation
    for end in range(len(steps) - 1, start, -1):
        after = after_of(steps, end)
        if after is not None and happened(steps[end]) and same_state(left, after):
            return end
    return None


def after_of(steps: Sequence[Step], number: int) -> Observation | None:
    """What stood after a step: its own observation, else that of the next step; None after the last."""
    if steps[number].after is not None:
        return steps[number].after
    return steps[number + 1].observation if number + 1 < len(steps) else None


def train_on(labels: Sequence[StepLabel | None]) -> tuple[int, ...]:
    """Positions of the steps to learn from."""
    return tuple(n for n, one in enumerate(labels) if one in ("progress", "recovery"))


def keep_as_context(labels: Sequence[StepLabel | None]) -> tuple[int, ...]:
    """Positions of the steps that stay in histories and are not learnt from."""
    return tuple(n for n, one in enumerate(labels) if one in ("no_effect", "no_effect_repeat", "detour"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How often an actor was stuck, and how it got out; over one or many trajectories."""

    trajectories: Annotated[int, "trajectories looked at"]
    steps: Annotated[int, "steps in them"]
    no_effect: Annotated[int, "steps without effect, repeated ones included"]
    no_effect_repeat: Annotated[int, "of those, the same action again"]
    detour: Annotated[int, "steps whose effect was taken back"]
    recovery: Annotated[int, "steps that ended a failure or took a detour back"]
    progress: Annotated[int, "other steps with an effect"]
    unknown: Annotated[int, "steps whose effect is not known"]
    longest_run: Annotated[int, "longest run of one action repeated, effect or not; 1: never repeated"]
    longest_stuck: Annotated[int, "longest run of steps without effect"]
    changed_course: Annotated[
        float | None, "share of steps without effect followed by another action; None: no such step had a next one"
    ]
    tries: Annotated[tuple[int, ...], "steps without effect before each recovery from a failure"]
    unrecovered: Annotated[int, "failures that no later step ended"]

    @property
    def median_tries(self) -> float | None:
        """Median of the tries until recovery; None where nothing was recovered."""
        return float(median(self.tries)) if self.tries else None


def statistics(trajectories: Iterable[tuple[Sequence[Step], Sequence[StepLabel | None]]]) -> Statistics:
    """Figures over the steps and labels of trajectories."""
    counts: dict[StepLabel | None, int] = {}
    total = held = run = stuck = followed = changed = unrecovered = 0
    tries: list[int] = []
    for steps, labels in trajectories:
        total, held = total + 1, held + len(steps)
        for one in labels:
            counts[one] = counts.get(one, 0) + 1
        run, stuck = max(run, longest_run(steps)), max(stuck, _longest_failing(labels))
        for number in range(len(steps) - 1):
            if labels[number] in ("no_effect", "no_effect_repeat"):
                followed += 1
                changed += not same_action(steps[number].action, steps[number + 1].action)
        ended, open_ = _failures(steps, labels)
        tries += ended
        unrecovered += open_
    repeats = counts.get("no_effect_repeat", 0)
    return Statistics(
        trajectories=total,
        steps=held,
        no_effect=counts.get("no_effect", 0) + repeats,
        no_effect_repeat=repeats,
        detour=counts.get("detour", 0),
        recovery=counts.get("recovery", 0),
        progress=counts.get("progress", 0),
        unknown=counts.get(None, 0),
        longest_run=run,
        longest_stuck=stuck,
        changed_course=changed / followed if followed else None,
        tries=tuple(tries),
        unrecovered=unrecovered,
    )


def longest_run(steps: Sequence[Step]) -> int:
    """Length of the longest run of one action repeated; 0 for no steps."""
    longest = run = 0
    for number, step in enumerate(steps):
        again = number > 0 and same_action(steps[number - 1].action, step.action)
        run = run + 1 if again else 1
        longest = max(longest, run)
    return longest


def _longest_failing(labels: Sequence[StepLabel | None]) -> int:
    longest = run = 0
    for one in labels:
        run = run + 1 if one in ("no_effect", "no_effect_repeat") else 0
        longest = max(longest, run)
    return longest


def _failures(steps: Sequence[Step], labels: Sequence[StepLabel | None]) -> tuple[list[int], int]:
    """Tries before each recovery from a failure, and 1 where the trajectory ends in one.

    What is no input, such as the word that the task is done, recovers from nothing.
    """
    tries, failing = [], 0
    for step, one in zip(steps, labels, strict=True):
        if step.action.type in WITHOUT_INPUT:
            continue
        if one in ("no_effect", "no_effect_repeat"):
            failing += 1
        elif one == "recovery" and failing:
            tries.append(failing)
            failing = 0
        elif one == "progress":
            failing = 0
    return tries, int(failing > 0)
