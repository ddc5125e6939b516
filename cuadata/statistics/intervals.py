"""How sure a rate or a mean is: Wilson intervals for yes-or-no outcomes, a clustered bootstrap for graded ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated

from cuadata.errors import DataError

Interval = tuple[float, float]
#: Resamples of a bootstrap are drawn in blocks of this many, so that a seed gives the same draw whatever their number.
_BLOCK = 500
#: Numbers beyond this have squares, and sums of squares, that no float holds.
_ENORMOUS = 1e150


class NotBinary(DataError):
    """Graded values where yes-or-no outcomes are wanted: a binomial interval does not hold for them."""

    reason = "not_binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something held."""

    hits: Annotated[int, "how often it held"]
    n: Annotated[int, "out of how many"]
    rate: Annotated[float | None, "share, 0 to 1; None for n = 0"]
    interval: Annotated[Interval | None, "Wilson interval of the share; None for n = 0"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean of graded values."""

    mean: Annotated[float | None, "arithmetic mean; None for n = 0"]
    n: Annotated[int, "number of values"]
    interval: Annotated[Interval | None, "percentile bootstrap over clusters; None for n = 0"]


def z(confidence: float = 0.95) -> float:
    """The two-sided normal quantile: 1.959964 at 0.95. ValueError outside the open interval from 0 to 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is none; it lies between 0 and 1, as 0.95 does")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson(hits: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval of a share, by the closed formula without continuity correction; None for n = 0.

    Centre (p + z^2/2n) / (1 + z^2/n), half-width z/(1 + z^2/n) * sqrt(p(1-p)/n + z^2/4n^2): Wilson, "Probable inference,
    the law of succession, and statistical inference", 1927. Its ends are exactly 0 for no hit and exactly 1 for all.
    ValueError where the counts are no counts.
    """
    if not (math.isfinite(hits) and math.isfinite(n)) or hits != int(hits) or n != int(n) or not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no count of hits; whole numbers with 0 <= hits <= n are wanted")
    if n == 0:
        return None
    quantile = z(confidence)
    share, grow = hits / n, 1 + quantile**2 / n
    centre = (share + quantile**2 / (2 * n)) / grow
    half = quantile / grow * math.sqrt(share * (1 - share) / n + quantile**2 / (4 * n * n))
    return (0.0 if hits == 0 else max(0.0, centre - half), 1.0 if hits == n else min(1.0, centre + half))


def counted(hits: int, n: int, confidence: float = 0.95) -> Rate:
    """A rate from counts."""
    return Rate(hits=hits, n=n, rate=hits / n if n else None, interval=wilson(hits, n, confidence))


def rate(values: Iterable[float], confidence: float = 0.95) -> Rate:
    """A rate from yes-or-no outcomes (booleans, 0 and 1). NotBinary where a value lies between: use `mean` for those."""
    held = list(values)
    for value in held:
        if value not in (0, 1):
            raise NotBinary(
                f"not_binary: {value!r} is graded, and a binomial interval holds for yes-or-no outcomes only; "
                "count exact successes, or take the mean with its bootstrap interval"
            )
    return counted(sum(map(bool, held)), len(held), confidence)


def mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Mean:
    """A mean of graded values with a percentile bootstrap that draws whole clusters; None for a cluster each its own."""
    if not values:
        return Mean(mean=None, n=0, interval=None)
    ends = bootstrap(values, clusters, confidence=confidence, samples=samples, seed=seed)
    return Mean(mean=average(values), n=len(values), interval=ends)


def average(values: Sequence[float]) -> float:
    """The arithmetic mean, also of numbers whose sum is beyond a float. ValueError for none."""
    if not values:
        raise ValueError("no values: there is no mean")
    unit = scale(values)
    return unit * (math.fsum(v / unit for v in values) / len(values))


def deviation(values: Sequence[float]) -> float:
    """The standard deviation, n - 1 in the denominator, 0 of one value; also of numbers whose squares are beyond a float.

    DataError where it is beyond a float itself.
    """
    unit = scale(values)
    found = unit * statistics.stdev(v / unit for v in values) if len(values) > 1 else 0.0
    if not math.isfinite(found):
        raise DataError(
            f"values from {min(values):g} to {max(values):g} have no standard deviation that a float can hold"
        )
    return found


def scale(values: Iterable[float]) -> float:
    """What numbers are divided by, so that their squares and sums stay finite: 1 for all but enormous ones."""
    largest = max(map(abs, values), default=0.0)
    return largest if largest > _ENORMOUS else 1.0


def bootstrap(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Percentile interval of the mean when whole clusters (a screenshot, a task) are drawn with replacement.

    Rows of one screenshot share their fate; drawing rows one by one would make the interval too narrow. The same seed
    gives the same interval. ValueError for no values or lists of different length.
    """
    return percentiles(means(values, clusters, samples=samples, seed=seed), confidence)


def percentiles(drawn: Sequence[float], confidence: float = 0.95) -> Interval:
    """The middle `confidence` of what a bootstrap drew."""
    import numpy as np

    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def means(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None, *, samples: int = 10_000, seed: int = 0
) -> Sequence[float]:
    """The bootstrap's means themselves, one a resample."""
    import numpy as np

    if not values:
        raise ValueError("no values: there is nothing to draw from")
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"{len(values)} values and {len(clusters)} clusters; each value needs its own")
    order = {name: place for place, name in enumerate(dict.fromkeys(clusters or range(len(values))))}
    places = [order[name] for name in clusters or range(len(values))]
    unit = scale(values)
    sums = np.bincount(places, weights=np.asarray(values, dtype=float) / unit, minlength=len(order))
    sizes = np.bincount(places, minlength=len(order)).astype(float)
    random = np.random.default_rng(seed)
    found = []
    for start in range(0, samples, _BLOCK):
        picks = random.integers(0, len(order), (_BLOCK, len(order)))[: samples - start]
        found.append(sums[picks].sum(axis=1) / sizes[picks].sum(axis=1))
    return [unit * float(one) for one in np.concatenate(found)]
