"""Point in box: the reward that GTA1, UI-R1 and UI-Ins train on."""

from __future__ import annotations

from typing import Any

from cuadata import geometry
from cuadata.registry import rewards
from cuadata.scores import judged


@rewards.add
def point_in_box(answer: str, *, slack: float = 0.0, **columns: Any) -> float:
    """1 where the answer points into the target's box, else 0.

    R = 1[p in B]; an answer that points nowhere is in no box. `slack` widens the box, CSS px; 0 by default, since a slack
    moves results (GTA1, arXiv 2507.05791). The right and the bottom edge are outside, as they are for a real click;
    `cuadata evaluate` counts all four edges, as published scores do.
    """
    point, box = judged.judge(answer, columns).point, judged.target(columns)
    return float(point is not None and geometry.contains(box, point, slack))
