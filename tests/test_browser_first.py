"""A page is opened, observed, acted on and closed."""

from __future__ import annotations

import pytest

from cuadata import browser
from cuadata.types import Action, Point, Size

PAGE = """<!doctype html><meta charset=utf-8><title>Counter</title>
<button id=more onclick="out.textContent = ++n" style="position:absolute;left:20px;top:30px;width:80px;height:30px">More</button>
<p id=out style="position:absolute;left:20px;top:90px">0</p><input id=name aria-label=Name style="position:absolute;top:140px">
<script>var n = 0</script>"""


@pytest.mark.browser
def test_a_click_reaches_the_button_and_changes_the_page() -> None:
    with browser.open(PAGE, viewport=Size(400, 300), device_pixel_ratio=2) as page:
        before = page.observe()
        assert before.screenshot is not None
        assert (before.screenshot.width, before.screenshot.height) == (800, 600)
        button = next(e for e in before.elements if e.role == "button")
        assert (button.name, button.point) == ("More", Point(60, 45))
        step = page.act(Action(type="click", element=button.id), observation=before)
        assert step.error is None
        assert page.evaluate("n") == 1
        assert step.after is not None
        assert next(e for e in step.after.elements if e.role == "button").id == button.id


@pytest.mark.browser
def test_typing_goes_key_by_key() -> None:
    with browser.open(PAGE) as page:
        field = next(e for e in page.observe().elements if e.role == "textbox")
        page.evaluate("window.keys = []; document.getElementById('name').onkeydown = e => keys.push(e.key); 1")
        assert page.input(Action(type="type", point=field.point, text="Hi")) is None
        assert page.evaluate("keys") == ["H", "i"]
