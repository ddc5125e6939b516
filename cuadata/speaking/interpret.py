"""What a call means: the arguments of any tool, told apart by what they are called, as an Action in CSS px.

One reading for all families, so that a family's file holds only its own grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from cuadata.contracts import ParseFailure, View
from cuadata.speaking import keys as key_names
from cuadata.speaking import pointing
from cuadata.speaking.call_words import STATUS_FIRST, kind_of, named, word_of
from cuadata.speaking.grid import Grid, finite
from cuadata.speaking.parsing import Call
from cuadata.speaking.pointing import Numbers
from cuadata.speaking.scrolling import amounts
from cuadata.types import Action, ActionType, Element, Point

_TEXTS: Final = ("text", "content", "message", "value", "string", "answer", "result", "reason", "thought", "cause")
_STARTS: Final = (
    "start_coordinate",
    "startCoordinate",
    "start_box",
    "start_point",
    "from_coord",
    "from",
    "start",
    "point",
)
#: Arguments that say where a pointer acts, in the order in which they are believed.
_PLACES: Final = ("coordinate", *_STARTS)
_ENDS: Final = ("end_coordinate", "endCoordinate", "end_box", "end_point", "to_coord", "to", "end", "coordinate")
_IDS: Final = ("target", "element", "element_id", "id", "ref", "bid", "index", "node")
_END_IDS: Final = ("end", "to", "destination", "to_element", "end_element")
_OPTIONS: Final = ("text", "option", "label", "options")


@dataclass(frozen=True, slots=True)
class Habits:
    """How a family says where, and what it leaves unsaid."""

    where: Annotated[Literal["point", "id", "either"], "whether coordinates or element ids say where"] = "point"
    wait: Annotated[float, "seconds of a wait without a number"] = 1.0
    scroll: Annotated[float, "wheel clicks of a scroll without a number"] = 5.0


@dataclass(slots=True)  # not frozen: one is made for every call, and that makes it three times as dear
class _Reading:
    """One call with what it is read against; `pointer` is the move right before it."""

    word: str
    arguments: Mapping[str, Any]
    positional: tuple[Any, ...]
    grid: Grid
    view: View
    habits: Habits
    pointer: Action | None = None

    def text(self) -> str | None:
        """The text argument; None where there is none."""
        found = next((self.arguments[k] for k in _TEXTS if self.arguments.get(k) is not None), None)
        if found is None and self.positional:  # write(text, interval), but type(id, text)
            # A place before the text, type(683, 324, 'a'), is no text.
            texts = [value for value in self.positional if isinstance(value, str)] or self.positional
            found = texts[0] if self.habits.where == "point" else self.positional[-1]
        return str(found) if found is not None else None

    def number(self, *names: str) -> float | None:
        """The first of these arguments that is a number; the first positional one where none is named."""
        found = next((n for name in names if (n := finite(self.arguments.get(name))) is not None), None)
        return found if found is not None or not self.positional else finite(self.positional[0])

    def without(self, *names: str, keep: int = 1) -> _Reading:
        """The same call without some arguments, and with the first `keep` positional ones."""
        rest = {k: v for k, v in self.arguments.items() if k not in names}
        return replace(self, arguments=rest, positional=self.positional[:keep])


def actions_of(calls: Iterable[Call], grid: Grid, view: View, habits: Habits = Habits()) -> Iterator[Action]:
    """The actions of several calls, one at a time. ParseFailure when the turn comes to one that cannot be read.

    Families that drag, click or scroll where the pointer is say so in two calls: a move and the act. They are one.
    """
    held: Action | None = None
    for call in calls:
        word = word_of(call)
        reading = _Reading(word, call.arguments, call.positional, grid, view, habits, held)
        if held is not None and not _at_pointer(reading):
            yield held
            reading = replace(reading, pointer=None)
        kind = kind_of(word, call.arguments, call.positional)
        action = _READERS.get(kind, _plain)(kind, reading)
        held = action if kind == "hover" else None
        if held is None:
            yield action
    if held is not None:
        yield held


def collect(actions: Iterator[Action]) -> tuple[Action, ...]:
    """All actions up to the first that cannot be read; ParseFailure where that is the first, or where there are none.

    What follows an unreadable call is left out: the model meant it for the state which that call would have made.
    """
    found: list[Action] = []
    try:
        found.extend(actions)
    except ParseFailure:
        if not found:
            raise
    if not found:
        raise ParseFailure("the answer calls for no action")
    return tuple(found)


def _at_pointer(reading: _Reading) -> bool:
    """Whether a call acts where the pointer is: a drag, a click or a scroll without a place of its own."""
    kind = named(reading.word)
    if kind == "drag":
        return _place(reading.arguments, _STARTS) is None and "path" not in reading.arguments
    return kind in ("click", "double_click", "right_click", "scroll") and _where(reading) == (None, None)


def _place(arguments: Mapping[str, Any], names: Iterable[str]) -> Numbers | None:
    for name in names:
        if name in arguments and (place := pointing.under(name, arguments[name])) is not None:
            return place
    return None


def _xy(arguments: Mapping[str, Any]) -> Numbers | None:
    return pointing.pair([arguments["x"], arguments["y"]]) if "x" in arguments and "y" in arguments else None


def _point(reading: _Reading, place: Numbers | None) -> Point | None:
    return reading.grid.read_place(place) if place is not None else None


def _where(reading: _Reading) -> tuple[Point | None, int | None]:
    """Where a call acts: a point, or an element with the point that reaches it; (None, None) where it says neither."""
    if reading.habits.where != "id":
        place = _place(reading.arguments, _PLACES) or pointing.place_of(reading.arguments)
        if place is None and reading.word not in ("scroll", "hscroll", "vscroll"):
            place = pointing.pair(reading.positional[:2]) or (
                pointing.pair(reading.positional[0]) if reading.positional else None
            )
        if place is not None:
            return _point(reading, place), None
    if reading.habits.where != "point":
        return _element(reading, _IDS, 0)
    return None, None


def _element(reading: _Reading, names: tuple[str, ...], nth: int) -> tuple[Point | None, int | None]:
    """The element that a call names by id, and a point that reaches it. ParseFailure where no element has that id.

    A view without elements takes every id, for answers that are scored by id alone.
    """
    given = next((reading.arguments[n] for n in names if reading.arguments.get(n) is not None), None)
    if given is None and len(reading.positional) > nth and reading.word not in ("scroll", "hscroll", "vscroll"):
        given = reading.positional[nth]
    if given is None:
        return None, None
    match = re.fullmatch(r"\s*\[?\s*(\d{1,9})\s*\]?\s*", str(given))
    if match is None:
        raise ParseFailure(f"{given!r:.40} is no id of an element", kind="unknown_element")
    number = int(match[1])
    found = next((element for element in reading.view.elements if element.id == number), None)
    if found is None and reading.view.elements:
        raise ParseFailure(f"no element of the page has the id {number}", kind="unknown_element")
    return clickable(found) if found is not None else None, number


def clickable(element: Element) -> Point | None:
    """A point that reaches an element: the measured one, else the middle of its box; None for an element without a box."""
    return element.point or (element.bbox.center if element.bbox is not None else None)


def _pointer(kind: ActionType, reading: _Reading) -> Action:
    """click, double_click, right_click, hover: at a point or on an element."""
    point, element = _where(reading)
    if reading.pointer is not None:
        point, element = reading.pointer.point, reading.pointer.element
    if point is None and element is None:
        raise ParseFailure(f"a {kind} says neither where nor on what", kind="missing_argument")
    return Action(type=kind, point=point, element=element, modifiers=_modifiers(reading.arguments))


def _modifiers(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys held during a pointer action; Anthropic's tool names them as text, OpenAI's as keys."""
    given = arguments.get("modifiers") or arguments.get("keys")
    if given:
        return _keys(given)
    if not arguments.get("text"):
        return ()
    try:
        held = key_names.guess(str(arguments["text"]))
    except ValueError:
        return ()  # a text that is no key, such as the label that a model saw
    return held if all(key in key_names.MODIFIERS for key in held) else ()


