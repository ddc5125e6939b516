"""Folders of Parquet files with a damaged one among them: it costs its own trajectories and no others."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cuadata.errors import CallError, DataError

#: A damaged file keeps its bytes under its name with this ending, where no reader of Parquet takes it for data.
DAMAGED = ".damaged"
REPORT, MANIFEST = "repair.json", "cuadata.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a folder of Parquet files still holds."""

    files: Annotated[tuple[str, ...], "files that can be read to the end"]
    unreadable: Annotated[tuple[str, ...], "files that cannot, by the name that they had; their bytes are still there"]
    trajectories: Annotated[tuple[str, ...], "ids of the trajectories that are there, whole as far as is known"]
    rows: Annotated[int, "rows in the files that can be read"]
    lost: Annotated[tuple[str, ...], "trajectories that stood only in unreadable files; empty where nobody knows"] = ()
    incomplete: Annotated[tuple[str, ...], "trajectories of which an unreadable file held a part"] = ()
    reasons: Annotated[tuple[str, ...], "why each unreadable file cannot be read, in their order"] = ()
    changed: Annotated[
        tuple[str, ...], "files that can be read, but are not those that the manifest names by hash"
    ] = ()


def repair(
    folder: str | Path,
    *,
    key: str = "trajectory_id",
    expected: Mapping[str, Sequence[object]] | None = None,
    dry_run: bool = False,
) -> Repair:
    """Look through every Parquet file of a folder to its end and set those aside that cannot be read.

    A file that is set aside keeps its bytes and gets the ending `.damaged`; what was found is written into repair.json.
    A second repair changes nothing. `key` is the column that names trajectories. `expected` says which trajectories each
    file held (path in the folder -> their ids), so that lost ones can be named; without it, what an earlier repair wrote
    is used. Files that read well but are not those of cuadata.json are only said. `dry_run` changes nothing. DataError where the folder is missing or holds
    no Parquet file, CallError where no file has the column.
    """
    root = Path(folder)
    names = _names(root)
    held = _expected(root) if expected is None else {name: [str(id) for id in ids] for name, ids in expected.items()}
    good: dict[str, _Content] = {}
    bad: dict[str, str] = {}
    for name in names:
        try:
            good[name] = _look_through(_where(root, name), key)
        except PermissionError as error:
            raise DataError(f"{name} cannot be opened: {error.strerror}", place=str(root)) from error
        except (OSError, ValueError) as error:
            bad[name] = " ".join(str(error).replace(str(root), "").split())[:200]
    if good and not any(content.has_key for content in good.values()):
        raise CallError(f"no file has a column '{key}'; name the column that holds the ids of trajectories")
    found = replace(_result(good, bad, held), changed=_changed(root, good))
    if not dry_run:
        _set_aside(root, found, {**held, **{name: list(content.rows_of) for name, content in good.items()}})
    return found


@dataclass(frozen=True, slots=True)
class _Content:
    """What a readable file holds."""

    rows: int
    rows_of: Counter[str]  # trajectory -> its rows
    has_key: bool


def _names(root: Path) -> list[str]:
    """Every Parquet file by the name that it had before it was set aside, sorted."""
    if not root.is_dir():
        raise DataError("there is no such folder", place=str(root))
    found = {str(p.relative_to(root).as_posix()).removesuffix(DAMAGED) for p in _files(root)}
    if not found:
        raise DataError("no Parquet file is in it", place=str(root))
    return sorted(found)


def _files(root: Path) -> list[Path]:
    return [p for ending in (".parquet", f".parquet{DAMAGED}") for p in root.rglob(f"*{ending}") if p.is_file()]


def _where(root: Path, name: str) -> Path:
    """The file of this name, or what was set aside of it."""
    path = root / name
    return path if path.exists() else root / f"{name}{DAMAGED}"


def _look_through(path: Path, key: str) -> _Content:
    """Reads every column of every row, so that damage in the middle shows as well. ValueError or OSError where it does."""
    import pyarrow.parquet as pq

    counts: Counter[str] = Counter()
    rows = 0
    with pq.ParquetFile(path) as file:
        has_key = key in file.schema_arrow.names
        for batch in file.iter_batches(batch_size=64):
            rows += batch.num_rows
            if has_key:
                counts.update(map(str, batch.column(key).to_pylist()))
        if rows != file.metadata.num_rows:
            raise ValueError(f"{rows} rows can be read, {file.metadata.num_rows} are stated")
    return _Content(rows, counts, has_key)


def _result(good: Mapping[str, _Content], bad: Mapping[str, str], held: Mapping[str, Sequence[str]]) -> Repair:
    there = {id for content in good.values() for id in content.rows_of}
    damaged = {id for name in bad for id in held.get(name, ())}
    return Repair(
        files=tuple(good),
        unreadable=tuple(bad),
        trajectories=tuple(sorted(there - damaged, key=_order)),
        rows=sum(content.rows for content in good.values()),
        lost=tuple(sorted(damaged - there, key=_order)),
        incomplete=tuple(sorted(damaged & there, key=_order)),
        reasons=tuple(bad.values()),
    )


def _order(id: str) -> tuple[int, str]:
    """Numbers by their value, other ids by the alphabet."""
    return (int(id), "") if id.isdecimal() else (-1, id)


def _expected(root: Path) -> dict[str, list[str]]:
    """What an earlier repair knew of each file."""
    try:
        report: Any = json.loads((root / REPORT).read_text())
        return {str(name): [str(id) for id in ids] for name, ids in report["held"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _changed(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Files whose sha256 is not the one in cuadata.json: a picture may have lost a bit that no reader of Parquet misses."""
    try:
        manifest: Any = json.loads((root / MANIFEST).read_text())
        stated = {str(file["path"]): str(file["sha256"]) for file in manifest["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return tuple(name for name in names if name in stated and _sha256(_where(root, name)) != stated[name])


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _set_aside(root: Path, found: Repair, held: Mapping[str, Sequence[str]]) -> None:
    """Rename the damaged files and write the report; nothing is touched where all is as it was."""
    from cuadata.recordings.recording_files import write_whole

    for name in found.unreadable:
        if (root / name).exists():
            os.replace(root / name, root / f"{name}{DAMAGED}")
    file = root / REPORT
    if not found.unreadable:
        file.unlink(missing_ok=True)  # what an earlier repair missed is whole again
        return
    report = {
        "unreadable": dict(zip(found.unreadable, found.reasons, strict=True)),
        "lost": found.lost,
        "incomplete": found.incomplete,
        "trajectories": len(found.trajectories),
        "rows": found.rows,
        "held": {name: sorted(ids, key=_order) for name, ids in sorted(held.items())},
    }
    text = (json.dumps(report, indent=2) + "\n").encode()
    if not file.exists() or file.read_bytes() != text:
        write_whole(file, text)
