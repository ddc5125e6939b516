"""A page of a browser as others use it: observe it, act on it. Asynchronous; `cuadata.browser` has the synchronous face."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from cuadata import page_input
from cuadata.frames import FrameGone
from cuadata.geometry import contains
from cuadata.loop import Stuck
from cuadata.tab import Look, Tab
from cuadata.types import Action, Dialog, Element, Observation, PageInfo, Point, Size, Step

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext
    from playwright.async_api import Dialog as OpenDialog
    from playwright.async_api import Page as Tabbed

Answer = Literal["accept", "dismiss"]
#: More pages than this are closed as they open: a page that opens windows without end must not fill the machine.
MOST_PAGES = 8


class AsyncPage:
    """One isolated browsing context with its pages; the active one is observed and acted on.

    Made by `browser.open_async`. Every call has a time limit; what could not be had stands in `Observation.notes`.
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
        on_close: Callable[[], Any] | None = None,
    ) -> None:
        self.context = context
        self.viewport = viewport
        self.device_pixel_ratio = device_pixel_ratio
        self.browser = browser
        self.dialog_policy: Answer = dialogs
        self.dialog_answer = answer
        self.still = still
        self.limit = limit
        self._on_close = on_close
        self._tabs: list[Tab] = []
        self._opened = 0
        self._active: Tab | None = None
        self._dialogs: list[Dialog] = []
        self._notes: list[str] = []
        self._ids: dict[tuple[str, str, int], int] = {}
        self._steps = 0
        context.on("page", self._on_page)
        context.set_default_timeout(limit * 1000)

    # --- pages and dialogs ------------------------------------------------------------------------------------------

    def _on_page(self, page: Tabbed) -> None:
        # An exception that leaves an event handler would be raised by the next unrelated call.
        with contextlib.suppress(Exception):
            if len([t for t in self._tabs if not t.closed]) >= MOST_PAGES:
                self._notes.append(f"a page was closed as it opened: {MOST_PAGES} are open already")
                asyncio.ensure_future(self._close_quietly(page))
                return
            tab = Tab(page, self._opened, self._number)
            self._opened += 1
            self._tabs.append(tab)
            self._active = tab
            page.on("dialog", self._on_dialog)
            page.on("close", lambda _: self._on_page_close(tab))
            page.on("crash", lambda _: self._on_crash(tab))

    def _on_page_close(self, tab: Tab) -> None:
        tab.closed = True
        if self._active is tab:
            self._active = next((t for t in reversed(self._tabs) if not t.closed), None)

    def _on_crash(self, tab: Tab) -> None:
        tab.crashed = True
        self._notes.append(f"page {tab.index} crashed")

    async def _on_dialog(self, dialog: OpenDialog) -> None:
        from playwright.async_api import Error

        accept = self.dialog_policy == "accept" or dialog.type == "beforeunload"
        text = (self.dialog_answer or dialog.default_value or "") if dialog.type == "prompt" and accept else None
        try:
            await (
                dialog.accept(text) if accept and text is not None else dialog.accept() if accept else dialog.dismiss()
            )
            self._dialogs.append(Dialog(type=dialog.type, message=dialog.message, accepted=accept, text=text))
        except Error as error:  # The page was closed, or the dialog was answered elsewhere.
            self._notes.append(f"a dialog was not answered: {error}"[:200])

    @staticmethod
    async def _close_quietly(page: Tabbed) -> None:
        with contextlib.suppress(Exception):
            await page.close()

    def _number(self, frame: str, document: str, serial: int) -> int:
        return self._ids.setdefault((frame, document, serial), len(self._ids) + 1)

    @property
    def tab(self) -> Tab:
        """The active page; ValueError where every page is closed."""
        if self._active is None:
            raise ValueError("every page of this browser context is closed")
        return self._active

    @property
    def url(self) -> str:
        """Address of the active page."""
        return self.tab.page.url

    async def title(self) -> str:
        """Title of the active page; empty where it does not answer."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(2):
                return await self.tab.page.title()
        return ""

    async def pages(self) -> tuple[PageInfo, ...]:
        """The open pages, in order of opening."""
        told: list[PageInfo] = []
        for tab in self._tabs:
            if tab.closed:
                continue
            title = ""
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1):
                    title = await tab.page.title()
            told.append(PageInfo(index=tab.index, title=title, url=tab.page.url, active=tab is self._active))
        return tuple(told)

    async def switch(self, index: int) -> None:
        """Make the page of this index the active one; ValueError where it is not open."""
        tab = next((t for t in self._tabs if t.index == index and not t.closed), None)
        if tab is None:
            raise ValueError(f"page {index} is not open; open are {[t.index for t in self._tabs if not t.closed]}")
        self._active = tab
        async with asyncio.timeout(self.limit):
            await tab.page.bring_to_front()

    # --- looking ----------------------------------------------------------------------------------------------------

    async def goto(self, address: str) -> None:
        """Load an address in the active page; a document that never finishes loading is taken as it stands."""
        from playwright.async_api import Error

        if self._active is None:
            await self.context.new_page()
        try:
            async with asyncio.timeout(self.limit * 3):
                await self.tab.page.goto(address, wait_until="domcontentloaded", timeout=self.limit * 3000)
        except Error as error:
            raise ValueError(f"{address} did not open: {str(error).splitlines()[0]}") from error
        with contextlib.suppress(Exception):
            await self.tab.page.wait_for_load_state("load", timeout=self.limit * 1000)

    async def rewrite(self, html: str) -> None:
        """Put another document in the place of this one, without a load; scripts in it do not run."""
        await self.evaluate(
            "(html) => { const d = new DOMParser().parseFromString(html, 'text/html');"
            " document.head.innerHTML = d.head.innerHTML; document.body.replaceWith(document.adoptNode(d.body)); }",
            html,
        )

    async def evaluate(self, script: str, argument: Any = None, *, timeout: float = 5.0) -> Any:
        """The value of a script in the page's own world. Stuck after `timeout` seconds; the page is freed."""
        try:
            async with asyncio.timeout(timeout):
                return await self.tab.page.evaluate(script, argument)
        except TimeoutError:
            raise Stuck(f"the script did not end within {timeout:g} s") from None

    async def settle(self) -> float | None:
        """Wait until the active page stands still; seconds waited, None where the limit was reached."""
        try:
            return await self.tab.quiet(self.still, self.limit)
        except (FrameGone, Stuck):
            with contextlib.suppress(Exception):
                await self.tab.page.wait_for_load_state("domcontentloaded", timeout=self.limit * 1000)
            return None

    async def observe(self, *, screenshot: bool = True, settle: bool = True) -> Observation:
        """What stands on the active page now, picture and evidence of one moment."""
        notes: list[str] = []
        if settle and await self.settle() is None:
            notes.append(f"the page did not stand still within {self.limit:g} s")
        look = await self._look(screenshot, notes)
        pages = await self.pages()
        dialogs, self._dialogs = tuple(self._dialogs), []
        notes += self._notes
        self._notes = []
        return Observation(
            screenshot=look.screenshot,
            viewport=look.viewport,
            device_pixel_ratio=self.device_pixel_ratio,
            url=look.url,
            title=look.title,
            time=look.time,
            scroll=look.scroll,
            pages=pages,
            dialogs=dialogs,
            elements=look.elements,
            focused=look.focused,
            notes=(*notes, *look.notes),
        )

    async def _look(self, screenshot: bool, notes: list[str]) -> Look:
        for attempt in range(3):
            try:
                return await self.tab.look(screenshot=screenshot, ratio=self.device_pixel_ratio)
            except (FrameGone, Stuck) as error:
                notes.append(f"looked again: {error}"[:200])
                await asyncio.sleep(0.05 * (attempt + 1))
        raise Stuck(f"{self.url} could not be observed: {'; '.join(notes)}")

    # --- acting -----------------------------------------------------------------------------------------------------

    async def act(self, action: Action, *, observation: Observation | None = None, after: bool = True) -> Step:
        """Do one action with real input; observes before (or uses the observation given) and after.

        An element that is gone gives `Step.error` "target_stale ..." and no input.
        """
        before = observation or await self.observe()
        began = time.time()
        target, action, error = await self._aim(action, before)
        if error is None:
            error = await self.input(action)
        seen = await self.observe() if after else None
        step = Step(
            index=self._steps, time=max(began, before.time + 1e-6), observation=before, action=action, target=target,
            after=seen, error=error,
        )  # fmt: skip
        self._steps += 1
        return step

    async def _aim(self, action: Action, before: Observation) -> tuple[Element | None, Action, str | None]:
        """The target as it was observed, the action with its point, and why it cannot be carried out."""
        from dataclasses import replace

        if action.element is not None:
            target = next((e for e in before.elements if e.id == action.element), None)
            now = await self.tab.now(action.element)
            if now is None:
                return target, action, f"target_stale: element {action.element} is no longer on the page"
            if action.point is None:
                if now.point is None:
                    return target or now, action, f"target_occluded: no point of element {action.element} takes a click"
                return target or now, replace(action, point=now.point), None
            return target or now, action, None
        return element_at(before.elements, action.point), action, None

    async def input(self, action: Action) -> str | None:
        """The bare input, nothing observed; an error text, or None where it went through."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(self.limit * 3):
                return await self._input(action)
        except TimeoutError:
            return f"action_failed: {action.type} did not end within {self.limit * 3:g} s"
        except (Error, ValueError) as error:
            return f"action_failed: {str(error).splitlines()[0]}"

    async def _input(self, action: Action) -> str | None:
        page = self.tab.page
        kind = action.type
        if kind in ("click", "double_click", "right_click", "hover") and action.point is None:
            return f"action_failed: {kind} without a point or an element"
        at = action.point or Point(self.viewport.width / 2, self.viewport.height / 2)
        if kind == "click" or kind == "right_click":
            await page_input.click(
                page, at, button="right" if kind == "right_click" else "left", modifiers=action.modifiers
            )
        elif kind == "double_click":
            await page_input.click(page, at, count=2, modifiers=action.modifiers)
        elif kind == "hover":
            await page.mouse.move(at.x, at.y)
        elif kind == "drag" and action.end is not None:
            await page_input.drag(page, at, action.end, modifiers=action.modifiers)
        elif kind == "type":
            if action.point is not None:
                await page_input.click(page, action.point)
            await page_input.type_text(page, action.text or "")
        elif kind == "press":
            await page_input.press(page, action.keys)
        elif kind == "scroll":
            await page_input.scroll(page, action, at)
        elif kind == "navigate" and action.url:
            await self.goto(action.url)
        elif kind == "back":
            await page.go_back()
        elif kind == "forward":
            await page.go_forward()
        elif kind == "reload":
            await page.reload()
        elif kind == "wait":
            await page_input.wait(action)
        elif kind == "switch_page" and action.page is not None:
            await self.switch(action.page)
        elif kind not in ("reason", "done", "infeasible"):
            return f"action_unsupported: {kind} is not carried out"
        return None

    async def close(self) -> None:
        """Close every page of the context."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(5):
                await self.context.close()
        if self._on_close is not None:
            self._on_close()
            self._on_close = None


def element_at(elements: tuple[Element, ...], point: Point | None) -> Element | None:
    """The smallest element that takes a click at a point, those that take input first; None where there is none."""
    if point is None:
        return None
    held = [e for e in elements if e.bbox is not None and e.hit > 0 and contains(e.bbox, point)]
    return min(held, key=lambda e: (not e.interactive, e.bbox.area if e.bbox else 0.0), default=None)
