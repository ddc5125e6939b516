"""How controls that the browser draws itself look under the pointer, remembered so that a picture need not be taken for it.

Such a control is drawn by its kind, size and state alone, so that two that look the same without the pointer do so under it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cuadata.types import Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A control as page_tools.js tells it: what it is, whether the pointer is on it now, left, top, width and height in CSS px.
Glow = Sequence[Any]
#: Looks that are kept, the least used dropped first.
MOST = 200
#: Image px around a control that belong to its look.
MARGIN = 3


class Looks:
    """What is known: kind, whether the pointer is on it now, and pixels before the pointer moved, to pixels after."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bool, bytes], NDArray[np.uint8]] = OrderedDict()

    def predict(self, before: Image | None, glows: Sequence[Glow], ratio: float) -> NDArray[np.uint8] | None:
        """The picture once the pointer has moved, (height, width, 3); None where how a control looks then is not known."""
        from cuadata import effects

        pixels = None if before is None else effects.prepare(before)
        if pixels is None:
            return None
        parts = [(place, self._known.get(key)) for place, key in _parts(pixels, glows, ratio)]
        out = pixels.copy()
        for place, part in parts:
            if part is None:
                return None
            out[place] = part
        return out

    def learn(self, before: Image, after: Image, glows: Sequence[Glow], ratio: float) -> None:
        """Remember how controls came to look, where nothing else in the two pictures differs."""
        from cuadata import effects

        one, other = effects.prepare(before), effects.prepare(after)
        if one is None or other is None or one.shape != other.shape:
            return
        parts = list(_parts(one, glows, ratio))
        rest = one.copy()
        for place, _ in parts:
            rest[place] = other[place]
        if (rest != other).any():
            return
        for place, key in parts:
            self._known[key] = other[place].copy()
            self._known.move_to_end(key)
        while len(self._known) > MOST:
            self._known.popitem(last=False)


def _parts(
    pixels: NDArray[np.uint8], glows: Sequence[Glow], ratio: float
) -> Iterator[tuple[tuple[slice, slice], tuple[str, bool, bytes]]]:
    """Where each control lies in a picture of `ratio` image px a CSS px, and by what its look is known."""
    height, width = pixels.shape[:2]
    for kind, here, left, top, wide, high in glows:
        rows = slice(max(int(top * ratio) - MARGIN, 0), min(int((top + high) * ratio) + MARGIN + 1, height))
        columns = slice(max(int(left * ratio) - MARGIN, 0), min(int((left + wide) * ratio) + MARGIN + 1, width))
        if rows.start >= rows.stop or columns.start >= columns.stop:
            continue
        part = pixels[rows, columns]
        digest = hashlib.sha256(repr(part.shape).encode() + part.tobytes()).digest()
        yield (rows, columns), (str(kind), bool(here), digest)
