"""Sources -> split -> filters -> shards: from recordings to a dataset of single-action examples.

Three passes, each over pieces that workers take in parallel: every piece of input is read, cut and judged into a journal
on disk; then ids, duplicates, splits and shards are decided over the journal; then every shard is written. A killed build
goes on from its journal. The same inputs give the same bytes, whatever the number of workers, and the output folder
appears at once when all is done.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from cuadata import stats
from cuadata.building import (
    card,
    cutting,
    folders,
    given,
    inputs,
    manifest,
    mixing,
    near,
    shards,
    splits,
    work,
    writing,
)
from cuadata.building.cutting import Job, Settings
from cuadata.building.journal import Damage, Journal, Summary
from cuadata.building.planning import Plan, Planner, Wanted
from cuadata.building.work import Workers
from cuadata.building.writing import File, ShardJob
from cuadata.errors import CallError, DataError
from cuadata.judging import gating
from cuadata.proving import measured
from cuadata.rows import CONFIGS

#: Configs that a build makes from trajectories; rows of the others are given to it.
MADE = ("actions", "chunks", "transitions", "recovery", "point_only", "tasks", "rejected")
#: Told what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
#: Pieces of input for which it pays to start one more process.
_PIECES_A_WORKER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a build did."""

    out: Annotated[Path, "the dataset"]
    manifest: Annotated[Mapping[str, Any], "what stands in its cuadata.json"]
    resumed: Annotated[int, "pieces of input taken as an interrupted build had read them"] = 0

    @property
    def kept(self) -> dict[str, dict[str, int]]:
        """Rows by config and split."""
        return dict(self.manifest["counts"]["kept"])

    @property
    def rejected(self) -> dict[str, int]:
        """Examples that were not kept, by reason, the most frequent first."""
        return dict(self.manifest["counts"]["rejected"])

    @property
    def damage(self) -> list[Damage]:
        """What could not be read and was left out."""
        return [Damage(**one) for one in self.manifest["damaged"]]

    @property
    def examples(self) -> int:
        """Rows of `actions` over all splits."""
        return sum(self.kept.get("actions", {}).values())

    def summary(self) -> dict[str, Any]:
        """What `--json` prints."""
        held = self.manifest
        return {
            "out": str(self.out),
            "resumed": self.resumed,
            **held["counts"],
            "splits": held["splits"],
            "configs": held["settings"]["configs"],
            "damaged": held["damaged"],
        }


