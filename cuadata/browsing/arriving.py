"""What the arrival of the pointer alone changes, before it presses: that is no effect of the press."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.types import Action, Image, Observation, Point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuadata.browsing.page_session import AsyncPage

#: Actions that press where the pointer is brought first.
POINTED = frozenset({"click", "double_click", "right_click", "drag"})
Pulses = dict[str, tuple[str, str, str]]
#: Frames of a page that moves by itself: how many, and seconds between them; together longer than a clock's second.
AMBIENT_FRAMES, AMBIENT_PAUSE = 5, 0.25


@dataclass(frozen=True, slots=True)
class Arrived:
    """What stands once the pointer has arrived, and its picture, which may be known without one being taken."""

    observation: Observation
    picture: Image | NDArray[np.uint8] | None


#: What is known of a page that does not answer: nothing that would let a picture be spared.
UNKNOWN: dict[str, Any] = {
    "restless": False,
    "alive": False,
    "busy": True,
    "loading": False,
    "glows": True,
    "moving": True,
}


def goes(page: AsyncPage, action: Action) -> bool:
    """Whether the pointer is brought to another place before the action."""
    tab = page.windows.held
    return tab is not None and action.type in POINTED and action.point not in (None, tab.pointer)


async def hover(page: AsyncPage, point: Point | None, screenshot: bool) -> tuple[Observation | None, dict[str, Any]]:
    """Bring the pointer to its place: another observation where that alone changed the page, and where it stands then."""
    tab = page.tab
    if point is None or tab.pointer == point:
        return None, UNKNOWN
    try:
        tab.stood = None
        frame = await tab.top()
        before = tab.left if tab.left is not None else await frame.value("cuadata.depart()", 3)
        async with asyncio.timeout(page.limit):
            await tab.page.mouse.move(point.x, point.y)
        tab.pointer = point
        look, told = await frame.told(f"cuadata.arrive({point.x}, {point.y})", 3, wait=True)
        if look == before:
            return None, tab.standing(frame, told)
        return await page.observe(screenshot=screenshot), UNKNOWN
    except (FrameGone, Stuck, TimeoutError, ValueError):
        return None, UNKNOWN


async def repainted(page: AsyncPage, before: Observation, told: dict[str, Any]) -> Arrived:
    """What stands once the pointer has arrived: a new picture where only a style changed, all anew where the page did by itself.

    None is taken where the page says (`told`, of `standing`) that nothing there changes its look under a pointer, or only
    controls that the browser draws, and how these look under it was seen before.
    """
    if not (told["busy"] or told["loading"] or told["alive"]) and told["glows"] is not True:
        if not told["glows"]:
            return Arrived(before, before.screenshot)
        known = page.tab.looks.predict(before.screenshot, told["glows"], page.device_pixel_ratio)
        if known is not None:
            return Arrived(before, known)
    if (told["busy"] or told["loading"]) and await page.settle() is not None:
        return Arrived(before, before.screenshot)
    shot = await page.tab.shoot_still(page.device_pixel_ratio, page.limit, moving=told["moving"])
    if shot is None or before.screenshot is None:
        return Arrived(before, before.screenshot)
    same = shot.sha256 == before.screenshot.sha256
    if not same and (page.last is None or shown(await page.tab.pulses()) != shown(page.last.pulses)):
        renewed = await page.observe()
        return Arrived(renewed, renewed.screenshot)
    if told["glows"] is not True:
        page.tab.looks.learn(before.screenshot, shot, told["glows"], page.device_pixel_ratio)
    return Arrived(replace(before, screenshot=shot), shot)


async def standing(page: AsyncPage) -> dict[str, Any]:
    """Where the page stands now that the pointer is there; see `tick` in page_tools.js."""
    if page.tab.stood is not None:
        return page.tab.stood
    try:
        return await page.tab.tick(paint=False)
    except (FrameGone, Stuck, ValueError):
        return UNKNOWN


async def ambient(page: AsyncPage, told: dict[str, Any]) -> list[Observation]:
    """Observations of a page that moves by itself, taken without acting; none where it stands still."""
    if not (told["restless"] or told["alive"]):
        return []
    frames = []
    for _ in range(AMBIENT_FRAMES):
        frames.append(await page.observe(settle=False))
        await asyncio.sleep(AMBIENT_PAUSE)
    return frames


def shown(pulses: Pulses) -> dict[str, tuple[str, str]]:
    """What pulses say of the document and of scrolling: focus and transitions, as of a focus ring, come with every click."""
    return {document: (pulse[0], pulse[2].partition("/")[2]) for document, pulse in pulses.items()}
