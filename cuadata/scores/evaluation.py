"""Evaluating logged answers and comparing runs: what the commands call, and what a script would call instead."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cuadata import __version__, registry
from cuadata.building import folders
from cuadata.contracts import Gold
from cuadata.errors import CallError
from cuadata.scores import grounding, predictions, runs
from cuadata.scores.grounding import Scored
from cuadata.scores.runs import Run


def gold_set(text: str) -> tuple[str, list[Gold]]:
    """The name and the questions of `NAME:PATH`. CallError where the name or the path is missing or unknown."""
    name, _, path = text.partition(":")
    if not name or not path:
        raise CallError(f"'{text}' names no gold set; write NAME:PATH, as in gui_perturbed:../gui_perturbed")
    if name not in registry.gold:
        raise CallError(f"no gold set is named '{name}'; there are: {', '.join(registry.gold.names()) or 'none'}")
    if not Path(path).exists():
        raise CallError(f"there is nothing at {path}, where the gold set {name} should be")
    return name, list(registry.gold[name](Path(path)))


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
) -> tuple[Run, tuple[Scored, ...], dict[str, Any]]:
    """Score a predictions file against a gold set: the run, each answer, and the summary that `--json` prints.

    `gold` is NAME:PATH; `format` reads the texts; `frame` overrides the frame of the logged numbers; `kind` says which
    instruction was asked where the file does not. CallError for a wrong call, DataError for data that cannot be scored.
    """
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
    settings: dict[str, Any] = {"tolerance": tolerance, "vote": vote, "frame": frame}
    rows = tuple(grounding.score(one, reader, **settings) for one in matched.answered)
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
    )
    return run, rows, {**described(run), **grounding.summary(matched, rows, tolerance=tolerance)}


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
