"""Lists of annotated pictures: one record a line, each a picture, an instruction and a box or a point.

This is the form in which most grounding sets are passed on. The convention of the numbers is a matter of the file: it is
declared, or decided where only one fits every row (`cuadata.judging.conventions`), or the rows are rejected as
convention_unknown. A row whose picture is missing, broken, of another size or outside of the set comes out without a
picture, and the notes of its observation begin with the reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import geometry
from cuadata.errors import DataError
from cuadata.judging import conventions, importing
from cuadata.judging.conventions import Decision
from cuadata.judging.importing import Problem
from cuadata.registry import sources
from cuadata.types import Action, BBox, Element, Image, Observation, Outcome, Point, Size, Step, Trajectory

#: Field names that sets use, the first that is there counts.
_PICTURES: Final = ("image", "image_path", "img_filename", "img_path", "image_file", "screenshot", "img")
_INSTRUCTIONS: Final = ("instruction", "text", "query", "prompt", "caption", "description", "expression")
_SIZES: Final = ("image_size", "img_size", "size", "resolution")
_BOXES: Final = (
    "bbox", "box", "bounding_box", "bbox_px", "bbox_xyxy", "bbox_xywh", "bbox_unit", "rect", "bbox_2d", "box_2d"
)  # fmt: skip
_POINTS: Final = ("point", "click", "coordinate", "point_px", "position", "point_2d")
_CONVENTIONS: Final = ("convention", "bbox_convention", "declared")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A record, looked at."""

    place: str
    record: dict[str, Any]
    word: Annotated[str, "the convention that the record names; empty: none"]
    image: Image | Problem
    size: Annotated[Size | None, "of the picture itself, else as stated; None where neither is known"]
    box: Sequence[float] | None
    point: Sequence[float] | None


@sources.add
def annotated(path: Path, *, convention: str | None = None) -> Iterator[Trajectory]:
    """A JSON Lines file, a JSON list, or a folder with one: every record a trajectory of one click.

    `convention`: what the boxes are in, where the file does not say; see `cuadata.judging.conventions`. DataError for a file that
    cannot be read, and for a folder without exactly one.
    """
    file = _file(path)
    rows = [_row(file.parent, place, record, convention) for place, record in importing.records(file)]
    for row, decision, point_decision in _decided(rows):
        yield _trajectory(file, row, decision, point_decision)


def _file(path: Path) -> Path:
    if path.is_file():
        return path
    found = sorted(one for one in path.glob("*.json*") if one.suffix in (".json", ".jsonl")) if path.is_dir() else []
    if len(found) != 1:
        named = ", ".join(one.name for one in found[:5]) or "none"
        raise DataError(f"wanted one .jsonl or .json file of records, found {named}; name the file", place=path.name)
    return found[0]


