"""Which questions a person answers at a glance: rows that are made are held to more than rows that are judged.

A gate says of anybody's row whether its relation holds, by a hair too. On a page of our own nothing has to be close: "the hexagon
above the diamond" is asked where the one stands well over the other and every other hexagon clearly does not.
"""

from __future__ import annotations

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
    "same_row": 0.5,
    "same_column": 0.5,
    "at_edge": 1.0,
    "at_corner": 1.0,
}


def answers(
    stated: Sequence[Stated],
    place: int,
    boxes: Sequence[BBox],
    references: Sequence[Sequence[BBox]],
    margins: Sequence[Sequence[float]],
) -> bool:
    """Whether nobody doubts that the candidate at a place is meant, and no other.

    `margins`: of each candidate, in each of the relations. A rival that stands on the stated side, though not in line, may
    be there, but no nearer than the target.
    """
    own = boxes[place]
    for one, held, margin in zip(stated, references, margins[place], strict=True):
        if margin < OWN.get(one.relation, 0.0) or relations.in_line(one.relation, own, held) < IN_LINE:
            return False
    if not all(_counts(one.relation, boxes, held) for one, held in zip(stated, references, strict=True)):
        return False
    reach = _reach(own, references)
    return all(
        _fails(stated, margins[at]) and not (_roughly(stated, box, references) and _reach(box, references) <= reach)
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
        _fails(stated, each) and not _roughly(stated, box, references) for box, each in zip(boxes, margins, strict=True)
    )


def _fails(stated: Sequence[Stated], margins: Sequence[float]) -> bool:
    """Whether a candidate fails at least one of the relations clearly."""
    return any(
        margin <= -OTHERS.get(one.relation, relations.MARGIN) for one, margin in zip(stated, margins, strict=True)
    )


def _counts(relation: Relation, boxes: Sequence[BBox], references: Sequence[BBox]) -> bool:
    """Whether a box is clearly counted or clearly not, in the row or column of something.

    What lies partly over or beside it, a small icon under a wide heading, one person counts and another does not.
    """
    line = {"nth_in_row": rules.same_row, "nth_in_column": rules.same_column}.get(relation)
    if line is None or not references:
        return True
    one = references[0]
    return all(
        line(box, one) >= 0
        or relations.in_line("left_of" if relation == "nth_in_row" else "above", box, references) <= 0
        for box in boxes
    )


def _roughly(stated: Sequence[Stated], box: BBox, references: Sequence[Sequence[BBox]]) -> bool:
    """Whether directions are all that is stated, and a box lies that way of each reference, rather ahead than aside."""
    return all(
        one.relation in AHEAD and ahead(one.relation, box, held[0])
        for one, held in zip(stated, references, strict=True)
    )


def ahead(relation: Relation, box: BBox, reference: BBox) -> bool:
    """Whether a box lies in a direction from a reference, rather ahead than aside."""
    across = max(box.x - reference.right, reference.x - box.right, 0.0)
    down = max(box.y - reference.bottom, reference.y - box.bottom, 0.0)
    along, aside = (down, across) if relation in ("above", "below") else (across, down)
    towards = {
        "above": box.bottom <= reference.y,
        "below": box.y >= reference.bottom,
        "left_of": box.right <= reference.x,
        "right_of": box.x >= reference.right,
    }[relation]
    return towards and aside <= along


def _reach(box: BBox, references: Sequence[Sequence[BBox]]) -> float:
    """The way from a box to all of its references, CSS px."""
    return sum(relations.gap(box, one) for held in references for one in held)
