"""What two pictures say of an action: the same, changed, or changed by noise.

Three signs, each in colour and local:
- the lowest SSIM of a 7x7 window: a stroke, a tick, a glyph replaced;
- the largest difference of a window's mean in a channel: a colour that changed on a flat ground, which SSIM, a relative
  measure, hardly sees;
- the largest difference of a block's mean, 8x8 px in brightness and 16x16 px in chroma, on the grid of JPEG: what a
  lossy codec keeps. A quantisation step q of the constant term moves a block's mean by at most q/16 (ITU-T T.81, A.3),
  so noise of a codec stays below a few levels here while an effect does not.

The first two decide between pictures that were stored without loss. Where a codec's noise lies over the picture, which
the file's format says or which shows as small differences at nearly everything that the picture holds, the third does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cuadata.seeing import ssim
from cuadata.seeing.ambient import TILE, Ambient, distance, without

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK, _CHROMA_BLOCK = 8, 16
#: What red, green and blue are of brightness (ITU-T T.871).
_LUMA = (0.299, 0.587, 0.114)
#: Share of the tiles with something on them that must differ before the differences can be a codec's.
_SPREAD = 0.75
#: A codec's noise holds at most this share of the energy of what the picture holds; at JPEG quality 30 it is 0.06.
_ENERGY = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """When a difference is a change. Frozen on the development half of the labelled pairs."""

    levels: Annotated[int, "differences up to this many levels of a channel are noise"] = 2
    similarity: Annotated[float, "a window's SSIM below this is a change"] = 0.5
    shift: Annotated[float, "a window mean that differs by more than this many levels is a change"] = 6.0
    block: Annotated[float, "under a codec's noise: a block mean that differs by more than this many levels"] = 17.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What two pictures of one size say."""

    changed: Annotated[bool, "whether it is more than noise"]
    similarity: Annotated[float, "lowest SSIM of a 7x7 window in a channel, what moves by itself put back"] = 1.0
    shift: Annotated[float, "largest difference of a window's mean in a channel, levels"] = 0.0
    block: Annotated[float, "largest difference of a block's mean, levels"] = 0.0
    region: Annotated[ssim.Crop | None, "around what changed, image px"] = None
    share: Annotated[float, "share of the picture's pixels that changed"] = 0.0
    coverage: Annotated[float, "share of the tiles that hold something, before or after, and changed"] = 0.0
    noise: Annotated[bool, "the differences look like a lossy codec's"] = False
    masked: Annotated[int, "pixels that changed where the page moves by itself"] = 0


def change(
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    ambient: Ambient | None = None,
    thresholds: Thresholds | None = None,
    *,
    lossy: bool = False,
) -> Change:
    """Compare two pictures of one shape (height, width, 3); `lossy` says that one came through a lossy codec."""
    limits = thresholds or Thresholds()
    crop = ssim.changed_crop(before, after)
    if crop is None:
        return Change(changed=False)
    masked = 0
    if ambient is not None:
        own = crop.of(ambient.mask) & (distance(crop.of(before), crop.of(after)) > limits.levels)
        masked = int(own.sum())
        after = without(before, after, crop, ambient)
        crop = ssim.changed_crop(before, after)
        if crop is None:
            return Change(changed=False, masked=masked)
    mask = None if ambient is None else ambient.mask
    return _judge(before, after, crop, limits, lossy, masked, mask)


def _judge(before: Any, after: Any, crop: ssim.Crop, limits: Thresholds, lossy: bool, masked: int, mask: Any) -> Change:
    import numpy as np

    size = before.shape[:2]
    apart = distance(crop.of(before), crop.of(after))
    windows = np.zeros(crop.grown(ssim.RADIUS, *size).of(before).shape[:2], bool)
    similarity, shift = _windows(before, after, crop, apart, limits, windows)
    block, blocks = _blocks(before, after, crop, limits.block)
    clear = block > limits.block
    weak = not clear and bool(windows.any())
    noise = (lossy and not weak) or (weak and _is_noise(before, after, crop, lossy, mask))
    significant = blocks if noise else windows | blocks if clear else windows
    held = _near(apart > limits.levels, significant, crop, size)
    region = _around(held, crop)
    return Change(
        changed=region is not None,
        similarity=similarity,
        shift=shift,
        block=block,
        region=region,
        share=float(held.sum()) / (size[0] * size[1]),
        coverage=_coverage(before, after, held, crop, region, mask),
        noise=noise,
        masked=masked,
    )


