"""Spatial grounding in numbers: generated pages, rendered and measured, to a dataset that is the same bytes each time.

Chains of blocks of rows are made by workers in parallel, each a pure function of its number and the seed; finished blocks lie
beside the output folder, so that an interrupted run goes on. Then `build` decides splits over all rows, by template, and writes.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cuadata import __version__, build
from cuadata.browsing import browser_find
from cuadata.building import folders, work
from cuadata.errors import CallError
from cuadata.generating import spatial_blocks, spatial_card, spatial_pages, spatial_render, spatial_rows
from cuadata.generating.spatial_blocks import BLOCK, CHAIN, Job
from cuadata.judging import gating
from cuadata.registry import families

Progress = build.Progress


def generate(
    n: int,
    out: Path | str,
    *,
    seed: int = 0,
    workers: int = 2,
    infeasible: float = 0.1,
    pairs: float = 0.1,
    elements: bool = False,
    force: bool = False,
    progress: Progress = lambda what, done, of: None,
) -> dict[str, Any]:
    """Make `n` rows of `grounding`, with `pairs` and `rejected`, in `out`; the summary that `--json` prints.

    `infeasible`: share of rows whose target was removed or covered. `pairs`: perturbed pairs for one row.
    `elements`: rows keep the page's elements, for models that are told of them. CallError for
    numbers out of range or an output folder that is not empty; DataError where a page is not rendered or the disk is full.
    Where the plan could not be met the summary's `notes` say by how many rows.
    """
    out = Path(out)
    _check(n, seed, workers, infeasible, pairs)
    folders.refuse(out, force=force)
    whole = -(-n // BLOCK)
    folder = folders.partial(out).with_name(f".{out.name}.pages")
    jobs = [
        Job(
            number=k,
            rows=min(BLOCK, n - k * BLOCK),
            seed=seed,
            infeasible=infeasible,
            pairs=pairs,
            elements=elements,
            folder=str(folder),
            goes_on=k % CHAIN > 0,
        )
        for k in range(whole)
    ]
    with folders.disk_errors(out):
        _begin(folder, (seed, infeasible, pairs, elements))
        _make(jobs, workers, progress)
        rows: dict[str, Iterator[Any]] = {
            config: _rows(folder, jobs, config) for config in ("grounding", "pairs", "rejected")
        }
        found = spatial_card.Found(folder, range(whole))
        build.build(
            [], out, rows=rows, gates=[one.name for one in spatial_rows.chosen_gates()], keep_together=("template",),
            distance=None, elements=elements, seed=seed, workers=workers, force=force, title="Spatial relations on generated pages",
            finish=(partial(_finish, found=found, asked={"n": n, "seed": seed, "infeasible": infeasible, "pairs": pairs}),),
            progress=progress,
        )  # fmt: skip
        summary = found.summary(n) | {"out": str(out)}
        shutil.rmtree(folder, ignore_errors=True)
    return summary


#: Rows of one dataset, and the largest seed: pages are numbered from it on, and JSON and pages hold no larger numbers.
_MOST = 10**9


def _check(n: int, seed: int, workers: int, infeasible: float, pairs: float) -> None:
    if n < 1 or workers < 1 or seed < 0:
        raise CallError(
            f"n={n}, workers={workers}, seed={seed}: give at least 1 row and 1 worker, and a seed from 0 on"
        )
    if n > _MOST or seed > _MOST:
        raise CallError(f"n={n:.3g}, seed={seed:.3g}: more than {_MOST:,} is planned for by nobody; give less")
    if not 0 <= infeasible <= 0.5:
        raise CallError(f"infeasible={infeasible} is no share of rows that can be made; give 0 to 0.5")
    if not 0 <= pairs <= 1:
        raise CallError(f"pairs={pairs} is no number of pairs for a row; give 0 to 1")


def _begin(folder: Path, asked: tuple[Any, ...]) -> None:
    """The folder of blocks; blocks of another call, version, browser or set of gates go."""
    found = browser_find.find()
    code = gating.code_hash(spatial_rows.chosen_gates()), _code_hash()
    mark = hashlib.sha256(repr((asked, __version__, found.kind, found.version, code)).encode()).hexdigest()
    held = folder / "mark"
    if not held.exists() or held.read_text() != mark:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        held.write_text(mark)


def _code_hash() -> str:
    """Changes where the generator or a family does."""
    here = Path(__file__).parent
    rooms = {Path(inspect.getfile(families[name])).parent for name in spatial_blocks.AXES}
    held = hashlib.sha256()
    for file in sorted([*here.glob("spatial*"), *(one for room in rooms for one in room.glob("*.*"))]):
        if file.is_file():  # an editor's folder beside a family is no code
            held.update(file.read_bytes())
    return held.hexdigest()


def _make(jobs: Sequence[Job], workers: int, progress: Progress) -> None:
    """Every block that is not there, or has another number of rows; those of a chain one after the other."""
    left = [job for job in jobs if not _finished(job)]
    chains = [list(held) for _, held in itertools.groupby(left, key=lambda job: job.number // CHAIN)]
    done = len(jobs) - len(left)
    try:
        with work.workers(max(1, min(workers, len(chains)))) as pool:
            for made in pool.map(_chain, chains):
                done += made
                progress("rendering", done, len(jobs))
    finally:
        spatial_render.close()


def _chain(jobs: Sequence[Job]) -> int:
    for job in jobs:
        spatial_pages.make(job)
    return len(jobs)


def _finished(job: Job) -> bool:
    if not spatial_blocks.path(job.folder, job.number).exists():
        return False
    made = spatial_blocks.read(job.folder, job.number)
    return len(made.grounding) + made.counts["short"] == job.rows


def _rows(folder: Path, jobs: Sequence[Job], config: str) -> Iterator[Any]:
    for job in jobs:
        yield from getattr(spatial_blocks.read(folder, job.number), config)


def _finish(made: Path, found: spatial_card.Found, asked: dict[str, Any]) -> None:
    """What the generator adds to card and manifest."""
    grid = spatial_card.picture_grid(found.examples())
    (made / spatial_card.GRID).write_bytes(grid)
    told = found.summary(asked["n"])
    card = made / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + spatial_card.section(told, asked), encoding="utf-8")
    path = made / "cuadata.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["generator"] = {"name": "spatial", "asked": asked, **told}
    manifest["files"].append(
        {"path": spatial_card.GRID, "rows": 0, "bytes": len(grid), "sha256": hashlib.sha256(grid).hexdigest()}
    )
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
