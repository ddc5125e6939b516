"""One block of rows: pages rendered after the plan, questions chosen in balance, minimal pairs and perturbations made."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import msgspec

from cuadata import examples, image, spatial_pairs, spatial_plan, spatial_rows, spatial_truth
from cuadata.gating import Chosen
from cuadata.registry import families
from cuadata.rows import Grounding, Pair, Rejected
from cuadata.spatial_balance import Balance, Seen
from cuadata.spatial_look import Looker
from cuadata.spatial_rows import Page, Pairing
from cuadata.spatial_truth import Question, Scene
from cuadata.types import Image, Size, Task

#: Axes of each family that the plan covers in pairs.
AXES: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "shapes": {
        "layout": ("grid", "row", "column", "scatter", "ring"),
        "theme": ("light", "dark", "paper", "faint"),
        "count": (5, 8, 12, 16),
        "size": (18, 30, 48, 72),
        "forms": (2, 3, 4),
    },
    "widgets": {
        "layout": ("toolbar", "form", "table", "cards", "list", "tree", "calendar", "menu", "keypad", "settings"),
        "theme": ("paper", "slate", "sand", "mint", "mono", "lilac"),
        "language": ("en", "de", "fr", "ru", "ar"),
        "density": ("tight", "usual", "airy"),
    },
}
VIEWPORTS: Final = (Size(1280, 720), Size(1024, 768), Size(1440, 900))
#: Rows of one block, and questions by place that are chosen on one page.
BLOCK: Final = 100
_PLACES: Final = 5
#: Renderings of one page in which a target is missing, at most.
_WITHOUT: Final = 3
#: Questions by name, look or use on one page.
_NAMED: Final = 2
#: So many are asked whatever they cost the balance.
_FEWEST: Final = 3
#: Pages after which a block gives up on its rows.
MOST_PAGES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one block is asked for."""

    number: int
    rows: int
    seed: int
    infeasible: Annotated[float, "share of rows whose right answer is infeasible"]
    pairs: Annotated[float, "perturbed pairs for one row of `grounding`"]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What a block made; pictures lie in the folder of blobs."""

    grounding: tuple[Grounding, ...]
    pairs: tuple[Pair, ...]
    rejected: tuple[Rejected, ...]
    counts: Annotated[dict[str, int], "pages, renders, rows short of what was asked, tries that came to nothing"]
    browser: str


@cache
def plan(seed: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Family and axes of page after page, over and over: both families' covering plans, interleaved."""
    rows = [(name, row) for name, axes in AXES.items() for row in spatial_plan.covering(axes, seed)]
    Random(f"spatial/plan/{seed}").shuffle(rows)
    return tuple(rows)


def path(folder: str | Path, number: int) -> Path:
    """Where a finished block lies."""
    return Path(folder) / f"{number:06d}.json"


def read(folder: str | Path, number: int) -> Block:
    """A finished block."""
    return msgspec.json.decode(path(folder, number).read_bytes(), type=Block)


_lookers: dict[int, dict[tuple[Size, float], Looker]] = {}


def lookers() -> dict[tuple[Size, float], Looker]:
    """The pages of this process, one a viewport and ratio; they end with the process."""
    return _lookers.setdefault(os.getpid(), {})


def close() -> None:
    """Give back the pages of this process."""
    for looker in lookers().values():
        looker.close()
    lookers().clear()


def make(job: Job) -> int:
    """Make a block and put it into the folder, whole or not at all; its number. DataError where a page is not rendered."""
    made = _Maker(job).run()
    whole = path(job.folder, job.number)
    half = whole.with_suffix(f".{os.getpid()}.half")
    half.write_bytes(msgspec.json.encode(made))
    os.replace(half, whole)
    return job.number


