"""Logged model outputs: found their questions, read through a format, never guessed at.

A predictions file is JSON lines. A line names its question by `id` (the gold item's) or by the gold set's own columns, and
holds the model's text, or a list of sampled texts. Several lines for one question are samples of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata import text_files
from cuadata.contracts import Format, Gold, ParseFailure, View
from cuadata.errors import CallError, DataError
from cuadata.scoring import hit
from cuadata.types import Action, Point

#: Where the text stands, the first that is there.
TEXTS = (
    "raw_prediction",
    "output",
    "outputs",
    "raw_output",
    "model_output",
    "prediction",
    "response",
    "completion",
    "completions",
    "generated_text",
    "answer",
    "text",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question and every text that a model gave for it."""

    gold: Annotated[Gold, "the question"]
    texts: Annotated[tuple[str, ...], "the model's texts, in the file's order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """A predictions file against a gold set."""

    answered: Annotated[tuple[Answered, ...], "in the gold set's order"]
    missing: Annotated[tuple[Gold, ...], "questions that were asked and have no answer, in the gold set's order"]
    unasked: Annotated[
        dict[str, int],
        "kind -> its questions, of kinds that the file answers nothing of: the same items in other words",
    ]
    unknown: Annotated[tuple[str, ...], "lines that name no question of the set"]
    reworded: Annotated[int, "answers to an instruction that the set has in other words now"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One text as a format reads it."""

    action: Annotated[Action | None, "None where it could not be read"]
    point: Annotated[Point | None, "where it clicks, CSS px; None where it does not"]
    failure: Annotated[str | None, "kind and cause where it could not be read: 'no_action: ...'"]


def lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and content of each line that is not blank. DataError that names the line where it is no JSON object.

    CallError where `path` is no file.
    """
    if path.is_dir() or not path.exists():
        what = "is a folder" if path.is_dir() else "is not there"
        raise CallError(
            f"'{path}' {what}; wanted a predictions file: JSON lines, each naming its question and an answer"
        )
    with path.open(encoding="utf-8-sig", errors="replace") as opened:
        for number, line in enumerate(opened, 1):
            if not line.strip():
                continue
            place = f"{path}:{number}"
            row = _value(line, place)
            if not isinstance(row, dict):
                raise DataError("a prediction is a JSON object that names its question and holds a text", place=place)
            yield place, row


def _value(line: str, place: str) -> Any:
    """What a line of JSON is, NaN taken for a number."""
    try:
        return text_files.json_value(line)
    except (ValueError, RecursionError) as error:
        told = "; JSON Lines are wanted, one object a line" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"no JSON: {error}{told}", place=place) from error


def texts(row: Mapping[str, Any], place: str) -> tuple[str, ...]:
    """The model's texts in a line; null is an empty text. DataError where no column holds any.

    A list is one of samples, but a list of numbers alone, [683, 324], is one answer.
    """
    for name in TEXTS:
        if name in row:
            if isinstance(row[name], str):
                return (row[name],)
            several = isinstance(row[name], list) and not (
                row[name] and all(isinstance(n, int | float) for n in row[name])
            )
            held = row[name] if several else [row[name]]
            return tuple(t if isinstance(t, str) else "" if t is None else json.dumps(t) for t in held)
    raise DataError(f"no column holds the model's text; one of {', '.join(TEXTS)} is wanted", place=place)


def match(rows: Iterable[tuple[str, Mapping[str, Any]]], golds: Sequence[Gold], *, kind: str | None = None) -> Matched:
    """Find the question of each line.

    Where the columns fit questions of several kinds (one step has a direct and a relational instruction), the line's
    instruction decides, then its `kind` or `instruction_type`; lines with an instruction that was reworded since belong to
    the kind that most of the file has, or to `kind`. CallError where that is not to be told, or where the set has no such
    kind or the file asks for another; DataError where no line fits the set.

    Questions without an answer are missing. Only where a set asks the same items in several ways, which its columns do not
    tell apart, are ways that the file answers nothing of taken for not asked.
    """
    if kind is not None and kind not in (there := sorted({one.kind for one in golds})):
        raise CallError(f"the gold set has no kind '{kind}'; there are: {', '.join(there)}")
    index, held = _Index(golds), list(rows)
    named = [index.exact(row, kind, place) for place, row in held]
    kinds = Counter(one.kind for one in named if one is not None)
    if kind is not None and kinds and kind not in kinds:
        raise CallError(
            f"no line asks for the kind '{kind}': the file's instructions are of the kind '{', '.join(sorted(kinds))}'"
        )
    usual = kind or next((k for k, _ in kinds.most_common(1)), None)
    found: dict[str, list[str]] = {}
    unknown, reworded = [], 0
    for (place, row), exact in zip(held, named, strict=True):
        one = exact or index.usual(row, usual, place)
        reworded += exact is None and one is not None
        if one is None:
            unknown.append(place)
            continue
        found.setdefault(one.task.id, []).extend(texts(row, place))
    if not found:
        raise DataError(_nothing_found(len(held), golds, index.names))
    missing, unasked = index.left(found)
    return Matched(
        answered=tuple(Answered(gold=g, texts=tuple(found[g.task.id])) for g in golds if g.task.id in found),
        missing=missing,
        unasked=unasked,
        unknown=tuple(unknown),
        reworded=reworded,
    )


def _nothing_found(lines: int, golds: Sequence[Gold], columns: Sequence[str]) -> str:
    if not golds:
        return "the gold set has no question"
    if not lines:
        return "the predictions file is empty: no line holds an answer"
    wanted = f"by `id`, such as '{golds[0].task.id}'"
    if columns:
        values = {c.name: c.value for c in golds[0].columns}
        wanted += f", or by the set's own columns, such as {json.dumps(values)}"
    return f"none of {lines} predictions names a question of the gold set: {wanted}"


def _word(value: Any) -> str:
    """A column's value as text; tables with holes turn 3 into 3.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class _Index:
    """Questions by id and by the set's own columns."""

    def __init__(self, golds: Sequence[Gold]) -> None:
        self.golds = golds
        self.by_id = {g.task.id: g for g in golds}
        self.names = tuple(c.name for c in golds[0].columns) if golds else ()
        self.by_columns: dict[tuple[str, ...], list[Gold]] = {}
        for one in golds:
            self.by_columns.setdefault(tuple(c.value for c in one.columns), []).append(one)

    def fitting(self, row: Mapping[str, Any]) -> list[Gold]:
        if "id" in row and (named := self.by_id.get(str(row["id"]))) is not None:
            return [named]
        if not self.names:
            return []
        try:
            return self.by_columns.get(tuple([_word(row[name]) for name in self.names]), [])
        except KeyError:
            return []

    def left(self, found: Mapping[str, object]) -> tuple[tuple[Gold, ...], dict[str, int]]:
        """The questions that nothing was found for: those that were asked, and how many of each kind were not."""
        if len(found) == len(self.golds):
            return (), {}
        left = [one for one in self.golds if one.task.id not in found]
        seen = {one.kind for one in self.golds if one.task.id in found}
        unasked = Counter(one.kind for one in left if one.kind not in seen)
        for kind in list(unasked):
            first = next(one for one in left if one.kind == kind)
            others = self.by_columns[tuple(c.value for c in first.columns)] if first.columns else ()
            if all(other.kind == kind for other in others):  # a kind of its own items: it was asked as all others were
                del unasked[kind]
        return tuple(one for one in left if one.kind not in unasked), dict(sorted(unasked.items()))

    def exact(self, row: Mapping[str, Any], kind: str | None, place: str) -> Gold | None:
        """The question that a line names without doubt: what was asked says more than what a file or a caller calls it.

        DataError where a line's own kind is not that of its instruction.
        """
        fitting = self.fitting(row)
        named = row.get("kind", row.get("instruction_type"))
        asked = [g for g in fitting if g.task.instruction == row.get("instruction")] if len(fitting) > 1 else []
        if len(asked) == 1:
            if named in {g.kind for g in fitting} and named != asked[0].kind:
                raise DataError(
                    f"the line is of the kind '{named}', and its instruction is that of '{asked[0].kind}'", place=place
                )
            return asked[0]
        for wanted in (named, kind):
            if wanted is not None and len(fitting) > 1:
                fitting = [g for g in fitting if g.kind == wanted] or fitting
        return fitting[0] if len(fitting) == 1 else None

    def usual(self, row: Mapping[str, Any], kind: str | None, place: str) -> Gold | None:
        """The question of the usual kind, for a line whose instruction fits none."""
        fitting = self.fitting(row)
        if len(fitting) > 1 and kind is None:
            kinds = " or ".join(sorted({g.kind for g in fitting}))
            raise CallError(f"{place}: the instruction is not in the gold set; say the kind of question: {kinds}")
        return next((g for g in fitting if g.kind == kind), None)


def view(gold: Gold, frame: str | None = None) -> View:
    """What a format needs to read an answer to this question; `frame` overrides the frame of the logged outputs."""
    return View(image=gold.image, viewport=gold.task.viewport, elements=gold.elements, frame=frame or gold.frame)


def read(text: str, format: Format, seen: View) -> Reading:
    """One text through a format. Where its first action has no point, that of a later one counts."""
    try:
        action = format.read(text, seen)
        point = action.point
        if point is None and action.type not in ("done", "infeasible"):
            point = next((a.point for a in format.read_all(text, seen) if a.point is not None), None)
    except ParseFailure as failure:
        return Reading(action=None, point=None, failure=f"{failure.kind}: {failure}")
    return Reading(action=action, point=point, failure=None)


def right(reading: Reading, gold: Gold, tolerance: float = 0.0) -> bool:
    """Whether it is the question's answer: a point in the target's box, or infeasible where nothing answers the question."""
    if gold.target is None:
        return reading.action is not None and reading.action.type == "infeasible"
    return hit(reading.point, gold.target, tolerance)


def kind_of(failure: str) -> str:
    """The kind that a failure begins with: no_action, broken, coordinates_out_of_range, ..."""
    return failure.partition(":")[0]
