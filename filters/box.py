"""Is the box of a row possible at all?"""

from __future__ import annotations

from cuadata import geometry
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, page_of, rejected
from cuadata.registry import gates
from cuadata.rows import CONFIGS, Candidate, Verdict
from cuadata.types import BBox, Size

_NAME = "box"
_POINTING = ("grounding", "pairs")
#: What draws its own controls: what was meant in it has no box that a browser knows. Roles as Chromium says them, lowered.
_PAINTED = ("canvas", "pluginobject", "embeddedobject")
#: Where a point alone is not enough.
_NEEDS_A_BOX = tuple(name for name in CONFIGS if name not in ("point_only", "tasks", "rejected"))


@gates.add
def box(candidate: Candidate, *, max_outside: float = 0.1, max_cover: float = 0.9) -> Verdict:
    """The target has a box with an area, which lies on the picture and does not fill it.

    Where no page says what is seen of it, at most `max_outside` of its area may lie outside of the viewport; it counts
    clipped then, and the evidence holds what is left. `max_cover`: share of the viewport that it may fill. Numbers that
    are none, and points, are other gates' matter.
    """
    example, target = candidate.example, candidate.example.target
    size = Size(example.viewport_width, example.viewport_height)
    if target is None or size.width < 1 or size.height < 1:
        return kept(_NAME)
    bbox, point = target.bbox, example.action.point or target.point
    if bbox is None and point is None:
        return kept(_NAME, {"not_checked": "the target has neither a box nor a point"})
    if bbox is None:
        return rejected(_NAME, "box_missing", {"point": point}, configs=_NEEDS_A_BOX)
    if not geometry.finite(bbox):
        return kept(_NAME, {"not_checked": "a coordinate is no number"})
    if bbox.width <= 0 or bbox.height <= 0:
        return rejected(_NAME, "box_degenerate", {"bbox": bbox})
    if target.role.lower() in _PAINTED:
        # A click on it is an action all the same.
        return rejected(_NAME, "box_not_tight", {"bbox": bbox, "role": target.role}, configs=_POINTING)
    return _placed(bbox, size, max_outside, max_cover, page_is_known=page_of(candidate) is not None)


def _placed(bbox: BBox, size: Size, max_outside: float, max_cover: float, *, page_is_known: bool) -> Verdict:
    """A box with an area against the viewport. On a page, what is seen of it decides, not where the box ends."""
    inside = bbox.x >= 0 and bbox.y >= 0 and bbox.right <= size.width and bbox.bottom <= size.height
    if inside and bbox.area <= max_cover * size.width * size.height:
        return kept(_NAME)
    left = geometry.clip(bbox, size)
    outside = 1.0 if left is None else 1 - left.area / bbox.area
    if outside > max_outside and not page_is_known:
        evidence = {"bbox": bbox, "outside": outside, "viewport": [size.width, size.height]}
        return rejected(_NAME, "coordinates_out_of_range", evidence)
    cover = 0.0 if left is None else left.area / (size.width * size.height)
    if cover > max_cover:
        # A click on a canvas that fills the page is an action, but points at nothing.
        only = _POINTING if page_is_known else ()
        return rejected(_NAME, "box_covers_page", {"bbox": bbox, "covers": cover}, configs=only)
    return kept(_NAME) if left == bbox else kept(_NAME, {"clipped_to": left, "outside": outside})


@clears("box")
def well_inside(candidate: Candidate, *, max_cover: float = 0.9) -> bool:
    """A box with an area that lies whole on the picture and leaves a tenth of it free; false for numbers that are none."""
    example, target = candidate.example, candidate.example.target
    box = target.bbox if target is not None else None
    if target is None or box is None or target.role.lower() in _PAINTED:
        return False
    wide, tall, width, height = example.viewport_width, example.viewport_height, box.width, box.height
    placed = box.x >= 0 and box.y >= 0 and width > 0 and height > 0 and box.x + width <= wide and box.y + height <= tall
    return placed and width * height <= max_cover * wide * tall
