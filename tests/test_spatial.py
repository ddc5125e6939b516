"""Generated pages: pure in their seed, balanced, measured on the rendered page, and the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cuadata import dataset, image, spatial, spatial_balance, spatial_pages, spatial_plan, spatial_truth
from cuadata.errors import CallError, DataError
from cuadata.registry import families
from cuadata.rows import Grounding, Pair
from cuadata.spatial_look import Look, Looker
from cuadata.spatial_truth import Scene
from cuadata.types import BBox, Element, Locator, Observation, Point, Size, Task

FAMILIES = ("shapes", "widgets")
N = 60


def made(family: str, seed: int, **options: Any) -> Task:
    make: Any = families[family]
    task: Task = make(seed, **options)
    return task


@pytest.mark.parametrize("family", FAMILIES)
def test_a_page_is_a_pure_function_of_its_seed(family: str) -> None:
    assert made(family, 7) == made(family, 7)
    assert made(family, 7).html != made(family, 8).html
    assert "<script" not in (made(family, 7).html or "")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("change", [{"swap": (0, 1)}, {"without": (1,)}, {"cover": (1,)}, {"scale": 1.25}])
def test_a_variant_differs_from_its_page(family: str, change: dict[str, Any]) -> None:
    layout = {"layout": "row"} if family == "shapes" else {"layout": "toolbar"}
    plain, changed = made(family, 3, **layout), made(family, 3, **layout, **change)
    assert plain.html != changed.html and plain.axes == changed.axes


@pytest.mark.parametrize("options", [{"layout": "spiral"}, {"theme": "loud"}, {"swap": (0, 99)}, {"scale": 0.0}])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_family_does_not_know_is_refused(family: str, options: dict[str, Any]) -> None:
    if family == "shapes" and "scale" in options:
        options = {"count": 7}
    with pytest.raises(CallError):
        made(family, 0, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_plan_covers_every_pair_of_values(family: str) -> None:
    axes = spatial_pages.AXES[family]
    rows = spatial_plan.covering(axes, seed=3)
    seen = {((a, r[a]), (b, r[b])) for r in rows for a, b in combinations(axes, 2)}
    wanted = sum(len(axes[a]) * len(axes[b]) for a, b in combinations(axes, 2))
    assert len(seen) == wanted
    assert len(rows) < 1.6 * max(len(axes[a]) * len(axes[b]) for a, b in combinations(axes, 2))
    assert spatial_plan.coverage(axes, [{k: str(v) for k, v in r.items()} for r in rows])["missing"] == []
    assert spatial_plan.coverage(axes, [])["covered"] == 0


def board(seed: int) -> Look:
    """A made-up page of coloured shapes on a grid with holes, as if it had been measured."""
    rng = Random(seed)
    colours = ("red", "blue", "green", "orange", "purple", "pink", "brown", "teal")
    looks = rng.sample([f"{c} {f}" for c in colours for f in ("circle", "square")], rng.choice((8, 12, 16)))
    cells = rng.sample([(x, y) for x in range(5) for y in range(5)], len(looks))
    elements = tuple(
        Element(
            id=n, role="button", name=name, tag="button", bbox=BBox(100 + 90 * x, 60 + 90 * y, s, s), seen=1.0, hit=1.0,
            point=Point(100 + 90 * x + s / 2, 60 + 90 * y + s / 2), interactive=True, locator=Locator(css=f"#e{n}"),
        )
        for n, (name, (x, y)) in enumerate(zip(looks, cells, strict=True))
        for s in [rng.choice((40.0, 52.0, 60.0))]
    )  # fmt: skip
    page = Observation(screenshot=None, viewport=Size(640, 600), elements=elements)
    return Look(page, {one.id: one.name for one in elements}, {})


def test_nothing_trivial_predicts_the_target() -> None:
    balance, seen = spatial_balance.Balance(), list[spatial_balance.Seen]()
    seed = 0
    while len(seen) < 400:  # the interval is 4 points wide then
        found = spatial_truth.questions(Scene(board(seed)), Random(seed), tries=40)
        shown = [(seen_of(question),) for question in found]
        for _ in range(3):
            place = balance.choose(shown, Random(seed), most=1.0)
            if place is not None:
                seen.append(shown.pop(place)[0])
        seed += 1
    for one in spatial_balance.table(seen):
        assert one["above_chance"] < 0.02 and one["high"] < 0.07, one


def test_without_balance_the_reference_gives_the_target_away() -> None:
    """The measure can fail: nearest questions alone are predicted by the reference."""
    found = [q for s in range(60) for q in spatial_truth.questions(Scene(board(s)), Random(s)) if q.kind == "nearest"]
    table = {one["predictor"]: one for one in spatial_balance.table([seen_of(q) for q in found])}
    assert len(found) > 20 and table["reference: nearest to it"]["low"] > 0.3


def seen_of(question: spatial_truth.Question) -> spatial_balance.Seen:
    return spatial_balance.Seen(
        boxes=tuple(map(spatial_truth.box, question.candidates)),
        names=tuple(one.name for one in question.candidates),
        references=tuple(map(spatial_truth.box, question.all_references)),
        reference_names=tuple(one.name for one in question.all_references),
        viewport=Size(640, 600),
        answer=question.answer,
    )


@pytest.mark.parametrize("asked", [{"n": 0}, {"infeasible": 0.9}, {"pairs": -1}, {"workers": 0}, {"seed": -1}])
def test_bad_calls_are_refused(asked: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CallError):
        spatial.generate(asked.pop("n", 10), tmp_path / "out", **asked)
    assert not any(tmp_path.iterdir())


# Rendered --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("spatial") / "one"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spatial, "BLOCK", 30)
        spatial.generate(N, out, seed=5, workers=1, infeasible=0.2)
    return out


def rows(folder: Path, config: str, kind: type) -> list[Any]:
    return [row for split in dataset.configs(folder)[config] for row in dataset.read(folder, config, split, kind)]


def hashes(folder: Path) -> dict[str, str]:
    files = (one for one in sorted(folder.rglob("*")) if one.is_file())
    return {str(one.relative_to(folder)): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


@pytest.mark.browser
def test_the_bytes_depend_on_nothing_but_the_seed(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spatial, "BLOCK", 30)
    spatial.generate(N, tmp_path / "two", seed=5, workers=2, infeasible=0.2)
    assert hashes(tmp_path / "two") == hashes(built)
    assert [one.name for one in tmp_path.iterdir()] == ["two"]


@pytest.mark.browser
def test_every_row_holds_by_an_independent_route(built: Path) -> None:
    """Playwright's locators and roles, Chromium's hit test and plain comparisons of edges; nothing of the generator's."""
    from playwright.sync_api import sync_playwright

    from cuadata import browser

    held = rows(built, "grounding", Grounding)
    assert len(held) == N
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=str(browser.find().path))
        context = started.new_context(viewport={"width": 1280, "height": 720})
        page, shown = context.new_page(), ""
        for row in sorted(held, key=lambda one: one.image.sha256):
            if shown != row.image.sha256:
                page.set_viewport_size({"width": row.viewport_width, "height": row.viewport_height})
                page.set_content(again(row).html or "")
                page.evaluate("() => Promise.all([...document.fonts].map((f) => f.load()))")
                shown = row.image.sha256
                assert (image.rgb(page.screenshot(animations="allow")) == image.rgb(image.read(row.image))).all()
            check(page, row)
        started.close()


