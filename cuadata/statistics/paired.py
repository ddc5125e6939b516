"""Two runs over the same items: does one differ from the other, by how much, and what could the sample have shown?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Literal

from cuadata.statistics import intervals
from cuadata.statistics.intervals import Interval

#: From this many discordant pairs on the chi-square form is close enough; below it the binomial is summed.
EXACT_BELOW = 25
#: Steps up to which every way to flip the clusters' signs is counted; beyond, the normal form is close enough.
_COUNTED = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """McNemar's test on paired yes-or-no outcomes."""

    n: Annotated[int, "pairs"]
    only_first: Annotated[int, "pairs that only the first got right"]
    only_second: Annotated[int, "pairs that only the second got right"]
    p: Annotated[float, "two-sided p-value"]
    method: Annotated[Literal["exact", "chi_square"], "binomial sum, or chi-square with continuity correction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second run against the first, on the items that both have."""

    n: Annotated[int, "items that both have"]
    clusters: Annotated[int, "screenshots or tasks that they fall into"]
    first: Annotated[intervals.Rate, "the first run"]
    second: Annotated[intervals.Rate, "the second run"]
    difference: Annotated[float, "rate of the second minus rate of the first"]
    interval: Annotated[Interval, "clustered bootstrap of the difference"]
    mcnemar: Annotated[McNemar, "paired test, which takes the items for independent"]
    p_clustered: Annotated[float, "two-sided p-value over whole clusters; McNemar's where each item is its own cluster"]
    p: Annotated[float, "the larger of both: below 1 - confidence a difference is shown"]
    smallest: Annotated[float | None, "smallest difference that a sample like this shows; None: none at all"]
    design_effect: Annotated[float, "variance over clusters by variance over rows; the sample is worth n divided by it"]


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """McNemar's test of paired outcomes, two-sided.

    With b and c discordant pairs: below 25 of them the exact binomial 2 P(X <= min(b, c)), X ~ B(b + c, 1/2), else
    chi-square = (|b - c| - 1)^2 / (b + c) with one degree of freedom (Edwards' correction). No discordant pair gives p = 1.
    """
    _same_length(first, second)
    only_first = sum(bool(a) and not b for a, b in zip(first, second, strict=True))
    only_second = sum(bool(b) and not a for a, b in zip(first, second, strict=True))
    p, method = _p_value(only_first, only_second)
    return McNemar(n=len(first), only_first=only_first, only_second=only_second, p=p, method=method)


def _p_value(b: int, c: int) -> tuple[float, Literal["exact", "chi_square"]]:
    total = b + c
    if total < EXACT_BELOW:
        tail = sum(math.comb(total, k) for k in range(min(b, c) + 1))
        return min(1.0, 2 * tail / 2**total), "exact"
    square = max(abs(b - c) - 1, 0) ** 2 / total
    return math.erfc(math.sqrt(square / 2)), "chi_square"


def clustered(differences: Sequence[int], clusters: Sequence[Hashable]) -> float:
    """Two-sided p-value of paired differences (-1, 0, 1) whose items share their fate within a cluster.

    Where neither run is better, a whole cluster's sum S_j is as likely to be its negative: p is the share of all 2^m
    choices of signs with a total at least as far from 0, over the m clusters with S_j != 0. For clusters of one item that
    is McNemar's exact test. Where they are too many to count, z = (|sum S_j| - 1) / sqrt(sum S_j^2), as in Durkalski et
    al., "Analysis of clustered matched-pair data", 2003, with a correction for continuity. No such cluster gives p = 1.
    """
    import numpy as np

    _same_length(differences, clusters)
    sums: Counter[Hashable] = Counter()
    for cluster, difference in zip(clusters, differences, strict=True):
        sums[cluster] += difference
    held = sorted(abs(one) for one in sums.values() if one)
    total, span = abs(sum(sums.values())), sum(held)
    if len(held) * span > _COUNTED:
        return math.erfc(max(total - 1, 0) / math.sqrt(2 * math.fsum(one * one for one in held)))
    ways = np.zeros(2 * span + 1)
    ways[span] = 1.0
    for one in held:  # the share of the choices of signs that lead to each total
        ways = (np.roll(ways, one) + np.roll(ways, -one)) / 2
    far = float(ways[span + total :].sum() + ways[: span - total + 1].sum())
    return min(1.0, far)


def smallest_difference(n: float, discordant: float, *, power: float = 0.8, confidence: float = 0.95) -> float | None:
    """The smallest true difference of paired rates that n pairs show with this power; None where no difference would.

    Solves sqrt(n) d = z_a sqrt(s) + z_b sqrt(s - d^2) for d, where s is the share of discordant pairs (Connor, "Sample
    size for testing differences in proportions for the paired-sample design", 1987). A difference of d needs at least a
    share d of discordant pairs, so s is raised to d where it is smaller. `n` may be an effective number of pairs.
    """
    if n <= 0 or not 0 <= discordant <= 1:
        raise ValueError(f"{n} pairs with a share of {discordant} discordant; n > 0 and a share from 0 to 1 are wanted")
    quantile_a, quantile_b = intervals.z(confidence), NormalDist().inv_cdf(power)

    def shown(d: float) -> bool:
        share = max(discordant, d)
        return math.sqrt(n) * d >= quantile_a * math.sqrt(share) + quantile_b * math.sqrt(max(share - d * d, 0.0))

    if not shown(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def compare(
    first: Sequence[bool],
    second: Sequence[bool],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """The second run against the first, outcome by outcome; `clusters` names each item's screenshot or task."""
    _same_length(first, second)
    if not first:
        raise ValueError("no pairs: the two runs share no item")
    differences = [float(b) - float(a) for a, b in zip(first, second, strict=True)]
    drawn = intervals.means(differences, clusters, samples=samples, seed=seed)
    test = mcnemar(first, second)
    told = len(set(clusters)) if clusters is not None else len(first)
    whole = clustered(list(map(int, differences)), clusters) if clusters is not None and told < len(first) else test.p
    effect = _design_effect(differences, drawn)
    return Comparison(
        n=len(first),
        clusters=told,
        first=intervals.rate(first, confidence),
        second=intervals.rate(second, confidence),
        difference=math.fsum(differences) / len(differences),
        interval=intervals.percentiles(drawn, confidence),
        mcnemar=test,
        p_clustered=whole,
        p=max(test.p, whole),
        smallest=smallest_difference(
            len(first) / effect, (test.only_first + test.only_second) / test.n, confidence=confidence
        ),
        design_effect=effect,
    )


def _design_effect(differences: Sequence[float], drawn: Sequence[float]) -> float:
    """At least 1: a sample is never taken for larger than it is."""
    import numpy as np

    alone = float(np.var(differences)) / len(differences)
    return max(1.0, float(np.var(drawn)) / alone) if alone > 0 else 1.0


def _same_length(first: Sequence[object], second: Sequence[object]) -> None:
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} and {len(second)} outcomes; a paired test wants the same items in the same order"
        )
