"""The environments as TRL takes them: tools for multi-turn GRPO, and a plain reward for plans answered at once.

    trainer = GRPOTrainer(model, environment_factory=tools("modal"), train_dataset=rows, ...)
    trainer = GRPOTrainer(model, reward_funcs=plan_reward("axtree"), train_dataset=rows, ...)

Rows need a column `seed`; `tools` takes `family` from a column of that name where there is one. TRL makes every public
method of an environment a tool, inherited ones too, so the tools are a class of their own and no Gymnasium environment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from cuadata import image
from cuadata.browsing.browsers import Browsers
from cuadata.browsing.loop import shared
from cuadata.environment import LIMIT, browsers_for, stage_of
from cuadata.episodes import registration
from cuadata.episodes.episode import Episode
from cuadata.episodes.stage import Stage, element_of
from cuadata.errors import CallError
from cuadata.geometry import union
from cuadata.speaking import prompts
from cuadata.types import Action

Criterion = Literal["exact", "default", "raw", "terms"]
Content = str | list[dict[str, Any]]


class BrowserTools:
    """One page, acted on by tools. Made by `tools`; TRL keeps one for each rollout and resets it."""

    _family = "modal"
    _options: Mapping[str, Any] = {}
    _criterion: Criterion = "terms"
    _screenshot = False
    _max_steps: int | None = None

    def __init__(self) -> None:
        self._stage: Stage | None = None
        self._staged = ""
        self._episode: Episode | None = None

    def reset(self, seed: int = 0, family: str | None = None, **row: Any) -> Content:
        """Begin the episode of a seed; what is asked and what the page shows."""
        name = family or self._family
        task = registration.task(name, int(seed), **self._options)
        if self._stage is None or self._staged != name:
            if self._stage is not None:
                shared().run(self._stage.close(), 30)
            self._stage = stage_of(task, screenshot=self._screenshot, effect=False, browser=_browsers(name).seat(0))
            self._staged = name
        self._episode = Episode(self._stage, task, max_steps=self._max_steps)
        shared().run(self._episode.begin(), LIMIT)
        return self._told(f"{self._episode.task.instruction}\n\n")

    def click(self, target: int) -> Content:
        """Click an element.

        Args:
            target: The element's number.
        """
        return self._do(Action(type="click", element=int(target)))

    def hover(self, target: int) -> Content:
        """Move the pointer onto an element.

        Args:
            target: The element's number.
        """
        return self._do(Action(type="hover", element=int(target)))

    def drag(self, target: int, to: int) -> Content:
        """Drag an element onto another.

        Args:
            target: The number of the element to drag.
            to: The number of the element to drop it on.
        """
        end = element_of(self._open.observation, int(to))
        box = union([end.bbox]) if end is not None and end.bbox is not None else None
        if box is None:
            raise ValueError(f"there is no element {to} to drop on")
        return self._do(Action(type="drag", element=int(target), end=box.center))

    def type(self, target: int, text: str) -> Content:
        """Click a field and type into it.

        Args:
            target: The field's number.
            text: What to type.
        """
        return self._do(Action(type="type", element=int(target), text=str(text)))

    def press(self, keys: str) -> Content:
        """Press a key, or keys joined by +.

        Args:
            keys: Such as Enter or Control+a.
        """
        return self._do(Action(type="press", keys=tuple(key for key in str(keys).split("+") if key)))

    def scroll(self, down: int, target: int | None = None) -> Content:
        """Scroll the page, or an element that scrolls.

        Args:
            down: Pixels; negative scrolls up.
            target: The number of an element to scroll in.
        """
        element = None if target is None else int(target)
        return self._do(Action(type="scroll", element=element, scroll_y=float(down), scroll_unit="px"))

    def wait(self, seconds: float = 1.0) -> Content:
        """Wait.

        Args:
            seconds: How long, at most 10.
        """
        return self._do(Action(type="wait", seconds=min(float(seconds), 10.0)))

    def get_reward(self) -> float:
        """What the rollout earned, by the criterion that `tools` was asked for."""
        episode = self._open
        if episode.ended == "error":
            raise ValueError(f"the environment broke down: {episode.reason}")
        worth = {"exact": float(episode.exact), "default": float(episode.default), "raw": episode.raw}
        return worth.get(self._criterion, episode.earned)

    @property
    def _open(self) -> Episode:
        if self._episode is None:
            raise ValueError("no episode has begun; call reset")
        return self._episode

    def _do(self, action: Action) -> Content:
        if self._open.ended != "running":
            return f"The episode is over: {self._open.ended}."
        turn = shared().run(self._open.play(action), LIMIT)
        error = turn.step.error if turn.step is not None else self._open.reason
        head = f"{error}\n" if error else ""
        return self._told(head if turn.ended == "running" else f"{head}The episode is over: {turn.ended}.\n")

    def _told(self, head: str) -> Content:
        seen = self._open.observation
        text = head + "\n".join(map(prompts.element_line, prompts.visible(seen.elements)))
        if not self._screenshot or seen.screenshot is None:
            return text
        from PIL import Image

        picture = Image.fromarray(image.rgb(image.read(seen.screenshot)))
        return [{"type": "image", "image": picture}, {"type": "text", "text": text}]


@functools.cache
def _browsers(family: str) -> Browsers:
    return browsers_for(registration.task(family, 0), 1)


def tools(
    family: str,
    *,
    reward: Criterion = "terms",
    screenshot: bool = False,
    max_steps: int | None = None,
    **options: Any,
) -> type[BrowserTools]:
    """An `environment_factory` over a family: a class whose public methods are the tools.

    `reward`: the exact or the default criterion, the page's raw reward, or the sum of the terms. `screenshot` shows a
    picture with every answer, for models whose template takes pictures from tools. `options` go to the family.
    """
    if reward not in ("exact", "default", "raw", "terms"):
        raise CallError(f"no reward is named '{reward}'; there are: exact, default, raw, terms")
    held = {
        "_family": family,
        "_options": options,
        "_criterion": reward,
        "_screenshot": screenshot,
        "_max_steps": max_steps,
    }
    return type("BrowserTools", (BrowserTools,), {**held, "__doc__": BrowserTools.__doc__})


def plan_reward(format: str, *, reward: str = "exact", pages: int = 8, **options: Any) -> Callable[..., list[float]]:
    """A reward function for answers that hold a whole plan: all calls are played, one a turn, from the task's beginning.

    Its rows need the columns `family` and `seed`. `reward` is a term of `cuadata.playing.plans`: raw, exact, default, parsed.
    """
    from cuadata.playing.plans import PlanScorer

    scorer = PlanScorer(format, pages=pages, **options)

    def plans(completions: Sequence[Any], family: Sequence[str], seed: Sequence[int], **columns: Any) -> list[float]:
        answers = [c if isinstance(c, str) else (c[-1].get("content") or "") for c in completions]
        rows = [{"family": f, "seed": int(s)} for f, s in zip(family, seed, strict=True)]
        return [terms[reward] for terms in scorer(rows, answers)]

    plans.__name__ = f"plan_{reward}"
    return plans
