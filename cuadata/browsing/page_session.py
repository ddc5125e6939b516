"""A page of a browser as others use it: observe it, act on it. Asynchronous; `cuadata.browser` has the synchronous face.

Every call has a time limit. What could not be had stands in `Observation.notes` with its reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from cuadata.browsing import acting, hiding, looking
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.browsing.page_windows import Answer, Windows
from cuadata.types import Action, Element, Locator, Observation, PageInfo, Size, Step

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

    from cuadata.browsing.measure import Measured
    from cuadata.browsing.tab import Tab


#: Seconds in which a document that was left may still bring itself back.
_TAKEN_BACK = 0.05


class AsyncPage:
    """One isolated browsing context with its pages; the active one is observed and acted on.

    Made by `browser.open_async`. `dialogs`: how JavaScript dialogs are answered ("accept", "dismiss", or "leave" for an
    actor that answers them); `answer`: what a prompt is given. `still`: seconds without a change after which a page stands
    still; `limit`: seconds that any wait may take; `patience`: seconds to wait for the effect of an action that has shown
    none yet.
    """

    def __init__(
        self,
        context: BrowserContext,
        *,
        viewport: Size,
        device_pixel_ratio: float,
        browser: str,
        dialogs: Answer = "accept",
        answer: str | None = None,
        still: float = 0.05,
        limit: float = 5.0,
        patience: float = 2.0,
        on_close: Callable[[], Any] | None = None,
    ) -> None:
        self.context = context
        self.viewport = viewport
        self.device_pixel_ratio = device_pixel_ratio
        self.browser = browser
        self.still = still
        self.limit = limit
        self.patience = patience
        self.windows = Windows(context, dialogs, answer)
        self.last: looking.Last | None = None
        #: Told of every observation, with what each document said of itself.
        self.observed: Callable[[Observation, Tab, list[Measured]], None] | None = None
        self.steps = 0
        self._on_close = on_close
        context.set_default_timeout(limit * 1000)

    # --- pages ------------------------------------------------------------------------------------------------------

    @property
    def tab(self) -> Tab:
        """The active page; ValueError where every page is closed."""
        return self.windows.active

    @property
    def url(self) -> str:
        """Address of the active page; empty where every page is closed."""
        return self.windows.held.page.url if self.windows.held is not None else ""

    async def title(self) -> str:
        """Title of the active page; empty where it does not answer."""
        return await self.windows.title(self.windows.held)

    async def pages(self) -> tuple[PageInfo, ...]:
        """The open pages, in order of opening."""
        return await self.windows.pages()

    async def switch(self, index: int) -> None:
        """Make the page of this index the active one; ValueError where it is not open."""
        async with asyncio.timeout(self.limit):
            await self.windows.switch(index)

    async def goto(self, address: str, *, watch: bool = True) -> None:
        """Load an address in the active page, or in a new one where it crashed or every page is closed.

        A document that never finishes loading is taken as it stands; what it asks for by script while it loads is waited
        for too. ValueError where nothing answers at the address. `watch=False`: its changes and events are not heard from
        the start, which costs some time with each.
        """
        from playwright.async_api import Error

        tab, since = await self.windows.usable(), time.monotonic()
        try:
            async with asyncio.timeout(self.limit * 3):
                await self._load(tab, address)
                await tab.page.wait_for_load_state("load", timeout=self.limit * 1000)
            await self._answers(tab, since)
        except TimeoutError:
            self.windows.notes.append(f"{address[:120]} was still loading after {self.limit:g} s")
        except Error as error:
            words = str(error).splitlines()[0]
            if "Timeout" not in words:
                raise ValueError(f"{address[:200]} did not open: {words}") from error
            self.windows.notes.append(f"{address[:120]} was still loading after {self.limit:g} s")
        if watch and self.windows.held is tab:
            await tab.watch()

    async def _answers(self, tab: Tab, since: float) -> None:
        """Wait until nothing that was asked for since has no answer, and for what the page makes of it."""
        end = time.monotonic() + self.limit
        if not tab.waits_for(since):
            return
        while tab.waits_for(since) and time.monotonic() < end and tab.dialog is None and not tab.closed:
            await asyncio.sleep(0.02)
        with contextlib.suppress(FrameGone, Stuck):
            await tab.quiet(self.still, max(end - time.monotonic(), 0.1))

    async def _load(self, tab: Tab, address: str, tries: int = 20) -> None:
        """Go to an address; a page that reloads itself meanwhile may get in between, so it is tried again."""
        from playwright.async_api import Error

        before = tab.page.url
        for left in reversed(range(tries)):
            try:
                await tab.page.goto(address, wait_until="commit", timeout=self.limit * 3000)
                await tab.page.wait_for_load_state("domcontentloaded", timeout=self.limit * 1000)
            except Error as error:
                # Our own earlier try may be what got in between, and may yet lose to the page.
                if f'by another navigation to "{address}"' in str(error) and await _arrived(tab, address):
                    return
                # A download aborts its navigation too: it is not begun again and again.
                again = "interrupted by another navigation" in str(error) or (
                    "ERR_ABORTED" in str(error) and left > tries - 3
                )
                if not left or not again:
                    raise
            else:
                # A reload that the old document began just before brings it back; an address that leads there did so at once.
                calm = before in ("about:blank", tab.page.url) or left < tries - 3
                if calm or not await _arrived(tab, before, _TAKEN_BACK):
                    return

    async def rewrite(self, html: str) -> None:
        """Put another document in the place of this one, without a load; scripts in it do not run. Its fonts have come then."""
        await self.evaluate(
            "async (html) => { const d = new DOMParser().parseFromString(html, 'text/html'), root = document.documentElement;"
            " for (const one of [...root.attributes]) root.removeAttribute(one.name);"
            " for (const one of d.documentElement.attributes) root.setAttribute(one.name, one.value);"
            # A head that stays as it is keeps its fonts.
            " if (document.head.innerHTML !== d.head.innerHTML) document.head.innerHTML = d.head.innerHTML;"
            " document.body.replaceWith(document.adoptNode(d.body)); scrollTo(0, 0);"
            " root.getBoundingClientRect(); await document.fonts.ready; }",
            html,
        )

    async def evaluate(self, script: str, argument: Any = None, *, timeout: float = 5.0) -> Any:
        """The value of a script in the page's own world. Stuck after `timeout` seconds; the script is stopped then."""
        tab = self.tab
        try:
            async with asyncio.timeout(timeout):
                return await tab.page.evaluate(script, argument)
        except TimeoutError:
            freed = await tab.free()
            words = "it was stopped" if freed else "the page does not answer"
            raise Stuck(f"the script did not end within {timeout:g} s; {words}") from None

    def renumber(self) -> None:
        """Let element ids begin with 1 again, once the page was led to something else that has its own."""
        self.windows.renumber()
        self.last = None

    # --- looking ----------------------------------------------------------------------------------------------------

    async def settle(self, *, since: float | None = None) -> str | None:
        """Wait until the active page stands still; None, or why it did not.

        `since`: monotonic seconds; requests that began later are waited for.
        """
        try:
            return await looking.settle(self, since)
        except Stuck as error:
            return f"it does not answer: {error}"

    async def observe(self, *, screenshot: bool = True, settle: bool = True, since: float | None = None) -> Observation:
        """What stands on the active page now, picture and evidence of one moment."""
        return await looking.observe(self, screenshot=screenshot, settle=settle, since=since)

    async def select(self, selectors: Iterable[str]) -> tuple[Observation, list[tuple[Element, ...]]]:
        """Observe, telling every element that matches one of these CSS selectors, and which match each.

        They are looked for in every frame and shadow root, open and closed. ValueError for what is no selector.
        """
        return await looking.select(self, list(selectors))

    async def find_all(self, css: str) -> tuple[Locator, ...]:
        """The ways to all elements that match a CSS selector, in every frame and shadow root."""
        _, found = await looking.select(self, [css], screenshot=False)
        return tuple(element.locator for element in found[0])

    async def pixels(self, ids: Iterable[int], observation: Observation | None = None) -> Observation:
        """An observation in which `Evidence.pixels` of these elements is measured, by hiding them and comparing pictures.

        For pages of our own and for questions about a page: the page can notice it.
        """
        return await hiding.measure(self, list(ids), observation)

    # --- acting -----------------------------------------------------------------------------------------------------

    async def act(
        self,
        action: Action,
        *,
        observation: Observation | None = None,
        after: bool = True,
        screenshot: bool = True,
        renew: bool = True,
        effect: bool = True,
    ) -> Step:
        """Do one action with real input, observed before and after, and say what it changed.

        `observation` is what the actor saw; where the page has changed since, another is taken for the step (unless
        `renew` is False). An element that is gone gives `Step.error` "target_stale ..." and no input.
        """
        return await acting.act(
            self,
            action,
            observation=observation,
            after=after,
            screenshot=screenshot,
            renew=renew,
            effect=effect,
        )

    async def input(self, action: Action) -> str | None:
        """The bare input, nothing observed; an error text, or None where it went through."""
        _, error = await acting.carry_out(self, action)
        return error

    async def close(self) -> None:
        """Close every page of the context."""
        self.windows.closing = True
        with contextlib.suppress(Exception):
            async with asyncio.timeout(5):
                await self.context.close()
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    async def fresh(self, *, going: bool | None = None) -> bool:
        """Whether nothing has changed since the last observation was taken.

        `going`: an action follows, and the pointer goes to another place for it or stays where it is.
        """
        last, tab = self.last, self.windows.held
        if last is None or tab is None or tab is not last.tab or tab.dialog is not None or tab.waits_for(last.taken):
            return False
        try:
            return await (tab.pulses() if going is None else tab.set_out(going=going)) == last.pulses
        except (FrameGone, Stuck, ValueError):
            return False


def now() -> float:
    """Monotonic seconds, as `since` and `Last.taken` count them."""
    return time.monotonic()


async def _arrived(tab: Tab, address: str, seconds: float = 1) -> bool:
    """Whether a tab is at an address within some seconds."""
    from playwright.async_api import Error

    try:
        await tab.page.wait_for_url(lambda url: url == address, wait_until="domcontentloaded", timeout=seconds * 1000)
    except Error:
        return False
    return True
