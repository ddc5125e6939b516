"""Rewards that going back and forth cannot farm: what an action gains is what the next one can lose."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

#: Potentials are sums of fractions; this much short of `full` is rounding.
_ROUNDING = 1e-9


def fraction_met(state: Mapping[str, Any], goal: Mapping[str, Any]) -> float:
    """Share of the goal's fields that the state meets, 0 to 1; a field that the state lacks is not met.

    A boolean equals only a boolean: a box that holds the number 1 is not a box that is ticked. ValueError for no goal.
    """
    if not goal:
        raise ValueError("a goal without fields has no share that is met")
    met = sum(name in state and _equal(state[name], wanted) for name, wanted in goal.items())
    return met / len(goal)


def _equal(held: Any, wanted: Any) -> bool:
    return isinstance(held, bool) == isinstance(wanted, bool) and bool(held == wanted)


def potential_reward(before: float, after: float, *, paid: bool, bonus: float = 1.0, full: float = 1.0) -> float:
    """What one action earns: the potential after it minus the potential before, and the bonus on first reaching `full`.

    `paid` says that the bonus was earned before. Around any loop the differences add up to nothing, so no policy gains by
    undoing and redoing (Ng, Harada and Russell, "Policy invariance under reward transformations", 1999, with no discount).
    """
    return after - before + (bonus if after >= full - _ROUNDING and not paid else 0.0)


def potential_rewards(potentials: Sequence[float], *, bonus: float = 1.0, full: float = 1.0) -> tuple[float, ...]:
    """The rewards of an episode, one an action, from the potential before the first action and after each.

    ValueError for an empty list, since the potential at the start is part of it, and for one that is not finite.
    """
    if not potentials:
        raise ValueError("no potentials; give the one at the start and one after each action")
    if bad := [one for one in potentials if not math.isfinite(one)]:
        raise ValueError(f"a potential is {bad[0]}; finite numbers are wanted")
    earned, paid = [], False
    for before, after in itertools.pairwise(potentials):
        earned.append(potential_reward(before, after, paid=paid, bonus=bonus, full=full))
        paid = paid or after >= full - _ROUNDING
    return tuple(earned)
