"""Which action a call's name means: one table for the tools' public grammars.

Qwen's computer_use, Anthropic's and OpenAI's computer tools, UI-TARS, PyAutoGUI, BrowserGym, smol2operator, AGUVIS.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from cuadata.contracts import ParseFailure
from cuadata.speaking.grid import finite
from cuadata.speaking.parsing import Call
from cuadata.types import ActionType

_WORDS: Final[dict[ActionType, str]] = {
    "click": "leftclick tap singleclick leftsingle mouseclick clickelement clickelementbyindex",
    "double_click": "doubleclick leftdouble dblclick doubletap mousedblclick leftdoubleclick tripleclick",
    "right_click": "rightclick rightsingle contextclick",
    "hover": "mousemove move moveto movemouse hoverelement movecursor",
    "drag": "leftclickdrag dragto leftdrag draganddrop mousedrag dragdrop mousedraganddrop",
    "type": "write typewrite input inputtext fill typetext entertext keyboardtype settext",
    "press": "key keypress hotkey keyboardpress presskey keycombination keys sendkeys pressenter",
    "scroll": "vscroll hscroll mousewheel wheel scrollpage scrolldown scrollup scrollleft scrollright",
    "select": "selectoption browserselectoption choose selectdropdown selectdropdownoption",
    "upload": "uploadfile setfiles setinputfiles",
    "navigate": "goto openurl visit visiturl gotourl openwebsite",
    "back": "navigateback goback historyback",
    "forward": "navigateforward goforward historyforward",
    "reload": "refresh",
    "wait": "sleep noop screenshot cursorposition takescreenshot",
    "switch_page": "switchtab tabfocus switchpage",
    "dialog": "handledialog answerdialog",
    "reason": "think thought",
    "done": "finished finish terminate complete answer finalanswer stop sendmsgtouser",
    "infeasible": "fail calluser reportinfeasible impossible giveup",
}
_TYPES: Final[dict[str, ActionType]] = {
    name: kind for kind, words in _WORDS.items() for name in (kind.replace("_", ""), *words.split())
}
#: Words of the tools' grammars that no action of the project means. A triple click is read as a double click, the closest
#: there is, as Qwen3-VL's own computer_use agent does.
_UNSUPPORTED: Final = frozenset(
    [
        "middleclick",
        "holdkey",
        "leftmousedown",
        "leftmouseup",
        "mousedown",
        "mouseup",
        "keydown",
        "keyup",
        "zoom",
        "swipe",
        "longpress",
        "openapp",
        "presshome",
        "pressback",
        "home",
        "openapplication",
        "dragrel",
        "moverel",
    ]
)
#: Arguments that make another act of a click.
_HOW_CLICKED: Final = frozenset({"button", "clicks", "num_clicks"})
#: Words whose first value, without a name, is how the task ended.
STATUS_FIRST: Final = frozenset({"terminate"})
_FAILED: Final = frozenset({"failure", "fail", "failed", "false", "infeasible", "impossible"})

if unnamed := set(get_args(ActionType)) - set(_WORDS):  # a new action type has to be given its words here
    raise TypeError(f"the action types {sorted(unnamed)} have no words")


def word_of(call: Call) -> str:
    """The word that says what a call does: its name, or its action argument where the name is only the tool's."""
    word = squeezed(call.name)
    if word not in _TYPES:
        for key in ("action", "action_type", "type"):
            if isinstance(inner := call.arguments.get(key), str):
                return squeezed(inner)
    return word


@functools.lru_cache(maxsize=1024)
def squeezed(name: str) -> str:
    """A name without its module, in lower case, without separators: pyautogui.rightClick, right_click -> rightclick."""
    return re.sub(r"[_\-\s]", "", name.rsplit(".", 1)[-1]).lower()


def is_word(name: str) -> bool:
    """Whether a call of this name belongs to some tool's grammar, with an action of ours or without."""
    word = squeezed(name)
    return word in _TYPES or word in _UNSUPPORTED


def named(word: str) -> ActionType | None:
    """The action type that a word means by itself; None for a word of none."""
    return _TYPES.get(word)


def kind_of(word: str, arguments: Mapping[str, Any], positional: Sequence[Any] = ()) -> ActionType:
    """The action type that a word means with its arguments. ParseFailure for a word of none."""
    if word in _UNSUPPORTED:
        raise ParseFailure(f"'{word}' is a call that no action of the project means", kind="unsupported_action")
    kind = _TYPES.get(word)
    if kind is None:
        raise ParseFailure(f"'{word}' is no action" if word else "a call names no action", kind="unknown_action")
    if kind == "done" and _status(word, arguments, positional) in _FAILED:
        return "infeasible"
    return _clicked(arguments) if kind == "click" else kind


def _status(word: str, arguments: Mapping[str, Any], positional: Sequence[Any]) -> str:
    """How a task is said to have ended; an answer's text is no status, whatever it says."""
    given = arguments.get("status", arguments.get("success"))
    if given is None and word in STATUS_FIRST and positional:
        given = positional[0]
    return str(given).lower()


def _clicked(arguments: Mapping[str, Any]) -> ActionType:
    """A click by its button and number."""
    if _HOW_CLICKED.isdisjoint(arguments):  # what nearly every model writes
        return "click"
    button = str(arguments.get("button") or "left").lower()
    if finite(arguments.get("clicks", arguments.get("num_clicks"))) in (2, 3):
        return "double_click"
    if button in ("back", "forward"):
        return "back" if button == "back" else "forward"
    if button in ("wheel", "middle"):
        raise ParseFailure("a click of the middle button is no action of the project", kind="unsupported_action")
    return "right_click" if button in ("right", "secondary") else "click"
