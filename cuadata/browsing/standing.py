"""One open page as it stands: its debugger session, what it waits for, whether it has changed, when it is at rest."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

from cuadata.browsing import measure
from cuadata.browsing.frames import Frame, FrameGone, Frames, send
from cuadata.browsing.loop import Stuck

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page, Request
    from playwright.async_api import Dialog as OpenDialog

#: Requests that stay open by nature; a page that has one still stands still.
ENDLESS = frozenset({"eventsource", "websocket", "media", "ping", "font", "manifest"})


class Standing:
    """A page of the context with its debugger session, before anything is measured in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.opening = 0
        self.dialog: OpenDialog | None = None
        self.session: CDPSession | None = None
        self.frames: Frames | None = None
        #: The documents as they were measured last.
        self.held: list[measure.Measured] = []
        self.requests: dict[Request, float] = {}
        #: Whether `glance` stopped what moves for the look that follows.
        self.stopped = False
        #: What `set_out` was told besides: how the page looked before the pointer leaves, where it stood with the pointer there.
        self.left: str | None = None
        self.stood: dict[str, Any] | None = None
        self._ready = asyncio.Lock()
        page.on("request", self._on_request)
        page.on("requestfinished", lambda request: self._on_answer(request))
        page.on("requestfailed", lambda request: self._on_answer(request))

    def _on_request(self, request: Request) -> None:
        with contextlib.suppress(Exception):
            if request.resource_type not in ENDLESS:
                self.requests[request] = time.monotonic()

    def _on_answer(self, request: Request) -> None:
        self.requests.pop(request, None)

    def waits_for(self, since: float) -> bool:
        """Whether a request that began after `since` (monotonic seconds) has no answer yet."""
        return any(began >= since for began in self.requests.values())

    async def enter(self) -> None:
        """Open the debugger session; does nothing where it is open. FrameGone where the page closes meanwhile."""
        from playwright.async_api import Error

        async with self._ready:
            if self.session is None:
                try:
                    async with asyncio.timeout(10):
                        session = await self.page.context.new_cdp_session(self.page)
                except Error as error:
                    raise FrameGone(f"the page closed before it could be looked at: {error}") from error
                self.session, self.frames = session, Frames(self.page, session)
                session.on("Page.windowOpen", lambda _: self._on_opening())
                try:
                    await send(session, "Page.enable")
                except Stuck as error:
                    self.session = None
                    raise Stuck(f"{self.page.url[:200]} does not let itself be looked at: {error}") from None

    def _on_opening(self) -> None:
        self.opening += 1

    def _alone(self) -> bool:
        """Whether the page is the one document that was looked at last, so that none need be asked for."""
        return len(self.held) == 1 and len(self.page.frames) == 1 and self.held[0].frame.world is not None

    async def top(self) -> Frame:
        """The main document."""
        await self.enter()
        assert self.frames is not None
        return await self.frames.top()

    async def quiet(self, still: float, limit: float) -> str | None:
        """Wait until every document stands still; None, or why it did not within `limit` seconds.

        What once did not stop changing, or did not arrive, is hardly waited for again in the same document.
        """
        await self.enter()
        assert self.frames is not None
        frames = await self.frames.read()

        async def one(frame: Frame) -> str | None:
            restless = 250 if frame.restless else 1000
            patient = "false" if frame.awaited else "true"
            script = f"cuadata.quiet({still * 1000}, {limit * 1000}, {restless}, {patient})"
            _, why = await frame.told(script, limit + 2, wait=True)
            frame.restless = frame.restless or why == "it goes on changing"
            frame.awaited = frame.awaited or why == "a part of it has not arrived"
            return why if why is None else f"{frame.url[:80]}: {why}"

        told = await asyncio.gather(*(one(f) for f in frames), return_exceptions=True)
        if isinstance(told[0], BaseException):
            raise told[0]
        return next((t for t in told if isinstance(t, str)), None)

    async def tick(self, *, paint: bool = True) -> dict[str, Any]:
        """Where the main document stands, after a frame was painted (`paint`): see `tick` in page_tools.js."""
        frame = await self.top()
        return self.standing(frame, await frame.told(f"cuadata.tick({'true' if paint else 'false'})", 3, wait=True))

    def standing(self, frame: Frame, told: dict[str, Any]) -> dict[str, Any]:
        """What the main document says of where it stands, with what is known of it."""
        told["restless"] = told["restless"] or frame.restless
        told["loading"] = told["loading"] and not frame.awaited
        return told

    async def watch(self) -> None:
        """Begin to hear the main document's changes, so that the first action knows what the page does by itself."""
        if self.dialog is None:
            with contextlib.suppress(FrameGone, Stuck, TimeoutError, ValueError):
                async with asyncio.timeout(1):
                    await self.tick(paint=False)

    async def pulses(self) -> dict[str, tuple[str, str, str]]:
        """What would differ had the page changed since `Look.pulses` was taken, by document."""
        await self.enter()
        assert self.frames is not None
        frames = [self.held[0].frame] if self._alone() else await self.frames.read()
        script = "JSON.stringify(cuadata.pulse())"
        told = await asyncio.gather(*(f.told(script, 3) for f in frames), return_exceptions=True)
        return {f.document: tuple(t) for f, t in zip(frames, told, strict=True) if isinstance(t, list)}

    async def set_out(self, *, going: bool) -> dict[str, tuple[str, str, str]]:
        """As `pulses`, before an action; what is asked about a lone document next comes with it: `left` or `stood`.

        `going`: the pointer is going to another place.
        """
        self.left = self.stood = None
        if not self._alone():
            return await self.pulses()
        frame = self.held[0].frame
        look, told = await frame.told(f"cuadata.setOut({'true' if going else 'false'})", 3)
        if going:
            self.left = look
            return {frame.document: tuple(json.loads(look)[:3])}
        self.stood = self.standing(frame, told)
        return {frame.document: tuple(told["pulse"])}

    async def glance(self, before: tuple[str, str] | None) -> dict[str, tuple[str, str, str]]:
        """As `pulses`, after an action; where a lone document shows another state and is at rest, it is `stopped` at once.

        `before`: what the document's pulse said of it and of its view; None leaves it going.
        """
        if not self._alone():
            return await self.pulses()
        frame = self.held[0].frame
        told = self.standing(frame, await frame.told(f"cuadata.tock({json.dumps(before)})", 3))
        self.stopped = bool(told["stopped"])
        if self.stopped and told["restless"]:
            await self.resume()
        return {frame.document: tuple(told["pulse"])}

    def forget(self) -> None:
        """What `set_out` and `glance` said holds no longer."""
        self.stopped, self.left, self.stood = False, None, None

    async def resume(self) -> None:
        """Let go on what `glance` stopped."""
        self.stopped = False
        with contextlib.suppress(FrameGone, Stuck, ValueError):
            await self.held[0].frame.value("cuadata.release(), 0", 3)

    async def awake(self, pulses: dict[str, tuple[str, str, str]], patience: float) -> bool:
        """Wait until any document has changed since `pulses`, at most `patience` seconds; whether one has."""
        assert self.frames is not None
        frames = [f for f in await self.frames.read() if f.document in pulses]
        if len(frames) < len(pulses):
            return True
        waits = [
            asyncio.create_task(f.value(f"cuadata.awake({pulses[f.document][0]!r}, {patience * 1000})", patience + 2, wait=True))
            for f in frames
        ]  # fmt: skip
        try:
            for wait in asyncio.as_completed(waits):
                if await wait:
                    return True
            return False
        except (FrameGone, Stuck):
            return True
        finally:
            for task in waits:
                task.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def free(self) -> bool:
        """Stop a script that runs without end; whether the page answers again."""
        if self.session is None:
            return False
        with contextlib.suppress(FrameGone, Stuck):
            await send(self.session, "Runtime.terminateExecution", 2)
            await send(self.session, "Runtime.evaluate", 2, expression="1")
            return True
        return False
