"""Blocks of rows: which pages each one is to make, after a plan that covers the axes, and what it made, on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import msgspec

from cuadata import image
from cuadata.generating import spatial_plan
from cuadata.generating.spatial_balance import State
from cuadata.rows import Grounding, Pair, Rejected
from cuadata.types import Image, Size

#: Axes of each family that the plan covers in pairs.
AXES: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "shapes": {
        "layout": ("grid", "row", "column", "scatter", "ring", "nested", "overlap", "rim"),
        "theme": ("light", "dark", "paper", "faint"),
        "count": (5, 8, 12, 16),
        "size": (18, 30, 48, 72),
        "forms": (2, 3, 4),
    },
    "widgets": {
        "layout": ("toolbar", "form", "table", "cards", "list", "tree", "calendar", "menu", "keypad", "settings"),
        "theme": ("paper", "slate", "sand", "mint", "mono", "lilac"),
        "language": ("en", "de", "fr", "ru", "ar"),
        "density": ("tight", "usual", "airy"),
    },
}
VIEWPORTS: Final = (Size(1280, 720), Size(1024, 768), Size(1440, 900))
#: Rows of one block, and pages after which a block gives up on its rows.
BLOCK: Final = 100
#: Blocks that are made one after the other, each going on from the balance of the one before: what a block alone cannot
#: bring back to chance, with five questions of a stage, four can. More would leave less to do at once.
CHAIN: Final = 4
MOST_PAGES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one block is asked for."""

    number: int
    rows: int
    seed: int
    infeasible: Annotated[float, "share of rows whose right answer is infeasible"]
    pairs: Annotated[float, "perturbed pairs for one row of `grounding`"]
    folder: str
    elements: Annotated[bool, "rows keep the page's elements, for models that read it"] = False
    goes_on: Annotated[bool, "from the balance of the block before, which lies in the folder"] = False

    @property
    def viewport(self) -> Size:
        """The viewport of all its pages."""
        return VIEWPORTS[self.number % len(VIEWPORTS)]

    def page(self, place: int) -> tuple[str, int, dict[str, Any]]:
        """Family, seed and axes of its page at a place."""
        planned = plan(self.seed)
        number = self.number * MOST_PAGES + place
        family, axes = planned[(self.number * 37 + place) % len(planned)]
        return family, self.seed * 1_000_000 + number, axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What a block made; pictures lie in the folder of blobs."""

    grounding: tuple[Grounding, ...]
    pairs: tuple[Pair, ...]
    rejected: tuple[Rejected, ...]
    counts: Annotated[dict[str, int], "pages, renders, rows short of what was asked, tries that came to nothing"]
    browser: str
    balance: Annotated[State, "of its questions and those of the blocks that it goes on from"]


@cache
def plan(seed: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Family and axes of page after page, over and over: both families' covering plans, as many pages of each."""
    plans = {name: spatial_plan.covering(axes, seed) for name, axes in AXES.items()}
    longest = max(map(len, plans.values()))
    rows = [(name, rows[n % len(rows)]) for name, rows in plans.items() for n in range(longest)]
    Random(f"spatial/plan/{seed}").shuffle(rows)
    return tuple(rows)


def path(folder: str | Path, number: int) -> Path:
    """Where a finished block lies."""
    return Path(folder) / f"{number:06d}.json"


def read(folder: str | Path, number: int) -> Block:
    """A finished block."""
    return msgspec.json.decode(path(folder, number).read_bytes(), type=Block)


def write(folder: str | Path, number: int, made: Block) -> None:
    """Put a block into the folder, its pictures first, whole or not at all."""
    stored = replace(
        made, grounding=tuple(_stored(folder, made.grounding)), pairs=tuple(_stored(folder, made.pairs))
    )  # fmt: skip
    _put(path(folder, number), msgspec.json.encode(stored))


def _stored(folder: str | Path, rows: Sequence[Any]) -> list[Any]:
    """Rows whose pictures lie on disk."""
    held = []
    for row in rows:
        changed = {"transformed": _picture(folder, row.transformed)} if isinstance(row, Pair) else {}
        held.append(replace(row, image=_picture(folder, row.image), **changed))
    return held


def _picture(folder: str | Path, picture: Image) -> Image:
    file = Path(folder) / "blobs" / f"{picture.sha256}.{picture.format}"
    if picture.path is None and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        _put(file, image.read(picture))
    return replace(picture, data=None, path=str(file))


def _put(file: Path, data: bytes) -> None:
    half = file.with_suffix(f".{os.getpid()}.half")
    half.write_bytes(data)
    os.replace(half, file)
