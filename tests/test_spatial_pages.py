"""Generated pages in a real browser: rows that hold by another route, the same bytes after any trouble, failures that say so."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import signal
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import independent
import pytest

from cuadata import dataset, image
from cuadata.errors import DataError
from cuadata.generating import spatial, spatial_blocks, spatial_card, spatial_pages, spatial_render, spatial_truth
from cuadata.generating.spatial_blocks import Job
from cuadata.generating.spatial_choosing import Chooser, Group
from cuadata.generating.spatial_look import Looker
from cuadata.registry import families
from cuadata.rows import Grounding, Pair
from cuadata.types import Locator, Size, Task
from cuadata.wording.phrases import Stated

pytestmark = pytest.mark.browser
N = 60
ASKED: Any = {"seed": 6, "infeasible": 0.2, "pairs": 0.2}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("spatial") / "one"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spatial, "BLOCK", 20)
        patch.setattr(spatial, "CHAIN", 2)
        spatial.generate(N, out, workers=1, **ASKED)
    return out


def rows(folder: Path, config: str, kind: type) -> list[Any]:
    return [row for split in dataset.configs(folder)[config] for row in dataset.read(folder, config, split, kind)]


def hashes(folder: Path) -> dict[str, str]:
    files = (one for one in sorted(folder.rglob("*")) if one.is_file())
    return {str(one.relative_to(folder)): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


def block(folder: Path, count: int, **options: Any) -> spatial_blocks.Block:
    asked: Any = {"number": 0, "seed": 3, "infeasible": 0.0, "pairs": 0.0, **options}
    try:
        spatial_pages.make(Job(rows=count, folder=str(folder), **asked))
    finally:
        spatial_render.close()
    return spatial_blocks.read(folder, 0)


def kill_a_browser() -> None:
    """End a browser of this process as a lack of memory would."""
    parents, browsers = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"remote-debugging" in words and b"--type=" not in words:
            browsers.append(int(entry.name))

    def ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and ours(parents[pid]))

    for pid in filter(ours, browsers):
        os.kill(pid, signal.SIGKILL)


def test_the_bytes_are_the_same_after_a_stop_and_a_killed_browser_and_with_more_workers(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spatial, "BLOCK", 20)
    monkeypatch.setattr(spatial, "CHAIN", 2)
    whole, done = spatial_pages.make, list[int]()

    def stops(job: Job) -> int:
        if done:
            raise KeyboardInterrupt
        done.append(job.number)
        return whole(job)

    show, shown = spatial_render.show, list[str]()

    def dies(*of: Any, **more: Any) -> Any:
        shown.append("")
        if len(shown) == 3:
            kill_a_browser()
        return show(*of, **more)

    with monkeypatch.context() as patch:
        patch.setattr(spatial_pages, "make", stops)
        patch.setattr(spatial_render, "show", dies)
        with pytest.raises(KeyboardInterrupt):
            spatial.generate(N, tmp_path / "two", workers=1, **ASKED)
    assert len(shown) > 3 and not (tmp_path / "two").exists()
    first = next(tmp_path.rglob("000000.json"))
    stamp = first.stat().st_mtime_ns
    seen: list[int] = []

    def watch(what: str, count: int, of: int) -> None:
        if what == "rendering" and first.exists():
            seen.append(first.stat().st_mtime_ns)

    spatial.generate(N, tmp_path / "two", workers=2, progress=watch, **ASKED)
    assert set(seen) == {stamp}, "a finished block was made again"
    assert hashes(tmp_path / "two") == hashes(built)
    assert [one.name for one in tmp_path.iterdir()] == ["two"]


def test_every_row_holds_by_an_independent_route(built: Path) -> None:
    from playwright.sync_api import sync_playwright

    from cuadata import browser

    held = rows(built, "grounding", Grounding)
    assert len(held) == N
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=str(browser.find().path))
        page, shown, boxes, planted = started.new_page(), list[str](), dict[str, Any](), list[Grounding]()
        for row in sorted(held, key=lambda one: one.image.sha256):
            if row.image.sha256 not in shown:
                shown.append(row.image.sha256)
                independent.show(page, row)
                boxes.clear()
                if len(shown) % 5 == 1:
                    assert (image.rgb(page.screenshot()) == image.rgb(image.read(row.image))).all()
            assert list(independent.faults(page, row, boxes)) == [], (row.id, row.instruction)
            if (other := misread(row)) is not None:
                planted.append(other)
                assert list(independent.faults(page, other, boxes)), (row.id, other.instruction)
        started.close()
    assert {(row.relation or "").partition("_")[0] for row in planted} >= {"nth"}
    assert any("relation=composed" in row.axes for row in planted)


def misread(row: Grounding) -> Grounding | None:
    """A row that counts to another place, or states the other side of two relations, with the target that it had."""
    turned = {"first": "third", "second": "first", "third": "first", "last": "first", "left": "right", "right": "left"}
    if row.target is None or not ((row.relation or "").startswith("nth_") or "relation=composed" in row.axes):
        return None
    words = "|".join(turned)
    said = re.sub(rf"\b({words})\b", lambda found: turned[found[0]], row.instruction)
    return replace(row, instruction=said) if said != row.instruction else None


def test_minimal_pairs_differ_in_what_they_say(built: Path) -> None:
    pairs: dict[str, list[Grounding]] = defaultdict(list)
    for row in rows(built, "grounding", Grounding):
        assert (row.pair_id is None) == (row.pair_kind is None)
        if row.pair_id is not None:
            pairs[row.pair_id].append(row)
    kinds = Counter(row.pair_kind for held in pairs.values() for row in held)
    assert kinds["opposite"] and kinds["removed"] + kinds["covered"]
    turned = {"above": "below", "below": "above", "left_of": "right_of", "right_of": "left_of", "inside": "contains"}
    for held in pairs.values():
        both = [row for row in held if row.pair_kind == "opposite"]
        if len(both) == 2:
            one, other = both
            assert one.image.sha256 == other.image.sha256 and one.target != other.target
            assert turned.get(one.relation or "") == other.relation or turned[other.relation or ""] == one.relation
            assert one.references == other.references


def test_rows_without_an_answer_are_of_the_stage_that_the_question_was_of(tmp_path: Path) -> None:
    """Who trains on the cluttered pages alone learns of what is not there too."""
    held = block(tmp_path, 100, infeasible=0.4).grounding
    gone = [row for row in held if row.pair_kind in ("removed", "covered") and "/page/" not in row.id]
    for row in gone:
        same = [one for one in held if one.pair_id == row.pair_id and "/page/" in one.id]
        assert row.stage in {one.stage for one in same if one.relation == row.relation}, row.id
    assert {row.stage for row in gone} == {2, 3, 4}


def test_rows_may_keep_the_page_for_models_that_are_told_of_it(tmp_path: Path) -> None:
    held = block(tmp_path, 12, elements=True, infeasible=0.3).grounding
    assert {row.action.type for row in held} == {"click", "infeasible"}
    for row in held:
        ids = {one.id: (one.name, one.bbox) for one in row.elements}
        assert len(ids) == len(row.elements) > 1
        if row.target is None:
            assert row.action.element is None
        else:
            assert row.action.element is not None
            assert ids[row.action.element] == (row.target.name, row.target.bbox)


def test_a_moved_reference_gives_another_answer_to_the_same_relation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spatial_pages, "_MOVED", 1.0)
    held = block(tmp_path, 40).grounding
    moved = [row for row in held if "/moved_reference/" in row.id]
    assert moved
    for row in moved:
        before = next(
            one for one in held if one.pair_id == row.pair_id and "/page/" in one.id and one.relation == row.relation
        )
        assert row.image.sha256 != before.image.sha256 and row.target and before.target
        assert [t.locator for t in row.references] == [t.locator for t in before.references]
        assert [t.bbox for t in row.references] != [t.bbox for t in before.references]
        assert row.target.locator != before.target.locator


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
    phrased = Counter(row.perspective for row in held)
    assert f"| function | {phrased['function']} | {100 * phrased['function'] / N:.1f} % |" in card
    above = [row.action.type for row in held if "relation=above" in row.axes]
    placed = [row for row in held if row.perspective == "spatial"]
    assert f"| above | {len(above)} | {100 * len(above) / len(placed):.1f} % |" in card
    several = told["phrasings_of_one_target"]
    assert sum(several.values()) == len({(row.image.sha256, row.target.locator) for row in held if row.target})
    assert "Trivial predictors" in card and (built / "examples.png").exists()


def test_the_cards_pictures_say_names_in_their_own_letters(built: Path) -> None:
    row = next(one for one in rows(built, "grounding", Grounding) if one.relation and one.target)

    def said(name: str) -> bytes:
        told = replace(row, instruction=f"Click the button left of '{name}'.")
        return image.rgb(spatial_card.picture_grid([told]))[-22:].tobytes()

    words = ["Поделиться", "Переместить", "حفظ", "فتح", "Löschen", "???", "??????????"]
    assert len({said(word) for word in words}) == len(words)


def test_perturbed_pairs_carry_their_truth(built: Path) -> None:
    held = rows(built, "pairs", Pair)
    assert {"affine" in json.loads(row.transform) for row in held} == {True, False}
    for row in held:
        change = json.loads(row.transform)
        assert row.transformed.sha256 != row.image.sha256 and row.target and row.target.bbox and row.transformed_target
        if "affine" in change:
            a, b, c, d, e, f = change["affine"]
            assert a > 0 and e > 0 and b == d == 0, "text is never mirrored nor turned"
            box, moved = row.target.bbox, row.transformed_target.bbox
            assert moved is not None
            assert moved.x == pytest.approx(box.x * a + c, abs=0.01)
            assert moved.y == pytest.approx(box.y * e + f, abs=0.01)
            assert 0 <= moved.x and moved.right <= row.transformed.width + 1


def test_a_plan_that_is_not_met_is_counted_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spatial_pages, "MOST_PAGES", 1)
    made = block(tmp_path, 40)
    assert 0 < len(made.grounding) < 40 and made.counts["short"] == 40 - len(made.grounding)
    told = spatial_card.Found(tmp_path, [0]).summary(40)
    assert told["notes"] == [f"{made.counts['short']} of 40 rows could not be made within 200 pages a block"]


def test_a_disk_that_is_full_leaves_no_half_block(tmp_path: Path) -> None:
    """No file may grow over 2 kB here, which no picture fits in."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        with pytest.raises(DataError, match=str(tmp_path / "out")):
            spatial.generate(5, tmp_path / "out", workers=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert not (tmp_path / "out").exists() and not list(tmp_path.rglob("0*.json"))
    assert spatial.generate(5, tmp_path / "out", workers=1)["rows"]["grounding"] == 5


def test_a_browser_that_is_killed_is_started_again() -> None:
    with Looker() as looker:
        make: Any = families["shapes"]
        first = looker.look(make(1))
        kill_a_browser()
        again = looker.look(make(1))
    assert first.observation.elements == again.observation.elements
    assert first.observation.screenshot == again.observation.screenshot


def test_a_zoomed_picture_is_the_same_whenever_it_is_taken() -> None:
    """Curves were smoothed in one of two ways, as the browser had drawn the page before it was scaled, or had not."""
    job = Job(number=0, rows=1, seed=77, infeasible=0, pairs=0, folder="")
    make: Any = families["shapes"]
    planned = [one for one in map(job.page, range(60)) if one[0] == "shapes"][::4]
    shown: dict[int, set[str]] = defaultdict(set)
    for _ in range(3):
        with Looker() as looker:
            for _, seed, axes in planned * 2:
                seen = looker.look(make(seed, **axes), viewport=Size(1024, 576), ratio=1.25).observation
                assert seen.screenshot is not None and seen.screenshot.width == 1280
                shown[seed].add(seen.screenshot.sha256)
    assert [len(held) for held in shown.values()] == [1] * len(planned)


@pytest.mark.parametrize("cuts", [1, 9])
def test_a_picture_that_is_cut_off_is_taken_again(cuts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser's answer loses its end on the way here, some times."""
    left, decoded = [cuts], base64.b64decode

    def cut(told: str) -> bytes:
        whole = decoded(told)
        left[0] -= 1
        return whole[:-20] if left[0] >= 0 else whole

    make: Any = families["shapes"]
    with Looker() as looker:
        right = looker.look(make(1))
        monkeypatch.setattr(base64, "b64decode", cut)
        if cuts == 1:
            assert looker.look(make(1)).observation.screenshot == right.observation.screenshot
        else:
            with pytest.raises(DataError, match="no whole PNG"):
                looker.look(make(1))


@pytest.mark.parametrize(
    ("head", "body", "words"),
    [
        ("", '<i id="n">Save</i><button id="e0" aria-labelledby="n">Go</button>', "accessibility tree"),
        ("", '<form id="f"><input name="getAttribute"></form>', "x/0.*not rendered.*not a function"),
        (
            "<style data-font>@font-face {font-family: Gone; src: url(data:font/woff2;base64,AAAA)}</style>",
            "",
            "Gone normal",
        ),
    ],
    ids=["another name", "a page that throws", "a font that is missing"],
)
def test_a_page_that_cannot_be_measured_is_an_error_that_says_why(head: str, body: str, words: str) -> None:
    html = f'<!doctype html><html lang="en" dir="ltr"><head>{head}</head><body>{body}</body></html>'
    with Looker() as looker, pytest.raises(DataError, match=words):
        looker.look(Task(id="x/0", family="x", seed=0, instruction="Click", html=html))


@pytest.mark.parametrize("layout", ["list", "form", "table", "settings", "tree", "cards", "toolbar"])
def test_covering_a_control_leaves_the_rest_of_the_page_where_it_was(layout: str) -> None:
    """A minimal pair: nothing but the place of the target differs."""
    plain = spatial_render.show("widgets", 11, {"layout": layout, "density": "airy"})
    for number in range(4):
        covered = spatial_render.again(plain, "covered", {"cover": (number,)})
        before, after = (
            {
                one.locator: one.bbox
                for one in page.look.observation.elements
                if one.locator != Locator(css=f"#e{number}")
            }
            for page in (plain, covered)
        )
        assert before == after


def test_nobody_is_asked_twice_for_one_element_by_its_name() -> None:
    page = spatial_render.show("shapes", 3, {"count": 5})
    for seed in range(20):
        chooser = Chooser(most=100)
        chooser.choose(page, Random(seed), named=4)
        named = [row.target.locator for row in chooser.rows if row.perspective != "spatial" and row.target is not None]
        assert len(named) == len(set(named)) == 4


def test_what_is_asked_for_by_its_place_is_asked_for_by_its_name_or_use_as_well() -> None:
    ways, both = Counter[str](), 0
    for seed in range(12):
        page = spatial_render.show("widgets", seed, {"layout": ("menu", "table", "toolbar", "cards")[seed % 4]})
        chooser = Chooser(most=100)
        chooser.choose(page, Random(seed), named=2)
        placed = {row.target.locator for row in chooser.rows if row.perspective == "spatial" and row.target is not None}
        named = [row for row in chooser.rows if row.perspective != "spatial"]
        ways.update(row.perspective for row in named)
        both += sum(row.target is not None and row.target.locator in placed for row in named)
    assert ways.total() >= 24 and 6 <= ways["function"] <= 18 and ways["direct"] >= 4
    assert both >= 12, "by chance it would be 8"


def test_a_kind_that_is_rare_so_far_is_worth_more_and_the_more_the_rarer() -> None:
    page = spatial_render.show("shapes", 3, {"count": 8})
    found = spatial_truth.questions(page.scene, Random(0))
    one = Group((next(q for q in found if q.kind == "above"),))
    worth = []
    for held in (0, 3, 10, 40, 200):
        chooser = Chooser(most=100)
        chooser.kinds.update({"above": held, "below": 170})
        worth.append(chooser._worth(one))
    assert worth == sorted(worth, reverse=True) and worth[0] > worth[1] > worth[2] > 0 > worth[4]


@pytest.mark.parametrize("layout", ["toolbar", "menu", "keypad", "calendar", "table", "cards", "list"])
def test_what_has_a_use_is_asked_for_by_it_and_by_its_name(layout: str) -> None:
    page = spatial_render.show("widgets", 5, {"layout": layout, "language": "de"})
    chooser = Chooser(most=100)
    chooser.choose(page, Random(5), named=2)
    held = [row for row in chooser.rows if row.perspective != "spatial"]
    used = {row.target.name for row in held if row.perspective == "function" and row.target}
    placed = {row.target.name for row in chooser.rows if row.perspective == "spatial" and row.target}
    assert used and used == {row.target.name for row in held if row.perspective == "direct" and row.target}
    able = {one.name for one in page.scene.targets if one.id in page.look.uses}
    assert used <= placed or not able & placed
    assert len({row.instruction for row in held}) == len(held)


def test_what_may_be_meant_is_looked_at_where_the_only_one_of_a_class_is_gone() -> None:
    """The one dropdown is removed; a button may be what somebody calls a dropdown, too."""
    asked = {"layout": "form", "theme": "lilac", "language": "fr", "density": "airy"}
    page = spatial_render.show("widgets", 6000402, asked)
    without = spatial_render.again(page, "removed", {"without": (1,)})
    before = {one.name for one in page.scene.things["dropdown"]}
    assert "dropdown" not in without.scene.things
    assert {one.name for one in without.scene.meant("dropdown")} == before - {"Exporter"} == {"Aperçu"}
    head = next(one for one in without.scene.references if one.role == "heading")
    _, rivals, _ = without.scene.answer("dropdown", [Stated(relation="below")], [(head,)])
    assert [one.name for one in rivals] == ["Aperçu"]
