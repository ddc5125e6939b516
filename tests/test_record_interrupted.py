"""What ends a recording from outside: a disk that takes no more, Ctrl-C, a script that hangs. The steps before stay whole."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import page_cases
import people
import pytest

from cuadata import recording
from cuadata.errors import DiskError
from cuadata.people import person_terminal
from cuadata.types import Trajectory

pytestmark = pytest.mark.browser

PAGE = "<!doctype html><title>t</title><button id=b style='width:90px;height:30px' onclick='this.textContent += 1'>Go</button><input id=i>"


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """No file of this process may grow beyond a few bytes: what a full disk does, and what `ulimit -f` does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def whole(out: Path, steps: int) -> Trajectory:
    """The recording, interrupted with this many whole steps."""
    held = recording.read(out)
    assert (len(held.steps), held.outcome.ended) == (steps, "interrupted"), held.outcome
    assert all(s.observation.screenshot is not None for s in held.steps)
    return held


@pytest.mark.parametrize("way", ["terminal", "end"])
def test_a_person_is_told_at_once_that_the_disk_takes_no_more(tmp_path: Path, way: str) -> None:
    said: list[str] = []
    began = time.monotonic()
    with pytest.raises(DiskError) as told, people.recording_of(PAGE, tmp_path / "out") as (session, hands):
        hands.click(40, 20)
        session.settle()
        with no_room():
            hands.click(40, 20)
            began = time.monotonic()
            page_cases.wait_until(lambda: session.failed is not None, 15)
            if way == "end":
                session.end("success")
            person_terminal.attend(session, "out", say=said.append, lines=_silence(began + 60))
    assert time.monotonic() - began < 45
    words = str(told.value)
    assert f"{tmp_path / 'out'}, step 1: the step cannot be stored: the file would be larger than allowed" in words
    assert "blobs/" in words and "the 1 steps before it are whole; make room, or record into a folder" in words
    assert not any("a look failed" in note for note in whole(tmp_path / "out", 1).notes)


def _silence(until: float) -> Iterator[str]:
    while time.monotonic() < until:
        time.sleep(0.1)
        yield ""


def record(tmp_path: Path, code: str, *options: str) -> subprocess.Popen[str]:
    """`cuadata record --script` of a script, running."""
    (tmp_path / "site").mkdir()
    page, script = tmp_path / "site" / "page.html", tmp_path / "script.py"
    page.write_text(PAGE)
    script.write_text(code)
    call = [sys.executable, "-m", "cuadata.cli", "record", str(page), "--script", str(script), "--out"]
    return subprocess.Popen(
        [*call, str(tmp_path / "out"), "--instruction", "Press it", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


FULL = "import resource\npage.click('#b')\nresource.setrlimit(resource.RLIMIT_FSIZE, (20, resource.RLIM_INFINITY))\n"


@pytest.mark.parametrize("rest", ["page.click('#b')", "try:\n    page.click('#b')\nexcept Exception:\n    pass"])
def test_a_script_ends_where_the_disk_takes_no_more(tmp_path: Path, rest: str) -> None:
    process = record(tmp_path, f"{FULL}{rest}\n")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1 and "Traceback" not in said, said
    assert "step 1: the step cannot be stored: the file would be larger than allowed" in said
    assert "the 1 steps before it are whole" in said
    whole(tmp_path / "out", 1)


def test_ctrl_c_ends_a_script_and_its_steps_stay(tmp_path: Path) -> None:
    process = record(tmp_path, "import time\npage.click('#b')\npage.click('#b')\ntime.sleep(600)\n")
    steps = tmp_path / "out" / "steps.jsonl"
    page_cases.wait_until(lambda: steps.exists() and steps.read_bytes().count(b"\n") == 2, 60)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode not in (0, None) and "Traceback" not in said, said
    whole(tmp_path / "out", 2)


@pytest.mark.parametrize(
    "hangs",
    ["while True:\n    pass", "import time\ntime.sleep(600)", "page.evaluate('new Promise(() => {})')",
     "while True:\n    try:\n        page.wait_for_timeout(50)\n    except Exception:\n        pass"],
)  # fmt: skip
def test_a_script_that_hangs_is_ended_by_the_time_limit(tmp_path: Path, hangs: str) -> None:
    process = record(tmp_path, f"page.click('#b')\n{hangs}\n", "--time-limit", "8")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1 and "Traceback" not in said, said
    assert "ended in interrupted (the script was ended: it ran longer than 8 s)" in said
    whole(tmp_path / "out", 1)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("assert page.title() == 'Elsewhere', 'wrong page'", "ended in failure (wrong page)"),
        ("raise SystemExit(3)", "ended in failure (the script left with 3)"),
        ("raise KeyError('boom')", "the script failed: KeyError: 'boom'"),
    ],
)
def test_a_script_that_fails_exits_with_1_and_is_kept(tmp_path: Path, code: str, words: str) -> None:
    process = record(tmp_path, f"page.click('#b')\n{code}\n")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1 and words in said and str(tmp_path / "out") in said, said
    assert len(recording.read(tmp_path / "out").steps) == 1
