"""Hard cases: the gates are right on every one, and the answers are confirmed by real clicks and by hiding the targets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torture

from cuadata import browser, target_verdict
from cuadata.rows import Verdict
from cuadata.types import Action, Element, Observation, Size

pytestmark = pytest.mark.browser
VIEWPORT = Size(torture.WIDTH, torture.HEIGHT + 10)


@pytest.fixture(scope="module", params=[1.0, 1.25, 2.0], ids=lambda ratio: f"dpr{ratio:g}")
def judged(request: pytest.FixtureRequest) -> Iterator[tuple[browser.Page, Observation]]:
    """The page, observed, with pixels where script could not tell."""
    with browser.open(torture.page(), viewport=VIEWPORT, device_pixel_ratio=request.param, limit=15.0) as page:
        seen = page.observe()
        unsure = [e.id for e in seen.elements if e.locator.css[1:] in torture.BY_PIXELS]
        yield page, page.pixels(unsure, seen)


def target(case: torture.Case, observation: Observation) -> Element | None:
    found = [e for e in observation.elements if e.locator.css == f"#{case.name}"]
    assert len(found) <= 1
    return found[0] if found else None


def test_every_verdict_is_right(judged: tuple[browser.Page, Observation]) -> None:
    _, seen = judged
    wrong: list[tuple[str, Verdict]] = []
    for case in torture.CASES:
        verdict = target_verdict.verdict(target(case, seen), seen)
        right = verdict.keep == "yes" if case.valid else verdict.keep == "no" and verdict.reason in case.reasons
        if not right:
            wrong.append((case.name, verdict))
    assert not wrong
    assert len(torture.CASES) >= 84


def test_real_clicks_confirm_what_is_reached(judged: tuple[browser.Page, Observation]) -> None:
    page, seen = judged
    if page.twin.device_pixel_ratio != 1:
        pytest.skip("clicks do not depend on the pixel ratio")
    wrong = []
    for case in torture.CASES:
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
        if hit != expected and case.name not in torture.SILENT:
            wrong.append((case.name, point, hit))
    assert not wrong


def test_hiding_confirms_what_is_seen(judged: tuple[browser.Page, Observation]) -> None:
    page, seen = judged
    if page.twin.device_pixel_ratio != 1:
        pytest.skip("once is enough")
    ids = {e.id: case for case in torture.CASES if (e := target(case, seen)) is not None and e.bbox is not None}
    measured = page.pixels(list(ids), page.observe())
    wrong = []
    for element in measured.elements:
        case = ids.get(element.id)
        if case is not None and element.evidence.pixels is not None:
            shown = element.evidence.pixels >= 1 / 3 - 0.02
            if shown != case.seen and case.name not in torture.SPARSE:
                wrong.append((case.name, element.evidence.pixels))
    assert not wrong
