"""What the formats of `cuadata/formats/` have in common: one way from text to actions, one check of what can be said."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import ClassVar

from cuadata.contracts import Message, ParseFailure, Prompt, View
from cuadata.geometry import Frame
from cuadata.speaking import bare_calls, interpret, pointing, prompts
from cuadata.speaking import grid as grids
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.parsing import Call
from cuadata.types import Action, ActionType


class ModelFormat(abc.ABC):
    """A model family. A subclass gives its name, frame, words, `calls` (text to calls) and `say` (action to text).

    `system` replaces the family's system text by another, such as the one that a checkpoint was trained with.
    """

    name: ClassVar[str]
    frame: ClassVar[Frame]
    #: What it has words for; `write` refuses the rest.
    says: ClassVar[frozenset[ActionType]]
    habits: ClassVar[Habits] = Habits()
    #: Whether it can say that keys are held during a pointer action.
    holds_keys: ClassVar[bool] = False
    #: The argument that the only number of a scroll is, where it names no way; empty where that says nothing.
    scroll_argument: ClassVar[str] = ""
    #: Whether it lists the page's elements in the prompt.
    lists_elements: ClassVar[bool] = False

    def __init__(self, system: str | None = None) -> None:
        self.system = system

    def system_text(self, prompt: Prompt) -> str:
        """The family's own system text for a prompt; empty where it has none."""
        return ""

    def prompt(self, prompt: Prompt) -> list[Message]:
        """Chat messages; the picture stands as `{"type": "image"}` and is passed beside them."""
        user = prompts.user_text(prompt, elements=self.lists_elements, thoughts="reason" in self.says)
        system = self.system_text(prompt) if self.system is None else self.system
        return prompts.messages(system, user, picture=prompt.image is not None)

    def grid(self, view: View) -> Grid:
        """How coordinates count on this view."""
        return grids.of(view, self.frame)

    def write(self, action: Action, view: View) -> str:
        """The answer that means this action. ValueError where the family has no word for it."""
        if action.type not in self.says:
            raise ValueError(f"{self.name} has no word for '{action.type}'; it says: {', '.join(sorted(self.says))}")
        if action.type == "press" and not action.keys:
            raise ValueError("the press has no keys, which it cannot be said without")
        if action.modifiers and not self.holds_keys:
            held = "+".join(action.modifiers)
            raise ValueError(f"{self.name} cannot say that {held} is held during a {action.type}")
        return self.say(action, self.grid(view), view)

    def read(self, text: str, view: View) -> Action:
        """The first action in a model's text, in CSS px. ParseFailure where there is none."""
        for action in self.actions(text, view):
            return action
        raise ParseFailure(f"the answer {text.strip()!r:.80} calls for no action")

    def read_all(self, text: str, view: View) -> tuple[Action, ...]:
        """Every action in a model's text, in order. ParseFailure where there is none."""
        return interpret.collect(self.actions(text, view))

    def actions(self, text: str, view: View) -> Iterator[Action]:
        """The actions of a text, one at a time; ParseFailure when the turn comes to one that cannot be read."""
        return interpret.actions_of(self._called(pointing.said(text)), self.grid(view), view, self.habits)

    def _called(self, text: str) -> Iterator[Call]:
        """The calls of a text in the family's own grammar; where there are none, those of its tool without the wrapping."""
        called = False
        for call in self.calls(text):
            called = True
            yield call
        if not called:
            yield from bare_calls.calls(text, scroll=self.scroll_argument)

    def calls(self, text: str) -> Iterator[Call]:
        """The calls that a text makes in the family's own grammar, in order; none where the family reads `actions` itself."""
        return iter(())

    @abc.abstractmethod
    def say(self, action: Action, grid: Grid, view: View) -> str:
        """The answer for an action that the family has a word for. ValueError where it lacks a part."""


def need(value: str | None, what: str) -> str:
    """A text that an action cannot be said without; ValueError where it has none."""
    if value is None:
        raise ValueError(f"the action has no {what}, which it cannot be said without")
    return value