def again(row: Grounding) -> Task:
    told = json.loads(row.provenance)
    family, seed = told["task"].split("/")
    options = {**told["options"], "viewport": Size(*told["options"]["viewport"])}
    return made(family, int(seed), **options)


def check(page: Any, row: Grounding) -> None:
    for one in (row.target, *row.references):
        if one is None or one.locator is None or one.bbox is None:
            continue
        box = page.locator(one.locator.css).bounding_box()
        assert box and abs(box["x"] - one.bbox.x) < 0.5 and abs(box["width"] - one.bbox.width) < 0.5
        assert abs(box["y"] - one.bbox.y) < 0.5 and abs(box["height"] - one.bbox.height) < 0.5
    if row.target is None:
        assert row.action.type == "infeasible" and row.action.text and row.pair_kind in ("removed", "covered")
        return
    point = row.action.point
    assert point is not None and row.target.bbox is not None
    on = page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('[id]').id", [point.x, point.y])
    assert row.target.locator and f"#{on}" == row.target.locator.css
    role: Any = row.target.role
    assert page.get_by_role(role, name=row.target.name, exact=True).count() == 1, row.target
    if row.relation in ("above", "below", "left_of", "right_of") and len(row.references) == 1:
        reference = row.references[0].bbox
        assert reference is not None
        assert {
            "above": row.target.bbox.bottom <= reference.y + 0.5,
            "below": row.target.bbox.y >= reference.bottom - 0.5,
            "left_of": row.target.bbox.right <= reference.x + 0.5,
            "right_of": row.target.bbox.x >= reference.right - 0.5,
        }[row.relation], row.instruction


