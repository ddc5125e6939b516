"""Pixels as evidence: what of an element a person sees where a page's script cannot tell (masks, blends, veils).

The element is hidden, then flooded with black and with white, and the pictures compared. Where hiding changes nothing,
nothing of it is seen. Else the share of its area is measured in which black and white differ: that much of it shows through
whatever lies above, whether it holds text, a picture or a plain box. Elements that do not touch share their pictures.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from cuadata.browsing.frames import Frame, FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.geometry import clip, intersection
from cuadata.image import rgb
from cuadata.types import BBox, Element, Observation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuadata.browsing.page_session import AsyncPage
    from cuadata.browsing.tab import Tab

#: A difference of fewer levels in every channel is no difference to the eye.
LEVELS = 12
#: Less than this many image px that change are noise.
MIN_PIXELS = 6
#: What lets less than this share of black against white through hides what lies under it.
MIN_THROUGH = 0.3
#: Elements nearer to each other than this get pictures of their own, CSS px.
MARGIN = 3.0


async def measure(page: AsyncPage, ids: list[int], observation: Observation | None) -> Observation:
    """An observation in which `Evidence.pixels` of these elements is measured; those that are gone are left as they are."""
    held = observation or await page.observe()
    wanted = [e for e in held.elements if e.id in set(ids)]
    shares = {e.id: 0.0 for e in wanted if e.bbox is None or clip(e.bbox, held.viewport) is None}
    for batch in batches([e for e in wanted if e.id not in shares]):
        shares.update(await _measure(page.tab, batch, page.device_pixel_ratio))
    elements = tuple(
        replace(e, evidence=replace(e.evidence, pixels=shares[e.id])) if e.id in shares else e for e in held.elements
    )
    return replace(held, elements=elements)


def batches(elements: list[Element]) -> list[list[Element]]:
    """The elements in groups in which no two touch."""
    groups: list[list[Element]] = []
    for element in elements:
        box = _grown(element)
        free = (g for g in groups if all(intersection(box, _grown(other)) is None for other in g))
        group = next(free, None)
        if group is None:
            groups.append([element])
        else:
            group.append(element)
    return groups


def _grown(element: Element) -> BBox:
    box = element.bbox or BBox(0, 0, 0, 0)
    return BBox(box.x - MARGIN, box.y - MARGIN, box.width + 2 * MARGIN, box.height + 2 * MARGIN)


async def _measure(tab: Tab, batch: list[Element], ratio: float) -> dict[int, float]:
    """Shares of elements that do not touch, from five pictures of the viewport; empty where the page moved or went away."""
    numbers: dict[Frame, list[int]] = {}
    found = [e for e in batch if tab.find(e.id) is not None]
    for element in found:
        frame, serial = tab.find(element.id) or (None, 0)
        if frame is not None:
            numbers.setdefault(frame, []).append(serial)
    pictures: dict[str, NDArray[np.uint8]] = {}
    try:
        for frame in numbers:
            await frame.value("cuadata.hold(), 0")
        for look in ("plain", "hide", "black", "white", "again"):
            for frame, serials in numbers.items():
                painted = look in ("hide", "black", "white")
                await frame.value(f"cuadata.paintAs({serials}, '{look}'), 0" if painted else "cuadata.restore(), 0")
            shot = await tab.shoot(ratio, [])
            if shot is None or shot.data is None:
                return {}
            pictures[look] = rgb(shot.data)
    except (FrameGone, Stuck, ValueError):
        return {}
    finally:
        for frame in numbers:
            with contextlib.suppress(FrameGone, Stuck, ValueError):
                await frame.value("cuadata.restore(), cuadata.release(), 0", 3)
    if len({p.shape for p in pictures.values()}) != 1:
        return {}
    return {e.id: _share(e, ratio, pictures) for e in found}


def _share(element: Element, ratio: float, pictures: dict[str, NDArray[np.uint8]]) -> float:
    """Share of the element's area that is seen, 0 to 1."""
    import numpy as np

    tall, wide = pictures["plain"].shape[:2]
    box = _grown(element)
    left, top = max(round(box.x * ratio), 0), max(round(box.y * ratio), 0)
    right, bottom = min(round(box.right * ratio), wide), min(round(box.bottom * ratio), tall)
    if right <= left or bottom <= top:
        return 0.0
    part = {name: picture[top:bottom, left:right] for name, picture in pictures.items()}
    still = _apart(part["plain"], part["again"]) <= LEVELS
    if int(((_apart(part["plain"], part["hide"]) > LEVELS) & still).sum()) < MIN_PIXELS:
        return 0.0
    mask = np.zeros(still.shape, dtype=np.bool_)
    rects = element.evidence.rects or ((element.bbox,) if element.bbox is not None else ())
    for rect in rects:
        rows = slice(max(round(rect.y * ratio) - top, 0), max(round(rect.bottom * ratio) - top, 0))
        mask[rows, max(round(rect.x * ratio) - left, 0) : max(round(rect.right * ratio) - left, 0)] = True
    through = (_apart(part["black"], part["white"]) >= MIN_THROUGH * 255) & still & mask
    area = sum(rect.area for rect in rects) * ratio * ratio
    return round(min(float(through.sum()) / max(area, 1.0), 1.0), 4)


def _apart(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Largest channel difference of two pictures, by pixel."""
    import numpy as np

    apart: NDArray[np.int16] = np.abs(one.astype(np.int16) - other.astype(np.int16)).max(axis=2)
    return apart
