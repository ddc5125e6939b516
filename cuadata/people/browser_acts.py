"""What a person does to the browser itself: answers a dialog, goes back, reloads, types an address."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cuadata.browsing.frames import FrameGone, send
from cuadata.browsing.tab import Tab
from cuadata.types import Dialog

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from cuadata.people.person_session import Session

#: A page that navigates this soon after an input, or after asking for it itself, was led there by that, seconds.
LED = 1.0


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page stands in its history."""

    entry: Annotated[int, "the browser's number of the entry that is shown"]
    entries: Annotated[tuple[int, ...], "numbers of all entries, the oldest first"]


class BrowserActs:
    """Tells a person's navigation from a page's own, by what the browser says of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked: dict[int, float] = {}
        self._dialogs: dict[int, Dialog] = {}
        self._places: dict[int, _Place] = {}

    def arrived(self, tab: Tab) -> None:
        """The page stands where it was led to; what comes later is somebody's doing."""
        self._session.later(tab, self._remember(tab))

    def heard(self, tab: Tab, event: str, told: dict[str, Any]) -> None:
        """One event of the page's debugger session."""
        if event == "Page.javascriptDialogOpening":
            self._dialogs[tab.index] = Dialog(type=told["type"], message=told["message"])
        elif event == "Page.javascriptDialogClosed":
            self._answered(tab, bool(told["result"]), told.get("userInput") or None)
        elif event in ("Page.frameRequestedNavigation", "Page.frameScheduledNavigation"):
            self._asked[tab.index] = time.time()
        elif event == "Page.frameNavigated" and "parentId" not in told["frame"]:
            self._navigated(tab)

    def _answered(self, tab: Tab, accepted: bool, text: str | None) -> None:
        dialog = self._dialogs.pop(tab.index, None)
        tab.dialog = None
        if dialog is None or dialog.type == "beforeunload":
            return
        self._session.browser_did(
            "dialog",
            tab,
            time.time(),
            accept=accepted,
            text=text if dialog.type == "prompt" else None,
            dialogs=(dialog,),
        )

    def _navigated(self, tab: Tab) -> None:
        now = time.time()
        led = now - max(self._asked.pop(tab.index, 0.0), self._session.last_input) < LED
        self._session.later(tab, self._remember(tab, None if led or tab.index not in self._places else now))

    async def _remember(self, tab: Tab, said: float | None = None) -> None:
        """Where the page stands in its history; `said`: when a person led it there."""
        if tab.session is None:
            return
        told = await _history(tab.session)
        entries = tuple(int(one["id"]) for one in told["entries"])
        now = _Place(entries[told["currentIndex"]], entries)
        before, self._places[tab.index] = self._places.get(tab.index), now
        if said is None or before is None:
            return
        if now.entry == before.entry:
            self._session.browser_did("reload", tab, said)
        elif now.entry not in before.entries:  # an address makes an entry of its own
            self._session.browser_did("navigate", tab, said, url=str(told["entries"][told["currentIndex"]]["url"]))
        else:
            back = before.entries.index(now.entry) < before.entries.index(before.entry)
            self._session.browser_did("back" if back else "forward", tab, said)


async def _history(session: CDPSession, limit: float = 2.0) -> dict[str, Any]:
    """The page's history. While a page goes over to another process nobody answers for it: it is asked again, `limit` s long."""
    end = time.monotonic() + limit
    while True:
        try:
            return await send(session, "Page.getNavigationHistory")
        except FrameGone:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(0.05)