def _keys(given: Any) -> tuple[str, ...]:
    """Keys out of a list, or a text that names one or several."""
    if isinstance(given, (list, tuple)) and len(given) == 1:
        given = given[0]
    names = [str(name) for name in given] if isinstance(given, (list, tuple)) else str(given)
    if isinstance(names, str) and names.strip().startswith("[") and names.strip() != "[":
        names = re.findall(r"[^\[\],'\"\s]+", names)
    try:
        return key_names.guess(names)
    except ValueError as error:
        raise ParseFailure(str(error), kind="unknown_key") from error


def _drag(kind: ActionType, reading: _Reading) -> Action:
    if reading.habits.where == "id":
        start, element = _element(reading, _IDS, 0)
        end, _ = _element(reading, _END_IDS, 1)
    else:
        first, last = _ends(reading)
        start, element, end = _point(reading, first), None, _point(reading, last)
        if start is None and reading.pointer is not None:
            start, element = reading.pointer.point, reading.pointer.element
        if start is None and reading.habits.where == "either":
            start, element = _element(reading, _IDS, 9)
    if start is None or end is None:
        raise ParseFailure(
            "a drag needs a start and an end; a move before it may give the start", kind="missing_argument"
        )
    return Action(type=kind, point=start, element=element, end=end)


