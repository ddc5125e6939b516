"""Whether a published dataset opens: every config and split as a stream, with plain `datasets`, against the files here.

`datasets` runs in a process of its own. It loads torch where torch is installed, which takes more memory than everything
else in a publication; there it is told not to, and what it took is given back.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuadata import dataset
from cuadata.errors import DataError
from cuadata.publishing.hub_remote import Remote, Told, failure

#: Libraries that `datasets` loads where they are installed, and that reading rows needs none of.
_NOT_LOADED = ("USE_TORCH", "USE_TF", "USE_JAX")
#: Seconds that the process may take to load `datasets`, which is no part of the time that the Hub is given.
_START = 60.0
#: Rows that are decoded, and bytes of a column that are read at one time.
_ROWS, _BUFFER = 8, 8 << 20


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
    listed = [(config, split) for config, held in splits.items() for split in held]
    places = tuple(f"{config}/{split}" if config else split for config, split in listed)
    seconds = remote.limits.call * len(listed) + _START
    there = remote.call(
        f"opening {remote.repo}", lambda: _first_rows(remote, commit, listed, seconds), seconds=seconds + 1
    )
    for number, ((config, split), found) in enumerate(zip(listed, there, strict=True), 1):
        here = plain(next(dataset.open_rows(folder, config, split, batch=1), None))
        if found != here:
            names = [name for name in (here or {}) if (found or {}).get(name) != here[name]]
            raise DataError(
                f"its first row is not the one in {folder}: {', '.join(names) or 'no row'}",
                place=f"{remote.repo}, {places[number - 1]}",
            )
        progress("opening again", number, len(listed))
    return places


def plain(value: Any) -> Any:
    """A row as JSON holds it, bytes as their SHA-256: what two processes compare."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _first_rows(remote: Remote, commit: str, listed: Sequence[tuple[str, str]], seconds: float) -> list[Any]:
    """The first row of each config and split, read by another process. TimeoutError, `Told` or DataError."""
    told = dict.fromkeys(_NOT_LOADED, "0") | {"HF_HUB_DOWNLOAD_TIMEOUT": str(max(1, round(remote.limits.silence)))}
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__, remote.repo, commit, json.dumps(listed)],
            env=os.environ | told,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"no end after {seconds:.0f} s") from error
    if done.returncode:
        raise DataError(f"it does not open: {done.stderr.strip()[-500:]}", place=remote.repo)
    held = json.loads(done.stdout)
    if "failure" in held:
        raise Told(*held["failure"])
    rows: list[Any] = held["rows"]
    return rows


def main(repo: str, commit: str, listed: str) -> None:
    """Print the first row of each config and split as `plain` makes it, or what kept the Hub from giving one."""
    import pyarrow.dataset
    from datasets import load_dataset

    # Of a row group only the pages of the first rows are wanted: by itself Arrow reads and decodes it whole.
    how = {
        "batch_size": _ROWS,
        "fragment_scan_options": pyarrow.dataset.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True, buffer_size=_BUFFER
        ),
    }
    held: dict[str, Any] = {"rows": []}
    try:
        for config, split in json.loads(listed):
            rows = load_dataset(repo, config or None, split=split, revision=commit, streaming=True, **how)
            held["rows"].append(plain(next(iter(rows.decode(False)), None)))
    except Exception as error:
        held = {"failure": failure(error)}
        if held["failure"] is None:
            raise
    sys.stdout.write(json.dumps(held))
    sys.stdout.flush()
    os._exit(0)  # threads of `datasets` still read ahead


if __name__ == "__main__":
    main(*sys.argv[1:])
