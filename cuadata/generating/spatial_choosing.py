"""Which questions of a page become rows: chosen in groups, in balance, by what is rare so far, and judged by the gates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, NamedTuple

from cuadata.generating import spatial_rows, spatial_truth
from cuadata.generating.spatial_balance import Balance, Seen, hits
from cuadata.generating.spatial_render import Page
from cuadata.generating.spatial_rows import Pairing
from cuadata.generating.spatial_scene import Question, Scene, box
from cuadata.judging.gating import Chosen
from cuadata.rows import Grounding, Rejected

#: Questions by place that are chosen on one page, at most, and so many of them whatever they cost the balance.
PLACES: Final = 6
FEWEST: Final = 2
#: What a further one may cost.
_MOST: Final = 1.0
#: What a question may cost the balance more than another: for being in a pair, and for a kind that is rare so far.
_PAIR_WORTH: Final = 3.0
_RARE_WORTH: Final = 5.0


class Group(NamedTuple):
    """Questions that are chosen together: one, or a minimal pair of a kind."""

    questions: tuple[Question, ...]
    kind: str | None = None


@dataclass(slots=True, kw_only=True)
class Chooser:
    """Rows under way, of one page after the other, up to `most`."""

    most: int
    gates: tuple[Chosen, ...] = field(default_factory=spatial_rows.chosen_gates)
    elements: bool = False  #: rows keep the page's elements, and actions the id of theirs
    places: int = PLACES
    fewest: int = FEWEST
    rows: list[Grounding] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    asked: dict[int, Question] = field(default_factory=dict)  #: place among the rows -> question, of the present page
    balance: Balance = field(default_factory=Balance)

    def choose(self, page: Page, rng: Random, *, named: int) -> None:
        """Rows of a new page: those by place, then `named` by name, look or use, or more where one element has all three."""
        self.asked.clear()
        self._by_place(page, rng)
        self._by_name(page, rng, named)

    def _by_name(self, page: Page, rng: Random, most: int) -> None:
        """Rows by name, look or use, all of them of one element before another: of what has a use, then of what was asked by place."""
        placed = {one.target.id for one in self.asked.values()}
        ways = {one.id: spatial_rows.ways(page, one, rng) for one in page.scene.targets}
        mixed = rng.sample(page.scene.targets, len(page.scene.targets))
        mixed.sort(key=lambda one: ("function" not in ways[one.id], one.id not in placed))
        rows = 0
        for target in mixed[:most]:
            if rows < most:
                rows += sum([self.add(spatial_rows.named(page, target, way, rng), page) for way in ways[target.id]])

    def _by_place(self, page: Page, rng: Random) -> None:
        """Choose questions by place, in groups: pairs of opposites, pairs of neighbours, single ones."""
        groups = list(_groups(page.scene, spatial_truth.questions(page.scene, rng)))
        every = list({id(q): q for group in groups for q in group.questions}.values())
        place_of = {id(q): place for place, q in enumerate(every)}
        above, parts = hits([seen(page, q) for q in every]), [parts_of(page, q) for q in every]
        open_groups = [(tuple(place_of[id(q)] for q in one.questions), one) for one in groups]
        used: set[int] = set()
        while len(used) < self.places and self._room() > 0:
            most = min(self._room(), 2 if len(used) <= 2 else 1)
            open_groups = [held for held in open_groups if len(held[0]) <= most and used.isdisjoint(held[0])]
            place = self.balance.choose(
                [places for places, _ in open_groups], above, parts, rng,
                worth=[self._worth(one) for _, one in open_groups], most=math.inf if len(used) < self.fewest else _MOST,
            )  # fmt: skip
            if place is None:
                break
            places, chosen = open_groups[place]
            pairing = Pairing(f"{page.task.id}/{chosen.kind}/{len(used)}", chosen.kind) if chosen.kind else None
            used.update(places)
            for question in chosen.questions:
                self.kinds[question.kind] += 1
                if self.add(spatial_rows.asked(page, question, rng, pairing), page):
                    self.asked[len(self.rows) - 1] = question

    def cheapest(self, page: Page, found: Sequence[Question], rng: Random) -> int | None:
        """Position of the question that the balance would ask next; None for none. It is not counted."""
        if not found:
            return None
        costs = self.balance.costs(
            [(n,) for n in range(len(found))], hits([seen(page, q) for q in found]), [parts_of(page, q) for q in found]
        )  # fmt: skip
        return min(range(len(found)), key=lambda n: (costs[n], rng.random()))

    def count(self, page: Page, question: Question) -> None:
        """Count a question that was asked without a choice."""
        self.balance.count(hits([seen(page, question)])[0], parts_of(page, question))

    def _worth(self, group: Group) -> float:
        usual = self.kinds.total() / len(spatial_truth.KINDS)
        held = sum(self.kinds[q.kind] for q in group.questions) / len(group.questions)
        rare = math.log2((usual + 1) / (held + 1))
        return _RARE_WORTH * max(-1.0, rare) + (_PAIR_WORTH if group.kind else 0.0)

    def _room(self) -> int:
        return self.most - len(self.rows)

    def add(self, row: Grounding, page: Page) -> bool:
        """Take a row where the gates have nothing against it."""
        if self._room() <= 0:
            return False
        tried = len(self.rows) + len(self.rejected)
        row = replace(row, id=f"{row.trajectory_id}/{page.variant or 'page'}/{tried}")
        if self.elements:
            row = spatial_rows.with_elements(row, page)
        against = spatial_rows.judged(row, page, self.gates)
        if against is not None:
            self.rejected.append(against)
            return False
        self.rows.append(row)
        return True


def _groups(scene: Scene, found: Sequence[Question]) -> Iterator[Group]:
    """What can be chosen: a question with its opposite, with one for a neighbour, or by itself."""
    for one in found:
        yield Group((one,))
        other = spatial_truth.opposite(scene, one)
        if other is not None:
            yield Group((one, other), "opposite")
        near = spatial_truth.neighbour(scene, one, found)
        if near is not None and near is not one:
            yield Group((one, near), "hard_neighbour")


def parts_of(page: Page, question: Question) -> tuple[str, ...]:
    """The parts of the data that a question counts for: all of it, its family, its stage."""
    return "all", page.task.family, f"stage {spatial_rows.stage(page, question)}"


def seen(page: Page, question: Question) -> Seen:
    """A question as trivial predictors see it."""

    def called(one: Any) -> str:
        return str(one.name or one.text)

    return Seen(
        boxes=tuple(map(box, question.candidates)),
        names=tuple(map(called, question.candidates)),
        references=tuple(map(box, question.all_references)),
        reference_names=tuple(map(called, question.all_references)),
        viewport=page.look.observation.viewport,
        answer=question.answer,
    )
