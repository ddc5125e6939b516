"""A few browsers for many pages: each seat has one, and a new one where it died."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from cuadata.browsing import browser_find, engine

if TYPE_CHECKING:
    from playwright.async_api import Browser

Give = Callable[[], "Awaitable[Browser]"]


class Browsers:
    """`count` browsers of one event loop, started when they are first asked for, ended by `close`."""

    def __init__(
        self, count: int = 1, *, headed: bool = False, arguments: tuple[str, ...] = (), scroll_bars: bool = False
    ) -> None:
        self._held: list[Browser | None] = [None] * count
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
            return held

    async def close(self) -> None:
        """End them all; never raises."""
        for held in self._held:
            if held is not None:
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(5):
                        await held.close()
        self._held = [None] * len(self._held)
