"""Frames of a page drawn as they are wanted, and not 60 a second: what a page draws that nobody looks at costs as much
processor time as the steps of its episode.

The headless shell lets a debugger say when a page draws (`HeadlessExperimental.beginFrame`). A page so opened gets a frame
for every picture, 60 a second while something moves in it by itself or input waits for frames, one when it is let alone, and
a few a second besides: animations, scroll events and observers go on as in any browser.

Pages of one browser draw one after another: its graphics process ends where a frame is asked for before the last one is done
(`Got overlapping IssueExternalBeginFrame`), whosever that was.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from cuadata.browsing import browser_find
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

    from cuadata.browsing.wire import Wire
    from cuadata.types import Size

T = TypeVar("T")
FRAME = "HeadlessExperimental.beginFrame"
#: Seconds until a script without end, for which a frame waits, is stopped or its page given up; a frame itself is not given up.
PATIENCE, HOUR = 20.0, 3600.0
#: What the browser has to be started with.
ARGUMENTS = ("--enable-begin-frame-control", "--run-all-compositor-stages-before-draw")
#: Seconds between the frames of a page that moves.
PACE = 1 / 60
#: Seconds after which a page that is let alone gets a frame; that a page in use goes without one; between those at rest.
SOON, LATEST, REST = 1 / 10, 1 / 4, 1 / 2
#: Called by a page at rest: "moves" where something will move in it, "changed" where it is another.
BINDING = "cuadataStirred"
#: Knows whether a page moves by itself; runs before the page's own scripts. `cuadataStir` is for what sees it change,
#: `cuadataMoves(true)` for who draws no more until it stirs.
SCRIPT = """(() => {
  const waiting = new Set(), ask = requestAnimationFrame, cancel = cancelAnimationFrame;
  let resting = false;
  globalThis.cuadataStir = (how = "changed") => {
    if (!resting) return;
    resting = false;
    globalThis.BINDING?.(how);
  };
  globalThis.requestAnimationFrame = (...given) => {
    const [work] = given;
    if (typeof work !== "function") return ask(...given);
    const id = ask((now) => { waiting.delete(id); work(now); });
    waiting.add(id);
    cuadataStir("moves");
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => { waiting.delete(id); cancel(id); };
  globalThis.cuadataMoves = (rest = false) => {
    const moves = waiting.size > 0 || document.getAnimations().length > 0;
    if (rest) resting = !moves;
    return moves;
  };
})()""".replace("BINDING", BINDING)
MOVES = "globalThis.cuadataMoves?.(true) ?? true"


def possible() -> bool:
    """Whether the browser that there is lets itself be told when to draw."""
    path, _ = browser_find.place()
    return browser_find.kind_of(path) == "headless-shell" and sys.platform != "darwin"


async def blank(context: BrowserContext, size: Size) -> None:
    """Open an empty page in a context that draws as it is told; Playwright has no word for it."""
    first = await context.new_page()
    session = await context.new_cdp_session(first)
    told = await session.send("Target.getTargetInfo")
    assert context.browser is not None
    whole = await context.browser.new_browser_cdp_session()
    try:
        async with context.expect_page() as coming:
            await whole.send(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "browserContextId": told["targetInfo"]["browserContextId"],
                    "enableBeginFrameControl": True,
                    "width": size.width,
                    "height": size.height,
                },
            )
        await coming.value
    finally:
        await whole.detach()
    await first.close()


class Turn:
    """Whose frame it is among the pages of a browser."""

    def __init__(self) -> None:
        self._free = asyncio.Lock()

    async def take(self, work: Callable[[], Coroutine[Any, Any, T]], limit: float) -> T:
        """The work's result, begun when the frame before it is over. Stuck after `limit` seconds.

        Work that takes longer is not given up: the turn ends with it.
        """
        try:
            async with asyncio.timeout(limit):
                await self._free.acquire()
        except TimeoutError:
            raise Stuck(f"the browser was drawing another page for {limit:g} s") from None
        task = asyncio.ensure_future(work())
        task.add_done_callback(self._over)
        done, _ = await asyncio.wait([task], timeout=limit)
        if not done:
            raise Stuck(f"the page did not draw within {limit:g} s")
        return task.result()

    def _over(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            # A page that is no more: the browser hears of it a little later than we do.
            asyncio.get_running_loop().call_later(REST, self._free.release)
        else:
            self._free.release()


_turns: WeakKeyDictionary[Browser, Turn] = WeakKeyDictionary()


def turn(browser: Browser) -> Turn:
    """The turns of a browser's pages."""
    return _turns.setdefault(browser, Turn())


class Pacer:
    """Draws one page. It belongs to the event loop that made it, and ends with the page's session."""

    def __init__(self, wire: Wire, turn: Turn) -> None:
        self._wire = wire
        self._loop = asyncio.get_running_loop()
        self._turn = turn
        self._moving = True
        self._hurried = 0
        #: When the last frame was begun, the last one that is over was begun, and the page was used last.
        self._drawn = self._shown = self._used = self._loop.time()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._arm(0)

    async def begin(self) -> None:
        """Hear of the page when it stirs, and of its end."""
        self._wire.over = self.close
        self._wire.on("Runtime.bindingCalled", self._on_binding)
        await self._wire.send("Runtime.addBinding", name=BINDING)

    def used(self, moves: bool | None = None) -> None:
        """The page was asked for something just now; `moves`: whether it said that something moves in it."""
        self._used = self._loop.time()
        if moves is not None:
            self._moving = moves
        self._hasten()

    @contextlib.contextmanager
    def hurried(self) -> Iterator[None]:
        """Frames as if something moved: for input that waits for them."""
        self._hurried += 1
        self._hasten()
        try:
            yield
        finally:
            self._hurried -= 1

    async def fresh(self) -> None:
        """A frame, unless one has been drawn since the page was used last."""
        if self._shown < self._used:
            await self._frame()

    async def picture(self, limit: float = PATIENCE, **options: Any) -> str:
        """A frame and its picture, base64. Stuck after `limit` seconds; FrameGone where the page is no more."""
        for _ in range(3):
            *_, told = await self._frame(limit, screenshot=options)
            if "screenshotData" in told:
                return str(told["screenshotData"])
        raise FrameGone(f"{FRAME}: the browser gives no picture")

    async def _frame(self, limit: float = PATIENCE, **options: Any) -> list[dict[str, Any]]:
        """A frame; without options it is told before it whether the page moves."""
        asked = [] if options else [("Runtime.evaluate", {"expression": MOVES, "returnByValue": True})]

        async def draw() -> list[dict[str, Any]]:
            began = self._drawn = self._loop.time()
            told = await self._wire.ask(*asked, (FRAME, options), limit=HOUR)
            self._shown = began
            return told

        return await self._turn.take(draw, limit)

    def close(self) -> None:
        """Draw no more; the page stays."""
        self._closed = True
        for one in (self._timer, self._task):
            if one is not None:
                one.cancel()
        self._timer = None

    # --- when the next frame is due -----------------------------------------------------------------------------------

    def _due(self) -> float:
        if self._moving or self._hurried:
            return self._drawn + PACE
        if self._used > self._drawn:
            return min(self._used + SOON, self._drawn + LATEST)
        return self._drawn + REST

    def _hasten(self) -> None:
        """Wake up earlier than was meant, where a frame is due earlier."""
        if self._timer is not None and self._timer.when() > (due := self._due()) + PACE:
            self._arm(due)

    def _arm(self, when: float) -> None:
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if (due := self._due()) > self._loop.time():
            self._arm(due)
        else:
            self._task = self._loop.create_task(self._draw())

    async def _draw(self) -> None:
        try:
            moves, _ = await self._frame()
            self._moving = bool(moves["result"].get("value", True))
        except (FrameGone, Stuck):
            # A script without end, or a frame that is not over: the page may yet be freed.
            self._drawn, self._moving = self._loop.time(), False
        self._arm(self._due())

    def _on_binding(self, told: dict[str, Any]) -> None:
        if told.get("name") == BINDING:
            self.used(True if told.get("payload") == "moves" else None)
