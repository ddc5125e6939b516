"""GroundNext's reward: how well inside, or how far outside."""

from __future__ import annotations

import math
from typing import Any

from cuadata import geometry
from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.types import BBox, Point


@rewards.add
def corner_margin(answer: str, **columns: Any) -> float:
    """Inside: twice the distance to the nearest corner by the diagonal, 0 to 1. Outside: minus the distance, 0 to -1.

    Inside the box R = 2 min_corner ||p - corner|| / diagonal, which is 1 at the centre; outside R = -d / d_max, d the
    distance to the box and d_max that of the picture's farthest corner, clipped to [-1, 0] (GroundNext of GroundCUA, arXiv
    2511.07332). An answer that points nowhere gets -1.
    """
    read, box = judged.judge(answer, columns), judged.target(columns)
    if read.point is None:
        return -1.0
    if geometry.contains(box, read.point):
        return min(1.0, 2 * _corner(box, read.point) / math.hypot(box.width, box.height))
    view = read.view.viewport
    corners = [Point(x, y) for x in (0, view.width) for y in (0, view.height)]
    farthest = max(geometry.distance(box, corner) for corner in corners)
    return -min(1.0, geometry.distance(box, read.point) / max(farthest, 1e-9))


def _corner(box: BBox, point: Point) -> float:
    """Distance to the nearest corner of a box."""
    return min(math.hypot(point.x - x, point.y - y) for x in (box.x, box.right) for y in (box.y, box.bottom))