def build(
    sources: Sequence[tuple[str, Path | str]],
    out: Path | str,
    *,
    gates: Sequence[str] | None = None,
    without: Sequence[str] = (),
    configs: Sequence[str] = MADE,
    mix: Mapping[str, float] = MappingProxyType({}),
    fractions: Mapping[str, float] = splits.FRACTIONS,
    keep_together: Sequence[str] = splits.KEYS,
    seed: int = 0,
    distance: int | None = near.DISTANCE,
    level: float = near.LEVEL,
    history: int = 5,
    keep_unsure: bool = False,
    elements: bool = False,
    keep_going: bool = False,
    workers: int = 2,
    force: bool = False,
    row_group_bytes: int = shards.ROW_GROUP_BYTES,
    shard_bytes: int = shards.SHARD_BYTES,
    thumbnails: int = 200,
    title: str = "",
    licence: str = "",
    consent: str = "",
    rows: Mapping[str, Iterable[Any]] = MappingProxyType({}),
    gate_recall: measured.Table | None = None,
    finish: Sequence[Callable[[Path], object]] = (),
    progress: Progress = lambda what, done, of: None,
) -> Report:
    """Make a dataset in `out` from sources, given as (name in the registry, path).

    `gates`: NAME or NAME:threshold=value; None: all that are registered, `without` those. `mix`: weights of configs whose
    rows are also written together, as the config `mix`. `fractions`: share of each split. `keep_together`: columns whose
    equal values keep rows in one split; near-duplicate pictures always do, within `distance` bits of hash and `level` grey
    levels; with `distance=None` only pictures of the same bytes do, and `rows` are not decoded for it. `history`: earlier actions an example tells. `keep_unsure`: keep what
    a gate is not sure of. `elements`: rows keep the page's elements, for models that read it. `keep_going`: leave out what cannot be read, instead of stopping. `thumbnails`: how many rows of
    a gate and reason have a picture in `rejected`. `rows`: ready rows by config, which are not judged. `gate_recall`: what
    was measured of the gates, for the card; None: the table that comes with the package. `finish` is called with the finished folder before it appears as `out`.

    CallError where the call is wrong: exit code 2. DataError where the data is bad or the disk takes no more: exit code
    1; nothing is then left in `out`, and the same call goes on from what was done.
    """
    out = Path(out)
    folders.refuse(out, force=force, reads=[path for _, path in sources])
    _check_configs(configs)
    _check_numbers(history, thumbnails)
    mixing.check(mix)
    splits.check(fractions)
    splits.check_keys(keep_together)
    chosen = gating.choose(gates, without=without)
    under_way = _Build(
        out=out,
        parts=inputs.parts(sources) if sources or not rows else [],
        settings=Settings(
            gates=chosen,
            configs=tuple(configs),
            keys=tuple(dict.fromkeys(("trajectory_id", *keep_together))),
            history=history,
            keep_unsure=keep_unsure,
            elements=elements,
        ),
        wanted=Wanted(
            fractions=dict(fractions),
            keys=tuple(dict.fromkeys(("trajectory_id", *keep_together))),
            seed=seed,
            distance=distance,
            level=level,
            shard_bytes=shard_bytes,
            thumbnails=thumbnails,
            mix=dict(mix),
        ),
        row_group_bytes=row_group_bytes,
        rows=rows,
        keep_going=keep_going,
        about=card.About(
            title=title,
            licence=licence,
            consent=consent,
            sources=tuple((name, card.given(path)) for name, path in sources),
        ),
        recall=gate_recall if gate_recall is not None else measured.shipped(chosen),
        finish=tuple(finish),
        progress=progress,
    )
    return under_way.run(workers)


def _check_numbers(history: int, thumbnails: int) -> None:
    for name, number in (("history", history), ("thumbnails", thumbnails)):
        if number < 0:
            raise CallError(f"{name} is {number}; wanted 0 or more")


def _check_configs(configs: Sequence[str]) -> None:
    if not configs:
        raise CallError(f"no config is named; a build makes: {', '.join(MADE)}")
    for config in configs:
        if config not in MADE:
            raise CallError(f"a build makes no config '{config}'; it makes: {', '.join(MADE)}")