def _ends(reading: _Reading) -> tuple[Numbers | None, Numbers | None]:
    """Start and end of a drag as written; the start is None where the pointer is."""
    path = reading.arguments.get("path")
    if isinstance(path, (list, tuple)) and len(path) > 1:
        return pointing.pair(path[0]), pointing.pair(path[-1])
    corners = pointing.pair([reading.arguments.get(k) for k in ("x1", "y1", "x2", "y2")])
    corners = corners or pointing.pair(reading.positional[:4])
    if corners is not None and len(corners) == 4:
        return corners[:2], corners[2:]
    start, end = _place(reading.arguments, _STARTS), _place(reading.arguments, _ENDS) or _xy(reading.arguments)
    return start, end or pointing.pair(reading.positional[:2])


def _type(kind: ActionType, reading: _Reading) -> Action:
    text = reading.text()
    if text is None:
        raise ParseFailure("a type says no text", kind="missing_argument")
    if reading.habits.where == "point":
        place = _place(reading.arguments, ("coordinate", "start_box", "point")) or _xy(reading.arguments)
        return Action(type=kind, text=text, point=_point(reading, place))
    point, element = _where(reading.without(*_TEXTS, keep=1 if len(reading.positional) > 1 else 0))
    return Action(type=kind, text=text, point=point, element=element)


def _press(kind: ActionType, reading: _Reading) -> Action:
    names = ("keys", "key", "text", "combination", "hotkey")
    given = next((reading.arguments[n] for n in names if reading.arguments.get(n) not in (None, "", [])), None)
    if given is None:
        given = list(reading.positional)
    if not given:
        raise ParseFailure("a press names no key", kind="missing_argument")
    return Action(type=kind, keys=_keys(given))


def _scroll(kind: ActionType, reading: _Reading) -> Action:
    across, down, unit = amounts(
        reading.word, reading.arguments, reading.positional, reading.view.viewport, reading.habits.scroll
    )
    point, element = _where(reading)
    if reading.pointer is not None:
        point, element = reading.pointer.point, reading.pointer.element
    return Action(type=kind, point=point, element=element, scroll_x=across, scroll_y=down, scroll_unit=unit)


