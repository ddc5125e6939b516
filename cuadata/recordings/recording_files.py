"""What a recording's folder holds: names of its files, the records in them, and blobs that are written once.

header.json    a `Header`: what was known before the first step
steps.jsonl    a `Line` for each step, appended and flushed to the disk before the next step begins
blobs/         pictures as `SHA256.png` (or jpeg, webp) and elements as `SHA256.jsonl.gz`, each stored once
outcome.json   an `Ending`: how it ended; not there while it runs and where it was interrupted
lock           a `recording_lock.Holder`: only while a process records into it
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from cuadata.errors import DataError, DiskError
from cuadata.schema import from_json, to_json
from cuadata.types import Element, Image, Observation, Outcome, Size, Step, Task

HEADER, STEPS, BLOBS, OUTCOME = "header.json", "steps.jsonl", "blobs", "outcome.json"
#: The elements of one observation may take this many bytes as text; those of a page of 10,000 elements take 9 MB.
MAX_ELEMENTS = 64 * 2**20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FORMAT = re.compile(r"[a-z0-9]{1,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What is known before the first step; it stands in header.json."""

    schema_version: Annotated[int, "version of the format; see `cuadata.types.SCHEMA_VERSION`"]
    id: Annotated[str, "unique in a dataset"]
    instruction: Annotated[str, "what the actor was asked to do; the ending may hold a later wording"]
    source: Annotated[str, "who or what acted: person, script, oracle, the name of a policy or of a source"]
    viewport: Annotated[Size, "CSS px, at the start"]
    task: Annotated[Task | None, "the task, where there is one"] = None
    device_pixel_ratio: Annotated[float, "image px for one CSS px, at the start"] = 1.0
    browser: Annotated[str, "build and kind of the browser"] = ""
    site: Annotated[str, "host or family of the pages, for splits"] = ""
    recorder: Annotated[str, "version of cuadata that recorded it"] = ""
    notes: Annotated[tuple[str, ...], "what the recorder or the importer had to say at the start"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of steps.jsonl: a step whose pictures are descriptions and whose elements are names of blobs."""

    step: Annotated[Step, "the step; pictures without bytes and path, observations without elements"]
    elements: Annotated[str | None, "sha256 of the blob with the elements before the action; None: there are none"] = (
        None
    )
    elements_after: Annotated[str | None, "sha256 of the blob with the elements after it; None: there are none"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a recording ended; it stands in outcome.json."""

    outcome: Annotated[Outcome, "how it ended"]
    instruction: Annotated[str | None, "what was asked, where it was said or mended later; None: as in the header"] = (
        None
    )
    notes: Annotated[tuple[str, ...], "what the recorder had to say at the end"] = ()
    steps: Annotated[int | None, "how many steps were recorded; None where that was not counted"] = field(default=None)


def outcome_of(error: BaseException | None) -> Outcome:
    """How a recording ended that was left by an error, or with none before an outcome was known."""
    if error is None:
        return Outcome(ended="interrupted", reason="closed before an outcome was known")
    if isinstance(error, DiskError):
        return Outcome(ended="interrupted", reason=str(error)[:500])
    if isinstance(error, Exception):
        return Outcome(ended="error", reason=f"{type(error).__name__}: {error}"[:500])
    return Outcome(ended="interrupted", reason=type(error).__name__)


def picture_path(folder: Path, image: Image, place: str) -> Path:
    """Where a picture's bytes lie. DataError where its record could lead out of the folder."""
    if not _SHA256.fullmatch(image.sha256) or not _FORMAT.fullmatch(image.format):
        raise DataError(f"'{image.sha256[:80]}.{image.format[:20]}' is no name of a picture", place=place)
    return folder / f"{BLOBS}/{image.sha256}.{image.format}"


def elements_path(folder: Path, sha256: str, place: str) -> Path:
    """Where an observation's elements lie. DataError where the name could lead out of the folder."""
    if not _SHA256.fullmatch(sha256):
        raise DataError(f"'{sha256[:80]}' is no sha256 of elements", place=place)
    return folder / f"{BLOBS}/{sha256}.jsonl.gz"


def blobs_of(folder: Path, line: Line) -> Iterator[Path]:
    """The blobs that a line names."""
    place = f"{folder}, step {line.step.index}"
    for observation in (line.step.observation, line.step.after):
        if observation is not None and observation.screenshot is not None:
            yield picture_path(folder, observation.screenshot, place)
    for name in (line.elements, line.elements_after):
        if name is not None:
            yield elements_path(folder, name, place)


def pack(elements: tuple[Element, ...], known: dict[int, tuple[Element, bytes]] | None = None) -> bytes:
    """Elements as a blob, one a line: the same elements give the same bytes, since no time stands in the archive's head.

    `known` remembers the lines of these elements by identity: most of a page is the same objects in the next observation.
    """
    before = {} if known is None else known
    lines: dict[int, tuple[Element, bytes]] = {}
    for element in elements:
        held = before.get(id(element))
        lines[id(element)] = held if held is not None and held[0] is element else (element, to_json(element))
    if known is not None:
        known.clear()
        known.update(lines)
    return gzip.compress(b"\n".join(lines[id(element)][1] for element in elements), compresslevel=1, mtime=0)


def unpack(data: bytes, known: dict[bytes, Element] | None = None) -> tuple[Element, ...]:
    """Elements from a blob; ValueError where it is damaged, or larger than any page's elements.

    `known` remembers elements by their line: most of a page stays as it is from one observation to the next.
    """
    reader = zlib.decompressobj(wbits=31)
    try:
        text = reader.decompress(data, MAX_ELEMENTS)
    except zlib.error as error:
        raise ValueError(f"the archive of elements is damaged: {error}") from error
    if not reader.eof:
        why = f"over the limit of {MAX_ELEMENTS} bytes" if len(text) == MAX_ELEMENTS else "cut off"
        raise ValueError(f"the archive of elements is {why}")
    held = {} if known is None else known
    lines = text.split(b"\n")
    for line in lines:
        if line not in held:
            held[line] = from_json(line, Element)
    return tuple(map(held.__getitem__, lines))


def bare_image(image: Image | None) -> Image | None:
    """A picture's description, without bytes and path."""
    return None if image is None else replace(image, data=None, path=None)


def bare(observation: Observation) -> Observation:
    """An observation as it stands in a line: its elements and its picture's bytes are blobs."""
    return replace(observation, elements=(), screenshot=bare_image(observation.screenshot))


def sha256(data: bytes) -> str:
    """Hex digest that names a blob."""
    return hashlib.sha256(data).hexdigest()


def write_once(path: Path, data: bytes) -> bool:
    """Write a blob under its name unless it is there; whether it was written. It is never seen half written."""
    if path.exists():
        return False
    write_whole(path, data)
    return True


def write_whole(path: Path, data: bytes) -> None:
    """Write or replace a file so that it is there whole or not at all, also after a power cut."""
    half = path.with_name(f"{path.name}.{os.getpid()}.half")
    try:
        with naming(path):
            with open(half, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, path)
    except BaseException:
        with contextlib.suppress(OSError):  # of a disk that is read-only now
            half.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Make names in a folder last; not every system lets a folder be opened."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def said(error: OSError, place: str, what: str, would: str = "") -> DiskError:
    """An error of the disk in words, with the recording and the step, the file where it is known, and what would do."""
    words = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the quota is used up",
        errno.EFBIG: "the file would be larger than allowed",
        errno.EROFS: "the disk is read-only",
        errno.EACCES: "writing is not permitted",
        errno.EPERM: "writing is not permitted",
    }
    why = words.get(error.errno or 0, error.strerror or str(error))
    file = f" ({error.filename})" if isinstance(error.filename, str | os.PathLike) else ""
    return DiskError(f"{what}: {why}{file}{'; ' if would else ''}{would}", place=place)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of the disk names this file, which is what a reader of it knows."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def bytes_of(path: Path) -> bytes:
    """What a file holds. OSError where it is a pipe or a device, which would never end, and where it cannot be read."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    with open(path, "rb", buffering=0) as file:
        return file.read()


def kept(read: Callable[[], bytes], place: str, what: str) -> bytes:
    """Bytes of a file, or a DataError that says which file of which recording is not there."""
    try:
        return read()
    except FileNotFoundError as error:
        raise DataError(f"{what} is not there", place=place) from error
    except OSError as error:
        raise said(error, place, f"{what} cannot be read") from error
