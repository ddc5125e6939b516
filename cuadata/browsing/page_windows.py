"""The pages of one browsing context and their dialogs: opened, closed, crashed, answered."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from cuadata.browsing.tab import Tab
from cuadata.types import Dialog, PageInfo

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext
    from playwright.async_api import Dialog as OpenDialog
    from playwright.async_api import Page as Tabbed

Answer = Literal["accept", "dismiss", "leave"]
#: More pages than this are closed as they open: a page that opens windows without end must not fill the machine.
MOST_PAGES = 8
#: A page that asks this often within `FLOOD_SECONDS` is closed: nothing else stops an endless loop of dialogs.
MOST_DIALOGS, FLOOD_SECONDS = 25, 5.0


class Windows:
    """Keeps track of a context's pages. Its handlers never raise: an exception would surface in the next unrelated call."""

    def __init__(self, context: BrowserContext, policy: Answer, answer: str | None) -> None:
        self.context = context
        self.policy: Answer = policy
        self.answer = answer
        self.tabs: list[Tab] = []
        self.held: Tab | None = None
        self.dialogs: list[Dialog] = []
        self.notes: list[str] = []
        self.closing = False
        self.arrived = 0
        self._ids: dict[tuple[str, str, int], int] = {}
        self._asked: list[float] = []
        self._tasks: set[asyncio.Task[None]] = set()
        context.on("page", self._on_page)

    @property
    def active(self) -> Tab:
        """The active page; ValueError where every page is closed."""
        if self.held is None:
            raise ValueError("every page of this browser context is closed; go to an address first")
        return self.held

    async def usable(self) -> Tab:
        """The active page, or a new one where that crashed or every page is closed."""
        if self.held is not None and self.held.crashed:
            await self._close(self.held.page)
        if self.held is None:
            async with asyncio.timeout(10):
                await self.context.new_page()
        return self.active

    async def pages(self, known: Mapping[Tab, str] = MappingProxyType({})) -> tuple[PageInfo, ...]:
        """The open pages, in order of opening; `known`: titles that need not be asked for."""
        open_tabs = [tab for tab in self.tabs if not tab.closed]
        asked = [tab for tab in open_tabs if tab not in known]
        titles = {**known, **dict(zip(asked, await asyncio.gather(*map(self.title, asked)), strict=True))}
        return tuple(
            PageInfo(index=tab.index, title=titles[tab], url=tab.page.url, active=tab is self.held) for tab in open_tabs
        )

    async def title(self, tab: Tab | None) -> str:
        """A page's title; empty where it does not answer within a second, or waits for a dialog."""
        if tab is None or tab.crashed or tab.dialog is not None:
            return ""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1):
                return await tab.page.title()
        return ""

    async def switch(self, index: int) -> None:
        """Make the page of this index the active one; ValueError where it is not open."""
        tab = next((t for t in self.tabs if t.index == index and not t.closed), None)
        if tab is None:
            raise ValueError(f"page {index} is not open; open are {[t.index for t in self.tabs if not t.closed]}")
        self.held = tab
        await tab.page.bring_to_front()

    async def arriving(self, limit: float = 2.0) -> None:
        """Wait for pages that are being opened to be there, and for the active one to have its document."""
        end = time.monotonic() + limit
        expected = sum(tab.opening for tab in self.tabs)
        if expected <= self.arrived:
            return
        while self.arrived < expected and time.monotonic() < end:
            await asyncio.sleep(0.02)
        self.arrived = expected
        if self.held is not None and not self.held.crashed:
            left = max(end - time.monotonic(), 0.1)
            with contextlib.suppress(Exception):
                await self.held.page.wait_for_load_state("domcontentloaded", timeout=left * 1000)

    def number(self, frame: str, document: str, serial: int) -> int:
        """The id of an element: the same in all observations of its document, never given to another."""
        return self._ids.setdefault((frame, document, serial), len(self._ids) + 1)

    def renumber(self) -> None:
        """Let ids begin with 1 again."""
        self._ids.clear()

    # --- what the browser reports -----------------------------------------------------------------------------------

    def _on_page(self, page: Tabbed) -> None:
        with contextlib.suppress(Exception):
            self.arrived += 1 if self.tabs else 0
            if sum(not t.closed for t in self.tabs) >= MOST_PAGES:
                self.notes.append(f"a page was closed as it opened: {MOST_PAGES} are open already")
                self._later(self._close(page))
                return
            tab = Tab(page, len(self.tabs), self.number)
            tab.opener = self.held
            self.tabs.append(tab)
            self.held = tab
            page.on("dialog", lambda dialog: self._on_dialog(tab, dialog))
            page.on("close", lambda _: self._on_close(tab))
            page.on("crash", lambda _: self._on_crash(tab))

    def _on_close(self, tab: Tab) -> None:
        tab.closed = True
        if self.held is not tab:
            return
        opener = tab.opener
        while opener is not None and opener.closed:
            opener = opener.opener
        self.held = opener or next((t for t in reversed(self.tabs) if not t.closed), None)
        if self.held is None and not self.closing:
            self.notes.append("the last page was closed")

    def _on_crash(self, tab: Tab) -> None:
        tab.crashed = True
        self.notes.append(f"page {tab.index} crashed")

    def _on_dialog(self, tab: Tab, dialog: OpenDialog) -> None:
        with contextlib.suppress(Exception):
            now = time.monotonic()
            self._asked = [t for t in self._asked if now - t < FLOOD_SECONDS] + [now]
            if len(self._asked) > MOST_DIALOGS:
                if not tab.closed:
                    self.notes.append(
                        f"page {tab.index} was closed: it asked {MOST_DIALOGS} times in {FLOOD_SECONDS:g} s"
                    )
                    self._later(self._close(tab.page))
                return
            if self.policy == "leave" and dialog.type != "beforeunload":
                tab.dialog = dialog
                return
            accept = self.policy != "dismiss" or dialog.type == "beforeunload"
            self._later(self.answer_dialog(tab, dialog, accept, self.answer))

    async def answer_dialog(self, tab: Tab, dialog: OpenDialog, accept: bool, answer: str | None) -> None:
        """Answer a dialog and remember what was said; a prompt gets `answer`, else what it proposes."""
        from playwright.async_api import Error

        text = (answer if answer is not None else dialog.default_value or "") if dialog.type == "prompt" else None
        tab.dialog = None
        try:
            async with asyncio.timeout(3):
                await (dialog.accept(text or "") if accept else dialog.dismiss())
        except (Error, TimeoutError) as error:
            self.notes.append(f"a dialog was not answered: {str(error).splitlines()[0]}"[:200])
            return
        self.dialogs.append(
            Dialog(type=dialog.type, message=dialog.message, accepted=accept, text=text if accept else None)
        )

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _close(page: Tabbed) -> None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(5):
                await page.close()
