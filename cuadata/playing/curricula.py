"""Skills in order, each practised until it succeeds often enough, the earlier ones scored again after every promotion.

A skill is a family with options: `modal`, or `gauntlet:start=modal:until=modal`, the same skill inside the whole.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from cuadata.episodes import registration
from cuadata.errors import CallError
from cuadata.playing import playing, policy_runs
from cuadata.playing.playing import Plan
from cuadata.types import Task


@dataclass(frozen=True, slots=True)
class Skill:
    """A family, with the options that make it this skill."""

    name: Annotated[str, "as it was written"]
    family: Annotated[str, "page family, or miniwob-TASK"]
    options: Annotated[dict[str, Any], "keyword arguments of the family"] = field(default_factory=dict)

    def task(self, seed: int) -> Task:
        """The skill's task of a seed."""
        return registration.task(self.family, seed, **self.options)


def skills(text: str) -> tuple[Skill, ...]:
    """Skills from `modal,code_entry,gauntlet:start=code`. CallError where there is none, or one that is no family."""
    found = []
    for part in (p.strip() for p in text.split(",") if p.strip()):
        family, *settings = part.split(":")
        if not registration.known(family):
            raise CallError(f"no family is named '{family}'; there are: {', '.join(registration.families())}")
        found.append(Skill(part, family, policy_runs.options(settings)))
    if not found:
        raise CallError("a curriculum names at least one skill, as in modal,code_entry,gauntlet")
    return tuple(found)


class Curriculum:
    """Which task a trainer plays next, and when it is promoted.

    The current skill is practised until `promote` of its last `window` episodes succeeded; a share `review` of the tasks
    is of skills that were learned before, and their success is counted on.
    """

    def __init__(
        self, held: Sequence[Skill], *, promote: float = 0.8, window: int = 50, review: float = 0.2, seed: int = 0
    ) -> None:
        if not held or not 0 < promote <= 1 or window < 1 or not 0 <= review < 1:
            raise CallError("a curriculum needs skills, 0 < promote <= 1, window >= 1 and 0 <= review < 1")
        self.skills, self.promote, self.review = tuple(held), promote, review
        self.current = 0
        self._recent = [deque[bool](maxlen=window) for _ in self.skills]
        self._rng = random.Random(seed)

    def next(self) -> tuple[Skill, Task]:
        """The next task to play: of the current skill, or of an earlier one for review. No seed is a test seed."""
        from cuadata.scores.runs import FIRST_TEST_SEED

        earlier = self.current > 0 and self._rng.random() < self.review
        skill = self._rng.choice(self.skills[: self.current]) if earlier else self.skills[self.current]
        return skill, skill.task(self._rng.randrange(FIRST_TEST_SEED))

    def tell(self, skill: Skill, success: bool) -> bool:
        """Count an episode; True where it promoted to the next skill."""
        place = self.skills.index(skill)
        self._recent[place].append(success)
        if place != self.current or self.current == len(self.skills) - 1 or not self.passed(place):
            return False
        self.current += 1
        return True

    def passed(self, place: int) -> bool:
        """Whether a skill's last episodes, a full window of them, succeeded often enough."""
        recent = self._recent[place]
        return len(recent) == recent.maxlen and sum(recent) / len(recent) >= self.promote

    def rates(self) -> dict[str, float | None]:
        """Success of each skill over its last episodes; None where it was not played."""
        return {s.name: sum(r) / len(r) if r else None for s, r in zip(self.skills, self._recent, strict=True)}


def play(
    plan: Plan,
    held: Sequence[Skill],
    out: Path,
    *,
    promote: float,
    force: bool = False,
    progress: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Play a policy up the curriculum: each skill on the plan's seeds, until one is not passed.

    After every promotion all earlier skills are scored again, on seeds of their own, so that forgetting shows. With one
    skill this is a plain rollout into `out`; with more, each skill has a folder there. The summary as plain values.
    """
    import time

    if len(held) == 1:
        began, one = time.perf_counter(), _plan(plan, held[0])
        return playing.summary(one, playing.play(one, out, force=force, progress=progress), time.perf_counter() - began)
    rounds: list[dict[str, Any]] = []
    for place, skill in enumerate(held):
        found = _round(_plan(plan, skill), skill, out / _folder(place, skill), force, progress)
        found["passed"] = (found["exact"]["rate"] or 0.0) >= promote
        found["again"] = [
            _round(_again(_plan(plan, s), place), s, out / f"{_folder(place, skill)}-again" / _folder(i, s), force, None)
            for i, s in enumerate(held[:place])
        ] if found["passed"] else []  # fmt: skip
        rounds.append(found)
        if not found["passed"]:
            break
    return {"policy": plan.policy, "promote": promote, "skills": [s.name for s in held], "rounds": rounds,
            "passed": sum(r["passed"] for r in rounds)}  # fmt: skip


def _round(plan: Plan, skill: Skill, out: Path, force: bool, progress: Callable[[], None] | None) -> dict[str, Any]:
    import time

    began = time.perf_counter()
    held = playing.play(plan, out, force=force, progress=progress)
    return {"skill": skill.name, **playing.summary(plan, held, time.perf_counter() - began)}


def _plan(plan: Plan, skill: Skill) -> Plan:
    return replace(plan, family=skill.family, family_options={**plan.family_options, **skill.options})


def _again(plan: Plan, place: int) -> Plan:
    """The same plan on seeds that no earlier round has played."""
    first, many = max(plan.seeds) + 1, len(plan.seeds)
    return replace(plan, seeds=range(first + place * many, first + (place + 1) * many))


def _folder(place: int, skill: Skill) -> str:
    return f"{place + 1}-{skill.name.replace(':', '_').replace('=', '-')}"
