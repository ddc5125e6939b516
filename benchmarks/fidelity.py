"""The same actions on MiniWoB++ pages: do they earn the same raw reward here as in the package's own environment?

    python benchmarks/fidelity.py [--seeds 200] [--task click-checkboxes ...]

Ours plays first. On every second seed the oracle plays, where there is one; on the others clicks and typing on elements
drawn at random, then a click on what submits, if that is on the page. Every action is noted as points of whole pixels and
texts, and Selenium plays exactly those on the same seed. Compared are the instruction, whether the episode has ended, and
the raw reward. Both read the page at once after an input; on pages that move by themselves they wait for it to be over, so
that the same points mean the same. Both run the same executable. Selenium needs `chromedriver` of the browser's version.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from cuadata import environment
from cuadata.episodes import miniwob_solutions
from cuadata.types import Action, Element, Point

#: Tasks without an oracle here, of many kinds of controls; played at random only.
OTHERS = [
    "click-collapsible",
    "click-collapsible-2",
    "click-color",
    "click-menu",
    "click-scroll-list",
    "click-shades",
    "click-shape",
    "click-widget",
    "count-shape",
    "email-inbox",
    "enter-date",
    "enter-time",
    "find-word",
    "grid-coordinate",
    "guess-number",
    "identify-shape",
    "navigate-tree",
    "scroll-text-2",
    "search-engine",
    "simple-algebra",
    "simple-arithmetic",
    "social-media",
    "tic-tac-toe",
    "use-autocomplete",
    "use-spinner",
]
TASKS = (*(name for name in miniwob_solutions.SOLVERS if name != "choose-list"), *OTHERS)  # its list needs no pointer
#: Tasks whose controls open, slide or complete after a moment, and the seconds that both wait after an input there.
MOVING = {"click-collapsible", "click-collapsible-2", "click-menu", "enter-date", "navigate-tree", "use-autocomplete"}
PAUSE = 0.6
WORDS = ("hello", "42", "Bob", "yes")
WIDTH, HEIGHT = 160, 210  # CSS px of a task's area: where Selenium's environment can click


@dataclass(frozen=True, slots=True)
class Input:
    """A click at a point of whole pixels, then perhaps typing."""

    x: int
    y: int
    text: str | None = None


def within(element: Element) -> bool:
    """Whether an element can be clicked in the task's area."""
    point = element.point
    return point is not None and point.x < WIDTH - 1 and point.y < HEIGHT - 1


def drawn(env: Any, task: str, seed: int) -> Iterator[Action]:
    """What is to be done next, until the episode ends."""
    rng = random.Random(f"{task}/{seed}")
    solver = miniwob_solutions.SOLVERS.get(task) if seed % 2 else None
    if solver is not None:
        for turn in range(20):
            told = solver(env.episode.task.instruction, env.episode.observation.elements, turn)
            if told is None:
                return
            yield told
    for _ in range(rng.randint(1, 4)):
        held = [e for e in env.episode.observation.elements if e.interactive and within(e)]
        if not held:
            return
        chosen = rng.choice(held)
        field = chosen.role in ("textbox", "searchbox", "spinbutton")
        yield Action(type="type" if field else "click", element=chosen.id, text=rng.choice(WORDS) if field else None)
    last = [e for e in env.episode.observation.elements if e.role == "button" and within(e)]
    if last:
        yield Action(type="click", element=last[-1].id)


def play(env: Any, task: str, seed: int) -> tuple[list[Input], dict[str, Any]]:
    """Ours: what was done, and how it ended."""
    env.reset(seed=seed)
    done: list[Input] = []
    for action in drawn(env, task, seed):
        point = next(e.point for e in env.episode.observation.elements if e.id == action.element)
        if point is None or point.x >= WIDTH or point.y >= HEIGHT:
            break
        at = Point(int(point.x), int(point.y))
        done.append(Input(int(at.x), int(at.y), action.text))
        env.step(Action(type="click", point=at))
        if action.text is not None and env.episode.ended == "running":
            env.step(Action(type="type", text=action.text))
        if task in MOVING and env.episode.ended == "running":
            env.step(Action(type="wait", seconds=PAUSE))
        if env.episode.ended != "running":
            break
    judged = env.episode.judged
    told = {"goal": env.episode.task.instruction, "done": bool(judged and judged.done)}
    return done, {**told, "raw": judged.raw if judged and judged.done else 0.0}


