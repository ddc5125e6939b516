"""One-shot plans: a text model answers a page with all its calls at once, which are then played one a turn.

Rows are made from the live page and scored on it. An episode is a pure function of its seed and a plan of the actions that
its text means, so a plan that was played before is not played again; a test holds that the page agrees. Answers that have
ended can be played while the model draws others (`start`): the model and the browsers then need not wait for one another.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import functools
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Annotated, Any

from cuadata import environment
from cuadata.browsing import loop
from cuadata.contracts import Format, ParseFailure, Prompt, View
from cuadata.episodes import registration
from cuadata.episodes.episode import Episode
from cuadata.learning.rollouts import Terms
from cuadata.registry import formats
from cuadata.speaking.prompts import view_of
from cuadata.types import Action, Size

#: A plan's system text, short, since a small model's step costs what it reads: the calls that plans are made of.
SYSTEM = (
    "You act on a web page. Answer with all the calls that the instruction needs, one a line, in order, and nothing after "
    "the last: click(3), type(2, 'text'), select(4, 'option')."
)
#: Answers by element number need no picture to be read.
NO_PICTURE = View(image=Size(1, 1), viewport=Size(1, 1))


async def _begin(family: str, seed: int, stage: Any) -> Episode:
    episode = Episode(stage, registration.task(family, seed))
    await episode.begin()
    return episode


def plan_prompt(episode: Episode, form: Format) -> list[dict[str, Any]]:
    """Chat messages for a whole plan: those of the format, its system text put shorter."""
    seen = episode.observation
    messages = form.prompt(Prompt(instruction=episode.task.instruction, view=view_of(seen), image=None))
    return [{"role": "system", "content": SYSTEM}, *(m for m in messages if m["role"] != "system")]


def task_rows(family: str, seeds: Sequence[int], format: str, **options: Any) -> list[dict[str, Any]]:
    """A row a seed: id, family, seed, instruction, prompt, and the size of the task where it has one.

    `options` go to the stage. Raises DataError where a page does not begin.
    """
    form = formats[format]

    async def make() -> list[dict[str, Any]]:
        stage = environment.stage_of(registration.task(family, seeds[0]), screenshot=False, effect=False, **options)
        try:
            rows = []
            for seed in seeds:
                episode = await _begin(family, seed, stage)
                rows.append({
                    "id": f"{family}/{seed}", "family": family, "seed": seed, "instruction": episode.task.instruction,
                    "prompt": plan_prompt(episode, form), "size": size_of(episode.task.instruction),
                })  # fmt: skip
            return rows
        finally:
            await stage.close()

    return loop.shared().run(make(), 60 + 2.0 * len(seeds))


def size_of(instruction: str) -> int:
    """How many things an instruction asks to select: `Select a, b and click Submit.` asks for 2, `Select nothing` for 0."""
    words = instruction.strip().rstrip(".")
    if not words.lower().startswith("select "):
        return 1
    named = words[len("select ") :].rsplit(" and click", 1)[0]
    return 0 if named.lower() == "nothing" else len(named.split(", "))


@dataclass(frozen=True, slots=True)
class Played:
    """What a plan was worth, and what the page asks next."""

    terms: Annotated[dict[str, float], "raw, exact, default, parsed, turns, submitted"]
    prompt: Annotated[list[dict[str, Any]] | None, "chat messages for the next answer; None where the episode is over"]
    actions: Annotated[tuple[Action, ...], "what was done, in order"]


#: What is played: family, seed, and the actions of all answers; None stands for a text that cannot be read.
Plan = tuple[str, int, tuple[Action | None, ...]]


class Scorer(abc.ABC):
    """Scores answers by their plans, and plays every plan once.

    `budget` is how many actions an episode may take; what a plan holds beyond is not played.
    """

    def __init__(self, format: str, budget: int) -> None:
        self.form, self.budget = formats[format], budget
        self.fresh = 0  # plans begun so far
        self._read = functools.lru_cache(4096)(self._means)  # the answers of a group are often alike

    def __call__(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[Terms]:
        """The terms of one answer a row. DataError where a page does not begin, Stuck where one does not answer."""
        return [played.terms for played in self.play(rows, [[answer] for answer in answers])]

    def start(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> None:
        """Begin to play answers that will be scored later, and wait for nothing."""
        self.begin(self._plans(rows, [[answer] for answer in answers]))

    def play(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]) -> list[Played]:
        """Play the answers of each row, one after another, from the beginning of its episode. Raises as a call does."""
        wanted = self._plans(rows, answers)
        self.begin(wanted)
        return self.collect(wanted)

    @abc.abstractmethod
    def begin(self, wanted: Sequence[Plan]) -> None:
        """Begin to play those that were not played before."""

    @abc.abstractmethod
    def collect(self, wanted: Sequence[Plan]) -> list[Played]:
        """What plans that were begun were worth, once they are over. What failed is forgotten, to be played anew."""

    def _plans(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]) -> list[Plan]:
        return [
            (row["family"], row["seed"], self._read(tuple(texts))) for row, texts in zip(rows, answers, strict=True)
        ]

    def _means(self, texts: tuple[str, ...]) -> tuple[Action | None, ...]:
        found: list[Action | None] = []
        for text in texts:
            try:
                found += self.form.read_all(text, NO_PICTURE)
            except ParseFailure:
                found.append(None)
        return tuple(found[: self.budget])


class PlanScorer(Scorer):
    """Plays plans on `pages` live pages at once; `options` go to their stages."""

    def __init__(self, format: str, *, pages: int = 8, budget: int = 10, **options: Any) -> None:
        super().__init__(format, budget)
        self.options = options
        self._stages: dict[str, list[Any]] = {}
        self._worth: dict[Plan, Future[Played]] = {}
        # Pages that play nothing. The last one used is the next, so that few plans open few pages.
        self._free: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for number in reversed(range(pages)):
            self._free.put_nowait(number)

    def begin(self, wanted: Sequence[Plan]) -> None:
        """As Scorer."""
        for plan in dict.fromkeys(wanted):
            if plan not in self._worth:
                self.fresh += 1
                self._worth[plan] = loop.shared().start(self._when_free(plan))

    def collect(self, wanted: Sequence[Plan]) -> list[Played]:
        """As Scorer."""
        until = time.monotonic() + 120 + 5.0 * len(set(wanted))
        try:
            return [loop.shared().wait(self._worth[plan], max(0.0, until - time.monotonic())) for plan in wanted]
        except BaseException:
            for plan in set(wanted):
                future = self._worth[plan]
                if future.cancel() or future.cancelled() or future.exception() is not None:
                    del self._worth[plan]
            raise

    async def _when_free(self, plan: Plan) -> Played:
        number = await self._free.get()
        try:
            return await self._play(*plan, number)
        finally:
            self._free.put_nowait(number)

    async def _play(self, family: str, seed: int, plan: tuple[Action | None, ...], number: int) -> Played:
        stages = self._stages.setdefault(family, [])
        while len(stages) <= number:
            task = registration.task(family, seed)
            stages.append(environment.stage_of(task, screenshot=False, effect=False, **self.options))
        episode = await _begin(family, seed, stages[number])
        chosen = episode.observation
        for action in plan:
            if episode.ended != "running":
                break
            if action is None:
                episode.misread("format")
            else:
                await episode.play(action, chosen=chosen)
        over = episode.ended != "running" or len(plan) >= self.budget
        terms = {
            "raw": float(episode.raw), "exact": float(episode.exact), "default": float(episode.default),
            "parsed": float(None not in plan), "turns": float(len(plan)),
            "submitted": float(episode.ended in ("success", "failure")),
        }  # fmt: skip
        done = tuple(step.action for step in episode.steps)
        return Played(terms, None if over else plan_prompt(episode, self.form), done)

    def close(self) -> None:
        """Close the pages."""

        async def shut() -> None:
            for stages in self._stages.values():
                for stage in stages:
                    await stage.close()

        loop.shared().run(shut(), 60)
        self._stages.clear()


class ManyScorers(Scorer):
    """Plays plans in processes of their own, a browser each; a plan goes to the process that has the least to do.

    They are apart from the terminal: Ctrl-C reaches this process alone, which may end what it has begun and save.
    """

    def __init__(self, format: str, workers: int, *, budget: int = 10, **options: Any) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        super().__init__(format, budget)
        context = multiprocessing.get_context("spawn")
        held = (format, {"pages": 8 if workers == 1 else 4, **options, "budget": budget})
        self._pools = [ProcessPoolExecutor(1, context, _set_up, held) for _ in range(workers)]
        for started in [pool.submit(_begin_mine, []) for pool in self._pools]:
            started.result()  # a process starts with its first call
        self._worth: dict[Plan, Played] = {}
        self._begun: dict[Plan, int] = {}
        self._load = [0] * workers

    def begin(self, wanted: Sequence[Plan]) -> None:
        """As Scorer."""
        shares: list[list[Plan]] = [[] for _ in self._pools]
        for plan in dict.fromkeys(wanted):
            if plan not in self._worth and plan not in self._begun:
                least = min(range(len(shares)), key=self._load.__getitem__)
                self.fresh += 1
                self._load[least] += 2 + len(plan[2])  # opening the task costs about two actions
                self._begun[plan] = least
                shares[least].append(plan)
        for pool, share in zip(self._pools, shares, strict=True):
            if share:
                pool.submit(_begin_mine, share)

    def collect(self, wanted: Sequence[Plan]) -> list[Played]:
        """As Scorer."""
        shares: list[list[Plan]] = [[] for _ in self._pools]
        for plan in dict.fromkeys(wanted):
            if plan not in self._worth:
                shares[self._begun.pop(plan)].append(plan)
        running = [pool.submit(_collect_mine, share) for pool, share in zip(self._pools, shares, strict=True)]
        for share, future in zip(shares, running, strict=True):
            self._worth.update(zip(share, future.result(), strict=True))
        self._load = [0] * len(self._pools)
        return [self._worth[plan] for plan in wanted]

    def close(self) -> None:
        """End the processes and their browsers."""
        for pool in self._pools:
            pool.submit(_close_mine)
            pool.shutdown()


_mine: PlanScorer | None = None


def _set_up(format: str, options: dict[str, Any]) -> None:
    global _mine
    _apart()
    _mine = PlanScorer(format, **options)


def _apart() -> None:
    """Leave the terminal's group of processes, with the browsers that this one will start, and go when the parent goes."""
    if not hasattr(os, "setpgid"):
        return
    os.setpgid(0, 0)
    parent = os.getppid()

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.killpg(0, signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()


def _begin_mine(wanted: Sequence[Plan]) -> None:
    assert _mine is not None
    _mine.begin(wanted)


def _collect_mine(wanted: Sequence[Plan]) -> list[Played]:
    assert _mine is not None
    return _mine.collect(wanted)


def _close_mine() -> None:
    if _mine is not None:
        _mine.close()


@contextlib.contextmanager
def scorer(format: str, workers: int = 0, **options: Any) -> Iterator[ManyScorers]:
    """A scorer of plans for the rows' own families; `workers` processes, 0: one for every two cores, at most 8."""
    count = workers or max(1, min(8, (os.cpu_count() or 2) // 2))
    held = ManyScorers(format, count, **options)
    try:
        yield held
    finally:
        held.close()
