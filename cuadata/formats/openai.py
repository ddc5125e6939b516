"""OpenAI's computer use: `computer_call` items of the Responses API, px of the picture that was sent.

Grammar: the ComputerAction schema of the Responses API; scrolls in px, + is down and right; a wait has no length; keys held
during a click stand in `keys`. A message without a call ends the task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from cuadata.contracts import Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import keys, lenient, parsing, scrolling
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.model_format import ModelFormat, need
from cuadata.speaking.parsing import Call
from cuadata.types import Action, Point

_CLICKS: Final = {"click": "click", "right_click": "click", "double_click": "double_click", "hover": "move"}


class OpenAI(ModelFormat):
    """OpenAI: computer_call items, px of the picture sent."""

    name = "openai"
    frame = Frame("px")
    says = frozenset(
        ("click", "double_click", "right_click", "hover", "drag", "type", "press", "scroll", "wait", "done")
    )
    habits = Habits(wait=2.0)
    holds_keys = True
    scroll_argument = "scroll_y"

    def system_text(self, prompt: Prompt) -> str:
        return (
            "You operate a web page by computer calls. Take one action a turn. When the task is over, answer in words "
            "without a call."
        )

    def calls(self, text: str) -> Iterator[Call]:
        called = False
        for call in parsing.tool_calls(text):
            called = True
            yield call
        if not called and (words := _final_words(text)) is not None:
            yield Call("done", {"text": words} if words else {})

    def say(self, action: Action, grid: Grid, view: View) -> str:
        if action.type == "done":
            content = [{"type": "output_text", "text": action.text or ""}]
            return json.dumps({"type": "message", "role": "assistant", "content": content}, ensure_ascii=False)
        return json.dumps({"type": "computer_call", "action": self.call(action, grid)}, ensure_ascii=False)

    def call(self, action: Action, grid: Grid) -> dict[str, Any]:
        """The action of a computer_call."""
        kind = action.type
        held = {"keys": list(keys.write(action.modifiers, "openai"))} if action.modifiers else {}
        if kind in _CLICKS:
            button = {"button": "right" if kind == "right_click" else "left"} if "click" == _CLICKS[kind] else {}
            return {"type": _CLICKS[kind], **button, **_xy(grid.write(action.point, kind)), **held}
        if kind == "drag":
            ends = grid.write(action.point, "drag"), grid.write(action.end, "the end of a drag")
            return {"type": "drag", "path": [_xy(end) for end in ends], **held}
        if kind == "type":
            return {"type": "type", "text": need(action.text, "text")}
        if kind == "press":
            return {"type": "keypress", "keys": list(keys.write(action.keys, "openai"))}
        if kind == "wait":
            return {"type": "wait"}
        if not (action.scroll_x or action.scroll_y):
            raise ValueError("the scroll has no amount, which it cannot be said without")
        unit = action.scroll_unit or "px"
        across, down = (round(scrolling.in_px(side or 0.0, unit)) for side in (action.scroll_x, action.scroll_y))
        middle = Point(grid.viewport.width / 2, grid.viewport.height / 2)
        where = _xy(grid.write(action.point or middle, "scroll"))
        return {"type": "scroll", **where, "scroll_x": across, "scroll_y": down, **held}


def _xy(numbers: tuple[float, float]) -> dict[str, float]:
    return {"x": numbers[0], "y": numbers[1]}


def _final_words(text: str) -> str | None:
    """The words of a message item that stands without a call; None where the text holds no such item."""
    for value in lenient.values(text):
        items = value if isinstance(value, list) else value.get("output", [value])
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and item.get("type") == "message":
                content = item.get("content")
                parts = content if isinstance(content, list) else []
                return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return None


formats.add(OpenAI())
