"""From what the documents of a page say to the elements of an observation, in CSS px of the top-level viewport.

A document in a frame knows nothing of what its frame's surroundings do to it: where it lies, what covers it, how opaque it
is. Each frame's place is carried down, and where anything may lie over a frame, every point that was tried inside it is
tried again in the documents around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cuadata.browsing import ax
from cuadata.browsing.frames import Frame
from cuadata.browsing.measure import Measured
from cuadata.geometry import intersection
from cuadata.types import Attribute, BBox, Element, Evidence, Locator, Point

#: Ids of the control that a label stands for, of the dialog and the scroller around an element, and of its parent.
Links = tuple[int | None, int | None, int | None, int | None]
Kids = dict[tuple[str, int], list[Measured]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document lies in the top-level viewport, as an affine map, and what surrounds it."""

    x: float = 0.0
    y: float = 0.0
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    view: BBox | None = None
    frames: tuple[str, ...] = ()
    opacity: float = 1.0
    rendered: bool = True
    inert: bool = False
    receives: bool = True
    unsure: str | None = None

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the document in the top-level viewport."""
        return self.x + self.a * x + self.c * y, self.y + self.b * x + self.d * y

    def back(self, point: Point) -> tuple[float, float]:
        """A point of the top-level viewport in the document."""
        x, y = point.x - self.x, point.y - self.y
        size = self.a * self.d - self.b * self.c or 1.0
        return (self.d * x - self.c * y) / size, (self.a * y - self.b * x) / size

    def point(self, told: list[float]) -> Point:
        """A point of the document in the top-level viewport, to a hundredth of a px."""
        if not self.frames:
            return Point(told[0], told[1])
        x, y = self.at(told[0], told[1])
        return Point(round(x, 2), round(y, 2))

    def box(self, told: list[float]) -> BBox:
        """The box around a box of the document, in the top-level viewport."""
        left, top, width, height = told
        if not self.frames:
            return BBox(left, top, width, height)
        corners = [self.at(left + i * width, top + j * height) for i in (0, 1) for j in (0, 1)]
        x, y = min(c[0] for c in corners), min(c[1] for c in corners)
        wide, tall = max(c[0] for c in corners) - x, max(c[1] for c in corners) - y
        return BBox(round(x, 2), round(y, 2), round(wide, 2), round(tall, 2))

    def within(self, row: dict[str, Any], told: dict[str, Any]) -> Place:
        """The place of a frame's document, from the row of the element that holds it and what the document says."""
        frame = row["frame"]
        across = frame["width"] / told["width"] if told["width"] else 1.0
        down = frame["height"] / told["height"] if told["height"] else 1.0
        (a, b), (c, d) = frame["across"], frame["down"]
        x, y = self.at(*frame["origin"])
        own = (a * across, b * across, c * down, d * down)
        inner = Place(
            x=x,
            y=y,
            a=self.a * own[0] + self.c * own[1],
            b=self.b * own[0] + self.d * own[1],
            c=self.a * own[2] + self.c * own[3],
            d=self.b * own[2] + self.d * own[3],
            frames=(*self.frames, " >>> ".join((*row["locator"]["shadow"], row["locator"]["css"]))),
            opacity=self.opacity * row["opacity"],
            rendered=self.rendered and row["rendered"],
            inert=self.inert or row["inert"],
            receives=self.receives and row["receives"],
            unsure=self.unsure or row["unsure"],
        )
        outer = inner.box([0, 0, told["width"], told["height"]])
        return replace(inner, view=intersection(outer, self.view) if self.view is not None else None)


def kids_of(held: list[Measured]) -> Kids:
    """The documents in frames, by the document and the node of the element that holds them."""
    kids: Kids = {}
    for measured in held[1:]:
        frame = measured.frame
        if frame.parent is not None and frame.owner is not None:
            kids.setdefault((frame.parent.id, frame.owner), []).append(measured)
    return kids


def holder(held: list[Measured], frame: Frame) -> tuple[Measured, dict[str, Any]] | None:
    """The document around a frame, and the row of the element that holds it."""
    for measured in held:
        if measured.frame is frame.parent:
            for row in measured.told["elements"]:
                if row["frame"] is not None and measured.frame.nodes.get(row["id"]) == frame.owner:
                    return measured, row
    return None


