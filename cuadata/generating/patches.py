"""Labels for heads that point without coordinates: which patches of the processed picture a box covers, and how much of each.

GUI-Actor (Wu et al., 2025) trains attention over the patches of a picture with such labels. They depend on the processor, so
they are computed on request and not stored with a row. Position markers name the places of the patches in px of the
processed picture, for models that read a coordinate off the nearest marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from cuadata import geometry
from cuadata.errors import CallError
from cuadata.geometry import Frame
from cuadata.types import BBox, Point, Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """A box on the patches of a processed picture."""

    processed: Annotated[Size, "the picture as the model sees it, px"]
    side: Annotated[int, "of one patch, px of the processed picture"]
    rows: Annotated[int, "patches down"]
    columns: Annotated[int, "patches across"]
    shares: Annotated[Mapping[int, float], "patch, row by row from 0 -> share of it that is covered; 0 left out"]

    @property
    def target(self) -> dict[int, float]:
        """The shares as a distribution over patches, which sums to 1; empty where nothing is covered."""
        total = sum(self.shares.values())
        return {patch: share / total for patch, share in self.shares.items()}

    def middle(self, patch: int) -> Point:
        """The middle of a patch, px of the processed picture. CallError for a patch that there is not."""
        if not 0 <= patch < self.rows * self.columns:
            raise CallError(f"patch {patch} is not on a grid of {self.rows} rows and {self.columns} columns")
        row, column = divmod(patch, self.columns)
        return Point((column + 0.5) * self.side, (row + 0.5) * self.side)

    def markers(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Middles of the patches across and of those down, px of the processed picture."""
        across = tuple((n + 0.5) * self.side for n in range(self.columns))
        return across, tuple((n + 0.5) * self.side for n in range(self.rows))


def covered(box: BBox, image: Size, viewport: Size, frame: Frame) -> Patches:
    """The patches that a box (CSS px of the viewport) covers of a picture as a family's processor resizes it.

    One patch is what becomes one token: `frame.factor` px a side, the vision patch times its merging. ValueError for a
    picture that the processor refuses.
    """
    side = frame.factor
    tall, wide = geometry.smart_resize(
        image.height, image.width, factor=side, min_pixels=frame.min_pixels, max_pixels=frame.max_pixels
    )
    across, down = wide / viewport.width, tall / viewport.height
    shares = {}
    for row, high in _line(box.y * down, box.bottom * down, side, tall // side):
        for column, broad in _line(box.x * across, box.right * across, side, wide // side):
            shares[row * (wide // side) + column] = high * broad
    return Patches(processed=Size(wide, tall), side=side, rows=tall // side, columns=wide // side, shares=shares)


def _line(start: float, end: float, side: int, count: int) -> list[tuple[int, float]]:
    """Intervals of one length that a stretch covers in part: number and share."""
    first, last = max(0, int(start // side)), min(count - 1, int(end // side))
    held = ((n, (min(end, (n + 1) * side) - max(start, n * side)) / side) for n in range(first, last + 1))
    return [(n, share) for n, share in held if share > 0]
