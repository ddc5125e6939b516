"""docs/dataset.md says what the types say, and leaves no config and no record out."""

from __future__ import annotations

import re
import typing
from dataclasses import is_dataclass
from pathlib import Path

from cuadata import reference
from cuadata.building.card import CONFIGS as ON_THE_CARD
from cuadata.rows import CONFIGS
from cuadata.schema import columns
from cuadata.types import Image

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dataset.md"


def test_the_tables_are_those_of_the_types() -> None:
    text = PAGE.read_text()
    assert reference.fill(text) == text, "run `cuadata schema --fill docs/dataset.md`"


def test_every_config_and_every_record_in_it_is_described() -> None:
    text = PAGE.read_text()
    headings = {line.strip("# ").lower() for line in text.splitlines() if line.startswith("#")}
    assert set(CONFIGS) - {"point_only"} <= headings and "`point_only`" in text
    wanted: set[str] = set()
    for kind in CONFIGS.values():
        reach(kind, wanted)
    assert {name.lower() for name in wanted} <= headings | {kind.__name__.lower() for kind in CONFIGS.values()}
    assert {link.lower() for link in re.findall(r"\]\(#(\w+)\)", text)} <= headings
    assert set(ON_THE_CARD) == set(CONFIGS)


def reach(kind: type, found: set[str]) -> None:
    """Names of all records that a row holds; a picture's own fields are not in a row."""
    if kind.__name__ in found:
        return
    found.add(kind.__name__)
    for column in columns(kind):
        for inner in (column.hint, *typing.get_args(column.hint)):
            if isinstance(inner, type) and is_dataclass(inner):
                if inner is Image:
                    found.add("Image")
                else:
                    reach(inner, found)


def test_only_the_fields_beyond_the_shared_ones_are_listed() -> None:
    chunk = reference.table(CONFIGS["chunks"], CONFIGS["actions"])
    assert "`confidence`" in chunk and "`instruction`" not in chunk
