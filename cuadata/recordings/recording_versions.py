"""Versions of the recording format: which are read, and how an older one becomes the present one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from cuadata.errors import DataError
from cuadata.recordings import recording_files, recording_lock
from cuadata.types import SCHEMA_VERSION

Record = dict[str, Any]


def check_version(header: bytes, place: str) -> None:
    """DataError unless a header is of the present version; the words say which it is and what would do."""
    version = _version(_decode(header, place), place, assume=None)
    if version < SCHEMA_VERSION:
        raise DataError(
            f"it is of version {version}, this release reads {SCHEMA_VERSION}; "
            f"migrate it with `cuadata edit migrate {place}`",
            place=place,
        )


def migrate(folder: str | Path, *, assume: int | None = None) -> bool:
    """Bring a recording to the present version, in place; False where it is of that version already.

    `assume` is the version of a recording that does not say its own. Safe to interrupt and to run again: a record that
    was moved on already stays as it is, and the header, which states the version, is written last. DataError for a
    newer version, an unknown one, and a recording that is being written.
    """
    path = Path(folder)
    place = str(path)
    file = path / recording_files.HEADER
    header = _decode(
        recording_files.kept(partial(recording_files.bytes_of, file), place, recording_files.HEADER), place
    )
    version = _version(header, place, assume=assume)
    if version == SCHEMA_VERSION and "schema_version" in header:
        return False
    recording_lock.take(path)
    try:
        _migrate_steps(path, version)
        for one in range(version, SCHEMA_VERSION):
            header = MIGRATIONS[one](header)
        header = {"schema_version": SCHEMA_VERSION, **{k: v for k, v in header.items() if k != "schema_version"}}
        recording_files.write_whole(file, msgspec.json.encode(header))
        recording_files.sync_folder(path)
    except OSError as error:
        raise recording_files.said(error, place, "the recording cannot be migrated") from error
    finally:
        recording_lock.release(path)
    return True


def migrate_record(record: Record, *, assume: int | None = None, place: str = "record") -> Record:
    """One record that states its own `schema_version`, brought to the present one. Pure; twice is as good as once."""
    version = _version(record, place, assume=assume)
    for one in range(version, SCHEMA_VERSION):
        record = MIGRATIONS[one](record)
    return {**record, "schema_version": SCHEMA_VERSION}


def _migrate_steps(path: Path, version: int) -> None:
    file = path / recording_files.STEPS
    lines = file.read_bytes().split(b"\n")
    moved = []
    for number, line in enumerate(lines):
        try:
            record = msgspec.json.decode(line)
        except msgspec.DecodeError:
            if number >= len(lines) - 2:  # a torn last line is left to the reader, who says so
                moved.append(line)
                continue
            raise DataError("its line is no JSON", place=f"{path}, step {number}") from None
        for one in range(version, SCHEMA_VERSION):
            record = MIGRATIONS[one](record)
        moved.append(msgspec.json.encode(record))
    recording_files.write_whole(file, b"\n".join(moved))


def _decode(text: bytes, place: str) -> Record:
    try:
        return msgspec.json.decode(text, type=Record)
    except msgspec.DecodeError as error:
        raise DataError(f"{recording_files.HEADER} is no JSON object: {error}", place=place) from error


def _version(record: Record, place: str, *, assume: int | None) -> int:
    version = record.get("schema_version", assume)
    if version is None:
        raise DataError(
            f"it states no schema_version; this release reads {SCHEMA_VERSION}; say which it is with "
            "`cuadata edit migrate FOLDER --assume N`, or `assume=N` in Python",
            place=place,
        )
    if isinstance(version, bool) or not isinstance(version, int):
        raise DataError(f"its schema_version is {version!r:.40}, which is no whole number", place=place)
    if version > SCHEMA_VERSION:
        raise DataError(
            f"it is of version {version}, newer than this release, which reads up to {SCHEMA_VERSION}; upgrade cuadata",
            place=place,
        )
    if version < min(MIGRATIONS):
        raise DataError(f"it is of version {version}, which no release has written", place=place)
    return version


def _from_corners(value: Any) -> Any:
    """Version 0 wrote a box as its corners, [left, top, right, bottom]; anything else stays as it is."""
    if isinstance(value, dict):
        return {key: _box(inner) if key in ("bbox", "region") else _from_corners(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_from_corners(inner) for inner in value]
    return value


def _box(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 4:
        left, top, right, bottom = value
        return {"x": left, "y": top, "width": right - left, "height": bottom - top}
    return _from_corners(value)


#: Version -> what moves a record of it to the next one. Each leaves a record that was moved already as it is.
MIGRATIONS: dict[int, Callable[[Record], Record]] = {0: _from_corners}
