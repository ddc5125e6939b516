"""PyAutoGUI code as models write it: read as literals, never run; and written, one action at a time.

Used by families that answer in code (AGUVIS, OpenCUA and AgentNet, EvoCUA S1). Signatures: PyAutoGUI's documentation;
`computer.*` and `answer` from AgentNet and AGUVIS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cuadata.speaking import keys, parsing, scrolling
from cuadata.speaking.call_words import is_word, named, squeezed
from cuadata.speaking.grid import Grid, finite
from cuadata.speaking.model_format import need
from cuadata.speaking.parsing import Call
from cuadata.types import Action, ActionType

SAYS: Final[frozenset[ActionType]] = frozenset(
    ("click", "double_click", "right_click", "hover", "drag", "type", "press", "scroll", "wait", "done", "infeasible")
)
_CLICKS: Final = {"click": "click", "double_click": "doubleClick", "right_click": "rightClick", "hover": "moveTo"}
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)(?:```|$)", re.DOTALL)
_SPECIAL: Final = {"DONE": "done", "FAIL": "infeasible", "WAIT": "wait"}


def calls(text: str) -> Iterator[Call]:
    """The calls of the code in a text: of its code blocks where it has some, else of the whole text."""
    blocks = _FENCE.findall(text) if "```" in text else []
    code = "\n".join(blocks) if any(block.strip() for block in blocks) else text
    bare = code.strip().strip("`").strip()
    if bare.upper() in _SPECIAL:
        yield Call(_SPECIAL[bare.upper()])
        return
    for call in parsing.python_calls(code, is_word):
        yield from _each(call)


def _each(call: Call) -> Iterator[Call]:
    """A press of several keys or several times is as many presses; a chord is one."""
    word = squeezed(call.name)
    if named(word) == "scroll" and len(call.positional) == 3:  # scroll(clicks, x, y)
        clicks, x, y = call.positional
        yield Call(call.name, {"clicks": clicks, "x": x, "y": y, **call.arguments})
        return
    if word != "press" or named(word) is None:
        yield call
        return
    arguments: Mapping[str, Any] = call.arguments
    given = arguments.get("keys", arguments.get("key", call.positional[0] if call.positional else None))
    sequence = list(given) if isinstance(given, (list, tuple)) else [given]
    presses = finite(arguments.get("presses", call.positional[1] if len(call.positional) > 1 else 1)) or 1
    for _ in range(max(1, min(int(presses), 100))):
        for key in sequence:
            yield Call(call.name, {"keys": [key]} if key is not None else {})


def say(action: Action, grid: Grid) -> str:
    """The code that does this action. ValueError where it lacks a part, or where PyAutoGUI has no word for it."""
    kind = action.type
    if kind in _CLICKS:
        return f"pyautogui.{_CLICKS[kind]}({_at(grid.write(action.point, kind))})"
    if kind == "drag":
        start, end = grid.write(action.point, "the start of a drag"), grid.write(action.end, "the end of a drag")
        return f"pyautogui.moveTo({_at(start)})\npyautogui.dragTo({_at(end)}, button='left')"
    if kind == "type":
        return f"pyautogui.write(message={need(action.text, 'text')!r})"
    if kind == "press":
        names = list(keys.write(action.keys, "pyautogui"))
        return f"pyautogui.press(keys={names[0]!r})" if len(names) == 1 else f"pyautogui.hotkey(keys={names!r})"
    if kind == "scroll":
        return _scroll(action, grid)
    if kind == "wait":
        return "computer.wait()" if action.seconds is None else f"computer.wait(seconds={action.seconds:g})"
    if kind == "done" and action.text is not None:
        return f"answer({action.text!r})"
    return f"computer.terminate(status='{'success' if kind == 'done' else 'failure'}')"


def _scroll(action: Action, grid: Grid) -> str:
    way, amount, unit = scrolling.one_way(action)
    clicks = scrolling.in_clicks(amount, unit) * (1 if way in ("up", "right") else -1)
    turn = f"pyautogui.{'scroll' if way in ('up', 'down') else 'hscroll'}({clicks})"
    if action.point is None:
        return turn
    return f"pyautogui.moveTo({_at(grid.write(action.point, 'scroll'))})\n{turn}"


def _at(numbers: tuple[float, float]) -> str:
    return f"x={numbers[0]}, y={numbers[1]}"