class Selenium:
    """The package's own environment, without screenshots."""

    def __init__(self, task: str) -> None:
        self.pause = PAUSE if task in MOVING else 0.0
        import gymnasium
        import miniwob

        os.environ["MINIWOB_CHROME_BINARY"] = shutil.which("chromium") or ""
        os.environ["MINIWOB_CHROMEDRIVER"] = shutil.which("chromedriver") or ""
        gymnasium.register_envs(miniwob)
        self.env = gymnasium.make(f"miniwob/{task}-v1", render_mode=None).unwrapped
        self.env.reset(seed=0, options={"record_screenshots": False})
        self.env.instance.driver.execute_script("core.EPISODE_MAX_TIME = 1000000;")

    def play(self, seed: int, inputs: list[Input]) -> dict[str, Any]:
        """The same input on the same seed."""
        from miniwob.action import ActionTypes

        seen, _ = self.env.reset(seed=seed)
        told = {"goal": seen["utterance"], "done": False, "raw": 0.0}
        for one in inputs:
            actions = [self.env.create_action(ActionTypes.CLICK_COORDS, coords=[one.x, one.y])]
            if one.text is not None:
                actions.append(self.env.create_action(ActionTypes.TYPE_TEXT, text=one.text))
            for action in actions:
                if not told["done"]:
                    *_, over, _, info = self.env.step(action)
                    told |= {"done": over, "raw": info["raw_reward"] if over else 0.0}
            time.sleep(self.pause)
        return told

    def close(self) -> None:
        """End its browser."""
        self.env.close()


def compare(task: str, seeds: range) -> tuple[Counter[str], list[str]]:
    """Counts of one task, and every difference in words."""
    counts: Counter[str] = Counter()
    words = []
    options = {"screenshot": False, "effect": False, "max_steps": 100}
    with closing(environment.make(f"miniwob-{task}", **options)) as env, closing(Selenium(task)) as peer:
        for seed in seeds:
            inputs, ours = play(env, task, seed)
            theirs = peer.play(seed, inputs)
            counts["episodes"] += 1
            counts["inputs"] += len(inputs)
            counts["ended"] += ours["done"]
            counts["won"] += ours["raw"] == 1
            counts["paid in part"] += 0 < ours["raw"] < 1 or -1 < ours["raw"] < 0
            if (
                ours["goal"] == theirs["goal"]
                and ours["done"] == theirs["done"]
                and abs(ours["raw"] - theirs["raw"]) < 1e-9
            ):
                counts["same"] += 1
            else:
                words.append(f"{task} seed {seed}: ours {ours}, theirs {theirs}, after {inputs}")
    return counts, words


def main() -> None:
    """Compare and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seeds", type=int, default=200)
    asked.add_argument("--task", nargs="*", default=TASKS)
    given = asked.parse_args()
    # Lines of text break elsewhere in the headless shell, and a point at their ends then lies on another word.
    os.environ.setdefault("CUADATA_CHROMIUM", shutil.which("chromium") or "")
    columns = ("episodes", "same", "inputs", "ended", "won", "paid in part")
    print("| task |", " | ".join(columns), "|\n|---|" + "---:|" * len(columns))
    total: Counter[str] = Counter()
    began = time.perf_counter()
    for task in given.task:
        counts, words = compare(task, range(given.seeds))
        total += counts
        print(f"| {task} |", " | ".join(str(counts[c]) for c in columns), "|", flush=True)
        print(*words, sep="\n", file=sys.stderr, end="\n" if words else "", flush=True)
    print(f"| all {len(given.task)} |", " | ".join(str(total[c]) for c in columns), "|")
    print(f"\n{time.perf_counter() - began:.0f} s; differences are on stderr")


if __name__ == "__main__":
    main()
