"""What a build has found so far, on disk: one file a piece of input, so that a killed build goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from cuadata.building.answers import Key
from cuadata.rows import Verdict
from cuadata.types import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row to be: everything that is decided over all rows stands beside it, the row itself stays packed."""

    config: Annotated[str, "config that it goes to"]
    id: Annotated[str, "id of the row, unique in its config"]
    trajectory_id: Annotated[str, "the trajectory it is from"]
    keys: Annotated[tuple[str, ...], "what it shares with others, as column=value, for the splits"]
    pictures: Annotated[tuple[Image, ...], "its pictures, on disk"]
    size: Annotated[int, "bytes that it takes in a shard, about"]
    place: Annotated[str, "where it came from, for messages"]
    steps: Annotated[tuple[str, ...], "ids of the examples that it stands on; where all are duplicates, it is one"] = ()
    unique: Annotated[str | None, "what only the first row with these pixels may have"] = None
    verdict: Annotated[Verdict | None, "why it is rejected; None for kept rows"] = None
    also: Annotated[tuple[str, ...], "further objections, as `gate: reason`"] = ()
    asked: Annotated[Key | None, "what a row of `actions` asks and answers"] = None
    row: Annotated[msgspec.Raw, "the row as JSON, its pictures described"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Input that could not be read, with the place and what is wrong there."""

    place: Annotated[str, "recording or file, and step"]
    message: Annotated[str, "what is wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a piece of input held."""

    fingerprint: Annotated[str, "hash of the input and of all that was asked of it"]
    sha256: Annotated[str, "hash of the input"]
    trajectories: Annotated[tuple[str, ...], "ids, in order"] = ()
    failed: Annotated[int, "trajectories that failed their task by its exact criterion"] = 0
    steps: Annotated[int, "examples that were judged"] = 0
    entries: Annotated[int, "rows to be"] = 0
    browsers: Annotated[tuple[str, ...], "builds of the browsers that recorded it"] = ()
    viewports: Annotated[tuple[str, ...], "viewports, as 1280x720@1"] = ()
    damage: Annotated[tuple[Damage, ...], "what could not be read"] = ()
    notes: Annotated[tuple[str, ...], "what reading had to say"] = ()


_entries = msgspec.json.Decoder(Entry)
_summaries = msgspec.json.Decoder(Summary)


class Journal:
    """The folder of a build in progress."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts = folder / "parts"
        self.blobs = folder / "blobs"
        self.made = folder / "dataset"

    def begin(self) -> None:
        """Make the folders where they are not there."""
        for path in (self.parts, self.blobs, self.made):
            path.mkdir(parents=True, exist_ok=True)

    def summary(self, number: int) -> Summary | None:
        """What was found in a piece; None where it is not finished."""
        try:
            return _summaries.decode((self.parts / f"{number:06d}.json").read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def entries(self, number: int) -> Iterator[Entry]:
        """The rows to be of a finished piece, in order."""
        with open(self.parts / f"{number:06d}.jsonl", "rb") as file:
            for line in file:
                yield _entries.decode(line)

    def write(self, number: int, entries: Iterable[Entry], finish: Callable[[], Summary]) -> Summary:
        """Store a piece: entries as they come, then the summary that `finish` makes, which says that it is whole."""
        path = self.parts / f"{number:06d}.jsonl"
        (self.parts / f"{number:06d}.json").unlink(missing_ok=True)
        half = path.with_suffix(".half")
        with open(half, "wb") as file:
            file.writelines(msgspec.json.encode(entry) + b"\n" for entry in entries)
        os.replace(half, path)
        summary = finish()
        self._put(self.parts / f"{number:06d}.json", msgspec.json.encode(summary))
        return summary

    def keep_picture(self, picture: Image, data: bytes) -> Path:
        """Put a picture that is only in memory on disk; its path."""
        path = self.blobs / picture.sha256[:2] / f"{picture.sha256}.{picture.format}"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._put(path, data)
        return path

    @staticmethod
    def _put(path: Path, data: bytes) -> None:
        half = path.with_name(f"{path.name}.{os.getpid()}.half")
        half.write_bytes(data)
        os.replace(half, path)
