"""Plays a task's own solution; for MiniWoB++ tasks, which bring none, what their instruction says."""

from __future__ import annotations

from dataclasses import replace

from cuadata import miniwob, miniwob_solutions
from cuadata.contracts import Choice, Prompt
from cuadata.geometry import union
from cuadata.registry import policies
from cuadata.types import Action, Element, Locator, Move, Observation, Task


@policies.add
class Oracle:
    """Plays `Task.solution`, one move a turn; each element is looked up by its locator when its turn comes.

    The solution may be a recording's (`cuadata.taskfile`). MiniWoB++ tasks are solved from their instruction, where
    `cuadata.miniwob_solutions` knows how.
    """

    name = "oracle"

    def __init__(self) -> None:
        self._moves: tuple[Move, ...] = ()
        self._next = 0
        self._solver: miniwob_solutions.Solver | None = None

    def reset(self, task: Task, seed: int) -> None:
        """Begin with the first move."""
        self._moves, self._next = task.solution, 0
        self._solver = None
        if (task.url or "").startswith(miniwob.SCHEME):
            self._solver = miniwob_solutions.SOLVERS.get(miniwob.name_of(task), _unknown)

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The next move; `done` after the last, a failure where its element is not on the page."""
        if self._solver is not None:
            self._next += 1
            found = self._solver(prompt.instruction, observation.elements, self._next - 1)
            return Choice(action=found or Action(type="done"))
        if self._next >= len(self._moves):
            return Choice(action=Action(type="done"))
        move = self._moves[self._next]
        self._next += 1
        action = move.action
        if move.locator is not None:
            element = at(observation, move.locator)
            if element is None:
                return Choice(action=None, failure=f"target_missing: nothing is at {move.locator.css}")
            action = replace(action, element=element.id)
        if move.end is not None:
            end = at(observation, move.end)
            box = union([end.bbox]) if end is not None and end.bbox is not None else None
            if box is None:
                return Choice(action=None, failure=f"target_missing: nothing is at {move.end.css}")
            action = replace(action, end=box.center)
        return Choice(action=action)


def at(observation: Observation, locator: Locator) -> Element | None:
    """The element that a locator names; None where there is none."""
    return next((e for e in observation.elements if e.locator == locator), None)


def _unknown(instruction: str, elements: miniwob_solutions.Elements, turn: int) -> Action | None:
    return Action(type="infeasible", text="no solution is known for this task")