async def look_through(held: list[Measured], limit: float = 10.0) -> None:
    """Correct the shares and points of elements in frames by what lies over their frames, from the inside out."""
    for measured in held[1:]:
        chain: list[tuple[Measured, dict[str, Any]]] = []
        inner = measured
        while (found := holder(held, inner.frame)) is not None:
            chain.append(found)
            inner = found[0]
        if not chain or all(row["frame"]["clear"] for _, row in chain):
            continue
        grids: dict[str, list[list[float]]] = await measured.frame.told("cuadata.grids()", limit)
        await _through(measured, chain, grids, limit)


async def _through(
    measured: Measured, chain: list[tuple[Measured, dict[str, Any]]], grids: dict[str, list[list[float]]], limit: float
) -> None:
    # The rows are changed here, and shared with later rounds: these are copies.
    measured.told["elements"] = [dict(row) for row in measured.told["elements"]]
    order = [(row, p) for row in measured.told["elements"] for p in grids.get(str(row["id"]), ())]
    points = [(p[0], p[1]) for _, p in order]
    verdicts = [[p[3], p[4], "", 0] for _, p in order]
    told = measured.told
    for around, row in chain:
        place = Place().within(row, told)
        points = [place.at(*p) for p in points]
        if not row["frame"]["clear"] and points:
            flat = [[round(x, 2), round(y, 2)] for x, y in points]
            answers = await around.frame.told(f"cuadata.through({row['id']}, {flat})", limit)
            for verdict, answer in zip(verdicts, answers, strict=True):
                verdict[0] = verdict[0] and answer[0]
                verdict[1] = verdict[1] and answer[1]
                verdict[2] = verdict[2] or answer[2]
                verdict[3] = verdict[3] or (answer[3] if len(answer) > 3 else 0)
        told = around.told
    tried: dict[int, list[tuple[list[float], list[Any]]]] = {}
    for (row, point), verdict in zip(order, verdicts, strict=True):
        tried.setdefault(row["id"], []).append((point, verdict))
    for row in measured.told["elements"]:
        if row["id"] in tried:
            _correct(row, tried[row["id"]], chain[0][1])


def _correct(row: dict[str, Any], tried: list[tuple[list[float], list[Any]]], holder_row: dict[str, Any]) -> None:
    """Shares and point of one element from the points that were tried again."""
    before = row["seen"]
    row["hit"] = sum(p[2] for p, v in tried if v[0])
    row["seen"] = sum(p[2] for p, v in tried if v[1])
    clipped = sum(p[2] for p, v in tried if v[3] and not v[1])
    row["clipped"] += clipped
    row["covered"] += max(before - row["seen"] - clipped, 0.0)
    doubt = sum(p[2] for p, v in tried if v[1] and v[2])
    if doubt > 0.02 and row["seen"] - doubt < 0.5 and row["seen"] >= 0.3:
        row["unsure"] = row["unsure"] or next(v[2] for _, v in tried if v[2])
    if row["seen"] < before and holder_row["coveredBy"]:
        row["coveredBy"] = row["coveredBy"] or holder_row["coveredBy"]
    left, top, width, height = row["box"]
    free = [(p, v) for p, v in tried if v[0]]
    if not free:
        row["point"] = None
        return
    kept = row["point"] and all(v[0] for _, v in tried)
    if not kept:
        middle = (left + width / 2, top + height / 2)
        best = min(free, key=lambda pv: (pv[0][5], not pv[1][1], abs(pv[0][0] - middle[0]) + abs(pv[0][1] - middle[1])))
        row["point"] = [best[0][0], best[0][1]]


def compose(held: list[Measured], number: Callable[[Frame, int], int]) -> tuple[Element, ...]:
    """All elements in document order, those of a frame after the element that holds it."""
    top = held[0]
    view = BBox(0, 0, top.told["width"], top.told["height"])
    elements: list[Element] = []
    around: dict[str, int | None] = {"dialog": None, "scroller": None, "parent": None}
    _compose(top, Place(view=view), kids_of(held), number, elements, around)
    return tuple(elements)


