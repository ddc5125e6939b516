"""Scores on plain lists: success, points in boxes, pairs and variants. Intervals and paired tests stand beside them.

Success is a field of its own and never read off a reward; exact and default success are two numbers; a parse failure is
an outcome of its own; the tolerance of a point in a box is 0 unless it is asked for, and written into every result.
What the neighbouring files hold (answers, intervals, paired tests, potentials) is at hand here under its own name.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from cuadata.geometry import distance
from cuadata.statistics import intervals, paired
from cuadata.statistics.answers import score
from cuadata.statistics.intervals import NotBinary, Rate, bootstrap, mean, rate, wilson
from cuadata.statistics.paired import compare, mcnemar, smallest_difference
from cuadata.statistics.potential import potential_rewards
from cuadata.types import BBox, Point

__all__ = [
    "Distances",
    "Flips",
    "NotBinary",
    "Rate",
    "Success",
    "bootstrap",
    "centre_error",
    "compare",
    "distances",
    "edge_error",
    "flips",
    "hit",
    "hits",
    "mcnemar",
    "mean",
    "potential_rewards",
    "rate",
    "score",
    "smallest_difference",
    "strict",
    "success",
    "valid_output",
    "wilson",
    "worst",
]

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """How many episodes reached their goal."""

    judged: Annotated[Rate, "success among the episodes whose goal was checked"]
    unjudged: Annotated[int, "episodes of which nobody said whether they succeeded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """What changed between two variants of the same items: the net change can hide it."""

    n: Annotated[int, "items seen under both"]
    broken: Annotated[int, "right under the first, wrong under the second"]
    fixed: Annotated[int, "wrong under the first, right under the second"]
    rate: Annotated[float | None, "(broken + fixed) / n; None for n = 0"]
    p: Annotated[float, "McNemar's p-value of the net change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """How far clicks land from where they should."""

    n: Annotated[int, "clicks"]
    median: Annotated[float | None, "px; None for no clicks"]
    p90: Annotated[float | None, "90th percentile, px; None for no clicks"]


def success(goals: Iterable[bool | None], confidence: float = 0.95) -> Success:
    """Success from the episodes' own goal checks; None where nobody said. A reward is no goal check.

    NotBinary where a value is graded, so that a list of rewards is refused rather than counted.
    """
    held = list(goals)
    judged = [g for g in held if g is not None]
    return Success(judged=intervals.rate(judged, confidence), unjudged=len(held) - len(judged))


def hit(point: Point | None, box: BBox, tolerance: float = 0.0) -> bool:
    """Whether a point lies in a box, all four edges included, widened by `tolerance` CSS px on every side.

    None, an answer without a point, is no hit. ValueError for a negative tolerance.
    """
    if tolerance < 0:
        raise ValueError(f"a tolerance of {tolerance} px shrinks the box; 0 or more is wanted")
    return (
        point is not None
        and box.x - tolerance <= point.x <= box.x + box.width + tolerance
        and box.y - tolerance <= point.y <= box.y + box.height + tolerance
    )


def hits(points: Sequence[Point | None], boxes: Sequence[BBox], tolerance: float = 0.0) -> list[bool]:
    """`hit` for each point and its box. ValueError for lists of different length."""
    return [hit(p, b, tolerance) for p, b in zip(points, boxes, strict=True)]


def edge_error(point: Point, box: BBox) -> float:
    """Distance from a point to the nearest edge of its box, CSS px; 0 inside."""
    return distance(box, point)


def centre_error(point: Point, box: BBox) -> float:
    """Distance from a point to the middle of its box, CSS px."""
    middle = box.center
    return math.hypot(point.x - middle.x, point.y - middle.y)


def distances(values: Iterable[float]) -> Distances:
    """Median and 90th percentile (nearest rank)."""
    held = sorted(values)
    if not held:
        return Distances(n=0, median=None, p90=None)
    return Distances(n=len(held), median=statistics.median(held), p90=held[math.ceil(0.9 * len(held)) - 1])


def valid_output(failures: Iterable[str | None], confidence: float = 0.95) -> Rate:
    """Share of answers that could be read; `failures` says of each why not, None where it could."""
    return intervals.rate([f is None for f in failures], confidence)


def strict(items: Iterable[tuple[Hashable, bool]], confidence: float = 0.95) -> Rate:
    """Strict pair accuracy: share of groups of which every member is right; groups of one member are left out."""
    groups: dict[Hashable, list[bool]] = {}
    for group, right in items:
        groups.setdefault(group, []).append(right)
    return intervals.rate([all(rights) for rights in groups.values() if len(rights) > 1], confidence)


def flips(first: Mapping[K, bool], second: Mapping[K, bool]) -> Flips:
    """Items that went from right to wrong or back between two variants, matched by key."""
    shared = [key for key in first if key in second]
    test = paired.mcnemar([first[k] for k in shared], [second[k] for k in shared])
    changed = test.only_first + test.only_second
    return Flips(
        n=len(shared),
        broken=test.only_first,
        fixed=test.only_second,
        rate=changed / len(shared) if shared else None,
        p=test.p,
    )


def worst(by_variant: Mapping[str, Sequence[bool]], confidence: float = 0.95) -> tuple[str, Rate] | None:
    """The variant with the lowest accuracy, the first of equals, and that accuracy; None where no variant has items."""
    rates = [(name, intervals.rate(rights, confidence)) for name, rights in by_variant.items() if rights]
    return min(rates, key=lambda one: one[1].rate or 0.0, default=None)
