"""Reading recordings: whole, repaired where a recorder died, and with the recording and step named in every error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import msgspec

from cuadata import image, text_files
from cuadata.errors import DataError
from cuadata.recordings import recording_files, recording_lock
from cuadata.recordings.recording_files import Ending, Header, Line
from cuadata.recordings.recording_versions import check_version
from cuadata.schema import from_json, to_json
from cuadata.types import Element, Image, Observation, Outcome, Step, Trajectory

#: A line of steps.jsonl may be this long, bytes. Pictures and elements lie elsewhere, so that a step is a few kB.
MAX_LINE = 16 * 2**20


def find(folder: str | Path) -> list[Path]:
    """The recordings in a folder and the folders below it, sorted; a recording itself gives itself.

    DataError where the folder is missing. A folder without recordings gives an empty list.
    """
    path = Path(folder)
    if not path.is_dir():
        raise DataError("there is no such folder", place=str(path))
    found = []
    for where, folders, files in os.walk(path):
        if recording_files.HEADER in files or recording_files.STEPS in files:
            found.append(Path(where))
            folders.clear()  # what lies in a recording is its own
        folders[:] = [name for name in folders if not name.startswith(".")]  # half a merge, half a deletion
    return sorted(found)


def read_all(folder: str | Path, *, pictures: bool = True) -> Iterator[Trajectory]:
    """Every recording in a folder, one at a time, in order of path. DataError where two have one id."""
    seen: dict[str, Path] = {}
    for path in find(folder):
        trajectory = read(path, pictures=pictures)
        if trajectory.id in seen:
            raise DataError(f"its id '{trajectory.id}' is also that of {seen[trajectory.id]}", place=str(path))
        seen[trajectory.id] = path
        yield trajectory


def read_header(folder: str | Path) -> Header:
    """The header of a recording. DataError where it is missing, damaged, or of another version."""
    path = Path(folder)
    if not path.is_dir():
        raise DataError("there is no such recording", place=str(path))
    text = recording_files.kept(
        partial(recording_files.bytes_of, path / recording_files.HEADER), str(path), recording_files.HEADER
    )
    check_version(text, str(path))
    try:
        return from_json(text, Header)
    except ValueError as error:
        raise DataError(f"{recording_files.HEADER}: {error}", place=str(path)) from error


def read(folder: str | Path, *, pictures: bool = True) -> Trajectory:
    """A recording as a trajectory, repaired: a torn last line is dropped and said in `notes`.

    With `pictures` every picture is read, checked against its sha256 and size once, and held in memory; without, it
    stays on the disk unread. `Image.path` leads to it either way. Without an outcome the trajectory is `interrupted`,
    or `running` while a living process holds the lock. DataError names the recording and the step.
    """
    path = Path(folder)
    header = read_header(path)
    notes = [*header.notes]
    lines = _lines(path, notes)
    blobs = _Blobs(path, pictures)
    steps = tuple(_step(line, blobs, f"{path}, step {line.step.index}") for line in lines)
    ending = _ending(path, notes)
    ending = _believed(ending, len(steps), notes)
    notes += [*ending.notes, *_remarks(steps)]
    return Trajectory(
        id=header.id,
        instruction=header.instruction if ending.instruction is None else ending.instruction,
        source=header.source,
        task=header.task,
        steps=steps,
        outcome=ending.outcome,
        site=header.site,
        browser=header.browser,
        notes=tuple(notes),
    )


def _lines(path: Path, notes: list[str]) -> list[Line]:
    """The whole lines of steps.jsonl; what is left of a line in flight is dropped with a note."""
    raw = recording_files.kept(
        partial(recording_files.bytes_of, path / recording_files.STEPS), str(path), recording_files.STEPS
    )
    texts = raw.split(b"\n")
    if texts[-1] == b"":
        texts.pop()
    lines: list[Line] = []
    for number, text in enumerate(texts):
        try:
            lines.append(_line(text))
        except ValueError as error:
            if number == len(texts) - 1 and not _is_json(text):
                notes.append(f"the last line of {recording_files.STEPS} was torn and is dropped: {len(text)} bytes")
                break
            raise DataError(str(error), place=f"{path}, step {number}") from error
    return lines


def _line(text: bytes) -> Line:
    """A line of steps.jsonl. ValueError that says why it is none."""
    line = from_json(text, Line)
    # What the recorder wrote comes back as the same bytes; only another hand's line can name a key twice.
    if to_json(line) != text:
        json.loads(text, object_pairs_hook=text_files.once)
    return line


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except ValueError:
        return False
    return True


def _ending(path: Path, notes: list[str]) -> Ending:
    file = path / recording_files.OUTCOME
    if not file.exists():
        try:
            held = recording_lock.holder(path)
        except DataError:
            held = None
        if held is not None and recording_lock.lives(held) is not False:
            notes.append(f"{held} is recording into it")
            return Ending(outcome=Outcome(ended="running"))
        reason = f"left open by {held}" if held else "it has no outcome"
        notes.append(f"the recording was interrupted: {reason}")
        return Ending(outcome=Outcome(ended="interrupted", reason=reason))
    try:
        return from_json(recording_files.bytes_of(file), Ending)
    except (ValueError, OSError) as error:
        raise DataError(f"{recording_files.OUTCOME}: {error}", place=str(path)) from error


def _believed(ending: Ending, count: int, notes: list[str]) -> Ending:
    """An ending for the steps that there are: what a longer attempt came to says nothing of those that are left of it."""
    if ending.steps is None or ending.steps == count:
        return ending
    notes.append(f"{ending.steps} steps were recorded, {count} are {'left' if count < ending.steps else 'there'}")
    if count > ending.steps:
        return ending
    return replace(ending, outcome=Outcome(ended="interrupted", reason=notes[-1]))


def _remarks(steps: tuple[Step, ...]) -> Iterator[str]:
    """What is odd about the order of the steps; gates judge it, a person should hear of it."""
    if not steps:
        yield "no step was recorded"
    for before, step in pairwise(steps):
        if step.index != before.index + 1:
            yield f"step {step.index} follows step {before.index}"
        if step.time < before.time:
            yield f"step {step.index}: the time goes back from {before.time} to {step.time} s"


@dataclass(slots=True)
class _Blobs:
    """The blobs of one recording, each read and checked once."""

    folder: Path
    pictures: bool
    _images: dict[str, Image] = field(default_factory=dict)
    _elements: tuple[str, tuple[Element, ...]] = ("", ())
    _known: dict[bytes, Element] = field(default_factory=dict)

    def picture(self, described: Image, place: str) -> Image:
        held = self._images.get(described.sha256)
        if held is None:
            held = self._images[described.sha256] = self._read_picture(described, place)
        elif (held.width, held.height) != (described.width, described.height):
            raise DataError(f"picture {described.sha256[:12]} stands with two sizes", place=place)
        return held

    def _read_picture(self, described: Image, place: str) -> Image:
        path = recording_files.picture_path(self.folder, described, place)
        if not self.pictures:
            return replace(described, path=str(path), data=None)
        data = recording_files.kept(partial(recording_files.bytes_of, path), place, f"picture {path.name}")
        if recording_files.sha256(data) != described.sha256:
            raise DataError(_damage(data, path), place=place)
        try:
            _, width, height = image.header(data)
        except image.BadImage as error:
            raise DataError(f"picture {path.name}: {error}", place=place) from error
        if (width, height) != (described.width, described.height):
            raise DataError(
                f"picture {path.name} is {width}x{height} px, its record says {described.width}x{described.height}",
                place=place,
            )
        return replace(described, path=str(path), data=data)

    def elements(self, name: str | None, place: str) -> tuple[Element, ...]:
        if name is None:
            return ()
        if self._elements[0] != name:
            path = recording_files.elements_path(self.folder, name, place)
            data = recording_files.kept(partial(recording_files.bytes_of, path), place, f"the elements {path.name}")
            if recording_files.sha256(data) != name:
                raise DataError(f"{path.name} is not what was recorded: its sha256 differs", place=place)
            try:
                self._elements = (name, recording_files.unpack(data, self._known))
            except ValueError as error:
                raise DataError(f"{path.name}: {error}", place=place) from error
        return self._elements[1]


def _damage(data: bytes, path: Path) -> str:
    """Why bytes are not those that were recorded, and what to do."""
    remedy = "put the file back from a copy, or leave this recording out"
    try:
        image.rgb(data)
    except image.BadImage as error:
        return f"picture {path.name} is damaged: {error}; {remedy}"
    return f"picture {path.name} is not the one that was recorded: its sha256 differs; {remedy}"


def _step(line: Line, blobs: _Blobs, place: str) -> Step:
    step = line.step
    before = _observation(step.observation, line.elements, blobs, place)
    after = None if step.after is None else _observation(step.after, line.elements_after, blobs, f"{place}, after")
    return replace(step, observation=before, after=after)


def _observation(bare: Observation, elements: str | None, blobs: _Blobs, place: str) -> Observation:
    shot = None if bare.screenshot is None else blobs.picture(bare.screenshot, place)
    return replace(bare, screenshot=shot, elements=blobs.elements(elements, place))
