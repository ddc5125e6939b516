"""Work in processes: in order, bounded, with its errors, and ended when it is done."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuadata.building import work
from cuadata.errors import CallError, DataError


@pytest.fixture(scope="module")
def processes() -> Iterator[work.Processes]:
    with work.Processes(2) as held:
        yield held


def test_answers_come_in_the_order_of_the_work(processes: work.Processes) -> None:
    assert list(processes.map(abs, range(-30, 0))) == list(range(30, 0, -1))
    assert list(work.Here().map(abs, [-1, 2])) == [1, 2]
    assert os.getpid() not in set(processes.map(eval, ["__import__('os').getpid()"] * 4))


def test_no_more_work_is_taken_than_can_be_held(processes: work.Processes) -> None:
    taken = []

    def some() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    answers = processes.map(abs, some())
    next(answers)
    assert len(taken) <= work.AHEAD * 2 + 1
    assert len(list(answers)) == 99


def test_an_error_comes_out_where_its_answer_would_have(processes: work.Processes) -> None:
    answers = processes.map(int, ["1", "x", "3"])
    assert next(answers) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(answers)
    assert list(processes.map(abs, [-4])) == [4]


def test_a_thread_works_ahead_in_order_and_not_too_far() -> None:
    taken: list[int] = []

    def some() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    answers = work.ahead(abs, some())
    assert [next(answers), len(taken)] == [0, work.AHEAD]
    assert list(answers) == list(range(1, 100))
    held = work.ahead(int, ["1", "x", "3"])
    assert next(held) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(held)


def test_a_killed_process_is_said(tmp_path: Path) -> None:
    with work.Processes(1) as held, pytest.raises(DataError, match="ended before its work was done"):
        list(held.map(signal.raise_signal, [signal.SIGKILL]))


def test_nothing_is_left_running() -> None:
    with work.Processes(2) as held:
        pids = set(held.map(eval, ["__import__('os').getpid()"] * 6))
    assert _ended(pids)


def _ended(pids: set[int]) -> bool:
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


#: A process that says which workers it has, and then waits for a work of an hour.
_BUSY = """
import signal
from cuadata.building import work
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background work would not hear it
with work.Processes(2) as held:
    print(*set(held.map(eval, ["__import__('time').sleep(0.2) or __import__('os').getpid()"] * 6)), flush=True)
    list(held.map(eval, ["print('busy', flush=True) or __import__('time').sleep(3600)"] * 4))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not tell whether a process is there")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_that_they_work_for(sent: signal.Signals) -> None:
    """A scheduler ends the first process alone; a browser of a worker that stays would stay with it."""
    with subprocess.Popen([sys.executable, "-c", _BUSY], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as started:
        assert started.stdout is not None
        workers = {int(pid) for pid in started.stdout.readline().split()}
        try:
            assert started.stdout.readline().startswith(b"busy")
            time.sleep(0.5)  # until it waits for them
            started.send_signal(sent)
            assert started.wait(20) == -sent
            assert workers
            assert _ended(workers)
        finally:
            for pid in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            started.kill()


def _in_a_process_of_its_own(*lines: str) -> str:
    code = "\n".join(["import subprocess, threading", "from cuadata.building import work", *lines])
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not tell a process's threads")
def test_processes_are_forked_only_where_there_is_one_thread() -> None:
    told = "print(work._context().get_start_method())"
    beside = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    assert _in_a_process_of_its_own(told, beside, told).split() == ["fork", "spawn"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not tell what a process holds open")
def test_a_worker_holds_nothing_open_that_is_opened_later(tmp_path: Path) -> None:
    """A lock, say: a worker whose build was killed would keep it, and the next build would wait for ever."""
    told = _in_a_process_of_its_own(
        f"with work.Processes(2) as held, open({str(tmp_path / 'lock')!r}, 'wb'):",
        "    print(*held.map(subprocess.getoutput, ['ls -l /proc/$PPID/fd'] * 4))",
    )
    assert "pipe:" in told
    assert "lock" not in told


def test_one_worker_is_this_process_and_none_is_a_mistake() -> None:
    with work.workers(1) as held:
        assert list(held.map(lambda x: os.getpid(), [1])) == [os.getpid()]  # nothing is pickled
    with pytest.raises(CallError, match="give 1 or more"), work.workers(0):
        pass