@dataclass(slots=True)
class _Maker:
    """A block under way."""

    job: Job
    rows: list[Grounding] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    places: dict[int, int] = field(default_factory=dict)
    balance: Balance = field(default_factory=Balance)
    browser: str = ""
    gates: tuple[Chosen, ...] = field(default_factory=spatial_rows.chosen_gates)

    def run(self) -> Block:
        """Pages until there are enough rows, or too many pages."""
        while len(self.rows) < self.job.rows and self.counts["pages"] < MOST_PAGES:
            self._page(self.job.number * MOST_PAGES + self.counts["pages"])
            self.counts["pages"] += 1
        self.counts["short"] = self.job.rows - len(self.rows)
        return Block(
            grounding=tuple(self._stored(self.rows)), pairs=tuple(self._stored(self.pairs)),
            rejected=tuple(self.rejected), counts=dict(sorted(self.counts.items())), browser=self.browser,
        )  # fmt: skip

    def _page(self, number: int) -> None:
        planned = plan(self.job.seed)
        family, axes = planned[number % len(planned)]
        rng = Random(f"spatial/{self.job.seed}/{number}")
        seed = self.job.seed * 1_000_000 + number
        options = {**axes, "viewport": VIEWPORTS[self.job.number % len(VIEWPORTS)]}
        page = self._show(family, seed, options)
        found = spatial_truth.questions(page.scene, rng)
        self.places.clear()
        before = len(self.rows)
        for _ in range(_NAMED):
            self._add(spatial_rows.named(page, rng), page)
        used = self._places(page, found, rng)
        if not used:
            self.counts["pages without a question by place"] += 1
        self._variants(page, used, options, rng)
        wanted = int(self.job.pairs * len(self.rows) + 1e-9) - len(self.pairs)
        for row in self.rows[before:][: max(0, wanted)]:
            self._perturb(page, row, used, options, rng)

    def _show(
        self, family: str, seed: int, options: dict[str, Any], variant: str = "", viewport: Size | None = None,
        ratio: float = 1.0,
    ) -> Page:  # fmt: skip
        make: Any = families[family]
        task: Task = make(seed, **options)
        shape = (viewport or task.viewport, ratio)
        looker = lookers().setdefault(shape, Looker())
        look = looker.look(task, viewport=viewport, ratio=ratio)
        self.browser = looker.browser
        self.counts["renders"] += 1
        told = json.dumps({k: [v.width, v.height] if isinstance(v, Size) else v for k, v in options.items()})
        return Page(
            task=task, look=look, scene=Scene(look), browser=looker.browser, options=told, variant=variant
        )  # fmt: skip

    # --- questions --------------------------------------------------------------------------------------------------

    def _places(self, page: Page, found: list[Question], rng: Random) -> list[Question]:
        """Choose questions by place, in groups: pairs of opposites, pairs of neighbours, single ones."""
        used: list[Question] = []
        while len(used) < _PLACES and self._room() > 0:
            groups = [one for one in _groups(page.scene, found, used) if len(one[0]) <= self._room()]
            most = math.inf if len(used) < _FEWEST else 0.0
            seen = [tuple(_seen(page, q) for q in group) for group, _ in groups]
            place = self.balance.choose(seen, rng, most=most)
            if place is None:
                break
            group, kind = groups[place]
            pairing = Pairing(f"{page.task.id}/{kind}/{len(used)}", kind) if kind else None
            for question in group:
                used.append(question)
                if self._add(spatial_rows.asked(page, question, rng, pairing), page):
                    self.places[id(question)] = len(self.rows) - 1
        return used

    def _room(self) -> int:
        return self.job.rows - len(self.rows)

    def _add(self, row: Grounding | None, page: Page) -> bool:
        """Take a row where the gates have nothing against it."""
        if row is None or self._room() <= 0:
            return False
        tried = len(self.rows) + len(self.rejected)
        row = replace(row, id=f"{row.trajectory_id}/{page.variant or 'page'}/{self.job.number}-{tried}")
        against = spatial_rows.judged(row, page, self.gates)
        if against is not None:
            self.rejected.append(against)
            return False
        self.rows.append(row)
        return True

    # --- other renderings -------------------------------------------------------------------------------------------

    def _variants(self, page: Page, used: Sequence[Question], options: dict[str, Any], rng: Random) -> None:
        """Minimal pairs that need another rendering: the target gone, or the reference elsewhere."""
        asked = [q for q in used if id(q) in self.places and _number(q.target) is not None]
        for _ in range(_WITHOUT):
            lacking = self.job.infeasible * len(self.rows) - sum(r.action.type == "infeasible" for r in self.rows)
            if asked and lacking > 0:
                self._without(page, asked, options, rng)
        if asked and rng.random() < 0.25:
            self._moved(page, rng.choice(asked), options, rng)

    def _without(self, page: Page, asked: Sequence[Question], options: dict[str, Any], rng: Random) -> None:
        """The target removed or covered; every question that asked for it is asked again, and has no answer now."""
        standing = [q for q in asked if not q.kind.startswith("nth_")]
        if not standing:
            return
        target = rng.choice(standing).target
        kind = rng.choice(("removed", "covered"))
        number = _number(target)
        changed = self._show(
            page.task.family, page.task.seed, {**options, "without" if kind == "removed" else "cover": (number,)}, kind
        )
        for question in (q for q in standing if q.target is target):
            references = changed.scene.again(question)
            if references is None or not spatial_truth.unanswered(changed.scene, question, references, kind):
                self.counts["pairs that came to nothing"] += 1
                continue
            pairing = self._pairing(question, kind)
            if self._add(spatial_rows.impossible(changed, question, references, rng, pairing), changed):
                self._join(question, pairing)

    def _moved(self, page: Page, question: Question, options: dict[str, Any], rng: Random) -> None:
        """The reference in the place of another element; the same relation has another answer there."""
        movable = [one for one in question.all_references if _number(one) is not None]
        others = [
            one for one in page.scene.targets if one not in question.all_references and one is not question.target
        ]
        if not movable or not others:
            return
        swap = (_number(rng.choice(movable)), _number(rng.choice(others)))
        changed = self._show(page.task.family, page.task.seed, {**options, "swap": swap}, "moved_reference")
        references = changed.scene.again(question)
        scene = changed.scene
        again = scene.question(question.kind, question.thing, question.stated, references) if references else None
        if again is None or again.target.locator == question.target.locator:
            self.counts["pairs that came to nothing"] += 1
            return
        pairing = self._pairing(question, "moved_reference")
        if self._add(spatial_rows.asked(changed, again, rng, pairing), changed):
            self.balance.choose([(_seen(changed, again),)], rng)
            self._join(question, pairing)

    def _pairing(self, question: Question, kind: str) -> Pairing:
        """The pair that a changed page's row and the row of the unchanged page are in; a row's own pair is extended."""
        row = self.rows[self.places[id(question)]]
        return Pairing(row.pair_id or f"{row.id}/{kind}", kind)

    def _join(self, question: Question, pairing: Pairing) -> None:
        place = self.places[id(question)]
        if self.rows[place].pair_id is None:
            self.rows[place] = replace(self.rows[place], pair_id=pairing.id, pair_kind=pairing.kind)

    def _perturb(
        self, page: Page, row: Grounding, used: Sequence[Question], options: dict[str, Any], rng: Random
    ) -> None:
        """One perturbed pair of a row: half of them rendered again, half of them by the picture alone."""
        made = self._rendered(page, row, used, options, rng) if rng.random() < 0.5 else spatial_pairs.pictures(row, rng)
        if made is None:
            self.counts["perturbations that changed the truth"] += 1
        else:
            self.pairs.append(made)

    def _rendered(
        self, page: Page, row: Grounding, used: Sequence[Question], options: dict[str, Any], rng: Random
    ) -> Pair | None:
        """The page rendered another way and measured again; None where the row is not true there."""
        if row.target is None or row.pair_kind == "moved_reference":
            return None
        kind = rng.choice(sorted(spatial_pairs.RENDERED))
        change = spatial_pairs.RENDERED[kind]
        more: dict[str, Any] = {"scale": change["scale"]} if "scale" in change else {}
        if "theme" in change:
            more["theme"] = spatial_pairs.another(options["theme"], AXES[page.task.family]["theme"], rng)
        view = spatial_pairs.resized(options["viewport"], change["viewport"]) if "viewport" in change else None
        changed = self._show(
            page.task.family, page.task.seed, {**options, **more}, kind, view, float(change.get("ratio", 1.0))
        )
        held = next((e for e in changed.scene.targets if e.locator == row.target.locator), None)
        if held is None or not _still_true(changed.scene, row, used):
            return None
        seen = changed.look.observation
        shot = seen.screenshot
        assert shot is not None
        again = replace(
            row, target=examples.target_row(held), references=_there(changed, row), image=shot,
            image_width=shot.width, image_height=shot.height, viewport_width=seen.viewport.width,
            viewport_height=seen.viewport.height, device_pixel_ratio=seen.device_pixel_ratio,
            action=replace(row.action, point=held.point),
        )  # fmt: skip
        if spatial_rows.judged(again, changed, self.gates) is not None:
            return None
        transform = {
            "kind": kind, "viewport": [seen.viewport.width, seen.viewport.height], "ratio": seen.device_pixel_ratio,
            "unit": "CSS px", **more,
        }  # fmt: skip
        return spatial_pairs.pair(row, shot, again.target, kind, transform)

    # --- pictures ---------------------------------------------------------------------------------------------------

    def _stored(self, rows: Sequence[Any]) -> Iterator[Any]:
        """Rows whose pictures lie on disk."""
        for row in rows:
            changed = {"transformed": self._put(row.transformed)} if isinstance(row, Pair) else {}
            yield replace(row, image=self._put(row.image), **changed)

    def _put(self, picture: Image) -> Image:
        file = Path(self.job.folder) / "blobs" / f"{picture.sha256}.{picture.format}"
        if picture.path is None and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            half = file.with_suffix(f".{os.getpid()}.half")
            half.write_bytes(image.read(picture))
            os.replace(half, file)
        return replace(picture, data=None, path=str(file))


