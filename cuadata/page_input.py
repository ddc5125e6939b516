"""Real input: pointer, keys and wheel through the browser's own event pipeline, key by key."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cuadata.types import Action, Point

if TYPE_CHECKING:
    from playwright.async_api import Page

#: One notch of a wheel and one line of text, CSS px, as Chromium scrolls them.
CLICK_PX = 100.0
LINE_PX = 40.0


async def click(
    page: Page, at: Point, *, button: str = "left", count: int = 1, modifiers: tuple[str, ...] = ()
) -> None:
    """Press and release at a point, `count` times."""
    for key in modifiers:
        await page.keyboard.down(key)
    try:
        await page.mouse.click(at.x, at.y, button="right" if button == "right" else "left", click_count=count)
    finally:
        for key in reversed(modifiers):
            await page.keyboard.up(key)


async def drag(page: Page, start: Point, end: Point, *, steps: int = 12, modifiers: tuple[str, ...] = ()) -> None:
    """Press at `start`, move to `end` in `steps`, release."""
    for key in modifiers:
        await page.keyboard.down(key)
    try:
        await page.mouse.move(start.x, start.y)
        await page.mouse.down()
        await page.mouse.move(end.x, end.y, steps=steps)
        await page.mouse.up()
    finally:
        for key in reversed(modifiers):
            await page.keyboard.up(key)


async def type_text(page: Page, text: str) -> None:
    """Type key by key; characters that no key gives are inserted as an input method would."""
    await page.keyboard.type(text)


async def press(page: Page, keys: tuple[str, ...]) -> None:
    """Press keys together: all down in order, all up in reverse order."""
    held: list[str] = []
    try:
        for key in keys:
            await page.keyboard.down(key)
            held.append(key)
    finally:
        for key in reversed(held):
            await page.keyboard.up(key)


async def scroll(page: Page, action: Action, at: Point) -> None:
    """Turn the wheel at a point."""
    unit = {"px": 1.0, "line": LINE_PX, "click": CLICK_PX, None: 1.0}[action.scroll_unit]
    await page.mouse.move(at.x, at.y)
    await page.mouse.wheel((action.scroll_x or 0.0) * unit, (action.scroll_y or 0.0) * unit)


async def wait(action: Action, most: float = 60.0) -> None:
    """Wait as long as the action says, at most `most` seconds."""
    await asyncio.sleep(min(max(action.seconds or 0.0, 0.0), most))
