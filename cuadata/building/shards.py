"""Parquet files bounded in bytes: row groups that a viewer can open, shards that a Hub can take, the same bytes each time.

Pictures go in as they were encoded, without a second compression and without statistics, which would copy them into the
footer. Text columns are compressed with zstd. Content-defined chunking keeps compressed columns alike after an edit, so
it is on for kinds without pictures; beside raw pictures it saves nothing (measured: docs/benchmarks.md).
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cuadata import schema
from cuadata.building import batches

#: The Hub's viewer opens row groups of at most 300 MB; a smaller one costs a reader of single rows less.
ROW_GROUP_BYTES = 64_000_000
SHARD_BYTES = 500_000_000
#: Sizes of content-defined chunks as in `datasets`, so that files of both are cut alike.
_CHUNKING = {"min_chunk_size": 256 * 1024, "max_chunk_size": 1024 * 1024, "norm_level": 0}
#: A page ends at the first check after 1 MiB; with pictures the check comes every few rows, not every 1,024.
_ROWS_BETWEEN_CHECKS = 8
#: Rows are put into Arrow's form some at a time.
_LOOSE_BYTES = 4_000_000
#: What page headers and dictionaries of one column chunk take at most beside its values, bytes.
_COLUMN_OVERHEAD = 160


def row_size(value: Any) -> int:
    """Bytes that a row of dicts, lists and plain values takes in a row group at most, compression not counted."""
    if value is None or isinstance(value, bool):
        return 2
    if isinstance(value, bytes):
        return len(value) + 8
    if isinstance(value, str):
        return len(value.encode()) + 8
    if isinstance(value, Mapping):
        return sum(map(row_size, value.values()))
    if isinstance(value, (list, tuple)):
        return 2 + sum(map(row_size, value))
    return 10


@functools.cache
def _leaves(arrow_schema: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths of the Parquet columns that hold encoded bytes, and of the others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    empty = io.BytesIO()
    pq.ParquetWriter(empty, arrow_schema).close()
    held = pq.ParquetFile(pa.BufferReader(empty.getvalue())).schema
    columns = [held.column(i) for i in range(len(held))]
    binary = {c.path for c in columns if c.physical_type == "BYTE_ARRAY" and c.logical_type.type == "NONE"}
    return tuple(c.path for c in columns if c.path in binary), tuple(c.path for c in columns if c.path not in binary)


def _options(arrow_schema: Any) -> dict[str, Any]:
    """How a kind is written: the same choices for every shard, so that the bytes depend on the rows alone."""
    pictures, others = _leaves(arrow_schema)
    options: dict[str, Any] = {
        "compression": {**dict.fromkeys(pictures, "NONE"), **dict.fromkeys(others, "ZSTD")},
        "use_dictionary": list(others),
        "write_statistics": list(others),
        "write_page_index": True,
    }
    if pictures:
        options["write_batch_size"] = _ROWS_BETWEEN_CHECKS
    else:
        options["use_content_defined_chunking"] = _CHUNKING
    return options


class Writer:
    """Writes rows of one kind as NAME-00000-of-0000N.parquet; the number of shards is known at the end.

    Rows are dicts as `schema.to_row` makes them, or what `pack` turns into Arrow's form. At most one row group is held in memory. A row that is larger than the
    bound by itself makes a row group of its own. Until `close` the files are named without `-of-0000N`.
    """

    def __init__(
        self,
        arrow_schema: Any,
        folder: Path,
        name: str,
        *,
        row_group_bytes: int = ROW_GROUP_BYTES,
        shard_bytes: int = SHARD_BYTES,
        pack: Callable[[list[Any], Any], Any] = batches.of_dicts,
    ) -> None:
        self.schema = arrow_schema
        self.pack = pack
        self.folder = folder
        self.name = name
        self.row_group_bytes = row_group_bytes
        self.shard_bytes = shard_bytes
        self._options = _options(arrow_schema)
        self._overhead = _COLUMN_OVERHEAD * sum(map(len, _leaves(arrow_schema)))
        self._files: list[Path] = []
        self._open: Any = None
        self._rows: list[Any] = []
        self._packed: list[Any] = []  # rows of the group that are in Arrow's form already
        self._loose = 0  # bytes of the rows that are not
        self._group_size = self._overhead
        self._shard_size = 0

    def add(self, row: Any, *, size: int | None = None) -> None:
        """Take one row. `size`: bytes that it takes at most, where that is known. OSError where the disk does not."""
        held = row_size(row) if size is None else size
        if self._group_size > self._overhead and self._group_size + held > self.row_group_bytes:
            self._flush()
        if self._open is not None and self._shard_size + held > self.shard_bytes:
            self._flush()
            self._end_file()
        if self._open is None:
            self._begin_file()
        self._rows.append(row)
        self._loose += held
        self._group_size += held
        self._shard_size += held
        if self._loose > _LOOSE_BYTES:
            self._pack()

    def close(self) -> list[Path]:
        """Write what is held and give the files their names. Without a row there is one file, which holds the schema."""
        if self._open is None and not self._files:
            self._begin_file()
        self._flush()
        self._end_file()
        count = len(self._files)
        named = []
        for number, file in enumerate(self._files):
            named.append(file.rename(self.folder / file_name(self.name, number, count)))
        return named

    def abandon(self) -> None:
        """Close the file handles after an error; what was written stays where it is, under its temporary name."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.abandon()

    def _begin_file(self) -> None:
        import pyarrow.parquet as pq

        path = self.folder / f"{self.name}-{len(self._files):05d}.parquet"
        self._files.append(path)
        self._open = pq.ParquetWriter(path, self.schema, **self._options)
        self._shard_size = 0

    def _pack(self) -> None:
        """Put the loose rows into Arrow's form, so that a picture is in memory once and not twice."""
        if self._rows:
            self._packed.append(self.pack(self._rows, self.schema))
        self._rows, self._loose = [], 0

    def _flush(self) -> None:
        """Write what is held as one row group."""
        import pyarrow as pa

        self._pack()
        if self._packed:
            table = pa.Table.from_batches(self._packed, schema=self.schema)
            self._open.write_table(table, row_group_size=table.num_rows)
        self._packed = []
        self._group_size = self._overhead

    def _end_file(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


def file_name(name: str, number: int, count: int) -> str:
    """The Hub's name for a shard: train-00000-of-00002.parquet."""
    return f"{name}-{number:05d}-of-{count:05d}.parquet"


def plain_rows(rows: Iterable[Any], kind: type) -> Iterable[dict[str, Any]]:
    """Rows as Arrow takes them, from instances of `kind` or from dicts, whose missing fields take their defaults.

    ValueError that names the row and the field where a value does not fit.
    """
    for number, row in enumerate(rows):
        try:
            yield schema.to_row(row if isinstance(row, kind) else schema.from_row(row, kind))
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from error
