"""SmolVLM as trained by smol2operator: function calls in `<code>`, coordinates as fractions of each side.

Grammar: huggingface/smol2operator (preprocessing/prompts.py, action_conversion.py): four decimals; a scroll's amount is
per cent of the page's side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from cuadata.contracts import Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import keys, parsing, scrolling
from cuadata.speaking.call_words import is_word
from cuadata.speaking.grid import Grid
from cuadata.speaking.model_format import ModelFormat, need
from cuadata.speaking.parsing import Call
from cuadata.types import Action

_CODE = re.compile(r"<code>(.*?)(?:</code>|$)", re.DOTALL)
_CLICKS: Final = {"click": "click", "double_click": "double_click", "right_click": "right_click", "hover": "move_mouse"}
_SYSTEM: Final = (
    "You operate a graphical interface by Python function calls. Given a screenshot, an instruction and the previous "
    "actions, put the next call into <code></code>. Coordinates are fractions of the picture's width and height.\n\n"
    "click(x: float, y: float)\ndouble_click(x: float, y: float)\nright_click(x: float, y: float)\n"
    "move_mouse(x: float, y: float)\ndrag(from_coord: list[float], to_coord: list[float])\ntype(text: str)\n"
    "press(keys: str | list[str])\nscroll(direction: str, amount: int)  # per cent of the page\nnavigate_back()\n"
    "wait(seconds: float)\nfinal_answer(answer: str)"
)


class SmolVLM(ModelFormat):
    """SmolVLM and smol2operator: function calls in <code>, fractions 0-1 of each side."""

    name = "smolvlm"
    frame = Frame("unit")
    says = frozenset(
        ("click", "double_click", "right_click", "hover", "drag", "type", "press", "scroll", "back", "wait", "done")
    )

    def system_text(self, prompt: Prompt) -> str:
        return _SYSTEM

    def calls(self, text: str) -> Iterator[Call]:
        code = _CODE.search(text)
        return parsing.python_calls(code[1] if code else text, is_word)

    def actions(self, text: str, view: View) -> Iterator[Action]:
        for action in super().actions(text, view):
            yield _in_px(action, view)

    def say(self, action: Action, grid: Grid, view: View) -> str:
        return f"<code>\n{self.call(action, grid, view)}\n</code>"

    def call(self, action: Action, grid: Grid, view: View) -> str:
        """The call that does this action."""
        kind = action.type
        if kind in _CLICKS:
            x, y = grid.write(action.point, kind)
            return f"{_CLICKS[kind]}(x={x}, y={y})"
        if kind == "drag":
            start, end = grid.write(action.point, "drag"), grid.write(action.end, "the end of a drag")
            return f"drag(from_coord=[{start[0]}, {start[1]}], to_coord=[{end[0]}, {end[1]}])"
        if kind == "type":
            return f"type(text={need(action.text, 'text')!r})"
        if kind == "press":
            names: Any = list(keys.write(action.keys, "pyautogui"))
            return f"press(keys={names[0]!r})" if len(names) == 1 else f"press(keys={names!r})"
        if kind == "scroll":
            return self.scroll(action, view)
        if kind == "wait":
            return f"wait(seconds={1.0 if action.seconds is None else action.seconds:g})"
        return (
            "navigate_back()"
            if kind == "back"
            else f"final_answer({json.dumps(action.text or '', ensure_ascii=False)})"
        )

    def scroll(self, action: Action, view: View) -> str:
        """A scroll in per cent of the page's side; it has no place, so the point is not said."""
        way, amount, unit = scrolling.one_way(action)
        side = view.viewport.height if way in ("up", "down") else view.viewport.width
        return f"scroll(direction='{way}', amount={max(1, round(scrolling.in_px(amount, unit) / side * 100))})"


def _in_px(action: Action, view: View) -> Action:
    """A scroll whose amount is per cent of the page, in px."""
    if action.type != "scroll" or action.scroll_unit != "click":
        return action
    across = (action.scroll_x or 0.0) * view.viewport.width / 100
    down = (action.scroll_y or 0.0) * view.viewport.height / 100
    return replace(action, scroll_x=across, scroll_y=down, scroll_unit="px")


formats.add(SmolVLM())