def _groups(
    scene: Scene, found: Sequence[Question], used: Sequence[Question]
) -> Iterator[tuple[tuple[Question, ...], str | None]]:
    """What can be chosen next: two opposites, a question and one for a neighbour, or a single question."""
    left = [one for one in found if one not in used]
    if len(used) <= 2:
        for one in left:
            other = spatial_truth.opposite(scene, one)
            if other is not None and other not in used:
                yield (one, other), "opposite"
            near = spatial_truth.neighbour(scene, one, left)
            if near is not None and near != one:
                yield (one, near), "hard_neighbour"
    yield from (((one,), None) for one in left)


def _seen(page: Page, question: Question) -> Seen:
    def called(one: Any) -> str:
        return str(one.name or one.text)

    return Seen(
        boxes=tuple(map(spatial_truth.box, question.candidates)),
        names=tuple(map(called, question.candidates)),
        references=tuple(map(spatial_truth.box, question.all_references)),
        reference_names=tuple(map(called, question.all_references)),
        viewport=page.look.observation.viewport,
        answer=question.answer,
    )


def _number(element: Any) -> int | None:
    """The number of a generated element, as its family counts them; None for what cannot be moved."""
    digits = element.locator.css.removeprefix("#e")
    return int(digits) if digits.isdigit() else None


def _still_true(scene: Scene, row: Grounding, used: Sequence[Question]) -> bool:
    """Whether the question of a row has the same answer on a page that was rendered another way."""
    assert row.target is not None
    if row.relation is None:
        return True
    for question in used:
        same = [t.locator for t in row.references] == [e.locator for e in question.all_references]
        if same and question.target.locator == row.target.locator and question.stated[0].relation == row.relation:
            references = scene.again(question)
            again = references and scene.question(question.kind, question.thing, question.stated, references)
            return bool(again) and again.target.locator == row.target.locator  # type: ignore[union-attr]
    return False


def _there(page: Page, row: Grounding) -> tuple[Any, ...]:
    """The references of a row as they stand on another rendering."""
    held = {e.locator: e for e in page.scene.references}
    return tuple(examples.target_row(held[t.locator]) for t in row.references if t.locator in held)
