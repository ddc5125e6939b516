"""Generated pages: pure in their seed, balanced, measured on the rendered page, and the same bytes each time."""

from __future__ import annotations

import itertools
import json
import re
import sys
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from cuadata import relation_rules, relations
from cuadata.errors import CallError, DataError
from cuadata.generating import (
    spatial,
    spatial_balance,
    spatial_blocks,
    spatial_plain,
    spatial_plan,
    spatial_search,
    spatial_sides,
    spatial_truth,
)
from cuadata.generating.spatial_look import Look
from cuadata.generating.spatial_scene import Question, Scene, box
from cuadata.generators import _labels, _scene
from cuadata.registry import families
from cuadata.types import BBox, Element, Locator, Observation, Point, Relation, Size, Task
from cuadata.wording import phrases
from cuadata.wording.phrases import Stated

FAMILIES = ("shapes", "widgets")


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
    axes = spatial_blocks.AXES[family]
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


PARTS = [("all",)]


def asked(seeds: range, balance: spatial_balance.Balance) -> list[spatial_balance.Seen]:
    """Three questions of each of some boards, as a balance chooses them."""
    seen = list[spatial_balance.Seen]()
    for seed in seeds:
        shown = [seen_of(question) for question in spatial_truth.questions(Scene(board(seed)), Random(seed))]
        above, left = spatial_balance.hits(shown), list(range(len(shown)))
        for _ in range(3):
            place = balance.choose([(n,) for n in left], above, PARTS * len(shown), Random(seed))
            if place is not None:
                seen.append(shown[left.pop(place)])
    return seen


def test_nothing_trivial_predicts_the_target() -> None:
    for one in spatial_balance.table(asked(range(140), spatial_balance.Balance())):
        assert one["n"] > 400 and abs(one["above_chance"]) < 0.02 and one["high"] < 0.05, one


def test_a_lean_that_stays_is_taken_on_and_pulled_to_nothing() -> None:
    """Blocks of few questions rest off chance, each by itself; what one leaves, the next takes up."""
    alone, together, state = list[spatial_balance.Seen](), list[spatial_balance.Seen](), None
    for first in range(0, 160, 2):
        alone += asked(range(first, first + 2), spatial_balance.Balance())
        balance = spatial_balance.Balance(json.loads(json.dumps(state)))
        together += asked(range(first, first + 2), balance)
        state = balance.state()
    lean = [
        {one["predictor"]: one["above_chance"] for one in spatial_balance.table(some)} for some in (alone, together)
    ]
    assert max(lean[0].values()) > 0.03 and max(map(abs, lean[1].values())) < 0.01, lean


def test_every_part_of_the_data_is_balanced_by_itself() -> None:
    """What one part has too much of cannot be made up for in another one."""
    near, far = (
        n * np.ones((1, len(spatial_balance.PREDICTORS)), dtype=np.int64) * spatial_balance.UNIT for n in (1, -1)
    )
    balance = spatial_balance.Balance()
    for part, above in (("stage 2", near), ("stage 3", far)):
        balance.count(above[0], ("all", part))
    both = np.concatenate([near, far])
    for part, place in (("stage 2", 1), ("stage 3", 0)):
        again = spatial_balance.Balance(balance.state())
        assert again.choose([(0,), (1,)], both, [("all", part)] * 2, Random(0)) == place


@pytest.mark.parametrize(
    ("kinds", "predictor"),
    [
        (("nearest",), "reference: nearest to it"),
        (("nearest",), "reference: nearest by its middle"),
        (("left_of", "right_of"), "reference: most in its row"),
        (("above", "below"), "reference: most in its column"),
        (("left_of", "right_of", "above", "below"), "reference: most in line with it"),
        (("between",), "reference: nearest to all of them"),
    ],
)
def test_without_balance_the_reference_gives_the_target_away(kinds: tuple[str, ...], predictor: str) -> None:
    """The measure can fail: by one distance or another the target of each relation is the nearest."""
    found = [q for s in range(60) for q in spatial_truth.questions(Scene(board(s)), Random(s)) if q.kind in kinds]
    table = {one["predictor"]: one for one in spatial_balance.table([seen_of(q) for q in found])}
    assert len(found) > 20 and table[predictor]["low"] > 0.1, table[predictor]


