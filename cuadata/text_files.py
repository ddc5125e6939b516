"""Text files that others wrote: what is no UTF-8, or no table, is said with the file's name."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cuadata.errors import DataError
from cuadata.types import BBox

#: A field of a table may be as long as a page; the library's own limit, 131072 characters, is for the whole process.
_LONGEST = min(sys.maxsize, 2**31 - 1)


def read(path: Path, *, encoding: str = "utf-8") -> str:
    """The text of a file. OSError as `Path.read_text`; DataError that names the file where it is not in that encoding."""
    try:
        return path.read_text(encoding=encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"it is no text in UTF-8: {error.reason} at byte {error.start}; save it as UTF-8, or give another file",
            place=str(path),
        ) from error


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members, for `json.loads`. ValueError where one is named twice: readers differ in which they take."""
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.80} stands there twice; delete the one that is wrong")
    return held


#: Reads JSON, and refuses an object that names a key twice.
_JSON = json.JSONDecoder(object_pairs_hook=once)


def json_value(text: str) -> Any:
    """What a text of JSON is, NaN taken for a number. ValueError where it is none, or where an object names a key twice."""
    return _JSON.decode(text)


def table(file: Path, wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Place (`file:line`) and columns of every row of a CSV file whose first line names its columns.

    DataError where a column of `wanted` is missing or two have one name, a row has fewer or more fields than there are
    names, or the file is no CSV in UTF-8.
    """
    # The file's own ends of line alone end a row: a separator of Unicode in a text does not.
    lines = io.StringIO(read(file, encoding="utf-8-sig"), newline="")
    before = csv.field_size_limit(_LONGEST)
    rows = csv.DictReader(lines)
    try:
        names = rows.fieldnames or ()
        if lacking := [name for name in wanted if name not in names]:
            raise DataError(f"no column is named {', '.join(lacking)}", place=str(file))
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"two columns are named '{twice[0]:.80}'; delete or rename one", place=str(file))
        for row in rows:
            place = f"{file}:{rows.line_num}"
            if None in row or None in row.values():
                held = sum(value is not None for name, value in row.items() if name is not None)
                came = held + len(row.get(None) or ())
                raise DataError(f"the row has {came} fields, and {len(names)} columns are named", place=place)
            yield place, row
    except csv.Error as error:
        raise DataError(f"it is no CSV: {error}", place=f"{file}:{rows.line_num}") from error
    finally:
        csv.field_size_limit(before)


def box(cell: str, place: str) -> BBox | None:
    """A cell with `[x, y, width, height]` as a box; None for an empty cell.

    DataError for anything else, sides below 0 and numbers that are not finite among it: no point is ever in such a box,
    so that every answer would count as a miss.
    """
    if not cell.strip():
        return None
    try:
        sides = [float(side) for side in json.loads(cell) if not isinstance(side, (bool, str))]
        x, y, width, height = sides
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{cell!r:.60} is no box [x, y, width, height]", place=place) from error
    if not all(map(math.isfinite, sides)) or width < 0 or height < 0:
        raise DataError(f"{cell!r:.60} is no box: finite numbers and sides of 0 px or more are wanted", place=place)
    return BBox(x, y, width, height)
