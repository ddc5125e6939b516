"""The distinct pictures of a build's kept rows, a few dozen bytes each; where one lies is looked up when it is needed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuadata import image, near
from cuadata.journal import Journal
from cuadata.types import Image
from cuadata.work import Workers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Pictures:
    """Pictures by content, numbered as they first appear."""

    def __init__(self, journal: Journal, workers: Workers) -> None:
        self.journal = journal
        self.workers = workers
        self.hashes: list[str] = []
        self._part = array("I")
        self._sha256: list[bytes] = []
        self._place: dict[bytes, int] = {}
        self._small: dict[int, NDArray[np.uint8]] = {}

    def place(self, picture: Image, part: int) -> int:
        """The place of a picture in the list; a new one is added."""
        key = bytes.fromhex(picture.sha256)
        held = self._place.get(key)
        if held is None:
            held = self._place[key] = len(self.hashes)
            self.hashes.append(picture.phash)
            self._part.append(part)
            self._sha256.append(key)
        return held

    def load(self, places: Sequence[int]) -> NDArray[np.uint8]:
        """Small pictures for the near-duplicate check, decoded by the workers, each once."""
        import numpy as np

        fresh = [place for place in places if place not in self._small]
        wanted: dict[int, set[str]] = {}
        for place in fresh:
            wanted.setdefault(self._part[place], set()).add(self._sha256[place].hex())
        found: dict[str, Image] = {}
        for part, names in sorted(wanted.items()):
            for entry in self.journal.entries(part):
                found.update({p.sha256: p for p in entry.pictures if p.sha256 in names})
        pictures = (found[self._sha256[place].hex()] for place in fresh)
        self._small.update(zip(fresh, self.workers.map(_small, pictures), strict=True))
        return np.stack([self._small[place] for place in places])


def _small(picture: Image) -> NDArray[np.uint8]:
    return near.small(image.read(picture))
