"""Failed actions and what helped, found in trajectories as they are: tries, the step that ended them, and the cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cuadata.differences import match
from cuadata.geometry import clip, distance
from cuadata.recovery import same_action
from cuadata.types import Element, Observation, Step, StepLabel

Cause = Literal["missed", "covered", "fake", "disabled", "off_screen", "too_early", ""]
#: A click farther than this from what helped was meant for something else, CSS px.
FAR = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """Tries without effect and the step that ended them."""

    failed: Annotated[
        tuple[int, ...], "positions of the failed steps, oldest first, the last ones where there are many"
    ]
    helped: Annotated[int, "position of the step that ended the failure"]
    cause: Annotated[Cause, "why the tries failed; empty where the evidence does not say"]
    failed_target: Annotated[Element | None, "what the last failed try was aimed at"]
    miss_distance: Annotated[float | None, "from the failed point to the edge of what helped, CSS px; None: no miss"]


def rescues(steps: Sequence[Step], labels: Sequence[StepLabel | None], *, most: int = 3) -> Iterator[Rescue]:
    """Every failure of a trajectory that a later step ended; at most the last `most` tries are kept.

    Tries further back with a detour between them and the recovery are not told as its failures.
    """
    failed: list[int] = []
    for number, label in enumerate(labels):
        if label in ("no_effect", "no_effect_repeat"):
            failed.append(number)
        elif label == "recovery" and failed:
            cause, missed = why(steps[failed[-1]], steps[number])
            yield Rescue(
                failed=tuple(failed[-most:]),
                helped=number,
                cause=cause,
                failed_target=steps[failed[-1]].target,
                miss_distance=missed,
            )
            failed = []
        elif label is not None:
            failed = []


def why(failed: Step, helped: Step) -> tuple[Cause, float | None]:
    """Why a try had no effect, read off what stood at its time and what then helped; and by how many CSS px it missed."""
    if same_action(failed.action, helped.action) or helped.action.type == "wait":
        return "too_early", None
    aimed, right = failed.target, then(helped.target, failed.observation)
    if aimed is not None and aimed.states.disabled:
        return "disabled", None
    if helped.action.type == "scroll":
        return "off_screen", None
    if right is not None and right.bbox is not None and failed.action.point is not None:
        missed = distance(right.bbox, failed.action.point)
        if clip(right.bbox, failed.observation.viewport) is None:
            return "off_screen", None
        if 0 < missed <= FAR and not _takes_input(aimed):
            return "missed", round(missed, 2)
    if _covered(aimed):
        return "covered", None
    if _takes_input(aimed):
        return "fake", None
    return "", None


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


def _takes_input(element: Element | None) -> bool:
    return element is not None and element.interactive and not element.states.disabled and not _covered(element)
