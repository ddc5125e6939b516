"""May the row leave this machine?"""

from __future__ import annotations

from cuadata import privacy
from cuadata.judging import sensitive
from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict


@gates.add
def sensitive_value(candidate: Candidate, *, allow: tuple[str, ...] = ()) -> Verdict:
    """No text of the row holds a secret or personal data: typed text, names, addresses, history, provenance.

    `allow`: kinds of `cuadata.privacy` that are kept all the same, for pages whose data is made up.
    """
    found = [one for one in sensitive.in_example(candidate.example) if one.kind not in allow]
    if not found:
        return kept("sensitive_value")
    first = found[0]
    return rejected(
        "sensitive_value",
        "sensitive_value",
        {"kind": first.kind, "means": privacy.KINDS[first.kind], "place": first.place, "found": len(found)},
    )
