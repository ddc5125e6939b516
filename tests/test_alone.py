"""One folder, one process: a second run is told so at once, and a killed one stands in nobody's way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cuadata.building import folders
from cuadata.errors import CallError
from cuadata.playing import playing
from cuadata.recovering import recover

HOLD = """
import sys, time, pathlib
from cuadata.building import folders
with folders.alone(pathlib.Path(sys.argv[1])):
    (pathlib.Path(sys.argv[1]) / "work").write_text("half")
    print("held", flush=True)
    time.sleep(60)
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds a folder."""
    running = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None and running.stdout.readline() == "held\n"
    return running


def end(first: subprocess.Popen[str]) -> None:
    """Kill it, so that it tidies nothing."""
    first.kill()
    first.communicate()


def rollout(out: Path) -> object:
    return playing.play(playing.Plan(family="modal", policy="oracle", seeds=(0,)), out)


def recovered(out: Path) -> object:
    return recover.make(recover.Settings(), out.parent / "set", out)


def recovered_into(out: Path) -> object:
    return recover.make(recover.Settings(), out, out.parent / "recordings")


def files(out: Path) -> object:
    with folders.files_into(out):
        return None


@pytest.mark.parametrize(
    ("work", "held"),
    [
        (rollout, lambda out: out),
        (recovered, lambda out: out),
        (recovered_into, folders.partial),
        (files, folders.partial),
    ],
    ids=["rollout", "recover", "recover, the dataset", "files"],
)
def test_a_second_run_into_a_folder_is_refused(
    work: Callable[[Path], object], held: Callable[[Path], Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = holder(held(out))
    try:
        with pytest.raises(CallError, match=f"another process is writing {out}; wait for it, or give another folder"):
            work(out)
        assert (held(out) / "work").read_text() == "half", "what the first made is there"
    finally:
        end(first)


def test_a_killed_run_stands_in_nobodys_way(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = holder(folders.partial(out))
    end(first)
    with folders.files_into(out) as made:
        assert not list(made.iterdir()), "nothing of the killed one is taken over"
        (made / "a").write_text("whole")
    assert [one.name for one in tmp_path.rglob("*")] == ["out", "a"]
    with folders.alone(tmp_path / "empty"), pytest.raises(CallError), folders.alone(tmp_path / "empty"):
        pass
    assert not (tmp_path / "empty").exists()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CallError, match="is a file"), folders.alone(tmp_path / "file"):
        pass
