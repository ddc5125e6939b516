"""An output folder that is there whole or not at all, written by one process at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuadata.building import folders
from cuadata.errors import CallError


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """An empty hidden folder that takes the name of `out` when the block ends well; after an error nothing of it is left.

    What a killed process left there is deleted. CallError where another process writes `out` now; DataError where the
    disk is full or may not be written.
    """
    made = folders.partial(out)
    with folders.disk_errors(out):
        made.mkdir(parents=True, exist_ok=True)
        with _alone(made, out):
            for left in made.iterdir():
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
            try:
                yield made
                folders.publish(made, out)
            except BaseException:  # an interrupt too
                shutil.rmtree(made, ignore_errors=True)
                raise


@contextmanager
def _alone(made: Path, out: Path) -> Iterator[None]:
    """Hold the folder; a process that dies lets go of it, so that no lock outlives its holder."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system; two writers of one folder are then the caller's care
        yield
        return
    handle = os.open(made, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not made.exists() or not os.path.samestat(os.fstat(handle), made.stat()):
            raise BlockingIOError  # the other ended just now, and what was opened here is `out` itself
    except BlockingIOError as error:
        os.close(handle)
        raise CallError(
            f"{out} is being written by another process; wait for its end, or give another folder"
        ) from error
    try:
        yield
    finally:
        os.close(handle)
