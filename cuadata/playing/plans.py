"""One-shot plans: a text model answers a page with all its calls at once, which are then played one a turn.

Rows are made from the live page and scored on it. An episode is a pure function of its seed and a plan of the actions that
its text means, so a plan that was played before is not played again; a test holds that the page agrees.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
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


class PlanScorer:
    """Plays plans on `pages` live pages at once and remembers what each plan was worth.

    `budget` is how many actions an episode may take; what a plan holds beyond is not played.
    """

    def __init__(self, format: str, *, pages: int = 8, budget: int = 10, **options: Any) -> None:
        self.form = formats[format]
        self.pages, self.budget, self.options = pages, budget, options
        self.fresh = self.remembered = 0
        self._stages: dict[str, list[Any]] = {}
        self._worth: dict[tuple[Any, ...], Played] = {}

    def __call__(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[Terms]:
        """The terms of one answer a row."""
        return [played.terms for played in self.play(rows, [[answer] for answer in answers])]

    def play(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]) -> list[Played]:
        """Play the answers of each row, one after another, from the beginning of its episode."""
        keys = [(row["family"], row["seed"], self._means(texts)) for row, texts in zip(rows, answers, strict=True)]
        todo = [key for key in dict.fromkeys(keys) if key not in self._worth]
        self.fresh += len(todo)
        self.remembered += len(keys) - len(todo)
        loop.shared().run(self._play_all(todo), 120 + 5.0 * len(todo))
        return [self._worth[key] for key in keys]

    def _means(self, texts: Sequence[str]) -> tuple[Action | None, ...]:
        """The actions of all texts; None stands for one that cannot be read."""
        found: list[Action | None] = []
        for text in texts:
            try:
                found += self.form.read_all(text, NO_PICTURE)
            except ParseFailure:
                found.append(None)
        return tuple(found[: self.budget])

    async def _play_all(self, todo: Sequence[tuple[Any, ...]]) -> None:
        waiting = list(reversed(todo))

        async def work(number: int) -> None:
            while waiting:
                family, seed, plan = waiting.pop()
                self._worth[family, seed, plan] = await self._play(family, seed, plan, number)

        await asyncio.gather(*(work(number) for number in range(min(self.pages, len(todo)))))

    async def _play(self, family: str, seed: int, plan: tuple[Action | None, ...], number: int) -> Played:
        stages = self._stages.setdefault(family, [])
        while len(stages) <= number:
            task = registration.task(family, seed)
            stages.append(environment.stage_of(task, screenshot=False, effect=False, **self.options))
        episode = await _begin(family, seed, stages[number])
        for action in plan:
            if episode.ended != "running":
                break
            if action is None:
                episode.misread("format")
            else:
                await episode.play(action)
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


class ManyScorers:
    """Plan scorers in several processes, a browser each; a task's plans always go to the same one."""

    def __init__(self, format: str, workers: int, **options: Any) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("spawn")
        self._pools = [ProcessPoolExecutor(1, context, _start, (format, options)) for _ in range(workers)]

    def __call__(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[Terms]:
        """As PlanScorer."""
        return [played.terms for played in self.play(rows, [[answer] for answer in answers])]

    def play(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]) -> list[Played]:
        """As PlanScorer; rows are shared out by their seed."""
        shares: list[list[int]] = [[] for _ in self._pools]
        for place, row in enumerate(rows):
            shares[row["seed"] % len(self._pools)].append(place)
        running = []
        for pool, share in zip(self._pools, shares, strict=True):
            part = [{"family": rows[i]["family"], "seed": rows[i]["seed"]} for i in share]
            running.append(pool.submit(_play, part, [list(answers[i]) for i in share]))
        found: dict[int, Played] = {}
        for share, future in zip(shares, running, strict=True):
            found.update(zip(share, future.result(), strict=True))
        return [found[place] for place in range(len(rows))]

    def close(self) -> None:
        """End the processes and their browsers."""
        for pool in self._pools:
            pool.submit(_stop)
            pool.shutdown()


_mine: PlanScorer | None = None


def _start(format: str, options: dict[str, Any]) -> None:
    global _mine
    _mine = PlanScorer(format, pages=4, **options)


def _play(rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]) -> list[Played]:
    assert _mine is not None
    return _mine.play(rows, answers) if rows else []


def _stop() -> None:
    if _mine is not None:
        _mine.close()


@contextlib.contextmanager
def scorer(format: str, workers: int = 0, **options: Any) -> Iterator[PlanScorer | ManyScorers]:
    """A scorer of plans for the rows' own families; `workers` processes, 0: one for every two cores, at most 8."""
    count = workers or max(1, min(8, (os.cpu_count() or 2) // 2))
    held = PlanScorer(format, **options) if count == 1 else ManyScorers(format, count, **options)
    try:
        yield held
    finally:
        held.close()
