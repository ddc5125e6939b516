"""Directions and distances between all the boxes of a page, worked out at once: a page is asked for a thousand of them.

Arrays are (target, reference), over all boxes of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from cuadata import relation_rules as rules
from cuadata.types import BBox, Relation


class Way(NamedTuple):
    """One direction, between each two boxes."""

    margins: Annotated[Any, "the numbers that its rule gives; -inf where one of the two has no area"]
    in_line: Annotated[Any, "share of the smaller extent in common across, as `relations.in_line`"]
    ahead: Annotated[Any, "whether the target lies that way, rather ahead than aside, as a person sees it at a glance"]


class Apart(NamedTuple):
    """How far each two boxes are apart; what is squared or doubled is so for the sake of exact numbers."""

    gaps: Annotated[Any, "squared gaps, CSS px^2"]
    across: Annotated[Any, "between middles, doubled CSS px"]
    down: Annotated[Any, "the same"]


def between(boxes: Sequence[BBox]) -> tuple[dict[Relation, Way], Apart]:
    """The four directions between each two boxes, and how far they are apart."""
    import numpy as np

    solid = np.array([rules.solid(one) for one in boxes], dtype=bool)
    # What has no area stands in as a box that has: nothing is divided by zero, and it is written over.
    held = [(b.x, b.y, b.width, b.height) if s else (0.0, 0.0, 1.0, 1.0) for b, s in zip(boxes, solid, strict=True)]
    x, y, width, height = np.array(held, dtype=np.float64).reshape(-1, 4).T
    both = solid[:, None] & solid[None, :]
    beside, under = _gaps(x, width), _gaps(y, height)
    above = _before(y, height, x, width, under, beside, both)
    left = _before(x, width, y, height, beside, under, both)
    middles = [2 * start + extent for start, extent in ((x, width), (y, height))]
    apart = Apart(beside * beside + under * under, *(np.abs(one[:, None] - one[None, :]) for one in middles))
    ways: dict[Relation, Way] = {"above": above, "below": _turned(above), "left_of": left, "right_of": _turned(left)}
    return ways, apart


def _gaps(start: Any, extent: Any) -> Any:
    import numpy as np

    end = start + extent
    one = start[:, None] - end[None, :]
    return np.maximum(np.maximum(one, one.T), 0.0)


def _turned(way: Way) -> Way:
    return Way(way.margins.T, way.in_line.T, way.ahead.T)


def _before(start: Any, extent: Any, across: Any, breadth: Any, along: Any, aside: Any, both: Any) -> Way:
    """As the rule of `relation_rules`, sum for sum, so that both give the same last digit; a test holds that."""
    import numpy as np

    room = start[None, :] - start[:, None] - extent[:, None]
    beyond = room / np.minimum(extent[None, :], extent[:, None])
    end = across + breadth
    common = np.minimum(end[None, :], end[:, None]) - np.maximum(across[None, :], across[:, None])
    common = common / np.minimum(breadth[None, :], breadth[:, None])
    margins = np.where(both, np.minimum(common - rules.HALF, beyond), -np.inf)
    return Way(margins, common, both & (room >= 0) & (aside <= along))
