"""Datasets on disk: rows of any dataclass into Parquet that the Hub and `datasets` read, and back as a stream of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuadata import schema
from cuadata.building import folders, shards
from cuadata.building.card import render as card
from cuadata.building.shards import ROW_GROUP_BYTES, SHARD_BYTES
from cuadata.building.splits import assign as assign_splits
from cuadata.building.splits import leaks
from cuadata.errors import CallError, DataError
from cuadata.rows import CONFIGS

__all__ = ["assign_splits", "card", "configs", "leaks", "open_rows", "opened", "read", "take", "write"]

_SHARD = re.compile(r"(?P<split>\w+(?:\.\w+)*)-\d{5}-of-\d{5}\.parquet")


def write(
    rows: Iterable[Any],
    kind: type,
    out: Path | str,
    *,
    name: str = "train",
    row_group_bytes: int = ROW_GROUP_BYTES,
    shard_bytes: int = SHARD_BYTES,
    force: bool = False,
) -> list[Path]:
    """Write rows of a dataclass as `out`/NAME-00000-of-0000N.parquet; the paths.

    Rows are instances of `kind`, or dicts: missing fields take their defaults, whole numbers become floats where floats
    are wanted, and pictures (`Image`) may be bytes, paths or `{bytes, path}`, in lists and nested dataclasses too. Their
    bytes go in untouched. Every shard has the schema of `kind`, also where a column holds nothing but nulls. Row groups
    hold at most `row_group_bytes` before compression, unless a single row is larger. The same rows give the same bytes.

    The files appear together when all rows are written; after an error there is none of them. ValueError that names row
    and field for a value that does not fit. CallError where shards of that name exist, unless `force` replaces them.
    """
    out = Path(out)
    _check(out, name, row_group_bytes, shard_bytes)
    held = [path for path in _shards(out) if path.name.startswith(f"{name}-")]
    if held and not force:
        raise CallError(f"{held[0]} is there already; give another name or folder, or force=True to replace it")
    with (
        folders.disk_errors(out),
        folders.files_into(out, replaces=held) as made,
        shards.Writer(
            schema.arrow_schema(kind), made, name, row_group_bytes=row_group_bytes, shard_bytes=shard_bytes
        ) as writer,
    ):
        for row in shards.plain_rows(rows, kind):
            writer.add(row)
        files = writer.close()
    return [out / file.name for file in files]


def _check(out: Path, name: str, row_group_bytes: int, shard_bytes: int) -> None:
    if not re.fullmatch(r"\w+(\.\w+)*", name):
        raise CallError(f"'{name}' is no name for a split; use letters, digits and _: train, validation, test")
    if row_group_bytes < 1 or shard_bytes < 1:
        raise CallError(
            f"row groups of {row_group_bytes} and shards of {shard_bytes} bytes hold nothing; give 1 or more"
        )
    if out.exists() and not out.is_dir():
        raise CallError(f"{out} is a file; give the name of a folder")


def _shards(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.parquet") if _SHARD.fullmatch(path.name))


def configs(folder: Path | str) -> dict[str, dict[str, list[Path]]]:
    """Config -> split -> shards of a dataset folder, as their names say; a folder of shards itself is config "".

    DataError where there are none.
    """
    folder = Path(folder)
    found: dict[str, dict[str, list[Path]]] = {}
    for place in [folder, *sorted(path for path in folder.glob("*") if path.is_dir())]:
        for path in _shards(place):
            match = _SHARD.fullmatch(path.name)
            assert match is not None
            config = "" if place == folder else place.name
            found.setdefault(config, {}).setdefault(match["split"], []).append(path)
    if not found:
        raise DataError(
            "no shard of a dataset is in it, such as actions/train-00000-of-00001.parquet", place=str(folder)
        )
    return found


def open_rows(
    folder: Path | str,
    config: str = "",
    split: str = "train",
    *,
    batch: int = 16,
    columns: Sequence[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of one split as dicts, in order, `batch` at a time; pictures are `{bytes, path}`.

    `columns`: only these, as in Parquet: `action.type`. CallError for a config or split that there is not.
    """
    for path in _paths(folder, config, split):
        with opened(path) as file:
            for some in file.iter_batches(batch_size=batch, columns=columns):
                yield from some.to_pylist()


def _paths(folder: Path | str, config: str, split: str) -> list[Path]:
    """The shards of a split. CallError for a config or split that there is not."""
    found = configs(folder)
    if config not in found:
        raise CallError(f"{folder} has no config '{config}'; there are: {', '.join(map(repr, found))}")
    if split not in found[config]:
        raise CallError(f"config '{config}' has no split '{split}'; there are: {', '.join(found[config])}")
    return found[config][split]


def take(folder: Path | str, config: str, split: str, numbers: Collection[int]) -> dict[int, dict[str, Any]]:
    """Some rows of a split by their numbers; only the row groups that hold them are read. Numbers beyond the end are left out."""
    found: dict[int, dict[str, Any]] = {}
    first = 0
    for path in _paths(folder, config, split):
        with opened(path) as file:
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                here = sorted(number for number in numbers if first <= number < first + count)
                if here:
                    table = file.read_row_group(group).take([number - first for number in here])
                    found.update(zip(here, table.to_pylist(), strict=True))
                first += count
    return found


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A shard as `pyarrow.parquet.ParquetFile`. DataError where it is cut off or none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"it does not open: {error}", place=str(path)) from error
    with file:
        yield file


def read(folder: Path | str, config: str = "actions", split: str = "train", kind: type | None = None) -> Iterator[Any]:
    """The rows of one split as instances of `kind`, by default the config's own type. DataError where one does not fit."""
    wanted = kind or CONFIGS.get(config)
    if wanted is None:
        raise CallError(f"config '{config}' is none of cuadata's; say of which dataclass its rows are: kind=...")
    for number, row in enumerate(open_rows(folder, config, split)):
        try:
            yield schema.from_stored(row, wanted)
        except ValueError as error:
            raise DataError(str(error), place=f"{folder}, {config}/{split}, row {number}") from error
