"""Plays a task's own solution."""

from __future__ import annotations

from dataclasses import replace

from cuadata.contracts import Choice, Prompt
from cuadata.geometry import union
from cuadata.registry import policies
from cuadata.types import Action, Element, Locator, Move, Observation, Task


@policies.add
class Oracle:
    """Plays `Task.solution`, one move a turn; each element is looked up by its locator when its turn comes."""

    name = "oracle"

    def __init__(self) -> None:
        self._moves: tuple[Move, ...] = ()
        self._next = 0

    def reset(self, task: Task, seed: int) -> None:
        """Begin with the first move."""
        self._moves, self._next = task.solution, 0

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The next move; `done` after the last, a failure where its element is not on the page."""
        if self._next >= len(self._moves):
            return Choice(action=Action(type="done"))
        move = self._moves[self._next]
        self._next += 1
        action = move.action
        if move.locator is not None:
            element = found(observation, move.locator)
            if element is None:
                return Choice(action=None, failure=f"target_missing: nothing is at {move.locator.css}")
            action = replace(action, element=element.id)
        if move.end is not None:
            end = found(observation, move.end)
            box = union([end.bbox]) if end is not None and end.bbox is not None else None
            if box is None:
                return Choice(action=None, failure=f"target_missing: nothing is at {move.end.css}")
            action = replace(action, end=box.center)
        return Choice(action=action)


def found(observation: Observation, locator: Locator) -> Element | None:
    """The element that a locator names; None where there is none."""
    return next((e for e in observation.elements if e.locator == locator), None)
