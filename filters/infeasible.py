"""Is it true that nothing on the page answers?"""

from __future__ import annotations

from cuadata import relations
from cuadata.judging import claims, visibility
from cuadata.judging.claims import Reading
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.types import Element, Size
from cuadata.wording import descriptions

_NAME = "infeasible"


@gates.add
def infeasible(candidate: Candidate, *, min_seen: float = 1 / 3) -> Verdict:
    """Where the answer is that it cannot be done, no element that a person sees is what the instruction asks for.

    Judged is what names a thing outright: by its name in quotes, or by a relation that boxes decide. A goal may be out of
    reach for reasons that no page shows. `min_seen`: share of an element that a person has to see of it.
    """
    if candidate.example.action.type != "infeasible":
        return kept(_NAME)
    reading = claims.read(candidate)
    noun = reading.claim.phrase.target
    if reading.page.observation is None or noun.empty:
        return kept(_NAME, {"not_checked": "the page is not known, or the instruction names no thing"})
    seen = [one for one in reading.page.visible.matching(noun) if visibility.unseen(one, min_seen=min_seen) is None]
    things = descriptions.distinct(seen, reading.page.observation)
    found = (
        _related(candidate, reading, things) if reading.claim.stated else things if noun.exact and not noun.rest else []
    )
    if not found:
        return kept(_NAME)
    return rejected(_NAME, "answer_exists", {"instruction_names": noun.words, "found": found[:5]})


def _related(candidate: Candidate, reading: Reading, things: list[Element]) -> list[Element]:
    """Those that stand in every stated relation."""
    held = claims.references(candidate, reading)
    boxes = [one.bbox for one in held if one.bbox is not None and relations.solid(one.bbox)]
    shares = claims.shared_out(reading.claim.stated, len(boxes))
    taken = {one.element.id for one in held if one.element is not None}
    left = [(e, e.bbox) for e in things if taken.isdisjoint((e.id, e.acts_on)) and e.bbox is not None]
    if shares is None or not left:
        return []
    page = Size(candidate.example.viewport_width, candidate.example.viewport_height)
    for one, (start, end) in zip(reading.claim.stated, shares, strict=True):
        margins = relations.margins(one.relation, [b for _, b in left], boxes[start:end], **one.qualifiers(page))
        left = [held for held, margin in zip(left, margins, strict=True) if margin > relations.MARGIN]
        if not left:
            return []
    return [one for one, _ in left]


@clears("infeasible")
def not_said(candidate: Candidate) -> bool:
    """Nobody says that it cannot be done."""
    return candidate.example.action.type != "infeasible"
