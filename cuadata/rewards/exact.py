"""Exact: the episode did exactly what was asked."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import outcomes


@rewards.add
def exact(answer: str, **columns: Any) -> float:
    """The episode's reward by the exact criterion: 1 where everything asked was done and nothing else, else 0.

    `outcome` is the rollout's outcome. Against `default`, which pays for most of it (click-checkboxes pays a submit without
    any box in 38 % of its puzzles by default, in 10 % exactly).
    """
    return outcomes.exact(outcomes.of(columns))
