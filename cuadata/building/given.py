"""Rows that a build is given ready-made: grounding, pairs, recovery and what else others make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from cuadata import schema
from cuadata.building import packing
from cuadata.building.journal import Entry, Journal, Summary
from cuadata.errors import CallError, DataError
from cuadata.rows import CONFIGS, Rejected, Verdict


def take(
    rows: Mapping[str, Iterable[Any]], journal: Journal, number: int, *, keys: Sequence[str], by_bytes: bool = False
) -> Summary:
    """Put rows (of the config's type, or dicts) into the journal as one more piece of input.

    They are not judged: who made them did that. Their splits follow from their own columns, together with all others.
    `by_bytes`: what their pictures look like is not asked for, so a whole PNG is taken as one that decodes. DataError that names config and row where one does not fit its type or holds no picture that decodes.
    """
    unknown = sorted(set(rows) - set(CONFIGS))
    if unknown:
        raise CallError(f"no config is called '{unknown[0]}'; there are: {', '.join(CONFIGS)}")
    seen = hashlib.sha256()
    count = 0

    def entries() -> Iterator[Entry]:
        nonlocal count
        for config, held in rows.items():
            for place, row in enumerate(held):
                made = _entry(config, row, f"{config} given, row {place}", journal, keys, by_bytes)
                seen.update(_without_places(made))
                count += 1
                yield made

    return journal.write(
        number, entries(), lambda: Summary(fingerprint="given", sha256=seen.hexdigest(), entries=count)
    )


def _entry(config: str, row: Any, place: str, journal: Journal, keys: Sequence[str], by_bytes: bool) -> Entry:
    kind = CONFIGS[config]
    try:
        typed = row if isinstance(row, kind) else schema.from_row(row, kind)
        said = {"verdict": _verdict(typed)} if isinstance(typed, Rejected) else {}
        made = packing.entry(config, typed, packing.Store(journal, by_bytes=by_bytes), keys=keys, place=place, **said)
    except (ValueError, OSError) as error:
        raise DataError(str(error), place=place) from error
    if not by_bytes and any(not picture.phash for picture in made.pictures):
        raise DataError("its picture does not decode", place=place)
    return made


def _without_places(made: Entry) -> bytes:
    """The row's JSON without the folders that its pictures lie in, which say nothing of it."""
    row = bytes(made.row)
    for picture in made.pictures:
        row = row.replace(msgspec.json.encode(picture.path), b"null")
    return row


def _verdict(row: Rejected) -> Verdict:
    """Why a row that is given as rejected was, so that it is counted under its reason."""
    return Verdict(gate=row.gate, keep=row.keep, reason=row.reason, evidence=row.evidence, configs=row.configs)
