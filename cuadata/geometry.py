"""Boxes, points and coordinate frames.

Everything inside the project is CSS px of the top-level viewport. A `Frame` says how a model family counts instead, and
`to_frame` and `from_frame` are the only places where one turns into the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cuadata.types import BBox, Point, Size

FrameKind = Literal["px", "resized", "unit", "thousand", "999"]


def union(boxes: Iterable[BBox]) -> BBox | None:
    """The smallest box around all; None for no boxes."""
    held = list(boxes)
    if not held:
        return None
    x, y = min(b.x for b in held), min(b.y for b in held)
    return BBox(x, y, max(b.right for b in held) - x, max(b.bottom for b in held) - y)


def intersection(one: BBox, other: BBox) -> BBox | None:
    """The box that lies in both; None where they share no area."""
    x, y = max(one.x, other.x), max(one.y, other.y)
    width, height = min(one.right, other.right) - x, min(one.bottom, other.bottom) - y
    return BBox(x, y, width, height) if width > 0 and height > 0 else None


def iou(one: BBox, other: BBox) -> float:
    """Intersection over union, 0 to 1; 0 where both have no area."""
    shared = intersection(one, other)
    if shared is None:
        return 0.0
    return shared.area / (one.area + other.area - shared.area)


def grown(box: BBox, by: float) -> BBox:
    """The box widened by `by` px on every side."""
    return BBox(box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by)


def clip(box: BBox, viewport: Size) -> BBox | None:
    """The part of a box that is on the screen; None where nothing is."""
    return intersection(box, BBox(0, 0, viewport.width, viewport.height))


def contains(box: BBox, point: Point, slack: float = 0.0) -> bool:
    """Whether a point lies in a box, its left and top edge included, widened by `slack` CSS px on every side."""
    return box.x - slack <= point.x < box.right + slack and box.y - slack <= point.y < box.bottom + slack


def distance(box: BBox, point: Point) -> float:
    """Distance from a point to the nearest edge of a box, CSS px; 0 inside."""
    return math.hypot(max(box.x - point.x, 0, point.x - box.right), max(box.y - point.y, 0, point.y - box.bottom))


def finite(box: BBox) -> bool:
    """Whether all four numbers are finite."""
    return all(map(math.isfinite, (box.x, box.y, box.width, box.height)))


def smart_resize(
    height: int, width: int, *, factor: int = 28, min_pixels: int = 56 * 56, max_pixels: int = 14 * 14 * 4 * 1280
) -> tuple[int, int]:
    """Height and width that a Qwen image processor makes of a picture, multiples of `factor`.

    Both sides are rounded to the nearest multiple; where the area leaves the bounds, both are scaled by the square root
    of the ratio and rounded towards the allowed side. Source: Qwen2-VL image processor in transformers. ValueError for a
    side below 1 px or an aspect ratio above 200.
    """
    if min(height, width) < 1 or max(height, width) / min(height, width) > 200:
        raise ValueError(f"a picture of {width}x{height} px has no processed size; sides from 1 px, ratio up to 200")
    tall, wide = (
        round(height / factor) * factor,
        round(width / factor) * factor,
    )  # 0 for a sliver, which is then scaled up
    if tall * wide > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        tall = max(factor, math.floor(height / shrink / factor) * factor)
        wide = max(factor, math.floor(width / shrink / factor) * factor)
    elif tall * wide < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        tall = math.ceil(height * grow / factor) * factor
        wide = math.ceil(width * grow / factor) * factor
    return tall, wide


@dataclass(frozen=True, slots=True)
class Frame:
    """How a model family counts coordinates.

    `px`: px of the stored picture. `resized`: px of the picture after `smart_resize`. `unit`: fractions 0-1.
    `thousand`: 0-1000 over each side. `999`: 0-999 over each side.
    """

    kind: FrameKind
    factor: int = 28
    min_pixels: int = 56 * 56
    max_pixels: int = 14 * 14 * 4 * 1280

    def extent(self, image: Size) -> tuple[float, float]:
        """Width and height of the whole picture in this frame."""
        if self.kind == "px":
            return float(image.width), float(image.height)
        if self.kind == "unit":
            return 1.0, 1.0
        if self.kind == "thousand":
            return 1000.0, 1000.0
        if self.kind == "999":
            return 999.0, 999.0
        tall, wide = smart_resize(
            image.height, image.width, factor=self.factor, min_pixels=self.min_pixels, max_pixels=self.max_pixels
        )
        return float(wide), float(tall)


def to_frame(point: Point, frame: Frame, image: Size, viewport: Size) -> tuple[float, float]:
    """A point in CSS px as a model counts it, not rounded."""
    wide, tall = frame.extent(image)
    return point.x / viewport.width * wide, point.y / viewport.height * tall


def from_frame(x: float, y: float, frame: Frame, image: Size, viewport: Size) -> Point:
    """A model's coordinates as a point in CSS px; ValueError where they are not finite numbers."""
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError(f"({x}, {y}) is no point")
    wide, tall = frame.extent(image)
    return Point(x / wide * viewport.width, y / tall * viewport.height)


def css_to_image(box: BBox, image: Size, viewport: Size) -> BBox:
    """A box in CSS px as px of the picture: image px = CSS px x image_width / viewport_width."""
    across, down = image.width / viewport.width, image.height / viewport.height
    return BBox(box.x * across, box.y * down, box.width * across, box.height * down)


def image_to_css(box: BBox, image: Size, viewport: Size) -> BBox:
    """A box in px of the picture as CSS px."""
    across, down = viewport.width / image.width, viewport.height / image.height
    return BBox(box.x * across, box.y * down, box.width * across, box.height * down)
