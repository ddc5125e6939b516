"""Rows of a dataset on disk, as the project's own types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cuadata import schema
from cuadata.errors import DataError
from cuadata.rows import CONFIGS

T = TypeVar("T")


def configs(folder: Path) -> list[str]:
    """The configs of a dataset that have files, in the order of `CONFIGS`. DataError where there are none."""
    found = [name for name in CONFIGS if any((folder / name).glob("*.parquet"))] if folder.is_dir() else []
    if not found:
        raise DataError("no config of a dataset is in it; `cuadata build` makes one", place=str(folder))
    return found


def rows(folder: Path, config: str, kind: type[T], *, without: Sequence[str] = ()) -> Iterator[T]:
    """Rows of a config, over its splits in order of their files; `without` are optional columns that are left unread.

    DataError, with the file, where a shard cannot be read or a row is not of this kind.
    """
    for file, held in _read(folder, config, lambda name: name not in without):
        yield _row(held, kind, file)


def columns(folder: Path, config: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Some columns of a config, a mapping a row. DataError, with the file, where a shard cannot be read."""
    return (held for _, held in _read(folder, config, lambda name: name in names))


def _read(folder: Path, config: str, wanted: Callable[[str], bool]) -> Iterator[tuple[Path, dict[str, Any]]]:
    import pyarrow
    from pyarrow import parquet

    for file in sorted((folder / config).glob("*.parquet")):
        try:
            with parquet.ParquetFile(file) as opened:
                names = [name for name in opened.schema_arrow.names if wanted(name)]
                for batch in opened.iter_batches(batch_size=64, columns=names):
                    yield from ((file, one) for one in batch.to_pylist())
        except (OSError, pyarrow.ArrowException) as error:
            raise DataError(f"the shard cannot be read: {error}", place=str(file)) from error


def _row(held: dict[str, Any], kind: type[T], file: Path) -> T:
    try:
        return schema.from_stored(held, kind)
    except ValueError as error:
        raise DataError(str(error), place=f"{file}: row {held.get('id')}") from error
