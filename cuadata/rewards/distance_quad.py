"""SE-GUI's dense reward: a hit, and how near the point is."""

from __future__ import annotations

import math
from typing import Any

from cuadata import geometry
from cuadata.registry import rewards
from cuadata.scores import judged


@rewards.add
def distance_quad(answer: str, **columns: Any) -> float:
    """1[p in B] + 1 - (d / d_max)^2; 2 at the target's centre, 0 at the farthest corner of the picture.

    d is the distance to the box's centre with x and y in shares of the viewport's sides, d_max that of the farthest corner
    (SE-GUI, arXiv 2505.12370). An answer that points nowhere gets 0.
    """
    read, box = judged.judge(answer, columns), judged.target(columns)
    if read.point is None:
        return 0.0
    wide, tall = read.view.viewport.width, read.view.viewport.height
    x, y = box.center.x / wide, box.center.y / tall
    farthest = math.hypot(max(x, 1 - x), max(y, 1 - y))
    share = math.hypot(read.point.x / wide - x, read.point.y / tall - y) / farthest
    return float(geometry.contains(box, read.point)) + 1 - min(1.0, share) ** 2
