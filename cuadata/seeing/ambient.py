"""What a page moves by itself: the part of the picture that frames taken without acting show to change.

Several frames, taken after the pointer has arrived and before the press, are compared with the picture before. The
pixels that differ are the core; the mask is the core grown to whole tiles of 16 px and one tile around, since a spinner or
the next digit of a clock paints beside the pixels seen so far. It grows further where something travels, by as much as it
travelled over the frames, and where something small turns: a part of a turning thing is seen in a box that is not
square, and the whole of it fits a square of the longer side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cuadata.seeing import ssim

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Side of the tiles that the mask is grown to, image px.
TILE = 16
#: What turns on a page, a spinner, has at most this side, image px; a box more oblong than that is a line of text.
_TURNS, _OBLONG = 96, 2.5


@dataclass(frozen=True, slots=True)
class Ambient:
    """The part of a picture that changes without an action; both flags of shape (height, width)."""

    core: Annotated[NDArray[np.bool_], "pixels that were seen to change"]
    mask: Annotated[NDArray[np.bool_], "the core, grown by what may change next"]

    @property
    def box(self) -> ssim.Crop:
        """The box around the core."""
        import numpy as np

        down, across = np.flatnonzero(self.core.any(axis=1)), np.flatnonzero(self.core.any(axis=0))
        return ssim.Crop(int(down[0]), int(down[-1]) + 1, int(across[0]), int(across[-1]) + 1)

    @property
    def share(self) -> float:
        """Share of the picture that is masked."""
        return float(self.mask.mean())


def moving(before: NDArray[np.uint8], frames: Sequence[NDArray[np.uint8]], *, levels: int) -> Ambient | None:
    """What differs among frames taken without acting and the picture before, by more than `levels` in a channel.

    All of shape (height, width, 3), oldest first. None where nothing moves.
    """
    import numpy as np

    if not frames:
        return None
    core: NDArray[np.bool_] | None = None
    steps = []
    for frame, following in zip(frames, [*frames[1:], before], strict=True):
        against_before = changed(frame, before, levels)
        if against_before is not None:
            core = np.zeros(before.shape[:2], bool) if core is None else core
            crop, differs = against_before
            crop.of(core)[...] |= differs
        steps.append(changed(frame, following, levels))
    if core is None or not core.any():
        return None
    return Ambient(core, _grow(core, [step for step in steps if step is not None]))


def changed(
    one: NDArray[np.uint8], other: NDArray[np.uint8], levels: int
) -> tuple[ssim.Crop, NDArray[np.bool_]] | None:
    """The crop where two pictures differ, and in it the pixels that do so by more than `levels` in some channel."""
    crop = ssim.changed_crop(one, other)
    if crop is None:
        return None
    return crop, distance(crop.of(one), crop.of(other)) > levels


def distance(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Largest difference of a channel, per pixel, levels 0 to 255."""
    import numpy as np

    apart = np.maximum(one, other)
    apart -= np.minimum(one, other)
    # A reduction over the last axis, which is three long, takes ten times as long.
    largest: NDArray[np.uint8] = np.maximum(apart[:, :, 0], apart[:, :, 1])
    np.maximum(largest, apart[:, :, 2], out=largest)
    return largest


def _grow(core: NDArray[np.bool_], steps: list[tuple[ssim.Crop, NDArray[np.bool_]]]) -> NDArray[np.bool_]:
    import numpy as np
    from scipy import ndimage

    height, width = core.shape
    tiles: Any = ndimage.binary_dilation(ssim.tiles_of(core, TILE), structure=np.ones((3, 3)))
    labels, _ = ssim.components(tiles)
    mask = np.zeros(core.shape, bool)
    for number, place in enumerate(ndimage.find_objects(labels), start=1):
        rows, columns = (slice(part.start * TILE, part.stop * TILE) for part in place)
        whole = _box((ssim.Crop(0, height, 0, width), core), rows, columns)
        if whole is None:
            continue
        if _is_caret(whole):
            whole.grown(1, height, width).of(mask)[...] = True
            continue
        mask[rows, columns] |= ssim.pixels_of(labels[place] == number, TILE, *mask[rows, columns].shape)
        _square(mask, whole)
        first, last = _box(steps[0], rows, columns), _box(steps[-1], rows, columns)
        if first is not None and last is not None:
            _extend(mask, rows, columns, first, last)
    return mask


def _is_caret(box: ssim.Crop) -> bool:
    """A thin upright line blinks where it stands; what a person types appears right beside it and must not be masked."""
    tall, wide = box.bottom - box.top, box.right - box.left
    return wide <= 4 and 3 * wide <= tall <= TILE * 4


def _square(mask: NDArray[np.bool_], box: ssim.Crop) -> None:
    """Widen the mask to the squares of the longer side around a small compact box, on both sides of it."""
    tall, wide = box.bottom - box.top, box.right - box.left
    longer, shorter = max(tall, wide), min(tall, wide)
    if longer > _TURNS or longer > _OBLONG * shorter:
        return
    around = TILE // 2
    down, across = longer - tall + around, longer - wide + around
    mask[max(0, box.top - down) : box.bottom + down, max(0, box.left - across) : box.right + across] = True


def _box(step: tuple[ssim.Crop, NDArray[np.bool_]], rows: slice, columns: slice) -> ssim.Crop | None:
    """The box around what changed in one step inside a window of the picture; None where nothing did."""
    import numpy as np

    crop, differs = step
    top, left = max(rows.start, crop.top), max(columns.start, crop.left)
    part = differs[
        top - crop.top : max(0, rows.stop - crop.top),
        left - crop.left : max(0, columns.stop - crop.left),
    ]
    down, across = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    if not down.size:
        return None
    return ssim.Crop(top + int(down[0]), top + int(down[-1]) + 1, left + int(across[0]), left + int(across[-1]) + 1)


def _extend(mask: NDArray[np.bool_], rows: slice, columns: slice, first: ssim.Crop, last: ssim.Crop) -> None:
    """Widen the mask in the direction in which the changing part travelled, by as far as it travelled."""
    height, width = mask.shape
    top = rows.start - max(0, first.top - last.top)
    bottom = rows.stop + max(0, last.bottom - first.bottom)
    left = columns.start - max(0, first.left - last.left)
    right = columns.stop + max(0, last.right - first.right)
    if (top, bottom, left, right) != (rows.start, rows.stop, columns.start, columns.stop):
        mask[max(0, top) : min(height, bottom), max(0, left) : min(width, right)] = True


def without(before: Any, after: Any, crop: ssim.Crop, ambient: Ambient) -> NDArray[np.uint8]:
    """The picture after, with what moves by itself put back as it was before; copied only where it has to be."""
    import numpy as np

    masked = crop.of(ambient.mask)
    if not masked.any():
        return after  # type: ignore[no-any-return]
    steady: NDArray[np.uint8] = after.copy()
    crop.of(steady)[...] = np.where(masked[:, :, None], crop.of(before), crop.of(after))
    return steady
