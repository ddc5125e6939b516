"""From the documents of a page to the elements of an observation, in CSS px of the top-level viewport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from cuadata import ax
from cuadata.frames import Frame, FrameGone, send
from cuadata.geometry import intersection
from cuadata.loop import Stuck
from cuadata.types import Attribute, BBox, Element, Evidence, Locator, Point, States


@dataclass(slots=True)
class Measured:
    """What one document said, and what the browser said of it."""

    frame: Frame
    told: dict[str, Any]
    tree: dict[int, ax.Named] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document lies in the top-level viewport, and what its frame's surroundings do to it."""

    left: float = 0.0
    top: float = 0.0
    across: float = 1.0
    down: float = 1.0
    view: BBox | None = None
    frames: tuple[str, ...] = ()
    shadow: tuple[str, ...] = ()
    opacity: float = 1.0
    rendered: bool = True
    inert: bool = False
    receives: bool = True
    unsure: str | None = None
    share: float = 1.0

    def box(self, told: list[float]) -> BBox:
        """A box of the document in the top-level viewport."""
        x, y, width, height = told
        return BBox(self.left + x * self.across, self.top + y * self.down, width * self.across, height * self.down)

    def point(self, told: list[float]) -> Point:
        """A point of the document in the top-level viewport."""
        return Point(self.left + told[0] * self.across, self.top + told[1] * self.down)

    def back(self, point: Point) -> tuple[float, float]:
        """A point of the top-level viewport in the document."""
        return (point.x - self.left) / self.across, (point.y - self.top) / self.down


async def measure(frame: Frame, notes: list[str], limit: float = 10.0) -> Measured | None:
    """Measure one document; None, with a note, where it is gone or does not answer."""
    try:
        told = await frame.told("cuadata.measure()", limit)
        closed = await frame.new_nodes(limit)
        if closed:
            await _adopt(frame, [root for _, root in closed], limit)
            told = await frame.told("cuadata.measure()", limit)
            await frame.new_nodes(limit)
        return Measured(frame, told)
    except (FrameGone, Stuck, ValueError) as error:
        notes.append(f"the frame {frame.url[:120]} was not measured: {error}"[:300])
        return None


async def _adopt(frame: Frame, roots: list[int], limit: float) -> None:
    for root in roots:
        await frame.call("(root) => cuadata.adopt(root)", [await frame.object_of(root, limit)], limit)


async def listeners(frame: Frame, held: Iterable[Measured], limit: float = 5.0) -> bool:
    """Tell our world which elements have pointer listeners, as the debugger knows; True where some were news.

    `held` are the measured documents of the frame's process, whose listeners are all read with one call.
    """
    result = await frame.evaluate("document", limit)
    told = await send(
        frame.session, "DOMDebugger.getEventListeners", limit, objectId=result["objectId"], depth=-1, pierce=False
    )
    nodes = {
        int(one["backendNodeId"])
        for one in told.get("listeners", ())
        if one.get("backendNodeId") and one["type"] in POINTER
    }
    news = False
    for measured in held:
        fresh = nodes - measured.frame.listening
        if fresh:
            objects = await asyncio.gather(*(measured.frame.object_of(n, limit) for n in fresh), return_exceptions=True)
            good = [o for o in objects if isinstance(o, str)]
            measured.frame.listening |= fresh
            if good and await measured.frame.call("(...nodes) => cuadata.listen(...nodes)", good, limit):
                news = True
    return news


POINTER = frozenset(
    [
        "click",
        "mousedown",
        "mouseup",
        "pointerdown",
        "pointerup",
        "touchstart",
        "touchend",
        "dblclick",
        "contextmenu",
        "keydown",
        "dragstart",
    ]
)


async def trees(held: Iterable[Measured], notes: list[str], limit: float = 20.0) -> None:
    """Join each document with its accessibility tree."""

    async def one(measured: Measured) -> None:
        frame = measured.frame
        try:
            told = await send(frame.session, "Accessibility.getFullAXTree", limit, frameId=frame.id)
        except (FrameGone, Stuck) as error:
            notes.append(f"the frame {frame.url[:120]} has no accessibility tree: {error}"[:300])
            return
        measured.tree = ax.by_node(told["nodes"])
        if ax.empty(measured.tree) and any(e["acts"] for e in measured.told["elements"]):
            notes.append(f"the accessibility tree of {frame.url[:120]} is empty although the page has controls")

    await asyncio.gather(*(one(m) for m in held))


def compose(held: list[Measured], number: Callable[[Frame, int], int]) -> tuple[Element, ...]:
    """All elements in document order, frames after the element that holds them."""
    kids: dict[tuple[str, int], list[Measured]] = {}
    top = held[0]
    for measured in held[1:]:
        frame = measured.frame
        if frame.parent is not None and frame.owner is not None:
            kids.setdefault((frame.parent.id, frame.owner), []).append(measured)
    viewport = BBox(0, 0, top.told["width"], top.told["height"])
    elements: list[Element] = []
    _compose(top, Place(view=viewport), kids, number, elements, {"dialog": None, "scroller": None, "parent": None})
    return tuple(elements)


