"""The lock of an open recording: who writes it, and whether that process still lives."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cuadata.errors import DataError
from cuadata.schema import from_json, to_json

NAME = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The process that holds a lock. A process number alone is used again; together with its start it is not."""

    pid: Annotated[int, "process number"]
    host: Annotated[str, "host name, with the space of process numbers where the system has several"]
    start: Annotated[str, "when the process started, in the system's own words; empty where it does not say"]

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def me() -> Holder:
    """This process."""
    return Holder(pid=os.getpid(), host=_host(), start=_start(os.getpid()) or "")


def holder(folder: Path) -> Holder | None:
    """Who holds the lock of a recording; None where it is not locked. DataError where the lock cannot be read."""
    try:
        text = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return from_json(text, Holder)
    except ValueError as error:
        # A lock is written under another name and then linked, so that a torn one can only come from a damaged disk.
        raise DataError(
            f"the lock cannot be read ({error}); delete the file if nobody records", place=str(folder)
        ) from error


def lives(held: Holder) -> bool | None:
    """Whether the holder still runs; None where it runs on another host, which cannot be asked."""
    if held.host != _host():
        return None
    start = _start(held.pid)
    return start is not None and (not held.start or not start or start == held.start)


def take(folder: Path, *, take_over: bool = False) -> None:
    """Lock a recording for this process.

    DataError where a living process, or one on another host, holds it. The lock of a dead process is refused as well,
    with words that say so, unless `take_over` asks for it.
    """
    with _alone(folder):
        held = holder(folder)
        if held is not None:
            _may_take(held, folder, take_over)
        _write(folder, replace=held is not None)


def release(folder: Path) -> None:
    """Give the lock back, if it is this process's own. On a disk that is read-only by now it ends with the process."""
    held = holder(folder)
    if held == me():
        with contextlib.suppress(OSError):
            (folder / NAME).unlink(missing_ok=True)


def _may_take(held: Holder, folder: Path, take_over: bool) -> None:
    living = lives(held)
    if living:
        raise DataError(f"{held} is recording into it; two recorders never share a folder", place=str(folder))
    if living is None and not take_over:
        raise DataError(
            f"{held} holds it, and whether that still runs cannot be told from here; ask for a take-over if it does not",
            place=str(folder),
        )
    if not take_over:
        raise DataError(
            f"it was left open by {held}, which runs no more; ask for a take-over to go on with it", place=str(folder)
        )


def _write(folder: Path, *, replace: bool) -> None:
    ours = folder / f"{NAME}.{os.getpid()}"
    ours.write_bytes(to_json(me()))
    try:
        if replace:
            os.replace(ours, folder / NAME)
        else:
            _link(ours, folder / NAME)
    except FileExistsError as error:
        raise DataError("another recorder took it in this moment", place=str(folder)) from error
    finally:
        ours.unlink(missing_ok=True)


def _link(ours: Path, lock: Path) -> None:
    """Give the lock its name unless one is there, which a rename would replace."""
    try:
        os.link(ours, lock)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links
        with open(lock, "xb") as file:
            file.write(ours.read_bytes())


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lets one process at a time look at the lock and change it."""
    try:
        import fcntl
    except ImportError:  # Windows: the link above still lets only one process take a free lock
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _host() -> str:
    try:
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _start(pid: int) -> str | None:
    """When a process started: text that no later process of the same number has; None where there is none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _start_by_ps(pid)
    try:
        # The command in field 2 may hold spaces and brackets; the fields after the last bracket are numbers.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    state, start = fields[0], fields[19]
    return None if state in "ZX" else f"{boot} {start}"


def _start_by_ps(pid: int) -> str | None:
    try:
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() or None
