"""A few browsers for many pages: each seat has one, and a new one where it died."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from cuadata.browsing import browser_find, engine
from cuadata.errors import CallError

if TYPE_CHECKING:
    from playwright.async_api import Browser

Give = Callable[[], "Awaitable[Browser]"]
#: Seconds that a browser has to end by itself, and then for its end to be heard of once it was killed.
PATIENCE = 5.0


class Browsers:
    """`count` browsers of one event loop, started when they are first asked for, ended by `close`."""

    def __init__(
        self, count: int = 1, *, headed: bool = False, arguments: tuple[str, ...] = (), scroll_bars: bool = False
    ) -> None:
        self._held: list[Browser | None] = [None] * count
        self._processes: list[int | None] = [None] * count
        self._closed = False
        self._locks = [asyncio.Lock() for _ in range(count)]
        self._headed = headed
        self._arguments = arguments
        self._scroll_bars = scroll_bars
        self.restarts = 0

    def seat(self, number: int) -> Give:
        """What gives the browser of a seat; seats share browsers in turn."""
        return lambda: self._give(number % len(self._held))

    async def _give(self, place: int) -> Browser:
        async with self._locks[place]:
            if self._closed:
                raise CallError("the browsers have been ended; make others")
            held = self._held[place]
            if held is None or not held.is_connected():
                self.restarts += held is not None
                found = browser_find.find(headed=self._headed)
                held = await engine.engine()[1].browser(
                    found,
                    headed=self._headed,
                    fresh=True,
                    arguments=self._arguments,
                    scroll_bars=self._scroll_bars,
                )
                self._held[place] = held
                self._processes[place] = await _process(held)
            return held

    async def close(self) -> None:
        """End them all, those that are being started as well; none lives when it returns. Never raises."""
        self._closed = True
        await asyncio.gather(*(self._end(place) for place in range(len(self._held))))

    async def _end(self, place: int) -> None:
        async with self._locks[place]:
            held, self._held[place] = self._held[place], None
            if held is not None:
                await _end(held, self._processes[place])


async def _process(browser: Browser) -> int | None:
    """The process of a browser, of which only the browser itself tells; None where it does not."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(PATIENCE):
            session = await browser.new_browser_cdp_session()
            told = await session.send("SystemInfo.getProcessInfo")
            await session.detach()
            return next(int(one["id"]) for one in told["processInfo"] if one["type"] == "browser")
    return None


async def _end(browser: Browser, process: int | None) -> None:
    """End a browser; one that does not end by itself (the machine is at its limit, it was stopped) is killed."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(PATIENCE):
            await browser.close()
    if process is None or not browser.is_connected():
        return
    with contextlib.suppress(OSError):
        group = os.getpgid(process)  # one of its own, with the script that started it and its renderers
        if group != os.getpgid(0):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(process, signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while browser.is_connected() and time.monotonic() < end:
        await asyncio.sleep(0.02)
