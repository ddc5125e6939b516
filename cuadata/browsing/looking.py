"""Observing the active page: wait until it stands still, take picture and evidence of one moment, say what was not had."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.browsing.tab import Look, Moved, Tab
from cuadata.errors import CallError
from cuadata.types import Dialog, Element, Observation

if TYPE_CHECKING:
    from cuadata.browsing.page_session import AsyncPage

#: A page is looked at this often before it is taken as it stands.
TRIES = 4
#: Dialogs and notes kept on one observation.
MOST = 20


@dataclass(frozen=True, slots=True)
class Last:
    """The last observation, and by what it can be told whether the page has changed since."""

    observation: Observation
    tab: Tab
    pulses: dict[str, tuple[str, str, str]]
    taken: float


async def settle(page: AsyncPage, since: float | None = None) -> str | None:
    """Wait until the active page stands still; None, or why it did not within the page's limit."""
    tab = page.tab
    end = time.monotonic() + page.limit
    if tab.stopped:
        if since is not None and not tab.waits_for(since):
            return None  # It was just seen to be at rest.
        await tab.resume()
    try:
        # After an action the picture's own frame does: what comes with it is told by the look, which is taken again then.
        told = await tab.tick(paint=since is None)
        if since is not None and (told["alive"] or told["restless"]):
            told = await tab.tick()
        while since is not None and tab.waits_for(since) and time.monotonic() < end:
            await asyncio.sleep(0.02)
            told["busy"] = True
        if not told["busy"] and not told["loading"]:
            return None
        return await tab.quiet(page.still, max(end - time.monotonic(), 0.1))
    except FrameGone:
        await _arrive(tab, end)
        with contextlib.suppress(FrameGone):
            return await tab.quiet(page.still, max(end - time.monotonic(), 0.1))
        return "it is leaving its document"


async def _arrive(tab: Tab, end: float) -> None:
    """Wait for the document that a page is going to."""
    with contextlib.suppress(Exception):
        await tab.page.wait_for_load_state("domcontentloaded", timeout=max(end - time.monotonic(), 0.1) * 1000)
        await tab.page.wait_for_load_state("load", timeout=max(end - time.monotonic(), 0.1) * 1000)


async def observe(
    page: AsyncPage, *, screenshot: bool = True, settle: bool = True, since: float | None = None
) -> Observation:
    """One observation of the active page; one without elements where it does not answer, and the notes say why."""
    notes: list[str] = []
    await page.windows.arriving()
    look, taken = None, time.monotonic()
    for other in page.windows.tabs:
        if other.stopped and other is not page.windows.held:
            await other.resume()
    if page.windows.held is not None:
        tab = page.tab
        if tab.dialog is not None:
            notes.append("a dialog is open: nothing can be measured until it is answered")
        elif tab.crashed:
            notes.append(f"page {tab.index} crashed: there is nothing to observe")
        else:
            look = await _look(page, tab, screenshot, settle, since, notes)
    observation = await _observation(page, look, notes)
    if look is not None and page.observed is not None:
        page.observed(observation, look.tab, look.tab.held)
    held = page.windows.held  # None where the page closed itself after the look
    page.last = None if look is None or held is None else Last(observation, held, look.pulses, taken)
    return observation


async def _look(
    page: AsyncPage, tab: Tab, screenshot: bool, wait: bool, since: float | None, notes: list[str]
) -> Look | None:
    """A look at a page that stands still, as far as that can be had within the page's limit."""
    end = time.monotonic() + 2 * page.limit
    last = ""
    for attempt in range(TRIES):
        try:
            why = await settle(page, since) if wait else None
            if why is not None and attempt == 0:
                notes.append(f"the page did not stand still: {why}")
            verify = wait and attempt == 0
            look = await tab.look(
                screenshot=screenshot, ratio=page.device_pixel_ratio, limit=3 * page.limit, verify=verify
            )
            if not verify or why is not None or not look.unfinished:
                return look
            # It began just now, or in a frame or a shadow root that was not known when the page was waited for.
            await tab.quiet(page.still, page.limit)
        except Moved:
            last = "the page moves by itself"
        except Stuck as error:
            last = str(error)
            freed = await tab.free()
            notes.append("a script ran without end and was stopped" if freed else f"the page does not answer: {error}")
            if not freed:
                break
        except FrameGone as error:
            last = str(error)
            await _arrive(tab, min(end, time.monotonic() + page.limit / 2))
        if tab.closed or tab.crashed or tab.dialog is not None or time.monotonic() > end:
            break
    if tab is not page.windows.held and page.windows.held is not None and not tab.crashed:
        return await _look(page, page.tab, screenshot, wait, since, notes)
    notes.append(f"the page could not be measured: {last}"[:300])
    return None


async def _observation(page: AsyncPage, look: Look | None, notes: list[str]) -> Observation:
    windows = page.windows
    pages = await windows.pages({} if look is None else {look.tab: look.title})
    dialogs, windows.dialogs = windows.dialogs, []
    told, windows.notes = windows.notes, []
    open_now = [Dialog(type=t.dialog.type, message=t.dialog.message) for t in windows.tabs if t.dialog is not None]
    if len(dialogs) > MOST:
        notes.append(f"{len(dialogs)} dialogs were answered, the first {MOST} are told")
    notes = list(dict.fromkeys([*told, *notes, *(look.notes if look is not None else ())]))
    base = Observation(
        screenshot=None,
        viewport=page.viewport,
        device_pixel_ratio=page.device_pixel_ratio,
        url=page.url,
        time=time.time(),
        pages=pages,
        dialogs=(*dialogs[:MOST], *open_now),
        notes=tuple(notes[:MOST]),
    )
    if look is None:
        return base
    return replace(
        base,
        screenshot=look.screenshot,
        viewport=look.viewport,
        url=look.url,
        title=look.title,
        time=look.time,
        scroll=look.scroll,
        elements=look.elements,
        focused=look.focused,
    )


async def _ask_for(page: AsyncPage, selectors: list[str]) -> None:
    """Have the next look tell what matches these selectors; a script that holds the page is stopped, as for any look."""
    with contextlib.suppress(Stuck):
        await settle(page)
    try:
        await page.tab.also(selectors)
    except Stuck:
        if not await page.tab.free():
            raise
        page.windows.notes.append("a script ran without end and was stopped")
        await page.tab.also(selectors)


async def select(
    page: AsyncPage, selectors: list[str], *, screenshot: bool = True
) -> tuple[Observation, list[tuple[Element, ...]]]:
    """Observe, telling every element that matches one of these selectors, and which match each."""
    try:
        await _ask_for(page, selectors)
    except ValueError as error:
        told = str(error).splitlines()[0].rpartition("Error: ")[2]
        raise CallError(f"not every selector of {selectors} is valid CSS: {told}") from error
    observation = await observe(page, screenshot=screenshot)
    held = {e.id: e for e in observation.elements}
    found = [tuple(held[i] for i in page.tab.picked(n) if i in held) for n in range(len(selectors))]
    await page.tab.also([])
    page.tab.asked = frozenset(e.id for elements in found for e in elements)
    return observation, found
