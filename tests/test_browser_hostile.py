"""Pages that hang, flood, crash and lie: nothing hangs, nothing is lost, and the reason stands in the notes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from cuadata import browser
from cuadata.browsing.serve import Server
from cuadata.types import Action, Observation, Point, Size

pytestmark = pytest.mark.browser
LIMIT = 1.5
HEAD = "<!doctype html><meta charset=utf-8><title>Page</title><body style='margin:0'>"
BUTTON = "<button id=go style='position:absolute;left:20px;top:20px;width:100px;height:30px'>Go</button>"
CLICK = Action(type="click", point=Point(70, 35))


def page(html: str, **options: Any) -> browser.Page:
    return browser.open(HEAD + html, viewport=Size(400, 300), **{"limit": LIMIT, "patience": 0.2, **options})


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 45


def noted(observation: Observation, word: str) -> bool:
    return any(word in note for note in observation.notes)


def test_a_script_without_end_is_stopped_and_the_page_lives_on() -> None:
    with page(BUTTON + "<script>go.onclick = () => { document.title = 'in'; while (true); }</script>") as opened:
        step = opened.act(CLICK)
        assert step.error is not None or noted(step.after or step.observation, "without end")
        seen = opened.observe()
        assert seen.screenshot is not None and [e.name for e in seen.elements] == ["Go"]
        assert opened.evaluate("1 + 1") == 2
        with pytest.raises(browser.Stuck, match="did not end"):
            opened.evaluate("while (true);", timeout=0.5)
        assert opened.evaluate("document.title") == "in"


def test_dialogs_without_end_close_the_page() -> None:
    with page(BUTTON + "<script>go.onclick = () => { while (true) alert('again') }</script>") as opened:
        step = opened.act(CLICK)
        after = step.after
        assert after is not None
        assert noted(after, "closed: it asked")
        assert 0 < len(after.dialogs) <= 20 and all(d.message == "again" for d in after.dialogs)
        gone = opened.act(CLICK)
        assert gone.error is not None and "closed" in gone.error
        opened.goto("data:text/html,<title>Back</title><button>Here</button>")
        assert opened.observe().title == "Back"


def test_a_prompt_gets_its_answer_and_beforeunload_lets_go() -> None:
    script = (
        "go.onclick = () => { document.title = prompt('Name?', 'nobody') }; onbeforeunload = e => e.preventDefault()"
    )
    with page(f"{BUTTON}<script>{script}</script>", answer="Ada") as opened:
        step = opened.act(CLICK)
        assert step.after is not None and step.after.title == "Ada"
        (dialog,) = step.after.dialogs
        assert (dialog.type, dialog.accepted, dialog.text) == ("prompt", True, "Ada")
        opened.goto("data:text/html,<title>Left</title><p>gone")
        seen = opened.observe()
        assert seen.title == "Left"
        assert [d.type for d in seen.dialogs] == ["beforeunload"]


def test_an_actor_may_answer_dialogs_itself() -> None:
    with page(
        f"{BUTTON}<script>go.onclick = () => {{ document.title = confirm('Sure?') }}</script>", dialogs="leave"
    ) as opened:
        step = opened.act(CLICK)
        assert step.error is None and step.after is not None
        assert [(d.message, d.accepted) for d in step.after.dialogs] == [("Sure?", None)]
        assert step.after.screenshot is None and noted(step.after, "dialog is open")
        answered = opened.act(Action(type="dialog", accept=False), observation=step.after)
        assert answered.error is None and answered.after is not None
        assert answered.after.title == "false"
        assert [(d.message, d.accepted) for d in answered.after.dialogs] == [("Sure?", False)]
        none = opened.act(Action(type="dialog", accept=True))
        assert none.error is not None and "no dialog is open" in none.error


def test_windows_without_end_are_capped() -> None:
    script = "go.onclick = () => { for (let i = 0; i < 30; i++) window.open('about:blank', 'w' + i) }"
    with page(f"{BUTTON}<script>{script}</script>") as opened:
        step = opened.act(CLICK)
        assert step.after is not None
        time.sleep(1)
        seen = opened.observe()
        assert 1 < len(seen.pages) <= 8
        assert sum(p.active for p in seen.pages) == 1


def test_a_page_that_reloads_without_end_is_observed_or_given_up() -> None:
    with page(BUTTON + "<script>setTimeout(() => location.reload(), 30)</script>") as opened:
        seen = opened.observe()
        assert seen.screenshot is not None or seen.notes
        opened.goto("data:text/html,<title>Calm</title><p>x")
        assert opened.observe().title == "Calm"


def test_a_page_that_never_stands_still_is_taken_as_it_is() -> None:
    script = "let n = 0; setInterval(() => { clock.textContent = ++n }, 10)"
    with page(f"{BUTTON}<p id=clock style='position:absolute;top:100px'>0</p><script>{script}</script>") as opened:
        began = time.monotonic()
        seen = opened.observe()
        assert seen.screenshot is not None and any(e.name == "Go" for e in seen.elements)
        assert noted(seen, "stand still") or noted(seen, "moves by itself")
        assert time.monotonic() - began < 8


def test_a_crash_is_told_and_left_behind() -> None:
    with page(BUTTON) as opened:
        opened.observe()
        with pytest.raises(ValueError, match="did not open"):
            opened.goto("chrome://crash")
        seen = opened.observe()
        assert seen.screenshot is None and noted(seen, "crashed")
        assert opened.act(CLICK).error is not None
        opened.goto("data:text/html,<title>New</title><p>x")
        assert opened.observe().title == "New"


def test_a_browser_whose_end_is_not_heard_of_yet_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    from playwright.async_api import Browser

    from cuadata.browsing import engine

    with page(BUTTON):
        loop, shared = engine.engine()
    assert shared._browsers
    for held in list(shared._browsers.values()):
        loop.run(held.close(), 10)
    monkeypatch.setattr(Browser, "is_connected", lambda self: True)
    with page(BUTTON) as opened:
        assert any(one.name == "Go" for one in opened.observe().elements)


def test_an_image_that_never_arrives_is_waited_for_once() -> None:
    import threading

    hold = threading.Event()

    class Slow(Server):
        def answer(self, path: str) -> tuple[int, str, bytes]:
            if path == "/never.png":
                hold.wait(30)
            return super().answer(path)

    with Slow(documents={"/": HEAD + BUTTON + "<img src=/never.png width=50 height=50>"}) as server:
        with browser.open(server.address, viewport=Size(400, 300), limit=LIMIT, online=False) as opened:
            assert any(e.name == "Go" for e in opened.observe().elements)
            began = time.monotonic()
            again = opened.observe()
            assert time.monotonic() - began < 3 and again.screenshot is not None
        hold.set()


def test_a_page_cannot_lie_about_its_boxes() -> None:
    lies = """
    Element.prototype.getBoundingClientRect = () => ({x: 0, y: 0, width: 999, height: 999, left: 0, top: 0, right: 9, bottom: 9});
    Element.prototype.getClientRects = () => [];
    Document.prototype.elementFromPoint = () => null;
    JSON.stringify = () => '{"elements": []}';
    window.getComputedStyle = () => ({});
    Object.defineProperty(Element.prototype, 'checkVisibility', {value: () => false});
    MutationObserver = function () {}; globalThis.cuadata = {measure: () => '{}'};
    """
    with page(f"{BUTTON}<script>{lies}</script>") as opened:
        (button,) = (e for e in opened.observe().elements if e.role == "button")
        assert button.bbox is not None and (button.bbox.x, button.bbox.width) == (20, 100)
        assert button.point == Point(70, 35)


def test_named_fields_do_not_hide_a_form() -> None:
    form = (
        "<form id=f style='position:absolute;left:10px;top:10px' onsubmit='return false'><input name=id value=1>"
        "<input name=parentNode><input name=getAttribute><input name=children><input name=tagName><button>Send</button></form>"
    )
    with page(form) as opened:
        seen = opened.observe()
        assert {e.name for e in seen.elements if e.role == "button"} == {"Send"}
        assert sum(e.role == "textbox" for e in seen.elements) == 5


def test_nothing_of_ours_is_left_on_the_page() -> None:
    script = "new MutationObserver(r => document.title = 'touched ' + r.length).observe(document, {subtree: true, attributes: true, childList: true, characterData: true})"
    with page(f"{BUTTON}<input autofocus><script>{script}</script>") as opened:
        for _ in range(2):
            opened.observe()
        seen = opened.observe()
        assert seen.title == "Page"
        assert opened.evaluate(
            "[document.adoptedStyleSheets.length, typeof window.cuadata, document.getAnimations().length]"
        ) == [
            0,
            "undefined",
            0,
        ]


def test_own_pages_reach_no_other_host_and_no_file() -> None:
    with Server(documents={"/": "other"}) as other:
        frames = f"<iframe src='{other.address}/'></iframe><iframe src='file:///etc/hostname'></iframe>"
        with page(
            f"{frames}<script>fetch('{other.address}/').catch(() => document.title = 'blocked')</script>"
        ) as opened:
            opened.observe()
            assert opened.title == "blocked"
            assert "other" not in str(opened.evaluate("document.body.innerText"))


def test_a_server_stays_in_its_folder(tmp_path: object) -> None:
    from pathlib import Path
    from urllib.request import urlopen

    folder = Path(str(tmp_path)) / "site"
    folder.mkdir()
    (folder / "index.html").write_text("in")
    (folder.parent / "secret.txt").write_text("out")
    (folder / "way.txt").symlink_to(folder.parent / "secret.txt")
    with Server(folder) as server:
        assert urlopen(server.address + "/").read() == b"in"
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/way.txt", "/..%5csecret.txt", "/%00"):
            with pytest.raises(Exception, match="404"):
                urlopen(server.address + path)


def test_heavy_documents_are_told_in_part() -> None:
    rows = "".join(f"<div><button>Row {i}</button><a href=#{i}>Link</a></div>" for i in range(3000))
    with page(rows, limit=10.0) as opened:
        seen = opened.observe()
        assert noted(seen, "is large")
        shown = [e for e in seen.elements if e.seen > 0]
        assert shown and all(e.name for e in shown if e.interactive)
        assert 1000 < len(seen.elements) < 3000
