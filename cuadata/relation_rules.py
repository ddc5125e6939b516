"""The exact definition of each spatial relation, on boxes. `docs/relations.md` draws them; `cuadata.relations` is the face.

Each rule gives a margin: how far the relation is from turning, 0 or more where it holds and below 0 where it fails. Boxes
are CSS px, but every measure is a share of an extent of the boxes themselves, so a relation stays as it is when a page is
moved, cropped or scaled.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

from cuadata.types import BBox

Side = Literal["left", "right", "top", "bottom"]

#: Share of the smaller extent that a direction needs across, and that the centres of one row or column may be apart.
HALF: Final = 0.5
#: Two elements of one row or column differ at most by this factor in height or width.
ALIKE: Final = 3.0
#: An edge or corner is a tenth of the page's side.
EDGE: Final = 0.1
#: Boxes overlap where they share at least this much of the smaller one.
SHARED: Final = 0.05
#: Layout rounds to 1/64 px and files to single precision: this share of an extent decides nothing.
ROUNDING: Final = 2e-3

_INF: Final = math.inf


def solid(box: BBox) -> bool:
    """Whether a box has a finite area. NaN fails every comparison, so it never passes."""
    return 0 < box.width < _INF and 0 < box.height < _INF and -_INF < box.x < _INF and -_INF < box.y < _INF


def gap(one: BBox, other: BBox) -> float:
    """Shortest distance between two boxes, CSS px; 0 where they touch or overlap."""
    across = one.x - other.x - other.width
    if across < 0:
        across = other.x - one.x - one.width
    down = one.y - other.y - other.height
    if down < 0:
        down = other.y - one.y - one.height
    if across <= 0:
        return down if down > 0 else 0.0
    return across if down <= 0 else math.hypot(across, down)


# Two boxes -------------------------------------------------------------------------------------------------------------


def above(target: BBox, reference: BBox) -> float:
    """It ends at or before the reference's top, and shares at least half of the smaller width."""
    return _before(
        target.y, target.height, reference.y, reference.height, target.x, target.width, reference.x, reference.width
    )


def left_of(target: BBox, reference: BBox) -> float:
    """It ends at or before the reference's left edge, and shares at least half of the smaller height."""
    return _before(
        target.x, target.width, reference.x, reference.width, target.y, target.height, reference.y, reference.height
    )


def _before(
    start: float, extent: float, other: float, other_extent: float,
    across: float, breadth: float, other_across: float, other_breadth: float,
) -> float:  # fmt: skip
    """The lesser of two margins: the gap along, as a share of the smaller extent, and what is shared across beyond half."""
    # `shared` is written out: every rival of every row comes through here, and a call costs more than its sums.
    beyond = (other - start - extent) / (min(other_extent, extent))
    end, other_end = across + breadth, other_across + other_breadth
    common = (min(other_end, end)) - (max(other_across, across))
    common = common / (min(other_breadth, breadth)) - HALF
    return min(common, beyond)


def inside(target: BBox, reference: BBox) -> float:
    """Every edge lies within the reference, which is the larger of the two."""
    left, right = target.x - reference.x, reference.right - target.right
    top, bottom = target.y - reference.y, reference.bottom - target.bottom
    edges = min(
        min(left, right) / min(target.width, reference.width), min(top, bottom) / min(target.height, reference.height)
    )
    smaller = 1 - target.area / reference.area
    # Equal boxes hold each other within rounding: neither is inside the other.
    return min(edges, smaller if smaller > 2 * ROUNDING else -2 * ROUNDING)


def same_row(target: BBox, reference: BBox) -> float:
    """Side by side: tops, centres or bottoms are less than half of the smaller height apart, and the heights are alike."""
    beside = -shared(target.x, target.width, reference.x, reference.width)
    return min(_aligned(target.y, target.height, reference.y, reference.height), beside)


def same_column(target: BBox, reference: BBox) -> float:
    """One over the other: left edges, centres or right edges are less than half of the smaller width apart, the widths alike."""
    beside = -shared(target.y, target.height, reference.y, reference.height)
    return min(_aligned(target.x, target.width, reference.x, reference.width), beside)


def overlapping(target: BBox, reference: BBox) -> float:
    """They share area, and each sticks out of the other."""
    across = shared(target.x, target.width, reference.x, reference.width)
    down = shared(target.y, target.height, reference.y, reference.height)
    if across <= 0 or down <= 0:
        return min(across, down) - SHARED
    common = across * min(target.width, reference.width) * down * min(target.height, reference.height)
    sticks_out = -max(inside(target, reference), inside(reference, target))
    return min(common / min(target.area, reference.area) - SHARED, sticks_out - 2 * ROUNDING)


PAIRS: Final[dict[str, Callable[[BBox, BBox], float]]] = {
    "above": above,
    "below": lambda target, reference: above(reference, target),
    "left_of": left_of,
    "right_of": lambda target, reference: left_of(reference, target),
    "inside": inside,
    "contains": lambda target, reference: inside(reference, target),
    "same_row": same_row,
    "same_column": same_column,
    "overlapping": overlapping,
}


def shared(start: float, extent: float, other: float, other_extent: float) -> float:
    """Shared length of two intervals as a share of the shorter; below 0 where they are apart."""
    end, other_end = start + extent, other + other_extent
    return (min(other_end, end) - max(other, start)) / min(other_extent, extent)


def _one_line(at: float, extent: float, other_at: float, other: float) -> float:
    """Margin by which two extents share a line: each centre lies within the other, and they are of like size."""
    apart = abs(at + extent / 2 - other_at - other / 2)
    smaller, larger = min(extent, other), max(extent, other)
    return min(HALF - apart / smaller, smaller / larger - 1 / ALIKE)


