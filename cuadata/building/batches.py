"""Rows in Arrow's form: from dicts, and from the JSON of the journal without making Python's objects of it.

pyarrow asks pandas whether a list is one of its own, and imports it for that, in every process, at the price of four
hundred rows. What is read by its JSON reader, or made of buffers, does not ask.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, Any

import msgspec


@dataclass(frozen=True, slots=True)
class Packed:
    """A row as JSON, and what stands in its place in some columns, the same ones for all rows of a file."""

    json: Annotated[bytes, "an object of its columns, in one line; others are left out"]
    pictures: Annotated[Mapping[str, tuple[bytes, str] | None], "bytes and name by column"] = field(
        default_factory=dict
    )
    texts: Annotated[Mapping[str, str], "by column"] = field(default_factory=dict)


def of_dicts(rows: Sequence[Mapping[str, Any]], arrow_schema: Any) -> Any:
    """A `pyarrow.RecordBatch` of rows as `schema.to_row` makes them."""
    import pyarrow as pa

    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema)


def of_json(rows: Sequence[Packed], arrow_schema: Any) -> Any:
    """The same of at least one row in JSON."""
    import pyarrow as pa
    from pyarrow import json

    given = {name: _pictures([one.pictures[name] for one in rows]) for name in rows[0].pictures}
    given |= {name: _of_buffers(pa.string(), [one.texts[name].encode() for one in rows]) for name in rows[0].texts}
    lines = b"\n".join([one.json for one in rows])
    asked = pa.schema([field for field in arrow_schema if field.name not in given])
    try:
        read = json.read_json(
            pa.BufferReader(lines),
            read_options=json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
            parse_options=json.ParseOptions(explicit_schema=asked, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:  # such as 1280.0 where a whole number is wanted, which lists may hold
        return of_dicts([_as_dict(one) for one in rows], arrow_schema)
    (batch,) = read.combine_chunks().to_batches()
    columns = [given[name] if name in given else batch.column(name) for name in arrow_schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema)


def _pictures(held: Sequence[tuple[bytes, str] | None]) -> Any:
    """Pictures as the Hub's feature stores them; null where there is none."""
    import pyarrow as pa

    there = [("", b"") if one is None else (one[1], one[0]) for one in held]
    names = _of_buffers(pa.string(), [name.encode() for name, _ in there])
    data = _of_buffers(pa.binary(), [data for _, data in there])
    valid = sum(1 << place for place, one in enumerate(held) if one is not None)
    bits = pa.py_buffer(valid.to_bytes(-(-len(held) // 8), "little"))
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    return pa.Array.from_buffers(kind, len(held), [bits], children=[data, names])


def _of_buffers(kind: Any, values: Sequence[bytes]) -> Any:
    import pyarrow as pa

    ends = pa.py_buffer(array("i", accumulate(map(len, values), initial=0)))
    return pa.Array.from_buffers(kind, len(values), [None, ends, pa.py_buffer(b"".join(values))])


def _as_dict(row: Packed) -> dict[str, Any]:
    shown = {name: one and {"bytes": one[0], "path": one[1]} for name, one in row.pictures.items()}
    return {**msgspec.json.decode(row.json), **shown, **row.texts}
