"""Hard cases: the gates are right on every one, and the answers are confirmed by real clicks and by hiding the targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import hard_page
import pytest
import torture

from cuadata import browser
from cuadata.judging import target_verdict
from cuadata.rows import Verdict
from cuadata.types import Action, Element, Observation, Size

pytestmark = pytest.mark.browser
VIEWPORT = Size(torture.WIDTH, torture.HEIGHT + 10)
PAGES = {"torture": torture.CASES, "hard": hard_page.placed()}
SILENT, SPARSE = torture.SILENT | hard_page.SILENT, torture.SPARSE | hard_page.SPARSE
RUNS = [("torture", 1.0), ("torture", 1.25), ("torture", 2.0), ("hard", 1.0), ("hard", 2.0)]


@dataclass
class Judged:
    """A page of hard cases, observed, with pixels where script could not tell."""

    page: browser.Page
    seen: Observation
    cases: tuple[torture.Case, ...]
    ratio: float


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: f"{run[0]}-dpr{run[1]:g}")
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    name, ratio = request.param
    folder = tmp_path_factory.mktemp("frames")
    for file, text in hard_page.files().items():
        (folder / file).write_text(text)
    html = torture.page(PAGES[name])
    with browser.open(html, viewport=VIEWPORT, device_pixel_ratio=ratio, root=folder, limit=15.0) as page:
        seen = page.observe()
        unsure = target_verdict.undecided([e for e in seen.elements if e.locator.css.startswith("#")], seen)
        yield Judged(page, page.pixels(sorted(unsure), seen), PAGES[name], ratio)


def target(case: torture.Case, observation: Observation) -> Element | None:
    found = [e for e in observation.elements if e.locator.css == f"#{case.name}"]
    assert len(found) <= 1
    return found[0] if found else None


def test_every_verdict_is_right(judged: Judged) -> None:
    seen, cases = judged.seen, judged.cases
    wrong: list[tuple[str, Verdict]] = []
    for case in cases:
        verdict = target_verdict.verdict(target(case, seen), seen)
        right = verdict.keep == "yes" if case.valid else verdict.keep == "no" and verdict.reason in case.reasons
        if not right:
            wrong.append((case.name, verdict))
    assert not wrong
    assert len(cases) >= 84


def test_real_clicks_confirm_what_is_reached(judged: Judged) -> None:
    page, seen, cases = judged.page, judged.seen, judged.cases
    if judged.ratio != 1:
        pytest.skip("clicks do not depend on the pixel ratio")
    wrong = []
    for case in cases:
        element = target(case, seen)
        box = element.bbox if element is not None else None
        if element is None or box is None or not 0 <= box.center.y < VIEWPORT.height or box.center.x < 0:
            continue
        point = element.point or box.center
        before = page.evaluate(f"hits['{case.name}'] || 0")
        assert page.input(Action(type="click", point=point)) is None
        page.evaluate("new Promise(requestAnimationFrame)")
        hit = page.evaluate(f"hits['{case.name}'] || 0") > before
        expected = case.clicks and element.point is not None and case.name != "plain_text"
        if hit != expected and case.name not in SILENT:
            wrong.append((case.name, point, hit))
    assert not wrong


def test_hiding_confirms_what_is_seen(judged: Judged) -> None:
    page, seen, cases = judged.page, judged.seen, judged.cases
    if judged.ratio != 1:
        pytest.skip("once is enough")
    ids = {e.id: case for case in cases if (e := target(case, seen)) is not None and e.bbox is not None}
    measured = page.pixels(list(ids), page.observe())
    wrong = []
    for element in measured.elements:
        case = ids.get(element.id)
        if case is not None and element.evidence.pixels is not None:
            shown = element.evidence.pixels >= 1 / 3 - 0.02
            if shown != case.seen and case.name not in SPARSE:
                wrong.append((case.name, element.evidence.pixels))
    assert not wrong
