"""Default: BrowserGym's success on MiniWoB++."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import outcomes


@rewards.add
def default(answer: str, **columns: Any) -> float:
    """1 where the task's own reward is above 0, else 0: BrowserGym's success on MiniWoB++ (float(RAW_REWARD_GLOBAL > 0)).

    `outcome` is the rollout's outcome. It pays a majority of the work in full; train on `exact` or `raw` to avoid that.
    """
    return float(outcomes.raw(outcomes.of(columns)) > 0)
