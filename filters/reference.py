"""Can a person find what the instruction refers to?"""

from __future__ import annotations

from cuadata import claims, descriptions, geometry, visibility
from cuadata.judging import element_of, kept, page_of, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Target, Verdict
from cuadata.types import Element, Observation

_NAME = "reference"


@gates.add
def reference(candidate: Candidate, *, min_seen: float = 1 / 3, min_side: float = 3.0) -> Verdict:
    """Every reference is on the page, a person sees at least `min_seen` of it, and its description means it alone.

    It need not take input: an instruction may refer to a heading or a disabled button. `min_side`: CSS px; below it
    nobody makes anything out. Without a page only the box is looked at.
    """
    if not candidate.example.references:
        return kept(_NAME)
    for target in candidate.example.references:
        verdict = _one(candidate, target, min_seen, min_side)
        if verdict is not None:
            return verdict
    if page_of(candidate) is None:
        return kept(_NAME, {"not_checked": "what is seen of the reference, and what else is called so"})
    return kept(_NAME)


def _one(candidate: Candidate, target: Target, min_seen: float, min_side: float) -> Verdict | None:
    """What speaks against one reference; None where nothing does."""
    page = page_of(candidate)
    if target.bbox is not None and not geometry.finite(target.bbox):
        return rejected(_NAME, "coordinates_out_of_range", {"reference": target})
    if page is None:
        if target.bbox is not None and min(target.bbox.width, target.bbox.height) < min_side:
            return rejected(_NAME, "reference_too_small", {"reference": target})
        return None
    element = element_of(target, page)
    if element is None:
        return rejected(_NAME, "reference_missing", {"reference": target, "locator": str(target.locator)})
    word = visibility.unseen(element, min_seen=min_seen)
    if word is not None:
        return rejected(
            _NAME, f"reference_{word}", {"reference": element, "seen": element.seen, "evidence": _why(element)}
        )
    doubt = visibility.undecided(element)
    if doubt is not None:
        return rejected(_NAME, "reference_hidden", {"reference": element, "unsure": doubt}, keep="unsure")
    return _shared_description(candidate, element, page)


def _why(element: Element) -> dict[str, object]:
    held = element.evidence
    return {
        "in_viewport": held.in_viewport,
        "clipped": held.clipped,
        "covered": held.covered,
        "covered_by": held.covered_by,
        "opacity": held.opacity,
        "rendered": held.rendered,
        "contrast": held.contrast,
    }


def _shared_description(candidate: Candidate, element: Element, page: Observation) -> Verdict | None:
    """Another element that the same words mean, as long as the relation does not tell them apart."""
    claimed = claims.claim(candidate)
    nouns = [noun for noun in claimed.phrase.references if descriptions.answers(noun, element)]
    visible = descriptions.seen(page)
    if nouns:
        found = descriptions.matching(nouns[0], visible)
    elif element.name or element.text:
        found = descriptions.like(element, visible)
    else:
        return None
    own = [one for one in found if one.id != element.id]
    target = element_of(candidate.example.target, page)
    others = descriptions.distinct([element, *own], page, keep=element.id)[1:]
    others = [one for one in others if target is None or one.id != target.id]
    if not others:
        return None
    evidence = {"reference": element, "others": others[:5], "words": nouns[0].words if nouns else None}
    return rejected(_NAME, "reference_ambiguous", evidence)
