"""The gate on how the trajectory ended: what led to a failure is nothing to imitate."""

from __future__ import annotations

from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, provenance, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

#: Configs whose actions are learnt as the right thing to do; failures are what `transitions` and `recovery` live of.
IMITATED = ("actions", "point_only", "chunks")


@gates.add
def task_failed(candidate: Candidate, *, worth: float = 0.1) -> Verdict:
    """Its trajectory did its task, or reward terms paid the step itself `worth` or more.

    Other gates judge whether an action worked, not whether it was wise. A trajectory of which nobody said how it ended
    passes; small payments, such as the 0.02 for a wrong radio button in the family `modal`, show no right step.
    """
    gate = "task_failed"
    if not provenance(candidate, gate):
        return kept(gate)
    paid = provenance(candidate, "paid") or 0.0
    if isinstance(paid, (int, float)) and paid >= worth:
        return kept(gate, paid=paid)
    return rejected(gate, "task_failed", configs=IMITATED, paid=paid)


@clears("task_failed")
def nothing_told_of_a_failure(candidate: Candidate) -> bool:
    """Its provenance does not speak of a failed task."""
    return '"task_failed"' not in candidate.example.provenance
