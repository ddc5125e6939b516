"""Which rows of a build repeat an earlier one: one claim, and the same pixels under whatever bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cuadata import image
from cuadata.building.journal import Entry, Journal
from cuadata.building.work import Workers

#: Goes through the entries in order, with the number of the piece that each is from.
Walk = Callable[[], Iterator[tuple[int, Entry]]]


@dataclass(frozen=True, slots=True)
class _Job:
    folder: str
    part: int
    pictures: frozenset[str]


def find(walk: Walk, journal: Journal, workers: Workers) -> dict[str, str]:
    """Ids of rows that repeat an earlier one, each with the id of the first, in the order of the walk.

    Pictures are decoded only where rows with one claim have pictures of other bytes; the workers do it.
    """
    pixels = _pixels(walk, journal, workers)
    first: dict[tuple[bytes, bytes], str] = {}
    found: dict[str, str] = {}
    for _, entry in _claiming(walk):
        picture = bytes.fromhex(entry.pictures[0].sha256)
        key = _claim(entry), pixels.get(picture, picture)
        if key in first:
            found[entry.id] = first[key]
        else:
            first[key] = entry.id
    return found


def _claiming(walk: Walk) -> Iterator[tuple[int, Entry]]:
    return ((part, entry) for part, entry in walk() if entry.unique is not None and entry.verdict is None)


def _claim(entry: Entry) -> bytes:
    return hashlib.sha256((entry.unique or "").encode()).digest()[:16]


def _pixels(walk: Walk, journal: Journal, workers: Workers) -> dict[bytes, bytes]:
    """sha256 of a picture -> hash of its pixels, for the pictures of claims that have more than one."""
    shown: dict[bytes, bytes] = {}
    contested: set[bytes] = set()
    for _, entry in _claiming(walk):
        claim = _claim(entry)
        if shown.setdefault(claim, bytes.fromhex(entry.pictures[0].sha256)) != bytes.fromhex(entry.pictures[0].sha256):
            contested.add(claim)
    del shown
    if not contested:
        return {}
    wanted: dict[int, set[str]] = {}
    seen: set[bytes] = set()
    for part, entry in _claiming(walk):
        picture = entry.pictures[0].sha256
        if _claim(entry) in contested and bytes.fromhex(picture) not in seen:
            seen.add(bytes.fromhex(picture))
            wanted.setdefault(part, set()).add(picture)
    jobs = (_Job(str(journal.folder), part, frozenset(names)) for part, names in wanted.items())
    found: dict[bytes, bytes] = {}
    for hashes in workers.map(_hashes, jobs):
        found.update(hashes)
    return found


def _hashes(job: _Job) -> dict[bytes, bytes]:
    """Pixel hashes of some pictures of one piece."""
    found: dict[bytes, bytes] = {}
    for entry in Journal(Path(job.folder)).entries(job.part):
        for picture in entry.pictures:
            key = bytes.fromhex(picture.sha256)
            if picture.sha256 in job.pictures and key not in found:
                found[key] = bytes.fromhex(image.pixel_hash(image.rgb(image.read(picture))))
    return found
