"""InfiGUI-G1's reward for several candidate points: how early the first right one comes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from cuadata import geometry
from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.types import Point


@rewards.add
def aepo_rank(answer: str, *, format_bonus: float = 0.0, **columns: Any) -> float:
    """1 / sqrt(N k) where the k-th of N points is the first right one, -1 / N where none is, -1 for points in a line.

    Three or more points on one line are a sweep, not an answer. `format_bonus` is paid on top where points can be read at
    all; the paper pays 1 (AEPO of InfiGUI-G1, arXiv 2508.05731). No point: -1.
    """
    read, box = judged.judge(answer, columns), judged.target(columns)
    points = judged.said_points(answer, read)
    if not points:
        return -1.0
    if in_a_line(points):
        return format_bonus - 1.0
    rank = next((k for k, point in enumerate(points, 1) if geometry.contains(box, point)), None)
    number = len(points)
    return format_bonus + (-1 / number if rank is None else 1 / math.sqrt(number * rank))


def in_a_line(points: Sequence[Point]) -> bool:
    """Whether three or more points lie on one straight line, within half a px of it."""
    return any(_area(*three) < 0.5 * _longest(*three) for three in itertools.combinations(points[:12], 3))


def _area(a: Point, b: Point, c: Point) -> float:
    """Twice the area of a triangle."""
    return abs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y))


def _longest(a: Point, b: Point, c: Point) -> float:
    sides = (math.hypot(p.x - q.x, p.y - q.y) for p, q in ((a, b), (b, c), (a, c)))
    return max(*sides, 1e-9)
