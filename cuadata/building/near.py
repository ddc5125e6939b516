"""Near-duplicate pictures among many, by what was taken of them when they were recorded: no picture is decoded.

Two pictures are near when their 64-bit perceptual hashes differ in at most `distance` bits and their 8x8 colours by at
most `level` grey levels on average. The hash alone is not enough: all flat pictures share one, whatever their colour.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cuadata import image
from cuadata.errors import DataError
from cuadata.types import Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DISTANCE = 4
LEVEL = 3.0
#: Below this spread of grey levels the cells say nothing but the picture's colour: only equal ones are near.
FLAT = 1.0
_CELLS = 8 * 8 * 3


class Looks:
    """What distinct pictures look like, numbered as they first appear; pictures that look the same share a number.

    `by_bytes`: only pictures of the same bytes look the same, none is near another, and none is decoded.
    """

    def __init__(self, *, by_bytes: bool = False) -> None:
        self.by_bytes = by_bytes
        self._place: dict[bytes, int] = {}
        self._hashes = bytearray()
        self._colours = bytearray()

    def __len__(self) -> int:
        return len(self._place)

    def place(self, picture: Image) -> int:
        """The number of a picture's look. One without hash or colours is decoded for it; DataError where that fails."""
        if self.by_bytes:
            return self._place.setdefault(bytes.fromhex(picture.sha256), len(self._place))
        if not picture.phash or not picture.colours:
            try:
                picture = image.from_bytes(image.read(picture), keep=False)
            except (ValueError, OSError) as error:
                raise DataError(f"it has no look: {error}", place=f"picture {picture.sha256[:12]}") from error
        look = bytes.fromhex(picture.phash) + base64.b64decode(picture.colours)
        if len(look) != 8 + _CELLS:
            raise DataError("its hash or its colours are not of their length", place=f"picture {picture.sha256[:12]}")
        held = self._place.get(look)
        if held is None:
            held = self._place[look] = len(self._place)
            self._hashes += look[:8]
            self._colours += look[8:]
        return held

    def near_pairs(
        self, apart: NDArray[np.int64], *, distance: int = DISTANCE, level: float = LEVEL
    ) -> Iterator[NDArray[np.int64]]:
        """Pairs of near looks, as blocks (n, 2). Pairs with one number in `apart`, or with a negative one, are left out.

        `apart` holds a number for each look; it may be changed between blocks.
        """
        import numpy as np

        if self.by_bytes:
            return
        hashes = np.frombuffer(bytes(self._hashes), dtype=">u8").astype(np.uint64)
        cells = np.frombuffer(bytes(self._colours), dtype=np.uint8).reshape(-1, _CELLS)
        flat = cells.reshape(-1, 64, 3).std(axis=1).max(axis=1, initial=0) < FLAT
        for block in close_pairs(hashes, distance):
            held = apart[block]
            pairs = block[(held[:, 0] != held[:, 1]) & (held >= 0).all(axis=1)]
            for first in range(0, len(pairs), 4096):
                some = pairs[first : first + 4096]
                off = np.abs(cells[some[:, 0]].astype(np.int16) - cells[some[:, 1]]).mean(axis=1)
                same = np.where(flat[some].any(axis=1), off == 0, off <= level)
                if same.any():
                    yield some[same]


def close_pairs(hashes: NDArray[np.uint64], distance: int = DISTANCE) -> Iterator[NDArray[np.int64]]:
    """Every pair of hashes that differ in at most `distance` bits, as blocks of index pairs (n, 2); a pair may repeat.

    The 64 bits are dealt into distance + 1 bands: two such hashes agree in at least one of them, so only hashes that share
    a band are compared (multi-index hashing, Norouzi et al., 2012). Bits that hardly vary are spread over the bands, so
    that no bucket holds nearly all.
    """
    import numpy as np

    for band in _bands(hashes, distance + 1):
        order = np.argsort(band, kind="stable")
        cuts = np.flatnonzero(np.diff(band[order])) + 1
        ends = np.append(cuts, len(order))
        end = np.repeat(ends, np.diff(ends, prepend=0))
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

    share = np.array([((hashes >> np.uint64(bit)) & np.uint64(1)).mean() if len(hashes) else 0.0 for bit in range(64)])
    by_variety = np.argsort(np.abs(share - 0.5), kind="stable")
    for band in range(count):
        mask = np.bitwise_or.reduce(np.uint64(1) << by_variety[band::count].astype(np.uint64))
        yield hashes & mask


def ones(values: NDArray[np.uint64]) -> NDArray[Any]:
    """Set bits of each 64-bit number; numpy counts them itself from 2.0 on."""
    import numpy as np

    if hasattr(np, "bitwise_count"):
        counted: NDArray[Any] = np.bitwise_count(values)
        return counted
    return summed_ones(values)


def summed_ones(values: NDArray[np.uint64]) -> NDArray[Any]:
    """The same, summed in pairs of bits, then in fours, then in bytes."""
    import numpy as np

    u = np.uint64
    v = values - ((values >> u(1)) & u(0x5555555555555555))
    v = (v & u(0x3333333333333333)) + ((v >> u(2)) & u(0x3333333333333333))
    v = (v + (v >> u(4))) & u(0x0F0F0F0F0F0F0F0F)
    summed: NDArray[Any] = (v * u(0x0101010101010101)) >> u(56)
    return summed
