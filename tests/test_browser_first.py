"""A page is opened, observed, acted on and closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cuadata import browser
from cuadata.types import Action, BBox, Point, Size

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


CUT = "<body style='margin:0'><button style='position:absolute;left:0;top:8px;width:40px;height:20px'>Buy</button>"


@pytest.mark.browser
@pytest.mark.parametrize("tall", [18, 38])
def test_what_a_frame_cuts_off_is_counted_once(tall: int) -> None:
    inner = f'<iframe srcdoc="{CUT}" style="border:0;width:60px;height:{tall}px"></iframe>'
    with browser.open(f"<!doctype html><title>Cut</title>{inner}") as page:
        _, [[button]] = page.select("iframe button, button")
    share = min(1.0, (tall - 8) / 20)
    assert (button.evidence.in_viewport, button.seen, button.hit) == pytest.approx((share, share, share), abs=0.05)


@pytest.mark.browser
def test_a_page_that_closes_itself_while_it_is_observed_leaves_an_observation() -> None:
    with browser.open(PAGE) as page:
        tab = page.twin.tab
        titled = page.twin.windows.pages

        async def closing(*known: Any) -> object:
            told = await titled(*known)
            await tab.page.close()
            return told

        page.twin.windows.pages = closing  # type: ignore[method-assign,assignment]
        seen = page.observe()
        assert len(seen.elements) >= 2 and page.twin.last is None


@pytest.mark.browser
def test_a_file_address_is_served_over_http(tmp_path: Path) -> None:
    (tmp_path / "a page.html").write_text(PAGE)
    with browser.open((tmp_path / "a page.html").as_uri()) as page:
        assert page.url.startswith("http://127.0.0.1:") and page.title == "Counter"


@pytest.mark.browser
def test_a_bare_select_finds_what_stands_at_its_point() -> None:
    html = "<!doctype html><select style='position:absolute;left:10px;top:10px'><option>One<option>Two</select>"
    with browser.open(html) as page:
        assert page.input(Action(type="select", element=1, point=Point(20, 15), text="Two")) is None
        assert page.evaluate("document.querySelector('select').value") == "Two"


@pytest.mark.browser
@pytest.mark.parametrize("way", ["attribute", "design mode"])
def test_a_document_that_is_an_editor_is_a_target(way: str) -> None:
    """The frame of a rich-text editor: its body is what a person clicks and writes into."""
    body = (
        "<body contenteditable style=margin:0;height:100px>"
        if way == "attribute"
        else "<body style=margin:0;height:100px>"
    )
    script = "" if way == "attribute" else "<script>document.designMode = 'on'</script>"
    html = f'<!doctype html><body style="margin:0"><iframe style="border:0" srcdoc="<!doctype html>{body}{script}"></iframe>'
    with browser.open(html) as page:
        (editor,) = [one for one in page.observe().elements if one.tag == "body"]
        assert editor.interactive and editor.bbox == BBox(0, 0, 300, 100)
        done = page.act(Action(type="click", point=Point(100, 60)))
        assert done.target is not None and done.target.tag == "body"
        assert page.observe().elements and page.act(Action(type="type", text="In frame")).error is None
    with browser.open("<!doctype html><body style=margin:0;height:100px>No editor") as page:
        assert not [one for one in page.observe().elements if one.tag == "body"]
