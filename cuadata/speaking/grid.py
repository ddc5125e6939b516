"""The numbers that a model writes for a point, and the point that it means: one grid a picture and family."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, cast, get_args

from cuadata.contracts import ParseFailure, View
from cuadata.errors import CallError
from cuadata.geometry import Frame, FrameKind
from cuadata.speaking import lenient
from cuadata.types import BBox, Point, Size

#: Decimals of a fraction of a side: a step of 0.0001 is 0.2 px on a picture of 2,000 px.
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Grid:
    """A frame laid over one picture.

    Counting in px, the picture ends before its extent, so a value equal to the extent is off the picture. On the other
    grids both ends are values of the grid; the far end is read as the last pixel, because the edge takes no click.
    """

    kind: Annotated[FrameKind, "how the family counts"]
    extent: Annotated[tuple[float, float], "width and height of the whole picture on the grid"]
    image: Annotated[Size, "the stored picture, image px"]
    viewport: Annotated[Size, "the viewport it shows, CSS px"]

    @property
    def counts_px(self) -> bool:
        """Whether the grid's steps are px of some picture."""
        return self.kind in ("px", "resized")

    @property
    def step(self) -> tuple[float, float]:
        """One step of the grid across and down, CSS px."""
        unit = 10.0**-DECIMALS if self.kind == "unit" else 1.0
        return unit / self.extent[0] * self.viewport.width, unit / self.extent[1] * self.viewport.height

    def write(self, point: Point | None, what: str = "the action") -> tuple[float, float]:
        """A point as the family's numbers: int, or fractions of 4 decimals. ValueError for no point or one off the page."""
        if point is None:
            raise ValueError(f"{what} has no point, and this family says where by coordinates; give the action a point")
        wide, tall = self.viewport.width, self.viewport.height
        if not (0 <= point.x <= wide and 0 <= point.y <= tall):
            raise ValueError(f"({point.x:g}, {point.y:g}) lies outside the viewport of {wide}x{tall} CSS px")
        across, down = self._steps(point)
        if self.counts_px:
            return min(across, int(self.extent[0]) - 1), min(down, int(self.extent[1]) - 1)
        return across, down

    def _steps(self, point: Point) -> tuple[float, float]:
        """A point in whole steps of the grid, both ends included."""
        across = point.x * self.extent[0] / self.viewport.width
        down = point.y * self.extent[1] / self.viewport.height
        return (round(across, DECIMALS), round(down, DECIMALS)) if self.kind == "unit" else (round(across), round(down))

    def read(self, x: float, y: float) -> Point:
        """The point that a family's numbers mean, CSS px. ParseFailure of kind coordinates_out_of_range off the picture.

        Fractions of a side, where the grid counts in more, are another family's numbers: not the picture's corner.
        """
        wide, tall = self.extent
        if self.kind != "unit" and 0 < max(x, y) <= 1 and not (x.is_integer() and y.is_integer()):
            wanted = "px" if self.counts_px else f"steps of {wide:g}"
            raise ParseFailure(f"({x:g}, {y:g}) are fractions, {wanted} are wanted", kind="coordinates_out_of_range")
        inside = (x < wide and y < tall) if self.counts_px else (x <= wide and y <= tall)
        if not (x >= 0 and y >= 0 and inside):
            span = f"{wide:g}x{tall:g}" + (" px" if self.counts_px else "")
            raise ParseFailure(f"({x:g}, {y:g}) lies off the picture of {span}", kind="coordinates_out_of_range")
        across, down = x * self.viewport.width / wide, y * self.viewport.height / tall
        if not self.counts_px:
            across = min(across, self.viewport.width * (1 - 1 / self.image.width))
            down = min(down, self.viewport.height * (1 - 1 / self.image.height))
        return Point(across, down)

    def read_place(self, numbers: Sequence[float]) -> Point:
        """The point that two numbers mean, or the middle of the box that four mean; no corner may be off the picture."""
        if len(numbers) == 4:
            left, top, right, bottom = numbers
            self.read_box(left, top, right, bottom)
            return self.read((left + right) / 2, (top + bottom) / 2)
        return self.read(numbers[0], numbers[1])

    def read_box(self, left: float, top: float, right: float, bottom: float) -> BBox:
        """A box given by two corners, in either order, CSS px. ParseFailure where a corner is off the picture."""
        for x, y in ((left, top), (right, bottom)):
            if not (0 <= x <= self.extent[0] and 0 <= y <= self.extent[1]):
                raise ParseFailure(f"the corner ({x:g}, {y:g}) is off the picture", kind="coordinates_out_of_range")
        across, down = self.viewport.width / self.extent[0], self.viewport.height / self.extent[1]
        x, y = min(left, right) * across, min(top, bottom) * down
        return BBox(x, y, abs(right - left) * across, abs(bottom - top) * down)

    def write_box(self, box: BBox) -> tuple[float, float, float, float]:
        """A box as the family's two corners (left, top, right, bottom); its edges may be the picture's.

        ValueError where a corner is off the page.
        """
        corners = Point(box.x, box.y), Point(box.right, box.bottom)
        for corner in corners:
            self.write(corner, "the box")
        return (*self._steps(corners[0]), *self._steps(corners[1]))


def of(view: View, frame: Frame) -> Grid:
    """The grid of a family's frame over a view, whose `frame`, `min_pixels` and `max_pixels` override the family's."""
    return _grid(view.image, view.viewport, view.frame, view.min_pixels, view.max_pixels, frame)


@functools.lru_cache(maxsize=512)
def _grid(
    image: Size, viewport: Size, kind: str | None, min_pixels: int | None, max_pixels: int | None, frame: Frame
) -> Grid:
    if kind is not None and kind not in get_args(FrameKind):
        raise CallError(f"no frame is called '{kind}'; there are: {', '.join(get_args(FrameKind))}")
    if min(image.width, image.height, viewport.width, viewport.height) < 1:
        raise CallError(f"a view needs sides of at least 1 px, got picture {image} and viewport {viewport}")
    used = replace(
        frame,
        kind=cast(FrameKind, kind) if kind else frame.kind,
        min_pixels=min_pixels or frame.min_pixels,
        max_pixels=max_pixels or frame.max_pixels,
    )
    return Grid(used.kind, used.extent(image), image, viewport)


def finite(value: object) -> float | None:
    """A number that a model wrote, as a float; None where it is none. Numbers beyond a float's range become infinite."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        try:
            number = float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
        return None if math.isnan(number) else number
    if isinstance(value, str):
        try:
            number = float(value if value.isascii() else value.translate(lenient.SIGNS))
        except ValueError:
            return None
        return None if math.isnan(number) else number
    return None
