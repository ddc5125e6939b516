"""Is it known what the numbers of an imported set count in?"""

from __future__ import annotations

from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, nothing_told, rejected, told
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

_REASONS = ("convention_unknown", "convention_contradicted")


@gates.add
def convention(candidate: Candidate) -> Verdict:
    """The set's coordinate convention was declared or could be decided, and no row of it contradicts it.

    It is decided over a whole file when the set is read (`cuadata.judging.conventions`); the finding stands in the notes of the
    observation.
    """
    for reason in _REASONS:
        note = told(candidate, reason)
        if note is not None:
            return rejected("convention", reason, {"found": note})
    return kept("convention")


clears("convention")(nothing_told)
