"""Recordings made by cuadata: a folder that holds them, or one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cuadata import recording
from cuadata.errors import DataError
from cuadata.registry import parted, sources
from cuadata.types import Trajectory


@sources.add
@parted(recording.find)
def recordings(path: Path) -> Iterator[Trajectory]:
    """Recordings made by cuadata, in order of path; pictures are checked and held in memory, a recording at a time.

    DataError where the folder is missing, holds no recording, or holds one that cannot be read.
    """
    if not recording.find(path):
        raise DataError("no recording is in it; `cuadata record` and `cuadata rollout` make some", place=str(path))
    yield from recording.read_all(path)
