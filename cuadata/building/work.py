"""Mapping a function over work, here or in processes, with the answers in the order of the work.

A cluster's scheduler fits in as a third class with the same `map`; nothing else of the build would change.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from multiprocessing.context import BaseContext
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from cuadata.errors import CallError, DataError

T = TypeVar("T")
R = TypeVar("R")
#: Answers that may wait for their turn, per worker: enough to keep all busy, few enough to bound the memory.
AHEAD = 4


class Workers(Protocol):
    """Where work is done."""

    def map(self, function: Callable[[T], R], work: Iterable[T]) -> Iterator[R]:
        """The answers in the order of the work; an exception comes out where its answer would have."""
        ...


class Here:
    """Does the work in this process, one piece after the other."""

    def map(self, function: Callable[[T], R], work: Iterable[T]) -> Iterator[R]:
        """See `Workers.map`."""
        return map(function, work)


class Processes:
    """Does the work in processes, which start and end with the block.

    They end at once where a person breaks it off (an exception that is no Exception), and where its process ends, however.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        context = _context()
        stop, self._stop = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(stop,))

    def map(self, function: Callable[[T], R], work: Iterable[T]) -> Iterator[R]:
        """See `Workers.map`. The function and the work are pickled. DataError where a process was killed."""
        try:
            yield from _in_order(lambda piece: _submit(self._pool, function, piece), work, AHEAD * self.count)
        except BrokenProcessPool as error:
            raise DataError(
                "a worker process ended before its work was done: killed, or out of memory; what was finished is kept, "
                "and the same call goes on from there, with fewer workers if memory was short"
            ) from error

    def __enter__(self) -> Self:
        _submit(self._pool, abs, 0)  # forked now, they hold nothing open that is opened later, such as a lock
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None and not isinstance(error, Exception):  # broken off by a person: nobody waits for the rest
            self._stop.send_bytes(b"stop")
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._stop.close()


def _begin(stop: connection.Connection) -> None:
    """Let a process that works end with the one that it works for, however that ended, or once `stop` can be read."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    ends: list[Any] = [parent.sentinel, stop]  # a sentinel has no type: a handle on one system, a number on another

    def watch() -> None:
        connection.wait(ends)
        os._exit(1)  # drivers of browsers end themselves when their input closes

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, and is the first one's to answer
    threading.Thread(target=watch, name="cuadata-parent", daemon=True).start()


def _context() -> BaseContext:
    """How processes start: forked where this one has a single thread, as they need not import anything again then.

    A fork beside other threads, those of libraries among them, would keep shut for ever what these have locked.
    """
    threads = Path("/proc/self/task")
    alone = threads.is_dir() and len(os.listdir(threads)) == 1
    return multiprocessing.get_context("fork" if alone else "spawn")


def ahead(function: Callable[[T], R], work: Iterable[T]) -> Iterator[R]:
    """The answers in the order of the work, made by a thread while the last ones are used: for what reads and hashes files."""
    with ThreadPoolExecutor(1) as thread:
        yield from _in_order(lambda piece: thread.submit(function, piece), work, AHEAD)


def _in_order(submit: Callable[[T], Future[R]], work: Iterable[T], most: int) -> Iterator[R]:
    """Answers in the order of the work, of which at most so many are under way or wait."""
    waiting: deque[Future[R]] = deque()
    try:
        for piece in work:
            waiting.append(submit(piece))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _submit(pool: ProcessPoolExecutor, function: Callable[[T], R], piece: T) -> Future[R]:
    with _without_main():
        return pool.submit(function, piece)


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep a starting process from running the caller's script again: what it needs is all in importable modules."""
    main: Any = sys.modules["__main__"]
    held = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    try:
        for name in held:
            setattr(main, name, None)
        yield
    finally:
        for name, value in held.items():
            setattr(main, name, value)


@contextmanager
def workers(count: int) -> Iterator[Workers]:
    """`count` processes, or this one for 1. CallError for fewer."""
    if count < 1:
        raise CallError(f"{count} workers cannot work; give 1 or more")
    if count == 1:
        yield Here()
        return
    with Processes(count) as processes:
        yield processes
