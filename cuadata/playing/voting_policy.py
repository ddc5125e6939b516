"""A policy that asks another one several times and acts on what the answers agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cuadata.contracts import Choice, Policy, Prompt
from cuadata.statistics import voting
from cuadata.types import Action, Observation, Task


class Voting:
    """Asks a policy K times; the commonest type of action wins, and its points vote on a region (GUI-RC).

    The policy must sample: one that always answers alike gains nothing. Answers that cannot be read have no vote.
    """

    def __init__(self, inner: Policy, samples: int, *, side: float = voting.SIDE) -> None:
        if samples < 1:
            raise ValueError(f"{samples} answers cannot vote; 1 or more are wanted")
        self.inner = inner
        self.samples = samples
        self.side = side
        self.name = f"{inner.name}, vote of {samples}"

    def reset(self, task: Task, seed: int) -> None:
        """Begin an episode of this task."""
        self.inner.reset(task, seed)

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The action that most answers agree on; the first answer's failure where none could be read."""
        choices = [self.inner.act(observation, prompt) for _ in range(self.samples)]
        return agreed(choices, observation, side=self.side)


def agreed(choices: Sequence[Choice], observation: Observation, *, side: float = voting.SIDE) -> Choice:
    """One choice out of several: by type, then by region where there are points, then by all else alike."""
    read = [(c, c.action) for c in choices if c.action is not None]
    if not read:
        return choices[0]
    kind = Counter(action.type for _, action in read).most_common(1)[0][0]
    same = [(c, a) for c, a in read if a.type == kind]
    rest = Counter(_apart_from_points(a) for _, a in same).most_common(1)[0][0]
    winners = [(c, a) for c, a in same if _apart_from_points(a) == rest]
    choice, action = winners[0]
    found = voting.vote([a.point for _, a in winners], side=side, viewport=observation.viewport)
    if found.point is not None:
        action = replace(action, point=found.point)
    return replace(choice, action=action, logprob=None, rest=())


def _apart_from_points(action: Action) -> Action:
    return replace(action, point=None, end=None)
