"""Closing leaves no browser behind: not one that does not answer, and not one that is being started."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from test_environment import children

from cuadata.errors import DataError
from cuadata.playing import environment_vector

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
