"""Acts at random on what takes input."""

from __future__ import annotations

from random import Random

from cuadata.contracts import Choice, Prompt
from cuadata.registry import policies
from cuadata.types import Action, Element, Observation, Point, Task

WORDS = ("hello", "42", "yes", "north", "tuesday", "blue")
FIELDS = ("textbox", "searchbox", "spinbutton")


@policies.add
class RandomPolicy:
    """Clicks, types or scrolls somewhere, drawn from the seed; never says that it is done."""

    name = "random"

    def __init__(self, scroll: float = 0.15) -> None:
        """`scroll` is the share of actions that turn the wheel instead of pointing at an element."""
        self._scroll = scroll
        self._rng = Random(0)

    def reset(self, task: Task, seed: int) -> None:
        """Begin with this seed: the same page gives the same actions."""
        self._rng = Random(f"{task.id}/{seed}")

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """One action on an element that takes input, or a scroll where there is none."""
        held = [e for e in observation.elements if e.interactive and e.point is not None and not e.states.disabled]
        if not held or self._rng.random() < self._scroll:
            return Choice(action=self._turn(observation))
        return Choice(action=self._touch(self._rng.choice(held)))

    def _touch(self, element: Element) -> Action:
        if element.role in FIELDS:
            return Action(type="type", element=element.id, text=self._rng.choice(WORDS))
        return Action(type="click", element=element.id)

    def _turn(self, observation: Observation) -> Action:
        size = observation.viewport
        at = Point(self._rng.uniform(0, size.width - 1), self._rng.uniform(0, size.height - 1))
        return Action(type="scroll", point=at, scroll_y=self._rng.choice((-300.0, 300.0)), scroll_unit="px")
