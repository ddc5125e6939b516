"""What policies that look at nothing reach on a family, with intervals: no result means anything without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cuadata import registry
from cuadata.errors import CallError
from cuadata.playing import policy_runs
from cuadata.scores import tables
from cuadata.statistics.intervals import average

#: In the order of the table; those of a family that cannot be played (no oracle) still stand there, with what they reach.
POLICIES = ("nothing", "submit_only", "all_boxes", "random", "oracle")


def baseline(
    family: str,
    seeds: Sequence[int],
    *,
    policies: Sequence[str] = POLICIES,
    max_steps: int | None = None,
    workers: int = 1,
    progress: Callable[[], None] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Exact and default success of each policy on the same seeds, with Wilson intervals, and the mean raw reward.

    CallError for a name that is none.
    """
    for name in policies:
        if name not in registry.policies:
            raise CallError(f"no policy is named '{name}'; there are: {', '.join(registry.policies.names())}")
    environment: dict[str, Any] = {"screenshot": False, "effect": False}
    if max_steps is not None:
        environment["max_steps"] = max_steps
    rows = {}
    for name in policies:
        plan = policy_runs.Plan(
            family=family, policy=name, seeds=seeds, family_options=options, environment=environment, workers=workers
        )
        policy_runs.check(plan)
        held = policy_runs.play(plan, progress=progress)
        raws = [e.raw for e in held if e.raw is not None]
        rows[name] = {
            **tables.criteria(held),
            "mean_raw": average(raws) if raws else None,
            "mean_steps": sum(len(e.turns) for e in held) / max(len(held), 1),
            "broken_down": sum(e.ended in ("error", "interrupted") for e in held),
        }
    return {"family": family, "seeds": [seeds[0], seeds[-1]], "n": len(seeds), "policies": rows}
