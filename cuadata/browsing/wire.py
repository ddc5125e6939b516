"""A debugger session of one page over a socket of its own, past Playwright's driver.

Playwright opens and closes pages; what is asked of one thousands of times a minute goes straight to the browser, in a
third of the time and without work for a second process. The browser has to be started with `ARGUMENT`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.errors import CallError
from cuadata.types import Point

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession
    from websockets.client import ClientProtocol
    from websockets.frames import Frame

#: Opens the browser's debugger on a port that it chooses, to this machine alone; Playwright keeps its own pipe.
ARGUMENT = "--remote-debugging-port=0"
#: Buttons held down, as the debugger counts them.
_HELD = {"left": 1, "right": 2}
#: Events after which a page answers nothing more.
_ENDS = frozenset({"Inspector.detached", "Inspector.targetCrashed"})
_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode


def parsed(text: bytes | str) -> Any:
    """JSON read; half a surrogate pair, where a script cut an emoji, is taken by Python's own slower reader alone."""
    try:
        return _decode(text)
    except msgspec.DecodeError:
        return json.loads(text)


class Wire(asyncio.Protocol):
    """Questions to one page and their answers. It belongs to the event loop that opened it."""

    def __init__(self, protocol: ClientProtocol) -> None:
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None
        self._asked = 0
        self._waiting: dict[int, Answers] = {}
        self._parts: list[bytes] = []
        self._heard: dict[str, Callable[[dict[str, Any]], None]] = {}
        self._ended: str | None = None
        #: Called when the session ends.
        self.over: Callable[[], None] = lambda: None
        #: Done when the session has begun.
        self.begun: asyncio.Future[None] = self._loop.create_future()

    # --- asking -----------------------------------------------------------------------------------------------------

    async def send(self, method: str, limit: float = 10.0, **parameters: Any) -> dict[str, Any]:
        """One call. Stuck after `limit` seconds; FrameGone where the page or the browser is no more, or refuses."""
        return (await self.ask((method, parameters), limit=limit))[0]

    async def click(self, at: Point, *, button: str = "left", count: int = 1, limit: float = 10.0) -> None:
        """Move the pointer to a point, press and release `count` times: the events that Playwright's mouse sends.

        All are sent together: a move alone would wait for the browser's next frame.
        """
        asked = [_mouse("mouseMoved", at, force=0)]
        for number in range(1, count + 1):
            pressed = {"button": button, "clickCount": number}
            asked.append(_mouse("mousePressed", at, buttons=_HELD[button], force=0.5, **pressed))
            asked.append(_mouse("mouseReleased", at, **pressed))
        await self.ask(*asked, limit=limit)

    async def ask(self, *calls: tuple[str, dict[str, Any]], limit: float = 10.0) -> list[dict[str, Any]]:
        """Several calls, sent at once and done in order, and their answers; errors as of `send`."""
        method = calls[0][0]
        if self._ended is not None:
            raise FrameGone(f"{method}: {self._ended}")
        answers = Answers(len(calls))
        first = self._asked + 1
        for name, parameters in calls:
            self._asked += 1
            self._waiting[self._asked] = answers
            self._protocol.send_text(_encode({"id": self._asked, "method": name, "params": parameters}))
        self._flush()
        late = self._loop.call_later(limit, answers.fail, Stuck(f"{method} did not answer within {limit:g} s"))
        try:
            await answers.there
        finally:
            late.cancel()
            for number in range(first, first + len(calls)):
                self._waiting.pop(number, None)
        return [_result(method, answers.told[number]) for number in range(first, first + len(calls))]

    def on(self, event: str, told: Callable[[dict[str, Any]], None]) -> None:
        """Hear of an event: called with its parameters."""
        self._heard[event] = told

    # --- the socket -------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the browser to speak as a debugger."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._protocol.send_request(self._protocol.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Hand out the answers in what has come."""
        from websockets.frames import Frame

        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._on_frame(event)
            elif self._protocol.handshake_exc is not None:
                self._end(f"the browser refuses a session: {self._protocol.handshake_exc}")
            elif not self.begun.done():
                self.begun.set_result(None)
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """The page or its browser is gone."""
        self._end("the page or its browser is gone")

    def _on_frame(self, frame: Frame) -> None:
        if frame.opcode >= 8:  # a frame of the connection itself
            return
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        told = parsed(b"".join(self._parts))
        self._parts.clear()
        answers = self._waiting.get(told.get("id", 0))
        if answers is not None:
            answers.add(told)
        elif told.get("method") in _ENDS:
            self._end("the page has crashed" if "Crashed" in told["method"] else "the page is gone")
        elif (heard := self._heard.get(told.get("method", ""))) is not None:
            heard(told["params"])

    def _flush(self) -> None:
        data = b"".join(self._protocol.data_to_send())
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _end(self, why: str) -> None:
        """Tell everyone who waits that no answer comes; the first reason stands."""
        self._ended, first = self._ended or why, self._ended is None
        if first:
            self.over()
        if not self.begun.done():
            self.begun.set_exception(FrameGone(self._ended))
        for answers in self._waiting.values():
            answers.fail(FrameGone(self._ended))

    def close(self) -> None:
        """End the session; the page stays."""
        self._end("the session was closed")
        if self._transport is not None:
            self._transport.abort()


class Answers:
    """The answers to calls that were sent together; `there` is done when all have come."""

    def __init__(self, count: int) -> None:
        self.told: dict[int, dict[str, Any]] = {}
        self.there: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count = count

    def add(self, told: dict[str, Any]) -> None:
        """One of them."""
        self.told[told["id"]] = told
        if len(self.told) == self._count and not self.there.done():
            self.there.set_result(None)

    def fail(self, error: Exception) -> None:
        """No more will come."""
        if not self.there.done():
            self.there.set_exception(error)


def _mouse(kind: str, at: Point, **more: Any) -> tuple[str, dict[str, Any]]:
    told = {"type": kind, "x": at.x, "y": at.y, "button": "none", "buttons": 0, "modifiers": 0, **more}
    return "Input.dispatchMouseEvent", told


def _result(method: str, told: dict[str, Any]) -> dict[str, Any]:
    if "error" in told:
        raise FrameGone(f"{method}: {told['error'].get('message')}")
    return dict(told["result"])


async def opened(browser: Browser, session: CDPSession) -> Wire:
    """A session of its own with the page of another. CallError where the browser or the installation has no way to it."""
    try:
        from websockets.client import ClientProtocol
        from websockets.uri import parse_uri
    except ImportError as error:
        raise CallError("websockets is not installed; `pip install 'cuadata[miniwob]'` brings it") from error
    target = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
    port = await _port(browser)
    place = parse_uri(f"ws://127.0.0.1:{port}/devtools/page/{target}")
    async with asyncio.timeout(10):
        _, wire = await asyncio.get_running_loop().create_connection(
            lambda: Wire(ClientProtocol(place, max_size=None)), "127.0.0.1", port
        )
        await wire.begun
    return wire


async def _port(browser: Browser) -> int:
    """The port of a browser's debugger, as it wrote it into its own folder."""
    session = await browser.new_browser_cdp_session()
    try:
        line = str((await session.send("SystemInfo.getInfo"))["commandLine"])
    finally:
        await session.detach()
    found = re.search(r'--user-data-dir=(.+?)"?(?= "?--|$)', line)
    file = Path(found[1]) / "DevToolsActivePort" if found else None
    if file is None or not file.is_file():
        raise CallError(f"the browser was started without {ARGUMENT}")
    return int(file.read_text().split()[0])