@pytest.mark.browser
def test_minimal_pairs_differ_in_what_they_say(built: Path) -> None:
    pairs: dict[str, list[Grounding]] = defaultdict(list)
    for row in rows(built, "grounding", Grounding):
        assert (row.pair_id is None) == (row.pair_kind is None)
        if row.pair_id is not None:
            pairs[row.pair_id].append(row)
    kinds = Counter(row.pair_kind for held in pairs.values() for row in held)
    assert kinds["opposite"] and kinds["removed"] + kinds["covered"]
    turned = {"above": "below", "below": "above", "left_of": "right_of", "right_of": "left_of"}
    for held in pairs.values():
        both = [row for row in held if row.pair_kind == "opposite"]
        if len(both) == 2:
            one, others = both[0], both[1:]
            assert one.image.sha256 == others[0].image.sha256 and turned[one.relation or ""] == others[0].relation
            assert one.references == others[0].references and one.target != others[0].target


@pytest.mark.browser
def test_rows_say_all_that_they_know(built: Path) -> None:
    held = rows(built, "grounding", Grounding)
    told = json.loads((built / "cuadata.json").read_text())["generator"]
    assert sum(row.action.type == "infeasible" for row in held) / N == pytest.approx(0.2, abs=0.09)
    for row in held:
        assert row.thought and row.candidates and len(row.failures) == len(row.candidates)
        if row.target is not None:
            assert row.failures.count("") == 1
            assert row.candidates[row.failures.index("")].locator == row.target.locator
    assert told["rows"]["grounding"] == N and told["browsers"] and told["notes"] == []
    assert {"direct", "spatial"} <= set(told["axes"]["perspective"])
    card = (built / "README.md").read_text()
    assert "Trivial predictors" in card and (built / "examples.png").exists()


@pytest.mark.browser
def test_perturbed_pairs_carry_their_truth(built: Path) -> None:
    held = rows(built, "pairs", Pair)
    assert held
    for row in held:
        change = json.loads(row.transform)
        assert row.transformed.sha256 != row.image.sha256 and row.target and row.target.bbox and row.transformed_target
        if "affine" in change:
            a, _, c, _, e, f = change["affine"]
            box, moved = row.target.bbox, row.transformed_target.bbox
            assert moved is not None
            assert moved.x == pytest.approx(box.x * a + c, abs=0.01) and moved.y == pytest.approx(
                box.y * e + f, abs=0.01
            )
            assert 0 <= moved.x and moved.right <= row.transformed.width + 1


@pytest.mark.browser
def test_a_browser_that_dies_is_started_again() -> None:
    with Looker() as looker:
        first = looker.look(made("shapes", 1))
        page: Any = looker._page
        from cuadata import engine

        engine.engine()[0].run(page.context.browser.close(), 10)
        again = looker.look(made("shapes", 1))
    assert first.observation.elements == again.observation.elements
    assert first.observation.screenshot == again.observation.screenshot


@pytest.mark.browser
def test_a_name_that_the_accessibility_tree_does_not_know_is_an_error() -> None:
    html = '<!doctype html><html lang="en" dir="ltr"><head></head><body><i id="n">Save</i>'
    html += '<button id="e0" aria-labelledby="n">Go</button></body></html>'
    with Looker() as looker, pytest.raises(DataError, match="accessibility tree"):
        looker.look(Task(id="x/0", family="x", seed=0, instruction="Click", html=html))
