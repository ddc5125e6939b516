"""docs/recording.md says what the types say, and leaves no record and no file of a recording out."""

from __future__ import annotations

import re
import typing
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated

import pytest
from build_trajectories import checkout, save

from cuadata import reference
from cuadata.errors import DataError
from cuadata.recordings.recording_files import Ending, Header, Line
from cuadata.recordings.recording_lock import Holder
from cuadata.schema import columns

PAGE = Path(__file__).resolve().parent.parent / "docs" / "recording.md"


def test_the_tables_are_those_of_the_types() -> None:
    text = PAGE.read_text()
    assert reference.fill(text) == text, "run `cuadata schema --fill docs/recording.md`"


def reached(kind: type, found: set[str]) -> set[str]:
    """Names of all records that a record holds, itself included."""
    if kind.__name__ in found:
        return found
    found.add(kind.__name__)
    for column in columns(kind):
        for inner in (column.hint, *typing.get_args(column.hint)):
            if isinstance(inner, type) and is_dataclass(inner):
                reached(inner, found)
    return found


def test_every_record_in_a_recording_has_its_table_and_its_heading() -> None:
    text = PAGE.read_text()
    wanted: set[str] = set()
    for kind in (Header, Line, Ending, Holder):
        reached(kind, wanted)
    assert set(re.findall(r"<!-- fields of (\w+) -->", text)) == wanted
    headings = {line.strip("# ").lower() for line in text.splitlines() if line.startswith("#")}
    assert {link.lower() for link in re.findall(r"\]\(#(\w+)\)", text)} <= headings


def test_every_file_of_a_recording_is_named(tmp_path: Path) -> None:
    text = PAGE.read_text()
    path = save(checkout(), tmp_path)
    for file in path.iterdir():
        assert file.name in text
    for blob in (path / "blobs").iterdir():
        assert "SHA256." + blob.name.partition(".")[2] in text


@dataclass(frozen=True)
class Odd:
    """A record with every form."""

    words: Annotated[str, "a | b"]
    sizes: Annotated[tuple[int, ...] | None, "whole"] = None


def test_a_table_escapes_what_would_break_it() -> None:
    assert reference.table(Odd).splitlines()[2:] == [
        "| `words` | text | a \\| b (always there) |",
        "| `sizes` | list of whole number or null | whole |",
    ]
    with pytest.raises(DataError, match="no record is named Nope"):
        reference.fill("<!-- fields of Nope -->\n<!-- end -->")
