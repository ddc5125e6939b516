"""GUI-Perturbed: web steps under four looks, each with a direct and a relational instruction (arXiv 2604.14262, CC-BY-4.0).

The set comes as `steps.csv`: boxes in CSS px of a 1920x1080 page, no pictures. Its instructions were rewritten by hand
after the relation and the reference were recorded, so the relation is read from the instruction, never from its column,
and `Gold.holds` says whether the recorded reference stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cuadata import text_files
from cuadata.contracts import Gold
from cuadata.errors import DataError
from cuadata.registry import gold
from cuadata.scores.misses import beyond
from cuadata.types import Axis, Relation, Size, Task

_SCREEN = Size(1920, 1080)
#: The set's own words for a side. Where an instruction states it in others, no relation is taken from it.
_SIDES: dict[str, Relation] = {"above": "above", "below": "below", "left": "left_of", "right": "right_of"}
_SIDE = re.compile(r"\b(above|below|left|right)\b", re.IGNORECASE)
_QUOTED = re.compile("'[^']*'|\"[^\"]*\"|\u2018[^\u2019]*\u2019|\u201c[^\u201d]*\u201d")
_COLUMNS = (
    "task_id",
    "step_index",
    "variant",
    "direct_instruction",
    "relational_instruction",
    "target_bbox_xywh",
    "reference_bbox_xywh",
)


@gold.add
def gui_perturbed(path: Path) -> Iterator[Gold]:
    """GUI-Perturbed's `steps.csv`, or the folder that holds it: two questions a row, one direct and one relational.

    Logged outputs of this set count in px of the 1920x1080 screenshot. DataError that names the line where a column is
    missing or a box is none.
    """
    file = path / "steps.csv" if path.is_dir() else path
    if not file.is_file():
        raise DataError(f"no {file.name} is in it; give the folder of GUI-Perturbed, or its steps.csv", place=str(path))
    first: dict[str, str] = {}
    for place, row in text_files.table(file, _COLUMNS):
        for one in _questions(row, place):
            if (other := first.setdefault(one.task.id, place)) != place:
                raise DataError(f"{one.task.id} is there already, at {other}; take one of them out", place=place)
            yield one


def _questions(row: Mapping[str, str], place: str) -> Iterator[Gold]:
    target = text_files.box(row["target_bbox_xywh"], place)
    if target is None:
        raise DataError("the step has no target box", place=place)
    reference = text_files.box(row["reference_bbox_xywh"], place)
    for kind in ("direct", "relational"):
        relation = stated(row["relational_instruction"]) if kind == "relational" else None
        yield Gold(
            task=_task(row, kind, relation, place),
            target=target,
            references=(reference,) if reference is not None and kind == "relational" else (),
            holds=beyond(relation, target, reference) if relation is not None and reference is not None else None,
            variant=row["variant"],
            kind=kind,
            cluster=row["task_id"],
            image=_SCREEN,
            frame="px",
            columns=tuple(Axis(name, row[name]) for name in ("task_id", "step_index", "variant")),
        )


def _task(row: Mapping[str, str], kind: str, relation: Relation | None, place: str) -> Task:
    step = f"{row['task_id']}/{row['step_index']}"
    try:
        seed = int(row["step_index"])
    except ValueError:
        raise DataError(f"'{row['step_index']}' is no step index", place=place) from None
    return Task(
        id=f"gui_perturbed/{step}/{row['variant']}/{kind}",
        family="gui_perturbed",
        seed=seed,
        instruction=row[f"{kind}_instruction"],
        viewport=_SCREEN,
        relation=relation,
        axes=(Axis("variant", row["variant"]), Axis("instruction", kind)),
        template=row["task_id"],
        pair_id=f"{step}/{kind}",
    )


def stated(instruction: str) -> Relation | None:
    """The side that an instruction states, outside of quoted names where it can be; None where it states none."""
    found = _SIDE.search(_QUOTED.sub(" ", instruction)) or _SIDE.search(instruction)
    return _SIDES[found[1].lower()] if found else None
