"""Gymnasium environments over tasks: a model's text or an Action in; picture, page as text, and named rewards out.

    env = environment.make("modal", seed=3)
    observation, info = env.reset()
    observation, reward, terminated, truncated, info = env.step(Action(type="click", element=39))

Every family is registered as `cuadata/FAMILY-v0`, every MiniWoB++ task as `cuadata/miniwob-NAME-v0`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import create_shared_memory

from cuadata import image, registry
from cuadata.browsing.browsers import Browsers, Give
from cuadata.browsing.loop import shared
from cuadata.contracts import Format, ParseFailure
from cuadata.episodes import miniwob, registration
from cuadata.episodes.episode import Episode, Turn, budget
from cuadata.episodes.stage import PageStage, Stage
from cuadata.errors import CallError, DataError
from cuadata.scores import runs
from cuadata.speaking import prompts
from cuadata.types import Action, Observation, Size, Task

__all__ = ["BrowserEnv", "Unicode", "make", "observation_space", "plan", "told"]

#: Characters of the longest page text and the longest answer.
LONGEST_PAGE, LONGEST_ANSWER = 200_000, 20_000
#: Boxes farther away than this are told at this distance, CSS px.
FARTHEST = 1e6
#: Seconds that one call may take before the browser is given up.
LIMIT = 240.0
Observed = dict[str, Any]


class Unicode(spaces.Text):  # type: ignore[misc]
    """Text of any characters; gymnasium's own space holds only those of its charset."""

    def contains(self, x: Any) -> bool:
        """Whether it is a text of a length within the bounds."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length


@create_shared_memory.register(Unicode)  # type: ignore[untyped-decorator]
def _no_memory(space: Unicode, n: int = 1, ctx: Any = None) -> None:
    """gymnasium's own would read texts once and never again, so that every observation would be empty."""
    raise gymnasium.error.CustomSpaceError("texts are passed between processes with shared_memory=False")


def observation_space(viewport: Size, ratio: float, *, screenshot: bool, elements: int) -> spaces.Dict:
    """`screenshot` (height, width, 3), `axtree`, `instruction`, and `elements`: rows of id, x, y, width, height, CSS px.

    CallError for sizes that no page and no table can have.
    """
    if min(viewport.width, viewport.height) < 1:
        raise CallError(f"viewport: wanted a width and a height of 1 CSS px or more, got {viewport}")
    if not 0.1 <= ratio <= 10:
        raise CallError(f"device_pixel_ratio: wanted 0.1 to 10 image px for a CSS px, got {ratio}")
    if elements < 0:
        raise CallError(f"elements: wanted the number of rows told of a page, 0 or more, got {elements}")
    held: dict[str, spaces.Space[Any]] = {
        "axtree": Unicode(LONGEST_PAGE, min_length=0),
        "instruction": Unicode(LONGEST_ANSWER, min_length=0),
        "elements": spaces.Box(-FARTHEST, FARTHEST, (elements, 5), np.float32),
    }
    if screenshot:
        shape = (round(viewport.height * ratio), round(viewport.width * ratio), 3)
        held["screenshot"] = spaces.Box(0, 255, shape, np.uint8)
    return spaces.Dict(held)


def told(observation: Observation, task: Task, space: spaces.Dict) -> Observed:
    """An observation as the space describes it. DataError where the picture has another size than the space."""
    seen = prompts.visible(observation.elements)
    rows = np.full(space["elements"].shape or (), -1, np.float32)
    for row, element in zip(rows, seen, strict=False):
        if element.bbox is not None:
            row[:] = (element.id, element.bbox.x, element.bbox.y, element.bbox.width, element.bbox.height)
    np.clip(rows, -FARTHEST, FARTHEST, out=rows)
    held: Observed = {
        "axtree": "\n".join(map(prompts.element_line, seen))[:LONGEST_PAGE],
        "instruction": task.instruction,
        "elements": rows,
    }
    if "screenshot" in space.spaces:
        held["screenshot"] = _pixels(observation, task, space["screenshot"].shape or ())
    return held


