"""Rows on their way into the journal: pictures on disk and described, everything else as JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import msgspec

from cuadata import image, schema
from cuadata.building import answers
from cuadata.building.journal import Entry, Journal
from cuadata.types import Image


class Store:
    """Pictures of the rows in hand: bytes on disk and out of memory, with a perceptual hash and their size.

    `by_bytes`: without the hash, and what is neither a whole PNG nor decodes is refused with BadImage.
    """

    def __init__(self, journal: Journal, *, by_bytes: bool = False) -> None:
        self.journal = journal
        self.by_bytes = by_bytes
        self._held: dict[str, tuple[Image, int]] = {}

    def put(self, picture: Image) -> Image:
        """The picture as the journal holds it. Its hash stays empty where it does not decode."""
        return self._put(picture)[0]

    def size(self, picture: Image) -> int:
        """Bytes of the encoded picture."""
        return self._put(picture)[1]

    def _put(self, picture: Image) -> tuple[Image, int]:
        held = self._held.get(picture.sha256)
        if held is None:
            path = picture.path or str(self.journal.keep_picture(picture, image.read(picture)))
            size = len(picture.data) if picture.data is not None else os.path.getsize(path)
            looked_at = _checked(picture) if self.by_bytes else _look(picture)
            held = self._held[picture.sha256] = replace(looked_at, data=None, path=path), size
        return held


def _look(picture: Image) -> Image:
    """The picture with its hash and colours, both empty where it does not decode."""
    try:
        return image.with_looks(picture)
    except image.BadImage:
        return replace(picture, phash="", colours="")


def _checked(picture: Image) -> Image:
    """The picture as it is, or with its looks where only decoding can tell that it is one. Raises BadImage."""
    return picture if image.is_whole(image.read(picture)) else image.with_looks(picture)


def entry(config: str, row: Any, store: Store, *, keys: Sequence[str], place: str, **about: Any) -> Entry:
    """A row as the journal holds it. `keys` are the columns that keep rows together in splits."""
    shown = {
        name: picture
        for name in schema.pictures(cast(Any, type(row)))
        if (picture := getattr(row, name)) is not None and picture.sha256
    }
    stored = {name: store.put(picture) for name, picture in shown.items()}
    packed = schema.to_json(replace(row, **stored))
    shared = tuple(f"{key}={value}" for key in keys if (value := getattr(row, key, "")) not in ("", None))
    return Entry(
        config=config,
        id=row.id,
        trajectory_id=getattr(row, "trajectory_id", row.id),
        keys=shared,
        pictures=tuple(stored.values()),
        size=len(packed) + sum(map(store.size, shown.values())),
        place=place,
        asked=answers.key(row) if config == "actions" else None,
        row=msgspec.Raw(packed),
        **about,
    )
