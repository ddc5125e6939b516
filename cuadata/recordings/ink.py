"""Whether there is anything to see at a place of a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cuadata import geometry
from cuadata.types import BBox, Size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def spread(pixels: NDArray[np.uint8], box: BBox, viewport: Size, *, margin: float = 2.0) -> float | None:
    """The largest difference of levels in any channel inside a box, 0-255; 0 where it is of one colour.

    `pixels` is (height, width, 3), `box` is CSS px of the viewport that the picture shows, widened by `margin` CSS px, so
    that a filled box shows against its ground. None where no pixel of the box is in the picture, or box
    or viewport have no size.
    """
    if viewport.width < 1 or viewport.height < 1 or not geometry.finite(box):
        return None
    height, width = pixels.shape[:2]
    across, down = width / viewport.width, height / viewport.height
    left, right = _range(box.x - margin, box.right + margin, across, width)
    top, bottom = _range(box.y - margin, box.bottom + margin, down, height)
    if left >= right or top >= bottom:
        return None
    part = pixels[top:bottom, left:right].reshape(-1, pixels.shape[2])
    return float((part.max(axis=0).astype(int) - part.min(axis=0)).max())


def _range(start: float, end: float, scale: float, size: int) -> tuple[int, int]:
    """Whole pixels from the one that holds `start` to the one that holds `end`, inside the picture."""
    first, last = start * scale, end * scale
    if not (math.isfinite(first) and math.isfinite(last)):
        return 0, 0
    return max(0, math.floor(first)), min(size, math.ceil(last))