def _first(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _row(folder: Path, place: str, record: dict[str, Any], convention: str | None) -> _Row:
    stated = _size(record)
    found = importing.picture(folder, _first(record, _PICTURES), stated)
    size = Size(found.width, found.height) if isinstance(found, Image) else stated
    word = str(_first(record, _CONVENTIONS) or convention or "")
    held = _first(record, _BOXES)
    box = _by_name(held, word) if isinstance(held, Mapping) else _numbers(held, 4)
    return _Row(
        place=place,
        record=record,
        word=word,
        image=found,
        size=size,
        box=box,
        point=_pair(_first(record, _POINTS)),
    )


def _size(record: Mapping[str, Any]) -> Size | None:
    held = _first(record, _SIZES)
    if held is None and "width" in record and "height" in record:
        held = [record["width"], record["height"]]
    numbers = _numbers(held, 2)
    if numbers is None or not all(number >= 1 and number == int(number) for number in numbers):
        return None
    return Size(int(numbers[0]), int(numbers[1]))


def _by_name(box: Mapping[str, Any], word: str) -> list[float] | None:
    """The four numbers of a box that names its sides: its corners, or corner and size where the word says that order."""
    orders = {one.partition("_")[0] for one in conventions.of_word(word)}
    if orders - {"xyxy", "xywh"}:
        return None  # a middle or a row first, called x: nobody can say which of the two is meant
    sized = orders == {"xywh"}
    for corner, names in (
        (("x", "y"), ("width", "height")),
        (("left", "top"), ("width", "height")),
        (("x", "y"), ("w", "h")),
    ):
        if (numbers := _numbers([box.get(name, "") for name in (*corner, *names)], 4)) is not None:
            x, y, width, height = numbers
            return numbers if sized else [x, y, x + width, y + height]
    for sides in (("x1", "y1", "x2", "y2"), ("left", "top", "right", "bottom"), ("xmin", "ymin", "xmax", "ymax")):
        if (numbers := _numbers([box.get(name, "") for name in sides], 4)) is not None:
            left, top, right, bottom = numbers
            return [left, top, right - left, bottom - top] if sized else numbers
    return None


def _pair(value: Any) -> list[float] | None:
    """A point as a list of two numbers, or by name."""
    return _numbers([value.get("x", ""), value.get("y", "")] if isinstance(value, Mapping) else value, 2)


def _numbers(value: Any, count: int) -> list[float] | None:
    """A list of numbers; a null among them is not a number; None where it is no such list."""
    if not isinstance(value, (list, tuple)) or len(value) != count:
        return None
    if not all(one is None or (isinstance(one, (int, float)) and not isinstance(one, bool)) for one in value):
        return None
    return [float("nan") if one is None else float(one) for one in value]


def _decided(rows: Sequence[_Row]) -> Iterator[tuple[_Row, Decision | None, Decision | None]]:
    """Every row with the convention of boxes and of points, decided over all rows that declare the same."""
    found: dict[str, tuple[Decision | None, Decision | None]] = {}
    for word in {row.word for row in rows}:
        own = [row for row in rows if row.word == word]
        boxes = [(row.box, row.size) for row in own]
        points = [(row.point, row.size) for row in own]
        found[word] = (
            _decide(boxes, word, _hinted(own)),
            _decide(points, _of_points(word), None),
        )
    for row in rows:
        yield row, *found[row.word]


def _of_points(word: str) -> str:
    """What a word for boxes says of points: their unit alone, where it says one."""
    if not word:
        return ""
    units = {one.partition("_")[2] for one in conventions.of_word(word)}
    if not units:
        return word  # unknown, and said to be
    return f"xy_{units.pop()}" if len(units) == 1 else ""


def _hinted(rows: Sequence[_Row]) -> list[str] | None:
    """Conventions that the column's own name leaves: `bbox_xywh` says the order, `bbox_px` the unit."""
    names = {name for row in rows for name in _BOXES if row.record.get(name) is not None}
    words = {word for name in names for word in name.split("_")[1:]} if len(names) == 1 else set()
    named = [isinstance(_first(row.record, _BOXES), Mapping) for row in rows if row.box is not None]
    if named and all(named):  # boxes that name their sides were made corners
        words = (words - {"xywh"}) | {"xyxy"}
    orders = words & {"xyxy", "xywh"} or {"xyxy", "xywh"}
    units = words & {"px", "unit"} or {"px", "unit", "thousandths"}
    return [one for one in conventions.BOXES if one.split("_")[0] in orders and one.split("_")[1] in units]


def _decide(
    rows: Sequence[tuple[Sequence[float] | None, Size | None]], declared: str, consider: Sequence[str] | None
) -> Decision | None:
    """The convention of these rows; None for no rows. Rows that are broken in themselves do not decide it."""
    held = [(numbers, size) for numbers, size in rows if numbers is not None and size is not None]
    whole = [(numbers, size) for numbers, size in held if not any(map(math.isnan, numbers))]
    if not whole:
        return None
    left = conventions.of_word(declared) if declared else ()
    if declared and not left:
        return Decision(convention=None, reason="convention_unknown", misfits={declared: len(whole)}, first={})
    numbers = [one for one, _ in whole]
    sizes = [one for _, one in whole]
    if len(left) > 1:  # the word leaves the order or the unit open
        return conventions.decide(numbers, sizes, consider=[one for one in left if one in (consider or left)] or left)
    if left:
        declared = left[0]
        decision = conventions.decide(numbers, sizes, declared=declared, max_misfits=0.5)
        if _by_unit(numbers, declared) or _all_px(numbers, sizes, declared):
            return _contradicted(decision)
        if decision.convention is None and not _fits_another(numbers, sizes, declared):
            # Many rows are broken in themselves: each has its own reason, and the others are good.
            return Decision(convention=declared, misfits=decision.misfits, first=decision.first)
        return decision
    return conventions.decide(numbers, sizes, consider=consider)


def _by_unit(rows: Sequence[Sequence[float]], declared: str) -> bool:
    """Whether some number is far beyond what its unit reaches: 12 is no fraction."""
    reach = conventions.UNITS[declared.partition("_")[2]]
    return reach is not None and any(abs(number) > 2 * reach for row in rows for number in row)


def _all_px(rows: Sequence[Sequence[float]], sizes: Sequence[Size], declared: str) -> bool:
    """Whether a unit with a reach is said of rows that pixels hold all, some of which are clearly beyond that reach."""
    order, _, unit = declared.partition("_")
    reach = conventions.UNITS[unit]
    if reach is None or not any(number > 1.1 * reach for row in rows for number in row):
        return False
    return all(conventions.holds(row, f"{order}_px", size) for row, size in zip(rows, sizes, strict=True))


def _fits_another(rows: Sequence[Sequence[float]], sizes: Sequence[Size], declared: str) -> bool:
    """Whether most of the rows that a declared convention does not hold are explained by one other convention."""
    pairs = list(zip(rows, sizes, strict=True))
    misfits = [(row, size) for row, size in pairs if not conventions.holds(row, declared, size)]
    others = conventions.POINTS if len(rows[0]) == 2 else conventions.BOXES
    return any(
        2 * sum(conventions.holds(row, other, size) for row, size in misfits) > len(misfits)
        for other in others
        if other != declared
    )


def _contradicted(decision: Decision) -> Decision:
    return Decision(convention=None, reason="convention_contradicted", misfits=decision.misfits, first=decision.first)


def _trajectory(file: Path, row: _Row, boxes: Decision | None, points: Decision | None) -> Trajectory:
    size = row.size or Size(0, 0)
    box, box_problem = _box(row.box, boxes, row.size)
    point, point_problem = _box(row.point, points, row.size)
    at = Point(point.x, point.y) if point is not None else None
    notes = [row.image.note] if isinstance(row.image, Problem) else []
    notes += [problem.note for problem in (box_problem, point_problem) if problem is not None]
    record, number = row.record, row.place.rpartition(":")[2].rpartition("#")[2]
    given = record.get("id")
    name = f"{file.stem}/{number if not isinstance(given, (str, int)) else given}"
    click = at or (box.center if box is not None and geometry.finite(box) else None)
    target = Element(
        id=0,
        role=_text(record, ("role",)),
        name=_text(record, ("name", "label")),
        bbox=box,
        point=click,
        seen=1.0,
        hit=1.0,
    )
    observation = Observation(
        screenshot=None if isinstance(row.image, Problem) else row.image, viewport=size, notes=tuple(notes)
    )
    step = Step(
        index=0,
        time=0.0,
        observation=observation,
        action=Action(type="click", point=click),
        target=target if box is not None or at is not None else None,
    )
    return Trajectory(
        id=name,
        instruction=_text(record, _INSTRUCTIONS),
        source="annotated",
        steps=(step,),
        outcome=Outcome(ended="success"),
        site=_text(record, ("site", "website", "application", "data_source")),
    )


def _text(record: Mapping[str, Any], names: Sequence[str]) -> str:
    held = _first(record, names)
    return held if isinstance(held, str) else ""


def _box(
    numbers: Sequence[float] | None, decision: Decision | None, size: Size | None
) -> tuple[BBox | None, Problem | None]:
    """The box in px of its picture, and what stands against reading it."""
    if numbers is None or size is None:
        return None, None
    if any(map(math.isnan, numbers)):  # no number in whatever it counts
        return conventions.to_px(numbers, "xywh_px" if len(numbers) == 4 else "xy_px", size), None
    if decision is None or decision.convention is None:
        reason = decision.reason if decision is not None and decision.reason else "convention_unknown"
        evidence = {"misfits": decision.misfits if decision is not None else {}, "numbers": json.loads(_plain(numbers))}
        return None, Problem(reason=reason, evidence=evidence)
    return conventions.to_px(numbers, decision.convention, size), None


def _plain(numbers: Sequence[float]) -> str:
    return json.dumps([None if math.isnan(number) else number for number in numbers])
