"""What does not answer is left for dead: closing leaves no browser behind, and the next episode does not wait for the last."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from test_environment import children

from cuadata import environment
from cuadata.browsing.page_session import AsyncPage
from cuadata.episodes import stage
from cuadata.errors import DataError
from cuadata.playing import environment_vector
from cuadata.types import Size, Task

pytestmark = pytest.mark.browser


def browsers() -> set[int]:
    """The browsers of this process, without the shell scripts that start them."""
    lines = {p: Path(f"/proc/{p}/cmdline") for p in children("--user-data-dir")}
    return {p for p, line in lines.items() if line.exists() and not line.read_bytes().startswith(b"/bin/sh")}


def test_browsers_that_do_not_answer_are_gone_once_it_is_closed() -> None:
    others = browsers()
    envs: Any = environment_vector.make("modal", 2, browsers=2, screenshot=False, effect=False)
    envs.reset(seed=0)
    stopped = browsers() - others
    assert len(stopped) == 2
    try:
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        envs.close()
        assert not browsers() - others
    finally:
        for process in stopped & browsers():
            os.kill(process, signal.SIGCONT)


def test_a_browser_that_is_being_started_is_not_left_by_a_close() -> None:
    others = browsers()
    envs: Any = environment_vector.make("modal", 2, browsers=2, screenshot=False, effect=False)
    told: list[BaseException | None] = []

    def reset() -> None:
        try:
            envs.reset(seed=0)
            told.append(None)
        except DataError as error:
            told.append(error)

    thread = threading.Thread(target=reset)
    thread.start()
    while not any(lock.locked() for lock in envs.browsers._locks):
        time.sleep(0.001)
    envs.close()
    thread.join(60)
    assert isinstance(told[0], DataError), "there was no page to begin on"
    assert not browsers() - others


def test_a_page_that_runs_without_end_does_not_hold_up_the_next_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """What asks the old page for anything would wait as long as it runs."""
    monkeypatch.setattr(stage, "CLEANING", 2.0, raising=False)
    monkeypatch.setattr(environment, "LIMIT", 30.0)
    html = "<script>setTimeout(() => { document.title = 'runs'; while (true); }, 300)</script>"
    task = Task(id="t/0", family="t", seed=0, instruction="Do it.", html=html, viewport=Size(1280, 720))
    env: Any = environment.make("modal", screenshot=False, effect=False)
    try:
        env.reset(options={"task": task})
        time.sleep(0.6)
        observed, _ = env.reset(seed=1)
        assert "dialog" in observed["axtree"]
    finally:
        env.close()


def test_a_page_whose_browser_dies_while_it_opens_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while Playwright makes its page, it is heard of as disconnected, and the page never comes."""
    monkeypatch.setattr(environment_vector, "LIMIT", 30.0)
    others, killed, real = browsers(), set[int](), AsyncPage.goto

    async def goto(page: AsyncPage, address: str, **options: Any) -> None:
        if not killed:
            killed.update(browsers() - others)
            for process in killed:
                os.kill(process, signal.SIGKILL)
            await asyncio.Event().wait()
        await real(page, address, **options)

    monkeypatch.setattr(AsyncPage, "goto", goto)
    envs: Any = environment_vector.make("modal", 1, screenshot=False, effect=False)
    try:
        observed, _ = envs.reset(seed=1)
        assert killed and "dialog" in observed["axtree"][0]
    finally:
        envs.close()
