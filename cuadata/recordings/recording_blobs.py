"""The blobs of one step, written beside each other while the rest of the step is made: what takes long is the disk."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from cuadata.recordings import recording_files


class Blobs:
    """Writes files under names that say what is in them; those that are there already are left."""

    def __init__(self) -> None:
        self._hands = ThreadPoolExecutor(2, thread_name_prefix="cuadata-blobs")
        self._writing: dict[Path, Future[bool]] = {}

    def write(self, path: Path, data: bytes) -> None:
        """Begin to write a file; `finish` waits for it."""
        if path not in self._writing:
            self._writing[path] = self._hands.submit(recording_files.write_once, path, data)

    def finish(self, new: list[Path]) -> None:
        """Wait until all are on the disk; those that were not there before are added to `new`. OSError where one is not."""
        writing, self._writing = self._writing, {}
        wait(writing.values())
        new += [path for path, done in writing.items() if done.exception() is None and done.result()]
        for done in writing.values():
            done.result()

    def close(self) -> None:
        """End the threads."""
        with contextlib.suppress(OSError):
            self.finish([])
        self._hands.shutdown()
