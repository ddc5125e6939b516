"""Does the description mean one element?"""

from __future__ import annotations

from cuadata import claims, descriptions
from cuadata.claims import Claim
from cuadata.judging import element_of, kept, page_of, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Grounding, Verdict
from cuadata.types import Element, Observation

_NAME = "ambiguous"
_POINTING = ("grounding", "pairs")


@gates.add
def ambiguous(candidate: Candidate, *, min_seen: float = 0.1) -> Verdict:
    """One element that a person could see answers the description; two are both evidence.

    The description is what the instruction says of its target. Where it speaks of a goal instead, the target's own role,
    name, text and visible attributes are taken, and a double speaks against pointing tasks only: a step towards a goal may
    well be the third "Delete" of a table. Where a relation is stated, the relation's gate tries all that answer.
    `min_seen`: share of an element that is enough to mislead.
    """
    page, example = page_of(candidate), candidate.example
    target = element_of(example.target, page)
    if page is None:
        return _among_rows(candidate)
    if target is None or not example.instruction.strip():
        return kept(_NAME)
    claimed = claims.claim(candidate)
    if claimed.stated:
        return kept(_NAME)
    described = not claimed.phrase.target.empty and descriptions.answers(claimed.phrase.target, target)
    others = _others(claimed, target, page, described, min_seen)
    if not others:
        return kept(_NAME)
    says = claimed.phrase.target.words if described else None
    evidence = {"target": target, "others": others[:5], "count": len(others) + 1, "instruction_says": says}
    limited = () if described or isinstance(example, Grounding) else _POINTING
    return rejected(_NAME, "target_ambiguous", evidence, configs=limited)


def _others(claimed: Claim, target: Element, page: Observation, described: bool, min_seen: float) -> list[Element]:
    visible = descriptions.seen(page, min_seen=min_seen)
    if described:
        found = descriptions.matching(claimed.phrase.target, visible)
    else:
        found = descriptions.like(target, visible)
    rest = [one for one in found if one.id != target.id]
    return descriptions.distinct([target, *rest], page, keep=target.id)[1:] if rest else []


def _among_rows(candidate: Candidate) -> Verdict:
    """Without a page: the competing elements that the row itself lists."""
    example = candidate.example
    if not isinstance(example, Grounding) or not example.candidates or example.target is None or example.relation:
        return kept(_NAME, {"not_checked": "other elements: the page is not known"})
    own = (descriptions.normal(example.target.name), example.target.role)
    doubles = [
        one
        for one in example.candidates
        if one.bbox != example.target.bbox and own[0] and (descriptions.normal(one.name), one.role) == own
    ]
    if not doubles:
        return kept(_NAME)
    return rejected(_NAME, "target_ambiguous", {"target": example.target, "others": doubles[:5]})
