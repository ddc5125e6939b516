"""Evaluating logged answers and comparing runs: what the commands call, and what a script would call instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from cuadata import __version__, registry
from cuadata.building import folders
from cuadata.contracts import Gold
from cuadata.errors import CallError, DataError
from cuadata.scores import cautions, grounding, misread, predictions, runs
from cuadata.scores.grounding import Scored
from cuadata.scores.runs import Run

#: What becomes of questions that have no answer.
Unanswered = Literal["skip", "wrong", "refuse"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A gold set as a command line names it: `NAME:PATH`, or `NAME:PATH:SPLIT` for one split."""

    name: Annotated[str, "name in the registry"]
    path: Annotated[Path, "where it lies"]
    split: Annotated[str, "the split asked for; empty: all of it"]

    @property
    def what(self) -> str:
        """How results name it: without its place."""
        return f"{self.name}:{self.split}" if self.split else self.name

    @property
    def several(self) -> list[str]:
        """The splits that are read together where none was asked for; empty where there are not several."""
        find: Any = getattr(registry.gold[self.name], "splits", None)
        held = sorted(set(find(self.path))) if find is not None and not self.split else []
        return held if len(held) > 1 else []


def asked(text: str) -> Asked:
    """What `NAME:PATH` or `NAME:PATH:SPLIT` names. CallError where name or path is missing or unknown, or has no splits."""
    name, _, rest = text.partition(":")
    if not name or not rest:
        raise CallError(
            f"'{text}' names no gold set; write NAME:PATH, as in gui_perturbed:../gui_perturbed, or dataset:PATH:SPLIT"
        )
    if name not in registry.gold:
        raise CallError(f"no gold set is named '{name}'; there are: {', '.join(registry.gold.names()) or 'none'}")
    if Path(rest).exists():
        return Asked(name, Path(rest), "")
    path, colon, split = rest.rpartition(":")
    if not colon or not path or not Path(path).exists():
        raise CallError(f"there is nothing at {path or rest}, where the gold set {name} should be")
    split = split.removeprefix("split=")
    if not split or not hasattr(registry.gold[name], "splits"):
        raise CallError(f"'{text}' asks for a split, and {'names none' if not split else f'{name} has none'}")
    return Asked(name, Path(path), split)


def gold_set(text: str) -> tuple[str, list[Gold]]:
    """What results call the set of `NAME:PATH` or `NAME:PATH:SPLIT`, and its questions. CallError as `asked`."""
    found = asked(text)
    read: Any = registry.gold[found.name]
    return found.what, list(read(found.path, split=found.split) if found.split else read(found.path))


def answers(
    path: Path,
    gold: str,
    format: str,
    *,
    tolerance: float = 0.0,
    vote: int | None = None,
    frame: str | None = None,
    kind: str | None = None,
    name: str | None = None,
    unanswered: Unanswered = "skip",
) -> tuple[Run, tuple[Scored, ...], dict[str, Any]]:
    """Score a predictions file against a gold set: the run, each answer, and the summary that `--json` prints.

    `gold` is NAME:PATH or NAME:PATH:SPLIT; `format` reads the texts; `frame` overrides the frame of the logged numbers;
    `kind` says which instruction was asked where the file does not. Questions without an answer are left out of
    `accuracy` and counted beside it; with `unanswered="wrong"` they are scored as wrong, with "refuse" a DataError names
    them. CallError for a wrong call, DataError for data that cannot be scored.
    """
    if unanswered not in get_args(Unanswered):
        raise CallError(
            f"'{unanswered}' is no way with unanswered questions; there are: {', '.join(get_args(Unanswered))}"
        )
    if tolerance < 0:
        raise CallError(f"a tolerance of {tolerance} px shrinks the boxes; 0 or more is wanted")
    if vote is not None and vote < 1:
        raise CallError(f"{vote} samples cannot vote; 1 or more are wanted")
    if format not in registry.formats:
        lack = f"no format is named '{format}'" if format else "--gold needs --format, the form that the answers are in"
        raise CallError(f"{lack}; there are: {', '.join(registry.formats.names())}")
    what, golds = gold_set(gold)
    reader = registry.formats[format]
    if golds and tolerance >= (longest := max(max(one.task.viewport.width, one.task.viewport.height) for one in golds)):
        raise CallError(f"with {tolerance:g} px of slack every point of a page of {longest:g} px hits; give less")
    matched = predictions.match(predictions.lines(path), golds, kind=kind)
    if getattr(reader, "lists_elements", False) and not any(one.gold.elements for one in matched.answered):
        raise CallError(
            f"'{format}' answers by ids of the page's elements, and no question of {gold} holds its page; "
            "rows that do are made by `cuadata build --elements`"
        )
    if unanswered == "refuse" and matched.missing:
        raise DataError(cautions.refusal(matched), place=str(path))
    settings: dict[str, Any] = {"tolerance": tolerance, "vote": vote, "frame": frame}
    scored = tuple(grounding.score(one, reader, **settings) for one in matched.answered)
    wrong = unanswered == "wrong"
    rows = _in_order((*scored, *map(grounding.unanswered, matched.missing)), golds) if wrong else scored
    run = Run(
        name=name or path.stem,
        kind="answers",
        what=what,
        items=runs.items(r.id for r in rows),
        count=len(rows),
        format=format,
        frame=frame or matched.answered[0].gold.frame,
        tolerance=tolerance,
        vote=vote,
        version=__version__,
        questions=len(matched.answered) + len(matched.missing),
        unanswered="wrong" if wrong else "skip",
    )
    result = {**described(run), **grounding.summary(matched, scored, tolerance=tolerance, wrong=wrong)}
    hints = misread.hints(matched.answered, scored, format, tolerance=tolerance, frame=frame)
    says = getattr(reader, "says", None)
    said = [*cautions.of(result, several=asked(gold).several, says=says), *hints]
    return run, rows, {**result, "warnings": said, "notes": cautions.notes(result)}


def _in_order(rows: Iterable[Scored], golds: Sequence[Gold]) -> tuple[Scored, ...]:
    """Rows in the gold set's order."""
    places = {one.task.id: place for place, one in enumerate(golds)}
    return tuple(sorted(rows, key=lambda row: places[row.id]))


def described(run: Run) -> dict[str, Any]:
    """What stands at the head of every result: what was run, how, and on which items."""
    return {
        "name": run.name,
        "what": run.what,
        "format": run.format,
        "frame": run.frame,
        "vote": run.vote,
        "items": run.items,
        "options": run.options,
        "unanswered_are": "wrong" if run.unanswered == "wrong" else "left out",
        "version": run.version,
        "browser": run.browser,
    }


def save(
    folder: Path,
    run: Run,
    rows: Sequence[Scored],
    result: dict[str, Any],
    *,
    force: bool = False,
    reads: Sequence[Path | str] = (),
) -> None:
    """Write a run of logged answers: its header, its answers and its result. CallError as `runs.begin`."""
    runs.begin(folder, run, force=force, reads=reads)
    runs.write_answers(folder, rows)
    save_result(folder, result)


def save_result(folder: Path, result: dict[str, Any]) -> None:
    """Write the summary beside the run."""
    folders.put(folder / runs.RESULT, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
