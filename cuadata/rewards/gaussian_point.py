"""Gaussian point reward of GUI-G2."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.statistics import gaussians


@rewards.add
def gaussian_point(answer: str, *, alpha: float = 0.5, **columns: Any) -> float:
    """A Gaussian around the target's centre as wide as the target: 1 at the centre, falling with distance.

    R = exp(-1/2 [(x_p - x_g)^2 / s_x^2 + (y_p - y_g)^2 / s_y^2]) with s_x = alpha w_g, s_y = alpha h_g (GUI-G2, arXiv
    2507.15846, eq. for R_point). An answer that cannot be read gets 0, as in the paper's code.
    """
    point, box = judged.judge(answer, columns).point, judged.target(columns)
    return 0.0 if point is None else gaussians.point(point, box, alpha=alpha)
