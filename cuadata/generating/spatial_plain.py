"""Which questions a person answers at a glance: rows that are made are held to more than rows that are judged.

A gate says of anybody's row whether its relation holds, by a hair too. On a page of our own nothing has to be close: "the hexagon
above the diamond" is asked where the one stands well over the other and every other hexagon clearly does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from cuadata import relation_rules as rules
from cuadata import relations
from cuadata.types import BBox, Relation
from cuadata.wording.phrases import Stated

#: Share of the smaller extent that target and reference have in common across a direction. Half is what holds.
IN_LINE: Final = 0.75
AHEAD: Final = frozenset(("above", "below", "left_of", "right_of"))
#: By how much the target has to fulfil a relation, as `relations.margins` measures it.
OWN: Final[dict[Relation, float]] = {
    "same_row": 0.2,
    "same_column": 0.2,
    "nearest": 0.25,
    "overlapping": 0.1,
    "at_edge": 0.4,
    "at_corner": 0.2,
}
#: By how much every other candidate has to fail it; for an edge, whose band is a tenth, two tenths of the page.
OTHERS: Final[dict[Relation, float]] = {
    "above": 0.5,
    "below": 0.5,
    "left_of": 0.5,
    "right_of": 0.5,
    "between": 0.25,
    "nearest": 0.25,
    "at_edge": 1.0,
    "at_corner": 1.0,
}
#: How much farther the middle of every rival lies from the reference where the nearest is asked for: some people judge by
#: middles, others by the gap.
FARTHER: Final = 1.1
#: How far aside of the stated way, as a share of the way along it, a box lies and is taken for what is meant: beside a target,
#: and where nothing answers and people look for something that might.
ASIDE: Final = 1.0
ASIDE_OF_NOTHING: Final = 2.0
#: Of what nothing is there to be counted beside, so many make a row or column; of what is in line with a reference, so many.
COUNTED: Final = 3
COUNTED_THERE: Final = 2


def answers(
    stated: Sequence[Stated],
    place: int,
    boxes: Sequence[BBox],
    references: Sequence[Sequence[BBox]],
    margins: Sequence[Sequence[float]],
) -> bool:
    """Whether nobody doubts that the candidate at a place is meant, and no other.

    `margins`: of each candidate, in each of the relations. A rival that stands on the stated side, though not in line, may
    be there, but no nearer than the target; none may lie on or under a reference that the target is above or below of.
    """
    own = boxes[place]
    for one, held, margin in zip(stated, references, margins[place], strict=True):
        if margin < OWN.get(one.relation, 0.0) or relations.in_line(one.relation, own, held) < IN_LINE:
            return False
    if not all(_counts(one.relation, boxes, held) for one, held in zip(stated, references, strict=True)):
        return False
    reach = _reach(own, references)
    return all(
        _fails(stated, margins[at], box, references)
        and not (_roughly(stated, box, references, ASIDE) and _reach(box, references) <= reach)
        and _farther(stated, own, box, references)
        and not _stacked(stated, box, references)
        for at, box in enumerate(boxes)
        if at != place
    )


def unanswered(
    stated: Sequence[Stated],
    boxes: Sequence[BBox],
    references: Sequence[Sequence[BBox]],
    margins: Sequence[Sequence[float]],
) -> bool:
    """Whether nobody would take one of these boxes for what is meant."""
    return all(
        _fails(stated, each, box, references)
        and not _roughly(stated, box, references, ASIDE_OF_NOTHING)
        and not _stacked(stated, box, references)
        for box, each in zip(boxes, margins, strict=True)
    )


def _fails(stated: Sequence[Stated], margins: Sequence[float], box: BBox, references: Sequence[Sequence[BBox]]) -> bool:
    """Whether a candidate fails at least one of the relations clearly."""
    return any(
        margin <= -OTHERS.get(one.relation, relations.MARGIN) and not _nearly(one.relation, box, held)
        for one, margin, held in zip(stated, margins, references, strict=True)
    )


def _nearly(relation: Relation, box: BBox, references: Sequence[BBox]) -> bool:
    """Whether people may see a relation hold of a box although it does not, whatever its margin says.

    A small icon and a wide button that begin at one line stand in one column, though the middle of neither lies over the
    other; and what lies on any way from one reference to the other is between them.
    """
    one = references[0] if references else box
    if relation == "same_row":
        return rules.shared(box.y, box.height, one.y, one.height) > 0
    if relation == "same_column":
        return rules.shared(box.x, box.width, one.x, one.width) > 0
    return relation == "between" and _amid(box, one, references[1])


def _amid(box: BBox, one: BBox, other: BBox) -> bool:
    """Whether a box shares area with the smallest convex figure that holds two boxes.

    That figure is all boxes on the way from the one to the other, whose edges move evenly: four inequalities in the share of the way.
    """
    first, last = 0.0, 1.0
    for here, there, limit, sign in (
        (one.x, other.x, box.right, 1),
        (one.y, other.y, box.bottom, 1),
        (one.right, other.right, box.x, -1),
        (one.bottom, other.bottom, box.y, -1),
    ):
        start, slope = sign * (here - limit), sign * (there - here)
        if slope == 0:
            if start >= 0:
                return False
        elif slope > 0:
            last = min(last, -start / slope)
        else:
            first = max(first, -start / slope)
    return first < last


def _farther(stated: Sequence[Stated], own: BBox, box: BBox, references: Sequence[Sequence[BBox]]) -> bool:
    """Whether a rival is farther by its middle too, where the nearest is asked for and it may be among those meant."""
    for one, held in zip(stated, references, strict=True):
        if one.relation == "nearest" or (one.nearest and ahead(one.relation, box, held[0])):
            mine, theirs = (math.dist(_middle(each), _middle(held[0])) for each in (own, box))
            if theirs < FARTHER * mine:
                return False
    return True


def _middle(box: BBox) -> tuple[float, float]:
    return box.center.x, box.center.y


def _counts(relation: Relation, boxes: Sequence[BBox], references: Sequence[BBox]) -> bool:
    """Whether there are enough for a row or column, and a box is clearly counted or clearly not.

    Two shapes of sixteen are no row, though they stand side by side. What lies partly over or beside the reference, a small
    icon under a wide heading, one person counts and another does not. The reference heads what is counted: links above a heading are
    in its column and not under it.
    """
    line = {"nth_in_row": rules.same_row, "nth_in_column": rules.same_column}.get(relation)
    if line is None:
        return True
    if not references:
        return len(boxes) >= COUNTED
    one = references[0]
    there = [line(box, one) >= 0 for box in boxes]
    row = relation == "nth_in_row"
    headed = all(
        (box.x >= one.right if row else box.y >= one.bottom) for box, its in zip(boxes, there, strict=True) if its
    )
    return (
        headed
        and sum(there) >= COUNTED_THERE
        and all(
            counted or relations.in_line("left_of" if row else "above", box, references) <= 0
            for counted, box in zip(there, boxes, strict=True)
        )
    )


def _roughly(stated: Sequence[Stated], box: BBox, references: Sequence[Sequence[BBox]], aside: float) -> bool:
    """Whether directions are all that is stated, and a box lies that way of each reference, not too far aside."""
    return all(
        one.relation in AHEAD and ahead(one.relation, box, held[0], aside)
        for one, held in zip(stated, references, strict=True)
    )


def _stacked(stated: Sequence[Stated], box: BBox, references: Sequence[Sequence[BBox]]) -> bool:
    """Whether a box shares area with what something is asked for above or below of: the one lies on the other.

    "Under the diamond" is where the diamond covers it, too, and "under the card" what the card is the heading of.
    """
    return any(
        one.relation in ("above", "below")
        and box.x < held[0].right
        and held[0].x < box.right
        and box.y < held[0].bottom
        and held[0].y < box.bottom
        for one, held in zip(stated, references, strict=True)
    )


def ahead(relation: Relation, box: BBox, reference: BBox, most: float = ASIDE) -> bool:
    """Whether a box lies in a direction from a reference, at most so far aside, as a share of the way ahead."""
    across = max(box.x - reference.right, reference.x - box.right, 0.0)
    down = max(box.y - reference.bottom, reference.y - box.bottom, 0.0)
    along, aside = (down, across) if relation in ("above", "below") else (across, down)
    towards = {
        "above": box.bottom <= reference.y,
        "below": box.y >= reference.bottom,
        "left_of": box.right <= reference.x,
        "right_of": box.x >= reference.right,
    }[relation]
    return towards and aside <= most * along


def _reach(box: BBox, references: Sequence[Sequence[BBox]]) -> float:
    """The way from a box to all of its references, CSS px."""
    return sum(relations.gap(box, one) for held in references for one in held)
