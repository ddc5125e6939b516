"""Groups of rollouts for one prompt: their advantages, those that teach nothing, and how large a group should be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from cuadata.errors import CallError
from cuadata.statistics import intervals

#: What keeps a group without spread from a division by 0, as in TRL.
EPSILON: Final = 1e-4
#: Rewards that differ by less than this are the same: a mean of floats is not exact.
SAME: Final = 1e-9
SIZES: Final = (4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Which groups teach something."""

    groups: Annotated[int, "groups in all"]
    without: Annotated[tuple[str, ...], "names of the groups in which every reward is the same, in their order"]

    @property
    def fraction(self) -> float:
        """Share of the groups without spread; 0 for no groups. TRL logs it as frac_reward_zero_std."""
        return len(self.without) / self.groups if self.groups else 0.0


def advantages(rewards: Sequence[float], *, epsilon: float = EPSILON) -> list[float]:
    """(r - mean) / (std + epsilon) with n - 1 in the std's denominator (GRPO, arXiv 2402.03300, as TRL computes it).

    A group in which every reward is the same has 0 throughout, exactly. CallError for no reward, or one that is no finite
    number: a reward that failed must not become an advantage.
    """
    if not rewards:
        raise CallError("a group without rewards has no advantages")
    if bad := [r for r in rewards if not math.isfinite(r)]:
        raise CallError(f"a reward is {bad[0]}; finite numbers are wanted")
    if same(rewards):
        return [0.0] * len(rewards)
    unit = intervals.scale(rewards)
    held = [r / unit for r in rewards]
    mean = math.fsum(held) / len(held)
    std = math.sqrt(math.fsum((r - mean) ** 2 for r in held) / (len(held) - 1))
    return [(r - mean) / (std + epsilon / unit) for r in held]


def same(rewards: Sequence[float]) -> bool:
    """Whether every reward of a group is the same, so that it teaches nothing."""
    return max(rewards) - min(rewards) <= SAME


def spread(groups: Mapping[str, Sequence[float]]) -> Spread:
    """Which groups have no spread."""
    return Spread(groups=len(groups), without=tuple(name for name, held in groups.items() if held and same(held)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSize:
    """What one size of group costs and gives, for a binary reward."""

    size: Annotated[int, "rollouts a group"]
    without_spread: Annotated[float, "share of groups in which all succeed or all fail: p^G + (1 - p)^G"]
    useful_groups: Annotated[float, "groups with spread in an update, expected"]
    rollouts: Annotated[int, "rollouts an update"]
    seconds: Annotated[float, "wall time of an update's rollouts"]
    seconds_per_useful: Annotated[float | None, "wall time for one group with spread; None where there is none"]


def plan(
    pass_rate: float,
    seconds_per_episode: float,
    *,
    groups: int = 8,
    parallel: int = 1,
    sizes: Iterable[int] = SIZES,
) -> tuple[GroupSize, ...]:
    """What groups of each size give when an episode succeeds with probability `pass_rate`.

    A group teaches nothing where its rewards are all the same, which has probability p^G + (1 - p)^G. `groups` are drawn
    for an update, `parallel` episodes run at a time. CallError for a rate outside [0, 1], and for times and counts that
    are not above 0.
    """
    if not 0 <= pass_rate <= 1:
        raise CallError(f"the pass rate is {pass_rate}; a share between 0 and 1 is wanted")
    if not (seconds_per_episode > 0 and groups > 0 and parallel > 0):
        raise CallError("seconds per episode, groups and parallel episodes have to be above 0")
    if seconds_per_episode > 1e9:
        raise CallError(f"{seconds_per_episode:g} seconds are more than thirty years; what does one episode take?")
    return tuple(_size(size, pass_rate, seconds_per_episode, groups, parallel) for size in sizes)


def _size(size: int, rate: float, seconds: float, groups: int, parallel: int) -> GroupSize:
    if size < 2:
        raise CallError(f"a group of {size} has nothing to compare; at least 2 are wanted")
    without = min(1.0, rate**size + (1 - rate) ** size)
    useful, rollouts = groups * (1 - without), groups * size
    wall = math.ceil(rollouts / parallel) * seconds
    return GroupSize(
        size=size,
        without_spread=without,
        useful_groups=useful,
        rollouts=rollouts,
        seconds=wall,
        seconds_per_useful=wall / useful if useful > 0 else None,
    )
