"""Starts browsers and shares them: one process of each kind for all pages of this program, ended when the program ends."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cuadata.browsing import browser_find, pacing
from cuadata.browsing.loop import Loop, shared
from cuadata.browsing.page_session import AsyncPage
from cuadata.errors import DataError
from cuadata.types import Size

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

ARGUMENTS = (
    "--no-first-run",
    "--disable-sync",
    "--disable-component-update",
    "--disable-quic",
    "--disable-gpu",
)
#: Playwright gives this to every headless browser by itself, and has to be told where scroll bars are wanted.
NO_SCROLL_BARS = "--hide-scrollbars"
#: A proxy that is not there: whatever is not on the bypass list fails at once, names and plain addresses alike.
NOWHERE = "http://127.0.0.1:9"
#: Seconds in which work with a browser that died may yet say how it failed.
LAST_WORDS = 0.5
T = TypeVar("T")


class Engine:
    """The browsers of one event loop."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browsers: dict[tuple[str, bool, tuple[str, ...], bool], Browser] = {}
        self._starting = asyncio.Lock()

    async def browser(
        self,
        found: browser_find.Found,
        *,
        headed: bool,
        fresh: bool = False,
        arguments: tuple[str, ...] = (),
        scroll_bars: bool = False,
    ) -> Browser:
        """A running browser of this kind, started where there is none.

        `arguments` are further ones of its command line; `scroll_bars`: they take their room, as in a person's browser.
        """
        key = (str(found.path), headed, arguments, scroll_bars)
        async with self._starting:
            held = self._browsers.get(key)
            if not fresh and held is not None and held.is_connected():
                return held
            started = await self._launch(found, headed, arguments, scroll_bars)
            if not fresh:
                self._browsers[key] = started
            return started

    async def _started(self) -> Playwright:
        from playwright.async_api import async_playwright

        if self._playwright is None:
            self._playwright = await async_playwright().start()
        return self._playwright

    async def _launch(
        self, found: browser_find.Found, headed: bool, arguments: tuple[str, ...], scroll_bars: bool
    ) -> Browser:
        playwright = await self._started()
        return await playwright.chromium.launch(
            executable_path=str(found.path),
            headless=not headed,
            args=[*ARGUMENTS, *arguments, *(() if scroll_bars else (NO_SCROLL_BARS,))],
            ignore_default_args=[NO_SCROLL_BARS] if scroll_bars else None,
            timeout=30_000,
        )

    async def page(
        self,
        address: str,
        *,
        viewport: Size,
        device_pixel_ratio: float,
        headed: bool,
        reach: tuple[str, ...] | None,
        browser: Browser | None = None,
        profile: Path | None = None,
        paced: bool = False,
        **options: Any,
    ) -> AsyncPage:
        """A page in a context of its own. `reach`: the only hosts (`name:port`) it may speak to; None: all.

        `paced`: it draws only as a `pacing.Pacer` tells it; its browser was started with `pacing.ARGUMENTS`.
        `profile`: a browser profile's folder to run in, with its cookies and logins, in a browser of its own.
        """
        found = browser_find.find(headed=headed)
        wanted: dict[str, Any] = {
            "viewport": {"width": viewport.width, "height": viewport.height},
            "device_scale_factor": device_pixel_ratio,
            "accept_downloads": False,
            "service_workers": "allow" if reach is None else "block",
            "proxy": None if reach is None else {"server": NOWHERE, "bypass": ",".join(reach)},
        }
        if profile is not None:
            return await self._with_profile(
                found, profile, headed, address, viewport, device_pixel_ratio, wanted, options
            )
        if browser is None:
            browser, context = await self._context(found, headed, wanted)
        else:
            context = await while_alive(browser, browser.new_context(**wanted))
        page = AsyncPage(
            context,
            viewport=viewport,
            device_pixel_ratio=device_pixel_ratio,
            browser=f"{found.kind} {browser.version}",
            **options,
        )
        try:
            if paced:
                await while_alive(browser, pacing.blank(context, viewport))
            await while_alive(browser, page.goto(address))
        except BaseException:
            await page.close()
            raise
        return page

    async def _context(
        self, found: browser_find.Found, headed: bool, wanted: dict[str, Any]
    ) -> tuple[Browser, BrowserContext]:
        """A context of the shared browser, and that browser: a new one where it has died, which may be heard of late."""
        from playwright.async_api import Error

        browser = await self.browser(found, headed=headed)
        try:
            return browser, await browser.new_context(**wanted)
        except Error as error:
            if "has been closed" not in str(error):
                raise
        self._browsers = {key: one for key, one in self._browsers.items() if one is not browser}
        browser = await self.browser(found, headed=headed)
        return browser, await browser.new_context(**wanted)

    async def _with_profile(
        self, found: browser_find.Found, profile: Path, headed: bool, address: str, viewport: Size, ratio: float,
        wanted: dict[str, Any], options: dict[str, Any],
    ) -> AsyncPage:  # fmt: skip
        playwright = await self._started()
        context = await playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=str(found.path),
            headless=not headed,
            args=[*ARGUMENTS, NO_SCROLL_BARS],
            timeout=30_000,
            **wanted,
        )
        version = context.browser.version if context.browser is not None else found.version
        page = AsyncPage(
            context,
            viewport=viewport,
            device_pixel_ratio=ratio,
            browser=f"{found.kind} {version}, a profile",
            **options,
        )
        try:
            await page.goto(address)
            for first in context.pages[:-1]:
                await first.close()  # the empty page that a profile opens with
        except BaseException:
            await page.close()
            raise
        return page

    async def close(self) -> None:
        """End every browser."""
        for browser in self._browsers.values():
            with contextlib.suppress(Exception):
                async with asyncio.timeout(5):
                    await browser.close()
        self._browsers.clear()
        if self._playwright is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(5):
                    await self._playwright.stop()
            self._playwright = None


async def while_alive(browser: Browser, work: Coroutine[Any, Any, T]) -> T:
    """What some work with a browser comes to. DataError where the browser dies first.

    Playwright may wait without end for a page of a browser that died while it was made.
    """
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell(_: Browser) -> None:
        if not gone.done():
            gone.set_result(None)

    task = asyncio.ensure_future(work)
    browser.on("disconnected", tell)
    try:
        if browser.is_connected():
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        # What fails by the browser's end says so itself, where it does.
        done, _ = await asyncio.wait((task,), timeout=LAST_WORDS)
        if not done:
            raise DataError("the browser has died")
        return task.result()
    finally:
        task.cancel()
        browser.remove_listener("disconnected", tell)


_engines: dict[Loop, Engine] = {}


def engine() -> tuple[Loop, Engine]:
    """The loop and the browsers of this process."""
    loop = shared()
    if loop not in _engines:
        _engines.clear()
        _engines[loop] = Engine()
        atexit.register(_close, loop, _engines[loop])
    return loop, _engines[loop]


def _close(loop: Loop, held: Engine) -> None:
    import os

    if loop.pid != os.getpid():
        return
    with contextlib.suppress(Exception):
        loop.run(held.close(), 15)
    loop.close()


def is_address(page: str) -> bool:
    """Whether a text is an address rather than a path."""
    return page.split(":", 1)[0].lower() in ("http", "https", "data", "about") and ":" in page


def is_file(page: str | Path) -> bool:
    """Whether a text names a file that is there."""
    try:
        return Path(page).is_file()
    except (OSError, ValueError):
        return False