def _compose(
    measured: Measured,
    place: Place,
    kids: Kids,
    number: Callable[[Frame, int], int],
    elements: list[Element],
    around: dict[str, int | None],
) -> None:
    frame = measured.frame
    rows = {row["id"]: row for row in measured.told["elements"]}
    known, frame.built = frame.built, {}

    def of(serial: int | None, outer: int | None = None) -> int | None:
        return number(frame, serial) if serial and serial in rows else outer

    for row in measured.told["elements"]:
        id = number(frame, row["id"])
        named = _named(measured, row, rows)
        links = (
            of(row["control"]),
            of(row["dialog"], around["dialog"]),
            of(row["scroller"], around["scroller"]),
            of(row.get("parent"), around["parent"]),
        )
        # An element that is as it was is the same object as in the last observation.
        held = known.get(row["id"])
        if held is None or held[0] is not row or held[1:4] != (named, links, place):
            held = (row, named, links, place, _element(row, place, named, id, links))
        frame.built[row["id"]] = held
        elements.append(held[4])
        for kid in kids.get((frame.id, frame.nodes.get(row["id"], -1)), ()) if row["frame"] else ():
            inner = {"dialog": links[1], "scroller": links[2], "parent": id}
            _compose(kid, place.within(row, kid.told), kids, number, elements, inner)


NAMELESS = ax.Named("", "")


def _named(measured: Measured, row: dict[str, Any], rows: dict[int, dict[str, Any]]) -> ax.Named:
    """What the tree says of an element; a label is what its control is."""
    nodes, tree = measured.frame.nodes, measured.tree
    named = tree.get(nodes.get(row["id"], -1), NAMELESS)
    control = rows.get(row["control"] or 0)
    if control is None:
        return named
    held = tree.get(nodes.get(control["id"], -1), named)
    ticked = control["entered"] and control["entered"][1]
    if ticked and (held is named or held.role in ("", "none")):
        held = _stood_for(named, row, control, ticked)
    if control["disabled"] and not held.states.disabled:
        return replace(held, states=replace(held.states, disabled=True))
    return held


def _stood_for(named: ax.Named, row: dict[str, Any], control: dict[str, Any], ticked: Any) -> ax.Named:
    """A label whose box is not rendered (`display: none`), so that no tree tells of it: the label is all that a person sees.

    Role and state are the box's own; the name is the label's words, as the tree would have it.
    """
    written = dict(control["attributes"])
    role = written.get("role") or written.get("type", "")
    return ax.Named(role, named.name or row["text"], replace(named.states, checked=ticked))


def _element(row: dict[str, Any], place: Place, named: ax.Named, id: int, links: Links) -> Element:
    box = place.box(row["box"])
    alive = place.rendered and row["rendered"]
    taken = alive and place.receives and not place.inert and not row["inert"]
    states = named.states if not row["disabled"] else replace(named.states, disabled=True)
    return Element(
        id=id,
        role=named.role,
        name=named.name,
        text=row["text"],
        tag=row["tag"],
        attributes=tuple(Attribute(n, v) for n, v in row["attributes"]),
        bbox=box if row["boxed"] and place.rendered else None,
        point=place.point(row["point"]) if row["point"] is not None and taken else None,
        seen=_share(row["seen"]) if alive else 0.0,
        hit=_share(row["hit"]) if taken else 0.0,
        states=states,
        locator=Locator(frames=place.frames, shadow=tuple(row["locator"]["shadow"]), css=row["locator"]["css"]),
        interactive=bool(row["acts"]),
        evidence=_evidence(row, place, box),
        acts_on=links[0],
        dialog=links[1],
        scroller=links[2],
        parent=links[3],
    )


def _evidence(row: dict[str, Any], place: Place, box: BBox) -> Evidence:
    return Evidence(
        rects=tuple(place.box(r) for r in row["rects"]),
        in_viewport=_share(min(row["inView"], _share_in_view(box, place))),
        clipped=_share(row["clipped"]),
        covered=_share(row["covered"]),
        opacity=round(row["opacity"] * place.opacity, 4),
        rendered=row["rendered"] and place.rendered,
        inert=row["inert"] or place.inert,
        pointer_events=row["receives"] and place.receives,
        contrast=row["contrast"],
        covered_by=row["coveredBy"],
        unsure=row["unsure"] or place.unsure,
    )


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 4)


def _share_in_view(box: BBox, place: Place) -> float:
    """Share of a box inside the visible part of its frame; 1 in the top-level document, which has no frame to clip it."""
    if not place.frames:
        return 1.0
    if place.view is None or box.area <= 0:
        return 0.0
    held = intersection(box, place.view)
    return 0.0 if held is None else held.area / box.area
