"""Qwen3.5: function and parameter tags, calls by element id.

Grammar: the chat templates of Qwen3.5 (and Qwen3-Coder): a value stands on lines of its own between its tags, all values
are text. The functions are this project's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cuadata.contracts import Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import by_id, parsing, tool_prompt
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.model_format import ModelFormat
from cuadata.speaking.parsing import Call
from cuadata.types import Action


class Qwen35(ModelFormat):
    """Qwen3.5: <function=click><parameter=target>18 tags, by element id."""

    name = "qwen35"
    frame = Frame("px")
    says = by_id.SAYS
    habits = Habits(where="id")
    lists_elements = True

    def system_text(self, prompt: Prompt) -> str:
        return tool_prompt.xml_block(by_id.tools(), "You act on a web page.")

    def calls(self, text: str) -> Iterator[Call]:
        return parsing.tool_calls(text)

    def say(self, action: Action, grid: Grid, view: View) -> str:
        lines = [
            f"<parameter={key}>\n{_value(value)}\n</parameter>" for key, value in by_id.arguments(action, view).items()
        ]
        return "\n".join(["<tool_call>", f"<function={action.type}>", *lines, "</function>", "</tool_call>"])


def _value(value: Any) -> str:
    """A value as the chat template writes it."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return parsing.untagged(str(value))


formats.add(Qwen35())
