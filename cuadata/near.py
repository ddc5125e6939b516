"""Near-duplicate pictures among many: found by perceptual hash in bands, confirmed on small colour pictures.

Two pictures are near when their 64-bit hashes differ in at most `distance` bits and their 16x16 colour pictures by at most
`level` grey levels on average. The hash alone is not enough: all flat pictures share one, whatever their colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cuadata import image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DISTANCE = 4
LEVEL = 3.0
SIDE = 16
#: Below this spread of grey levels a small picture says nothing but its colour: only equal ones are near.
FLAT = 1.0

#: Index of pictures -> their small pictures, (n, SIDE, SIDE, 3) uint8.
Load = Callable[[Sequence[int]], "NDArray[np.uint8]"]


def small(data: bytes) -> NDArray[np.uint8]:
    """The picture as a person sees it, averaged to SIDE x SIDE cells: (SIDE, SIDE, 3) uint8. Raises BadImage."""
    import numpy as np
    from PIL import Image as Pillow

    pixels = Pillow.fromarray(image.rgb(data))
    return np.asarray(pixels.resize((SIDE, SIDE), Pillow.Resampling.BOX))


def numbers(hashes: Sequence[str]) -> NDArray[np.uint64]:
    """Hexadecimal hashes as 64-bit numbers."""
    import numpy as np

    return np.array([int(h, 16) for h in hashes], dtype=np.uint64)


def close_pairs(hashes: NDArray[np.uint64], distance: int = DISTANCE) -> Iterator[NDArray[np.int64]]:
    """Every pair of hashes that differ in at most `distance` bits, as blocks of index pairs (n, 2); a pair may repeat.

    The 64 bits are dealt into distance + 1 bands: two such hashes agree in at least one of them, so only hashes that share
    a band are compared (multi-index hashing, Norouzi et al., 2012). Bits that hardly vary are spread over the bands, so
    that no bucket holds nearly all.
    """
    import numpy as np

    for band in _bands(hashes, distance + 1):
        order = np.argsort(band, kind="stable")
        starts = np.flatnonzero(np.diff(band[order], prepend=~band[order[:1]]))
        end = np.repeat([*starts[1:], len(order)], np.diff([*starts, len(order)]))
        sorted_hashes, active = hashes[order], np.arange(len(order))
        for step in range(1, len(order)):
            active = active[active + step < end[active]]
            if not len(active):
                break
            apart = ones(sorted_hashes[active] ^ sorted_hashes[active + step])
            found = active[apart <= distance]
            if len(found):
                yield np.stack([order[found], order[found + step]], axis=1)


def _bands(hashes: NDArray[np.uint64], count: int) -> Iterator[NDArray[np.uint64]]:
    """The bits of each hash that belong to a band, for `count` bands that together hold all 64."""
    import numpy as np

    bits = (hashes[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    by_variety = np.argsort(np.abs(bits.mean(axis=0) - 0.5), kind="stable")
    for band in range(count):
        mask = np.bitwise_or.reduce(np.uint64(1) << by_variety[band::count].astype(np.uint64))
        yield hashes & mask


def ones(values: NDArray[np.uint64]) -> NDArray[Any]:
    """Set bits of each 64-bit number. numpy counts them itself from 2.0 on; before, they are summed in pairs and bytes."""
    import numpy as np

    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(values)
    u = np.uint64
    v = values - ((values >> u(1)) & u(0x5555555555555555))
    v = (v & u(0x3333333333333333)) + ((v >> u(2)) & u(0x3333333333333333))
    v = (v + (v >> u(4))) & u(0x0F0F0F0F0F0F0F0F)
    return (v * u(0x0101010101010101)) >> u(56)


def alike(one: NDArray[np.uint8], other: NDArray[np.uint8], level: float = LEVEL) -> NDArray[np.bool_]:
    """Whether small pictures (n, SIDE, SIDE, 3) show the same, pair by pair."""
    import numpy as np

    left, right = one.astype(np.int16), other.astype(np.int16)
    apart = np.abs(left - right).mean(axis=(1, 2, 3))
    flat = np.minimum(left.std(axis=(1, 2)).max(axis=1), right.std(axis=(1, 2)).max(axis=1)) < FLAT
    return np.where(flat, apart == 0, apart <= level)


def near_pairs(
    hashes: NDArray[np.uint64],
    load: Load,
    *,
    parted: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None,
    distance: int = DISTANCE,
    level: float = LEVEL,
) -> Iterator[NDArray[np.int64]]:
    """Pairs of near pictures, as blocks of index pairs (n, 2).

    `parted` says of a block which pairs are of interest, asked anew for every block; only those are decoded, through
    `load`, each picture once.
    """
    import numpy as np

    place = np.full(len(hashes), -1, dtype=np.int64)
    held = np.empty((0, SIDE, SIDE, 3), dtype=np.uint8)
    for block in close_pairs(hashes, distance):
        pairs = block if parted is None else block[parted(block)]
        fresh = np.unique(pairs[place[pairs] < 0])
        if len(fresh):
            place[fresh] = np.arange(len(held), len(held) + len(fresh))
            held = np.concatenate([held, load([int(i) for i in fresh])])
        for first in range(0, len(pairs), 4096):
            some = pairs[first : first + 4096]
            same = alike(held[place[some[:, 0]]], held[place[some[:, 1]]], level)
            if same.any():
                yield some[same]
