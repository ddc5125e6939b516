"""Keeps the trivial from paying: questions are chosen so that no attribute alone says which candidate is the target."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Annotated, Any, Final, NamedTuple

from cuadata import relations
from cuadata.statistics import intervals
from cuadata.types import BBox, Size


class Seen(NamedTuple):
    """A question as a trivial predictor sees it: boxes and names, never the relation."""

    boxes: Annotated[tuple[BBox, ...], "of the candidates, in document order"]
    names: Annotated[tuple[str, ...], "of the candidates"]
    references: Annotated[tuple[BBox, ...], "boxes of the references"]
    reference_names: Annotated[tuple[str, ...], "names of the references"]
    viewport: Size
    answer: Annotated[int, "position of the target"]


Scores = list[float]


def _to_reference(seen: Seen) -> Scores:
    return [min((relations.gap(box, one) for one in seen.references), default=0.0) for box in seen.boxes]


def _to_middle(seen: Seen) -> Scores:
    x, y = seen.viewport.width / 2, seen.viewport.height / 2
    middles = [box.center for box in seen.boxes]
    return [abs(middle.x - x) + abs(middle.y - y) for middle in middles]


def _areas(seen: Seen) -> Scores:
    return [box.area for box in seen.boxes]


def _by_name(seen: Seen) -> Scores:
    ordered = sorted(seen.names)
    return [ordered.index(name) for name in seen.names]


def _like_reference(seen: Seen) -> Scores:
    """Words, a shape's colour among them, that candidate and reference share."""
    theirs = [name.split() for name in seen.reference_names]
    return [
        float(sum(len(own.intersection(words)) for words in theirs)) for own in map(set, map(str.split, seen.names))
    ]


def _least(score: Callable[[Seen], Scores]) -> Callable[[Seen], Scores]:
    return lambda seen: [-one for one in score(seen)]


#: Predictor -> a score of every candidate; that with the highest is guessed, and equal ones share the guess.
PREDICTORS: Final[dict[str, Callable[[Seen], Scores]]] = {
    "order: first": lambda seen: [-place for place in range(len(seen.boxes))],
    "order: last": lambda seen: list(range(len(seen.boxes))),
    "position: topmost": lambda seen: [-box.y for box in seen.boxes],
    "position: lowest": lambda seen: [box.bottom for box in seen.boxes],
    "position: leftmost": lambda seen: [-box.x for box in seen.boxes],
    "position: rightmost": lambda seen: [box.right for box in seen.boxes],
    "position: most central": _least(_to_middle),
    "size: largest": _areas,
    "size: smallest": _least(_areas),
    "colour: first by name": _least(_by_name),
    "reference: nearest to it": _least(_to_reference),
    "reference: farthest from it": _to_reference,
    "reference: most like it": _like_reference,
}


Hits = tuple[float, ...]
#: How much each counts: what a relation means leans to the nearest, so that has to be pulled back harder.
_PULLS: Final = tuple(6.0 if name.startswith("reference") else 1.0 for name in PREDICTORS)


def hits(seen: Seen) -> Hits:
    """How far each of `PREDICTORS` is above chance on one question: its share of the target less 1 / candidates."""
    chance = 1 / len(seen.boxes)
    found = []
    for score in PREDICTORS.values():
        scores = score(seen)
        best = max(scores)
        found.append((1 / scores.count(best) if scores[seen.answer] == best else 0.0) - chance)
    return tuple(found)


class Balance:
    """Chooses among questions those that pull every predictor back to chance; pure in what it was asked before."""

    def __init__(self) -> None:
        self.above: Hits = (0.0,) * len(PREDICTORS)

    def cost(self, above: Hits) -> float:
        """What questions add to the weighted squared distance of all predictors from chance."""
        return sum(
            pull * (2 * held + one) * one for pull, held, one in zip(_PULLS, self.above, above, strict=True)
        )  # fmt: skip

    def choose(
        self, groups: Sequence[tuple[Hits, ...]], rng: Random, *, worth: Sequence[float] = (), most: float = math.inf
    ) -> int | None:
        """Position of the group of questions that costs least for each, counted from now on; None where all cost too much.

        `worth`: what each group may cost more than another one, for each of its questions; `most`: over that is too much.
        """
        above = [tuple(map(sum, zip(*group, strict=True))) for group in groups]
        costs = [
            (self.cost(above[n]) / len(group) - (worth[n] if worth else 0.0), rng.random(), n)
            for n, group in enumerate(groups)
        ]
        cost, _, place = min(costs, default=(math.inf, 0.0, 0))
        if not costs or cost > most:
            return None
        self.above = tuple(held + one for held, one in zip(self.above, above[place], strict=True))
        return place


class Table:
    """How far each trivial predictor is above chance over many questions; chance is 1 / candidates of each."""

    def __init__(self) -> None:
        self.n = 0
        self._sums = dict.fromkeys(PREDICTORS, 0.0)
        self._squares = dict.fromkeys(PREDICTORS, 0.0)

    def add(self, seen: Seen) -> None:
        """Count one question."""
        self.n += 1
        for name, above in zip(PREDICTORS, hits(seen), strict=True):
            self._sums[name] += above
            self._squares[name] += above**2

    def rows(self) -> list[dict[str, Any]]:
        """Predictor, share above chance and its 95 % interval, by the normal approximation; (-1, 1) for fewer than two."""
        return [self._row(name) for name in PREDICTORS]

    def _row(self, name: str) -> dict[str, Any]:
        mean = self._sums[name] / self.n if self.n else 0.0
        half = 1.0
        if self.n > 1:
            variance = max(0.0, self._squares[name] - self.n * mean**2) / (self.n - 1)
            half = intervals.z() * (variance / self.n) ** 0.5
        return {"predictor": name, "n": self.n, "above_chance": mean, "low": mean - half, "high": mean + half}


def table(found: Iterable[Seen]) -> list[dict[str, Any]]:
    """The rows of the `Table` of some questions."""
    counted = Table()
    for one in found:
        counted.add(one)
    return counted.rows()
