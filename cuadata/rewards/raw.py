"""Raw: the task's own reward as it is."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import outcomes


@rewards.add
def raw(answer: str, **columns: Any) -> float:
    """The task's own reward, unchanged: for click-checkboxes the mean of +1 and -1 over its boxes.

    `outcome` is the rollout's outcome; its `raw` is paid.
    """
    return outcomes.raw(outcomes.of(columns))
