"""The last part of a build that takes time: rows from the journal, with their pictures, into one shard."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated

import msgspec

from cuadata import image, schema
from cuadata.building import batches, mixing, shards, work
from cuadata.building.batches import Packed
from cuadata.building.journal import Entry, Journal
from cuadata.building.planning import DUPLICATE, Shard
from cuadata.errors import DataError
from cuadata.judging.judging import as_json
from cuadata.rows import CONFIGS, Example, Rejected
from cuadata.types import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """A shard for a worker to write."""

    shard: Shard
    folder: Annotated[str, "folder of the build in progress"]
    row_group_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of the dataset."""

    path: Annotated[str, "from the dataset's folder on"]
    rows: int
    bytes: int
    sha256: str


def write(job: ShardJob) -> File:
    """Write one shard under its final name in the folder of the build in progress."""
    journal = Journal(Path(job.folder))
    target = journal.made / job.shard.name
    target.parent.mkdir(exist_ok=True)
    stem = f".{target.stem}"
    with shards.Writer(
        schema.arrow_schema(CONFIGS[job.shard.config]),
        target.parent,
        stem,
        row_group_bytes=job.row_group_bytes,
        shard_bytes=2**63,
        pack=batches.of_json,
    ) as writer:
        for row, size in work.ahead(functools.partial(_row, job.shard), enumerate(_entries(journal, job.shard))):
            writer.add(row, size=size)
        (made,) = writer.close()
    made.replace(target)
    with open(target, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return File(path=job.shard.name, rows=len(job.shard.rows), bytes=target.stat().st_size, sha256=sha256)


def _entries(journal: Journal, shard: Shard) -> Iterator[Entry]:
    """The shard's entries, each piece of the journal read once."""
    for part, places in groupby(range(len(shard.rows)), key=lambda place: shard.parts[place]):
        wanted = {shard.rows[place] for place in places}
        for row, entry in enumerate(journal.entries(part)):
            if row in wanted:
                yield entry


def _row(shard: Shard, placed: tuple[int, Entry]) -> tuple[Packed, int]:
    """The row at a place of the shard, and its size in bytes.

    As JSON a row holds the name of every field, so that its size there is not below that in Parquet.
    """
    place, entry = placed
    if shard.config != "rejected":
        return _kept(entry, shard), entry.size
    row = _rejected(entry, shard, place)
    thumbnail = None if row.thumbnail is None else _shown(row.thumbnail)
    packed = Packed(schema.to_json(replace(row, thumbnail=None)), {"thumbnail": thumbnail})
    return packed, len(packed.json) + (len(thumbnail[0]) if thumbnail is not None else 0)


def _kept(entry: Entry, shard: Shard) -> Packed:
    """The row as it lies in the journal, with the bytes of its pictures, checked against their sha256."""
    texts = {"split_group": shard.groups.get(entry.trajectory_id, "")}
    if shard.config == mixing.NAME:
        texts["config"] = entry.config
    names = schema.pictures(CONFIGS[shard.config])
    if len(entry.pictures) < len(names):
        raise DataError(f"the row has {len(entry.pictures)} pictures; wanted {', '.join(names)}", place=entry.place)
    try:
        # Of a row with two pictures a mixture shows the first.
        pictures = dict(zip(names, map(_shown, entry.pictures), strict=False))
    except (ValueError, OSError) as error:
        raise DataError(f"{error}; it was whole when the build began", place=entry.place) from error
    return Packed(bytes(entry.row), pictures, texts)


def _shown(picture: Image) -> tuple[bytes, str]:
    """A picture's bytes and its name in the dataset."""
    return image.read(picture), f"{picture.sha256}.{picture.format}"


def _rejected(entry: Entry, shard: Shard, place: int) -> Rejected:
    if "image" not in msgspec.json.decode(entry.row):  # given ready-made, not an example of this build
        return schema.from_json(bytes(entry.row), Rejected)
    example = schema.from_json(bytes(entry.row), Example)
    verdict = entry.verdict
    first = shard.firsts.get(place)
    return Rejected(
        id=example.id,
        trajectory_id=example.trajectory_id,
        step_index=example.step_index,
        gate=verdict.gate if verdict is not None else DUPLICATE,
        keep=verdict.keep if verdict is not None else "no",
        reason=(verdict.reason or "") if verdict is not None else DUPLICATE,
        evidence=verdict.evidence if verdict is not None else as_json({"first": first}),
        configs=verdict.configs if verdict is not None else (),
        instruction=example.instruction,
        action=example.action,
        target=example.target,
        phase=example.phase,
        viewport_width=example.viewport_width,
        viewport_height=example.viewport_height,
        also=entry.also,
        thumbnail=_thumbnail(entry.pictures[0]) if place in shard.thumbnails else None,
        place=entry.place,
    )


def _thumbnail(picture: Image) -> Image | None:
    """A small picture; None where the picture does not decode."""
    try:
        return image.from_bytes(image.thumbnail(image.read(picture)), phash=False)
    except image.BadImage:
        return None
