"""Did the action do anything? Effects, late effects, and the role of each step in failing and recovering.

effect = compare(before, after, ambient=frames, point=point, state_before=one, state_after=other)
effect, rest = follow(before, [(0.25, frame), (0.6, frame)])
labels = label(trajectory.steps)
"""

from __future__ import annotations

from collections.abc import Sequence

from cuadata import recovery
from cuadata.comparison import compare
from cuadata.differences import Difference, differences, state_difference
from cuadata.pixels import Thresholds
from cuadata.stillness import Settled, follow, settle
from cuadata.types import BBox, Effect, Observation, Step, StepLabel

__all__ = ["Settled", "Thresholds", "compare", "follow", "label", "same_state", "settle", "state_difference"]


def label(steps: Sequence[Step], *, near: float = 4.0) -> tuple[StepLabel | None, ...]:
    """The role of each step in failing and recovering; see `cuadata.recovery.label`.

    Two observations show one state of the page where neither pictures nor states tell them apart.
    """
    return recovery.label(steps, same_state=same_state, near=near)


def same_state(one: Observation, other: Observation) -> bool:
    """Whether two observations show the page in one state: what a person sees, and what the states say.

    The focus does not count, and where the elements are known to be equal neither do focus rings and hover styles: changes
    inside the boxes of elements that have the focus in one of the two.
    """
    if one.screenshot is None or other.screenshot is None:
        described = bool(one.elements) and bool(other.elements)
        return described and not _state_without_focus(one, other)
    if one.screenshot.sha256 == other.screenshot.sha256:
        return not _state_without_focus(one, other)
    effect = compare(one.screenshot, other.screenshot, state_before=one, state_after=other)
    if effect.happened is None or _state_without_focus(one, other):
        return False
    return not effect.happened or _only_focus(effect, one, other)


def _state_without_focus(one: Observation, other: Observation) -> list[Difference]:
    return [difference for difference in differences(one, other) if difference.kind != "focus"]


def _only_focus(effect: Effect, one: Observation, other: Observation, *, ring: float = 6.0) -> bool:
    """Whether what changed lies within the rings of focused elements, `ring` CSS px around them."""
    rings = [
        BBox(e.bbox.x - ring, e.bbox.y - ring, e.bbox.width + 2 * ring, e.bbox.height + 2 * ring)
        for state in (one, other)
        for e in state.elements
        if e.bbox is not None and (e.id == state.focused or e.states.focused)
    ]
    return effect.region is not None and any(_holds(ring_, effect.region) for ring_ in rings)


def _holds(outer: BBox, inner: BBox) -> bool:
    across = outer.x <= inner.x and inner.right <= outer.right
    return across and outer.y <= inner.y and inner.bottom <= outer.bottom
