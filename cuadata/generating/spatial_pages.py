"""One block of rows: pages rendered after the plan, questions chosen in balance, minimal pairs and perturbations made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from cuadata.generating import spatial_again, spatial_blocks, spatial_pairs, spatial_render, spatial_rows, spatial_truth
from cuadata.generating.spatial_balance import Balance
from cuadata.generating.spatial_blocks import MOST_PAGES, Block, Job
from cuadata.generating.spatial_choosing import PLACES, Chooser
from cuadata.generating.spatial_render import Page
from cuadata.generating.spatial_rows import Pairing
from cuadata.generating.spatial_scene import Question
from cuadata.rows import Grounding, Pair

#: Questions by name, look or use on one page: 2, or 3 where one element can be spoken of in each of these ways.
_NAMED: Final = 2
#: Renderings of one page in which a target is missing, at most; share of pages whose reference is moved.
_WITHOUT: Final = 3
_MOVED: Final = 0.25
#: Changes of place that are looked at for one of them.
_SWAPS: Final = 12
#: Rows that come of one page, at most: by name, by place, each of these without its answer, one with its reference moved.
_ROWS_A_PAGE: Final = _NAMED + 1 + 2 * PLACES + 1


def make(job: Job) -> int:
    """Make a block and put it into the folder, whole or not at all; its number. DataError where a page is not rendered."""
    before = spatial_blocks.read(job.folder, job.number - 1).balance if job.goes_on else None
    chooser = Chooser(most=job.rows, elements=job.elements, balance=Balance(before))
    spatial_blocks.write(job.folder, job.number, _Maker(job, chooser).run())
    return job.number


@dataclass(slots=True)
class _Maker:
    """A block under way."""

    job: Job
    chooser: Chooser
    pairs: list[Pair] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    browser: str = ""
    coming: Callable[[], Page] | None = None  #: the next page, where it is sure to be wanted and was begun with

    @property
    def rows(self) -> list[Grounding]:
        """The rows so far."""
        return self.chooser.rows

    @property
    def asked(self) -> dict[int, Question]:
        """Place among the rows -> question by place, of the present page."""
        return self.chooser.asked

    def run(self) -> Block:
        """Pages until there are enough rows, or too many pages."""
        renders = spatial_render.count()
        while len(self.rows) < self.job.rows and self.counts["pages"] < MOST_PAGES:
            self._page(self._next())
            self.counts["pages"] += 1
        self.counts["short"] = self.job.rows - len(self.rows)
        self.counts["renders"] = spatial_render.count() - renders
        return Block(
            grounding=tuple(self.rows), pairs=tuple(self.pairs), rejected=tuple(self.chooser.rejected),
            counts=dict(sorted(self.counts.items())), browser=self.browser, balance=self.chooser.balance.state(),
        )  # fmt: skip

    def _next(self) -> Page:
        """The next page; the browser begins with the one after it where that will be wanted, whatever comes of this one."""
        place = self.counts["pages"]
        page = (self.coming or self._begin(place))()
        more = self.job.rows - len(self.rows) > _ROWS_A_PAGE and place + 1 < MOST_PAGES
        self.coming = self._begin(place + 1) if more else None
        return page

    def _begin(self, place: int) -> Callable[[], Page]:
        family, seed, axes = self.job.page(place)
        return spatial_render.begin(family, seed, {**axes, "viewport": self.job.viewport})

    def _page(self, page: Page) -> None:
        self.browser = page.browser
        rng = Random(f"spatial/questions/{page.task.family}/{page.task.seed}")
        before = len(self.rows)
        self.chooser.choose(page, rng, named=_NAMED)
        if not self.asked:
            self.counts["pages without a question by place"] += 1
        self._missing(page, rng)
        if self.asked and rng.random() < _MOVED:
            self._moved(page, rng)
        wanted = int(self.job.pairs * len(self.rows) + 1e-9) - len(self.pairs)
        for place in rng.sample(range(before, len(self.rows)), min(max(0, wanted), len(self.rows) - before)):
            self._perturb(page, place, rng)

    # --- other renderings -------------------------------------------------------------------------------------------

    def _missing(self, page: Page, rng: Random) -> None:
        """Minimal pairs in which the target is gone, until enough rows have no answer."""
        standing: list[Question] | None = None
        for _ in range(_WITHOUT):
            if self.job.infeasible * len(self.rows) <= sum(r.action.type == "infeasible" for r in self.rows):
                break
            if standing is None:
                held = (q for q in self.asked.values() if _number(q.target) is not None)
                standing = [q for q in held if spatial_truth.lost(page.scene, q)]
            if standing:
                self._without(page, rng.choice(standing).target, rng)

    def _without(self, page: Page, target: Any, rng: Random) -> None:
        """The target removed or covered; every question that asked for it is asked again, and has no answer now."""
        kind = rng.choice(("removed", "covered"))
        gone = (_number(target),)
        changed = spatial_render.again(page, kind, {"without" if kind == "removed" else "cover": gone})
        for place, question in list(self.asked.items()):
            if question.target is not target or not spatial_truth.lost(page.scene, question):
                continue
            references = changed.scene.again(question)
            if references is None or not spatial_truth.unanswered(changed.scene, question, references, kind):
                self.counts["pairs that came to nothing"] += 1
                continue
            pairing = self._pairing(place, kind)
            stage = self.rows[place].stage
            row = spatial_rows.impossible(changed, question, references, rng, pairing, stage=stage)
            if self.chooser.add(row, changed):
                self._join(place, pairing)

    def _moved(self, page: Page, rng: Random) -> None:
        """A reference in the place of another element; the same relation has another answer there.

        What stands where a reference was is mostly near it: the balance chooses by where boxes will stand, if all goes well.
        """
        swaps = [
            (place, question, one, other)
            for place, question in self.asked.items()
            for one in question.all_references
            if _number(one) is not None
            for other in page.scene.targets
            if other.id not in {question.target.id, *(each.id for each in question.all_references)}
        ]
        found = []
        for place, question, one, other in rng.sample(swaps, min(len(swaps), _SWAPS)):
            moved = spatial_truth.swapped(page.scene, question, one, other)
            if moved is not None:
                found.append((place, question, (_number(one), _number(other)), moved))
        chosen = self.chooser.cheapest(page, [moved for *_, moved in found], rng)
        if chosen is None:
            return
        place, question, swap, _ = found[chosen]
        changed = spatial_render.again(page, "moved_reference", {"swap": swap})
        references, scene = changed.scene.again(question), changed.scene
        again = scene.question(question.kind, question.thing, question.stated, references) if references else None
        if again is None or again.target.locator == question.target.locator:
            self.counts["pairs that came to nothing"] += 1
            return
        pairing = self._pairing(place, "moved_reference")
        if self.chooser.add(spatial_rows.asked(changed, again, rng, pairing), changed):
            self.chooser.count(changed, again)
            self._join(place, pairing)

    def _pairing(self, place: int, kind: str) -> Pairing:
        """The pair that a changed page's row and the row of the unchanged page are in; a row's own pair is extended."""
        row = self.rows[place]
        return Pairing(row.pair_id or f"{row.id}/{kind}", kind)

    def _join(self, place: int, pairing: Pairing) -> None:
        if self.rows[place].pair_id is None:
            self.rows[place] = replace(self.rows[place], pair_id=pairing.id, pair_kind=pairing.kind)

    def _perturb(self, page: Page, place: int, rng: Random) -> None:
        """One perturbed pair of a row of the unchanged page: rendered again more often than by the picture alone."""
        row = self.rows[place]
        if row.target is None or "/page/" not in row.id:
            return
        if rng.random() < 0.6:
            made = spatial_again.rendered(page, row, self.asked.get(place), rng, self.chooser.gates)
        else:
            made = spatial_pairs.pictures(row, rng)
        if made is None:
            self.counts["perturbations that changed the truth"] += 1
        else:
            self.pairs.append(made)


def _number(element: Any) -> int | None:
    """The number of a generated element, as its family counts them; None for what cannot be moved."""
    digits = element.locator.css.removeprefix("#e")
    return int(digits) if digits.isdigit() else None
