"""What a page asks for while it loads is waited for; what never comes costs one wait for loading and one for standing still."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from cuadata import browser
from cuadata.browsing.serve import Server
from cuadata.types import Observation

pytestmark = pytest.mark.browser
BUTTON = "<button id=b>Come</button>"
LATE = {
    "fetch": "<main></main><script>fetch('/slow.html').then((r) => r.text()).then((t) => document.querySelector('main').innerHTML = t)</script>",
    "one after another": "<main></main><script>fetch('/slow.html').then(() => fetch('/slow.html')).then((r) => r.text())"
    ".then((t) => document.querySelector('main').innerHTML = t)</script>",
    "frame": "<script>onload = () => { const f = document.createElement('iframe'); f.src = '/slow.html'; document.body.append(f) }</script>",
}
NEVER = {
    "style sheet": '<link rel="stylesheet" href="/never.css">',
    "script": '<script src="/never.js"></script>',
    "picture": '<img src="/never.png" width="9" height="9">',
    "frame": '<iframe src="/never.html"></iframe>',
    "fetch": "<script>fetch('/never.json')</script>",
}


class SlowServer(Server):
    """Serves one page; answers /slow.html with a button after a second and /never at the end only."""

    def __init__(self, page: str) -> None:
        self.page, self.end = page, threading.Event()
        super().__init__()

    def answer(self, path: str) -> tuple[int, str, bytes]:
        if "never" in path:
            self.end.wait(60)
        elif "slow" in path:
            self.end.wait(1)
            return 200, "text/html", BUTTON.encode()
        return 200, "text/html", f"<!doctype html><body>{self.page}".encode()

    def close(self) -> None:
        self.end.set()
        super().close()


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Observation, float]]:
    with SlowServer(request.param) as server:
        began = time.monotonic()
        with browser.open(server.address + "/", limit=3.0) as page:
            yield page.observe(), time.monotonic() - began


@pytest.mark.parametrize("served", LATE.values(), ids=LATE, indirect=True)
def test_what_is_asked_for_while_a_page_loads_is_waited_for(served: tuple[Observation, float]) -> None:
    assert [e.name for e in served[0].elements if e.role == "button"] == ["Come"]


@pytest.mark.parametrize("served", [BUTTON + one for one in NEVER.values()], ids=NEVER, indirect=True)
def test_what_never_comes_is_waited_for_twice_at_most(served: tuple[Observation, float]) -> None:
    seen, seconds = served
    assert [e.name for e in seen.elements if e.role == "button"] == ["Come"]
    assert seconds < 12, "two waits of 3 s at most, and the browser"
