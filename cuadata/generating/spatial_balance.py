"""Keeps the trivial from paying: questions are chosen so that no attribute alone says which candidate is the target."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from random import Random
from typing import Annotated, Any, Final, NamedTuple

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


#: Each guesses the candidate with its highest score; equal ones share the guess.
PREDICTORS: Final = (
    "order: first", "order: last",
    "position: topmost", "position: lowest", "position: leftmost", "position: rightmost",
    "position: most central", "position: least central", "position: farthest from the others",
    "size: largest", "size: smallest",
    "colour: first by name", "colour: last by name",
    "reference: nearest to it", "reference: farthest from it", "reference: nearest by its middle",
    "reference: nearest to all of them", "reference: most in its row", "reference: most in its column",
    "reference: most in line with it",
    "reference: most like it",
)  # fmt: skip
#: Hits are counted in these parts of one: whole numbers add up to the same on every machine, in whatever order.
UNIT: Final = 1 << 16


def hits(seen: Sequence[Seen]) -> Any:
    """Array (question, predictor): how far each is above chance, its share of the target less 1 / candidates, in UNITs."""
    import numpy as np

    if not seen:
        return np.zeros((0, len(PREDICTORS)), dtype=np.int64)
    boxes, held = _padded([one.boxes for one in seen])
    scores = np.stack(_scores(seen, boxes))
    scores = np.where(held, scores, -np.inf)
    best = scores == scores.max(axis=2, keepdims=True)
    right = best[:, np.arange(len(seen)), [one.answer for one in seen]]
    return np.rint(UNIT * (right / best.sum(axis=2) - 1 / held.sum(axis=1)).T).astype(np.int64)


def _padded(rows: Sequence[Sequence[BBox]]) -> tuple[Any, Any]:
    """Boxes of questions, the fewer filled up with empty ones: array (side, question, box), and which of them there are."""
    import numpy as np

    most = max(1, *map(len, rows))
    empty = (0.0, 0.0, 0.0, 0.0)
    sides = [[(b.x, b.y, b.width, b.height) for b in row] + [empty] * (most - len(row)) for row in rows]
    there = np.arange(most)[None, :] < np.array([len(row) for row in rows])[:, None]
    return np.moveaxis(np.array(sides, dtype=np.float64), 2, 0), there


def _scores(seen: Sequence[Seen], boxes: Any) -> list[Any]:
    """Arrays (question, candidate), one of each of `PREDICTORS`.

    Middles are doubled and distances squared: sums and products of what layout gives, 64ths of a px, are exact, so that what
    is as far is found as far.
    """
    import numpy as np

    x, y, width, height = boxes
    across, down, area = 2 * x + width, 2 * y + height, width * height
    order = np.broadcast_to(np.arange(x.shape[1], dtype=np.float64), x.shape)
    view = np.array([(one.viewport.width, one.viewport.height) for one in seen], dtype=np.float64)
    outer = np.abs(across - view[:, :1]) + np.abs(down - view[:, 1:])
    count = np.array([[len(one.boxes)] for one in seen])
    inside = order < count
    apart = sum((count * at - (at * inside).sum(axis=1, keepdims=True)) ** 2 for at in (across, down))
    named = _filled([_ranks(one.names) for one in seen], x.shape)
    like = _filled([_shared(one.names, one.reference_names) for one in seen], x.shape)
    return [
        -order, order, -y, y + height, -x, x + width, -outer, outer, apart, area, -area, -named, named,
        *_from_references(seen, boxes), like,
    ]  # fmt: skip


def _from_references(seen: Sequence[Seen], boxes: Any) -> list[Any]:
    """Scores by where the references are: all alike where there are none."""
    import numpy as np

    held, there = _padded([one.references for one in seen])
    (x, y, width, height), (left, top, wide, tall) = boxes[..., None], held[:, :, None, :]
    beside = np.maximum(np.maximum(x - left - wide, left - x - width), 0.0)
    under = np.maximum(np.maximum(y - top - tall, top - y - height), 0.0)
    across, down = np.abs(2 * x + width - 2 * left - wide), np.abs(2 * y + height - 2 * top - tall)
    gaps, none = beside * beside + under * under, ~there.any(axis=1)[:, None]

    def least(distances: Any) -> Any:
        return np.where(none, 0.0, np.where(there[:, None, :], distances, np.inf).min(axis=2))

    to_all = np.where(there[:, None, :], np.sqrt(gaps), 0.0).sum(axis=2)
    nearest = least(gaps)
    in_line = np.minimum(across, down)
    return [
        -nearest, nearest, -least(across * across + down * down), -to_all, -least(down), -least(across), -least(in_line),
    ]  # fmt: skip


def _filled(rows: Sequence[Sequence[int]], shape: tuple[int, int]) -> Any:
    import numpy as np

    return np.array([[*row, *[0] * (shape[1] - len(row))] for row in rows], dtype=np.float64)


def _ranks(names: Sequence[str]) -> list[int]:
    ordered = sorted(names)
    return [ordered.index(name) for name in names]


def _shared(names: Sequence[str], references: Sequence[str]) -> list[int]:
    """Words, a shape's colour among them, that each candidate has in common with the references."""
    theirs = list(map(_words, references))
    return [sum(len(own & words) for words in theirs) for own in map(_words, names)]


