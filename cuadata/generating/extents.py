"""What a picture shows of elements' boxes: a heading's box is as wide as its page, and a person sees only its words.

Boxes are those of the layout. What a person sees of one is what differs from the ground around it: all of a filled or framed
box, the letters of a text. A link over two lines is seen line by line, and a tilted thing touches its box's sides at a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from cuadata.seeing import pictures
from cuadata.types import BBox, Element, Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Difference of a channel from the ground, 0-255, from which on something is seen: as the gate `target_hidden` has it.
_DIFFERS: Final = 12
#: Image px around a box whose commonest colour is its ground; image px from its sides within which these are drawn.
_AROUND: Final = 3
_SIDE: Final = 4
#: Share of each side along which something is drawn, for the box to be seen as one.
_FRAMED: Final = 0.5
#: Share of its box that a text of several lines fills, from which on it is one block.
_FILLED: Final = 0.9


@dataclass(frozen=True, slots=True)
class Extents:
    """What is seen of the elements of a view, by their ids; nothing is known of those that are not in it."""

    drawn: Annotated[dict[int, BBox], "what differs from the ground around the box, CSS px"] = field(
        default_factory=dict
    )
    lines: Annotated[dict[int, tuple[BBox, ...]], "lines of texts that do not fill their box"] = field(
        default_factory=dict
    )
    round: Annotated[frozenset[int], "those whose sides are not drawn: nobody sees what lies in such a box"] = (
        frozenset()
    )

    def line(self, name: int, number: int) -> BBox | None:
        """What is seen of an element: one of its lines, counted in a circle from 1, or all of it; None where it is not known."""
        lines = self.lines.get(name)
        return lines[(number - 1) % len(lines)] if lines and number else self.drawn.get(name)


def measure(picture: Image, elements: Sequence[Element], scale: float) -> Extents:
    """The extents of elements of which something is seen. `scale`: image px for one CSS px."""
    pixels = pictures.load(picture)[:, :, :3].astype("int16")
    held = [(one, one.bbox) for one in elements if one.bbox is not None and one.seen >= 1 / 3]
    parents = {one.id: one.parent for one in elements}
    controls = [(one.id, box) for one, box in held if one.interactive]
    drawn, lines, without = dict[int, BBox](), dict[int, tuple[BBox, ...]](), set[int]()
    for one, box in held:
        rects = one.evidence.rects
        if len(rects) > 1 and sum(each.area for each in rects) < _FILLED * box.area:
            lines[one.id] = rects
        foreign = [other for name, other in controls if other.area < box.area and one.id not in _above(name, parents)]
        ink = _ink(pixels, box, scale, foreign)
        if ink is None:
            continue
        marks, left, top = ink
        found = _bounds(marks)
        if found is None:
            continue
        drawn[one.id] = BBox(
            (left + found[0]) / scale, (top + found[1]) / scale, (found[2] - found[0]) / scale, (found[3] - found[1]) / scale
        )  # fmt: skip
        if not _framed(marks):
            without.add(one.id)
    return Extents(drawn, lines, frozenset(without))


def _above(name: int, parents: dict[int, int | None]) -> set[int]:
    """An element and all that it lies in."""
    found, at = set[int](), parents.get(name)
    while at is not None and at not in found:
        found.add(at)
        at = parents.get(at)
    return found | {name}


def _ink(
    pixels: NDArray[Any], box: BBox, scale: float, foreign: Sequence[BBox]
) -> tuple[NDArray[np.bool_], int, int] | None:
    """Where a box differs from the ground around it, other controls left out, and its left and top in image px.

    None where the picture shows nothing of it or of its ground.
    """
    import numpy as np

    left, top, right, bottom = _cut(box, scale, pixels)
    if left >= right or top >= bottom:
        return None
    wide = max(0, left - _AROUND), max(0, top - _AROUND)
    region = pixels[wide[1] : bottom + _AROUND, wide[0] : right + _AROUND]
    outside = np.ones(region.shape[:2], dtype=bool)
    outside[top - wide[1] : bottom - wide[1], left - wide[0] : right - wide[0]] = False
    ring = region[outside]
    if not len(ring):
        return None
    colours, counts = np.unique(ring, axis=0, return_counts=True)
    ground = colours[counts.argmax()]
    marks = np.abs(pixels[top:bottom, left:right] - ground).max(axis=2) >= _DIFFERS
    for other in foreign:
        x, y, to_x, to_y = _cut(other, scale, pixels)
        marks[max(0, y - top) : max(0, to_y - top), max(0, x - left) : max(0, to_x - left)] = False
    return marks, left, top


def _cut(box: BBox, scale: float, pixels: NDArray[Any]) -> tuple[int, int, int, int]:
    height, width = pixels.shape[:2]
    sides = (box.x, width), (box.y, height), (box.right, width), (box.bottom, height)
    left, top, right, bottom = (min(max(0, round(at * scale)), most) for at, most in sides)
    return left, top, right, bottom


def _bounds(marks: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of what is marked."""
    import numpy as np

    across, down = np.flatnonzero(marks.any(axis=0)), np.flatnonzero(marks.any(axis=1))
    return (int(across[0]), int(down[0]), int(across[-1]) + 1, int(down[-1]) + 1) if len(across) else None


def _framed(marks: NDArray[np.bool_]) -> bool:
    """Whether every side of the box is drawn along most of its length."""
    sides = (
        marks[:_SIDE].any(axis=0),
        marks[-_SIDE:].any(axis=0),
        marks[:, :_SIDE].any(axis=1),
        marks[:, -_SIDE:].any(axis=1),
    )
    return all(float(side.mean()) >= _FRAMED for side in sides)