def _compose(
    measured: Measured,
    place: Place,
    kids: dict[tuple[str, int], list[Measured]],
    number: Callable[[Frame, int], int],
    elements: list[Element],
    around: dict[str, int | None],
) -> None:
    frame = measured.frame
    rows = {row["id"]: row for row in measured.told["elements"]}

    def of(serial: int | None, outer: int | None = None) -> int | None:
        return number(frame, serial) if serial and serial in rows else outer

    for row in measured.told["elements"]:
        named = measured.tree.get(frame.nodes.get(row["id"], -1), ax.Named("", ""))
        control = rows.get(row["control"] or 0)
        if control is not None:
            named = measured.tree.get(frame.nodes.get(control["id"], -1), named)
        element = _element(row, place, named, number(frame, row["id"]))
        elements.append(
            replace(
                element,
                acts_on=of(row["control"]),
                dialog=of(row["dialog"], around["dialog"]),
                scroller=of(row["scroller"], around["scroller"]),
                parent=of(row.get("parent"), around["parent"]),
            )
        )
        for kid in kids.get((frame.id, frame.nodes.get(row["id"], -1)), ()):
            inner = {"dialog": elements[-1].dialog, "scroller": elements[-1].scroller, "parent": elements[-1].id}
            _compose(kid, inside(place, row, kid.told), kids, number, elements, inner)


def inside(place: Place, row: dict[str, Any], told: dict[str, Any]) -> Place:
    """The place of a frame's document, from the row of the element that holds it."""
    box = row["frame"]
    outer = place.box([box["left"], box["top"], box["width"], box["height"]])
    return Place(
        left=outer.x,
        top=outer.y,
        across=outer.width / told["width"] if told["width"] else 1.0,
        down=outer.height / told["height"] if told["height"] else 1.0,
        view=intersection(outer, place.view) if place.view is not None else None,
        frames=(*place.frames, " >>> ".join((*row["locator"]["shadow"], row["locator"]["css"]))),
        opacity=place.opacity * row["opacity"],
        rendered=place.rendered and row["rendered"],
        inert=place.inert or row["inert"],
        receives=place.receives and row["receives"],
        unsure=place.unsure or row["unsure"],
    )


def _element(row: dict[str, Any], place: Place, named: ax.Named, id: int) -> Element:
    box = place.box(row["box"])
    seen_by_frame = _share_in(box, place)
    point = place.point(row["point"]) if row["point"] is not None else None
    if point is not None and (place.view is None or not _within(place.view, point)):
        point = None
    states = named.states
    disabled = states.disabled or row["disabled"]
    return Element(
        id=id,
        role=named.role,
        name=named.name,
        text=row["text"],
        tag=row["tag"],
        attributes=tuple(Attribute(n, v) for n, v in row["attributes"]),
        bbox=box if row["rects"] or row["rendered"] else (box if box.area == 0 and row["box"] else None),
        point=point if place.receives and place.rendered else None,
        seen=round(row["seen"] * seen_by_frame * (1.0 if place.rendered else 0.0), 4),
        hit=round(row["hit"] * seen_by_frame * (1.0 if place.rendered and place.receives else 0.0), 4),
        states=replace(states, disabled=disabled) if disabled != states.disabled else states,
        locator=Locator(frames=place.frames, shadow=tuple(row["locator"]["shadow"]), css=row["locator"]["css"]),
        interactive=bool(row["acts"]),
        evidence=_evidence(row, place),
    )


def _evidence(row: dict[str, Any], place: Place) -> Evidence:
    return Evidence(
        rects=tuple(place.box(r) for r in row["rects"]),
        in_viewport=round(row["inView"] * _share_in(place.box(row["box"]), place), 4),
        clipped=round(row["clipped"], 4),
        covered=round(row["covered"], 4),
        opacity=round(row["opacity"] * place.opacity, 4),
        rendered=row["rendered"] and place.rendered,
        inert=row["inert"] or place.inert,
        pointer_events=row["receives"] and place.receives,
        contrast=row["contrast"],
        covered_by=row["coveredBy"],
        unsure=row["unsure"] or place.unsure,
    )


def _share_in(box: BBox, place: Place) -> float:
    if not place.frames:
        return 1.0
    if place.view is None or box.area <= 0:
        return 0.0
    held = intersection(box, place.view)
    return 0.0 if held is None else held.area / box.area


def _within(box: BBox, point: Point) -> bool:
    return box.x <= point.x < box.right and box.y <= point.y < box.bottom


def nothing() -> States:
    """States of an element that the tree does not tell of."""
    return States()
