"""Where a click went that missed: on the reference, on the right side of it, on the wrong one, or outside everything.

A model that clicks the element it was told to look from has read the instruction and not the relation; one that clicks a
neighbour on the right side has read both. Accuracy alone cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from cuadata.scoring import hit
from cuadata.types import BBox, Point, Relation, Size

Miss = Literal[
    "on_reference", "right_side", "opposite_side", "orthogonal", "wrong_element", "outside", "no_point", "unread"
]
#: What each class means, for tables and reports.
MEANING: dict[Miss, str] = {
    "on_reference": "on the reference element itself",
    "right_side": "on the stated side of the reference, but not on the target",
    "opposite_side": "on the side opposite to the stated one",
    "orthogonal": "on neither of these two sides",
    "wrong_element": "on another element, where the relation has no sides",
    "outside": "outside the picture, or on none of the known elements",
    "no_point": "the answer was read, but is no click",
    "unread": "the answer could not be read: a parse failure",
}
OPPOSITE: dict[str, Relation] = {"above": "below", "below": "above", "left_of": "right_of", "right_of": "left_of"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One class of misses."""

    count: Annotated[int, "rows of this class"]
    share: Annotated[float, "of all rows that were not hit, parse failures among them"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """The rows that were not hit, by class."""

    rows: Annotated[int, "rows looked at: those whose reference stands in the stated relation to the target"]
    n: Annotated[int, "rows among them that were not hit, parse failures included as the class `unread`"]
    classes: Annotated[dict[Miss, Share], "every class, in one order"]


def beyond(relation: str, box: BBox, reference: BBox) -> bool:
    """Whether a box lies wholly beyond the edge of a reference that `above`, `below`, `left_of` or `right_of` names.

    Touching edges count. False for every other relation: they have no side.
    """
    if relation == "above":
        return box.bottom <= reference.y
    if relation == "below":
        return box.y >= reference.bottom
    if relation == "left_of":
        return box.right <= reference.x
    return relation == "right_of" and box.x >= reference.right


def classify(
    point: Point,
    references: Sequence[BBox],
    relation: str | None,
    *,
    viewport: Size | None = None,
    candidates: Sequence[BBox] = (),
) -> Miss:
    """The class of a click that is known to miss its target.

    `candidates` are the boxes of all elements that could have been meant; where they are known, a click on none of them
    and on no reference is `outside`. Of several references the first gives the sides.
    """
    for reference in references:
        if hit(point, reference):
            return "on_reference"
    if viewport is not None and not (0 <= point.x <= viewport.width and 0 <= point.y <= viewport.height):
        return "outside"
    if candidates and not any(hit(point, box) for box in candidates):
        return "outside"
    if not references or relation not in OPPOSITE:
        return "wrong_element"
    spot = BBox(point.x, point.y, 0, 0)
    if beyond(relation, spot, references[0]):
        return "right_side"
    return "opposite_side" if beyond(OPPOSITE[relation], spot, references[0]) else "orthogonal"


def table(classes: Iterable[Miss | None]) -> Misses:
    """Count the classes; None stands for a hit."""
    held = list(classes)
    missed = [c for c in held if c is not None]
    counts = {name: missed.count(name) for name in get_args(Miss)}
    shares = {k: Share(count=v, share=v / len(missed) if missed else 0.0) for k, v in counts.items()}
    return Misses(rows=len(held), n=len(missed), classes=shares)
