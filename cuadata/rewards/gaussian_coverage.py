"""Gaussian coverage reward of GUI-G2."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.statistics import gaussians


@rewards.add
def gaussian_coverage(answer: str, *, alpha: float = 0.5, **columns: Any) -> float:
    """Overlap of the Gaussians of the box said and the target's box: 1 where they are the same.

    R = exp(-1/8 d^T S^-1 d - 1/2 ln(det S / sqrt(det S_p det S_g))), S = (S_p + S_g) / 2, S_p and S_g diagonal with
    (alpha w)^2 and (alpha h)^2: the Bhattacharyya coefficient (GUI-G2, arXiv 2507.15846, R_coverage). An answer without a
    box covers nothing: 0.
    """
    read, box = judged.judge(answer, columns), judged.target(columns)
    said = judged.said_box(answer, read)
    return 0.0 if said is None else gaussians.coverage(said, box, alpha=alpha)
