"""`cuadata.json`: what a dataset was made from and how, so that it can be made again and checked. No clock, no host."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuadata import __version__
from cuadata.building.inputs import Part
from cuadata.building.journal import Damage, Summary
from cuadata.building.planning import Plan, Wanted
from cuadata.building.writing import File
from cuadata.errors import DataError
from cuadata.types import SCHEMA_VERSION

NAME = "cuadata.json"
_VERSION = 1


def make(
    *,
    parts: Sequence[Part],
    summaries: Sequence[Summary],
    plan: Plan,
    wanted: Wanted,
    settings: Mapping[str, Any],
    files: Iterable[File],
    damage: Sequence[Damage],
    balance: Mapping[str, Any],
) -> dict[str, Any]:
    """The manifest, in the order in which it is written. `settings` holds the gates and what else was asked.

    `balance` is that of `stats`.
    """
    return {
        "manifest": _VERSION,
        "versions": _versions(),
        "inputs": [
            {"source": part.source, "name": part.name, "sha256": held.sha256, "trajectories": len(held.trajectories)}
            for part, held in zip(parts, summaries, strict=True)
        ],
        "browsers": sorted({b for held in summaries for b in held.browsers if b}),
        "viewports": sorted({v for held in summaries for v in held.viewports}),
        "settings": dict(settings),
        "splits": _splits(plan, wanted),
        "counts": _counts(summaries, plan),
        "balance": dict(balance),
        "damaged": [{"place": one.place, "message": one.message} for one in damage],
        "notes": [note for held in summaries for note in held.notes],
        "files": [{"path": f.path, "rows": f.rows, "bytes": f.bytes, "sha256": f.sha256} for f in files],
    }


def _versions() -> dict[str, Any]:
    """What the bytes depend on beside the inputs."""
    from importlib.metadata import version

    return {
        "cuadata": __version__,
        "schema": SCHEMA_VERSION,
        "pyarrow": version("pyarrow"),
        "pillow": version("pillow"),
    }


def _splits(plan: Plan, wanted: Wanted) -> dict[str, Any]:
    assert plan.splits is not None
    return {
        "fractions": dict(wanted.fractions),
        "kept_together": [
            "trajectory",
            *(k for k in wanted.keys if k != "trajectory_id"),
            "near_picture" if wanted.distance is not None else "same_picture",
        ],
        "seed": wanted.seed,
        "near": None if wanted.distance is None else {"hash_bits": wanted.distance, "grey_levels": wanted.level},
        "groups": plan.splits.groups,
        "wanted_rows": plan.splits.wanted,
        "rows": plan.splits.rows,
        "leaks": plan.leaks,
    }


def _counts(summaries: Sequence[Summary], plan: Plan) -> dict[str, Any]:
    reasons: Counter[str] = Counter()
    for (_, reason), count in plan.rejected.items():
        reasons[reason] += count
    return {
        "trajectories": sum(len(held.trajectories) for held in summaries),
        "failed_trajectories": sum(held.failed for held in summaries),
        "steps": sum(held.steps for held in summaries),
        "kept": {config: dict(sorted(rows.items())) for config, rows in sorted(plan.kept.items())},
        "asked": plan.asked,
        "mix": plan.mixed,
        "rejected": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        "rejected_by_gate": [
            {"gate": gate, "reason": reason, "rows": count}
            for (gate, reason), count in sorted(plan.rejected.items(), key=lambda item: (-item[1], item[0]))
        ],
    }


def write(manifest: Mapping[str, Any], folder: Path) -> Path:
    """Write `cuadata.json`."""
    path = folder / NAME
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read(folder: Path) -> dict[str, Any]:
    """The manifest of a dataset. DataError where it is missing, damaged, or of a later version."""
    path = folder / NAME
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{NAME} is not there; is it a folder that `cuadata build` made?", place=str(folder)) from error
    except ValueError as error:
        raise DataError(f"it does not parse: {error}", place=str(path)) from error
    if not isinstance(held, dict) or held.get("manifest") != _VERSION:
        version = held.get("manifest") if isinstance(held, dict) else None
        raise DataError(f"its version is {version!r}, this release reads {_VERSION}", place=str(path))
    return held


def damaged_files(folder: Path) -> list[str]:
    """Files of a dataset that are missing or are not the ones that its manifest names."""
    wrong = []
    for file in read(folder)["files"]:
        path = folder / file["path"]
        if not path.is_file():
            wrong.append(f"{file['path']} is missing")
            continue
        with open(path, "rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != file["sha256"]:
                wrong.append(f"{file['path']} has changed: its sha256 is another")
    return wrong
