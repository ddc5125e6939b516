"""Structural similarity where two pictures differ, and nowhere else.

SSIM (Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity",
2004) in the form that scikit-image computes by default: a uniform window of 7x7 px, sample covariance, K1 = 0.01,
K2 = 0.03, per channel. A window that holds no changed pixel has the value 1, so only windows that touch a changed pixel
are computed, on crops that hold every pixel of those windows; the values are those of the whole picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Side of the square window, image px; the default of scikit-image.
WINDOW = 7
RADIUS = WINDOW // 2
_C1 = (0.01 * 255) ** 2
_C2 = (0.03 * 255) ** 2
#: Changed pixels closer than this, in image px, come into one crop; it must exceed twice the window's reach.
_GRID = 32
#: With more groups than this one crop around all of them is cheaper.
_MOST_CROPS = 48
#: Rows taken at once: what they need stays in the processor's cache, and memory does not grow with the picture.
_STRIP = 56


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a picture, image px; bottom and right lie outside it."""

    top: Annotated[int, "first row"]
    bottom: Annotated[int, "row after the last"]
    left: Annotated[int, "first column"]
    right: Annotated[int, "column after the last"]

    def of(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """The view of an array of (height, width, ...) that this crop names."""
        return pixels[self.top : self.bottom, self.left : self.right]

    def within(self, outer: Crop) -> Crop:
        """The same part, counted from the corner of a crop around it."""
        return Crop(self.top - outer.top, self.bottom - outer.top, self.left - outer.left, self.right - outer.left)

    def grown(self, by: int, height: int, width: int) -> Crop:
        """The crop widened on all sides by `by` px, inside a picture of that size."""
        return Crop(
            max(0, self.top - by),
            min(height, self.bottom + by),
            max(0, self.left - by),
            min(width, self.right + by),
        )

    def aligned(self, to: int, height: int, width: int) -> Crop:
        """The smallest crop on a grid of `to` px that holds this one, cut at the picture's edge."""
        return Crop(
            self.top // to * to,
            min(height, -(-self.bottom // to) * to),
            self.left // to * to,
            min(width, -(-self.right // to) * to),
        )


def changed_crop(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Crop | None:
    """The smallest crop that holds every pixel that differs; None where the pictures are equal.

    Both of shape (height, width, 3). Whole rows are compared first, eight bytes at a time where the row allows it.
    """
    import numpy as np

    width = before.shape[1]
    rows_before, rows_after = _rows(before), _rows(after)
    differs = rows_before != rows_after
    rows = np.flatnonzero(differs.any(axis=1))
    if not rows.size:
        return None
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    words = np.flatnonzero(differs[top:bottom].any(axis=0))
    bytes_per_word = rows_before.itemsize
    left = int(words[0]) * bytes_per_word // 3
    right = min(width, -(-(int(words[-1]) + 1) * bytes_per_word // 3))
    # A word spans pixels: look at the pixels of the two edges themselves.
    columns = np.flatnonzero((before[top:bottom, left:right] != after[top:bottom, left:right]).any(axis=0).any(axis=1))
    return Crop(top, bottom, left + int(columns[0]), left + int(columns[-1]) + 1)


def _rows(pixels: NDArray[np.uint8]) -> NDArray[Any]:
    import numpy as np

    flat = np.ascontiguousarray(pixels).reshape(pixels.shape[0], -1)
    return flat.view(np.uint64) if flat.shape[1] % 8 == 0 else flat


def crops(changed: NDArray[np.bool_], offset: Crop) -> list[Crop]:
    """Crops around the groups of changed pixels, exact to the pixel, far enough apart that no window touches two.

    `changed` has the shape of `offset`; the crops are in the frame of the whole picture.
    """
    from scipy import ndimage

    height, width = changed.shape
    if not changed.any():
        return []
    if max(height, width) <= 2 * _GRID:
        return [_tight(changed, offset, slice(0, height), slice(0, width))]
    tiles = tiles_of(changed, _GRID)
    labels, count = components(tiles)
    if count > _MOST_CROPS:
        return [_tight(changed, offset, slice(0, height), slice(0, width))]
    found = []
    for number, place in enumerate(ndimage.find_objects(labels), start=1):
        rows = slice(place[0].start * _GRID, min(place[0].stop * _GRID, height))
        columns = slice(place[1].start * _GRID, min(place[1].stop * _GRID, width))
        own = pixels_of(labels[place] == number, _GRID, rows.stop - rows.start, columns.stop - columns.start)
        part = changed[rows, columns] & own
        found.append(_tight(part, offset, rows, columns))
    return found


def components(tiles: NDArray[np.bool_]) -> tuple[NDArray[Any], int]:
    """Numbers from 1 for the groups of touching tiles, corners included, and how many there are."""
    import numpy as np
    from scipy import ndimage

    found: Any = ndimage.label(tiles, structure=np.ones((3, 3)))
    return found[0], int(found[1])


def _tight(part: NDArray[np.bool_], offset: Crop, rows: slice, columns: slice) -> Crop:
    import numpy as np

    down, across = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    top, left = offset.top + rows.start, offset.left + columns.start
    return Crop(top + int(down[0]), top + int(down[-1]) + 1, left + int(across[0]), left + int(across[-1]) + 1)


def tiles_of(flags: NDArray[np.bool_], side: int) -> NDArray[np.bool_]:
    """Which tiles of `side` px hold a set flag; the last row and column of tiles may be cut by the picture's edge."""
    import numpy as np

    height, width = flags.shape
    padded = np.pad(flags, ((0, -height % side), (0, -width % side)))
    # Rows first: they are whole in memory, and few are left for the columns.
    rows = padded.reshape(-1, side, width + -width % side).any(axis=1)
    tiles: NDArray[np.bool_] = np.asarray(rows.reshape(-(-height // side), -1, side).any(axis=2))
    return tiles


def pixels_of(tiles: NDArray[np.bool_], side: int, height: int, width: int) -> NDArray[np.bool_]:
    """The pixels of a picture of that size that lie in set tiles of `side` px."""
    flags: NDArray[np.bool_] = tiles.repeat(side, axis=0).repeat(side, axis=1)[:height, :width]
    return flags


def local(
    before: NDArray[np.uint8], after: NDArray[np.uint8], crop: Crop, limit: float
) -> Iterator[tuple[Crop, float, NDArray[np.bool_], NDArray[np.int16]]]:
    """What the windows say that touch a crop, a strip of rows at a time, from the top.

    Yields the crop of the windows' middle pixels, the lowest SSIM (-1 to 1) of this strip and those above it, and of shape
    (rows, columns) whether a window's SSIM in some channel is below `limit`, and its largest difference of the two sums in a
    channel (levels times the pixels of a window). A channel that is the same as another in both pictures is left out: of
    grey ones there is one. Pictures of any size are allowed: at the edge a window is mirrored as in scikit-image's full map.
    """
    import numpy as np

    height, width = before.shape[:2]
    middle = crop.grown(RADIUS, height, width)
    one, other = _mirrored(before, middle), _mirrored(after, middle)
    channels = _distinct(one, other)
    lowest = 1.0
    for top in range(0, middle.bottom - middle.top, _STRIP):
        rows = slice(top, top + _STRIP + 2 * RADIUS)
        below, shift = None, None
        for channel in channels:
            sums = Sums(one[channel, rows], other[channel, rows])
            lowest, here = sums.verdict(limit, lowest)
            below = here if below is None else np.logical_or(below, here, out=below)
            shift = sums.shift if shift is None else np.maximum(shift, sums.shift, out=shift)
        assert below is not None and shift is not None
        start = middle.top + top
        yield Crop(start, start + len(shift), middle.left, middle.right), lowest, below, shift


#: Every so many px are looked at first, to see that two channels differ.
_SPARSE = 16


def _distinct(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> list[int]:
    """The channels of two pictures that are not, in both, the same as one before: of grey pictures one is left."""
    kept: list[int] = []
    for channel in range(len(one)):
        if not any(_equal(one, channel, held) and _equal(other, channel, held) for held in kept):
            kept.append(channel)
    return kept


def _equal(planes: NDArray[np.uint8], channel: int, other: int) -> bool:
    here, there = planes[channel], planes[other]
    sparse = (slice(None, None, _SPARSE), slice(None, None, _SPARSE))
    return bool((here[sparse] == there[sparse]).all()) and bool((here == there).all())


def _mirrored(pixels: NDArray[np.uint8], middle: Crop) -> NDArray[np.uint8]:
    """The crop with the radius around it, (channels, height, width), mirrored where the picture ends."""
    import numpy as np

    height, width = pixels.shape[:2]
    around = middle.grown(RADIUS, height, width)
    planes = np.ascontiguousarray(np.moveaxis(around.of(pixels), 2, 0))
    short = (
        (0, 0),
        (RADIUS - (middle.top - around.top), RADIUS - (around.bottom - middle.bottom)),
        (RADIUS - (middle.left - around.left), RADIUS - (around.right - middle.right)),
    )
    return np.pad(planes, short, "symmetric") if any(map(any, short)) else planes


#: SSIM in single precision is off by less than half of this: the sums are exact, what is made of them (below 2^30) loses up to
#: 2^5 each, and the terms are above 2 * C2 * n (n - 1) = 2.7e5.
_DOUBT = 0.002


class Sums:
    """Of every whole window of one channel in two pictures, (height, width), smaller by the window less one.

    Sums of d = y - x and of s = x + y and of their squares, all whole numbers and exact. They say what the sums of x, y, their
    squares and products do, 4 x y = s^2 - d^2 and 2 (x^2 + y^2) = s^2 + d^2, and need a product less.
    """

    def __init__(self, one: NDArray[np.uint8], other: NDArray[np.uint8]) -> None:
        import numpy as np

        self._width = one.shape[1]
        # A sum of 49 such levels fits into 16 bits; one of their squares has its place in a float's 24.
        apart, both = _flat(other), _flat(one)
        apart -= both
        both *= 2
        both += apart
        self._apart, self._both = _window_sums(apart, self._width), _window_sums(both, self._width)
        squares = apart.astype(np.float32), both.astype(np.float32)
        for one_square in squares:
            one_square *= one_square
        self._apart_squares, self._both_squares = (_window_sums(values, self._width) for values in squares)
        #: Largest difference of the two sums.
        self.shift: NDArray[np.int16] = np.abs(self._rectangle(self._apart))

    def _rectangle(self, sums: NDArray[Any]) -> NDArray[Any]:
        """The sums of whole windows, (height, width), without those that reach over the end of a row."""
        return sums.reshape(-1, self._width)[:, : -2 * RADIUS]

    def verdict(self, limit: float, lowest: float) -> tuple[float, NDArray[np.bool_]]:
        """The lowest SSIM, or `lowest` where none is below that; and where it is below `limit`.

        Both are those of double precision, which is asked where single precision leaves a doubt.
        """

        values = self._rectangle(self._nearly())
        below: NDArray[np.bool_] = values < limit - _DOUBT
        doubt = _set(below ^ (values < limit + _DOUBT))
        if doubt[0].size:
            below[doubt] = self._exactly(doubt) < limit
        least = float(values.min())
        if least < lowest + _DOUBT:
            lowest = min(lowest, float(self._exactly(_set(values <= least + _DOUBT)).min()))
        return lowest, below

    def _nearly(self) -> NDArray[np.float32]:
        """SSIM in single precision, off by less than half of `_DOUBT`.

        With n = 49 px, (D - E) (F - G) / ((D + E) (F + G)), where D = sum(s)^2 + light, E = sum(d)^2,
        F = n sum(s^2) - sum(s)^2 + contrast and G = n sum(d^2) - sum(d)^2.
        """
        import numpy as np

        count = WINDOW**2
        light, contrast = np.float32(2 * _C1 * count**2), np.float32(2 * _C2 * count * (count - 1))
        both, apart = self._both.astype(np.float32), self._apart.astype(np.float32)
        both *= both
        apart *= apart
        contrasts = self._both_squares * np.float32(count)
        contrasts -= both
        contrasts += contrast
        losses = self._apart_squares * np.float32(count)
        losses -= apart
        both += light
        values: NDArray[np.float32] = both - apart
        both += apart
        values *= contrasts - losses
        contrasts += losses
        both *= contrasts
        values /= both
        return values

    def _exactly(self, places: tuple[NDArray[np.intp], ...]) -> NDArray[np.float64]:
        """SSIM of some windows, by their rows and columns."""
        import numpy as np

        all_sums = (self._both, self._apart, self._both_squares, self._apart_squares)
        sums = [self._rectangle(one)[places].astype(np.int32) for one in all_sums]
        if sums[0].size > _FEW:
            return np.asarray(_similarity(*sums), np.float64)
        return np.array([_similarity(*of_one) for of_one in zip(*(one.tolist() for one in sums), strict=True)])


#: So many windows take Python's own numbers less time than arrays of them.
_FEW = 8


def _similarity(both: Any, apart: Any, both_squares: Any, apart_squares: Any) -> Any:
    """SSIM from the sums that `Sums` speaks of, of one window or of arrays of 32 bits.

    With n = 49 px, n * sum(x y) - sum(x) sum(y) stays below 2^31, so that equal windows give exactly 1.
    """
    count = WINDOW**2
    x, y = (both - apart) // 2, (both + apart) // 2
    products, squares = (both_squares - apart_squares) // 4, (both_squares + apart_squares) // 2
    sample = 1 / (count * (count - 1))
    values = x * y * (2 / count**2) + _C1
    values *= (products * count - x * y) * (2 * sample) + _C2
    below = (x * x + y * y) * (1 / count**2) + _C1
    below *= (squares * count - (x * x + y * y)) * sample + _C2
    return values / below


def _set(flags: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of set flags: what `np.nonzero` gives, in a tenth of the time where few are set."""
    import numpy as np

    places = np.flatnonzero(flags)
    return places // flags.shape[1], places % flags.shape[1]


def _flat(pixels: NDArray[np.uint8]) -> NDArray[np.int16]:
    """The levels one row after the other, and as many zeros behind them as the windows of the last row reach beyond it."""
    import numpy as np

    flat = np.zeros(pixels.size + 2 * RADIUS, np.int16)
    flat[: pixels.size] = pixels.reshape(-1)
    return flat


def _window_sums(values: NDArray[Any], width: int) -> NDArray[Any]:
    """Sums over every window of rows that follow each other: seven terms as 4 + 2 + 1, so that four additions do for each axis.

    A window may begin anywhere in a row and reach into the next one: to leave those out would take each addition three times as
    long, since numpy adds short rows one by one.
    """
    pairs = values[:-1] + values[1:]
    rows = pairs[:-5] + pairs[2:-3]
    rows += pairs[4:-1]
    rows += values[6:]
    pairs = rows[:-width] + rows[width:]
    sums: NDArray[Any] = pairs[: -5 * width] + pairs[2 * width : -3 * width]
    sums += pairs[4 * width : -width]
    sums += rows[6 * width :]
    return sums
