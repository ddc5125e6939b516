"""Directions between all the boxes of a page, worked out at once: a page is asked for a thousand of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuadata import relation_rules as rules
from cuadata.types import BBox, Relation

Table = list[list[float]]


def tables(boxes: Sequence[BBox]) -> dict[Relation, Table]:
    """Direction -> its margin, the number that its rule gives for each two boxes: of the target first, then of the reference.

    -inf where one of the two has no area.
    """
    import numpy as np

    solid = np.array([rules.solid(one) for one in boxes], dtype=bool)
    # What has no area stands in as a box that has: nothing is divided by zero, and it is written over.
    sides: Any = np.array(
        [(b.x, b.y, b.width, b.height) if s else (0.0, 0.0, 1.0, 1.0) for b, s in zip(boxes, solid, strict=True)],
        dtype=np.float64,
    ).reshape(-1, 4)
    x, y, width, height = sides.T
    both = solid[:, None] & solid[None, :]
    above = np.where(both, _before(y, height, x, width), -np.inf)
    left = np.where(both, _before(x, width, y, height), -np.inf)
    return {"above": above.tolist(), "below": above.T.tolist(), "left_of": left.tolist(), "right_of": left.T.tolist()}


def _before(start: Any, extent: Any, across: Any, breadth: Any) -> Any:
    """As the rule of `relation_rules`, sum for sum, so that both give the same last digit; a test holds that."""
    import numpy as np

    beyond = (start[None, :] - start[:, None] - extent[:, None]) / np.minimum(extent[None, :], extent[:, None])
    end = across + breadth
    common = np.minimum(end[None, :], end[:, None]) - np.maximum(across[None, :], across[:, None])
    common = common / np.minimum(breadth[None, :], breadth[:, None]) - rules.HALF
    return np.minimum(common, beyond)