def _aligned(at: float, extent: float, other_at: float, other: float) -> float:
    """Margin by which two extents of like size share a line by their starts, centres or ends.

    A narrow button that begins where a wide one does stands in its column, though its own centre lies elsewhere.
    """
    return min(HALF - misaligned(at, extent, other_at, other), min(extent, other) / max(extent, other) - 1 / ALIKE)


def misaligned(start: float, extent: float, other: float, other_extent: float) -> float:
    """Distance of the nearest of two starts, middles and ends, as a share of the smaller extent."""
    starts, ends = start - other, start + extent - other - other_extent
    return min(abs(starts), abs(ends), abs(starts + ends) / 2) / min(extent, other_extent)


# A box and two references, or the page ---------------------------------------------------------------------------------


def between(target: BBox, one: BBox, other: BBox) -> float:
    """Past the one and before the other, from left to right or from top to bottom, whichever of the two comes first."""
    left, right = (one, other) if one.x + one.right <= other.x + other.right else (other, one)
    upper, lower = (one, other) if one.y + one.bottom <= other.y + other.bottom else (other, one)
    across = min(left_of(left, target), left_of(target, right))
    return max(across, min(above(upper, target), above(target, lower)))


def at_edge(box: BBox, page: BBox, sides: Sequence[Side] = ()) -> float:
    """Within a tenth of the page's side of every edge named, or of any where none is named."""
    edges = _edges(box, page)
    return min(edges[side] for side in sides) if sides else max(edges.values())


def at_corner(box: BBox, page: BBox, sides: Sequence[Side] = ()) -> float:
    """Within a tenth of the page's sides of both edges of the corner named, or of any corner."""
    edges = _edges(box, page)
    if sides:
        return min(edges[side] for side in sides)
    return min(max(edges["left"], edges["right"]), max(edges["top"], edges["bottom"]))


def _edges(box: BBox, page: BBox) -> dict[Side, float]:
    across, down = page.width * EDGE, page.height * EDGE
    return {
        "left": 1 - (box.x - page.x) / across,
        "right": 1 - (page.right - box.right) / across,
        "top": 1 - (box.y - page.y) / down,
        "bottom": 1 - (page.bottom - box.bottom) / down,
    }


# A box among all of its kind -------------------------------------------------------------------------------------------


def nearest(boxes: Sequence[BBox], reference: BBox) -> list[float]:
    """For each box, by how much its gap to the reference is the smallest; a tie holds for both with margin 0.

    The margin is a share of the larger gap, or of the reference's smaller side where that is longer: 300 px against 310 px
    is a tie to the eye, and so is 0 px against 1 px. What holds the reference, or lies in it, is not near it.
    """
    floor = min(reference.width, reference.height)
    gaps = [_reach(box, reference) if solid(box) else math.inf for box in boxes]
    least, second, *_ = *sorted(gaps), math.inf, math.inf
    closest = gaps.index(least) if gaps else 0
    return [_closer(mine, second if place == closest else least, floor) for place, mine in enumerate(gaps)]


def _reach(box: BBox, reference: BBox) -> float:
    """The gap; infinite for a box that holds the reference, or lies in it."""
    found = gap(box, reference)
    return math.inf if found == 0 and _nested(box, reference) else found


def _closer(mine: float, theirs: float, floor: float) -> float:
    if mine == math.inf:
        return -math.inf
    return 1.0 if theirs == math.inf else (theirs - mine) / max(theirs, mine, floor)


def _nested(one: BBox, other: BBox) -> bool:
    return inside(one, other) >= -ROUNDING or inside(other, one) >= -ROUNDING


def in_order(relation: str, boxes: Sequence[BBox], reference: BBox | None) -> list[int]:
    """Positions of the boxes that are counted, from the first to the last.

    Counted are the boxes inside the reference; where none is, those in line with it, itself included if it is one of
    them; without a reference all. Empty where they form no single row (`nth_in_row`) or column (`nth_in_column`); a list
    (`nth_in_list`) is read in rows from the top, each from the left.
    """
    counted = _counted(relation, boxes, reference)
    if relation == "nth_in_list":
        return _in_lines(boxes, counted)
    row = relation == "nth_in_row"
    counted.sort(key=lambda place: boxes[place].x if row else boxes[place].y)
    line = same_row if row else same_column
    joined = all(line(boxes[one], boxes[other]) >= -ROUNDING for one, other in itertools.pairwise(counted))
    return counted if joined else []


def _counted(relation: str, boxes: Sequence[BBox], reference: BBox | None) -> list[int]:
    real = [place for place, box in enumerate(boxes) if solid(box)]
    if reference is None:
        return real
    within = [place for place in real if inside(boxes[place], reference) >= -ROUNDING]
    if within:
        return within
    line = same_column if relation == "nth_in_column" else same_row
    return [place for place in real if boxes[place] == reference or line(boxes[place], reference) >= -ROUNDING]


def _in_lines(boxes: Sequence[BBox], counted: Sequence[int]) -> list[int]:
    rows: list[list[int]] = []
    for place in sorted(counted, key=lambda place: (boxes[place].center.y, boxes[place].x)):
        box = boxes[place]
        if rows and _one_line(box.y, box.height, boxes[rows[-1][-1]].y, boxes[rows[-1][-1]].height) >= 0:
            rows[-1].append(place)
        else:
            rows.append([place])
    return [place for row in rows for place in sorted(row, key=lambda place: boxes[place].x)]