def _windows(
    before: Any, after: Any, crop: ssim.Crop, apart: Any, limits: Thresholds, found: NDArray[np.bool_]
) -> tuple[float, float]:
    """Lowest SSIM and largest shift; sets in `found`, of the crop grown by the radius, the windows beyond a limit."""
    size = before.shape[:2]
    frame = crop.grown(ssim.RADIUS, *size)
    lowest, largest = 1.0, 0
    far = limits.shift * ssim.WINDOW**2
    for part in ssim.crops(apart > 0, crop):
        for middle, similarity, below, shift in ssim.local(before, after, part, limits.similarity):
            lowest, largest = min(lowest, similarity), max(largest, int(shift.max()))
            here = middle.within(frame).of(found)
            here |= below
            here |= shift > far
    return lowest, largest / ssim.WINDOW**2


def _blocks(before: Any, after: Any, crop: ssim.Crop, limit: float) -> tuple[float, NDArray[np.bool_]]:
    """Largest difference of a block's mean; and the pixels of blocks beyond the limit, in the crop grown by the radius."""
    import numpy as np

    size = before.shape[:2]
    wide = crop.aligned(_CHROMA_BLOCK, *size)
    # Brightness and chroma as JPEG has them (ITU-T T.871) are sums of channels, and so are their means.
    apart = np.subtract(wide.of(after), wide.of(before), dtype=np.int16)
    fine = _by_tile(np.add, apart, _BLOCK).astype(np.float64)
    coarse = _by_tile(np.add, fine, _CHROMA_BLOCK // _BLOCK)
    height, width = apart.shape[:2]
    red, green, blue = (coarse[:, :, channel] / _counts(height, width, _CHROMA_BLOCK) for channel in range(3))
    luma = _LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue
    means = [
        (np.abs(fine @ np.array(_LUMA)) / _counts(height, width, _BLOCK), _BLOCK),
        (np.abs(0.564 * (blue - luma)), _CHROMA_BLOCK),
        (np.abs(0.713 * (red - luma)), _CHROMA_BLOCK),
    ]
    largest = max(float(values.max()) for values, _ in means)
    flags = np.zeros((height, width), bool)
    for values, side in means:
        if (values > limit).any():
            flags |= ssim.pixels_of(values > limit, side, height, width)
    frame = crop.grown(ssim.RADIUS, *size)
    found = np.zeros((frame.bottom - frame.top, frame.right - frame.left), bool)
    crop.within(frame).of(found)[...] = crop.within(wide).of(flags)
    return largest, found


def _by_tile(reduce: np.ufunc, values: NDArray[Any], side: int) -> NDArray[Any]:
    """An array (height, width[, channels]) reduced over every tile of `side` px, those cut by the edge included."""
    rows = _fold(reduce, values, side)
    return _fold(reduce, rows.swapaxes(0, 1), side).swapaxes(0, 1)


def _fold(reduce: np.ufunc, values: NDArray[Any], side: int) -> NDArray[Any]:
    """Every `side` rows reduced to one, in order: what `reduceat` gives, a whole row at a time."""
    folded: NDArray[Any] = values[::side].copy()
    for later in range(1, min(side, len(values))):
        rows = values[later::side]
        reduce(folded[: len(rows)], rows, out=folded[: len(rows)])
    return folded


def _counts(height: int, width: int, side: int) -> NDArray[Any]:
    """Pixels in every tile of `side` px of a picture of that size."""
    import numpy as np

    down, across = (np.minimum(side, extent - np.arange(0, extent, side)) for extent in (height, width))
    counts: NDArray[Any] = np.outer(down, across)
    return counts


def _near(
    strong: NDArray[np.bool_], significant: NDArray[np.bool_], crop: ssim.Crop, size: tuple[int, int]
) -> NDArray[np.bool_]:
    """The pixels of a crop that differ by more than noise and lie in a significant window."""
    if not significant.any():
        return strong & False
    near = _grown(significant)
    frame = crop.grown(ssim.RADIUS, *size)
    held: NDArray[np.bool_] = strong & crop.within(frame).of(near)
    return held


#: Together the radius of a window.
_STEPS = (1, 2)


def _grown(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flags with those up to the radius around set too: one px on each side, then two more of that."""
    for by in _STEPS:
        wide = flags.copy()
        wide[:, by:] |= flags[:, :-by]
        wide[:, :-by] |= flags[:, by:]
        flags = wide.copy()
        flags[by:] |= wide[:-by]
        flags[:-by] |= wide[by:]
    return flags


def _around(held: NDArray[np.bool_], crop: ssim.Crop) -> ssim.Crop | None:
    import numpy as np

    down, across = np.flatnonzero(held.any(axis=1)), np.flatnonzero(held.any(axis=0))
    if not down.size:
        return None
    top, left = crop.top, crop.left
    return ssim.Crop(top + int(down[0]), top + int(down[-1]) + 1, left + int(across[0]), left + int(across[-1]) + 1)


def _is_noise(before: Any, after: Any, crop: ssim.Crop, lossy: bool, mask: Any) -> bool:
    """Whether the differences are a codec's: nearly everywhere where the picture holds something, and small beside it."""
    import numpy as np

    one, other = crop.of(before).astype(np.float64), crop.of(after).astype(np.float64)
    apart = (one != other).any(axis=2)
    if not lossy and _share_of_tiles(before, after, apart, crop, mask) < _SPREAD:
        return False
    return float(((one - other) ** 2).sum()) <= _ENERGY * min(_energy(one), _energy(other))


def _energy(pixels: NDArray[Any]) -> float:
    """What a picture holds: its squared distance from the means of its tiles, so that large flat parts hold nothing."""
    import numpy as np

    height, width = pixels.shape[:2]
    sums, counts = _by_tile(np.add, pixels, TILE), _counts(height, width, TILE)
    return float(np.square(pixels).sum() - (np.square(sums) / counts[:, :, None]).sum())


def _coverage(
    before: Any, after: Any, held: NDArray[np.bool_], crop: ssim.Crop, region: ssim.Crop | None, mask: Any
) -> float:
    """The share of what the picture holds that changed; 0 without a look where little of the picture can have."""
    height, width = before.shape[:2]
    if region is None or (region.bottom - region.top) * (region.right - region.left) < 0.25 * height * width:
        return 0.0
    return _share_of_tiles(before, after, held, crop, mask)


def _share_of_tiles(before: Any, after: Any, flags: NDArray[np.bool_], crop: ssim.Crop, mask: Any) -> float:
    """Share of the tiles that hold something in either picture, and are not masked, in which a pixel of the crop is flagged."""
    import numpy as np

    filled = _filled(before) | _filled(after)
    if mask is not None:
        filled &= ~ssim.tiles_of(mask, TILE)
    whole = np.zeros(before.shape[:2], bool)
    crop.of(whole)[...] = flags
    flagged = ssim.tiles_of(whole, TILE)
    count = int((filled | flagged).sum())
    return float(flagged.sum()) / count if count else 0.0


def _filled(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which tiles hold anything but one flat colour."""
    import numpy as np

    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels).reshape(height, -1)
    lowest = _fold(np.minimum, rows, TILE)
    # A tile is flat where each of its columns is, and each is as the one before it.
    uneven = np.zeros((len(lowest), -(-width // TILE) * TILE * 3), bool)
    tiles = uneven.reshape(len(lowest), -1, TILE * 3)
    np.not_equal(lowest[:, 3:], lowest[:, :-3], out=uneven[:, 3 : 3 * width])
    tiles[:, :, :3] = False
    uneven[:, : 3 * width] |= lowest != _fold(np.maximum, rows, TILE)
    filled: NDArray[np.bool_] = np.asarray(tiles.any(axis=2))
    return filled
