"""Format: the answer can be read."""

from __future__ import annotations

from typing import Any

from cuadata.registry import rewards
from cuadata.scores import judged


@rewards.add
def format_reward(answer: str, *, strict: bool = False, **columns: Any) -> float:
    """1 where the answer is in its family's grammar, else 0.

    Reading forgives prose and slips; `strict` does not: the answer has to be what the family would write for the same
    action, white space aside. The format term of UI-R1 and GUI-R1 (arXiv 2503.21620, 2504.10458), on this project's reader.
    """
    read = judged.judge(answer, columns)
    if read.action is None:
        return 0.0
    if not strict:
        return 1.0
    try:
        written = read.format.write(read.action, read.view)
    except ValueError:
        return 0.0  # read by forgiveness: the family itself has no word for it
    return float("".join(written.split()) == "".join(answer.split()))
