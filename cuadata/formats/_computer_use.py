"""The `computer_use` tool that the Qwen families share: its actions in JSON, and the text that puts it before a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from cuadata.contracts import Prompt, View
from cuadata.speaking import keys, parsing, pointing, scrolling, tool_prompt
from cuadata.speaking.grid import Grid
from cuadata.speaking.model_format import ModelFormat, need
from cuadata.speaking.parsing import Call
from cuadata.types import Action, ActionType, Size

CLICKS: Final = {
    "click": "left_click",
    "double_click": "double_click",
    "right_click": "right_click",
    "hover": "mouse_move",
}


class ComputerUse(ModelFormat):
    """A family that calls `computer_use` by JSON in `<tool_call>` tags.

    A drag starts where the pointer is, and a scroll turns the wheel there, so both are said in two calls where they have a
    point: the move, then the act. `pixels` is positive upwards. The cause of `infeasible` is not said.
    """

    says: ClassVar[frozenset[ActionType]] = frozenset(
        (
            "click",
            "double_click",
            "right_click",
            "hover",
            "drag",
            "type",
            "press",
            "scroll",
            "wait",
            "done",
            "infeasible",
        )
    )
    #: Whether the tool has an `answer` action, which says `done` with a text.
    answers: ClassVar[bool] = False
    #: The resolution that the tool's description states; None: that of the picture as the model sees it.
    resolution: ClassVar[Size | None] = None
    #: What stands before the tools in the system text.
    persona: ClassVar[str] = "You are a helpful assistant."
    scroll_argument: ClassVar[str] = "pixels"
    #: Actions of the tool beyond those that `write` uses.
    extra: ClassVar[tuple[str, ...]] = ("middle_click",)

    def system_text(self, prompt: Prompt) -> str:
        grid = self.grid(prompt.view)
        seen = Size(int(grid.extent[0]), int(grid.extent[1])) if grid.counts_px else None
        return tool_prompt.json_block([self.tool(seen)], self.persona)

    def calls(self, text: str) -> Iterator[Call]:
        called = False
        for call in parsing.tool_calls(text) if "computer_use(" not in text else parsing.python_calls(text, _is_tool):
            called = True
            yield call
        # Asked where something is, the families answer with JSON of boxes or points and call no tool.
        for place in [] if called else pointing.grounded(text):
            yield Call("click", {"coordinate": list(place)})

    def say(self, action: Action, grid: Grid, view: View) -> str:
        return "\n".join(tool_call(arguments) for arguments in self.arguments(action, grid))

    def arguments(self, action: Action, grid: Grid) -> list[dict[str, Any]]:
        """The tool's arguments, one dict a call."""
        kind = action.type
        if kind in CLICKS:
            return [{"action": CLICKS[kind], "coordinate": list(grid.write(action.point, kind))}]
        if kind == "drag":
            move = {"action": "mouse_move", "coordinate": list(grid.write(action.point, "the start of a drag"))}
            end = list(grid.write(action.end, "the end of a drag"))
            return [move, {"action": "left_click_drag", "coordinate": end}]
        if kind == "type":
            return [{"action": "type", "text": need(action.text, "text")}]
        if kind == "press":
            return [{"action": "key", "keys": list(keys.write(action.keys, "pyautogui"))}]
        if kind == "scroll":
            return self.scroll(action, grid)
        if kind == "wait":
            return [{"action": "wait", "time": 1.0 if action.seconds is None else action.seconds}]
        if kind == "done" and action.text is not None:
            if not self.answers:
                raise ValueError(f"{self.name} says that it is done, but has no word for an answer text")
            return [{"action": "answer", "text": action.text}]
        return [{"action": "terminate", "status": "success" if kind == "done" else "failure"}]

    def scroll(self, action: Action, grid: Grid) -> list[dict[str, Any]]:
        """A scroll by px, after a move where it has a point."""
        way, amount, unit = scrolling.one_way(action)
        if way in ("left", "right"):
            raise ValueError(f"{self.name} has no word for a scroll to the {way}")
        pixels = scrolling.in_px(amount, unit) * (-1 if way == "down" else 1)
        turn: dict[str, Any] = {"action": "scroll", "pixels": whole(pixels)}
        if action.point is None:
            return [turn]
        return [{"action": "mouse_move", "coordinate": list(grid.write(action.point, "scroll"))}, turn]

    def tool(self, seen: Size | None) -> dict[str, Any]:
        """The tool as its schema names it, described in our words. `seen` is the picture's size as the model sees it."""
        stated = self.resolution or seen
        resolution = f" The screen is {stated.width}x{stated.height}." if stated else ""
        names = ["key", "type", *CLICKS.values(), "left_click_drag", "scroll", "wait", "terminate", *self.extra]
        properties = {
            "action": {"type": "string", "enum": names, "description": "What to do."},
            "keys": {"type": "array", "description": "Keys pressed together, for key."},
            "text": {"type": "string", "description": "Text to enter, for type."},
            "coordinate": {"type": "array", "description": "[x, y] from the top left corner, for pointer actions."},
            "pixels": {"type": "number", "description": "Wheel movement for scroll, positive is up."},
            "time": {"type": "number", "description": "Seconds, for wait."},
            "status": {"type": "string", "enum": ["success", "failure"], "description": "Outcome, for terminate."},
        }
        description = f"Acts on the page shown in the screenshot with mouse and keyboard.{resolution}"
        return tool_prompt.function("computer_use", description, properties, ["action"])


def _is_tool(name: str) -> bool:
    return name == "computer_use"


def tool_call(arguments: dict[str, Any]) -> str:
    """One call in its tags."""
    body = json.dumps({"name": "computer_use", "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def whole(number: float) -> int | float:
    """A number without a needless fraction."""
    return int(number) if float(number).is_integer() else number
