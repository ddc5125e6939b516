"""Are the boxes and points of a row possible at all?"""

from __future__ import annotations

import math

from cuadata import geometry
from cuadata.judging import kept, page_of, rejected
from cuadata.registry import gates
from cuadata.rows import CONFIGS, Candidate, Verdict
from cuadata.types import BBox, Point, Size

_NAME = "box"
_POINTING = ("grounding", "pairs")
#: Where a point alone is not enough.
_NEEDS_A_BOX = tuple(name for name in CONFIGS if name not in ("point_only", "tasks", "rejected"))


@gates.add
def box(candidate: Candidate, *, max_outside: float = 0.1, max_cover: float = 0.9, slack: float = 0.5) -> Verdict:
    """The target's box has an area, lies on the picture and does not fill it, and the point is inside.

    Coordinates that are no numbers, and points outside of the viewport, are another gate's.

    `max_outside`: share of a box that may lie outside of the viewport where no page says what is seen of it; such a box
    counts clipped, and the evidence holds what is left. `max_cover`: share of the viewport that a box may fill. `slack`:
    CSS px by which a point may miss its box, for rounded data.
    """
    example, target = candidate.example, candidate.example.target
    size = Size(example.viewport_width, example.viewport_height)
    if target is None or size.width < 1 or size.height < 1:
        return kept(_NAME)
    points = [point for point in (example.action.point, target.point) if point is not None]
    if not all(map(_finite, points)) or (target.bbox is not None and not geometry.finite(target.bbox)):
        return kept(_NAME, {"not_checked": "a coordinate is no number"})
    bbox = target.bbox
    if bbox is None:
        if not points:
            return kept(_NAME, {"not_checked": "the target has neither a box nor a point"})
        return rejected(_NAME, "box_missing", {"point": points[0]}, configs=_NEEDS_A_BOX)
    if bbox.width <= 0 or bbox.height <= 0:
        return rejected(_NAME, "box_degenerate", {"bbox": bbox})
    return _extent(candidate, bbox, size, max_outside, max_cover) or _points(points, bbox, size, slack)


def _extent(candidate: Candidate, bbox: BBox, size: Size, max_outside: float, max_cover: float) -> Verdict | None:
    """What speaks against a box with an area; None where nothing does. On a page, what is seen decides, not the box."""
    page_is_known = page_of(candidate) is not None
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
    return None


def _points(points: list[Point], bbox: BBox, size: Size, slack: float) -> Verdict:
    for point in points:
        if not geometry.contains(bbox, point, slack):
            away = {"point": point, "bbox": bbox, "distance": geometry.distance(bbox, point)}
            return rejected(_NAME, "point_outside_target", away)
    left = geometry.clip(bbox, size)
    return kept(_NAME) if left == bbox else kept(_NAME, {"clipped_to": left})


def _finite(point: Point) -> bool:
    return math.isfinite(point.x) and math.isfinite(point.y)
