"""One background thread with an event loop of its own, on which everything that talks to a browser runs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Expired
from typing import Any, TypeVar

from cuadata.errors import CallError

T = TypeVar("T")


class Stuck(TimeoutError):
    """Something did not answer within its time limit."""


class Loop:
    """Runs coroutines for callers on any thread, each with a time limit."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="cuadata-browser", daemon=True)
        self._thread.start()

    @property
    def own(self) -> bool:
        """Whether it runs in this process; a forked child has the object and none of its threads."""
        return self.pid == os.getpid()

    def run(self, work: Coroutine[Any, Any, T], limit: float) -> T:
        """The coroutine's result; Stuck after `limit` seconds, and the coroutine is cancelled."""
        return self.wait(self.start(work), limit)

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin with a coroutine; `wait` gives its result. CallError in a forked child, where no thread runs it."""
        if not self.own:
            work.close()
            raise CallError("it was made before the fork, in another process; make one in the process that uses it")
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def wait(self, future: Future[T], limit: float) -> T:
        """The result of what was begun; Stuck after `limit` further seconds, and the coroutine is cancelled."""
        try:
            return future.result(limit)
        except Expired:
            if future.done():
                raise
            future.cancel()
            raise Stuck(f"the browser did not answer within {limit:g} s") from None

    def close(self) -> None:
        """End the loop and its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()


_held: Loop | None = None
_lock = threading.Lock()


def shared() -> Loop:
    """The loop of this process; a forked child gets one of its own."""
    global _held
    with _lock:
        if _held is None or _held.pid != os.getpid():
            _held = Loop()
        return _held
