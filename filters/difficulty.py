"""Whether a model's rollouts find an example informative: neither always hit nor never."""

from __future__ import annotations

import json
from typing import Final

from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.scores import difficulty as tools

_NO_ROLLOUTS: Final = Verdict(gate="difficulty", evidence='{"rollouts": null}')


@gates.add
def difficulty(candidate: Candidate, *, low: float = tools.LOW, high: float = tools.HIGH) -> Verdict:
    """Keep hit rates from `low` to `high`; what no rollout hit is unsure until another check vouches for its label.

    The rollouts stand in the example's provenance, where `cuadata select` puts them; without any the gate keeps.
    """
    held = tools.attached(candidate.example)
    if held is None:
        return _NO_ROLLOUTS
    judged = tools.judge(held, low=low, high=high)
    evidence = {
        "hits": held.hits,
        "n": held.n,
        "interval": held.interval,
        "consistency": held.consistency,
        "vouched_by": held.vouched_by,
    }
    return Verdict(gate="difficulty", keep=judged.keep, reason=judged.reason, evidence=json.dumps(evidence))
