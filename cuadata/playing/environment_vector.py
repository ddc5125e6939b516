"""Many pages in few browsers, stepped at one time.

    envs = environment_vector.make("miniwob-click-checkboxes", 16, browsers=2)
    observations, infos = envs.reset(seed=[7] * 16)      # a group of one task
    observations, rewards, terminated, truncated, infos = envs.step(answers)

Each page has a browsing context of its own, so cookies and storage are apart; a page or browser that dies is started again
with the next episode. `close` leaves no process behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cuadata import registry
from cuadata.browsing.loop import shared
from cuadata.environment import (
    LIMIT,
    LONGEST_ANSWER,
    Observed,
    Unicode,
    browsers_for,
    checked,
    observation_space,
    plan,
    stage_of,
    tell,
    told,
)
from cuadata.episodes import registration
from cuadata.episodes.episode import Episode, Turn, budget
from cuadata.errors import CallError
from cuadata.scores import runs
from cuadata.types import Action, Size, Task

__all__ = ["BrowserVectorEnv", "make"]


class BrowserVectorEnv(VectorEnv):  # type: ignore[misc]
    """`num_envs` pages of one family over `browsers` browsers; texts or Actions in, batches out.

    Autoreset is gymnasium's NEXT_STEP: the step after an episode's end begins the next one, whatever the action. `reset`
    takes a seed (page i plays seed + i), a list of seeds, or none.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        family: str,
        num_envs: int,
        *,
        browsers: int = 2,
        format: str = "axtree",
        screenshot: bool = True,
        effect: bool = True,
        max_steps: int | None = None,
        no_effect_lines: bool = False,
        elements: int = 256,
        viewport: Size | None = None,
        device_pixel_ratio: float | None = None,
        seed: int = 0,
        stage_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """As `environment.BrowserEnv`; `seed` seeds the draws of episodes that are begun without one."""
        if num_envs < 1 or browsers < 1:
            raise CallError("num_envs and browsers are 1 or more")
        first = registration.task(family, 0, **options)
        budget(first, max_steps)
        self.family, self.options, self.num_envs = family, options, num_envs
        self.form = registry.formats[format]
        self.max_steps, self.no_effect_lines = max_steps, no_effect_lines
        self.single_action_space = Unicode(LONGEST_ANSWER, min_length=0)
        self._space = observation_space(
            viewport or first.viewport, first.device_pixel_ratio if device_pixel_ratio is None else device_pixel_ratio,
            screenshot=screenshot, elements=elements,
        )  # fmt: skip
        self.single_observation_space = self._space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.browsers = browsers_for(first, min(browsers, num_envs))
        self.stages = [
            stage_of(
                first, screenshot=screenshot, effect=effect, viewport=viewport, ratio=device_pixel_ratio,
                browser=self.browsers.seat(seat), **(stage_options or {}),
            )
            for seat in range(num_envs)
        ]  # fmt: skip
        self.episodes: list[Episode | None] = [None] * num_envs
        self._rows: list[Observed] = [{} for _ in range(num_envs)]
        self._draws = np.random.default_rng(seed)
        self._loop = shared()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin an episode on every page. DataError where one does not open, CallError after `close`."""
        if self.closed:
            raise CallError("the environment is closed; make another")
        seeds = self._seeds(seed)
        given = (options or {}).get("tasks")
        tasks = given if given is not None else [self._task(s) for s in seeds]
        if len(tasks) != self.num_envs:
            raise CallError(f"{self.num_envs} pages need as many tasks, got {len(tasks)}")
        self._all([self._begin(place, task) for place, task in enumerate(tasks)])
        return self._batch(), self._infos([tell(e) for e in self._open])

    def step(self, actions: Sequence[str | Action]) -> tuple[Observed, Any, Any, Any, dict[str, Any]]:
        """Play one text or action on every page, all at one time; pages whose episode has ended begin the next one."""
        if len(actions) != self.num_envs:
            raise CallError(f"{self.num_envs} pages need as many actions, got {len(actions)}")
        given, _ = [checked(action) for action in actions], self._open
        turns = self._all([self._play(place, action) for place, action in enumerate(given)])
        open_ = self._open
        rewards = np.array([sum(t.reward for t in held) for held in turns], np.float64)
        terminated = np.array([e.ended in ("success", "failure") for e in open_])
        truncated = np.array([e.ended in ("budget", "error") for e in open_])
        infos = self._infos([tell(e, held) for e, held in zip(open_, turns, strict=True)])
        return self._batch(), rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Close every page and browser."""
        self.episodes = [None] * self.num_envs
        if self._loop.own:  # a forked child leaves the pages to its parent
            self._loop.run(self._close(), 60)

    async def _close(self) -> None:
        await asyncio.gather(*(stage.close() for stage in self.stages), return_exceptions=True)
        await self.browsers.close()

    @property
    def _open(self) -> list[Episode]:
        held = [e for e in self.episodes if e is not None]
        if len(held) != self.num_envs:
            raise CallError("no episodes have begun; call reset")
        return held

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        return [seed + place for place in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)

    def _task(self, seed: int | None) -> Task:
        number = int(self._draws.integers(runs.FIRST_TEST_SEED)) if seed is None else int(seed)
        return registration.task(self.family, number, **self.options)

    async def _begin(self, place: int, task: Task) -> None:
        episode = Episode(
            self.stages[place], task, max_steps=self.max_steps, no_effect_lines=self.no_effect_lines
        )  # fmt: skip
        await episode.begin()
        self.episodes[place] = episode
        self._see(place, episode)

    async def _play(self, place: int, action: str | Action) -> list[Turn]:
        episode = self.episodes[place]
        if episode is None:
            raise CallError("no episode has begun; call reset")
        if episode.ended != "running":
            await self._begin(place, self._task(None))
            return []
        turns = await plan(episode, action, self.form)
        self._see(place, episode)
        return turns

    def _see(self, place: int, episode: Episode) -> None:
        """Keep what a page shows, while the others still work."""
        self._rows[place] = told(episode.observation, episode.task, self._space)

    def _all(self, work: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        async def gather() -> list[Any]:
            # All are waited for: a page that still works when the call has ended would meet the next call's work.
            told = await asyncio.gather(*work, return_exceptions=True)
            for failed in (one for one in told if isinstance(one, BaseException)):
                raise failed
            return list(told)

        return self._loop.run(gather(), LIMIT)

    def _batch(self) -> Observed:
        rows = self._rows
        return {
            key: np.stack([row[key] for row in rows])
            if isinstance(space, gymnasium.spaces.Box)
            else tuple(row[key] for row in rows)
            for key, space in self._space.items()
        }

    def _infos(self, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for place, one in enumerate(told):
            infos = self._add_info(infos, one, place)
        return infos


def make(family: str, num_envs: int, **options: Any) -> BrowserVectorEnv:
    """`num_envs` pages of a family's tasks."""
    return BrowserVectorEnv(family, num_envs, **options)
