"""Does nothing."""

from __future__ import annotations

from cuadata.contracts import Choice, Prompt
from cuadata.registry import policies
from cuadata.types import Action, Observation, Task


@policies.add
class Nothing:
    """Says at once that it is done: what a task pays to a policy that never acts."""

    name = "nothing"

    def reset(self, task: Task, seed: int) -> None:
        """Nothing to remember."""

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """Done."""
        return Choice(action=Action(type="done"))
