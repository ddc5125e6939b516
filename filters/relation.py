"""Does the stated relation hold, and for one element only?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from cuadata import relations
from cuadata.judging import claims
from cuadata.judging.claims import Claim, Reading, Thing
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, page_of, rejected
from cuadata.registry import gates
from cuadata.relation_rules import PAIRS
from cuadata.rows import Candidate, Grounding, Verdict
from cuadata.types import BBox, Element, Relation, Size
from cuadata.wording.phrases import Stated

_NAME = "relation"
_DIRECTIONS: tuple[Relation, ...] = ("above", "below", "left_of", "right_of")


@gates.add
def relation(
    candidate: Candidate,
    *,
    margin: float = relations.MARGIN,
    max_misaligned: float = 0.25,
    max_gap: float = 0.2,
) -> Verdict:
    """The relation that the instruction states holds between the boxes, for the target alone, by a margin.

    `margin`: by how much the runner-up has to fail, as a share of an extent. Where only the boxes of target and reference
    are known, no rival can be tried; then a direction has to be plain from the two alone: they share an edge or the middle
    across within `max_misaligned` of the smaller extent, and the gap between them, in which anything may stand, is at most
    `max_gap` of the viewport's smaller side.
    """
    reading = claims.read(candidate)
    claimed = reading.claim
    if claimed.contradicts:
        states = [one.relation for one in claimed.stated] or None
        return rejected(_NAME, "relation_false", {"instruction_states": states, "column": claimed.column})
    if not claimed.stated:
        return kept(_NAME)
    target = claims.thing(candidate.example.target, reading.target)
    held = claims.references(candidate, reading)
    boxes = [one.bbox for one in held if one.bbox is not None]
    if target.bbox is None or not relations.solid(target.bbox) or not all(map(relations.solid, boxes)):
        return kept(_NAME, {"not_checked": "the target or a reference has no box with an area"})
    shares = claims.shared_out(claimed.stated, len(boxes))
    if shares is None:
        return _short_of_references(candidate, claimed)
    if any(one.relation.startswith("nth_") and one.position is None for one in claimed.stated):
        return rejected(_NAME, "relation_unmatched", {"why": "which place is meant cannot be read"}, keep="unsure")
    stated = [(one, boxes[start:end]) for one, (start, end) in zip(claimed.stated, shares, strict=True)]
    if reading.page.observation is None and not isinstance(candidate.example, Grounding):
        return _by_the_pair(stated, target.bbox, _page(candidate), max_misaligned, max_gap)
    return _among_rivals(candidate, reading, stated, target, held, margin)


def _short_of_references(candidate: Candidate, claimed: Claim) -> Verdict:
    evidence = {"references": [one.words for one in claimed.phrase.references]}
    if page_of(candidate) is None:
        return rejected(_NAME, "relation_unmatched", {**evidence, "why": "their boxes are not known"}, keep="unsure")
    return rejected(_NAME, "relation_unmatched", {**evidence, "why": "nothing on the page is called so"})


def _page(candidate: Candidate) -> Size:
    return Size(candidate.example.viewport_width, candidate.example.viewport_height)


def _margins(stated: Sequence[tuple[Stated, list[BBox]]], boxes: Sequence[BBox], page: Size) -> list[float]:
    """The margin of every box under all relations together: the weakest decides."""
    found = [relations.margins(one.relation, boxes, references, **one.qualifiers(page)) for one, references in stated]
    return found[0] if len(found) == 1 else [min(margins) for margins in zip(*found, strict=True)]


def _by_the_pair(
    stated: Sequence[tuple[Stated, list[BBox]]], target: BBox, page: Size, max_misaligned: float, max_gap: float
) -> Verdict:
    """Only the boxes of target and reference are known."""
    if any(one.relation.startswith("nth_") for one, _ in stated):
        return kept(_NAME, {"not_checked": "places in a row, column or list: the page is not known"})
    margin = _margins(stated, [target], page)[0]
    pairs: list[tuple[Relation, BBox]] = [
        (one.relation, boxes[0]) for one, boxes in stated if one.relation in _DIRECTIONS
    ]
    off = max((relations.misaligned(name, target, box) for name, box in pairs), default=None)
    gap = max((relations.gap(target, box) for _, box in pairs), default=None)
    evidence = {
        "relation": [one.relation for one, _ in stated],
        "margin": margin,
        "misaligned": off,
        "gap": gap,
        "not_checked": "other elements: the page is not known",
    }
    if margin < 0:
        near = margin > -relations.MARGIN
        return rejected(_NAME, "relation_marginal" if near else "relation_false", evidence)
    if off is not None and off > max_misaligned or gap is not None and gap > max_gap * min(page.width, page.height):
        return rejected(_NAME, "relation_marginal", evidence, keep="unsure")
    return kept(_NAME, evidence)


def _among_rivals(
    candidate: Candidate,
    reading: Reading,
    stated: Sequence[tuple[Stated, list[BBox]]],
    target: Thing,
    held: Sequence[Thing],
    margin: float,
) -> Verdict:
    """Every element that the description could mean is tried."""
    things = _things(candidate, reading, target, held)
    finding = relations.decide(_margins(stated, [box for box, _ in things], _page(candidate)), 0, margin=margin)
    if finding.reason is None:
        return kept(_NAME)
    evidence = {
        "relation": [one.relation for one, _ in stated],
        "target": target.described,
        "references": [one.described for one in held],
        "margin": finding.margin,
        "fits": [things[place][1] for place in finding.fits],
        "runner_up": None if finding.runner_up is None else things[finding.runner_up][1],
        "runner_up_margin": finding.runner_up_margin,
    }
    return rejected(_NAME, finding.reason, evidence)


def _things(candidate: Candidate, reading: Reading, target: Thing, held: Sequence[Thing]) -> list[tuple[BBox, object]]:
    """Boxes of the target and of its rivals, the target first, each with what it is."""
    assert target.bbox is not None
    example = candidate.example
    if reading.page.observation is not None:
        others = claims.rivals(reading, target, held)[1:]
        return [(target.bbox, target.described), *((one.bbox, one) for one in others if one.bbox is not None)]
    known = example.candidates if isinstance(example, Grounding) else ()
    taken = {target.bbox, *(one.bbox for one in held)}
    return [(target.bbox, target.described), *((one.bbox, one) for one in known if one.bbox not in taken and one.bbox)]


@clears("relation")
def plainly_alone(candidate: Candidate) -> bool:
    """No relation is claimed; or one direction, in which the target lies, and no other that its description could mean.

    The gate tries no more rivals than are tried here: it leaves out labels of the reference and what lies in another one.
    """
    reading = claims.read(candidate)
    claimed, own = reading.claim, reading.target
    if claimed.contradicts or not claimed.stated:
        return not claimed.contradicts
    if len(claimed.stated) != 1 or len(reading.references) != 1 or claimed.stated[0].relation not in _DIRECTIONS:
        return False
    (stated,), (reference,) = claimed.stated, reading.references
    if own is None or own.bbox is None or reference is None or reference.bbox is None:
        return False
    mine, box, holds = own.bbox, reference.bbox, PAIRS[stated.relation]
    if not (relations.solid(box) and relations.solid(mine)) or holds(mine, box) < 0:
        return False
    for other in _on_that_side(stated.relation, claims.meant(reading, own), own, reference, box):
        margin = holds(other, box) if relations.solid(other) else -math.inf
        if margin > -relations.MARGIN and not (stated.nearest and margin >= 0 and _nearer(mine, other, box)):
            return False
    return True


def _nearer(one: BBox, other: BBox, reference: BBox) -> bool:
    """Whether one of two boxes apart from the reference is the nearer one by more than the margin of the gate."""
    gap, further = relations.gap(one, reference), relations.gap(other, reference)
    floor = min(reference.width, reference.height)
    return gap > 0 and (gap - further) / max(gap, further, floor) <= -relations.MARGIN


def _on_that_side(
    side: Relation, elements: Iterable[Element], own: Element, held: Element, reference: BBox
) -> list[BBox]:
    """Boxes of the elements but these two that share something across with the reference and do not end on the wrong side of it.

    A direction fails by far for the others. Every row of a page comes through here with all that are of its target's role.
    """
    left, top = reference.x, reference.y
    right, bottom = left + reference.width, top + reference.height
    boxes = [box for one in elements if one is not own and one is not held and (box := one.bbox) is not None]
    if side == "left_of":
        return [one for one in boxes if one.x < left and one.y < bottom and one.y + one.height > top]
    if side == "right_of":
        return [one for one in boxes if one.x + one.width > right and one.y < bottom and one.y + one.height > top]
    if side == "above":
        return [one for one in boxes if one.y < top and one.x < right and one.x + one.width > left]
    return [one for one in boxes if one.y + one.height > bottom and one.x < right and one.x + one.width > left]
