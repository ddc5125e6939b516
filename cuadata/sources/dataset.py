"""Rows of a dataset of our own as an evaluation set: `dataset:out/`, `dataset:out/:test` for a split, or one Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args

from cuadata import schema
from cuadata.contracts import Gold
from cuadata.dataset import opened
from cuadata.errors import CallError, DataError
from cuadata.geometry import finite
from cuadata.registry import divided, gold
from cuadata.rows import Listed
from cuadata.scores.misses import OPPOSITE, beyond
from cuadata.speaking import prompts
from cuadata.types import Axis, BBox, Relation, Size, Task

#: Configs that hold one target a row, the one made for grounding first.
CONFIGS = ("grounding", "actions")
_WANTED = (
    "id", "trajectory_id", "image_width", "image_height", "viewport_width", "viewport_height", "instruction", "target",
    "references", "relation", "template", "split_group", "perspective", "candidates", "axes", "pair_id", "elements",
)  # fmt: skip
#: The answer to a row without a target, as far as it is wanted: whether it is infeasible.
_ACTION = "action.type"
_NEEDED = {"id", "instruction", "target", "viewport_width", "viewport_height", "image_width", "image_height"}


def splits(path: Path) -> list[str]:
    """The splits of what `dataset` reads at a path; empty for one file. DataError as `dataset`."""
    return [] if path.is_file() else sorted(_split(file) for file in _files(path, ""))


@gold.add
@divided(splits)
def dataset(path: Path, *, split: str = "") -> Iterator[Gold]:
    """Rows of a dataset with a target, or whose right answer is infeasible: config `grounding`, else `actions`; `:SPLIT` for one split.

    `split` may name the config too, as in `actions/test`; empty: all splits. A predictions file names rows by `id`, and
    its numbers are in the model family's own frame. CallError for a split that there is not; DataError where the path
    holds no such rows.
    """
    seen: dict[str, str] = {}
    if split and path.is_file():
        raise CallError(f"{path} is one file, which has no splits; leave ':{split}' out")
    for file in [path] if path.is_file() else _files(path, split):
        with opened(file) as shard:
            names = shard.schema_arrow.names
            held = [name for name in _WANTED if name in names]
            lacking = _NEEDED - set(held)
            if lacking:
                raise DataError(f"no column is named {', '.join(sorted(lacking))}: these are no rows", place=str(file))
            wanted = [*held, *([_ACTION] if "action" in names else [])]
            for number, row in enumerate(
                r for batch in shard.iter_batches(256, columns=wanted) for r in batch.to_pylist()
            ):
                try:
                    one = _gold(row) if _is_question(row) else None
                except (TypeError, KeyError, AttributeError, ValueError) as error:
                    raise DataError(
                        f"it is no row of cuadata's: {type(error).__name__}: {error}; build the dataset again",
                        place=f"{file}, row {number}",
                    ) from error
                if one is not None:
                    if (other := seen.setdefault(one.task.id, f"{file}, row {number}")) != f"{file}, row {number}":
                        raise DataError(
                            f"its id {one.task.id!r:.80} stands at {other} too", place=f"{file}, row {number}"
                        )
                    yield one


def _files(folder: Path, split: str) -> list[Path]:
    """The shards of a split, of all splits where it is empty; `split` may begin with the config's name."""
    config, _, name = split.rpartition("/")
    places = (folder / config,) if config else (*(folder / one for one in CONFIGS), folder)
    for place in places:
        if found := sorted(place.glob("*.parquet")):
            of_split = [file for file in found if name in ("", _split(file))]
            if not of_split:
                there = ", ".join(sorted(set(map(_split, found))))
                raise CallError(f"{place} has no split '{name}'; there are: {there}")
            return of_split
    raise DataError(f"no {config or ' or '.join(CONFIGS)} config with Parquet files", place=str(folder))


def _split(shard: Path) -> str:
    return shard.name.partition("-")[0].removesuffix(".parquet")


def _is_question(row: Mapping[str, Any]) -> bool:
    """Whether an answer to the row can be judged: it has a box to point into, or asks for what is not there."""
    return bool(row["target"] and row["target"]["bbox"]) or (row.get("action") or {}).get("type") == "infeasible"


def _gold(row: Mapping[str, Any]) -> Gold:
    held = row["target"]
    target = _box(held["bbox"]) if held and held["bbox"] else None
    references = tuple(_box(r["bbox"]) for r in row.get("references") or () if r["bbox"])
    relation = row.get("relation") if row.get("relation") in get_args(Relation) else None
    axes = tuple(Axis(*text.partition("=")[::2]) for text in row.get("axes") or ())
    return Gold(
        task=Task(
            id=_text(row, "id"),
            family="dataset",
            seed=0,
            instruction=_text(row, "instruction"),
            viewport=_size(row, "viewport"),
            relation=cast("Relation | None", relation),
            axes=axes,
            template=row.get("template") or "",
            pair_id=row.get("pair_id"),
        ),
        target=target,
        references=references,
        holds=_holds(relation, target, references),
        candidates=tuple(_box(c["bbox"]) for c in row.get("candidates") or () if c["bbox"]),
        variant=next((a.value for a in axes if a.name == "variant"), "original"),
        kind="relational" if relation else row.get("perspective") or "direct",
        role=(held or {}).get("role") or "",
        elements=prompts.of_list(schema.from_stored(one, Listed) for one in row.get("elements") or ()),
        cluster=row.get("split_group") or row.get("trajectory_id") or row["id"],
        image=_size(row, "image"),
        columns=(Axis("id", row["id"]),),
    )


def _holds(relation: str | None, target: BBox | None, references: tuple[BBox, ...]) -> bool | None:
    """Whether the stated relation holds by edges; other relations than the four sides were checked by a gate."""
    if relation is None or target is None or not references:
        return None
    return beyond(relation, target, references[0]) if relation in OPPOSITE else True


def _box(held: Mapping[str, float]) -> BBox:
    box = BBox(held["x"], held["y"], held["width"], held["height"])
    if not finite(box) or box.width < 0 or box.height < 0:
        raise ValueError(f"{held!r:.80} is no box: finite numbers and sides of 0 px or more are wanted")
    return box


def _size(row: Mapping[str, Any], of: str) -> Size:
    width, height = row[f"{of}_width"], row[f"{of}_height"]
    if not (isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0):
        raise ValueError(f"its {of} is {width!r:.40} x {height!r:.40} px; whole numbers above 0 are wanted")
    return Size(width, height)


def _text(row: Mapping[str, Any], name: str) -> str:
    if not isinstance(row[name], str):
        raise ValueError(f"its `{name}` is {row[name]!r:.60}; a text is wanted")
    return str(row[name])
