"""One system of `environment.py` in a process of its own: SYSTEM on the command line, `TASK FIRST COUNT` on each line in,
a JSON object on each line out. Run by the Python of whoever is measured, so it imports nothing but what it measures.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Line = tuple[Any, str, str]  # id, role and name of an element
#: Pages and browsers of the vectorised rows.
PAGES, BROWSERS = (int(os.environ.get(name, number)) for name, number in (("PAGES", "8"), ("BROWSERS", "2")))


def oracle(goal: str, lines: Sequence[Line]) -> list[Any]:
    """Ids to click, in order: the boxes that are named, then the button."""
    named = re.match(r"Select (.*) and click Submit", goal)
    wanted = named[1].split(", ") if named else []
    return [i for i, role, name in lines if role == "checkbox" and name in wanted] + [
        i for i, role, _ in lines if role == "button"
    ]


def derived(seed: int) -> int:
    """The number that BrowserGym's task of a seed gives to the page's generator."""
    import numpy as np

    return int(np.random.RandomState(seed).randint(0, 1_000_000))


class Clock:
    """Episodes of one turn: what was asked, what it paid, and milliseconds of every reset and step."""

    def __init__(self) -> None:
        self.told: dict[str, list[Any]] = {"goals": [], "raws": [], "reset": [], "step": []}
        self.began = time.perf_counter()

    def __call__(self, kind: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        self.told[kind].append((time.perf_counter() - began) * 1000)
        return result

    def done(self) -> dict[str, Any]:
        return {**self.told, "seconds": time.perf_counter() - self.began}


Play = Callable[[str, range], dict[str, Any]]


def browsergym(*, waits: bool) -> Play:
    """BrowserGym's environment; `waits=False` takes its fixed waits out."""
    import browsergym.miniwob  # noqa: F401
    import gymnasium
    import playwright.sync_api as playwright
    from browsergym.utils.obs import flatten_axtree_to_str

    launch = playwright.BrowserType.launch

    def with_executable(self: Any, *args: Any, **options: Any) -> Any:
        """Its second window, the chat, takes no `executable_path`, so every launch is given it."""
        return launch(self, *args, **{"executable_path": os.environ["CHROMIUM"], **options})

    playwright.BrowserType.launch = with_executable
    held: dict[str, Any] = {}

    def play(task: str, seeds: range) -> dict[str, Any]:
        if task not in held:
            options = {} if waits else {"pre_observation_delay": 0.0, "slow_mo": 0}
            held[task] = gymnasium.make(f"browsergym/miniwob.{task}", **options)
            held[task].reset(seed=1)
        env, clock = held[task], Clock()
        for seed in seeds:
            seen, _ = clock("reset", lambda s=seed: env.reset(seed=s))
            text = flatten_axtree_to_str(seen["axtree_object"])
            lines = [(i, role, name) for i, role, name in re.findall(r"\[(\w+)\] (\w+) '(.*?)'", text)]
            raw = 0.0
            for id in oracle(seen["goal"], lines):
                *_, info = clock("step", lambda i=id: env.step(f"click('{i}')"))
                raw = info["task_info"]["RAW_REWARD_GLOBAL"]
            clock.told["goals"].append(seen["goal"])
            clock.told["raws"].append(raw)
        return clock.done()

    return play


def selenium(*, screenshot: bool) -> Play:
    """The package's own environment."""
    import gymnasium
    import miniwob
    from miniwob.action import ActionTypes

    gymnasium.register_envs(miniwob)
    held: dict[str, Any] = {}

    def lines(elements: Sequence[dict[str, Any]]) -> Iterator[Line]:
        """A box's name is the text that follows it."""
        for place, e in enumerate(elements):
            if e["tag"] == "input_checkbox":
                yield e["ref"], "checkbox", next(x["text"].strip() for x in elements[place:] if x["tag"] == "t")
            elif e["tag"] == "button":
                yield e["ref"], "button", e["text"]

    def play(task: str, seeds: range) -> dict[str, Any]:
        if task not in held:
            held[task] = gymnasium.make(f"miniwob/{task}-v1", render_mode=None)
            held[task].reset(seed=1, options={"record_screenshots": screenshot})
        env, clock = held[task], Clock()
        for seed in seeds:
            seen, _ = clock("reset", lambda s=seed: env.reset(seed=derived(s)))
            raw = 0.0
            for ref in oracle(seen["utterance"], list(lines(seen["dom_elements"]))):
                action = env.unwrapped.create_action(ActionTypes.CLICK_ELEMENT, ref=ref)
                *_, info = clock("step", lambda a=action: env.step(a))
                raw = info["raw_reward"]
            clock.told["goals"].append(seen["utterance"])
            clock.told["raws"].append(raw)
        return clock.done()

    return play


