"""What is in a dataset: rows, bytes and how often each kind of action, phase, effect and site occurs. No picture is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuadata import dataset

#: Columns that are counted by value, with the path to the value in a row.
COUNTED = {
    "action": "action.type",
    "phase": "phase",
    "effect": "effect",
    "relation": "relation",
    "site": "site",
    "gate": "gate",
    "reason": "reason",
    "family": "family",
}


def stats(folder: Path | str) -> dict[str, Any]:
    """Figures of every config and split. DataError where the folder holds no dataset or a shard does not open."""
    return {
        "folder": str(folder),
        "configs": {
            config: {split: _split(paths) for split, paths in held.items()}
            for config, held in dataset.configs(folder).items()
        },
    }


def balance(folder: Path, *, most: int = 12) -> dict[str, dict[str, dict[str, int]]]:
    """Config -> what was counted -> value -> rows of all splits; `rejected` left out.

    Of more than `most` values the rarest are added up as `N others`; what has one value, or none, is left out.
    """
    found: dict[str, dict[str, dict[str, int]]] = {}
    for config, held in stats(folder)["configs"].items():
        if config == "rejected":
            continue
        counts: dict[str, Counter[str]] = {}
        for split in held.values():
            for name, values in split["counts"].items():
                counts.setdefault(name, Counter()).update(values)
        told = {name: _most(values, most) for name, values in counts.items() if len(values) > 1}
        if told:
            found[config] = told
    return found


def _most(values: Counter[str], most: int) -> dict[str, int]:
    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    rest = ordered[most:]
    return dict(ordered[:most]) | ({f"{len(rest)} others": sum(n for _, n in rest)} if rest else {})


def _split(paths: list[Path]) -> dict[str, Any]:
    rows = groups = largest = size = 0
    counts: dict[str, Counter[str]] = {}
    for path in paths:
        with dataset.opened(path) as file:
            rows += file.metadata.num_rows
            groups += file.num_row_groups
            size += path.stat().st_size
            for number in range(file.num_row_groups):
                largest = max(largest, file.metadata.row_group(number).total_byte_size)
            for name, values in _columns(file):
                counts.setdefault(name, Counter()).update(values)
    return {
        "rows": rows,
        "shards": len(paths),
        "bytes": size,
        "row_groups": groups,
        "largest_row_group_bytes": largest,
        "counts": {name: dict(sorted(c.items(), key=lambda item: (-item[1], item[0]))) for name, c in counts.items()},
    }


def _columns(file: Any) -> Iterator[tuple[str, list[str]]]:
    """The values of every counted column that a file has; None counts as `null`, since an effect may be `none`."""
    held = {file.schema.column(number).path for number in range(len(file.schema))}
    there = {name: path for name, path in COUNTED.items() if path in held}
    for batch in file.iter_batches(batch_size=4096, columns=list(there.values())):
        for name, path in there.items():
            first, *inner = path.split(".")
            column = batch.column(first)
            for field in inner:
                column = column.field(field)
            yield name, ["null" if value is None else str(value) for value in column.to_pylist()]
