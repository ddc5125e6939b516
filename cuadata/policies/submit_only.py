"""Submits what stands there, and does nothing else."""

from __future__ import annotations

from cuadata.contracts import Choice, Prompt
from cuadata.registry import policies
from cuadata.types import Action, Element, Observation, Task

#: Words of controls that send a form, in the order in which they are looked for.
WORDS = ("submit", "send", "save", "confirm", "continue", "ok", "done", "search", "login", "log in", "next")


@policies.add
class SubmitOnly:
    """Clicks the control that submits, once, then says that it is done: the floor that every curve stands on."""

    name = "submit_only"

    def __init__(self) -> None:
        self._clicked = False

    def reset(self, task: Task, seed: int) -> None:
        """Begin anew."""
        self._clicked = False

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The click, then done; done at once where nothing looks like a control that submits."""
        found = None if self._clicked else submit(observation)
        self._clicked = True
        return Choice(action=Action(type="done") if found is None else Action(type="click", element=found.id))


def submit(observation: Observation) -> Element | None:
    """The button that submits: by its name, else the last one that takes a click; None where there is no button."""
    buttons = [e for e in observation.elements if e.role == "button" and e.point is not None]
    for word in WORDS:
        for button in buttons:
            if button.name.casefold().split("&")[0].strip().startswith(word):
                return button
    return buttons[-1] if buttons else None
