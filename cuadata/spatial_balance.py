"""Keeps the trivial from paying: questions are chosen so that no attribute alone says which candidate is the target."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Annotated, Any, Final, NamedTuple

from cuadata import intervals, relations
from cuadata.types import BBox, Size


class Seen(NamedTuple):
    """A question as a trivial predictor sees it: boxes and names, never the relation."""

    boxes: Annotated[tuple[BBox, ...], "of the candidates, in document order"]
    names: Annotated[tuple[str, ...], "of the candidates"]
    references: Annotated[tuple[BBox, ...], "boxes of the references"]
    reference_names: Annotated[tuple[str, ...], "names of the references"]
    viewport: Size
    answer: Annotated[int, "position of the target"]


#: What the members of a pair may cost more than single questions, each.
PAIRS_WORTH: Final = 2.0
Score = Callable[[Seen, int], float]


def _to_reference(seen: Seen, place: int) -> float:
    return min((relations.gap(seen.boxes[place], one) for one in seen.references), default=0.0)


def _from_middle(seen: Seen, place: int) -> float:
    middle = seen.boxes[place].center
    return abs(middle.x - seen.viewport.width / 2) + abs(middle.y - seen.viewport.height / 2)


def _like_reference(seen: Seen, place: int) -> float:
    """Words, a shape's colour among them, that candidate and reference share."""
    own = set(seen.names[place].split())
    return float(sum(len(own & set(name.split())) for name in seen.reference_names))


#: Predictor -> the candidate with the highest score is guessed; equal ones share the guess.
PREDICTORS: Final[dict[str, Score]] = {
    "order: first": lambda seen, place: -place,
    "order: last": lambda seen, place: place,
    "position: topmost": lambda seen, place: -seen.boxes[place].y,
    "position: lowest": lambda seen, place: seen.boxes[place].bottom,
    "position: leftmost": lambda seen, place: -seen.boxes[place].x,
    "position: rightmost": lambda seen, place: seen.boxes[place].right,
    "position: most central": lambda seen, place: -_from_middle(seen, place),
    "size: largest": lambda seen, place: seen.boxes[place].area,
    "size: smallest": lambda seen, place: -seen.boxes[place].area,
    "colour: first by name": lambda seen, place: -sorted(seen.names).index(seen.names[place]),
    "reference: nearest to it": lambda seen, place: -_to_reference(seen, place),
    "reference: farthest from it": _to_reference,
    "reference: most like it": _like_reference,
}


def hits(seen: Seen) -> dict[str, float]:
    """Predictor -> how far it is above chance on one question: its share of the target less 1 / candidates."""
    chance, places = 1 / len(seen.boxes), range(len(seen.boxes))
    found = {}
    for name, score in PREDICTORS.items():
        scores = [score(seen, place) for place in places]
        best = max(scores)
        guessed = [place for place in places if scores[place] == best]
        found[name] = (1 / len(guessed) if seen.answer in guessed else 0.0) - chance
    return found


class Balance:
    """Chooses among questions those that pull every predictor back to chance; pure in what it was asked before."""

    def __init__(self) -> None:
        self.above: dict[str, float] = defaultdict(float)

    def cost(self, above: dict[str, float]) -> float:
        """What a question adds to the squared distance of all predictors from chance."""
        return sum((self.above[name] + one) ** 2 - self.above[name] ** 2 for name, one in above.items())

    def choose(self, groups: Sequence[tuple[Seen, ...]], rng: Random, *, most: float = math.inf) -> int | None:
        """Position of the group of questions that costs least for each, counted from now on; None where all cost over `most`."""
        if not groups:
            return None
        above = [added(group) for group in groups]
        costs = [
            (self.cost(above[n]) / len(group) - (PAIRS_WORTH if len(group) > 1 else 0), rng.random(), n)
            for n, group in enumerate(groups)
        ]
        cost, _, place = min(costs)
        if cost > most:
            return None
        for name, one in above[place].items():
            self.above[name] += one
        return place


def added(group: Iterable[Seen]) -> dict[str, float]:
    """What several questions add together."""
    total: dict[str, float] = defaultdict(float)
    for seen in group:
        for name, one in hits(seen).items():
            total[name] += one
    return total


def table(found: Iterable[Seen]) -> list[dict[str, Any]]:
    """Predictor, points above chance and their 95 % interval, over all questions; chance is 1 / candidates of each."""
    held = [hits(one) for one in found]
    rows: list[dict[str, Any]] = []
    for name in PREDICTORS:
        values = [one[name] for one in held]
        low, high = _interval(values)
        mean = sum(values) / len(values) if values else 0.0
        rows.append({"predictor": name, "n": len(values), "above_chance": mean, "low": low, "high": high})
    return rows


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean, by the normal approximation; (-1, 1) for fewer than two."""
    n = len(values)
    if n < 2:
        return -1.0, 1.0
    mean = sum(values) / n
    half = intervals.z() * (sum((one - mean) ** 2 for one in values) / (n - 1) / n) ** 0.5
    return mean - half, mean + half
