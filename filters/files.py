"""Are the files of an imported set there, and inside it?"""

from __future__ import annotations

from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, nothing_told, rejected, told
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

_REASONS = ("missing_file", "path_outside_set", "screenshot_undecodable", "screenshot_size_mismatch")


@gates.add
def files(candidate: Candidate) -> Verdict:
    """Every file that the record names was found under its exact name, in the set's folder, and was what it says.

    What reading found (`cuadata.judging.importing`) stands in the notes of the observation.
    """
    for reason in _REASONS:
        note = told(candidate, reason)
        if note is not None:
            return rejected("files", reason, {"found": note})
    return kept("files")


clears("files")(nothing_told)
