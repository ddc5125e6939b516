"""Spatial relations: what holds, who else fits, and whether an instruction that states one means a single element.

The definitions are in `cuadata.relation_rules`; `docs/relations.md` draws them. A direction holds by edges and overlap: the
target lies beyond the reference's edge and shares at least half of the smaller extent across. Nothing falls back to "near".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypedDict, Unpack

from cuadata import relation_rules as rules
from cuadata.relation_rules import ROUNDING, Side, gap, solid
from cuadata.types import BBox, Relation, Size

__all__ = [
    "MARGIN", "OPPOSITES", "REFERENCES", "Finding", "Fit", "Qualifiers", "Side",
    "decide", "fits", "gap", "holds", "in_line", "judge", "margins", "misaligned", "solid",
]  # fmt: skip

#: By how much the runner-up has to fail.
MARGIN: Final = 0.1

OPPOSITES: Final[dict[Relation, Relation]] = {
    "above": "below",
    "below": "above",
    "left_of": "right_of",
    "right_of": "left_of",
    "inside": "contains",
    "contains": "inside",
}
#: Fewest and most references of a relation; `nth_*`, `at_edge` and `at_corner` may name the box that they are in.
REFERENCES: Final[dict[Relation, tuple[int, int]]] = {
    "above": (1, 1),
    "below": (1, 1),
    "left_of": (1, 1),
    "right_of": (1, 1),
    "inside": (1, 1),
    "contains": (1, 1),
    "between": (2, 2),
    "nearest": (1, 1),
    "same_row": (1, 1),
    "same_column": (1, 1),
    "nth_in_row": (0, 1),
    "nth_in_column": (0, 1),
    "nth_in_list": (0, 1),
    "at_edge": (0, 1),
    "at_corner": (0, 1),
    "overlapping": (1, 1),
}


class Qualifiers(TypedDict, total=False):
    """What narrows a relation."""

    viewport: Annotated[Size | BBox | None, "what an edge or corner is of where no reference is given, CSS px"]
    position: Annotated[int | None, "place in a row, column or list, from 1, or from -1 backwards"]
    sides: Annotated[Sequence[Side], "edges that are meant; empty: any"]
    nearest: Annotated[bool, "of those that fit, the nearest: 'the nearest button left of Search'"]


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a relation holds, and how far it is from turning."""

    holds: Annotated[bool, "whether it holds"]
    margin: Annotated[float, "0 or more where it holds, else below 0; shares of an extent, -inf for a box without area"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a relation says of a target among everything that its description could mean."""

    reason: Annotated[str | None, "relation_false, _marginal, _ambiguous or _unmatched; None where it can be kept"]
    fits: Annotated[tuple[int, ...], "positions of the candidates that satisfy it"]
    margin: Annotated[float | None, "the target's margin; None where no target is known"]
    runner_up: Annotated[int | None, "position of the closest other candidate; None where there is none"]
    runner_up_margin: Annotated[float | None, "its margin"]


def holds(
    relation: Relation,
    target: BBox,
    references: Sequence[BBox] = (),
    *,
    candidates: Sequence[BBox] = (),
    **qualifiers: Unpack[Qualifiers],
) -> Fit:
    """Whether a target stands in a relation to its references.

    `candidates` are the boxes of the same description, the target among them or not: `nearest` and `nth_*` need them, and
    so does a direction with `nearest=True`. Raises as `fits`.
    """
    others = list(candidates)
    if target in others:
        others.remove(target)
    return fits(relation, (target, *others), references, **qualifiers)[0]


def fits(
    relation: Relation, candidates: Sequence[BBox], references: Sequence[BBox] = (), **qualifiers: Unpack[Qualifiers]
) -> tuple[Fit, ...]:
    """The `Fit` of every candidate, in their order; see `margins`."""
    return tuple(Fit(margin >= 0, margin) for margin in margins(relation, candidates, references, **qualifiers))


def margins(
    relation: Relation, candidates: Sequence[BBox], references: Sequence[BBox] = (), **qualifiers: Unpack[Qualifiers]
) -> list[float]:
    """The margin of every candidate, in their order: 0 or more where the relation holds, below 0 where it fails.

    Within rounding of 0 it holds with margin 0. A box without a finite area never fits, and nothing fits a reference or a
    page without one: -inf. ValueError for a relation that there is not, for a wrong number of references, and for `nth_*`
    without `position` or an edge without a page.
    """
    fewest, most = REFERENCES.get(relation, (-1, -1))
    if not fewest <= len(references) <= most:
        raise ValueError(_wrong_references(relation, len(references)))
    if not all(map(solid, references)):
        return [-math.inf] * len(candidates)
    found = [0.0 if -ROUNDING <= one < 0 else one for one in _measured(relation, candidates, references, qualifiers)]
    if qualifiers.get("nearest") and relation != "nearest" and references:
        return _nearest_of(found, candidates, references[0])
    return found


def _measured(
    relation: Relation, candidates: Sequence[BBox], references: Sequence[BBox], qualifiers: Qualifiers
) -> list[float]:
    pair = rules.PAIRS.get(relation)
    if pair is not None:
        reference = references[0]
        return [pair(box, reference) if solid(box) else -math.inf for box in candidates]
    if relation == "nearest":
        return rules.nearest(candidates, references[0])
    if relation == "between":
        return [rules.between(box, references[0], references[1]) if solid(box) else -math.inf for box in candidates]
    if relation in ("at_edge", "at_corner"):
        return _at_the_page(relation, candidates, references, qualifiers)
    position = qualifiers.get("position")
    if not position:
        raise ValueError(f"{relation} needs position=, from 1, or from -1 backwards")
    return _places(relation, candidates, references, position)


def _at_the_page(
    relation: Relation, candidates: Sequence[BBox], references: Sequence[BBox], qualifiers: Qualifiers
) -> list[float]:
    viewport = qualifiers.get("viewport")
    if not references and viewport is None:
        raise ValueError(f"{relation} of the page needs the page: give viewport=, or a reference that it is in")
    page = references[0] if references else viewport
    if isinstance(page, Size):
        page = BBox(0, 0, page.width, page.height)
    if page is None or not solid(page):
        return [-math.inf] * len(candidates)
    at = rules.at_edge if relation == "at_edge" else rules.at_corner
    sides = qualifiers.get("sides", ())
    return [at(box, page, sides) if solid(box) else -math.inf for box in candidates]


def _places(relation: Relation, candidates: Sequence[BBox], references: Sequence[BBox], position: int) -> list[float]:
    """1 at the place that is meant, -1 elsewhere."""
    ordered = rules.in_order(relation, candidates, references[0] if references else None)
    place = position - 1 if position > 0 else len(ordered) + position
    meant = ordered[place] if 0 <= place < len(ordered) else None
    return [1.0 if own == meant else -1.0 for own in range(len(candidates))]


def _nearest_of(found: list[float], candidates: Sequence[BBox], reference: BBox) -> list[float]:
    """Of those that fit, the nearest; the others keep the margin by which they fail."""
    fitting = [place for place, margin in enumerate(found) if margin >= 0]
    if len(fitting) > 1:
        for place, near in zip(fitting, rules.nearest([candidates[one] for one in fitting], reference), strict=True):
            found[place] = min(found[place], 0.0 if -ROUNDING <= near < 0 else near)
    return found


def _wrong_references(relation: str, count: int) -> str:
    if relation not in REFERENCES:
        return f"'{relation}' is no relation; there are: {', '.join(REFERENCES)}"
    fewest, most = REFERENCES[relation]
    wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
    return f"{relation} takes {wanted} references, got {count}"


def misaligned(relation: Relation, target: BBox, reference: BBox) -> float:
    """How far two boxes are from being laid out together, for a direction: 0 where they share an edge or the middle.

    For above and below the nearest of their left edges, middles and right edges count, for left and right their top edges,
    middles and bottom edges; the distance is a share of the smaller extent. Infinite for other relations.
    """
    if not (solid(target) and solid(reference)):
        return math.inf
    if relation in ("above", "below"):
        return rules.misaligned(target.x, target.width, reference.x, reference.width)
    if relation in ("left_of", "right_of"):
        return rules.misaligned(target.y, target.height, reference.y, reference.height)
    return math.inf


def in_line(relation: Relation, target: BBox, references: Sequence[BBox]) -> float:
    """Share of the smaller extent that a target has in common with its reference across a direction, 1 at most.

    A direction holds from a half on. 1 for other relations, which nothing has to be in line for.
    """
    if relation not in OPPOSITES or relation in ("inside", "contains"):
        return 1.0
    reference = references[0]
    if relation in ("above", "below"):
        return rules.shared(target.x, target.width, reference.x, reference.width)
    return rules.shared(target.y, target.height, reference.y, reference.height)


def judge(
    relation: Relation,
    candidates: Sequence[BBox],
    references: Sequence[BBox] = (),
    *,
    target: int | None = None,
    margin: float = MARGIN,
    **qualifiers: Unpack[Qualifiers],
) -> Finding:
    """What an instruction with this relation means among its candidates; see `decide`. Raises as `margins`."""
    return decide(margins(relation, candidates, references, **qualifiers), target, margin=margin)


def decide(found: Sequence[float], target: int | None = None, *, margin: float = MARGIN) -> Finding:
    """What the margins of all candidates say.

    Exactly one candidate may satisfy the relation, it has to be the target where `target` gives its position, and the
    runner-up has to fail by `margin`. A target that fails by less than the margin, or a runner-up that does, is
    relation_marginal.
    """
    fitting = tuple([place for place, one in enumerate(found) if one >= 0])
    own = target if target is not None else (fitting[0] if len(fitting) == 1 else None)
    second = max([place for place in range(len(found)) if place != own], key=found.__getitem__, default=None)
    mine = None if own is None else found[own]
    closest = None if second is None else found[second]
    return Finding(
        reason=_reason(fitting, own, mine, closest, margin),
        fits=fitting,
        margin=mine,
        runner_up=second,
        runner_up_margin=closest,
    )


def _reason(
    fitting: tuple[int, ...], own: int | None, mine: float | None, closest: float | None, margin: float
) -> str | None:
    if own is None or mine is None:
        return "relation_ambiguous" if fitting else "relation_unmatched"
    if own not in fitting:
        return "relation_marginal" if mine > -margin and not fitting else "relation_false"
    if len(fitting) > 1:
        return "relation_ambiguous"
    return "relation_marginal" if closest is not None and closest > -margin else None
