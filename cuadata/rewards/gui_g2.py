"""GUI-G2: Gaussian point and coverage together."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.statistics import gaussians


@rewards.add
def gui_g2(answer: str, *, alpha: float = 0.5, nu: float = 1.0, gamma: float = 1.0, **columns: Any) -> float:
    """nu R_point + gamma R_coverage; 2 where the box said is the target's box.

    Both terms and nu = gamma = 1, alpha = 0.5 as in GUI-G2 (arXiv 2507.15846). Where the answer names a point only, there is
    nothing to cover with and R_point stands alone, at most nu. An answer that cannot be read gets 0.
    """
    read, box = judged.judge(answer, columns), judged.target(columns)
    said = judged.said_box(answer, read)
    if said is not None:
        return nu * gaussians.point(said.center, box, alpha=alpha) + gamma * gaussians.coverage(said, box, alpha=alpha)
    return 0.0 if read.point is None else nu * gaussians.point(read.point, box, alpha=alpha)