@functools.lru_cache(maxsize=4096)
def _words(name: str) -> frozenset[str]:
    return frozenset(name.split())


#: Part of the data -> `Balance.above` and `Balance.stood`, a number for each predictor, and `[Balance.asked]`.
State = dict[str, list[list[int]]]
#: A lean that stays counts as much as one of now after so many questions.
_PATIENCE: Final = 64
#: ... and no more than one of so many questions, where nothing that a page has would pull it back.
_HARDEST: Final = 32
#: A part that has few of the questions pulls harder, up to so many times: to it each of them is more.
_SMALL: Final = 2


class Balance:
    """Chooses among questions those that pull every predictor back to chance; pure in what it was asked before.

    Each question counts for several parts of the data, all of it and its stage say, and every part is held by itself:
    who trains on one alone has no other to make up for it. What relations mean leans to the nearest whatever is asked, and
    what only pulls back comes to rest where it pulls as hard as that leans, off chance. So the lean is summed up over all
    questions too, and pulls the harder the longer it stood: a controller with a proportional and an integral part.
    """

    def __init__(self, state: State | None = None) -> None:
        """`state`: what `state` gave of a balance that this one goes on from."""
        import numpy as np

        held = state or {}
        #: Part -> how far each predictor is above chance on the questions in it, in UNITs of one question.
        self.above: dict[str, Any] = {part: np.array(rows[0], dtype=np.int64) for part, rows in held.items()}
        #: The same, summed up over every question that was counted.
        self.stood: dict[str, Any] = {part: np.array(rows[1], dtype=np.int64) for part, rows in held.items()}
        #: Part -> questions that were counted.
        self.asked = {part: rows[2][0] for part, rows in held.items()}

    def state(self) -> State:
        """All that it knows, in plain numbers."""
        return {
            part: [self.above[part].tolist(), self.stood[part].tolist(), [self.asked[part]]]
            for part in sorted(self.above)
        }

    def choose(
        self,
        groups: Sequence[tuple[int, ...]],
        above: Any,
        parts: Sequence[tuple[str, ...]],
        rng: Random,
        *,
        worth: Sequence[float] = (),
        most: float = math.inf,
    ) -> int | None:
        """Position of the group of questions that costs least for each, counted from now on; None where all cost too much.

        `groups`: places of questions in `above`, the array that `hits` gives, and in `parts`, those that each counts for.
        A cost is what is added to the squared distances from chance. `worth`: what each group may cost more than another
        one, for each of its questions; `most`: over that is too much.
        """
        costs = self.costs(groups, above, parts)
        ordered = [(cost - (worth[n] if worth else 0.0), rng.random(), n) for n, cost in enumerate(costs)]
        cost, _, place = min(ordered, default=(math.inf, 0.0, 0))
        if not ordered or cost > most:
            return None
        for one in groups[place]:
            self.count(above[one], parts[one])
        return place

    def costs(self, groups: Sequence[tuple[int, ...]], above: Any, parts: Sequence[tuple[str, ...]]) -> list[float]:
        """What each group would cost, for each of its questions; see `choose`."""
        import numpy as np

        if not groups:
            return []
        leans = self._leans(above, parts)
        sizes = np.array([len(group) for group in groups])
        places, starts = np.fromiter(itertools.chain(*groups), dtype=np.int64), np.cumsum(sizes) - sizes
        own = np.add.reduceat(above[places], starts, axis=0)
        squares = (own * own).sum(axis=1) * np.array([len(parts[group[0]]) for group in groups])
        pulled = np.add.reduceat(leans[places], starts)
        return ((squares + 2 * pulled / _PATIENCE) / UNIT**2 / sizes).tolist()  # type: ignore[no-any-return]

    def count(self, above: Any, parts: Iterable[str]) -> None:
        """Count one question that was asked: its row of `hits`, and its parts."""
        import numpy as np

        most = _PATIENCE * _HARDEST * UNIT
        for part in parts:
            self.asked[part] = self.asked.get(part, 0) + 1
            self.above[part] = self.above.get(part, 0) + above
            self.stood[part] = np.clip(self.stood.get(part, 0) + self.above[part], -most, most)

    def _leans(self, above: Any, parts: Sequence[tuple[str, ...]]) -> Any:
        """Array of how far each question leans to where its parts lean, in UNITs^2 / _PATIENCE."""
        import numpy as np

        pulls = {some: np.zeros(len(PREDICTORS), dtype=np.int64) for some in set(parts)}
        all_asked = max(self.asked.values(), default=0)
        for some, pull in pulls.items():
            for part in some:
                if part in self.above:
                    times = min(_SMALL, all_asked // self.asked[part])
                    pull += times * (_PATIENCE * self.above[part] + self.stood[part])
        return (above * np.array([pulls[some] for some in parts])).sum(axis=1)


#: Questions that a table works out at once.
_AT_ONCE: Final = 64


class Table:
    """How far each trivial predictor is above chance over many questions; chance is 1 / candidates of each."""

    def __init__(self) -> None:
        self.n = 0
        self._sums, self._squares = [0.0] * len(PREDICTORS), [0.0] * len(PREDICTORS)
        self._waiting: list[Seen] = []

    def add(self, seen: Seen) -> None:
        """Count one question."""
        self._waiting.append(seen)
        if len(self._waiting) == _AT_ONCE:
            self._count()

    def _count(self) -> None:
        found = hits(self._waiting) / UNIT
        self.n += len(self._waiting)
        self._waiting.clear()
        for place, one in enumerate(found.T.tolist()):
            self._sums[place] += sum(one)
            self._squares[place] += sum(above * above for above in one)

    def rows(self) -> list[dict[str, Any]]:
        """Predictor, share above chance and its 95 % interval, by the normal approximation; (-1, 1) for fewer than two."""
        self._count()
        return [self._row(place, name) for place, name in enumerate(PREDICTORS)]

    def _row(self, place: int, name: str) -> dict[str, Any]:
        mean = self._sums[place] / self.n if self.n else 0.0
        half = 1.0
        if self.n > 1:
            variance = max(0.0, self._squares[place] - self.n * mean**2) / (self.n - 1)
            half = intervals.z() * (variance / self.n) ** 0.5
        return {"predictor": name, "n": self.n, "above_chance": mean, "low": mean - half, "high": mean + half}


def table(found: Iterable[Seen]) -> list[dict[str, Any]]:
    """The rows of the `Table` of some questions."""
    counted = Table()
    for one in found:
        counted.add(one)
    return counted.rows()
