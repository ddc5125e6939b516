"""Whether a published dataset opens: every config and split as a stream, with plain `datasets`, against the files here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cuadata.errors import DataError
from cuadata.hub_remote import Remote


def check_opens(
    folder: Path,
    splits: Mapping[str, Mapping[str, list[Path]]],
    remote: Remote,
    commit: str,
    progress: Callable[[str, int, int], None],
) -> tuple[str, ...]:
    """Open every config and split at a commit and compare its first row with the one on disk; `config/split` of each.

    DataError where one does not open as what it is; RemoteError where the Hub does not answer.
    """
    import datasets  # noqa: F401 - loading the library is no part of the time that the Hub is given

    listed = [(config, split, paths) for config, held in splits.items() for split, paths in held.items()]
    for number, (config, split, paths) in enumerate(listed, 1):
        place = f"{remote.repo}, {config or 'default'}/{split}"
        here = first_row("parquet", data_files={split: [str(path) for path in paths]}, split=split)
        there = remote.call(f"opening {place}", lambda c=config, s=split: _remote_row(remote, commit, c, s))  # type: ignore[misc]
        if there != here:
            names = [name for name in (here or {}) if (there or {}).get(name) != (here or {})[name]]
            raise DataError(f"its first row is not the one in {folder}: {', '.join(names) or 'no row'}", place=place)
        progress("opening again", number, len(listed))
    return tuple(f"{config}/{split}" if config else split for config, split, _ in listed)


def _remote_row(remote: Remote, commit: str, config: str, split: str) -> dict[str, Any] | None:
    name = {"name": config} if config else {}
    return first_row(remote.repo, split=split, revision=commit, **name)


def first_row(path: str, **how: Any) -> dict[str, Any] | None:
    """The first row of a split, pictures as `{bytes, path}`; None where it has none."""
    from datasets import load_dataset

    rows = load_dataset(path, streaming=True, **how).decode(False)
    held: dict[str, Any] | None = next(iter(rows), None)
    return held
