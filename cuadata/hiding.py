"""Pixels as evidence: what of an element a person sees where a page's script cannot tell (masks, blends, veils).

The element is hidden, then flooded with black and with white, and the pictures compared. Where hiding changes nothing,
nothing of it is seen. Else the share of its area is measured in which black and white differ: that much of it shows through
whatever lies above, whether it holds text, a picture or a plain box.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from cuadata.frames import FrameGone
from cuadata.image import rgb
from cuadata.loop import Stuck
from cuadata.types import BBox, Element, Image, Observation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuadata.page_session import AsyncPage
    from cuadata.tab import Tab

#: A difference of fewer levels in every channel is no difference to the eye.
LEVELS = 12
#: Less than this many image px that change are noise.
MIN_PIXELS = 6
#: What lets less than this share of black against white through hides what lies under it.
MIN_THROUGH = 0.3


async def measure(page: AsyncPage, ids: list[int], observation: Observation | None) -> Observation:
    """An observation in which `Evidence.pixels` of these elements is measured; those that are gone are left as they are."""
    held = observation or await page.observe()
    found: dict[int, float] = {}
    for id in ids:
        element = next((e for e in held.elements if e.id == id), None)
        if element is None:
            continue
        share = await _measure_one(page.tab, element, page.device_pixel_ratio, held)
        if share is not None:
            found[id] = share
    elements = tuple(
        replace(e, evidence=replace(e.evidence, pixels=found[e.id])) if e.id in found else e for e in held.elements
    )
    return replace(held, elements=elements)


async def _measure_one(tab: Tab, element: Element, ratio: float, held: Observation) -> float | None:
    clip = _clip(element, held)
    if clip is None:
        return 0.0
    target = tab.find(element.id)
    if target is None:
        return None
    frame, serial = target
    pictures: dict[str, NDArray[np.uint8]] = {}
    try:
        await frame.value("cuadata.hold(), 0")
        plain = _pixels(await tab.shoot(ratio, [], clip=clip))
        for look in ("hide", "black", "white"):
            if not await frame.value(f"cuadata.paintAs({serial}, '{look}')"):
                return None
            shown = _pixels(await tab.shoot(ratio, [], clip=clip))
            if plain is None or shown is None or shown.shape != plain.shape:
                return None
            pictures[look] = shown
        await frame.value("cuadata.restore(), 0")
        again = _pixels(await tab.shoot(ratio, [], clip=clip))
    except (FrameGone, Stuck, ValueError):
        return None
    finally:
        for script in ("cuadata.restore(), 0", "cuadata.release()"):
            try:
                await frame.value(script, 3)
            except (FrameGone, Stuck, ValueError):
                pass
    if plain is None or again is None or again.shape != plain.shape:
        return None
    return _share(element, clip, ratio, plain, again, pictures)


def _share(
    element: Element,
    clip: dict[str, float],
    ratio: float,
    plain: NDArray[np.uint8],
    again: NDArray[np.uint8],
    pictures: dict[str, NDArray[np.uint8]],
) -> float:
    """Share of the element's area that is seen, 0 to 1."""
    import numpy as np

    still = _apart(plain, again) <= LEVELS
    mask = np.zeros(plain.shape[:2], dtype=np.bool_)
    for rect in element.evidence.rects or (element.bbox,):
        if rect is None:
            continue
        left, top = (rect.x - clip["x"]) * ratio, (rect.y - clip["y"]) * ratio
        right, bottom = left + rect.width * ratio, top + rect.height * ratio
        mask[max(round(top), 0) : max(round(bottom), 0), max(round(left), 0) : max(round(right), 0)] = True
    changed = (_apart(plain, pictures["hide"]) > LEVELS) & still
    if int(changed.sum()) < MIN_PIXELS:
        return 0.0
    through = (_apart(pictures["black"], pictures["white"]) >= MIN_THROUGH * 255) & still & mask
    area = sum(r.area for r in element.evidence.rects) * ratio * ratio or float(mask.sum()) or 1.0
    return round(min(float(through.sum()) / area, 1.0), 4)


def _apart(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Largest channel difference of two pictures, by pixel."""
    import numpy as np

    apart: NDArray[np.int16] = np.abs(one.astype(np.int16) - other.astype(np.int16)).max(axis=2)
    return apart


def _pixels(picture: Image | None) -> NDArray[np.uint8] | None:
    return None if picture is None or picture.data is None else rgb(picture.data)


def _clip(element: Element, held: Observation) -> dict[str, float] | None:
    """The whole px around the part of an element that is on the screen; None where nothing is."""
    box: BBox | None = element.bbox
    if box is None:
        return None
    left, top = max(math.floor(box.x) - 2, 0), max(math.floor(box.y) - 2, 0)
    right = min(math.ceil(box.right) + 2, held.viewport.width)
    bottom = min(math.ceil(box.bottom) + 2, held.viewport.height)
    if right - left < 1 or bottom - top < 1:
        return None
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}
