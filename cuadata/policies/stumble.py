"""Fails on purpose before the right action, and has somebody show the way out: makes trajectories to learn recovery from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from cuadata import registry
from cuadata.contracts import Choice, Policy, Prompt
from cuadata.errors import CallError
from cuadata.geometry import contains
from cuadata.recovering import mishaps
from cuadata.recovering.mishaps import Moment
from cuadata.registry import policies
from cuadata.types import Action, Element, Move, Observation, Task

_POINTED = ("click", "double_click", "hover")


@policies.add
class Stumble:
    """Plays a task's solution; before some of its actions it makes 1 to 3 tries that ought to change nothing.

    A further try is made only where the prompt says that the last one changed nothing, so that it needs an environment
    with `no_effect_lines`. Then the helper is asked: `oracle` goes on with the solution, and another policy, a model,
    answers as it can. The solution may be a recording's, which needs no oracle. What any of it did is for the
    environment to measure.
    """

    name = "stumble"

    def __init__(
        self,
        ways: str | Sequence[str] = tuple(mishaps.WAYS),
        *,
        share: float = 0.6,
        most: int = 3,
        helper: str = "oracle",
        **options: Any,
    ) -> None:
        """`ways` are names of `cuadata.recovering.mishaps.WAYS`, by comma; `share` of the actions that offer a way are preceded by one.

        `options` go to the helper. CallError for a way or numbers that are none.
        """
        self._ways = tuple(w.strip() for w in ways.split(",")) if isinstance(ways, str) else tuple(ways)
        unknown = [way for way in self._ways if way not in mishaps.WAYS]
        if unknown or not self._ways:
            raise CallError(f"no way to fail is called {unknown}; there are: {', '.join(mishaps.WAYS)}")
        if not 0 <= share <= 1 or not 1 <= most <= 3:
            raise CallError("share lies between 0 and 1, most between 1 and 3")
        self._share, self._most = share, most
        self._right: Any = policies["oracle"](recover=True)
        self._helper: Policy | None = None if helper == "oracle" else registry.policies[helper](**options)
        self.reset(Task(id="", family="", seed=0, instruction=""), 0)

    def reset(self, task: Task, seed: int) -> None:
        """Begin with the first action; the same task and seed give the same tries on the same pages."""
        self._rng = Random(f"{task.id}/{seed}/stumble")
        self._pending: Choice | None = None
        self._try: Action | None = None
        self._left = 0
        self._undo = False
        self._last: Action | None = None
        self._made: Counter[str] = Counter()
        for policy in (self._right, self._helper):
            if policy is not None:
                policy.reset(task, seed)

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """A try that ought to fail, the helper's answer to one that did, or the next right action."""
        if self._pending is None:
            moves: tuple[Move, ...] = self._right.upcoming
            self._pending = right = self._right.act(observation, prompt)
            self._begin(observation, right.action, moves)
        elif self._try is not None:
            failed = any(line.kind == "no_effect" for line in prompt.context)
            if not failed:
                self._left = 0
                undo, self._undo = self._undo, False
                if undo:
                    return Choice(action=self._try)
                self._try = None
            elif not self._left:
                self._try = None
                return self._way_out(observation, prompt)
        if self._left:
            self._left -= 1
            return Choice(action=self._try)
        return self._go_on()

    def _begin(self, observation: Observation, right: Action | None, moves: Sequence[Move]) -> None:
        """Choose a way to fail before this action; none where the page offers none, or by chance."""
        self._try, self._left, self._undo = None, 0, False
        if right is None or self._rng.random() >= self._share:
            return
        moment = Moment(
            observation=observation,
            right=right,
            phase=moves[0].phase if moves else None,
            coming=tuple(move.locator for move in moves[1:12] if move.locator is not None),
            last=self._last,
            rng=self._rng,
        )
        found = mishaps.possible(moment, self._ways)
        if not found:
            return
        way = min(found, key=lambda one: (self._made[one], self._rng.random()))
        self._made[way] += 1
        self._try = found[way]
        self._undo = way == "taken_back"
        self._left = 1 if self._undo else self._rng.choices((1, 2, 3)[: self._most], (4, 3, 3)[: self._most])[0]

    def _way_out(self, observation: Observation, prompt: Prompt) -> Choice:
        """What the helper does; the solution goes on behind it where that was the same."""
        if self._helper is None:
            return self._go_on()
        choice = self._helper.act(observation, prompt)
        pending = self._pending.action if self._pending is not None else None
        if choice.action is None or choice.action.type in ("done", "infeasible"):
            return self._go_on()
        if pending is not None and _same(choice.action, pending, observation.elements):
            self._pending = None
        return replace(choice, rest=())

    def _go_on(self) -> Choice:
        choice, self._pending = self._pending, None
        assert choice is not None
        if choice.action is not None and choice.action.type == "click":
            self._last = choice.action
        return choice


def _same(one: Action, other: Action, elements: Sequence[Element]) -> bool:
    """Whether an answer is the right action: the same type on the same element, named or pointed at."""
    if one.type != other.type:
        return False
    if one.type not in _POINTED:
        return one.text == other.text
    box = next((e.bbox for e in elements if e.id == other.element), None)
    named = one.element is not None and one.element == other.element
    return named or (one.point is not None and box is not None and contains(box, one.point))
