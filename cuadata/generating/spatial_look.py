"""Renders a generated page and measures it: rewritten in place, one evaluation for all boxes, one picture.

Only for script-free pages of our own, whose elements of interest have ids. Everything is read off the rendered page. Names
follow three plain rules there (aria-label, label, text); Chromium's accessibility tree is asked once a template, and a
page on which the two differ is an error.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from cuadata import image
from cuadata.browsing import ax, engine
from cuadata.browsing.page_session import AsyncPage
from cuadata.errors import DataError
from cuadata.types import Attribute, BBox, Element, Evidence, Locator, Observation, Point, Size, States, Task

#: Seconds that the browser may take for one page.
LIMIT = 15.0
_FONT = "<style data-font>"
_BLANK = "data:text/html,<!doctype html><html><head></head><body></body></html>"
#: Makes the page's fonts stay, and waits until they can be drawn with.
_LOAD_FONTS = (
    "async (css) => { document.head.innerHTML = ''; const s = document.createElement('style'); s.dataset.font = '';"
    " s.textContent = css; document.head.append(s);"
    " await Promise.allSettled([...document.fonts].map((f) => f.load()));"
    " return [...document.fonts].filter((f) => f.status !== 'loaded').map((f) => f.family + ' ' + f.weight); }"
)
#: Waits until the page as it stands is drawn: a frame begins only when the one before the last is on the screen.
_DRAWN = (
    "() => new Promise((done) => { let left = 3;"
    " const next = () => left-- ? requestAnimationFrame(next) : done(); next(); })"
)
#: Templates whose names Chromium's accessibility tree was asked for in this process.
_checked: set[str] = set()


@functools.cache
def _script() -> str:
    return Path(__file__).with_name("spatial_look.js").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Look:
    """One rendered page, measured."""

    observation: Annotated[Observation, "picture and boxes of one moment"]
    looks: Annotated[dict[int, str], "id -> how the element looks, in words that its page gives"]
    uses: Annotated[dict[int, str], "id -> what it is for, in words that its page gives"]


class Looker:
    """A page of a browser that shows one generated page after the other; a context manager.

    Where the browser died another is started and the page is made again, once; DataError after that.
    """

    def __init__(self) -> None:
        self.browser = ""
        self._page: AsyncPage | None = None
        self._session: Any = None
        self._shape: tuple[Size, float] | None = None
        self._fonts = ""
        self._turn = asyncio.Lock()

    def look(self, task: Task, *, viewport: Size | None = None, ratio: float = 1.0) -> Look:
        """Render a task's page and measure it, in the task's viewport or another one."""
        return self.begin(task, viewport=viewport, ratio=ratio)()

    def begin(self, task: Task, *, viewport: Size | None = None, ratio: float = 1.0) -> Callable[[], Look]:
        """Begin to, and give what waits for the look: the browser works meanwhile, on one page after the other."""
        shape = (viewport or task.viewport, ratio)
        begun = engine.engine()[0].start(self._in_turn(task, shape))
        return lambda: self._finish(begun, task, shape)

    def _finish(self, begun: Future[Look], task: Task, shape: tuple[Size, float]) -> Look:
        loop = engine.engine()[0]
        try:
            return loop.wait(begun, LIMIT)
        except Exception as error:  # noqa: BLE001
            # A dead browser and a page that hangs look alike from here: one more try on a new page.
            self.close()
            try:
                return loop.run(self._in_turn(task, shape), 2 * LIMIT)
            except Exception as again:
                self.close()
                raise DataError(f"it was not rendered: {again} (first try: {error})", place=task.id) from again

    async def _in_turn(self, task: Task, shape: tuple[Size, float]) -> Look:
        async with self._turn:
            return await self._look(task, shape)

    async def _look(self, task: Task, shape: tuple[Size, float]) -> Look:
        head, fonts, html = _without_fonts(task.html or "")
        if self._page is None or shape != self._shape:
            await self._open(shape)
        if fonts != self._fonts:
            await self._load(fonts)
        assert self._page is not None
        rows = json.loads(await self._page.evaluate(_script(), head + html))
        if task.template not in _checked:
            await self._check_names(rows, task.id)
            _checked.add(task.template)
        return _read(rows, await self._shoot(shape), shape)

    async def _open(self, shape: tuple[Size, float]) -> None:
        await self._close()
        self._page = await engine.engine()[1].page(
            _BLANK, viewport=shape[0], device_pixel_ratio=shape[1], headed=False, reach=()
        )
        page = self._page.tab.page
        self._session = await page.context.new_cdp_session(page)
        self.browser, self._shape, self._fonts = self._page.browser, shape, ""

    async def _load(self, fonts: str) -> None:
        assert self._page is not None
        missing = await self._page.evaluate(_LOAD_FONTS, fonts)
        if missing:
            raise DataError(f"fonts of the page do not load: {', '.join(missing)}")
        self._fonts = fonts

    async def _shoot(self, shape: tuple[Size, float]) -> bytes:
        assert self._page is not None
        options: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if shape[1] != 1:
            # A scaled picture is taken at another scale than the page is drawn at. How curves' edges are smoothed hangs on
            # whether a frame at the page's own scale came first: here it always has.
            await self._page.evaluate(_DRAWN)
            options["clip"] = {"x": 0, "y": 0, "width": shape[0].width, "height": shape[0].height, "scale": shape[1]}
        told = await self._session.send("Page.captureScreenshot", options)
        picture = base64.b64decode(told["data"])
        # Rows tell their pictures apart by the bytes, and nothing decodes them on the way.
        if not image.is_whole(picture):
            raise DataError(f"the browser gave {len(picture)} bytes that are no whole PNG")
        return picture

    async def _check_names(self, rows: list[list[Any]], place: str) -> None:
        """DataError where Chromium's accessibility tree calls a control of this page something else."""
        told = await self._session.send("Accessibility.getFullAXTree")
        held = Counter((one.role, one.name) for one in ax.by_node(told["nodes"]).values() if not one.ignored)
        own = Counter((row[2], row[3]) for row in rows if row[14])
        if own - held:
            raise DataError(f"the accessibility tree does not have {sorted(own - held)[:3]}", place=place)

    async def _close(self) -> None:
        page, self._page, self._session, self._shape = self._page, None, None, None
        if page is not None:
            await page.close()

    def close(self) -> None:
        """Give the page back."""
        engine.engine()[0].run(self._close(), LIMIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of: object) -> None:
        self.close()


