"""Open pages, observe them and act on them: the synchronous face, safe from any thread.

Everything runs on one background thread with its own event loop (`cuadata.browsing.loop`); `open_async` gives the asynchronous twin
for many pages at once.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, unquote, urlsplit

from cuadata.browsing import engine
from cuadata.browsing.browser_find import Found, NoBrowser, find
from cuadata.browsing.loop import Loop, Stuck
from cuadata.browsing.page_session import AsyncPage
from cuadata.browsing.serve import Server
from cuadata.errors import CallError, DataError
from cuadata.types import Action, Element, Locator, Observation, PageInfo, Size, Step, Task

__all__ = ["AsyncPage", "Found", "NoBrowser", "Page", "Stuck", "find", "open", "open_async"]

VIEWPORT = Size(1280, 720)
#: Image px for one CSS px that a page is shown with.
LEAST_RATIO, MOST_RATIO = 0.1, 8.0
#: Longest side of a viewport, CSS px.
MOST_SIDE = 16384
T = TypeVar("T")


class Page:
    """A page of a browser; a context manager. See `AsyncPage` for what each method does."""

    def __init__(self, page: AsyncPage, loop: Loop) -> None:
        self.twin = page
        self._loop = loop

    def observe(self, *, screenshot: bool = True, settle: bool = True) -> Observation:
        """What stands on the active page now."""
        return self._loop.run(self.twin.observe(screenshot=screenshot, settle=settle), 120)

    def act(
        self,
        action: Action,
        *,
        observation: Observation | None = None,
        after: bool = True,
        screenshot: bool = True,
        renew: bool = True,
        effect: bool = True,
    ) -> Step:
        """Do one action with real input, observed before and after."""
        work = self.twin.act(
            action, observation=observation, after=after, screenshot=screenshot, renew=renew, effect=effect
        )
        return self._loop.run(work, 240)

    def select(self, *selectors: str) -> tuple[Observation, list[tuple[Element, ...]]]:
        """Observe, and say which elements match each CSS selector, in every frame and shadow root."""
        return self._loop.run(self.twin.select(selectors), 120)

    def find_all(self, css: str) -> tuple[Locator, ...]:
        """The ways to all elements that match a CSS selector, in every frame and shadow root."""
        return self._loop.run(self.twin.find_all(css), 120)

    def pixels(self, ids: Iterable[int], observation: Observation | None = None) -> Observation:
        """An observation in which `Evidence.pixels` of these elements is measured."""
        return self._loop.run(self.twin.pixels(ids, observation), 240)

    def input(self, action: Action) -> str | None:
        """The bare input; an error text, or None where it went through."""
        return self._loop.run(self.twin.input(action), 60)

    def evaluate(self, script: str, argument: Any = None, *, timeout: float = 5.0) -> Any:
        """The value of a script in the page's own world."""
        return self._loop.run(self.twin.evaluate(script, argument, timeout=timeout), timeout + 5)

    def run(self, coroutine: Coroutine[Any, Any, T], limit: float) -> T:
        """Run a coroutine of the twin's on its loop, `limit` seconds at most; the way to what has no method here."""
        return self._loop.run(coroutine, limit)

    def goto(self, address: str) -> None:
        """Load an address in the active page."""
        self._loop.run(self.twin.goto(address), 60)

    def rewrite(self, html: str) -> None:
        """Put another script-free document in the place of this one."""
        self._loop.run(self.twin.rewrite(html), 15)

    def switch(self, index: int) -> None:
        """Make the page of this index the active one."""
        self._loop.run(self.twin.switch(index), 15)

    @property
    def pages(self) -> tuple[PageInfo, ...]:
        """The open pages, in order of opening."""
        return self._loop.run(self.twin.pages(), 15)

    @property
    def url(self) -> str:
        """Address of the active page."""
        return self.twin.url

    @property
    def title(self) -> str:
        """Title of the active page."""
        return self._loop.run(self.twin.title(), 10)

    @property
    def viewport(self) -> Size:
        """CSS px."""
        return self.twin.viewport

    @property
    def browser(self) -> str:
        """Kind and build of the browser."""
        return self.twin.browser

    def close(self) -> None:
        """Close the page and its context."""
        self._loop.run(self.twin.close(), 20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open(
    page: str | Path | Task,
    *,
    viewport: Size | None = None,
    device_pixel_ratio: float | None = None,
    headed: bool = False,
    root: Path | None = None,
    online: bool | None = None,
    **options: Any,
) -> Page:
    """Open an address, the path of an HTML file, HTML text (begins with "<") or a Task.

    A file's folder (or `root`, a folder above it) is served over http from 127.0.0.1. `online` says whether the page may
    reach other hosts: by default addresses may, own pages may not. `options` go to `AsyncPage`: `dialogs`, `answer`,
    `still`, `limit`. DataError where the page does not open, CallError where there is no such file, NoBrowser.
    """
    loop, held = engine.engine()
    twin = loop.run(_open(held, page, viewport, device_pixel_ratio, headed, root, online, options), 90)
    return Page(twin, loop)


async def open_async(
    page: str | Path | Task,
    *,
    viewport: Size | None = None,
    device_pixel_ratio: float | None = None,
    headed: bool = False,
    root: Path | None = None,
    online: bool | None = None,
    **options: Any,
) -> AsyncPage:
    """As `open`, for coroutines that run on the loop of `cuadata.browsing.loop.shared`."""
    return await _open(engine.engine()[1], page, viewport, device_pixel_ratio, headed, root, online, options)


async def _open(
    held: engine.Engine,
    page: str | Path | Task,
    viewport: Size | None,
    ratio: float | None,
    headed: bool,
    root: Path | None,
    online: bool | None,
    options: dict[str, Any],
) -> AsyncPage:
    task = page if isinstance(page, Task) else None
    check_window(viewport, ratio)
    if task:
        check_window(task.viewport, task.device_pixel_ratio)
    address, server = serve(page, root)
    reach: tuple[str, ...] | None = None
    if server is not None:
        options = {**options, "on_close": server.close}
        if not online:
            reach = (f"127.0.0.1:{server.port}", f"localhost:{server.port}")
    elif online is False:
        host = address.split("/")[2] if "//" in address else ""
        reach = (host,)
    try:
        return await held.page(
            address,
            viewport=viewport or (task.viewport if task else VIEWPORT),
            device_pixel_ratio=ratio or (task.device_pixel_ratio if task else 1.0),
            headed=headed,
            reach=reach,
            **options,
        )
    except ValueError as error:
        if server is not None:
            server.close()
        if isinstance(error, CallError):
            raise
        raise DataError(str(error)) from error


def check_window(viewport: Size | None, ratio: float | None) -> None:
    """CallError for a viewport in CSS px, or a device pixel ratio, that no browser opens; None is not looked at."""
    if ratio is not None and not LEAST_RATIO <= ratio <= MOST_RATIO:
        wanted = f"wanted {LEAST_RATIO:g} to {MOST_RATIO:g} image px for one CSS px"
        raise CallError(f"the device pixel ratio cannot be {ratio:g}; {wanted}")
    if viewport is not None and not (1 <= viewport.width <= MOST_SIDE and 1 <= viewport.height <= MOST_SIDE):
        given = f"{viewport.width}x{viewport.height}"
        raise CallError(f"the viewport cannot be {given}; wanted 1 to {MOST_SIDE} CSS px for each side")


def serve(page: str | Path | Task, root: Path | None = None) -> tuple[str, Server | None]:
    """The address to open, and the server that holds it where it is a page of our own."""
    if isinstance(page, Task):
        if page.html is None and page.url is None:
            raise CallError(f"task {page.id} has neither html nor url")
        page = page.html if page.html is not None else page.url or ""
    if isinstance(page, str) and page.lstrip().startswith("<"):
        server = Server(root, {"/": page})
        return server.address + "/", server
    if isinstance(page, str) and engine.is_address(page):
        return page, None
    if isinstance(page, str) and page.lower().startswith("file://"):
        page = unquote(urlsplit(page).path)
    if not engine.is_file(page):
        raise CallError(f"{str(page)[:200]!r} is neither an address, nor a file, nor HTML text that begins with '<'")
    path = Path(page).resolve()
    folder = root.resolve() if root is not None else path.parent
    if not path.is_relative_to(folder):
        raise CallError(f"{path} is not inside the folder {folder} that is to be served")
    server = Server(folder)
    return f"{server.address}/{quote(path.relative_to(folder).as_posix())}", server
