"""Text F1: how much of the text is right."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cuadata.registry import rewards
from cuadata.scores import judged


@rewards.add
def text_f1(answer: str, *, threshold: float | None = None, **columns: Any) -> float:
    """Token F1 of the text that the answer types and the row's text, 0 to 1; 1 where neither has any.

    F1 = 2 P R / (P + R) over words with case folded, as in SQuAD (arXiv 1606.05250); with `threshold` 1 where it is
    reached, else 0: GUI-R1 (arXiv 2504.10458) takes 0.5. An answer that cannot be read gets 0.
    """
    read, wanted = judged.judge(answer, columns), judged.action(columns)
    if read.action is None:
        return 0.0
    score = f1(read.action.text or "", wanted.text or "")
    return score if threshold is None else float(score >= threshold)


def f1(said: str, wanted: str) -> float:
    """F1 of two texts' words, case folded; 1 for two empty texts, 0 where one is empty."""
    mine, theirs = Counter(said.casefold().split()), Counter(wanted.casefold().split())
    if not mine and not theirs:
        return float(said == wanted or not (said or wanted))
    shared = (mine & theirs).total()
    return 2 * shared / (mine.total() + theirs.total())