def _pixels(observation: Observation, task: Task, shape: Sequence[int]) -> Any:
    if observation.screenshot is None:
        return np.zeros(shape, np.uint8)
    pixels = image.rgb(image.read(observation.screenshot))
    if pixels.shape != tuple(shape):
        raise DataError(
            f"the picture is {pixels.shape[1]}x{pixels.shape[0]} px, the space {shape[1]}x{shape[0]}; make the "
            "environment with viewport= and device_pixel_ratio=",
            place=task.id,
        )
    return pixels


def checked(action: object) -> str | Action:
    """An action that can be played. CallError for anything but a text or an `Action` of finite numbers."""
    if not isinstance(action, (str, Action)):
        words = f"wanted a text, as a model writes it, or an Action, got {type(action).__name__}: {action!r:.60}"
        raise CallError(words)
    if isinstance(action, Action):
        places = [side for point in (action.point, action.end) if point is not None for side in (point.x, point.y)]
        amounts = [n for n in (action.scroll_x, action.scroll_y, action.seconds) if n is not None]
        if not all(math.isfinite(n) for n in amounts) or not all(abs(n) <= FARTHEST for n in places):
            raise CallError(f"a number of the action is none that a page can be given: {action!r:.200}")
    return action


async def plan(episode: Episode, action: str | Action, form: Format) -> list[Turn]:
    """Play an action, or every action that a text calls for: one a turn, until the episode ends.

    An element's id is looked up on the page as it is when its turn comes; one that stands for another thing by then is
    refused as stale.
    """
    if isinstance(action, Action):
        return [await episode.play(action)]
    try:
        calls = form.read_all(action, prompts.view_of(episode.observation))
    except ParseFailure as failure:
        return [episode.misread(str(failure))]
    turns: list[Turn] = []
    chosen = episode.observation
    for call in calls:
        turns.append(await episode.play(call, output=action if not turns else None, chosen=chosen))
        if turns[-1].ended != "running":
            break
    return turns


def tell(episode: Episode, turns: Sequence[Turn] = ()) -> dict[str, Any]:
    """The `info` of a step: reward terms, effect, both criteria, and why the episode ended."""
    paid: dict[str, float] = {}
    for turn in turns:
        for reward in turn.step.rewards if turn.step else ():
            paid[reward.name] = paid.get(reward.name, 0.0) + reward.value
    last = turns[-1] if turns else None
    step = last.step if last else None
    return {
        "task": episode.task.id,
        "seed": episode.task.seed,
        "rewards": paid,
        "effect": step.effect.kind if step and step.effect else "unknown",
        "error": step.error if step else None,
        "failure": last.failure if last else None,
        "exact_success": episode.exact,
        "default_success": episode.default,
        "raw": float(episode.raw),
        "ended": episode.ended,
        "reason": episode.reason,
        "turns": len(turns),
    }


