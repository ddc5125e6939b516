"""Region voting: the place that most samples agree on, and how much they agree (GUI-RC, arXiv 2508.05615).

Each sampled point becomes a square; the cells covered by most squares are kept; the largest connected region of them is
the answer, its bounding box's middle the point. The vote needs no label, so its share is a score of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cuadata.types import BBox, Point, Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Side of the square around a sampled point, px, as the paper's site gives it.
SIDE = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What the samples agree on."""

    point: Annotated[Point | None, "middle of the winning region; None where no sample has a point"]
    region: Annotated[BBox | None, "bounding box of the winning region"]
    votes: Annotated[int, "squares that cover the winning region"]
    samples: Annotated[int, "samples asked for, those without a point among them"]
    consistency: Annotated[
        float, "votes / samples, 0 to 1: low where the instruction is hard or means several elements"
    ]


@dataclass(frozen=True, slots=True)
class _Grid:
    """The plane cut at the squares' edges, and how many squares cover each cell."""

    xs: NDArray[Any]
    ys: NDArray[Any]
    counts: NDArray[Any]  # rows are ys, columns xs


def vote(points: Sequence[Point | None], *, side: float = SIDE, viewport: Size | None = None) -> Vote:
    """The consensus of sampled points; None for a sample that could not be read or holds no point.

    The paper counts on a grid of pixels; here the plane is cut at the squares' edges, which gives the same regions
    without rounding, and squares are not cut at the picture's edge, which would pull the middle inwards. Cells that touch
    at a corner only are not connected. Equal regions: the upper left one. Points outside `viewport` have no vote.
    """
    boxes = _squares(points, side, viewport)
    if not boxes:
        return Vote(point=None, region=None, votes=0, samples=len(points), consistency=0.0)
    grid = _count(boxes)
    top = int(grid.counts.max())
    region = _largest(grid, top)
    return Vote(
        point=region.center, region=region, votes=top, samples=len(points), consistency=top / max(1, len(points))
    )


def region_rewards(
    points: Sequence[Point | None], *, side: float = SIDE, viewport: Size | None = None
) -> tuple[float, ...]:
    """GUI-RCPO's reward of each sample: the mean vote over its square, by the highest vote; 0 for no point.

    r_i = sum over the cells of square i of their votes / (highest vote * area of square i). Between 1/K and 1 for the K
    samples that have a point; 1 for all where all agree.
    """
    boxes = iter(_squares(points, side, viewport))
    held = [next(boxes) if p is not None and _inside(p, viewport) else None for p in points]
    if not any(b is not None for b in held):
        return (0.0,) * len(points)
    grid = _count([b for b in held if b is not None])
    return tuple(0.0 if b is None else _mean_vote(grid, b) for b in held)


def _inside(point: Point, viewport: Size | None) -> bool:
    return viewport is None or (0 <= point.x <= viewport.width and 0 <= point.y <= viewport.height)


def _squares(points: Sequence[Point | None], side: float, viewport: Size | None) -> list[BBox]:
    """The squares around the points; points outside the viewport have none."""
    if side <= 0:
        raise ValueError(f"a square with a side of {side} px covers nothing; a side above 0 is wanted")
    half = side / 2
    held = [p for p in points if p is not None and _inside(p, viewport)]
    return [BBox(p.x - half, p.y - half, side, side) for p in held]


def _count(boxes: Sequence[BBox]) -> _Grid:
    import numpy as np

    xs = np.unique([edge for b in boxes for edge in (b.x, b.right)])
    ys = np.unique([edge for b in boxes for edge in (b.y, b.bottom)])
    counts = np.zeros((len(ys) - 1, len(xs) - 1), dtype=np.int64)
    for box in boxes:
        across = slice(*np.searchsorted(xs, (box.x, box.right)))
        down = slice(*np.searchsorted(ys, (box.y, box.bottom)))
        counts[down, across] += 1
    return _Grid(xs, ys, counts)


def _largest(grid: _Grid, top: int) -> BBox:
    """Bounding box of the connected region with the most area among the cells with the highest count."""
    import numpy as np
    from scipy.ndimage import find_objects, label

    labelled: Any = label(grid.counts == top)
    labels, number = labelled
    areas = np.outer(np.diff(grid.ys), np.diff(grid.xs))
    sizes = np.bincount(labels.ravel(), weights=areas.ravel(), minlength=number + 1)[1:]
    best = int(np.argmax(np.round(sizes, 6)))
    down, across = find_objects(labels)[best]
    x, y = float(grid.xs[across.start]), float(grid.ys[down.start])
    return BBox(x, y, float(grid.xs[across.stop]) - x, float(grid.ys[down.stop]) - y)


def _mean_vote(grid: _Grid, box: BBox) -> float:
    import numpy as np

    across = slice(*np.searchsorted(grid.xs, (box.x, box.right)))
    down = slice(*np.searchsorted(grid.ys, (box.y, box.bottom)))
    areas = np.outer(np.diff(grid.ys)[down], np.diff(grid.xs)[across])
    return float((areas * grid.counts[down, across]).sum() / (grid.counts.max() * areas.sum()))
