"""A recorder that dies costs at most the step in flight, and two recorders never share a folder."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
from build_trajectories import START, checkout, save

from cuadata import recording
from cuadata.errors import DataError
from cuadata.recordings import recording_lock
from cuadata.types import Observation, Outcome, Step

TESTS = Path(__file__).resolve().parent


def small_steps(count: int) -> list[Step]:
    """Steps with next to nothing in them, for tests that read thousands of times."""
    step = checkout().steps[0]
    seen = Observation(screenshot=None, viewport=step.observation.viewport)
    bare = Step(index=0, time=START, observation=seen, action=step.action)
    return [replace(bare, index=n, time=START + n) for n in range(count)]


def record(path: Path, steps: list[Step]) -> Path:
    with recording.create(path, id="r", instruction="x", source="oracle") as writer:
        for step in steps:
            writer.add(step)
        writer.close(Outcome(ended="success"))
    return path


def test_a_cut_at_any_byte_still_reads(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(2))
    (path / "outcome.json").unlink()
    file = path / "steps.jsonl"
    whole = file.read_bytes()
    ends = [i for i, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole) + 1):
        with open(file, "wb") as out:
            out.write(whole[:length])
        back = recording.read(path)
        wanted = sum(end <= length for end in ends)  # a line is whole even where only its end mark is missing
        torn = length > 0 and length not in ends and length - 1 not in ends
        assert len(back.steps) == wanted, length
        assert any("torn" in note for note in back.notes) == torn, length
        assert back.outcome.ended == "interrupted"


def test_zeros_after_a_power_cut_are_a_torn_line(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(2))
    with open(path / "steps.jsonl", "ab") as file:
        file.write(b"\x00" * 512)
    back = recording.read(path)
    assert len(back.steps) == 2 and "torn" in back.notes[0]


def test_a_torn_line_in_the_middle_is_no_repair(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(3))
    lines = (path / "steps.jsonl").read_bytes().split(b"\n")
    lines[1] = lines[1][:50]
    (path / "steps.jsonl").write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match="step 1"):
        recording.read(path)


CHILD = """
import sys, time
from dataclasses import replace
sys.path.insert(0, {tests!r})
from build_trajectories import checkout
from cuadata import recording
step = checkout().steps[0]
writer = recording.create({path!r}, id="r", instruction="x", source="oracle")
for n in range(10_000):
    writer.add(replace(step, index=n, time=step.time + n))
    print(n + 1, flush=True)
"""


def kill_after(path: Path, steps: int, pause: float) -> int:
    """Start a recorder, kill it once it has said so many steps and a little later; how many it said."""
    code = CHILD.format(tests=str(TESTS), path=str(path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            said = [int(child.stdout.readline()) for _ in range(steps)]
            living = recording.read(path, pictures=False)
            assert living.outcome.ended == "running" and "is recording into it" in living.notes[-1]
            with pytest.raises(DataError, match="is recording into it; two recorders never share"):
                recording.resume(path, take_over=True)
            time.sleep(pause)
        finally:
            os.kill(child.pid, signal.SIGKILL)
        said += [int(line) for line in child.stdout.read().split()]
    return said[-1]


def test_a_killed_recorder_costs_at_most_the_step_in_flight(tmp_path: Path) -> None:
    for round_ in range(3):
        path = tmp_path / f"r{round_}"
        said = kill_after(path, 3 + round_, 0.003 * round_)
        back = recording.read(path)
        assert said <= len(back.steps) <= said + 1
        assert back.outcome.ended == "interrupted"
        with pytest.raises(DataError, match="runs no more; ask for a take-over"):
            recording.resume(path)
        with recording.resume(path, take_over=True) as writer:
            count = len(writer)
            assert count == len(back.steps)
            writer.add(replace(checkout().steps[1], index=count, time=START + count + 60))
            writer.close(Outcome(ended="success"))
        mended = recording.read(path)
        assert len(mended.steps) == count + 1 and mended.outcome.ended == "success"


def test_going_on_after_a_torn_line(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(3))
    (path / "outcome.json").unlink()
    whole = (path / "steps.jsonl").read_bytes()
    for cut in (1, 2, 60):
        copy = tmp_path / f"cut{cut}"
        shutil.copytree(path, copy)
        (copy / "steps.jsonl").write_bytes(whole[:-cut])
        with recording.resume(copy) as writer:
            assert len(writer) == (3 if cut == 1 else 2)
            writer.add(replace(small_steps(1)[0], index=len(writer), time=START + 9))
            writer.close(Outcome(ended="success"))
        back = recording.read(copy)
        assert [s.index for s in back.steps] == list(range(len(back.steps))) and back.notes == ()


FULL = """
import resource, sys
sys.path.insert(0, {tests!r})
from dataclasses import replace
from build_trajectories import checkout
from cuadata import recording
from cuadata.errors import DataError
from cuadata.types import Outcome
step = replace(checkout().steps[0], after=None)
with recording.create({path!r}, id="r", instruction="x", source="oracle") as writer:
    writer.add(step)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
    try:
        for n in range(1, 50):
            writer.add(replace(step, index=n, time=step.time + n, thought="x" * 500))
    except DataError as error:
        print(len(writer), error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    writer.add(replace(step, index=len(writer), time=step.time + 99))
    writer.close(Outcome(ended="success"))
"""


def test_a_full_disk_costs_only_the_step_that_did_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "r"
    code = FULL.format(tests=str(TESTS), path=str(path), limit=9_000)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, _, words = done.stdout.partition(" ")
    assert int(count) >= 2
    assert f"{path}, step {count}: the step cannot be stored: the file would be larger than allowed" in words
    back = recording.read(path)
    assert len(back.steps) == int(count) + 1 and back.outcome.ended == "success" and back.notes == ()


def test_a_full_disk_is_called_so_and_leaves_no_torn_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = small_steps(2)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with recording.create(tmp_path / "r", id="r", instruction="x", source="oracle") as writer:
        writer.add(steps[0])
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(DataError, match="step 1: the step cannot be stored: the disk is full"):
                writer.add(steps[1])
        assert len(recording.read(tmp_path / "r").steps) == 1
        writer.add(steps[1])
        writer.close(Outcome(ended="success"))
    assert len(recording.read(tmp_path / "r").steps) == 2


@pytest.mark.parametrize("room", [20, 300])
def test_a_recording_that_cannot_begin_leaves_no_folder(tmp_path: Path, room: int) -> None:
    """Of 20 bytes not even the lock is written whole, of 300 the lock is and the header is not."""
    code = f"""
import resource
from cuadata import recording
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))
try:
    recording.create({str(tmp_path / "r")!r}, id="r", instruction="x" * 500, source="oracle")
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "the recording cannot be begun: the file would be larger than allowed" in done.stdout, done.stderr
    assert not list(tmp_path.iterdir())
    recording.create(tmp_path / "r", id="r", instruction="x", source="oracle").close(Outcome(ended="success"))


