"""The page as text, one element a line, and calls by element id: for text models.

Grammar: this project's. The page reads `[18] checkbox 'MRW'`, with the states that differ from rest behind it; the answer
is one call, `click(18)`. JSON tool calls and function tags are read as well, for models that were taught those.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuadata.contracts import Message, Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import by_id, parsing
from cuadata.speaking.call_words import is_word
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.model_format import ModelFormat
from cuadata.speaking.parsing import Call
from cuadata.speaking.prompts import messages, user_text
from cuadata.types import Action

#: Functions whose first arguments may be missing, so that they are named: type(target=3, text='a').
_NAMED = ("scroll",)


class AXTree(ModelFormat):
    """Text models: the page as lines `[18] checkbox 'MRW'`, calls by id such as `click(18)`."""

    name = "axtree"
    frame = Frame("px")
    says = by_id.SAYS
    habits = Habits(where="id")
    lists_elements = True

    def system_text(self, prompt: Prompt) -> str:
        return f"You act on a web page. Answer with one call:\n{by_id.signatures()}"

    def prompt(self, prompt: Prompt) -> list[Message]:
        """Two turns of plain text; a picture, where there is one, is left out."""
        system = self.system_text(prompt) if self.system is None else self.system
        return messages(system, user_text(prompt, elements=True), picture=False)

    def calls(self, text: str) -> Iterator[Call]:
        if "<tool_call>" in text or "<function=" in text:
            return parsing.tool_calls(text)
        python = parsing.python_calls(text, is_word)
        first = next(python, None)
        return parsing.tool_calls(text) if first is None else _chained(first, python)

    def say(self, action: Action, grid: Grid, view: View) -> str:
        arguments = by_id.arguments(action, view)
        bare = list(by_id.FUNCTIONS[action.type].arguments)[: len(arguments)] == list(arguments)
        if bare and action.type not in _NAMED:
            return f"{action.type}({', '.join(repr(value) for value in arguments.values())})"
        return f"{action.type}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _chained(first: Call, rest: Iterator[Call]) -> Iterator[Call]:
    yield first
    yield from rest


formats.add(AXTree())
