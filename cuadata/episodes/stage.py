"""Where episodes are played: one isolated page of a browser that is led from task to task.

A stage keeps its browsing context over episodes, which is several times cheaper than a new one, and leaves nothing of one
episode to the next: cookies, storage, history and other windows are cleared. Where the browser died it starts another.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol
from urllib.parse import urlsplit

from cuadata.browser import serve
from cuadata.browsing import engine
from cuadata.errors import DataError
from cuadata.types import Action, Condition, Element, Observation, Size, Step, Task

#: Seconds to wait for the effect of an action that shows none: pages of our own answer at once, others load first.
OWN_PATIENCE, PATIENCE = 0.2, 2.0

#: Seconds that a page may take to be led to the next task, before it is given up for a new one.
CLEANING = 15.0

#: Tries of a page to open: a dead browser looks like a page that does not answer.
TRIES = 4

if TYPE_CHECKING:
    from cuadata.browsing.browsers import Give
    from cuadata.browsing.page_session import AsyncPage
    from cuadata.browsing.serve import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a page that keeps its own score says after a step; pages without one leave it to the task's terms."""

    done: Annotated[bool, "the page has ended the episode"]
    raw: Annotated[float, "the page's own reward"]
    exact: Annotated[bool, "the page's reward is all there is to get"]
    default: Annotated[bool, "the page's reward is above zero"]
    decayed: Annotated[float | None, "the page's reward after its time decay; None: it has none"] = None
    reason: Annotated[str | None, "what the page said of its end"] = None


class Stage(Protocol):
    """One page that tasks are played on, one after the other. Coroutines of the loop of `cuadata.browsing.loop.shared`."""

    browser: str

    async def begin(self, task: Task) -> tuple[Task, Observation]:
        """Open a task: the task, with what only its page knows (an instruction), and what stands at its start."""
        ...

    async def act(self, action: Action, before: Observation) -> Step:
        """Do one action, observed before and after."""
        ...

    async def judge(self) -> Judgement | None:
        """The page's own score now; None where it keeps none."""
        ...

    async def scripts(self, conditions: tuple[Condition, ...]) -> dict[str, Any]:
        """The value of every script that the conditions hold."""
        ...

    async def close(self) -> None:
        """Give the page back."""
        ...


class PageStage:
    """A stage for tasks with a page of their own (`html`) or an address (`url`)."""

    def __init__(
        self,
        *,
        screenshot: bool = True,
        effect: bool = True,
        browser: Give | None = None,
        headed: bool = False,
        viewport: Size | None = None,
        device_pixel_ratio: float | None = None,
    ) -> None:
        self.screenshot = screenshot
        self.effect = effect
        self.headed = headed
        self.browser = ""
        self._given = browser
        self._viewport = viewport
        self._ratio = device_pixel_ratio
        self._page: AsyncPage | None = None
        self._server: Server | None = None
        self._shape: tuple[Any, ...] = ()

    @property
    def page(self) -> AsyncPage:
        """The page; ValueError before the first episode."""
        if self._page is None:
            raise ValueError("no episode has begun; call reset first")
        return self._page

    async def begin(self, task: Task) -> tuple[Task, Observation]:
        """Open a task on a clean page. DataError where it does not open."""
        tried: list[str] = []
        for attempt in range(TRIES):
            try:
                await self._enter(task)
                seen = await self.page.observe(screenshot=self.screenshot)
                check_alive(self.page)
                return task, seen
            except Exception as error:  # noqa: BLE001
                tried.append(str(error))
                await self.close()
                if not await worth_another(attempt, error):
                    break
        raise DataError(f"the page did not open: {'; again: '.join(dict.fromkeys(tried))}", place=task.id)

    async def _enter(self, task: Task) -> None:
        viewport, ratio = self._viewport or task.viewport, self._ratio or task.device_pixel_ratio
        shape = (viewport, ratio, task.html is None)
        if self._page is None or shape != self._shape or task.html is None:
            await self.close()
            await self._open(task, viewport, ratio)
            self._shape = shape
        elif self._server is not None:
            self._server.documents["/"] = task.html
            async with asyncio.timeout(CLEANING):
                await _clean(self._page)
                await self._page.goto(self._server.address + "/")
        await _forget(self.page)

    async def _open(self, task: Task, viewport: Size, ratio: float) -> None:
        address, self._server = serve(task)
        port = self._server.port if self._server else 0
        self._page = await engine.engine()[1].page(
            address,
            viewport=viewport,
            device_pixel_ratio=ratio,
            headed=self.headed,
            reach=(f"127.0.0.1:{port}", f"localhost:{port}") if self._server else None,
            browser=await self._given() if self._given else None,
            patience=OWN_PATIENCE if self._server else PATIENCE,
        )
        self.browser = self._page.browser

    async def act(self, action: Action, before: Observation) -> Step:
        """Do one action with real input, observed before and after, with its effect."""
        if (reason := own_document(action)) is not None:
            return refused(action, before, reason)
        step = await self.page.act(
            action, observation=before, screenshot=self.screenshot, effect=self.effect, renew=False
        )
        check_alive(self.page)
        return step

    async def judge(self) -> Judgement | None:
        """None: such pages keep no score."""
        return None

    async def scripts(self, conditions: tuple[Condition, ...]) -> dict[str, Any]:
        """The value of every script; a script that fails has the value None."""
        values: dict[str, Any] = {}
        for script in {c.script for c in conditions if c.script is not None}:
            values[script] = None
            with contextlib.suppress(Exception):
                values[script] = await self.page.evaluate(script)
        return values

    async def close(self) -> None:
        """Close the context and its server; never raises."""
        page, self._page = self._page, None
        server, self._server = self._server, None
        if page is not None:
            with contextlib.suppress(Exception):
                await page.close()
        if server is not None:
            server.close()


