"""A limit to how long a script may run, whatever it is doing then."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from cuadata.errors import CallError


class OutOfTime(BaseException):
    """The time is up. No Exception, so that a script which catches those goes no further."""


@contextlib.contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in what runs inside once `seconds` are over; None for no limit.

    CallError off the main thread and on systems without alarms, where nothing could be interrupted.
    """
    if seconds is None:
        yield
        return
    if seconds <= 0:
        raise CallError(f"the time limit cannot be {seconds:g} s; wanted more than 0")
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        raise CallError("a time limit needs the main thread of a system with alarms; leave it out here")

    def over(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"it ran longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
