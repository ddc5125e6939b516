"""Ticks everything that can be ticked, then submits."""

from __future__ import annotations

from cuadata.contracts import Choice, Prompt
from cuadata.registry import policies
from cuadata.types import Action, Element, Observation, Task

from .submit_only import submit

ROLES = ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio")


@policies.add
class AllBoxes:
    """Ticks every box in sight that is not ticked, once each, then submits and says that it is done."""

    name = "all_boxes"

    def __init__(self) -> None:
        self._ticked: set[int] = set()
        self._submitted = False

    def reset(self, task: Task, seed: int) -> None:
        """Begin anew."""
        self._ticked, self._submitted = set(), False

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The next box, then the submit control, then done."""
        reached = {e.id for e in observation.elements if e.point is not None}
        box = next((e for e in observation.elements if self._open(e, reached)), None)
        if box is not None:
            self._ticked.add(box.id)
            return Choice(action=Action(type="click", element=box.id))
        found = None if self._submitted else submit(observation)
        self._submitted = True
        return Choice(action=Action(type="done") if found is None else Action(type="click", element=found.id))

    def _open(self, element: Element, reached: set[int]) -> bool:
        """Whether it is an open box; a label counts where its own box takes no click, hidden behind what is drawn for it."""
        boxed = element.role in ROLES and element.acts_on not in reached
        return (
            boxed and element.point is not None and element.states.checked != "true" and element.id not in self._ticked
        )