def read(axtree: str) -> list[Line]:
    """The lines of an observation's text."""
    return [(int(i), role, name) for i, role, name in re.findall(r"^\[(\d+)\] (\S+) '(.*?)'", axtree, re.MULTILINE)]


def cuadata(*, screenshot: bool) -> Play:
    """Our Gymnasium environment, one page."""
    from cuadata import environment

    held: dict[str, Any] = {}

    def play(task: str, seeds: range) -> dict[str, Any]:
        if task not in held:
            held[task] = environment.make(f"miniwob-{task}", screenshot=screenshot, effect=False)
            held[task].reset(seed=1)
        env, clock = held[task], Clock()
        for seed in seeds:
            seen, info = clock("reset", lambda s=seed: env.reset(seed=derived(s)))
            for id in oracle(seen["instruction"], read(seen["axtree"])):
                *_, info = clock("step", lambda i=id: env.step(f"click({i})"))
            clock.told["goals"].append(seen["instruction"])
            clock.told["raws"].append(info["raw"])
        return clock.done()

    return play


def vectorised(*, screenshot: bool) -> Play:
    """Our vectorised environment; it draws the seeds of the episodes that it begins itself, so goals are not compared."""
    from cuadata.playing import environment_vector

    held: dict[str, Any] = {}

    def play(task: str, seeds: range) -> dict[str, Any]:
        if task not in held:
            held[task] = environment_vector.make(
                f"miniwob-{task}", PAGES, browsers=BROWSERS, screenshot=screenshot, effect=False
            )
            held[task].reset(seed=1)
        envs, clock = held[task], Clock()
        seen, _ = clock("reset", lambda: envs.reset(seed=seeds.start))
        plans: list[list[Any]] = [[] for _ in range(PAGES)]
        ended, begun = [False] * PAGES, [True] * PAGES
        while len(clock.told["raws"]) < len(seeds):
            for place in range(PAGES):
                if begun[place]:
                    plans[place] = oracle(seen["instruction"][place], read(seen["axtree"][place]))
            # The step after an end begins the next episode, whatever the action.
            answers = ["" if over else f"click({plan.pop(0)})" for plan, over in zip(plans, ended, strict=True)]
            begun = ended
            seen, _, over, cut, infos = clock("step", lambda a=answers: envs.step(a))
            assert not cut.any(), infos["reason"]
            ended = list(over)
            clock.told["raws"] += [float(raw) for raw in infos["raw"][over]]
        return clock.done()

    return play


SYSTEMS: dict[str, Callable[[], Play]] = {
    "browsergym": lambda: browsergym(waits=True),
    "browsergym-no-waits": lambda: browsergym(waits=False),
    "selenium": lambda: selenium(screenshot=True),
    "selenium-no-screenshot": lambda: selenium(screenshot=False),
    "cuadata": lambda: cuadata(screenshot=False),
    "cuadata-screenshot": lambda: cuadata(screenshot=True),
    "cuadata-vector": lambda: vectorised(screenshot=False),
    "cuadata-vector-screenshot": lambda: vectorised(screenshot=True),
}


def main() -> None:
    """Play what is asked for until the input ends."""
    sys.path[0] = str(Path(__file__).parent)
    play = SYSTEMS[sys.argv[1]]()
    for line in sys.stdin:
        task, first, count = line.split()
        print(json.dumps(play(task, range(int(first), int(first) + int(count)))), flush=True)


if __name__ == "__main__":
    main()
