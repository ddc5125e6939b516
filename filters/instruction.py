"""Does the instruction speak of this target?"""

from __future__ import annotations

from cuadata import claims, descriptions
from cuadata.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

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
    named = [(phrase.target, example.target)]
    if len(phrase.references) == len(example.references):
        named += zip(phrase.references, example.references, strict=True)
    for noun, row in named:
        # A quoted name that says all there is to say of it; "Book 'Paris' for two" is a goal.
        element = reading.page.element(row) if noun.exact and not noun.rest else None
        if element is None or descriptions.answers(noun, element):
            continue
        evidence = {"instruction_names": noun.words, "label": element}
        return rejected(_NAME, _NAME, evidence, configs=() if example.phase is None else _POINTING)
    return kept(_NAME)


def _lost_words(candidate: Candidate) -> list[str]:
    """Words that the task binds to elements and that a rewritten instruction no longer holds."""
    task, text = candidate.task, candidate.example.instruction
    if task is None or text == task.instruction:
        return []
    folded = descriptions.normal(text, limit=4000)
    return [one.word for one in task.bindings if descriptions.normal(one.word) not in folded]
