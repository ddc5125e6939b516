"""The session past Playwright's driver: the same input, the same answers, and an end that is heard of."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from cuadata import environment
from cuadata.browsing import browser_find, engine, wire
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck, shared
from cuadata.errors import CallError
from cuadata.types import Action, Point

pytestmark = pytest.mark.browser
#: Notes every pointer event on the window with all that a page can tell of it.
LISTEN = """(() => { globalThis.heard = []; const kinds = `mousemove pointermove pointerdown
  mousedown pointerup mouseup click dblclick auxclick contextmenu`.split(/\\s+/);
  for (const kind of kinds) addEventListener(kind, (e) => heard.push([e.type, e.isTrusted, e.button, e.buttons, e.detail, e.clientX,
    e.clientY, e.pressure ?? null, e.pointerType ?? null, e.ctrlKey, e.shiftKey]), true); })()"""


@pytest.fixture
def env() -> Iterator[Any]:
    with closing(environment.make("miniwob-click-test", screenshot=False, effect=False)) as made:
        made.reset(seed=1)
        yield made


def run(work: Any) -> Any:
    return shared().run(work, 30)


@pytest.mark.parametrize("kind", ["click", "double_click", "right_click"])
def test_a_page_hears_the_same_of_a_click_as_of_playwright_s(env: Any, kind: Any) -> None:
    stage, at = env.stage, Point(80.5, 100.25)
    told = []
    for way in (stage.page.input, stage._input):
        run(stage.page.input(Action(type="hover", point=Point(5, 5))))
        run(stage._evaluate(LISTEN))
        assert run(way(Action(type=kind, point=at))) is None
        told.append(run(stage._evaluate("JSON.stringify(heard)")))
        run(stage.page.tab.page.reload())
    assert told[0] == told[1] and '"mousedown",true' in told[0] and '"mousemove",true' in told[0]


def test_half_an_emoji_is_read(env: Any) -> None:
    assert run(env.stage._evaluate("'a' + '\\u{1f600}'[0]")) == "a\ud83d"
    run(env.stage._evaluate("document.querySelector('#subbtn').textContent = 'a' + '\\u{1f600}'[0]; 0"))
    *_, info = env.step(Action(type="click", point=Point(5, 5)))
    assert info["error"] is None and "a\ud83d" in {e.text for e in env.episode.observation.elements}


def test_a_page_that_dies_and_one_that_hangs_are_told_apart(env: Any) -> None:
    line = env.stage._line
    with pytest.raises(FrameGone, match="Nothing.likeThis"):
        run(line.send("Nothing.likeThis"))
    with pytest.raises(Stuck, match=r"did not answer within 0\.3 s"):
        run(line.send("Runtime.evaluate", 0.3, expression="while (true) {}"))
    run(env.stage.page.tab.free())
    assert run(env.stage._evaluate("1 + 1")) == 2
    began = time.monotonic()
    with pytest.raises(FrameGone):
        run(line.send("Page.crash"))
    with pytest.raises(FrameGone):
        run(line.send("Runtime.evaluate", expression="1"))
    assert time.monotonic() - began < 5
    assert env.reset(seed=2)[0]["axtree"] and env.stage._line is not line


def test_a_browser_that_dies_ends_the_episode_at_once(env: Any) -> None:
    from test_environment import children

    for process in children("--user-data-dir"):
        os.kill(process, signal.SIGKILL)
    began = time.monotonic()
    *_, terminated, truncated, info = env.step(Action(type="click", point=Point(80, 100)))
    assert (terminated, truncated, info["ended"]) == (False, True, "error") and "gone" in info["reason"]
    assert time.monotonic() - began < 5
    assert env.reset(seed=2)[0]["axtree"]


def test_a_browser_without_a_port_is_refused() -> None:
    async def ask() -> None:
        browser = await engine.engine()[1].browser(browser_find.find(), headed=False)
        await wire._port(browser)

    with pytest.raises(CallError, match="started without --remote-debugging-port=0"):
        run(ask())
