"""What a reward looks at: the answer as its format reads it, and the columns of its row as the project's own types.

Columns, as dataset rows and TRL hand them over: `target` (a Target, a mapping with `bbox`, or a box as [x, y, width,
height], CSS px), `image_width`, `image_height`, `viewport_width`, `viewport_height` (the viewport is the picture where it is
not given), `format` (name of the model family), and where they matter `frame`, `min_pixels`, `max_pixels`, `references`,
`candidates`, `relation`, `action`. Other columns are let be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cuadata.contracts import Format, ParseFailure, View
from cuadata.errors import CallError
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.rows import Target
from cuadata.speaking import pointing
from cuadata.speaking.grid import finite
from cuadata.types import Action, BBox, Point, Size


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer read against its row."""

    view: Annotated[View, "the picture that the model saw"]
    format: Annotated[Format, "the family that it answers as"]
    action: Annotated[Action | None, "what it means; None where it could not be read"]
    failure: Annotated[ParseFailure | None, "why it could not be read"]

    @property
    def point(self) -> Point | None:
        """Where it points, CSS px; None where it points nowhere."""
        return self.action.point if self.action is not None else None


def judge(answer: str, columns: Mapping[str, Any]) -> Judged:
    """Read an answer by the row's format. CallError where the row lacks a column that this needs."""
    name = columns.get("format")
    if not isinstance(name, str):
        raise CallError("a reward needs the column `format`, the name of the model family that answers")
    family, view = formats[name], view_of(columns)
    try:
        return Judged(view, family, family.read(answer, view), None)
    except ParseFailure as failure:
        return Judged(view, family, None, failure)


def view_of(columns: Mapping[str, Any]) -> View:
    """The view that a row's columns describe. CallError where the picture's size is missing."""
    image = _size(columns, "image")
    if image is None:
        raise CallError("a reward needs the picture's size: image_width and image_height, or image_size")
    bounds = [columns.get(name) for name in ("min_pixels", "max_pixels")]
    return View(
        image=image,
        viewport=_size(columns, "viewport") or image,
        frame=columns.get("frame"),
        min_pixels=bounds[0],
        max_pixels=bounds[1],
    )


def _size(columns: Mapping[str, Any], of: str) -> Size | None:
    pair: Any = columns.get(f"{of}_size", columns.get(of) if of == "viewport" else None)
    if isinstance(pair, Size):
        return pair
    if isinstance(pair, Mapping):
        pair = [pair.get("width"), pair.get("height")]
    if pair is None:
        pair = [columns.get(f"{of}_width"), columns.get(f"{of}_height")]
    sides = [finite(side) for side in pair]
    return Size(int(sides[0]), int(sides[1])) if sides[0] is not None and sides[1] is not None else None


def target(columns: Mapping[str, Any]) -> BBox:
    """The box of the row's target, CSS px. CallError where it has none: a reward of places cannot judge such a row."""
    found = box(columns.get("target", columns.get("bbox")))
    if found is None:
        raise CallError("a reward of places needs the column `target` with a box; rows of points only have none")
    return found


def boxes(columns: Mapping[str, Any], name: str) -> tuple[BBox, ...]:
    """The boxes of a list column, CSS px; those without a box are left out."""
    return tuple(found for item in columns.get(name) or () if (found := box(item)) is not None)


def box(value: Any) -> BBox | None:
    """A box out of a Target, a mapping with `bbox`, a mapping of its sides, or [x, y, width, height]; None for none.

    CallError for anything else.
    """
    if value is None or isinstance(value, BBox):
        return value
    if isinstance(value, Target):
        return value.bbox
    if isinstance(value, Mapping):
        if "bbox" in value:
            return box(value["bbox"])
        value = [value.get(side) for side in ("x", "y", "width", "height")]
    sides = [finite(side) for side in value] if isinstance(value, Sequence) and not isinstance(value, str) else []
    if len(sides) != 4 or None in sides:
        raise CallError(f"{value!r:.60} is no box; give a target with a bbox, or [x, y, width, height] in CSS px")
    x, y, width, height = (side for side in sides if side is not None)
    if not all(map(math.isfinite, (x, y, width, height))) or width < 0 or height < 0:
        raise CallError(f"{value!r:.60} is no box: finite numbers and sides of 0 px or more are wanted")
    return BBox(x, y, width, height)


def said_box(answer: str, judged: Judged) -> BBox | None:
    """The box that an answer names, CSS px; None where it names a point, or none that lies on the picture."""
    frame = getattr(judged.format, "frame", None)
    if not isinstance(frame, Frame):
        return None
    try:
        return pointing.box(answer, judged.view, frame)
    except ParseFailure:
        return None


def said_points(answer: str, judged: Judged) -> tuple[Point, ...]:
    """Every point that an answer names, in order, CSS px; empty where it names none, or one off the picture."""
    frame = getattr(judged.format, "frame", Frame("px"))
    try:
        return pointing.points(answer, judged.view, frame)
    except ParseFailure:
        return ()


def action(columns: Mapping[str, Any]) -> Action:
    """The row's own action. CallError where the row has none."""
    value = columns.get("action")
    if isinstance(value, Action):
        return value
    if not isinstance(value, Mapping) or "type" not in value:
        raise CallError("this reward needs the column `action`, the action of the row")
    point, end = (value.get(name) for name in ("point", "end"))
    return Action(
        type=value["type"],
        point=Point(point["x"], point["y"]) if point else None,
        end=Point(end["x"], end["y"]) if end else None,
        text=value.get("text"),
        keys=tuple(value.get("keys") or ()),
    )