@pytest.mark.parametrize("seed", range(3))
def test_directions_that_are_looked_through_at_once_are_all_that_can_be_asked(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SINGLE", "COMPOSED"):
        monkeypatch.setattr(spatial_search, name, 10**6)
    monkeypatch.setattr(spatial_search, "_NEAREST", 0.0)
    scene, wanted = Scene(board(seed)), set[Any]()
    ways: list[tuple[Relation, Element]] = [
        (name, one) for name in spatial_truth.DIRECTIONS for one in scene.references
    ]
    for thing in scene.things:
        for name, one in ways:
            stated = [Stated(relation=name, nearest=nearest) for nearest in (False, True)]
            single = (scene.question(name, thing, [some], [(one,)]) for some in stated)
            wanted |= {key(one) for one in itertools.islice(filter(None, single), 1)}
        for (down, one), (across, other) in itertools.product(ways, repeat=2):
            if down in spatial_search.DOWN and across in spatial_search.ACROSS and one is not other:
                stated = [Stated(relation=down), Stated(relation=across)]
                both = scene.question("composed", thing, stated, [(one,), (other,)])
                wanted |= {key(both)} if both is not None else set()
    found = {key(one) for one in spatial_search.directions(scene, Random(seed))}
    assert found == wanted and any(len(one[1]) > 1 for one in found)


def key(question: Question) -> Any:
    """A question whatever the order of its relations."""
    told = zip(question.stated, question.references, strict=True)
    return question.thing, frozenset((one.relation, one.nearest, held[0].id) for one, held in told), question.target.id


def test_shapes_anywhere_often_stand_in_line() -> None:
    """One that alone is in line with a reference gives itself away."""
    spots, lined = sys.modules[families["shapes"].__module__].spots, []
    for seed in range(20):
        made = spots(Random(seed), "scatter", 12, 40.0, Size(1280, 720))
        middles = [(one.x + one.size / 2, one.y + one.size / 2) for one in made]
        lined += [
            any(min(abs(x - a), abs(y - b)) < 1e-6 for a, b in middles if (a, b) != (x, y)) for x, y in middles
        ]  # fmt: skip
    assert 0.5 < sum(lined) / len(lined) < 0.95


def seen_of(question: Question) -> spatial_balance.Seen:
    return spatial_balance.Seen(
        boxes=tuple(map(box, question.candidates)),
        names=tuple(one.name for one in question.candidates),
        references=tuple(map(box, question.all_references)),
        reference_names=tuple(one.name for one in question.all_references),
        viewport=Size(640, 600),
        answer=question.answer,
    )


# Where two circles lie on a page of 640 x 600, by their top left corners, beside a red square of 40 px at (300, 300).
@pytest.mark.parametrize(
    ("stated", "circles", "asked"),
    [
        ("above the red square", [(305, 200), (400, 440)], True),
        ("above the red square", [(318, 200), (400, 440)], False),  # half beside it
        ("above the red square", [(305, 200), (360, 100)], True),
        ("above the red square", [(305, 100), (360, 200)], False),  # another is up there too, and nearer
        ("above the red square", [(305, 100), (450, 200)], True),  # ... but not where it is rather aside than up
        ("below the red square", [(305, 400), (320, 320)], False),  # what lies under it is below it, too
        ("left of the red square", [(200, 305), (320, 320)], True),  # ... but beside it is something else
        ("in the same row as the red square", [(100, 304), (450, 400)], True),
        ("in the same row as the red square", [(100, 304), (450, 330)], False),  # nearly in that row as well
        ("in the same row as the red square", [(100, 317), (450, 400)], False),
        ("on the left edge of the page", [(10, 100), (200, 400)], True),
        ("on the left edge of the page", [(10, 100), (90, 400)], False),  # not on the edge, and yet near it
        ("on the left edge of the page", [(60, 100), (200, 400)], False),
        ("nearest to the red square", [(360, 300), (480, 300)], True),
        ("nearest to the red square", [(400, 300), (190, 300)], False),
    ],
)
def test_nobody_is_asked_what_holds_by_a_hair(stated: str, circles: list[tuple[int, int]], asked: bool) -> None:
    places = {"red square": (300, 300), "blue circle": circles[0], "green circle": circles[1], "pink star": (560, 560)}
    elements = tuple(
        Element(
            id=n, role="button", name=name, tag="button", bbox=BBox(x, y, 40, 40), seen=1.0, hit=1.0,
            point=Point(x + 20, y + 20), interactive=True, locator=Locator(css=f"#e{n}"),
        )
        for n, (name, (x, y)) in enumerate(places.items())
    )  # fmt: skip
    page = Observation(screenshot=None, viewport=Size(640, 600), elements=elements)
    scene = Scene(Look(page, {one.id: one.name for one in elements}, {}))
    said = phrases.read(f"Click the circle {stated}").stated[0]
    references = [elements[:1] if said.relation != "at_edge" else ()]
    holding, _, _ = scene.answer("circle", [said], references)
    assert holding.fits == (0,)  # by the rule alone it is the blue one each time
    question = scene.question(said.relation, "circle", [said], references)
    assert (question is not None) == asked


@pytest.mark.parametrize(("icon", "asked"), [(100, False), (250, True), (20, True)])
def test_nobody_counts_what_is_half_in_a_column(icon: int, asked: bool) -> None:
    """A small button at the end of a wide heading: in its column, or not?"""
    places = {"Overview": (40, 20, 80), "Send": (50, 100, 60), "Close": (icon, 160, 12), "Open": (50, 220, 60)}
    elements = tuple(
        Element(
            id=n, role="button" if n else "heading", name=name, tag="button", bbox=BBox(x, y, width, 20), seen=1.0,
            hit=1.0, point=Point(x + 5, y + 5), interactive=n > 0, locator=Locator(css=f"#e{n}"),
        )
        for n, (name, (x, y, width)) in enumerate(places.items())
    )  # fmt: skip
    scene = Scene(Look(Observation(screenshot=None, viewport=Size(640, 600), elements=elements), {}, {}))
    second = phrases.read("Click the second button in the column of 'Overview'").stated[0]
    assert (scene.question("nth_in_column", "button", [second], [elements[:1]]) is not None) == asked


@pytest.mark.parametrize("asked", [{"n": 0}, {"infeasible": 0.9}, {"pairs": -1}, {"workers": 0}, {"seed": -1}])
def test_bad_calls_are_refused(asked: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CallError):
        spatial.generate(asked.pop("n", 10), tmp_path / "out", **asked)
    assert not any(tmp_path.iterdir())


def test_directions_worked_out_at_once_are_those_of_the_rules() -> None:
    """To the last digit, and what lies between follows from them."""
    rng = Random(0)
    grid = [BBox(40.0 * rng.randrange(12), 30.0 * rng.randrange(9), 20.0 * rng.randint(0, 5), 30.0) for _ in range(60)]
    free = [BBox(*(round(rng.uniform(-50, 900), 3) for _ in range(4))) for _ in range(40)]
    boxes = [*grid, *free, BBox(float("nan"), 0, 5, 5), BBox(0, 0, float("inf"), 5)]
    ways, apart = spatial_sides.between(boxes)
    for name in spatial_truth.DIRECTIONS:
        rule = relation_rules.PAIRS[name]
        for target, *rows in zip(boxes, *(one.tolist() for one in ways[name]), strict=True):
            for reference, margin, in_line, ahead in zip(boxes, *rows, strict=True):
                real = relations.solid(target) and relations.solid(reference)
                assert repr(margin) == repr(rule(target, reference) if real else float("-inf"))
                assert not real or in_line == relations.in_line(name, target, [reference])
                assert ahead == (real and spatial_plain.ahead(name, target, reference))
    for target, gaps in zip(boxes, apart.gaps.tolist(), strict=True):
        for reference, gap in zip(boxes, gaps, strict=True):
            if relations.solid(target) and relations.solid(reference):
                assert gap**0.5 == pytest.approx(relations.gap(target, reference), abs=1e-6)
    assert spatial_sides.between([])[0]["above"].margins.tolist() == []


@pytest.mark.parametrize("seed", range(4))
def test_a_scene_says_of_relations_what_their_rules_say(seed: int) -> None:
    scene = Scene(board(seed))
    held = scene.references
    for target, one in permutations(held, 2):
        for name, rule in relation_rules.PAIRS.items():
            assert scene.holds(name, target, one) == (rule(box(target), box(one)) >= 0)  # type: ignore[arg-type]
        for other in held:
            if other not in (target, one):
                right = relation_rules.between(box(target), box(one), box(other)) >= 0
                assert scene.between(target, one, other) == right


@pytest.mark.parametrize("language", _labels.LANGUAGES)
def test_nothing_is_asked_for_by_a_use_that_another_control_has_too(language: str) -> None:
    """Beside a button to cancel, 'close this' means either, and so does 'call off what was begun'."""
    english = dict(zip(_labels.LANGUAGES[language][1], _labels.LANGUAGES["en"][1], strict=True))
    uses = {one.name: one.does for one in _labels.ICONS} | {name: does for name, (does, _) in _labels.USES.items()}
    assert len(set(uses.values())) == len(uses), "one use, one control"
    said, kept_back = set[str](), set[str]()
    for seed in range(300):
        html = (
            made("widgets", seed, layout=("toolbar", "cards", "menu", "table")[seed % 4], language=language).html or ""
        )
        controls = re.findall(r'<(button|a|div role="menuitem")([^>]*)>([^<]*)<', html)
        told = {one: re.search(r'data-does="([^"]*)"', one[1]) for one in controls}
        names = {one: _name(one[1], one[2], english) for one in controls}
        shown = {*names.values(), *(english[one] for one in re.findall(r"-label\">([^<]*)<", html))}
        for one, does in told.items():
            own = names[one]
            if does is None:
                kept_back |= {own} & uses.keys()
                assert own not in uses or shown & _labels.LIKEWISE[own], f"{own} has a use of its own beside {shown}"
            else:
                said.add(own)
                assert does[1] == uses[own] and not shown & _labels.LIKEWISE[own], f"{own} beside {shown}"
    assert said == uses.keys() and {"Close", "Cancel", "Save", "Download"} <= kept_back


def _name(attributes: str, text: str, english: dict[str, str]) -> str:
    """What a control is called in English, an icon by its label."""
    label = re.search(r'aria-label="([^"]*)"', attributes)
    return label[1] if label else english[text]


def test_what_is_for_the_same_is_so_whichever_says_it() -> None:
    assert all(name in _labels.LIKEWISE.get(other, {name}) for name, held in _labels.LIKEWISE.items() for other in held)
    words = {*_labels.LANGUAGES["en"][1], *(one.name for one in _labels.ICONS)}
    assert words >= {*_labels.USES, *itertools.chain(*_labels.LIKEWISE.values())}


def test_an_editors_folder_beside_a_family_is_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as `.ipynb_checkpoints`: what the blocks of a run hang on is the text of files."""
    family = tmp_path / "shapes.py"
    family.write_text("one", encoding="utf-8")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    monkeypatch.setattr("inspect.getfile", lambda _: str(family))
    before = spatial._code_hash()
    family.write_text("another", encoding="utf-8")
    assert spatial._code_hash() != before


def test_a_font_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_scene, "HERE", tmp_path)
    with pytest.raises(DataError, match=r"dejavu\.woff2: this font comes with the package and is not there"):
        _scene.fonts.__wrapped__()


@pytest.mark.parametrize("layout", ["form", "table", "list", "tree", "settings", "keypad", "calendar", "cards"])
def test_a_use_is_given_to_what_does_as_it_is_called(layout: str) -> None:
    """A field called 'Print' prints nothing."""
    html = "".join(made("widgets", seed, layout=layout).html or "" for seed in range(20))
    tags = re.findall(r"<(\w+)[^>]*data-does=", html)
    assert set(tags) <= {"button", "a"} and bool(tags) == (layout not in ("tree", "settings"))
    assert 'data-does=""' not in html


@pytest.mark.parametrize("count", [5, 12, 16])
def test_the_rim_has_corners_of_its_own_for_its_shapes(count: int) -> None:
    """Two of a form at one corner could not be told apart by it."""
    spots, view = sys.modules[families["shapes"].__module__].spots, Size(1280, 720)
    for seed in range(20):
        held = spots(Random(seed), "rim", count, 30, view)
        corners = [
            (spot.x < view.width / 2, spot.y < view.height / 2)
            for spot in held
            if min(spot.x, view.width - spot.x - spot.size) <= 0.1 * view.width
            and min(spot.y, view.height - spot.y - spot.size) <= 0.1 * view.height
        ]
        assert len(corners) == len(set(corners)) == -(-max(2, count // 3) // 2)
