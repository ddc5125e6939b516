"""Relation satisfied: whatever was clicked stands where the instruction says."""

from __future__ import annotations

from typing import Any, cast, get_args

from cuadata import geometry, relations
from cuadata.errors import CallError
from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.types import BBox, Point, Relation


@rewards.add
def relation_satisfied(answer: str, **columns: Any) -> float:
    """1 where the element under the point stands in the row's relation to its references, else 0.

    The element is the smallest of `candidates` that holds the point; a point in none of them satisfies nothing. Where the
    row has no candidates, a box of the target's size around the point stands for the element. `position` narrows `nth_*`.
    This project's own, on `cuadata.relations`; it pays a click on any element that fits, and never one on the reference.
    """
    relation = columns.get("relation")
    if relation not in get_args(Relation):
        raise CallError(f"this reward needs the column `relation`, one of {', '.join(get_args(Relation))}")
    read, references = judged.judge(answer, columns), judged.boxes(columns, "references")
    candidates = judged.boxes(columns, "candidates")
    element = _element(read.point, candidates, columns)
    if element is None or element in references:
        return 0.0
    try:
        fit = relations.holds(
            cast(Relation, relation),
            element,
            references,
            candidates=candidates,
            viewport=read.view.viewport,
            position=columns.get("position"),
        )
    except ValueError as error:  # too few references for the relation
        raise CallError(f"this reward needs the column `references`: {error}") from error
    return float(fit.holds)


def _element(point: Point | None, candidates: tuple[BBox, ...], columns: dict[str, Any]) -> BBox | None:
    if point is None:
        return None
    if not candidates:
        size = judged.target(columns)
        return BBox(point.x - size.width / 2, point.y - size.height / 2, size.width, size.height)
    held = [box for box in candidates if geometry.contains(box, point)]
    return min(held, key=lambda box: box.area, default=None)
