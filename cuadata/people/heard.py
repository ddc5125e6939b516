"""What was heard of a person, the action that it becomes, and what one says of the other. Pure: no browser in it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any

from cuadata.speaking import keys as key_names
from cuadata.types import ActionType, Point


@dataclass(slots=True, kw_only=True, eq=False)
class Heard:
    """Something that was heard, with what stood before it."""

    kind: Annotated[str, "down, up, key, text, wheel, choose, ...: see person_listen.js"]
    time: Annotated[float, "seconds since the epoch, as the browser took the input"]
    data: Annotated[dict[str, Any], "what the document said"] = field(default_factory=dict)
    point: Annotated[Point | None, "where, CSS px of the top-level viewport"] = None
    screen: Annotated[Point | None, "where on the screen, px of it"] = None
    place: Annotated[tuple[Any, ...], "page, document and field: where typing goes on"] = ()
    before: Annotated[Any, "what stood before; opaque here"] = field(default=None, repr=False)


@dataclass(slots=True, kw_only=True, eq=False)
class Gesture:
    """One action of a person."""

    type: ActionType
    begin: Annotated[Heard, "what began it"]
    ended: Annotated[float, "seconds since the epoch"]
    point: Point | None = None
    end: Point | None = None
    dropped: Annotated[bool, "the browser's own dragging: `end` is of the whole view of its process"] = False
    typed: Annotated[list[str], "characters and pasted texts, corrections taken back"] = field(default_factory=list)
    corrected: Annotated[int, "characters that were typed and taken back"] = 0
    text: str | None = None
    value: str | None = None
    keys: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    right: float = 0.0
    down: float = 0.0
    unit: str = "px"
    files: tuple[str, ...] = ()
    url: str | None = None
    page: int | None = None
    accept: bool | None = None
    secret: Annotated[str | None, "kind of secret that the field is for"] = None
    composing: Annotated[bool, "the last of `typed` is not settled yet"] = False
    sure: Annotated[bool, "the last of `typed` has been confirmed by the field"] = True
    waiting: Annotated[Heard | None, "a key that may still turn out as text"] = field(default=None, repr=False)
    count: Annotated[int, "clicks in it"] = 1


def press(heard: Heard) -> Gesture:
    data = heard.data
    names = [m for m in data["modifiers"] if not (m == "Shift" and data["types"])]
    try:
        chord = key_names.read((*names, data["key"]), "browser")
    except key_names.UnknownKey:
        chord = (*names, data["key"])
    if data["types"] and not names:
        chord = (data["key"],)
    return Gesture(type="press", begin=heard, ended=heard.time, keys=chord)


def may_be_text(key: str, data: dict[str, Any]) -> bool:
    """Whether a key puts text into its field unless the page does something else with it."""
    if not data["editable"]:
        return False
    if key == "Enter":
        return bool(data["multiline"]) and not data["modifiers"]
    held = set(data["modifiers"])
    return (key.lower() == "v" and bool(held & {"Control", "Meta"})) or (key == "Insert" and held == {"Shift"})


def led_elsewhere(held: Gesture, text: Heard) -> bool:
    """Whether a text is that of a key which was pressed just now in another place."""
    return held.type == "press" and held.keys == (text.data.get("data"),) and text.time - held.begin.time < 0.5


def settle(held: Gesture) -> None:
    """What was composed stands now."""
    held.composing = False


def erase(typed: list[str], *, word: bool) -> int:
    """Take the last character or word back; how many characters that were."""
    text = "".join(typed)
    kept = text.rstrip() if word else text[:-1]
    if word:
        kept = kept[: max(kept.rfind(" "), kept.rfind("\n")) + 1]
    typed[:] = list(kept)
    return len(text) - len(kept)


def ended_at(down: Heard, up: Heard) -> Point | None:
    """Where a press ended, in the document that it began in: another may have heard the end, or have come in its place."""
    if up.place[:2] == down.place[:2] or None in (down.point, down.screen, up.screen):
        return up.point
    assert down.point is not None and down.screen is not None and up.screen is not None
    return Point(down.point.x + up.screen.x - down.screen.x, down.point.y + up.screen.y - down.screen.y)


def apart(one: Point, other: Point) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)
