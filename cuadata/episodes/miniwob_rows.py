"""Elements of a MiniWoB++ page from the rows that `miniwob.js` tells."""

from __future__ import annotations

from typing import Any

from cuadata.types import Attribute, BBox, Element, Evidence, Locator, Point, States

SHAPES = frozenset(["circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "text"])


def element(row: list[Any], focused: int | None) -> Element:
    """An element of a row; `focused` is the number of the one that has the focus."""
    number, box, point, states, (role, name, tag, css, fill, interactive), text = row
    reached = float(point is not None)
    return Element(
        id=number,
        role=_role(role, tag),
        name=name,
        text=text,
        tag=tag,
        attributes=(Attribute("fill", fill),) if fill else (),
        bbox=BBox(*box) if box else None,
        point=Point(*point) if point is not None else None,
        seen=reached,
        hit=reached,
        states=States(
            checked=states["checked"],
            disabled=states["disabled"],
            expanded=_flag(states["expanded"]),
            selected=_flag(states["selected"]),
            pressed=states["pressed"],
            focused=number == focused,
            readonly=states["readonly"],
            required=states["required"],
            invalid=states["invalid"],
            value=states["value"],
        ),
        locator=Locator(css=css),
        interactive=interactive,
        evidence=Evidence(rects=(BBox(*box),) if box else (), in_viewport=reached),
    )


def _role(role: str, tag: str) -> str:
    """The role; a drawn shape, which is nothing to the accessibility tree, by its tag."""
    return role if role not in ("", "none") else tag if tag in SHAPES else "none"


def _flag(told: str | None) -> bool | None:
    return None if told is None else told == "true"