def own_document(action: Action) -> str | None:
    """Why an action may not be done: it goes to a document that its actor writes, or to one that is no page of the web.

    The terms are read off whatever stands in the window: `data:` and `javascript:` would let an actor write what they ask
    for, `file:` and `view-source:` read what no person at the page sees.
    """
    if action.type != "navigate" or action.url is None:
        return None
    scheme, colon, _ = action.url.strip().partition(":")
    if not colon or scheme.lower() in ("http", "https"):
        return None
    return f"action_failed: an actor may go to addresses of http and https alone, not of {scheme[:20]!r}"


def refused(action: Action, before: Observation, error: str) -> Step:
    """The step of an action that was not done."""
    return Step(
        index=0, time=max(time.time(), before.time + 1e-6), observation=before, action=action, after=before, error=error
    )


async def worth_another(attempt: int, error: Exception) -> bool:
    """Whether a page that failed to open is tried again: once, and further times where the browser was gone under it.

    A browser that was killed is told as connected until its end has been heard of, and the next may be killed as well.
    """
    if attempt == 0:
        return True
    if attempt >= TRIES - 1 or not any(
        word in str(error) for word in ("closed", "died", "crashed", "disconnected", "gone")
    ):
        return False
    await asyncio.sleep(0.2 * attempt)
    return True


def check_alive(page: AsyncPage) -> None:
    """DataError where the browser or the renderer of a page has died: what was observed then is no page's state."""
    browser = page.context.browser
    if browser is not None and not browser.is_connected():
        raise DataError("the browser has died")
    if page.windows.held is not None and page.windows.held.crashed:
        raise DataError("the page has crashed")


async def _clean(page: AsyncPage) -> None:
    """Close other windows, drop cookies and storage of the last episode."""
    kept = await page.windows.usable()
    for other in page.context.pages:
        if other is not kept.page:
            await other.close()
    await page.context.clear_cookies()
    await kept.enter()
    assert kept.session is not None
    await kept.session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    # By the debugger: `sessionStorage.clear()` in a page that is about to be left has been seen to crash it.
    address = urlsplit(page.url)
    store = {"securityOrigin": f"{address.scheme}://{address.netloc}", "isLocalStorage": False}
    with contextlib.suppress(Exception):  # a page without an origin has no storage
        await kept.session.send("DOMStorage.clear", {"storageId": store})


async def _forget(page: AsyncPage) -> None:
    """Empty the history, so that going back does not lead into an earlier episode; number elements from 1."""
    page.renumber()
    await page.tab.enter()
    assert page.tab.session is not None
    await page.tab.session.send("Page.resetNavigationHistory")


def element_of(observation: Observation, id: int | None) -> Element | None:
    """The element of an id; None for None, and where no element has it."""
    return None if id is None else next((e for e in observation.elements if e.id == id), None)
