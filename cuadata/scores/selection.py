"""Choosing what to train on: the informative middle of a model's own rollouts, then a spread over kinds of example."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cuadata import dataset, image, registry, schema
from cuadata.building import folders, near, splits
from cuadata.contracts import Format, Gold
from cuadata.errors import CallError, DataError
from cuadata.scores import difficulty, predictions
from cuadata.scores.difficulty import Rollouts
from cuadata.statistics.intervals import Interval
from cuadata.types import Image, Keep

By = Literal["hit_rate", "consistency"]
SELECTED, DROPPED, MADE_BY, ROWS = "selected.jsonl", "dropped.jsonl", "select.json", "dataset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What became of one question."""

    id: Annotated[str, "id of the question or row"]
    keep: Annotated[Keep, "yes, no, or unsure: a check could still vouch for it"]
    reason: Annotated[str | None, "a word of `cuadata.reasons`, or over_cap where its cluster was full"]
    hits: Annotated[int, "samples that hit the target"]
    n: Annotated[int, "samples"]
    rate: Annotated[float | None, "hits by samples"]
    interval: Annotated[Interval | None, "Wilson interval of the hit rate"]
    unread: Annotated[int, "samples that could not be read"]
    consistency: Annotated[float | None, "share of samples in the winning region of a vote; needs no label"]
    vouched_by: Annotated[tuple[str, ...], "checks that confirm the label"]
    cluster: Annotated[
        tuple[str, ...],
        "what it counts as alike with: page or near pictures, role, relation or kind, size of the target",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What to keep."""

    low: Annotated[float, "lowest hit rate, or consistency, that is kept"] = difficulty.LOW
    high: Annotated[float, "highest"] = difficulty.HIGH
    by: Annotated[By, "what the bounds are of"] = "hit_rate"
    cap: Annotated[int | None, "most questions of one cluster"] = None
    limit: Annotated[int | None, "most questions in all"] = None
    seed: Annotated[int, "decides within a cluster"] = 0
    tolerance: Annotated[float, "slack around a target, CSS px"] = 0.0
    samples: Annotated[int | None, "samples to use of each question; None: all there are"] = None
    trust_relation: Annotated[bool, "a relation that holds by geometry vouches for a label"] = True


def bounds(text: str) -> tuple[float, float]:
    """`LOW:HIGH` as two shares. CallError where it is none."""
    low, _, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        raise CallError(f"'{text}' are no bounds; write LOW:HIGH, as in 0.125:0.875") from None
    if not 0 <= found[0] <= found[1] <= 1:
        raise CallError(f"no rate lies from {found[0]} to {found[1]}; bounds with 0 <= LOW <= HIGH <= 1 are wanted")
    return found


def select(
    path: Path,
    golds: Sequence[Gold],
    format: str,
    limits: Limits,
    *,
    second: Path | None = None,
    second_format: str = "",
    source: Path | None = None,
) -> tuple[Chosen, ...]:
    """Judge every question that the predictions answer, then spread the kept ones over their clusters.

    `second` is another model's predictions, read by `second_format` (the same format where empty): a question that it
    hits has its label vouched for. What no rollout of the first model hits is kept on such a word only. `source` is the
    dataset that the questions are of: kept ones with near pictures are then of one cluster, whatever their split group.
    """
    reader = _format(format)
    matched = predictions.match(predictions.lines(path), golds)
    vouching = _hit_by(second, golds, _format(second_format or format), limits) if second is not None else frozenset()
    judged: dict[str, Chosen] = {}
    for one in matched.answered:
        words = difficulty.vouchers(one.gold, vouching)
        held = difficulty.rollouts(
            one,
            reader,
            samples=limits.samples,
            tolerance=limits.tolerance,
            vouched_by=[w for w in words if w != "relation" or limits.trust_relation],
        )
        judged[held.id] = _chosen(one.gold, held, limits)
    if source is not None:
        near_pictures = _picture_clusters(source, [name for name, one in judged.items() if one.keep == "yes"])
        for name, picture in near_pictures.items():
            judged[name] = replace(judged[name], cluster=(picture, *judged[name].cluster[1:]))
    kept = {name: one.cluster for name, one in judged.items() if one.keep == "yes"}
    spread = set(difficulty.diverse(kept, limit=limits.limit, cap=limits.cap, seed=limits.seed))
    return tuple(_over_cap(one) if name in kept and name not in spread else one for name, one in judged.items())


def _format(name: str) -> Format:
    if name not in registry.formats:
        raise CallError(f"no format is named '{name}'; there are: {', '.join(registry.formats.names())}")
    return registry.formats[name]


def _picture_clusters(source: Path, ids: Collection[str]) -> dict[str, str]:
    """Row -> the first row of its cluster of near pictures; rows that have no picture are left out.

    Near as in splits: by perceptual hash and colours, transitively (see `building.near`).
    """
    looks, wanted, held = near.Looks(), set(ids), dict[str, int]()
    for file in _shards(source):
        with dataset.opened(file) as opened:
            if not {"id", "image"} <= set(opened.schema_arrow.names):
                continue
            for batch in opened.iter_batches(64, columns=["id", "image"]):
                for row in batch.to_pylist():
                    if row["id"] in wanted and row["image"]:
                        held.setdefault(row["id"], looks.place(_picture(row, file)))
    names = list(held)
    sets = splits.joined([splits.Item(keys=(), pictures=(look,), weight=1) for look in held.values()], looks=looks)
    return {name: names[sets.find(at)] for at, name in enumerate(names)}


def _picture(row: Mapping[str, Any], file: Path) -> Image:
    try:
        return image.from_bytes(row["image"]["bytes"], keep=False)
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"its picture: {error}; build the dataset again", place=f"{file}, {row['id']}") from error


def _shards(source: Path) -> list[Path]:
    return sorted(source.rglob("*.parquet")) if source.is_dir() else [source]


def _hit_by(path: Path, golds: Sequence[Gold], format: Format, limits: Limits) -> frozenset[str]:
    """Questions that another model hits with its first answer."""
    found = set()
    for one in predictions.match(predictions.lines(path), golds).answered:
        reading = predictions.read(one.texts[0], format, predictions.view(one.gold))
        if predictions.right(reading, one.gold, limits.tolerance):
            found.add(one.gold.task.id)
    return frozenset(found)


def _chosen(gold: Gold, held: Rollouts, limits: Limits) -> Chosen:
    judge = difficulty.judge if limits.by == "hit_rate" else difficulty.label_free
    judged = judge(held, low=limits.low, high=limits.high)
    return Chosen(
        id=held.id,
        keep=judged.keep,
        reason=judged.reason,
        hits=held.hits,
        n=held.n,
        rate=held.rate,
        interval=held.interval,
        unread=held.unread,
        consistency=held.consistency,
        vouched_by=held.vouched_by,
        cluster=difficulty.cluster(gold),
    )


def _over_cap(one: Chosen) -> Chosen:
    return replace(one, keep="no", reason="over_cap")


def summary(chosen: Sequence[Chosen], limits: Limits) -> dict[str, Any]:
    """Counts of what was kept and why the rest was not, as plain values."""
    held = [Rollouts(id=c.id, hits=c.hits, n=c.n) for c in chosen]
    agreed = [c.consistency for c in chosen if c.consistency is not None]
    return {
        "judged": len(chosen),
        "most_samples": max((c.n for c in chosen), default=0),
        "kept": sum(c.keep == "yes" for c in chosen),
        "by": limits.by,
        "bounds": [limits.low, limits.high],
        "tolerance_px": limits.tolerance,
        "reasons": dict(sorted(Counter(c.reason for c in chosen if c.reason is not None).items())),
        "vouched": dict(
            sorted(Counter(w for c in chosen if c.keep == "yes" and not c.hits for w in c.vouched_by).items())
        ),
        "hit_rates": difficulty.histogram(held),
        "mean_consistency": sum(agreed) / len(agreed) if agreed else None,
        "clusters": len({c.cluster for c in chosen if c.keep == "yes"}),
    }


def write_rows(source: Path, chosen: Sequence[Chosen], out: Path) -> list[Path]:
    """The kept rows of a dataset as a dataset of their own, `out/CONFIG/SPLIT-...parquet`, each with its rollouts.

    The rollouts stand in the provenance, where the gate `difficulty` reads them. Rows that were not judged, and configs
    without an `id`, are left out.
    """
    from cuadata.building.shards import Writer

    kept = {c.id: c for c in chosen if c.keep == "yes"}
    written: list[Path] = []
    groups: dict[tuple[Path, str], list[Path]] = {}
    for file in _shards(source):
        groups.setdefault((file.parent, file.name.split("-")[0]), []).append(file)
    for (folder, split), files in groups.items():
        config = folder.name if source.is_dir() and folder != source else ""
        if not _has(files, kept):
            continue
        (out / config).mkdir(parents=True, exist_ok=True)
        with dataset.opened(files[0]) as first:
            columns = first.schema_arrow
        with Writer(columns, out / config, split) as writer:
            for row in (row for file in files for row in _rows(file)):
                if row["id"] in kept:
                    writer.add({**row, "provenance": _noted(row["provenance"], kept[row["id"]])})
            written += writer.close()
    return written


def _has(files: Sequence[Path], kept: Mapping[str, Chosen]) -> bool:
    """Whether any of the rows were kept; rejected rows have an id too, but no provenance."""
    with dataset.opened(files[0]) as first:
        if not {"id", "provenance"} <= set(first.schema_arrow.names):
            return False
    return any(row["id"] in kept for file in files for row in _rows(file, ["id"]))


def _rows(file: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    with dataset.opened(file) as opened:
        for batch in opened.iter_batches(64, columns=columns):
            yield from batch.to_pylist()


def _noted(provenance: str, one: Chosen) -> str:
    held = Rollouts(
        id=one.id, hits=one.hits, n=one.n, unread=one.unread, consistency=one.consistency, vouched_by=one.vouched_by
    )
    try:
        return difficulty.noted(provenance, held)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"its provenance is no JSON object: {provenance!r:.60}; build the dataset again", place=f"row {one.id}"
        ) from error


def save(
    folder: Path,
    chosen: Sequence[Chosen],
    result: dict[str, Any],
    *,
    source: Path | None = None,
    force: bool = False,
    reads: Sequence[Path | str] = (),
) -> list[Path]:
    """Write what was kept, what was not, the summary, and the kept rows of the dataset `source`; the rows' files.

    All of it appears together, in place of what an earlier selection wrote; after an error there is nothing new.
    CallError as `folders.refuse_files`; `reads` are the inputs.
    """
    folders.refuse_files(folder, force=force, reads=reads)
    replaces = [folder / name for name in (SELECTED, DROPPED, MADE_BY, ROWS)]
    with folders.disk_errors(folder), folders.files_into(folder, replaces=replaces) as made:
        files = [] if source is None else write_rows(source, chosen, made / ROWS)
        for name, wanted in ((SELECTED, True), (DROPPED, False)):
            lines = [schema.to_json(c) + b"\n" for c in chosen if (c.keep == "yes") is wanted]
            (made / name).write_bytes(b"".join(lines))
        (made / MADE_BY).write_text(json.dumps(result, indent=1) + "\n")
        return [folder / file.relative_to(made) for file in files]
