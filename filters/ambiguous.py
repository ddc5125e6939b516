"""Does the description mean one element?"""

from __future__ import annotations

from cuadata.judging import claims
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Grounding, Verdict
from cuadata.types import Element, Observation
from cuadata.wording import descriptions
from cuadata.wording.descriptions import Index, Noun

_NAME = "ambiguous"
_POINTING = ("grounding", "pairs")


@gates.add
def ambiguous(candidate: Candidate, *, min_seen: float = descriptions.GLIMPSE) -> Verdict:
    """One element that a person could see answers the description; two are both evidence.

    The description is what the instruction says of its target. Where it speaks of a goal instead, the target's own role,
    name, text and visible attributes are taken, and a double speaks against pointing tasks only: a step towards a goal may
    well be the third "Delete" of a table. Where a relation is stated, the relation's gate tries all that answer.
    `min_seen`: share of an element that is enough to mislead.
    """
    reading, example = claims.read(candidate), candidate.example
    if reading.page.observation is None:
        return _among_rows(candidate)
    target = reading.target
    if target is None or reading.claim.stated or not example.instruction.strip():
        return kept(_NAME)
    noun = reading.claim.phrase.target
    described = not noun.empty and descriptions.answers(noun, target)
    page = reading.page.observation
    usual = min_seen == descriptions.GLIMPSE
    visible = reading.page.visible if usual else Index(descriptions.seen(page, min_seen=min_seen))
    others = _others(noun if described else None, target, visible, page)
    if not others:
        return kept(_NAME)
    says = noun.words if described else None
    evidence = {"target": target, "others": others[:5], "count": len(others) + 1, "instruction_says": says}
    limited = () if described or isinstance(example, Grounding) else _POINTING
    return rejected(_NAME, "target_ambiguous", evidence, configs=limited)


def _others(noun: Noun | None, target: Element, visible: Index, page: Observation) -> list[Element]:
    found = visible.matching(noun) if noun is not None else visible.like(target)
    rest = [one for one in found if one.id != target.id and (_takes_input(one) or not _takes_input(target))]
    return descriptions.distinct([target, *rest], page, keep=target.id)[1:] if rest else []


def _takes_input(element: Element) -> bool:
    """Of a control and a heading or a text of the same name, a person who is to act takes the control."""
    return (element.interactive and element.role not in descriptions.REGIONS) or element.acts_on is not None


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


@clears("ambiguous")
def alone_or_left_to_the_relation(candidate: Candidate) -> bool:
    """On a known page a relation is stated, so that its gate tries all that answer; or the instruction names the target alone."""
    reading = claims.read(candidate)
    if reading.page.observation is None or reading.target is None:
        return False
    claim = reading.claim
    return bool(claim.stated) or reading.page.visible.means_only(claim.phrase.target, reading.target)
