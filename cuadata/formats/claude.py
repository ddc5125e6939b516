"""Claude: blocks of the Messages API with the `computer` tool, px of the picture that was sent.

Grammar: Anthropic's computer use tool (computer_20250124 and later): scrolls by direction and wheel clicks, key names of
xdotool, modifier keys held during a click named as its text. A message without a tool call ends the task.
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
from cuadata.speaking.model_format import ModelFormat, need
from cuadata.speaking.parsing import Call
from cuadata.types import Action

_CLICKS: Final = {
    "click": "left_click",
    "double_click": "double_click",
    "right_click": "right_click",
    "hover": "mouse_move",
}


class Claude(ModelFormat):
    """Claude: tool_use blocks of the computer tool, px of the picture sent."""

    name = "claude"
    frame = Frame("px")
    says = frozenset(
        ("click", "double_click", "right_click", "hover", "drag", "type", "press", "scroll", "wait", "done")
    )
    holds_keys = True

    def system_text(self, prompt: Prompt) -> str:
        return (
            "You operate a web page by the computer tool. Take one action a turn. When the task is over, answer in words "
            "without a tool call."
        )

    def calls(self, text: str) -> Iterator[Call]:
        called = False
        for call in parsing.tool_calls(text):
            called = True
            yield call
        if not called and (words := final_words(text)) is not None:
            yield Call("done", {"text": words} if words else {})

    def say(self, action: Action, grid: Grid, view: View) -> str:
        if action.type == "done":
            block: dict[str, Any] = {"type": "text", "text": action.text or ""}
        else:
            block = {"type": "tool_use", "name": "computer", "input": self.input(action, grid)}
        return json.dumps(block, ensure_ascii=False)

    def input(self, action: Action, grid: Grid) -> dict[str, Any]:
        """The tool's input."""
        kind = action.type
        held = {"text": "+".join(keys.write(action.modifiers, "xdotool"))} if action.modifiers else {}
        if kind in _CLICKS:
            return {"action": _CLICKS[kind], "coordinate": list(grid.write(action.point, kind)), **held}
        if kind == "drag":
            start, end = grid.write(action.point, "drag"), grid.write(action.end, "the end of a drag")
            return {"action": "left_click_drag", "start_coordinate": list(start), "coordinate": list(end), **held}
        if kind == "type":
            return {"action": "type", "text": need(action.text, "text")}
        if kind == "press":
            return {"action": "key", "text": "+".join(keys.write(action.keys, "xdotool"))}
        if kind == "wait":
            return {"action": "wait", "duration": 1.0 if action.seconds is None else action.seconds}
        way, amount, unit = scrolling.one_way(action)
        where = {"coordinate": list(grid.write(action.point))} if action.point is not None else {}
        amounts = {"scroll_direction": way, "scroll_amount": scrolling.in_clicks(amount, unit)}
        return {"action": "scroll", **where, **amounts, **held}


def final_words(text: str) -> str | None:
    """The words of a message in JSON that calls no tool; None where the text is no such message."""
    for value in lenient.values(text):
        blocks = value if isinstance(value, list) else [value]
        texts = [str(b["text"]) for b in blocks if isinstance(b, dict) and b.get("type") == "text" and "text" in b]
        if texts:
            return "\n".join(texts)
    return None


formats.add(Claude())
