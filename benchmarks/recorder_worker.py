"""One contestant of `recorder.py`, in a process and a browser of its own: reads requests as JSON lines, answers each.

Needs Playwright alone, so that it also runs where BrowserGym is installed and cuadata is not.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

VIEWPORT = {"width": 1280, "height": 720}


def act(page: Any, kind: str, at: tuple[float, float], text: str) -> None:
    """The bare input of a step: what every contestant adds its record to."""
    page.mouse.click(*at)
    if kind == "type":
        page.keyboard.type(text)


def playwright(executable: str, tracing: bool) -> tuple[Callable[[str], Any], Callable[[Any], None]]:
    """Pages of Playwright, with its own tracing on or off; what is done after a step."""
    from playwright.sync_api import sync_playwright

    browser = sync_playwright().start().chromium.launch(executable_path=executable)

    def opened(url: str) -> Any:
        context = browser.new_context(viewport=VIEWPORT)
        if tracing:
            context.tracing.start(screenshots=True, snapshots=True, sources=False)
        page = context.new_page()
        page.goto(url)
        return page

    return opened, lambda page: None


class NoChat:
    """BrowserGym's chat without its window, a second browser that would take time from everybody."""

    def __init__(self, **_: Any) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, msg: str) -> None:
        """Remember a message."""
        self.messages.append({"role": role, "message": msg})

    def close(self) -> None:
        """There is nothing to close."""


def browsergym(executable: str) -> tuple[Callable[[str], Any], Callable[[Any], None]]:
    """Pages of BrowserGym, its waits of fixed length taken out; after a step it takes its observation."""
    from browsergym.core import env as core
    from browsergym.core.task import OpenEndedTask

    core.Chat = NoChat

    held: dict[int, Any] = {}

    def opened(url: str) -> Any:
        env = core.BrowserEnv(
            OpenEndedTask, task_kwargs={"start_url": url, "goal": "-"}, viewport=VIEWPORT, slow_mo=0, headless=True,
            pre_observation_delay=0.0, pw_chromium_kwargs={"executable_path": executable},
        )  # fmt: skip
        env.reset()
        held[id(env.page)] = env
        return env.page

    return opened, lambda page: held[id(page)]._get_obs()


def main() -> None:
    """Answer `open` with nothing, `step` with the milliseconds that it took."""
    name, executable = sys.argv[1:3]
    opened, after = browsergym(executable) if name == "browsergym" else playwright(executable, name == "tracing")
    page: Any = None
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "open" in asked:
            page = opened(asked["open"])
            print(json.dumps(None), flush=True)
            continue
        box = page.locator(asked["css"]).bounding_box()
        at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        began = time.perf_counter()
        act(page, asked["kind"], at, asked["text"])
        after(page)
        print(json.dumps((time.perf_counter() - began) * 1000), flush=True)


if __name__ == "__main__":
    main()
