"""The colour that a person would call a control by, from its pixels; none where people would not agree."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cuadata.seeing import pictures
from cuadata.types import BBox, Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Hue in degrees up to which a strong colour has this name; the ranges between are called differently by different people.
_HUES: Final = (
    (12, "red"), (20, ""), (42, "orange"), (48, ""), (64, "yellow"), (85, ""), (150, "green"), (195, ""), (250, "blue"),
    (262, ""), (290, "purple"), (315, ""), (340, "pink"), (348, ""), (361, "red"),
)  # fmt: skip
#: Share of the box that has to be of the one colour.
_SHARE: Final = 0.4


def named(picture: Image, boxes: Sequence[BBox], scale: float) -> list[str]:
    """The colour's name of each box (CSS px; `scale` image px for one), empty where it has no plain one."""
    pixels = pictures.load(picture)
    return [_of(_part(pixels, box, scale)) for box in boxes]


def _part(pixels: NDArray[np.uint8], box: BBox, scale: float) -> NDArray[np.uint8]:
    left, top = max(0, round(box.x * scale)), max(0, round(box.y * scale))
    return pixels[top : max(top, round(box.bottom * scale)), left : max(left, round(box.right * scale)), :3]


def _of(part: NDArray[np.uint8]) -> str:
    import numpy as np

    if not part.size:
        return ""
    levels = part.reshape(-1, 3) // 16
    codes = levels[:, 0].astype(np.int32) * 256 + levels[:, 1] * 16 + levels[:, 2]
    values, counts = np.unique(codes, return_counts=True)
    most = int(counts.argmax())
    if counts[most] < _SHARE * len(codes):
        return ""
    code = int(values[most])
    red, green, blue = ((code >> shift & 15) * 16 + 8 for shift in (8, 4, 0))
    hue, light, strength = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    if not 0.2 <= light <= 0.75 or strength < 0.5:
        return ""
    return next(name for upto, name in _HUES if hue * 360 < upto)
