"""A frame in a process of its own that does not answer: the rest of the page is told, and the observation says what is not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuadata import browser
from cuadata.browsing import engine
from cuadata.browsing.serve import Server
from cuadata.types import Action, Size

pytestmark = pytest.mark.browser
BUSY = (
    "<!doctype html><button>In it</button><script>setTimeout(() => { const began = Date.now();"
    " while (Date.now() - began < 30000); }, 700)</script>"
)
MAIN = (
    "<!doctype html><button id=own onclick=\"this.textContent = 'Done'\">Own</button><iframe id=far></iframe><script>"
    "far.src = `http://${location.hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${location.port}/busy.html`</script>"
)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[browser.Page]:
    """A page with such a frame, in a browser that gives other sites' frames processes of their own."""
    (tmp_path / "busy.html").write_text(BUSY)
    (tmp_path / "index.html").write_text(MAIN)
    loop, held = engine.engine()
    monkeypatch.setattr(engine, "ARGUMENTS", (*engine.ARGUMENTS, "--site-per-process"))
    monkeypatch.setattr(held, "_browsers", {})
    with Server(tmp_path) as server, browser.open("<p>", viewport=Size(600, 400), online=True) as opened:
        opened.goto(f"{server.address}/index.html")
        yield opened
    for one in held._browsers.values():
        loop.run(one.close(), 20)


def names(page: browser.Page) -> tuple[set[str], str]:
    seen = page.observe()
    assert seen.screenshot is not None
    return {e.name for e in seen.elements if e.tag == "button"}, " ".join(seen.notes)


def test_a_frame_that_does_not_answer_is_named_and_the_rest_is_told(page: browser.Page) -> None:
    assert names(page)[0] == {"Own", "In it"}
    assert len(page.twin.tab.frames.sessions) == 2  # type: ignore[union-attr]
    time.sleep(1.0)
    began = time.monotonic()
    told, notes = names(page)
    assert told == {"Own"}
    assert "busy.html was not" in notes
    assert time.monotonic() - began < 12
    # It is left alone for a while, so that what follows is not slow.
    assert names(page)[0] == {"Own"}
    _, (found,) = page.select("button")
    assert [e.name for e in found] == ["Own"]
    assert page._loop.run(page.twin.settle(), 20) is None
    step = page.act(Action(type="click", element=found[0].id))
    assert step.error is None and step.after is not None
    assert "Done" in {e.name for e in step.after.elements}
    page.goto(page.url + "?again")
    assert "Own" in names(page)[0]
