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
#: Share of the box from which on a colour is seen at all: the letters of a link.
_SEEN: Final = 0.02


def named(picture: Image, boxes: Sequence[BBox], scale: float) -> list[str]:
    """The colour's name of each box (CSS px; `scale` image px for one), empty where it has no plain one."""
    pixels = pictures.load(picture)
    return [_of(_part(pixels, box, scale)) for box in boxes]


def hinted(picture: Image, boxes: Sequence[BBox], scale: float) -> list[frozenset[str]]:
    """The colours that somebody may call each box by, for its ground, its letters or its sign; those that border on one too."""
    pixels = pictures.load(picture)
    return [_hints(_part(pixels, box, scale)) for box in boxes]


def _hints(part: NDArray[np.uint8]) -> frozenset[str]:
    shares: dict[str, float] = {}
    for (hue, light, strength), share in _colours(part):
        if 0.15 <= light <= 0.85 and strength >= 0.25:
            for name in _near(hue):
                shares[name] = shares.get(name, 0.0) + share
    return frozenset(name for name, share in shares.items() if share >= _SEEN)


def _near(hue: float) -> set[str]:
    """The name of a hue, or the two between which it lies."""
    place = next(place for place, (upto, _) in enumerate(_HUES) if hue * 360 < upto)
    around = (place,) if _HUES[place][1] else (place - 1, place + 1)
    return {_HUES[one][1] for one in around}


def _part(pixels: NDArray[np.uint8], box: BBox, scale: float) -> NDArray[np.uint8]:
    left, top = max(0, round(box.x * scale)), max(0, round(box.y * scale))
    return pixels[top : max(top, round(box.bottom * scale)), left : max(left, round(box.right * scale)), :3]


def _colours(part: NDArray[np.uint8]) -> list[tuple[tuple[float, float, float], float]]:
    """Hue, lightness and strength of every colour, 16 levels a channel, with its share of the pixels."""
    import numpy as np

    levels = part.reshape(-1, 3) // 16
    codes = levels[:, 0].astype(np.int32) * 256 + levels[:, 1] * 16 + levels[:, 2]
    values, counts = np.unique(codes, return_counts=True)
    found = []
    for code, count in zip(values.tolist(), counts.tolist(), strict=True):
        red, green, blue = ((code >> shift & 15) * 16 + 8 for shift in (8, 4, 0))
        found.append((colorsys.rgb_to_hls(red / 255, green / 255, blue / 255), count / len(codes)))
    return found


def _of(part: NDArray[np.uint8]) -> str:
    (hue, light, strength), share = max(_colours(part), key=lambda one: one[1], default=((0.0, 0.0, 0.0), 0.0))
    if share < _SHARE or not 0.2 <= light <= 0.75 or strength < 0.5:
        return ""
    return next(name for upto, name in _HUES if hue * 360 < upto)
