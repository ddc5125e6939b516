"""Failed actions and what helped, found in trajectories as they are: tries, the step that ended them, and the cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cuadata.geometry import clip, contains, distance
from cuadata.seeing.differences import match
from cuadata.splitting.recovery import happened, same_action
from cuadata.types import Element, Observation, Point, Step, StepLabel

Cause = Literal["missed", "covered", "fake", "disabled", "off_screen", "too_early", "taken_back", ""]
#: A click farther than this from what helped was meant for something else, CSS px.
FAR = 60.0
#: Steps within which what was scrolled for is acted on.
_SOON = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """Tries without effect, or a short detour, and the step that ended them."""

    failed: Annotated[
        tuple[int, ...], "positions of the failed steps, oldest first, the last ones where there are many"
    ]
    helped: Annotated[int, "position of the step that ended the failure"]
    cause: Annotated[Cause, "why the tries failed; empty where the evidence does not say"]
    failed_target: Annotated[Element | None, "what the last failed try was aimed at, as far as the evidence tells"]
    miss_distance: Annotated[float | None, "from the failed point to the edge of what helped, CSS px; None: no miss"]


@dataclass(frozen=True, slots=True)
class _Why:
    cause: Cause
    target: Element | None
    missed: float | None = None


def rescues(steps: Sequence[Step], labels: Sequence[StepLabel | None], *, most: int = 3) -> Iterator[Rescue]:
    """Every failure of a trajectory that a later step ended; at most the last `most` tries are kept.

    A detour of at most `most` steps is told where the step that takes it back comes right behind it. Tries further back
    with a detour between them and the recovery are not told as its failures.
    """
    failed: list[int] = []
    detour: list[int] = []
    for number, label in enumerate(labels):
        if label in ("no_effect", "no_effect_repeat"):
            failed.append(number)
            detour = []
        elif label == "recovery" and (failed or 0 < len(detour) <= most):
            tries = failed or detour
            last = steps[tries[-1]]
            found = _why(steps, tries[-1], number) if failed else _Why("taken_back", last.target)
            yield Rescue(
                failed=tuple(tries[-most:]),
                helped=number,
                cause=found.cause,
                failed_target=found.target,
                miss_distance=found.missed,
            )
            failed, detour = [], []
        elif label == "detour":
            failed = []
            detour.append(number)
        elif label is not None:
            failed, detour = [], []


def _why(steps: Sequence[Step], at: int, end: int) -> _Why:
    """Why the try at `at` had no effect, read off what stood at its time and what then helped, at `end`."""
    failed, helped = steps[at], steps[end]
    aimed = failed.target
    if same_action(failed.action, helped.action) or helped.action.type == "wait":
        return _Why("too_early", aimed)
    under = _controls_under(failed)
    barred = next((e for e in under if e.states.disabled and not _covered(e)), None)
    if aimed is not None and aimed.states.disabled:
        barred = aimed
    if barred is not None:
        return _Why("disabled", barred)
    if helped.action.type == "scroll":
        return _Why("off_screen", _looked_for(steps[end + 1 : end + 1 + _SOON], failed.observation) or aimed)
    right, point = then(helped.target, failed.observation), failed.action.point
    pressed = _takes_input(aimed) and not _holds_others(aimed, failed.observation)
    if right is not None and right.bbox is not None and point is not None:
        if clip(right.bbox, failed.observation.viewport) is None:
            return _Why("off_screen", right)
        missed = distance(right.bbox, point)
        if 0 < missed <= FAR and not pressed:
            return _Why("missed", right, round(missed, 2))
    covered = aimed if _covered(aimed) else next((e for e in under if _covered(e)), None)
    if covered is not None and not pressed:
        return _Why("covered", covered)
    return _Why("fake" if pressed else "", aimed)


def _controls_under(step: Step) -> list[Element]:
    """Elements that take input whose box holds the point of a step, the smallest first, whatever lies over them."""
    point = step.action.point
    if point is None:
        return []
    held = [e for e in step.observation.elements if _is_control(e) and _holds(e, point)]
    return sorted(held, key=lambda e: e.bbox.area if e.bbox is not None else 0.0)


def _is_control(element: Element) -> bool:
    return (element.interactive or element.states.disabled) and element.evidence.clipped < 0.5


def _holds(element: Element, point: Point) -> bool:
    return element.bbox is not None and contains(element.bbox, point)


def _looked_for(later: Sequence[Step], earlier: Observation) -> Element | None:
    """What a scroll was for: the first thing acted on after it, as it stood before, where it was out of sight then."""
    acted = (step for step in later if step.action.type != "scroll" and happened(step))
    found = next((then(step.target, earlier) for step in acted), None)
    return found if found is not None and hidden(found) else None


def hidden(element: Element) -> bool:
    """Whether most of an element was outside the viewport or cut off by a scroller."""
    return element.evidence.in_viewport < 0.5 or element.evidence.clipped >= 0.5


def then(element: Element | None, earlier: Observation) -> Element | None:
    """An element as it stood in an earlier observation; None where it was not there."""
    if element is None:
        return None
    pairs, _, _ = match([element], earlier.elements)
    return pairs[0][1] if pairs else None


def _covered(element: Element | None) -> bool:
    """Whether something else takes the press; False as well where that was not measured."""
    if element is None or element.evidence.in_viewport <= 0:
        return False
    return element.evidence.covered >= 0.5 or element.hit < 1 / 3


def _holds_others(element: Element | None, observation: Observation) -> bool:
    """Whether an element is a place that others stand in, a dialog, a scroller, a form, and no control of its own."""
    if element is None:
        return False
    return any(element.id in (e.parent, e.dialog, e.scroller) and e.interactive for e in observation.elements)


def _takes_input(element: Element | None) -> bool:
    return element is not None and element.interactive and not element.states.disabled and not _covered(element)
