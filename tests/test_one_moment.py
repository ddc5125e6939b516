"""Picture and elements are of one moment although they are asked for together, and a page goes on as it was afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from cuadata import browser, image
from cuadata.browsing import ax, measure
from cuadata.types import Action, Size

pytestmark = pytest.mark.browser
SPIN = "<style>@keyframes s{to{transform:rotate(1turn)}}b{display:inline-block;animation:s 1s infinite linear}</style><b>o</b>"


@pytest.fixture
def page() -> Iterator[browser.Page]:
    with browser.open("<!doctype html><button id='a'>Before</button>", viewport=Size(400, 300)) as opened:
        opened.observe()
        yield opened


def test_a_pictures_frame_is_waited_for_while_the_page_is_measured(
    page: browser.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    tab, shoot, rows = page.twin.tab, page.twin.tab.shoot, measure.measure

    async def shot(*words: Any, **more: Any) -> Any:
        order.append("picture")
        return await shoot(*words, **more)

    async def measured(*words: Any, **more: Any) -> Any:
        found = await rows(*words, **more)
        order.append("measured")
        return found

    monkeypatch.setattr(tab, "shoot", shot)
    monkeypatch.setattr(measure, "measure", measured)
    page.observe()
    assert order == ["picture", "measured"]


def test_what_changes_between_the_picture_and_the_measuring_is_looked_at_again(
    page: browser.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab, rows, late = page.twin.tab, measure.measure, [True]

    async def measured(*words: Any, **more: Any) -> Any:
        if late.pop() if late else False:
            await asyncio.sleep(0.5)  # The picture has long been taken.
            await tab.page.evaluate("document.body.style.background = 'rgb(0, 128, 0)'; a.textContent = 'After'")
        return await rows(*words, **more)

    monkeypatch.setattr(measure, "measure", measured)
    seen = page.observe()
    assert next(e for e in seen.elements if e.locator.css == "#a").name == "After"
    assert seen.screenshot is not None and seen.screenshot.data is not None
    assert image.rgb(seen.screenshot.data)[290, 390].tolist() == [0, 128, 0]


def test_what_was_stopped_for_a_picture_goes_on_although_another_page_is_looked_at() -> None:
    click = "document.title = 'clicked'; this.textContent = 'Opened'; setTimeout(() => window.open('about:blank'), 50)"
    with browser.open(f'<!doctype html>{SPIN}<button id="a" onclick="{click}">Open</button>') as page:
        seen = page.observe()
        target = next(e for e in seen.elements if e.locator.css == "#a")
        opener = page.twin.tab
        stopping = opener.glance

        async def glance(before: Any) -> Any:
            told = await stopping(before)
            for _ in range(100):  # The other page comes when all was stopped already.
                if page.twin.tab is not opener:
                    break
                await asyncio.sleep(0.02)
            return told

        setattr(opener, "glance", glance)  # noqa: B010 - waits after what the real one does
        page.act(Action(type="click", element=target.id, point=target.point), observation=seen)
        assert page.twin.tab is not opener
        rates = page.run(opener.page.evaluate("document.getAnimations().map((a) => a.playbackRate)"), 10)
        assert rates == [1]


def test_of_a_tree_that_is_asked_for_again_only_what_changed_is_read_again() -> None:
    def node(id: int, name: str) -> dict[str, Any]:
        return {"backendDOMNodeId": id, "role": {"value": "button"}, "name": {"value": name}}

    one = ax.by_node([node(1, "Send"), node(2, "Open"), {"ignored": True}])
    held = [one[1], one[2]]
    other = ax.by_node([node(1, "Send"), node(2, "Close"), node(3, "New")], one)
    assert other[1] is held[0] and [other[2].name, other[3].name] == ["Close", "New"]
    assert other.get(4) is None and len(other) == 3 and len(one) == 2
