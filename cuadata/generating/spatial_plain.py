"""Which questions a person answers at a glance: rows that are made are held to more than rows that are judged.

A gate says of anybody's row whether its relation holds, by a hair too. On a page of our own nothing has to be close: "the hexagon
above the diamond" is asked where the one stands well over the other and every other hexagon clearly does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cuadata import relations
from cuadata.types import BBox, Relation
from cuadata.wording.phrases import Stated

#: Share of the smaller extent that target and reference have in common across a direction. Half is what holds.
IN_LINE: Final = 0.75
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
    "above": 0.25,
    "below": 0.25,
    "left_of": 0.25,
    "right_of": 0.25,
    "between": 0.25,
    "nearest": 0.25,
    "same_row": 0.5,
    "same_column": 0.5,
    "at_edge": 1.0,
    "at_corner": 1.0,
}


def holds(stated: Sequence[Stated], target: BBox, references: Sequence[Sequence[BBox]], own: Sequence[float]) -> bool:
    """Whether a target fulfils its relations so that nobody doubts it. `own`: its margin in each of them."""
    return all(
        margin >= OWN.get(one.relation, 0.0) and relations.in_line(one.relation, target, held) >= IN_LINE
        for one, held, margin in zip(stated, references, own, strict=True)
    )


def fails(stated: Sequence[Stated], margins: Sequence[float]) -> bool:
    """Whether a candidate fails at least one of the relations so that nobody doubts it. `margins`: its own in each."""
    return any(
        margin <= -OTHERS.get(one.relation, relations.MARGIN) for one, margin in zip(stated, margins, strict=True)
    )
