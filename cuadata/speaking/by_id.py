"""Actions said by element ids: the functions that such a family calls, their arguments, and which element a point means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from cuadata import geometry
from cuadata.contracts import View
from cuadata.speaking.model_format import need
from cuadata.speaking.tool_prompt import function
from cuadata.types import Action, ActionType, Element, Point

SAYS: Final[frozenset[ActionType]] = frozenset(get_args(ActionType))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the by-id families: its arguments in order, and what it does in words."""

    arguments: tuple[str, ...]
    words: str
    optional: tuple[str, ...] = ()


_KINDS: Final = {"page": "integer", "seconds": "number", "right": "number", "down": "number", "accept": "boolean"}
FUNCTIONS: Final[Mapping[ActionType, Function]] = {
    "click": Function(("target",), "Click an element."),
    "double_click": Function(("target",), "Double-click an element."),
    "right_click": Function(("target",), "Open an element's context menu."),
    "hover": Function(("target",), "Move the pointer onto an element."),
    "drag": Function(("target", "to"), "Drag an element onto another."),
    "type": Function(("target", "text"), "Type into an element; without one into the focused one.", ("target",)),
    "press": Function(("keys",), "Press a key, or keys joined by +."),
    "scroll": Function(("right", "down", "target"), "Scroll by px, over an element where one is named.", ("target",)),
    "select": Function(("target", "option"), "Choose an option of an element."),
    "upload": Function(("target", "files"), "Give files to an element."),
    "navigate": Function(("url",), "Go to an address."),
    "back": Function((), "Go back."),
    "forward": Function((), "Go forward."),
    "reload": Function((), "Load the page again."),
    "wait": Function(("seconds",), "Wait."),
    "switch_page": Function(("page",), "Switch to another open page."),
    "dialog": Function(("accept", "text"), "Answer a dialog.", ("text",)),
    "reason": Function(("text",), "Think; nothing happens.", ("text",)),
    "done": Function(("text",), "The task is done.", ("text",)),
    "infeasible": Function(("text",), "The task cannot be done.", ("text",)),
}


def arguments(action: Action, view: View) -> dict[str, Any]:
    """The arguments of the function that does this action, in order. ValueError where it lacks one or means no element."""
    kind = action.type
    if kind == "press":
        return {"keys": "+".join("Space" if key == " " else key for key in action.keys)}
    if kind == "scroll":
        return _scroll(action, view)
    if kind == "dialog":
        said: dict[str, Any] = {"accept": bool(action.accept)}
        return said if action.text is None else {**said, "text": action.text}
    if kind in ("reason", "done", "infeasible"):
        return {} if action.text is None else {"text": action.text}
    if kind == "navigate":
        return {"url": need(action.url, "address")}
    if kind == "wait":
        return {"seconds": 1.0 if action.seconds is None else action.seconds}
    if kind == "switch_page":
        return {"page": action.page or 0}
    if kind in ("back", "forward", "reload"):
        return {}
    return _on_element(action, view)


def _on_element(action: Action, view: View) -> dict[str, Any]:
    kind = action.type
    if kind == "type":
        where = element_of(action, view)
        text = {"text": need(action.text, "text")}
        return text if where is None else {"target": where, **text}
    target = {"target": needed(element_of(action, view), kind)}
    if kind == "drag":
        return {**target, "to": needed(element_at(action.end, view), "the end of a drag")}
    if kind == "select":
        return {**target, "option": need(action.text if action.text is not None else action.value, "option")}
    if kind == "upload":
        if not action.files:
            raise ValueError("an upload without files cannot be said")
        return {**target, "files": list(action.files)}
    return target


def _scroll(action: Action, view: View) -> dict[str, Any]:
    if action.scroll_unit not in (None, "px"):
        raise ValueError(f"a scroll counted in {action.scroll_unit}s has no number of px; record it in px")
    if action.scroll_x is None and action.scroll_y is None:
        raise ValueError("the scroll has no amount, which it cannot be said without")
    said = {"right": action.scroll_x or 0, "down": action.scroll_y or 0}
    return said if action.element is None else {**said, "target": action.element}


def needed(element: int | None, what: ActionType | Literal["the end of a drag"]) -> int:
    """An id that must be there; ValueError where no element of the view is meant."""
    if element is None:
        raise ValueError(f"{what} means no element of the page, and this family says where by id only")
    return element


def element_of(action: Action, view: View) -> int | None:
    """The element that an action means: the one that it names, else the smallest one that its point lies in.

    ValueError where the one that it names is not in the view, as a later action of a chunk may.
    """
    if action.element is None:
        return element_at(action.point, view)
    if view.elements and all(element.id != action.element for element in view.elements):
        raise ValueError(f"the element {action.element} is not among those of the page that the model is told of")
    return action.element


def element_at(point: Point | None, view: View) -> int | None:
    """The smallest element that a point lies in, those that take input first; None where there is none."""
    if point is None:
        return None
    held = [e for e in view.elements if e.bbox is not None and geometry.contains(e.bbox, point)]
    return min(held, key=_rank).id if held else None


def _rank(element: Element) -> tuple[bool, float]:
    return not element.interactive, element.bbox.area if element.bbox is not None else 0.0


def tools(names: Iterable[ActionType] = FUNCTIONS) -> list[dict[str, Any]]:
    """The functions in the form that chat templates take."""
    return [_tool(name, FUNCTIONS[name]) for name in names]


def _tool(name: str, told: Function) -> dict[str, Any]:
    kinds = {n: {"type": "integer" if n in ("target", "to") else _KINDS.get(n, "string")} for n in told.arguments}
    if "files" in kinds:
        kinds["files"] = {"type": "array"}
    return function(name, told.words, kinds, [n for n in told.arguments if n not in told.optional])


def signatures() -> str:
    """The functions as lines of text: `click(target)  # Click an element.`"""
    lines = []
    for name, told in FUNCTIONS.items():
        names = ", ".join(f"{n}=None" if n in told.optional else n for n in told.arguments)
        lines.append(f"{name}({names})  # {told.words}")
    return "\n".join(lines)
