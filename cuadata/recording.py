"""Recordings on disk: written a step at a time so that a crash costs at most the step in flight, read back whole.

A recording is a folder; `cuadata.recordings.recording_files` names what is in it, docs/recording.md explains every field.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cuadata import __version__, image, privacy
from cuadata.errors import DataError
from cuadata.recordings import ink, recording_files, recording_lines, recording_lock
from cuadata.recordings.recording_blobs import Blobs
from cuadata.recordings.recording_files import Ending, Header, Line
from cuadata.recordings.recording_reader import find, read, read_all, read_header
from cuadata.recordings.recording_versions import migrate
from cuadata.schema import to_json
from cuadata.seeing import pictures
from cuadata.types import SCHEMA_VERSION, Action, Element, Image, Observation, Outcome, Size, Step, Task

__all__ = ["Writer", "check_free", "create", "find", "migrate", "read", "read_all", "read_header", "resume"]


def create(
    folder: str | Path,
    *,
    id: str,
    instruction: str,
    source: str,
    task: Task | None = None,
    viewport: Size = Size(1280, 720),
    device_pixel_ratio: float = 1.0,
    browser: str = "",
    site: str = "",
    notes: tuple[str, ...] = (),
) -> Writer:
    """Begin a recording in a new folder. DataError where the folder exists, is locked, or cannot be written."""
    path = Path(folder)
    header = Header(
        schema_version=SCHEMA_VERSION,
        id=id,
        instruction=instruction,
        source=source,
        task=task,
        viewport=viewport,
        device_pixel_ratio=device_pixel_ratio,
        browser=browser,
        site=site,
        recorder=f"cuadata {__version__}",
        notes=notes,
    )
    if not id:
        raise DataError("a recording needs an id", place=str(path))
    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        raise recording_files.said(error, str(path), "the folder cannot be made") from error
    try:
        recording_lock.take(path)
        (path / recording_files.BLOBS).mkdir()
        recording_files.write_whole(path / recording_files.HEADER, to_json(header))
        (path / recording_files.STEPS).touch()
        recording_files.sync_folder(path)
    except OSError as error:
        shutil.rmtree(path, ignore_errors=True)  # it is this call's own: nobody can have begun in it
        raise recording_files.said(error, str(path), "the recording cannot be begun") from error
    return Writer(path, header.id, count=0, last_time=None)


def check_free(folder: str | Path) -> None:
    """Whether a recording can begin in this folder, asked before anything dear is begun. DataError where something is there."""
    if Path(folder).exists():
        raise _taken(Path(folder))


def _taken(path: Path) -> DataError:
    held = recording_lock.holder(path) if path.is_dir() else None
    if held is None:
        why = "it exists already"
    elif recording_lock.lives(held) is False:
        why = f"it was left open by {held}, which runs no more, and can be read as it stands"
    else:
        why = f"{held} holds it"
    return DataError(f"{why}; a recording begins in a folder of its own", place=str(path))


def resume(folder: str | Path, *, take_over: bool = False) -> Writer:
    """Go on with a recording that was interrupted; a torn last line is cut off.

    DataError where a living process holds it, where a dead one does and `take_over` is False, and where it has ended.
    """
    path = Path(folder)
    header = read_header(path)
    if (path / recording_files.OUTCOME).exists():
        raise DataError("it has ended; a new attempt is a new recording", place=str(path))
    recording_lock.take(path, take_over=take_over)
    try:
        read_back = read(path, pictures=False)
        recording_lines.cut_torn(path / recording_files.STEPS, len(read_back.steps))
    except BaseException:
        recording_lock.release(path)
        raise
    last = read_back.steps[-1] if read_back.steps else None
    return Writer(path, header.id, count=last.index + 1 if last else 0, last_time=last.time if last else None)


@dataclass(frozen=True, slots=True)
class _Last:
    """What was added last, so that it can be taken back."""

    start: int  # where its line begins, bytes
    time_before: float | None


class Writer:
    """Appends steps to a recording. A context manager: left by an error, it notes the error as the outcome."""

    def __init__(self, path: Path, id: str, *, count: int, last_time: float | None) -> None:
        self.path = path
        self.id = id
        self._count = count
        self._last_time = last_time
        self.open = True
        self._stored: dict[str, Image] = {}
        self._packed: tuple[tuple[Element, ...], str] | None = None
        self._known: dict[bytes, Element] = {}
        self._lines: dict[int, tuple[Element, bytes]] = {}
        self._new: list[Path] = []
        self._blobs = Blobs()
        self._last: _Last | None = None
        self._steps = open(path / recording_files.STEPS, "ab", buffering=0)  # noqa: SIM115 - held until close
        self._end = self._steps.seek(0, os.SEEK_END)

    def __len__(self) -> int:
        """How many steps are on the disk."""
        return self._count

    def add(self, step: Step) -> None:
        """Store a step: its blobs first, then its line, both flushed to the disk before this returns.

        DataError, naming the recording and the step, where the step is not the next one, its time goes back, a picture
        is not what its record says, or the disk takes no more; what was stored before stays whole.
        """
        place = f"{self.path}, step {step.index}"
        self._check(step, place)
        self._new = []
        try:
            before = self._bare(step.observation, place)
            later = None if step.after is None else self._bare(step.after, place)
            line = Line(
                step=replace(
                    step, action=_masked(step.action), target=_measured(step, place), observation=before, after=later
                ),
                elements=self._elements(step.observation.elements, place),
                elements_after=None if step.after is None else self._elements(step.after.elements, place),
            )
            text = recording_lines.to_bytes(line, place)
            self._blobs.finish(self._new)
            if self._new:
                recording_files.sync_folder(self.path / recording_files.BLOBS)
            start = self._append(text + b"\n")
        except BaseException as error:
            self._forget()
            if isinstance(error, OSError):
                would = (
                    f"the {self._count} steps before it are whole; make room, or record into a folder on another disk"
                )
                raise recording_files.said(error, place, "the step cannot be stored", would) from error
            raise
        self._last = _Last(start, self._last_time)
        self._count, self._last_time = step.index + 1, step.time

    def drop_last(self) -> None:
        """Take back the step that was added last, with the pictures and elements that no other step has.

        For a person who wants a step forgotten on the spot. DataError where this writer has added none, or has dropped
        it already.
        """
        if self._last is None or not self.open:
            raise DataError("there is no step to take back", place=str(self.path))
        last, self._last = self._last, None
        self._steps.truncate(last.start)
        self._end = last.start
        os.fsync(self._steps.fileno())
        self._sweep()
        self._stored = {name: held for name, held in self._stored.items() if self._has(held)}
        self._packed = None
        self._count, self._last_time = self._count - 1, last.time_before

    def drop_all(self) -> None:
        """Take back every step with its pictures and elements: a person discards the attempt."""
        if not self.open:
            raise DataError("the recording is closed", place=str(self.path))
        self._steps.truncate(0)
        os.fsync(self._steps.fileno())
        for path in (self.path / recording_files.BLOBS).iterdir():
            path.unlink()
        self._end, self._count, self._last, self._last_time = 0, 0, None, None
        self._stored, self._packed = {}, None

    def texts(self) -> Iterator[str]:
        """Everything that is stored as text: the header, the lines of the steps, the elements that they name."""
        for name in (recording_files.HEADER, recording_files.STEPS):
            with open(self.path / name, encoding="utf-8") as file:
                yield from file
        for path in sorted((self.path / recording_files.BLOBS).glob("*.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                yield from file

    def rewrite(self, change: Callable[[Any], Any]) -> int:
        """Store the header and every step again as `change` makes them; how many steps are other ones now.

        `change` gives back the same object where nothing is to be done. What no step names any more is deleted. The old
        steps stand until all new ones are on the disk. DataError and disk errors as `add`.
        """
        header = read_header(self.path)
        if (clean := change(header)) is not header:
            recording_files.write_whole(self.path / recording_files.HEADER, to_json(clean))
        held = read(self.path).steps
        changed = [change(step) for step in held]
        count = sum(new is not old for new, old in zip(changed, held, strict=True))
        if count:
            self._replace_steps(changed)
        return count

    def _replace_steps(self, steps: Sequence[Step]) -> None:
        fresh = self.path / f"{recording_files.STEPS}.new"
        before = self._steps, self._end, self._count, self._last, self._last_time
        self._steps = open(fresh, "wb", buffering=0)  # noqa: SIM115 - held until close
        self._end, self._count, self._last, self._last_time = 0, 0, None, None
        try:
            for step in steps:
                self.add(step)
        except BaseException:
            self._steps.close()
            self._steps, self._end, self._count, self._last, self._last_time = before
            fresh.unlink(missing_ok=True)
            self._sweep()
            raise
        before[0].close()
        fresh.replace(self.path / recording_files.STEPS)
        recording_files.sync_folder(self.path)
        self._sweep()

    def _sweep(self) -> None:
        """Delete the blobs that no stored step names."""
        named = {
            path
            for line in recording_lines.each(self.path / recording_files.STEPS)
            for path in recording_files.blobs_of(self.path, line)
        }
        for path in (self.path / recording_files.BLOBS).iterdir():
            if path not in named:
                path.unlink()
        self._stored = {name: one for name, one in self._stored.items() if self._has(one)}
        self._packed = None

    def close(self, outcome: Outcome, *, instruction: str | None = None, notes: tuple[str, ...] = ()) -> None:
        """End the recording and give the lock back. `instruction` is what was asked, where it was said only later."""
        if not self.open:
            return
        self.open = False
        self._blobs.close()
        ending = Ending(outcome=outcome, instruction=instruction, notes=notes, steps=self._count)
        try:
            self._steps.close()
            recording_files.write_whole(self.path / recording_files.OUTCOME, to_json(ending))
            recording_files.sync_folder(self.path)
        except OSError as error:
            raise recording_files.said(error, str(self.path), "the outcome cannot be stored") from error
        finally:
            recording_lock.release(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(recording_files.outcome_of(error))

    def _check(self, step: Step, place: str) -> None:
        if not self.open:
            raise DataError("the recording is closed", place=place)
        if step.index != self._count:
            raise DataError(f"step {self._count} comes next", place=place)
        if self._last_time is not None and step.time < self._last_time:
            raise DataError(f"its time goes back, from {self._last_time} to {step.time} s", place=place)

    def _bare(self, observation: Observation, place: str) -> Observation:
        """The observation without its elements, and with addresses whose passwords and tokens are masked."""
        shot = observation.screenshot
        return replace(
            observation,
            elements=(),
            screenshot=None if shot is None else self._picture(shot, place),
            url=privacy.mask_url(observation.url),
            pages=tuple(replace(page, url=privacy.mask_url(page.url)) for page in observation.pages),
        )

    def _picture(self, picture: Image, place: str) -> Image:
        """The description of a picture whose bytes are on the disk, checked and hashed the first time it comes."""
        held = self._stored.get(picture.sha256)
        if held is not None and (held.width, held.height) == (picture.width, picture.height):
            return held
        try:
            data = image.read(picture)
            found = image.from_bytes(data, phash=False, keep=False)
            if not (picture.phash and picture.colours):
                pictures.load(data)  # which says whether it can be read, and is remembered
        except ValueError as error:
            raise DataError(f"the picture cannot be stored: {error}", place=place) from error
        if found.sha256 != picture.sha256:
            raise DataError(f"the picture's bytes are not those of {picture.sha256[:12]}, which it names", place=place)
        if (found.width, found.height) != (picture.width, picture.height):
            raise DataError(
                f"the picture is {found.width}x{found.height} px, its record says {picture.width}x{picture.height}",
                place=place,
            )
        # The disk takes its time meanwhile.
        self._blobs.write(recording_files.picture_path(self.path, found, place), data)
        phash = picture.phash or image.perceptual_hash(pictures.load(data))
        colours = picture.colours or image.colours(pictures.load(data))
        described = replace(found, phash=phash, colours=colours)
        self._stored[described.sha256] = described
        return described

    def _elements(self, elements: tuple[Element, ...], place: str) -> str | None:
        """The name of the blob that holds these elements; None for no elements."""
        if not elements:
            return None
        if self._packed is not None and self._packed[0] is elements:
            return self._packed[1]
        data = recording_files.pack(elements, self._lines)
        try:
            recording_files.unpack(data, self._known)
        except ValueError as error:
            raise DataError(f"its elements cannot be stored: {error}", place=place) from error
        name = recording_files.sha256(data)
        self._blobs.write(recording_files.elements_path(self.path, name, place), data)
        self._packed = (elements, name)
        return name

    def _forget(self) -> None:
        """Take nothing for stored that a step which could not be stored was to bring."""
        with contextlib.suppress(OSError):
            self._blobs.finish(self._new)
        self._stored, self._packed = {}, None

    def _has(self, picture: Image) -> bool:
        return recording_files.picture_path(self.path, picture, str(self.path)).exists()

    def _append(self, text: bytes) -> int:
        """Add a line and flush it; where it begins. Where that fails, what was written of it is cut off again."""
        start = self._end
        with recording_files.naming(self.path / recording_files.STEPS):
            return self._append_at(start, text)

    def _append_at(self, start: int, text: bytes) -> int:
        if self._steps.seek(0, os.SEEK_END) != start:
            self._steps.truncate(start)  # left of a line that could neither be written nor cut off
        try:
            left = memoryview(text)
            while left:
                left = left[self._steps.write(left) or 0 :]
            os.fsync(self._steps.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                self._steps.truncate(start)
            raise
        self._end = start + len(text)
        return start


def _masked(action: Action) -> Action:
    """The action with its address masked, where it has one."""
    return action if action.url is None else replace(action, url=privacy.mask_url(action.url))


def _measured(step: Step, place: str) -> Element | None:
    """The target with how much there is to see at its place, taken now so that nobody has to decode the picture again."""
    target, shot = step.target, step.observation.screenshot
    if target is None or target.bbox is None or target.evidence.spread is not None or shot is None:
        return target
    try:
        levels = ink.spread(pictures.load(shot), target.bbox, step.observation.viewport)
    except image.BadImage as error:
        raise DataError(f"the picture cannot be stored: {error}", place=place) from error
    return replace(target, evidence=replace(target.evidence, spread=levels))
