"""Hearing what a person does in a page: a listener in every document, and the frames that the screen showed."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from cuadata.browsing.frames import Frame, FrameGone, send
from cuadata.browsing.loop import Stuck
from cuadata.browsing.tab import Tab
from cuadata.browsing.voices import Voices
from cuadata.masking import fields

#: Pictures of the screen that are kept: a page that moves by itself gives many a second.
MOST_SHOWN, MOST_BYTES = 40, 48 * 2**20


@cache
def script() -> str:
    """What runs in every document."""
    return "\n".join((fields.script(), (Path(__file__).parent / "person_listen.js").read_text()))


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture that the screen showed."""

    time: Annotated[float, "seconds since the epoch, when it was shown first"]
    data: Annotated[str, "a PNG without loss, base64"] = field(repr=False)

    @property
    def png(self) -> bytes:
        """The picture's bytes."""
        return base64.b64decode(self.data)


class Ring:
    """The last pictures that the screen showed, each until the next."""

    def __init__(self) -> None:
        self._held: deque[Shown] = deque()
        self._bytes = 0

    def add(self, shown: Shown) -> None:
        """Keep a picture, and let the oldest go."""
        self._held.append(shown)
        self._bytes += len(shown.data)
        while len(self._held) > 2 and (len(self._held) > MOST_SHOWN or self._bytes > MOST_BYTES):
            self._bytes -= len(self._held.popleft().data)

    def at(self, moment: float) -> Shown | None:
        """What the screen showed at a moment; None where nothing that old is kept."""
        return next((one for one in reversed(self._held) if one.time <= moment), None)

    def clear(self) -> None:
        """Forget them."""
        self._held.clear()
        self._bytes = 0


class Ears(Voices):
    """The ears of one page. `on_message(tab, frame id, message)`; `on_browser(tab, event, parameters)`."""

    def __init__(
        self, tab: Tab, on_message: Callable[[Tab, str, dict[str, Any]], None], on_browser: Callable[[Tab, str, dict[str, Any]], None]
    ) -> None:  # fmt: skip
        super().__init__(tab, script(), on_message)
        self.ring = Ring()
        self.deaf: dict[str, str] = {}  # document of a frame that cannot be heard -> its address
        self._on_browser = on_browser
        self._asked: set[str] = set()

    async def open(self) -> None:
        """Begin to hear; the page's debugger session is opened."""
        session = await self.begin()
        for event in ("Page.javascriptDialogOpening", "Page.javascriptDialogClosed", "Page.frameNavigated",
                      "Page.frameRequestedNavigation", "Page.frameScheduledNavigation"):  # fmt: skip
            session.on(event, lambda told, event=event: self._guarded(self._on_browser, self.tab, event, dict(told)))
        session.on("Page.screencastFrame", self._on_shown)
        await self.show(True)

    async def show(self, on: bool) -> None:
        """Begin or stop to keep what the screen shows."""
        session = self.tab.session
        if session is None or self.tab.closed:
            return
        with contextlib.suppress(FrameGone, Stuck):
            if on:
                # Larger than any screen: the picture comes as large as it is shown.
                await send(
                    session, "Page.startScreencast", format="png", everyNthFrame=1, maxWidth=16384, maxHeight=16384
                )
            else:
                await send(session, "Page.stopScreencast")
        self.ring.clear()

    async def know_deaf(self) -> tuple[str, ...]:
        """Addresses of the documents in which no listener runs, as of those that were read last."""
        if self.tab.frames is None:
            return ()
        now = [m.frame for m in self.tab.held]
        for frame in now:
            if frame.document in self._asked:
                continue
            with contextlib.suppress(FrameGone, Stuck, ValueError):
                heard = await frame.value("globalThis.cuadata?.person?.hears() ?? false", 3)
                self._asked.add(frame.document)
                if not heard:
                    self.deaf[frame.document] = frame.url
        return tuple(self.deaf[f.document] for f in now if f.document in self.deaf)

    async def tell(self, expression: str, frames_now: list[Frame] | None = None) -> None:
        """Evaluate something in the listener of every document that there is now."""
        held = frames_now if frames_now is not None else [m.frame for m in self.tab.held]
        await asyncio.gather(
            *(f.value(f"globalThis.cuadata?.person?.{expression}", 3) for f in held), return_exceptions=True
        )

    def _on_shown(self, told: dict[str, Any]) -> None:
        shown = Shown(float(told["metadata"].get("timestamp") or time.time()), told["data"])
        self.ring.add(shown)
        session = self.tab.session
        if session is not None:
            self.later(send(session, "Page.screencastFrameAck", sessionId=told["sessionId"]))
