"""Gates on rows that say nothing new."""

from __future__ import annotations

from cuadata.building import duplicates
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict


@gates.add
def duplicate(candidate: Candidate) -> Verdict:
    """Keeps an example unless an earlier one of the build shows the same pixels, instruction and action.

    One example alone is never a duplicate: the verdict names what must be unique, and the build, which sees all examples
    in their order, keeps the first and rejects the others as `duplicate`.
    """
    return Verdict(gate="duplicate", unique=duplicates.key(candidate.example))
