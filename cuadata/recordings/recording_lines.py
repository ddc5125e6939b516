"""The lines of a steps file: checked before they are written, read one by one, cut where the last one is torn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cuadata.errors import DataError
from cuadata.recordings.recording_files import Line
from cuadata.recordings.recording_reader import MAX_LINE
from cuadata.schema import from_json, to_json


def to_bytes(line: Line, place: str) -> bytes:
    """The line as JSON, read back once: what cannot be read is never written. DataError names the field."""
    try:
        text = to_json(line)
        from_json(text, Line)
    except (ValueError, TypeError) as error:
        raise DataError(f"the step cannot be stored: {error}", place=place) from error
    if len(text) > MAX_LINE:
        raise DataError(f"the step is {len(text)} bytes long, over the limit of {MAX_LINE}", place=place)
    return text


def each(path: Path) -> Iterator[Line]:
    """The steps of a file, one at a time; ValueError where one cannot be read."""
    with open(path, "rb") as file:
        yield from (from_json(text, Line) for text in file)


def cut_torn(path: Path, whole: int) -> None:
    """Cut a steps file after its whole lines, and end the last of them."""
    data = path.read_bytes()
    lines = data.split(b"\n")[:whole]
    kept = b"".join(line + b"\n" for line in lines)
    if kept == data:
        return
    with open(path, "r+b") as file:
        file.truncate(min(len(kept), len(data)))
        if len(kept) > len(data):  # the step is whole, only the end of its line was lost
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
        file.flush()
        os.fsync(file.fileno())
