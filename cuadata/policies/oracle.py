"""Plays a task's own solution; for MiniWoB++ tasks, which bring none, what their instruction says."""

from __future__ import annotations

from dataclasses import replace

from cuadata.contracts import Choice, Prompt
from cuadata.episodes import miniwob, miniwob_solutions
from cuadata.geometry import union
from cuadata.recovering import ways_out
from cuadata.registry import policies
from cuadata.types import Action, Element, Locator, Move, Observation, Task

#: Turns in which an oracle that recovers tries to clear the way to one element.
PATIENCE = 8


@policies.add
class Oracle:
    """Plays `Task.solution`, one move a turn; each element is looked up by its locator when its turn comes.

    The solution may be a recording's (`cuadata.episodes.taskfile`). MiniWoB++ tasks are solved from their instruction, where
    `cuadata.episodes.miniwob_solutions` knows how. With `recover` it clears the way to an element that cannot be acted on, before
    it plays the move: it scrolls to it, dismisses what covers it, or waits for it.
    """

    name = "oracle"

    def __init__(self, recover: bool = False) -> None:
        self._recover = recover
        self._cleared = 0
        self._tried: set[Locator] = set()
        self._moves: tuple[Move, ...] = ()
        self._next = 0
        self._solver: miniwob_solutions.Solver | None = None

    def reset(self, task: Task, seed: int) -> None:
        """Begin with the first move."""
        self._moves, self._next = task.solution, 0
        self._cleared, self._tried = 0, set()
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
        if (out := self._way_out(observation, move)) is not None:
            return Choice(action=out)
        self._next += 1
        self._cleared = 0
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

    @property
    def upcoming(self) -> tuple[Move, ...]:
        """The moves of the solution that were not played yet."""
        return self._moves[self._next :]

    def _way_out(self, observation: Observation, move: Move) -> Action | None:
        """What clears the way to a move's element; None where it is clear, or was not cleared in many turns."""
        if not self._recover or move.locator is None or move.action.type == "scroll" or self._cleared >= PATIENCE:
            return None
        known = tuple(m.locator for m in self._moves if m.locator is not None)
        out = ways_out.way_out(observation, at(observation, move.locator), known=known, tried=self._tried)
        if out is not None:
            self._cleared += 1
            self._tried |= {e.locator for e in observation.elements if e.id == out.element and out.type == "click"}
        return out


def at(observation: Observation, locator: Locator) -> Element | None:
    """The element that a locator names; None where there is none."""
    return next((e for e in observation.elements if e.locator == locator), None)


def _unknown(instruction: str, elements: miniwob_solutions.Elements, turn: int) -> Action | None:
    return Action(type="infeasible", text="no solution is known for this task")
