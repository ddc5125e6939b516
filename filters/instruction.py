"""Does the instruction speak of this target?"""

from __future__ import annotations

from cuadata import claims, descriptions
from cuadata.judging import element_of, kept, page_of, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

_NAME = "instruction_mismatch"
_POINTING = ("grounding", "pairs")


@gates.add
def instruction_mismatch(candidate: Candidate) -> Verdict:
    """The words bound to elements still stand in the instruction, and what it names in quotes is the target.

    A step of a longer task (it has a phase) may act on what the instruction does not name, on the way to it: there the
    last point speaks against pointing tasks only.
    """
    example = candidate.example
    if not example.instruction.strip():
        return kept(_NAME)
    lost = _lost_words(candidate)
    if lost:
        return rejected(_NAME, "instruction_mismatch", {"instruction": example.instruction, "words_lost": lost})
    target = element_of(example.target, page_of(candidate))
    noun = claims.claim(candidate).phrase.target
    # A quoted name that says all there is to say of the target; "Book 'Paris' for two" is a goal.
    if target is None or not noun.exact or noun.rest or descriptions.answers(noun, target):
        return kept(_NAME)
    evidence = {"instruction_names": noun.words, "target": target}
    return rejected(_NAME, "instruction_mismatch", evidence, configs=() if example.phase is None else _POINTING)


def _lost_words(candidate: Candidate) -> list[str]:
    """Words that the task binds to elements and that a rewritten instruction no longer holds."""
    task, text = candidate.task, candidate.example.instruction
    if task is None or text == task.instruction:
        return []
    folded = descriptions.normal(text, limit=4000)
    return [one.word for one in task.bindings if descriptions.normal(one.word) not in folded]
