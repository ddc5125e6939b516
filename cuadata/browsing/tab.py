"""One open page (tab or pop-up): its picture and the elements in it, taken of one moment."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuadata.browsing import measure
from cuadata.browsing.compose import Place, compose, look_through
from cuadata.browsing.frames import PATIENCE, Frame, FrameGone, send
from cuadata.browsing.looks import Looks
from cuadata.browsing.loop import Stuck
from cuadata.browsing.standing import Standing
from cuadata.image import BadImage, from_bytes
from cuadata.types import Element, Image, Point, Size

if TYPE_CHECKING:
    from playwright.async_api import Page

FRAMES = frozenset({"iframe", "frame", "object", "embed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a page."""

    tab: Tab
    screenshot: Image | None
    elements: tuple[Element, ...]
    viewport: Size
    url: str
    title: str
    time: float
    scroll: Point
    focused: int | None
    pulses: dict[str, tuple[str, str, str]]
    notes: tuple[str, ...]
    #: Whether something in it was on its way to a rest that is worth waiting for.
    unfinished: bool


class Moved(RuntimeError):
    """The page changed between its evidence and its picture."""


class Tab(Standing):
    """A page of the context with its debugger session."""

    def __init__(self, page: Page, index: int, number: Callable[[str, str, int], int]) -> None:
        super().__init__(page)
        self.index = index
        self.closed = False
        self.crashed = False
        self.opener: Tab | None = None
        self.attended = False
        self.pointer: Point | None = None
        self.looks = Looks()
        #: Ids that were asked for by selectors last: the looks after tell of these elements only what they would of any.
        self.asked: frozenset[int] = frozenset()
        #: What every picture is handed to in another thread as soon as it is there; the last one, and what comes of it.
        self.ready: Callable[[Image], object] | None = None
        self.readied: tuple[Image, asyncio.Future[object]] | None = None
        self._number = number

    def number(self, frame: Frame, serial: int) -> int:
        """The id of an element, the same in every observation of its document."""
        return self._number(frame.id, frame.document, serial)

    # --- looking ----------------------------------------------------------------------------------------------------

    async def look(self, *, screenshot: bool, ratio: float, limit: float = 15.0, verify: bool = True) -> Look:
        """Measure every document and take the picture.

        FrameGone where the page navigates away meanwhile; Moved where it changed between evidence and picture, unless
        `verify` is False.
        """
        await self.enter()
        assert self.frames is not None
        notes: list[str] = []
        stopped = self.stopped
        self.forget()
        # A lone document answers in its own world or, where it left, not at all.
        frames = [self.held[0].frame] if self._alone() else await self.frames.read(limit)
        began = time.time()
        notes += [f"the frame {url[:120]} was not heard: it does not answer" for url in self.frames.unheard]
        early = screenshot and verify and self._alone() and (stopped or await self._stop(frames[0]))
        # What is stopped shows one moment: the picture's wait for a frame runs beside the measuring.
        shot = asyncio.create_task(self.shoot(ratio, notes)) if early else None
        first = [asyncio.create_task(self._measure(f, notes, limit, hold=screenshot)) for f in frames]
        if screenshot and shot is None:
            # Asked for after the measuring, the picture stands behind it in the page's queue: one moment for both.
            shot = asyncio.create_task(self._shoot_after(first, ratio, notes))
        try:
            held = [m for m in await asyncio.gather(*first) if m is not None]
            if len(frames) == 1 and held and any(r["tag"] in FRAMES for r in held[0].told["elements"]):
                frames = await self.frames.read(limit)  # One came just now.
                more = await asyncio.gather(*(self._measure(f, notes, limit, hold=screenshot) for f in frames[1:]))
                held += [m for m in more if m is not None]
            if not held or held[0].frame is not frames[0]:
                raise FrameGone(f"{self.page.url} was not measured: {'; '.join(notes)}")
            self._join(held)
            # Asked for at the same time as the listeners, and once more where these make the document another.
            named = asyncio.create_task(measure.trees(held, [])) if frames[0].tree_key != "never" else None
            held = await self._listen(held, notes, hold=screenshot)
            if named is not None:
                await named
            await asyncio.gather(measure.trees(held, notes), self._look_through(held, notes))
            picture = await shot if shot is not None else None
            if shot is not None and (any(m.opened for m in held) or (early and len(frames) > 1)):
                picture = await self.shoot(ratio, notes)  # Not all that may move was known when it was stopped.
        finally:
            if shot is not None and not shot.done():
                shot.cancel()
            after = await self._release(frames)
        if screenshot and after is not None and after != held[0].told["pulse"]:
            if verify:
                raise Moved(f"{held[0].told['pulse']} became {after or 'another before it was measured'}")
            notes.append("the page moves by itself: picture and evidence may differ")
        self.held = held
        return self._look(held, picture, began, notes)

    async def _measure(self, frame: Frame, notes: list[str], limit: float, *, hold: bool) -> measure.Measured | None:
        """Measure a document; one in another process has less time, and is left alone for a while where it does not answer."""
        patience = limit if frame.session is self.session else min(limit, PATIENCE)
        measured = await measure.measure(frame, notes, patience, hold=hold)
        if measured is None and self.frames is not None:
            self.frames.deafen(frame)
        return measured

    async def _look_through(self, held: list[measure.Measured], notes: list[str]) -> None:
        try:
            await look_through(held)
        except Stuck as error:
            notes.append(f"what lies over frames is not known: {error}"[:300])

    async def _shoot_after(self, first: list[asyncio.Task[Any]], ratio: float, notes: list[str]) -> Image | None:
        await asyncio.wait(first)
        return await self.shoot(ratio, notes)

    async def shoot_still(self, ratio: float, limit: float, *, moving: bool) -> Image | None:
        """A picture alone in which what moves stands as in those of looks; `moving`: whether the main document has such."""
        if not moving and len(self.page.frames) == 1:
            return await self.shoot(ratio, [], limit)
        assert self.frames is not None
        frames = await self.frames.read(limit)
        await asyncio.gather(*(f.value("cuadata.hold()", 2) for f in frames), return_exceptions=True)
        try:
            return await self.shoot(ratio, [], limit)
        finally:
            await self._release(frames, all=True)

    async def _stop(self, frame: Frame) -> bool:
        """Stop animations and caret ahead of the measuring; whether that was done."""
        try:
            return bool(await frame.value("cuadata.stop()", 3))
        except ValueError:
            return False

    async def _release(self, frames: list[Frame], *, all: bool = False) -> list[str] | None:
        """Let animations go on; the main document's pulse, None where it does not answer.

        Empty where it changed between `_stop` and the measuring.
        """
        stopped = [f for f in frames if all or f is frames[0] or f.stopped]
        told = await asyncio.gather(*(f.told("cuadata.release()", 2) for f in stopped), return_exceptions=True)
        for frame in stopped:
            frame.stopped = False
        return told[0] if isinstance(told[0], list) else None

    def _look(self, held: list[measure.Measured], picture: Image | None, began: float, notes: list[str]) -> Look:
        top = held[0].told
        elements = compose(held, self.number)
        if any(m.told["font"] for m in held):
            notes.append("a font has not arrived: text may stand in another, or be missing")
        for one in held:
            if one.told["untold"]:
                words = f"{one.told['untold']} of its {one.told['total']} elements outside the viewport are not told"
                notes.append(f"{one.frame.url[:80]} is large: {words}, and names are those on the screen")
        focused = next((e.id for e in reversed(elements) if e.states.focused and e.role != "RootWebArea"), None)
        if focused is None and top["focused"]:
            focused = self.number(held[0].frame, top["focused"])
        return Look(
            tab=self,
            screenshot=picture,
            elements=elements,
            viewport=Size(round(top["width"]), round(top["height"])),
            url=top["url"],
            title=top["title"],
            time=began,
            scroll=Point(*top["scroll"]),
            focused=focused,
            pulses={m.frame.document: tuple(m.told["pulse"]) for m in held},
            notes=tuple(dict.fromkeys(notes)),
            unfinished=any(m.told["unfinished"] for m in held),
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

    async def _listen(self, held: list[measure.Measured], notes: list[str], *, hold: bool) -> list[measure.Measured]:
        """Learn of listeners, and measure again the documents where they made more elements worth telling."""
        # Chromium (147 to 156) dies where listeners in frames are asked for while an isolated world listens there.
        try:
            news = await measure.listeners(held, pierce=not (self.attended and len(held) > 1))
        except (FrameGone, Stuck, ValueError) as error:
            notes.append(f"listeners are not known: {error}"[:300])
            return held
        again = {id(m): await measure.measure(m.frame, notes, hold=hold) for m in news}
        return [again.get(id(m)) or m for m in held]

    async def shoot(self, ratio: float, notes: list[str], limit: float = 10.0, clip: Any = None) -> Image | None:
        """The viewport's picture, `ratio` image px for one CSS px; None, with a note, where it cannot be had.

        `clip` is {x, y, width, height} in CSS px of the viewport.
        """
        await self.enter()
        assert self.session is not None
        options: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if ratio != 1 or clip is not None:
            size = self.page.viewport_size or {"width": 1280, "height": 720}
            options["clip"] = {"x": 0, "y": 0, **size, **(clip or {}), "scale": ratio}
        try:
            told = await send(self.session, "Page.captureScreenshot", limit, **options)
            picture = from_bytes(base64.b64decode(told["data"]), phash=False)
        except (FrameGone, Stuck, BadImage) as error:
            notes.append(f"no picture: {error}"[:300])
            return None
        if self.ready is not None:
            self.readied = picture, asyncio.get_running_loop().run_in_executor(None, self.ready, picture)
        return picture

    # --- single elements --------------------------------------------------------------------------------------------

    def find(self, id: int) -> tuple[Frame, int] | None:
        """The document and number of an element of the last look; None where no element has this id."""
        for measured in self.held:
            for row in measured.told["elements"]:
                if self.number(measured.frame, row["id"]) == id:
                    return measured.frame, int(row["id"])
        return None

    async def now(self, id: int) -> Element | None:
        """An element of the last look as it is now; None where it is gone."""
        found = self.find(id)
        if found is None:
            return None
        frame, serial = found
        try:
            told = await frame.told(f"cuadata.measure({{only: [{serial}]}})")
        except (FrameGone, Stuck):
            return None
        if not told["elements"]:
            return None
        for measured in self.held:
            if measured.frame is frame:
                rows = [{**r, **told["elements"][0]} if r["id"] == serial else r for r in measured.told["elements"]]
                measured.told = {**measured.told, "elements": rows}
        await look_through(self.held)
        return next((e for e in compose(self.held, self.number) if e.id == id), None)

    async def also(self, selectors: Iterable[str]) -> None:
        """Tell the elements that match these selectors in every look from now on, whatever they are."""
        await self.enter()
        assert self.frames is not None
        wanted = json.dumps(list(selectors))
        for frame in await self.frames.read():
            with contextlib.suppress(FrameGone, Stuck):
                await frame.value(f"cuadata.also({wanted})")

    def picked(self, index: int) -> list[int]:
        """Ids of the elements that match the selector of this index, in document order; as of the last look."""
        return [self.number(m.frame, s) for m in self.held for s in m.told["picked"][index : index + 1] for s in s]

    async def at(self, point: Point) -> list[int]:
        """Ids of the elements that a click at a point meets, the innermost first, as of the last look."""
        frame, told = None, None
        held = {m.frame: m for m in self.held}
        place, frame = Place(), self.held[0].frame if self.held else None
        chain: list[int] = []
        while frame is not None:
            x, y = place.back(point)
            told = await frame.told(f"cuadata.at({x}, {y})", 3)
            chain = [self.number(frame, s) for s in told["chain"]] + chain
            row = next((r for r in held[frame].told["elements"] if r["id"] == told["frame"] and r["frame"]), None)
            inner = next((m for m in self.held if row and m.frame.parent is frame and frame.nodes.get(row["id"]) == m.frame.owner), None)  # fmt: skip
            if inner is None or row is None:
                break
            place, frame = place.within(row, inner.told), inner.frame
        return chain
