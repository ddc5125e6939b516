"""A person at a window: the X server's own pointer and keyboard, turned by xdotool, in a headed Chromium under Xvfb."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuadata.browsing import browser_find

pytestmark = pytest.mark.browser
HAND = Path(__file__).with_name("headed_hand.py")


@pytest.fixture
def display() -> Iterator[str]:
    """A screen of its own; skipped where Xvfb, xdotool or a browser with a window is not installed."""
    for tool in ("Xvfb", "xdotool"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (Debian: apt install xvfb xdotool)")
    try:
        browser_find.find(headed=True)
    except browser_find.NoBrowser as error:
        pytest.skip(f"no browser that shows a window: {error}")
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"],
        pass_fds=(writer,), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writer)
    try:
        with os.fdopen(reader) as told:
            number = told.readline().strip()
        if not number:
            pytest.fail(f"Xvfb ended with {server.wait(5)} before it had a display")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)


def test_real_input_is_one_step_an_action(display: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HAND), str(tmp_path / "out")],
        env={**os.environ, "DISPLAY": display}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    held = json.loads(done.stdout.splitlines()[-1])
    assert (
        held["told"]
        == held["logged"]
        == [
            ["click", "b0"],
            ["click", "f0"],
            ["type", "f0", "cab fare"],
            ["right_click", "b5"],
            ["press", "F2"],
            ["press", "Escape"],
            ["click", "f2"],
            ["type", "f2", "d"],
            ["click", "b11"],
        ]
    )
    assert held["before"], "every step has its picture from before the input"