def _without_fonts(html: str) -> tuple[str, str, str]:
    """The page before its font style, the font style's text, and the page after it."""
    head, found, rest = html.partition(_FONT)
    fonts, _, tail = rest.partition("</style>")
    return (head, fonts, tail) if found else (head, "", "")


def _read(rows: list[list[Any]], picture: bytes, shape: tuple[Size, float]) -> Look:
    elements = tuple(_element(number, row) for number, row in enumerate(rows, 1))
    observation = Observation(
        screenshot=image.from_bytes(picture, phash=False),
        viewport=shape[0],
        device_pixel_ratio=shape[1],
        elements=elements,
    )
    looks = {one.id: row[12] for one, row in zip(elements, rows, strict=True) if row[12]}
    uses = {one.id: row[13] for one, row in zip(elements, rows, strict=True) if row[13]}
    return Look(observation, looks, uses)


def _element(number: int, row: list[Any]) -> Element:
    css, tag, role, name, text, x, y, width, height, inside, hit, point, _, _, interactive, checked = row
    box = BBox(round(x, 3), round(y, 3), round(width, 3), round(height, 3))
    return Element(
        id=number,
        role=role,
        name=name,
        text=text,
        tag=tag,
        attributes=(Attribute("aria-label", name),) if tag == "button" and not text else (),
        bbox=box if width and height else None,
        point=Point(round(point[0], 2), round(point[1], 2)) if point else None,
        seen=hit,
        hit=hit,
        states=States(checked=checked),
        locator=Locator(css=f"#{css}"),
        interactive=interactive,
        evidence=Evidence(rects=(box,), in_viewport=inside, covered=round(max(0.0, inside - hit), 4)),
    )
