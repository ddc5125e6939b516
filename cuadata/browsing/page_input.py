"""Real input: pointer, keys and wheel through the browser's own event pipeline, key by key."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata.browsing.frames import Frame, send
from cuadata.types import Action, Point

if TYPE_CHECKING:
    from playwright.async_api import Page

#: One notch of a wheel and one line of text, CSS px, as Chromium scrolls them.
CLICK_PX = 100.0
LINE_PX = 40.0


class BadAction(ValueError):
    """The action lacks what its type needs, or the page has no place for it."""


@contextlib.asynccontextmanager
async def held(page: Page, keys: tuple[str, ...]) -> AsyncIterator[None]:
    """Keys that are down for the time of something else; they are let go whatever happens."""
    down: list[str] = []
    try:
        for key in keys:
            await page.keyboard.down(key)
            down.append(key)
        yield
    finally:
        for key in reversed(down):
            with contextlib.suppress(Exception):
                await page.keyboard.up(key)


async def click(page: Page, action: Action) -> None:
    """Press and release at the action's point."""
    at = _point(action)
    count = 2 if action.type == "double_click" else 1
    async with held(page, action.modifiers):
        await page.mouse.click(
            at.x, at.y, button="right" if action.type == "right_click" else "left", click_count=count
        )


async def drag(page: Page, action: Action, *, steps: int = 12) -> None:
    """Press at the point, move to the end in `steps`, release."""
    start, end = _point(action), action.end
    if end is None:
        raise BadAction("a drag needs an end")
    async with held(page, action.modifiers):
        await page.mouse.move(start.x, start.y)
        await page.mouse.down()
        try:
            await page.mouse.move(end.x, end.y, steps=steps)
        finally:
            await page.mouse.up()


async def press(page: Page, action: Action) -> None:
    """Press keys together: all down in order, all up in reverse order."""
    if not action.keys:
        raise BadAction("a press needs keys")
    async with held(page, action.keys):
        pass


async def scroll(page: Page, action: Action, at: Point) -> None:
    """Turn the wheel at a point."""
    unit = {"px": 1.0, "line": LINE_PX, "click": CLICK_PX, None: 1.0}[action.scroll_unit]
    await page.mouse.move(at.x, at.y)
    async with held(page, action.modifiers):
        await page.mouse.wheel((action.scroll_x or 0.0) * unit, (action.scroll_y or 0.0) * unit)


async def select(frame: Frame, serial: int, action: Action) -> tuple[str, str]:
    """Choose an option by value, else by label; the value and the label that were chosen."""
    wanted = json.dumps({"value": action.value, "text": action.text})
    told: dict[str, Any] = await frame.told(f"cuadata.choose({serial}, {wanted})")
    if "error" in told:
        raise BadAction(str(told["error"]))
    return str(told["value"]), str(told["label"])


async def upload(page: Page, frame: Frame | None, node: int | None, action: Action) -> None:
    """Give files to a file field, or to the chooser that a click on something else opens."""
    missing = [f for f in action.files if not Path(f).is_file()]
    if missing:
        raise BadAction(f"there is no file {missing[0]!r} to upload; give its path")
    files = [str(Path(f).resolve()) for f in action.files]
    if frame is not None and node is not None:
        await send(frame.session, "DOM.setFileInputFiles", files=files, backendNodeId=node)
        return
    at = _point(action)
    async with page.expect_file_chooser(timeout=3000) as chooser:
        await page.mouse.click(at.x, at.y)
    await (await chooser.value).set_files(files)


async def focus(frame: Frame, node: int) -> None:
    """Give an element the keyboard focus, as Tab would."""
    await send(frame.session, "DOM.focus", backendNodeId=node)


async def wait(action: Action, most: float = 60.0) -> None:
    """Wait as long as the action says, at most `most` seconds."""
    await asyncio.sleep(min(max(action.seconds or 0.0, 0.0), most))


def _point(action: Action) -> Point:
    if action.point is None:
        raise BadAction(f"a {action.type} needs a point or an element")
    return action.point
