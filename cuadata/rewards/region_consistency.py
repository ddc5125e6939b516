"""GUI-RCPO's reward: how much of the group's agreement an answer shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuadata.errors import CallError
from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.statistics import voting


@rewards.add
def region_consistency(answer: str, *, side: float = voting.SIDE, **columns: Any) -> float:
    """Mean vote over the answer's square, by the highest vote; needs no label.

    r_i = sum over the cells of square i of votes / (max vote * area of square i), squares of `side` px around the points of
    all answers of the group (GUI-RCPO, arXiv 2508.05615). `group` holds the group's answers, this one among them. An answer
    that points nowhere gets 0.
    """
    group: Sequence[str] | None = columns.get("group")
    if not group or answer not in group:
        raise CallError("this reward needs the column `group`, the answers to the same prompt, this one among them")
    points = [judged.judge(other, columns).point for other in group]
    rewarded = voting.region_rewards(points, side=side, viewport=judged.view_of(columns).viewport)
    return rewarded[list(group).index(answer)]
