"""Boxes as Gaussians, as GUI-G2 (arXiv 2507.15846) rewards them."""

from __future__ import annotations

import math

from cuadata.types import BBox, Point

#: A box thinner than this is taken as this wide, CSS px: a Gaussian without width rewards nothing but its own centre.
MIN_SIGMA = 0.5


def sigmas(box: BBox, alpha: float) -> tuple[float, float]:
    """Standard deviations across and down: alpha times the sides. ValueError for alpha of 0 or below."""
    if alpha <= 0:
        raise ValueError(f"alpha is {alpha}; a Gaussian needs a width above 0")
    return max(alpha * abs(box.width), MIN_SIGMA), max(alpha * abs(box.height), MIN_SIGMA)


def point(said: Point, box: BBox, *, alpha: float) -> float:
    """exp(-1/2 (dx^2/sx^2 + dy^2/sy^2)) of a point about a box's centre, 0 to 1."""
    across, down = sigmas(box, alpha)
    center = box.center
    return math.exp(-0.5 * (((said.x - center.x) / across) ** 2 + ((said.y - center.y) / down) ** 2))


def coverage(said: BBox, box: BBox, *, alpha: float) -> float:
    """Bhattacharyya coefficient of the Gaussians of two boxes, 0 to 1; 1 for the same box."""
    said_center, center = said.center, box.center
    deltas = (said_center.x - center.x, said_center.y - center.y)
    exponent = 0.0
    for delta, one, other in zip(deltas, sigmas(said, alpha), sigmas(box, alpha), strict=True):
        mean = (one**2 + other**2) / 2
        exponent += delta**2 / mean / 8 + 0.5 * math.log(mean / (one * other))
    return math.exp(-exponent)
