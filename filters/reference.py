"""Can a person find what the instruction refers to?"""

from __future__ import annotations

from cuadata import geometry
from cuadata.judging import claims, visibility
from cuadata.judging.claims import Reading
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Target, Verdict
from cuadata.types import Element
from cuadata.wording import descriptions

_NAME = "reference"


@gates.add
def reference(candidate: Candidate, *, min_seen: float = 1 / 3, min_side: float = 3.0) -> Verdict:
    """Every reference is on the page, a person sees at least `min_seen` of it, and its description means it alone.

    It need not take input: an instruction may refer to a heading or a disabled button. `min_side`: CSS px; below it
    nobody makes anything out. Without a page only the box is looked at.
    """
    if not candidate.example.references:
        return kept(_NAME)
    reading = claims.read(candidate)
    for target, element in zip(candidate.example.references, reading.references, strict=True):
        verdict = _one(reading, target, element, min_seen, min_side)
        if verdict is not None:
            return verdict
    if reading.page.observation is None:
        return kept(_NAME, {"not_checked": "what is seen of the reference, and what else is called so"})
    return kept(_NAME)


def _one(reading: Reading, target: Target, element: Element | None, min_seen: float, min_side: float) -> Verdict | None:
    """What speaks against one reference; None where nothing does."""
    if target.bbox is not None and not geometry.finite(target.bbox):
        return rejected(_NAME, "coordinates_out_of_range", {"reference": target})
    if reading.page.observation is None:
        if target.bbox is not None and min(target.bbox.width, target.bbox.height) < min_side:
            return rejected(_NAME, "reference_too_small", {"reference": target})
        return None
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
    return _shared_description(element, reading)


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


def _shared_description(element: Element, reading: Reading) -> Verdict | None:
    """Another element that the same words mean; of several references each has to be plain by itself."""
    nouns = [noun for noun in reading.claim.phrase.references if descriptions.answers(noun, element)]
    if nouns:
        found = reading.page.visible.matching(nouns[0])
    elif element.name or element.text:
        found = reading.page.visible.like(element)
    else:
        return None
    target = reading.target
    left_out = (element.id, target.id if target is not None else element.id)
    apart = [one for one in found if one.id not in left_out]
    # 'Studio' is a heading rather than the list that it stands over.
    others = [one for one in apart if one.role not in descriptions.REGIONS or element.role in descriptions.REGIONS]
    if not others or reading.page.observation is None:
        return None
    others = descriptions.distinct([element, *others], reading.page.observation, keep=element.id)[1:]
    if not others:
        return None
    evidence = {"reference": element, "others": others[:5], "words": nouns[0].words if nouns else None}
    return rejected(_NAME, "reference_ambiguous", evidence)


@clears("reference")
def plainly_named(candidate: Candidate) -> bool:
    """The row has no reference; or one that is seen for sure and alone is called what the instruction says."""
    references = candidate.example.references
    if len(references) != 1:
        return not references
    reading = claims.read(candidate)
    (element,), nouns, label = reading.references, reading.claim.phrase.references, references[0].bbox
    if element is None or len(nouns) != 1 or visibility.unseen(element) is not None:
        return False
    if element.evidence.unsure is not None or not (label is None or geometry.finite(label)):
        return False
    return reading.page.visible.means_only(nouns[0], element)
