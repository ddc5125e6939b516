"""One open page (tab or pop-up): its picture and the elements in it, taken of one moment."""

from __future__ import annotations

import asyncio
import base64
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuadata import measure
from cuadata.compose import compose, look_through
from cuadata.frames import Frame, FrameGone, Frames, send
from cuadata.image import BadImage, from_bytes
from cuadata.loop import Stuck
from cuadata.types import Element, Image, Point, Size

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import CDPSession, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a page."""

    screenshot: Image | None
    elements: tuple[Element, ...]
    viewport: Size
    url: str
    title: str
    time: float
    scroll: Point
    focused: int | None
    notes: tuple[str, ...]


class Tab:
    """A page of the context with its debugger session."""

    def __init__(self, page: Page, index: int, number: Callable[[str, str, int], int]) -> None:
        self.page = page
        self.index = index
        self.closed = False
        self.crashed = False
        self.session: CDPSession | None = None
        self.frames: Frames | None = None
        self.held: list[measure.Measured] = []
        self._number = number
        self._ready = asyncio.Lock()

    async def enter(self) -> None:
        """Open the debugger session; does nothing where it is open."""
        async with self._ready:
            if self.session is None:
                async with asyncio.timeout(10):
                    self.session = await self.page.context.new_cdp_session(self.page)
                self.frames = Frames(self.page, self.session)

    def number(self, frame: Frame, serial: int) -> int:
        """The id of an element, the same in every observation of its document."""
        return self._number(frame.id, frame.document, serial)

    async def look(self, *, screenshot: bool, ratio: float, limit: float = 15.0) -> Look:
        """Measure every document and take the picture. FrameGone where the page navigates away meanwhile."""
        await self.enter()
        assert self.frames is not None and self.session is not None
        notes: list[str] = []
        frames = await self.frames.read(limit)
        began = time.time()
        shot = asyncio.create_task(self.shoot(ratio, notes)) if screenshot else None
        try:
            held = [m for m in await asyncio.gather(*(measure.measure(f, notes) for f in frames)) if m is not None]
            if not held or held[0].frame is not frames[0]:
                raise FrameGone(f"{self.page.url} was not measured: {'; '.join(notes)}")
            self._join(held)
            held = await self._listen(held, notes)
            await asyncio.gather(measure.trees(held, notes), look_through(held))
            picture = await shot if shot is not None else None
        finally:
            if shot is not None and not shot.done():
                shot.cancel()
        self.held = held
        elements = compose(held, self.number)
        return self._look(held, elements, picture, began, notes)

    def _look(
        self,
        held: list[measure.Measured],
        elements: tuple[Element, ...],
        picture: Image | None,
        began: float,
        notes: list[str],
    ) -> Look:
        top = held[0].told
        focused = next((e.id for e in reversed(elements) if e.states.focused), None)
        if focused is None and top["focused"]:
            focused = self.number(held[0].frame, top["focused"])
        return Look(
            screenshot=picture,
            elements=elements,
            viewport=Size(round(top["width"]), round(top["height"])),
            url=top["url"],
            title=top["title"],
            time=began,
            scroll=Point(*top["scroll"]),
            focused=focused,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _join(self, held: list[measure.Measured]) -> None:
        """Find the document that holds the frame of each separate process."""
        for measured in held:
            frame = measured.frame
            if frame.parent is None or frame.owner is None or frame.owner in frame.parent.nodes.values():
                continue
            session = frame.parent.session
            owners = (m.frame for m in held if m.frame.session is session and frame.owner in m.frame.nodes.values())
            frame.parent = next(owners, frame.parent)

    async def _listen(self, held: list[measure.Measured], notes: list[str]) -> list[measure.Measured]:
        """Learn of listeners, and measure again the documents where they made more elements worth telling."""
        try:
            news = await measure.listeners(held)
        except (FrameGone, Stuck, ValueError) as error:
            notes.append(f"listeners are not known: {error}"[:300])
            return held
        again = {id(m): await measure.measure(m.frame, notes) for m in news}
        return [again.get(id(m)) or m for m in held]

    async def shoot(self, ratio: float, notes: list[str], limit: float = 10.0) -> Image | None:
        """The viewport's picture, `ratio` image px for one CSS px; None, with a note, where it cannot be had."""
        await self.enter()
        assert self.session is not None
        options: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if ratio != 1:
            size = self.page.viewport_size or {"width": 1280, "height": 720}
            options["clip"] = {"x": 0, "y": 0, **size, "scale": ratio}
        try:
            told = await send(self.session, "Page.captureScreenshot", limit, **options)
            return from_bytes(base64.b64decode(told["data"]), phash=False)
        except (FrameGone, Stuck, BadImage) as error:
            notes.append(f"no picture: {error}"[:300])
            return None

    async def find(self, id: int) -> tuple[Frame, int] | None:
        """The document and number of an element of the last look; None where no element has this id."""
        for measured in self.held:
            for row in measured.told["elements"]:
                if self.number(measured.frame, row["id"]) == id:
                    return measured.frame, int(row["id"])
        return None

    async def now(self, id: int) -> Element | None:
        """An element of the last look as it is now; None where it is gone."""
        found = await self.find(id)
        if found is None:
            return None
        frame, serial = found
        try:
            told = await frame.told(f"cuadata.measure({{only: [{serial}]}})")
        except FrameGone:
            return None
        if not told["elements"]:
            return None
        for measured in self.held:
            if measured.frame is frame:
                rows = [r if r["id"] != serial else told["elements"][0] for r in measured.told["elements"]]
                measured.told = {**told, "elements": rows}
        await look_through(self.held)
        return next((e for e in compose(self.held, self.number) if e.id == id), None)

    async def quiet(self, still: float, limit: float) -> float | None:
        """Wait until the main document stands still; seconds waited, None where the limit was reached."""
        await self.enter()
        assert self.frames is not None
        frames = await self.frames.read()
        waited = await frames[0].value(f"cuadata.quiet({still * 1000}, {limit * 1000})", limit + 5, wait=True)
        return None if waited < 0 else float(waited) / 1000