@dataclass(slots=True, kw_only=True)
class _Build:
    """One build under way."""

    out: Path
    parts: list[inputs.Part]
    settings: Settings
    wanted: Wanted
    row_group_bytes: int
    rows: Mapping[str, Iterable[Any]]
    keep_going: bool
    about: card.About
    recall: measured.Table
    finish: tuple[Callable[[Path], object], ...]
    progress: Progress
    journal: Journal = field(init=False)
    resumed: int = 0

    def run(self, count: int) -> Report:
        """All passes."""
        if count < 1:
            raise CallError(f"{count} workers cannot work; give 1 or more")
        self.journal = Journal(folders.partial(self.out))
        useful = -(-len(self.parts) // _PIECES_A_WORKER)
        with (
            work.workers(max(1, min(count, useful))) as pool,
            folders.disk_errors(self.out),
            _alone(self.journal, self.out),
        ):
            summaries = self._read(pool)
            self._stop_at([d for held in summaries for d in held.damage])
            plan = Planner(self.journal, self.parts, summaries, self.wanted, pool).make()
            self._stop_at(plan.damage)
            if not plan.shards:
                raise DataError(self._nothing(summaries, plan), place=str(self.out))
            files = self._write(plan, pool)
            made = self._describe(plan, summaries, files)
            for each in self.finish:
                each(self.journal.made)
            folders.publish(self.journal.made, self.out)
            shutil.rmtree(self.journal.folder, ignore_errors=True)
        return Report(out=self.out, manifest=made, resumed=self.resumed)

    def _read(self, pool: Workers) -> list[Summary]:
        """Every piece of input, and the given rows as one more."""
        fingerprint = self.settings.fingerprint()
        jobs = [
            Job(part=p, settings=self.settings, fingerprint=fingerprint, folder=str(self.journal.folder))
            for p in self.parts
        ]
        summaries = []
        for summary, held in pool.map(cutting.cut, jobs):
            summaries.append(summary)
            self.resumed += held
            self.progress("reading", len(summaries), len(jobs))
        if self.rows:
            number = len(self.parts)
            by_bytes = self.wanted.distance is None
            summaries.append(given.take(self.rows, self.journal, number, keys=self.settings.keys, by_bytes=by_bytes))
            self.parts = [*self.parts, inputs.Part(number=number, source="given", path="", name="given rows")]
        return summaries

    def _stop_at(self, damage: Sequence[Damage]) -> None:
        """DataError that lists what is damaged, unless it is to be left out."""
        if not damage or self.keep_going:
            return
        shown = "\n  ".join(f"{one.place}: {one.message}" for one in damage[:10])
        more = f"\n  and {len(damage) - 10} more" if len(damage) > 10 else ""
        if len(damage) == 1:
            raise DataError(f"{damage[0].message}; mend it, or --keep-going to leave it out", place=damage[0].place)
        raise DataError(
            f"{len(damage)} inputs are damaged; mend them, or --keep-going to leave them out:\n  {shown}{more}"
        )

    def _nothing(self, summaries: Sequence[Summary], plan: Plan) -> str:
        """Why a build has no row to write: a dataset without a file could not be loaded."""
        if steps := sum(held.steps for held in summaries):
            configs = ", ".join(self.settings.configs)
            return f"none of {steps} steps became a row of {configs}; with `rejected` among the configs each has its reason"
        left = [f"{one.place}: {one.message}" for held in summaries for one in held.damage]
        left += [f"{one.place}: {one.message}" for one in plan.damage] + [
            note for held in summaries for note in held.notes
        ]
        more = f"\n  and {len(left) - 10} more" if len(left) > 10 else ""
        return "every input was left out, so that there is no dataset to write:\n  " + "\n  ".join(left[:10]) + more

    def _write(self, plan: Plan, pool: Workers) -> list[File]:
        """The shards, in an empty folder: what a killed build, or a page that failed, left there is no part of this one."""
        shutil.rmtree(self.journal.made)
        self.journal.begin()
        folder = str(self.journal.folder)
        jobs = [ShardJob(shard=shard, folder=folder, row_group_bytes=self.row_group_bytes) for shard in plan.shards]
        files = []
        for file in pool.map(writing.write, jobs):
            files.append(file)
            self.progress("writing", len(files), len(jobs))
        return sorted(files, key=lambda file: (list(CONFIGS).index(file.path.split("/")[0]), file.path))

    def _describe(self, plan: Plan, summaries: Sequence[Summary], files: Sequence[File]) -> dict[str, Any]:
        """Write manifest and card."""
        made = manifest.make(
            parts=self.parts,
            summaries=summaries,
            plan=plan,
            wanted=self.wanted,
            settings={
                "gates": [{"name": g.name, "thresholds": g.thresholds()} for g in self.settings.gates],
                "gate_recall": dict(self.recall.gates),
                "gate_recall_source": self.recall.source,
                "configs": list(self.settings.configs),
                "mix": dict(self.wanted.mix),
                "history": self.settings.history,
                "keep_unsure": self.settings.keep_unsure,
                **({"elements": True} if self.settings.elements else {}),
                "row_group_bytes": self.row_group_bytes,
                "shard_bytes": self.wanted.shard_bytes,
                "thumbnails": self.wanted.thumbnails,
            },
            files=files,
            damage=[*(d for held in summaries for d in held.damage), *plan.damage],
            balance=stats.balance(self.journal.made) if files else {},
        )
        manifest.write(made, self.journal.made)
        card.write(made, self.about, self.journal.made)
        return made


@contextmanager
def _alone(journal: Journal, out: Path) -> Iterator[None]:
    """The folder of the build in progress, for this build only; the lock goes with the process, however it ends."""
    journal.begin()
    with open(journal.folder / "lock", "wb") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system; two builds into one folder are then the caller's care
            pass
        except OSError as error:
            raise CallError(f"another build is writing {out}; wait for it, or give another folder") from error
        yield
