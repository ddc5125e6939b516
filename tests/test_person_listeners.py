"""While a person is listened to, what has only a listener is a target in every document: in frames and in closed shadow roots."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuadata import browser
from cuadata.browsing.serve import Server
from cuadata.people.person_ears import Ears
from cuadata.types import Size

pytestmark = pytest.mark.browser
BOX = '<div id="{}" style="width:80px;height:30px"></div>'
LISTENS = "document.getElementById('{0}').addEventListener('click', () => {{}})"


def document(id: str) -> str:
    """A document with a box that has only a listener."""
    return f"<!doctype html><body>{BOX.format(id)}<p>Words</p><script>{LISTENS.format(id)}</script>"


def closed(host: str, id: str) -> str:
    """The script that puts such a box into a closed shadow root of a host."""
    return f"{{const root = {host}.attachShadow({{mode: 'closed'}}); root.innerHTML = '{BOX.format(id)}';" + (
        f"root.getElementById('{id}').addEventListener('pointerdown', () => {{}})}}"
    )


def pages(folder: Path) -> None:
    """A page with such boxes in itself, in frames of every kind and in closed shadow roots."""
    for id in ("same", "other"):
        (folder / f"{id}.html").write_text(document(id))
    framed = f"<!doctype html><body><div id=host></div><script>{closed('host', 'framed')}</script>"
    (folder / "index.html").write_text(
        f"{document('own')}<iframe src=same.html></iframe><iframe srcdoc='{html.escape(document('written'), quote=True)}'></iframe>"
        f"<iframe srcdoc='{html.escape(framed, quote=True)}'></iframe><iframe id=far></iframe><div id=outer></div>"
        "<script>far.src = `http://${location.hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${location.port}/other.html`;"
        f"{closed('outer', 'inner')}</script>"
    )


@pytest.fixture
def attended(tmp_path: Path) -> Iterator[browser.Page]:
    pages(tmp_path)
    with Server(tmp_path) as server, browser.open("<p>", viewport=Size(900, 700), online=True, limit=15.0) as page:

        async def begin() -> None:
            ears = Ears(page.twin.tab, lambda *_: None, lambda *_: None)
            await ears.open()
            await ears.reach()

        page._loop.run(begin(), 20)
        page.goto(f"{server.address}/index.html")
        yield page


def targets(page: browser.Page) -> set[str]:
    """Ids of the boxes that are told as targets."""
    seen = page.observe(screenshot=False)
    return {e.locator.css.removeprefix("#") for e in seen.elements if e.tag == "div" and e.interactive}


def test_boxes_with_only_a_listener_are_targets_everywhere(attended: browser.Page) -> None:
    assert targets(attended) == {"own", "same", "written", "other", "inner", "framed"}


def test_the_browser_lives_on_where_nodes_with_listeners_come_and_go(attended: browser.Page) -> None:
    """Chromium 147 to 156 died where listeners in frames were asked for through the document around them."""
    for _ in range(12):
        attended.evaluate(
            "() => { for (const d of [document, ...Array.from({length: 3}, (_, i) => frames[i].document)]) {"
            " const b = d.createElement('b'); b.onclick = () => {}; d.body.append(b); d.body.dataset.n = Math.random();"
            " setTimeout(() => b.remove(), 5); } }"
        )
        assert {"same", "written", "framed"} <= targets(attended)