def _select(kind: ActionType, reading: _Reading) -> Action:
    label = next((str(reading.arguments[n]) for n in _OPTIONS if reading.arguments.get(n) is not None), None)
    value = str(reading.arguments["value"]) if reading.arguments.get("value") is not None else None
    if label is None and value is None and len(reading.positional) > 1:
        label = str(reading.positional[1])
    where = _pointer(kind, reading.without("value", *_OPTIONS))
    if label is None and value is None:
        return replace(where, type="click")  # UI-TARS opens a menu, or takes its item, by select
    return replace(where, text=label, value=value)


def _wait(kind: ActionType, reading: _Reading) -> Action:
    if reading.word in ("screenshot", "takescreenshot", "cursorposition"):
        return Action(type=kind, seconds=0.0)  # a look at the page is no input
    seconds = reading.number("time", "seconds", "duration", "secs")
    if seconds is None and (milliseconds := reading.number("ms", "milliseconds")) is not None:
        seconds = milliseconds / 1000
    seconds = reading.habits.wait if seconds is None else seconds
    if not 0 <= seconds < 3600:
        raise ParseFailure(f"a wait of {seconds:g} s is out of reason", kind="missing_argument")
    return Action(type=kind, seconds=seconds)


def _plain(kind: ActionType, reading: _Reading) -> Action:
    """Actions that need no place: done, infeasible and reason with their text, back, forward, reload."""
    if reading.word in STATUS_FIRST:
        reading = reading.without(keep=0)
    return Action(type=kind, text=(reading.text() or None) if kind in ("done", "infeasible", "reason") else None)


def _navigate(kind: ActionType, reading: _Reading) -> Action:
    url = reading.arguments.get("url", reading.arguments.get("address")) or reading.text()
    if not url:
        raise ParseFailure("a navigation says no address", kind="missing_argument")
    return Action(type=kind, url=str(url))


def _page(kind: ActionType, reading: _Reading) -> Action:
    page = reading.number("page", "index", "tab", "page_id")
    if page is None or not page.is_integer() or page < 0:
        raise ParseFailure("a page switch says no page", kind="missing_argument")
    return Action(type=kind, page=int(page))


def _dialog(kind: ActionType, reading: _Reading) -> Action:
    accept = reading.arguments.get("accept", next(iter(reading.positional), None))
    words = {"true": True, "accept": True, "false": False, "dismiss": False}
    accept = words.get(accept.lower()) if isinstance(accept, str) else accept
    if not isinstance(accept, bool):
        raise ParseFailure("an answer to a dialog neither accepts nor dismisses", kind="missing_argument")
    text = reading.arguments.get("text", reading.positional[1] if len(reading.positional) > 1 else None)
    return Action(type=kind, accept=accept, text=str(text) if text is not None else None)


def _upload(kind: ActionType, reading: _Reading) -> Action:
    given = reading.arguments.get("files", reading.arguments.get("file"))
    given = list(reading.positional[1:]) if given is None else given
    if isinstance(given, str) and given.strip().startswith("["):
        given = re.findall(r"[\"']([^\"']+)[\"']", given)
    flat = (
        [n for item in given for n in (item if isinstance(item, list) else [item])]
        if isinstance(given, list)
        else [given]
    )
    if not flat or not all(flat):
        raise ParseFailure("an upload names no file", kind="missing_argument")
    where = _pointer(kind, reading.without("files", "file"))
    return replace(where, files=tuple(str(name) for name in flat))


_READERS: Final[dict[ActionType, Callable[[ActionType, _Reading], Action]]] = {
    "click": _pointer, "double_click": _pointer, "right_click": _pointer, "hover": _pointer, "drag": _drag, "type": _type,
    "press": _press, "scroll": _scroll, "select": _select, "wait": _wait, "navigate": _navigate, "switch_page": _page,
    "dialog": _dialog, "upload": _upload,
}  # fmt: skip