def test_a_folder_is_begun_once(tmp_path: Path) -> None:
    writer = recording.create(tmp_path / "r", id="r", instruction="x", source="oracle")
    with pytest.raises(DataError, match=f"process {os.getpid()} .* holds it"):
        recording.create(tmp_path / "r", id="r", instruction="x", source="oracle")
    writer.close(Outcome(ended="success"))
    with pytest.raises(DataError, match="exists already"):
        recording.create(tmp_path / "r", id="r", instruction="x", source="oracle")
    with pytest.raises(DataError, match="it has ended"):
        recording.resume(tmp_path / "r")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(DataError, match="exists already"):
        recording.create(file, id="r", instruction="x", source="oracle")


def test_a_folder_that_a_dead_recorder_left_says_so(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(2))
    (path / "outcome.json").unlink()
    recording.check_free(tmp_path / "another")
    left_by(path, start="an earlier process of this number")
    with pytest.raises(DataError, match="which runs no more, and can be read as it stands"):
        recording.create(path, id="r", instruction="x", source="oracle")
    with pytest.raises(DataError, match="begins in a folder of its own"):
        recording.check_free(path)


def left_by(path: Path, **changes: object) -> None:
    """A lock that somebody left, like this process's own but for some fields."""
    me = json.loads(json.dumps({f: getattr(recording_lock.me(), f) for f in ("pid", "host", "start")}))
    (path / "lock").write_text(json.dumps({**me, **changes}))


def test_locks_of_others(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(2))
    (path / "outcome.json").unlink()
    left_by(path, start="an earlier process of this number")
    assert recording.read(path).outcome.ended == "interrupted"
    with pytest.raises(DataError, match="runs no more"):
        recording.resume(path)
    left_by(path, host="another-host")
    assert recording.read(path).outcome.ended == "running"
    with pytest.raises(DataError, match="another-host holds it, and whether that still runs cannot be told"):
        recording.resume(path)
    recording.resume(path, take_over=True).close(Outcome(ended="interrupted"))
    assert not (path / "lock").exists()
    (path / "outcome.json").unlink()
    (path / "lock").write_text("{")
    assert recording.read(path).outcome.ended == "interrupted"
    with pytest.raises(DataError, match="the lock cannot be read"):
        recording.resume(path)


RACE = """
import sys
from pathlib import Path
from cuadata.recordings import recording_lock
sys.stdin.readline()
try:
    recording_lock.take(Path({path!r}), take_over=True)
    print("taken", flush=True)
except ValueError as error:
    print("refused", flush=True)
sys.stdin.readline()
"""


def test_one_of_many_takes_a_stale_lock(tmp_path: Path) -> None:
    path = record(tmp_path / "r", small_steps(1))
    left_by(path, start="gone")
    code = textwrap.dedent(RACE.format(path=str(path)))
    racers = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = []
    for racer in racers:
        assert racer.stdout is not None
        answers.append(racer.stdout.readline().strip())
    for racer in racers:
        racer.communicate("stop\n")
    assert sorted(answers) == ["refused"] * 3 + ["taken"]


def test_a_recorder_killed_before_its_first_step(tmp_path: Path) -> None:
    writer = recording.create(tmp_path / "r", id="r", instruction="x", source="oracle")
    left_by(tmp_path / "r", start="gone")
    back = recording.read(tmp_path / "r")
    assert back.steps == () and back.outcome.ended == "interrupted" and "no step was recorded" in back.notes
    writer._steps.close()


def test_blobs_left_half_written_are_no_part_of_a_recording(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    (path / "blobs" / f"{'0' * 64}.png.77.half").write_bytes(b"\x89PNG")
    assert len(recording.read(path).steps) == 5
