"""Did training cost the model what it could do: a paired test on the same examples before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Drop:
    """Hits before and after on the same examples."""

    before: Annotated[int, "hits before"]
    after: Annotated[int, "hits after"]
    count: Annotated[int, "examples"]
    lost: Annotated[int, "hit before, missed after"]
    won: Annotated[int, "missed before, hit after"]
    p: Annotated[float, "chance of as many lost among those that changed, were both equally likely"]

    @property
    def significant(self) -> bool:
        """Whether more were lost than won, beyond the 5 % level."""
        return self.lost > self.won and self.p < 0.05

    def __str__(self) -> str:
        return (
            f"direct grounding {self.before}/{self.count} before, {self.after}/{self.count} after: "
            f"{self.lost} lost, {self.won} won, p = {self.p:.3g}"
        )


def compare(before: Sequence[bool], after: Sequence[bool]) -> Drop:
    """Exact one-sided McNemar test (McNemar, Psychometrika 1947) on paired hits. ValueError for unequal lengths."""
    from scipy.stats import binomtest

    lost = sum(b and not a for b, a in zip(before, after, strict=True))
    won = sum(a and not b for b, a in zip(before, after, strict=True))
    p = float(binomtest(lost, lost + won, 0.5, alternative="greater").pvalue) if lost + won else 1.0
    return Drop(sum(before), sum(after), len(before), lost, won, p)