class BrowserEnv(gymnasium.Env[Observed, str]):  # type: ignore[misc]
    """One page, stepped by texts (read through a format) or by `Action`s.

    A text that calls for several actions is played as a plan: one action a turn, all within this step, each counted
    against the step limit. A text that cannot be read does nothing and counts as one. `reset(seed=n)` plays the family's
    task n; without a seed one is drawn that is no test seed. `reset(options={"task": task})` plays a task of one's own.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        family: str,
        *,
        seed: int | None = None,
        format: str = "axtree",
        screenshot: bool = True,
        effect: bool = True,
        max_steps: int | None = None,
        no_effect_lines: bool = False,
        elements: int = 256,
        headed: bool = False,
        viewport: Size | None = None,
        device_pixel_ratio: float | None = None,
        render_mode: str | None = None,
        stage: Stage | None = None,
        stage_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """`options` go to the family: its axes and the values of its terms; `stage_options` to a MiniWoB++ page."""
        self.family = family
        self.options = options
        self.form = registry.formats[format]
        self.max_steps = max_steps
        self.no_effect_lines = no_effect_lines
        if render_mode not in (None, "rgb_array"):
            raise CallError(f"render_mode: there is rgb_array, or None for no pictures; got {render_mode!r}")
        self.render_mode = render_mode
        self.episode: Episode | None = None
        first = registration.task(family, seed or 0, **options)
        budget(first, max_steps)
        self.stage: Stage = stage or stage_of(
            first, screenshot=screenshot, effect=effect, headed=headed, viewport=viewport, ratio=device_pixel_ratio,
            **(stage_options or {}),
        )  # fmt: skip
        self.action_space = Unicode(LONGEST_ANSWER, min_length=0)
        self._space = observation_space(
            viewport or first.viewport,
            first.device_pixel_ratio if device_pixel_ratio is None else device_pixel_ratio,
            screenshot=screenshot,
            elements=elements,
        )
        self.observation_space = self._space
        self._loop = shared()
        self._first_seed = seed

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin an episode. DataError where its page does not open, CallError for a task that is none."""
        super().reset(seed=seed if seed is not None else self._first_seed)
        task = (options or {}).get("task")
        if task is None:
            chosen = seed if seed is not None else self._first_seed
            self._first_seed = None
            number = int(self.np_random.integers(runs.FIRST_TEST_SEED)) if chosen is None else chosen
            task = registration.task(self.family, int(number), **self.options)
        elif not isinstance(task, Task):
            raise CallError(f"options={{'task': ...}}: wanted a Task, got {type(task).__name__}")
        self.episode = Episode(self.stage, task, max_steps=self.max_steps, no_effect_lines=self.no_effect_lines)
        self._loop.run(self.episode.begin(), LIMIT)
        return self._told(self.episode), tell(self.episode)

    def step(self, action: str | Action) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Play a text or an action. CallError before the first reset, after the end and for what is neither."""
        episode = self.episode
        if episode is None or episode.ended != "running":
            raise CallError(f"{'the episode is over' if episode else 'no episode has begun'}; call reset")
        turns = self._loop.run(plan(episode, checked(action), self.form), LIMIT)
        reward = float(sum(turn.reward for turn in turns))
        ended = episode.ended
        return (
            self._told(episode), reward, ended in ("success", "failure"), ended in ("budget", "error"),
            tell(episode, turns),
        )  # fmt: skip

    def render(self) -> Any:
        """The last picture as an array (height, width, 3); None where none was taken."""
        if self.render_mode is None or self.episode is None or self.episode.observation.screenshot is None:
            return None
        return image.rgb(image.read(self.episode.observation.screenshot))

    def close(self) -> None:
        """Close the page; a later reset opens another. A forked child leaves the page to its parent."""
        self.episode = None
        if self._loop.own:
            self._loop.run(self.stage.close(), 30)

    def _told(self, episode: Episode) -> Observed:
        return told(episode.observation, episode.task, self._space)


def stage_of(
    task: Task,
    *,
    screenshot: bool = True,
    effect: bool = True,
    headed: bool = False,
    viewport: Size | None = None,
    ratio: float | None = None,
    browser: Give | None = None,
    **options: Any,
) -> Stage:
    """A stage for tasks such as this one; `options` are those of a MiniWoB++ stage: time_limit, mode.

    CallError for options that the stage does not take.
    """
    known = ("time_limit", "mode") if (task.url or "").startswith(miniwob.SCHEME) else ()
    if unknown := sorted(set(options) - set(known)):
        there = f"there are: {', '.join(known)}" if known else "only MiniWoB++ pages take any"
        raise CallError(f"stage_options: there is no {', '.join(unknown)}; {there}")
    if known:
        return miniwob.MiniWobStage(screenshot=screenshot, effect=effect, browser=browser, ratio=ratio, **options)
    return PageStage(
        screenshot=screenshot,
        effect=effect,
        headed=headed,
        viewport=viewport,
        device_pixel_ratio=ratio,
        browser=browser,
    )


def browsers_for(task: Task, count: int) -> Browsers:
    """Browsers for many stages of tasks such as this one, started as its pages need them."""
    if (task.url or "").startswith(miniwob.SCHEME):
        return Browsers(count, arguments=miniwob.arguments(), scroll_bars=True)
    return Browsers(count)


def make(family: str, seed: int | None = None, **options: Any) -> BrowserEnv:
    """An environment over a family's tasks; `seed` is the task of the first episode."""
    return BrowserEnv(family, seed=seed, **options)


registration.register()
