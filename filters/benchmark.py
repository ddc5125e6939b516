"""May the row be trained on?"""

from __future__ import annotations

import re

from cuadata.judging.clearing import clears
from cuadata.judging.evaluation_sets import evaluation_set, folded
from cuadata.judging.judging import kept, provenance, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

#: What a licence says where it forbids use for money, changed versions, or any use that was not granted.
_RESTRICTED = re.compile(
    r"(?:^|[^a-z])(?:nc|nd|non-?commercial|no-?derivatives|research[- ]only|proprietary|all rights reserved|unlicensed)(?:[^a-z]|$)"
)


@gates.add
def benchmark_leak(candidate: Candidate, *, allow: tuple[str, ...] = ()) -> Verdict:
    """The row belongs to no public evaluation set, or to one that `allow` asks for by name.

    Looked at are `dataset` and `split` of the row's provenance, the trajectory's source and its site.
    """
    example = candidate.example
    split = provenance(candidate, "split")
    whole = candidate.trajectory
    source = whole.source if whole is not None else provenance(candidate, "source")
    for name in (provenance(candidate, "dataset"), source, example.site):
        known = evaluation_set(name, split if isinstance(split, str) else None) if isinstance(name, str) else None
        if known is not None and known not in {folded(one) for one in allow}:
            return rejected("benchmark_leak", "benchmark_leak", {"dataset": name, "split": split, "known_as": known})
    return kept("benchmark_leak")


@gates.add
def licence_restricted(candidate: Candidate, *, allow: tuple[str, ...] = ()) -> Verdict:
    """The licence that the row's provenance names does not forbid commercial use, changed versions or passing on.

    `allow`: licences that are used all the same, as they are written. A row without a licence is kept; the card says so.
    """
    licence = provenance(candidate, "licence") or provenance(candidate, "license")
    if not isinstance(licence, str) or licence in allow:
        return kept("licence_restricted")
    if _RESTRICTED.search(licence.lower()):
        return rejected("licence_restricted", "licence_restricted", {"licence": licence})
    return kept("licence_restricted")


@clears("benchmark_leak", "licence_restricted")
def nothing_claimed(candidate: Candidate) -> bool:
    """Its provenance names neither a set nor a licence, and nobody knows its source or its site as an evaluation set."""
    example, whole = candidate.example, candidate.trajectory
    told = example.provenance
    if whole is None or '"dataset"' in told or '"split"' in told or '"licen' in told:
        return False
    return evaluation_set(whole.source) is None and evaluation_set(example.site) is None
