"""Rows of a dataset of our own as an evaluation set: `dataset:out/` or `dataset:out/grounding/test-00000-of-00001.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args

from cuadata import schema
from cuadata.contracts import Gold
from cuadata.dataset import opened
from cuadata.errors import DataError
from cuadata.geometry import finite
from cuadata.registry import gold
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
_NEEDED = {"id", "instruction", "target", "viewport_width", "viewport_height", "image_width", "image_height"}


@gold.add
def dataset(path: Path) -> Iterator[Gold]:
    """Rows of a dataset that have a target with a box; the whole `grounding` config, or `actions` where there is none.

    A predictions file names them by `id`, and its numbers are in the model family's own frame. DataError where the path
    holds no such rows.
    """
    seen: dict[str, str] = {}
    files = [path] if path.is_file() else _files(path)
    for file in files:
        with opened(file) as shard:
            held = [name for name in _WANTED if name in shard.schema_arrow.names]
            lacking = _NEEDED - set(held)
            if lacking:
                raise DataError(f"no column is named {', '.join(sorted(lacking))}: these are no rows", place=str(file))
            for number, row in enumerate(
                r for batch in shard.iter_batches(256, columns=held) for r in batch.to_pylist()
            ):
                try:
                    one = _gold(row) if row["target"] and row["target"]["bbox"] else None
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


def _files(folder: Path) -> list[Path]:
    for place in (*(folder / config for config in CONFIGS), folder):
        if found := sorted(place.glob("*.parquet")):
            return found
    raise DataError(f"no {' or '.join(CONFIGS)} config with Parquet files", place=str(folder))


def _gold(row: Mapping[str, Any]) -> Gold:
    target = _box(row["target"]["bbox"])
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
        role=row["target"].get("role") or "",
        elements=prompts.of_list(schema.from_stored(one, Listed) for one in row.get("elements") or ()),
        cluster=row.get("split_group") or row.get("trajectory_id") or row["id"],
        image=_size(row, "image"),
        columns=(Axis("id", row["id"]),),
    )


def _holds(relation: str | None, target: BBox, references: tuple[BBox, ...]) -> bool | None:
    """Whether the stated relation holds by edges; other relations than the four sides were checked by a gate."""
    if relation is None or not references:
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
