"""Did the action do anything? Effects, late effects, and the role of each step in failing and recovering.

effect = compare(before, after, ambient=frames, point=point, state_before=one, state_after=other)
effect, rest = follow(before, [(0.25, frame), (0.6, frame)])
labels = label(trajectory.steps)
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuadata.geometry import grown, intersection
from cuadata.image import BadImage
from cuadata.seeing import comparison, pictures
from cuadata.seeing.comparison import RING, Look, compare
from cuadata.seeing.differences import differences, focused, focused_field, match, state_difference
from cuadata.seeing.pixels import Thresholds
from cuadata.seeing.stillness import Settled, follow, settle
from cuadata.splitting import recovery
from cuadata.types import Effect, Image, Observation, Step, StepLabel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Settled", "Thresholds", "compare", "follow", "label", "look", "prepare", "same_state", "settle", "state_difference",
]  # fmt: skip


def look(
    before: pictures.Picture | None, after: pictures.Picture | None, ambient: Sequence[pictures.Picture] = ()
) -> Look:
    """What two pictures say without the states, ahead of `compare`, which takes it as `seen`."""
    return comparison.look(before, after, ambient, Thresholds())


def prepare(picture: Image) -> NDArray[np.uint8] | None:
    """Decode a picture ahead of its comparison, (height, width, 3), read-only; None where it does not decode."""
    with contextlib.suppress(BadImage):
        return pictures.load(picture)
    return None


def label(steps: Sequence[Step], *, near: float = 4.0) -> tuple[StepLabel | None, ...]:
    """The role of each step in failing and recovering; see `cuadata.splitting.recovery.label`.

    Two observations show one state of the page where neither pictures nor states tell them apart.
    """
    return recovery.label(steps, same_state=same_state, near=near)


def same_state(one: Observation, other: Observation) -> bool:
    """Whether a later observation shows the page in the state of an earlier one: what is seen, and what the states say.

    Where the focus is does not count, and neither do the rings and styles of elements that have it, unless it came into a
    field to type in.
    """
    if _came_into_a_field(one, other) or any(d.kind != "focus" for d in differences(one, other)):
        return False
    if one.screenshot is None or other.screenshot is None:
        return bool(one.elements) and bool(other.elements)
    if one.screenshot.sha256 == other.screenshot.sha256:
        return True
    effect = compare(one.screenshot, other.screenshot, state_before=one, state_after=other)
    if effect.happened is None:
        return False
    return not effect.happened or _only_focus(effect, one, other)


def _came_into_a_field(one: Observation, other: Observation) -> bool:
    held, now = focused_field(one), focused_field(other)
    return now is not None and (held is None or not match([held], [now])[0])


def _only_focus(effect: Effect, one: Observation, other: Observation) -> bool:
    """Whether what changed lies within the ring of an element that has the focus in one of the two."""
    region = effect.region
    if region is None:
        return True
    boxes = [element.bbox for state in (one, other) if (element := focused(state)) is not None]
    return any(box is not None and intersection(grown(box, RING), region) == region for box in boxes)
