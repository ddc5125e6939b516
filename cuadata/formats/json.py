"""A bare action as JSON, for models that are trained on this project's data alone.

Grammar: this project's. One object: `action`, and what the action needs: `point` and `end` as [x, y] in px of the picture,
`element`, `text`, `value`, `keys` and `modifiers` in W3C names, `scroll` as [right, down] with its `unit`, `url`, `page`,
`accept`, `files`, `seconds`. It can say everything that an action can be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, get_args

from cuadata.contracts import Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import parsing
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.model_format import ModelFormat
from cuadata.speaking.parsing import Call
from cuadata.types import Action, ActionType

#: What an action of a type cannot do without.
_PARTS: Final[dict[ActionType, tuple[str, ...]]] = {
    "click": ("place",), "double_click": ("place",), "right_click": ("place",), "hover": ("place",),
    "drag": ("place", "end"), "type": ("text",), "press": ("keys",), "scroll": ("amount",), "select": ("place", "option"),
    "upload": ("place", "files"), "navigate": ("url",), "switch_page": ("page",), "dialog": ("accept",),
}  # fmt: skip


class Json(ModelFormat):
    """A bare action as one JSON object, px of the picture."""

    name = "json"
    frame = Frame("px")
    says = frozenset(get_args(ActionType))
    habits = Habits(where="either")
    holds_keys = True
    scroll_argument = "scroll_y"

    def system_text(self, prompt: Prompt) -> str:
        grid = self.grid(prompt.view)
        wide, tall = grid.extent
        return (
            f'Answer with the next action as one JSON object, such as {{"action": "click", "point": [x, y]}}. The picture is '
            f"{wide:g}x{tall:g}. Actions: {', '.join(get_args(ActionType))}."
        )

    def calls(self, text: str) -> Iterator[Call]:
        return parsing.tool_calls(text)

    def say(self, action: Action, grid: Grid, view: View) -> str:
        if lacking := [part for part in _PARTS.get(action.type, ()) if not _has(action, part)]:
            raise ValueError(f"the {action.type} has no {' and no '.join(lacking)}, which it cannot be said without")
        said: dict[str, Any] = {"action": action.type}
        if action.point is not None:
            said["point"] = list(grid.write(action.point))
        elif action.element is not None:
            said["element"] = action.element
        if action.end is not None:
            said["end"] = list(grid.write(action.end))
        if action.scroll_x is not None or action.scroll_y is not None:
            said["scroll"] = [action.scroll_x or 0, action.scroll_y or 0]
            said["unit"] = action.scroll_unit or "px"
        for field in ("text", "value", "url", "page", "accept", "seconds"):
            if getattr(action, field) is not None:
                said[field] = getattr(action, field)
        for field in ("keys", "modifiers", "files"):
            if getattr(action, field):
                said[field] = list(getattr(action, field))
        return json.dumps(said, ensure_ascii=False)


def _has(action: Action, part: str) -> bool:
    if part == "place":
        return action.point is not None or action.element is not None
    if part == "amount":
        return action.scroll_x is not None or action.scroll_y is not None
    if part == "option":
        return action.text is not None or action.value is not None
    return getattr(action, part) not in (None, ())


formats.add(Json())
