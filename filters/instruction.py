"""Does the instruction speak of this target?"""

from __future__ import annotations

from cuadata.judging import claims
from cuadata.judging.claims import Reading
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, provenance, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.types import Element
from cuadata.wording import descriptions
from cuadata.wording.descriptions import Noun

_NAME = "instruction_mismatch"
_POINTING = ("grounding", "pairs")


@gates.add
def instruction_mismatch(candidate: Candidate) -> Verdict:
    """The words bound to elements still stand in the instruction; what it names in quotes is the target, or the reference.

    A step of a longer task (it has a phase) may act on what the instruction does not name, on the way to it: there the
    last point speaks against pointing tasks only.
    """
    example = candidate.example
    if not example.instruction.strip():
        return kept(_NAME)
    lost = _lost_words(candidate)
    if lost:
        return rejected(_NAME, "instruction_mismatch", {"instruction": example.instruction, "words_lost": lost})
    reading = claims.read(candidate)
    phrase = reading.claim.phrase
    named = [(phrase.target, reading.target)]
    if len(phrase.references) == len(example.references):
        named += zip(phrase.references, reading.references, strict=True)
    for noun, element in named:
        # A name that says all there is to say of it; "Book 'Paris' for two" is a goal.
        if not noun.name or noun.rest:
            continue
        if element is None or descriptions.answers(noun, element) or not (noun.exact or _names_another(noun, reading)):
            continue
        evidence = {"instruction_names": noun.words, "label": element}
        return rejected(_NAME, _NAME, evidence, configs=() if example.phase is None else _POINTING)
    return kept(_NAME)


def _names_another(noun: Noun, reading: Reading) -> bool:
    """Whether words without quotes, which may say how a thing looks, are the whole name of something that a person sees."""
    return bool(reading.page.visible.called(noun.name, noun.roles))


def _lost_words(candidate: Candidate) -> list[str]:
    """Words that stand for elements, by the task or by the row itself, and that the instruction no longer holds."""
    task, text = candidate.task, candidate.example.instruction
    own = provenance(candidate, "words")
    words = [one for one in own if isinstance(one, str)] if isinstance(own, list) else []
    if task is not None and text != task.instruction:
        words += [one.word for one in task.bindings]
    if not words:
        return []
    folded = descriptions.normal(text, limit=4000)
    # At the end of a text its normal form loses what is punctuation alone: '*' stands there as it is.
    return [one for one in words if descriptions.normal(one) not in folded and one not in text]


@clears(_NAME)
def names_what_is_labelled(candidate: Candidate) -> bool:
    """No words are bound, and what the instruction calls by a name alone is the row's target, or its reference."""
    if candidate.task is not None or '"words"' in candidate.example.provenance:
        return False
    reading = claims.read(candidate)
    phrase, target, references = reading.claim.phrase, reading.target, reading.references
    if len(phrase.references) != len(references) or not _is(phrase.target, target):
        return False
    return not references or all(map(_is, phrase.references, references))


def _is(noun: Noun, element: Element | None) -> bool:
    return not noun.name or (element is not None and descriptions.answers(noun, element))
