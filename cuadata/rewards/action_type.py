"""Action type: the right kind of action, wherever it points."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import judged


@rewards.add
def action_type(answer: str, **columns: Any) -> float:
    """1 where the answer's action is of the type of the row's action, else 0.

    R = 1[type matches], the first term of UI-R1 (arXiv 2503.21620).
    """
    read = judged.judge(answer, columns)
    return float(read.action is not None and read.action.type == judged.action(columns).type)
