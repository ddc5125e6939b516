"""Evaluation runs on disk: what was run, and one line for each episode or answer, so that any two can be compared.

A run is a folder: `run.json` says what made it, `episodes.jsonl` (environments) or `answers.jsonl` (logged outputs) holds
one JSON object a line, appended and flushed as they come, so that interrupted work resumes; `result.json` and the report
are made from these and can be made again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from cuadata import schema
from cuadata.building import folders
from cuadata.errors import CallError, DataError
from cuadata.scores.failures import Ending, Failure, Turn, failures
from cuadata.scores.grounding import Scored
from cuadata.types import Axis, Ended

#: The fixed test set: every stage is scored on these seeds of a family, and nothing is trained on them.
TEST_SEEDS = range(9_000_000, 9_000_200)
#: Seeds from here on are for testing only.
FIRST_TEST_SEED = TEST_SEEDS.start
#: Seeds end here: JSON and pages hold larger integers inexactly, so two seeds would make one task.
_SEEDS_END = 2**53
RUN, EPISODES, ANSWERS, RESULT = "run.json", "episodes.jsonl", "answers.jsonl", "result.json"
#: What a model was asked, turn by turn, where a run has a model; `cuadata parity` reads it.
PROMPTS = "prompts.jsonl"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What made a run. Two runs of the same items are comparable where `items` agree."""

    name: Annotated[str, "policy or model, as tables call it"]
    kind: Annotated[Literal["episodes", "answers"], "environments, or logged outputs"]
    what: Annotated[str, "family, or gold set"]
    items: Annotated[str, "hash over the ids of all items asked for, in order"]
    count: Annotated[int, "number of items asked for"]
    format: Annotated[str | None, "model family's format; None for policies without one"] = None
    frame: Annotated[str | None, "frame that overrides the family's"] = None
    tolerance: Annotated[float, "slack around a target box, CSS px"] = 0.0
    vote: Annotated[int | None, "samples joined into one answer; None for one"] = None
    options: Annotated[str, "JSON text: options of policy, family and environment"] = "{}"
    version: Annotated[str, "version of this package"] = ""
    questions: Annotated[int | None, "logged outputs: questions that were asked, answered or not; None: not known"] = (
        None
    )
    unanswered: Annotated[Literal["skip", "wrong"], "what became of questions without an answer"] = "skip"
    browser: Annotated[str, "build and kind of the browser; empty where none was used"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One episode of a policy in an environment."""

    id: Annotated[str, "family/seed, and /sample where a seed is played more than once"]
    family: Annotated[str, "family"]
    seed: Annotated[int, "seed"]
    instruction: Annotated[str, "what the policy was asked to do"]
    success: Annotated[bool | None, "by the exact criterion; None where nobody said"]
    default: Annotated[bool | None, "by the task's own, laxer criterion; the exact one where it has no other"]
    ended: Annotated[Ended, "why it ended"]
    turns: Annotated[tuple[Turn, ...], "in order"]
    raw: Annotated[float | None, "the task's own reward"] = None
    reward: Annotated[float, "sum of the reward terms paid"] = 0.0
    failures: Annotated[tuple[Failure, ...], "how it failed; empty for a success"] = ()
    missing: Annotated[int | None, "what was asked for and not done: selections, or conditions; None: not known"] = None
    extra: Annotated[int | None, "selections that were not requested; None: not known"] = None
    size: Annotated[int | None, "how many things the task requests; None where that means nothing"] = None
    axes: Annotated[tuple[Axis, ...], "what was varied"] = ()
    cluster: Annotated[str, "episodes that share their fate: the seed's own id, or a template"] = ""
    sample: Annotated[int, "which try at this seed, from 0"] = 0
    reason: Annotated[str | None, "detail of the end in words"] = None


def episode(*, turns: Sequence[Turn], ending: Ending, **fields: object) -> Episode:
    """An episode with its failures worked out from its turns and its ending."""
    return Episode(
        turns=tuple(turns),
        success=ending.success,
        ended=ending.ended,
        missing=ending.missing,
        extra=ending.extra,
        failures=failures(turns, ending),
        **fields,  # type: ignore[arg-type]
    )


def items(ids: Iterable[str]) -> str:
    """A hash over ids in order, 16 hex digits."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]


def seeds(text: str) -> range:
    """Seeds from `A:B` (A to B - 1), a single number, or `test` for the fixed test set. CallError otherwise."""
    if text == "test":
        return TEST_SEEDS
    first, _, last = text.partition(":")
    try:
        start = int(first)
        stop = int(last) if last else start + 1
    except ValueError:
        raise CallError(f"'{text}' names no seeds; write A:B for A to B - 1, one number, or test") from None
    if start < 0 or stop <= start:
        raise CallError(f"'{text}' holds no seed; write A:B with 0 <= A < B")
    if stop > _SEEDS_END:
        raise CallError(f"'{text}' goes beyond {_SEEDS_END - 1}, the largest seed there is; write smaller numbers")
    return range(start, stop)


def begin(folder: Path, run: Run, *, force: bool = False, reads: Sequence[Path | str] = ()) -> None:
    """Begin a run, or go on with the same one. CallError where the folder holds another run and `force` is not set.

    `reads` are the inputs, which `force` spares: see `folders.refuse_files`.
    """
    header = folder / RUN
    if header.exists() and not force:
        held = _run(header)
        if held == run:
            for name in (EPISODES, ANSWERS, PROMPTS):
                _mend(folder / name)
            return
        raise CallError(f"{folder} holds another run ({held.name} on {held.what}); give another folder, or --force")
    folders.refuse_files(folder, force=force, reads=reads, held="run")
    folder.mkdir(parents=True, exist_ok=True)
    for name in (EPISODES, ANSWERS, PROMPTS, RESULT):
        (folder / name).unlink(missing_ok=True)
    folders.put(header, schema.to_json(run) + b"\n")


def _mend(file: Path) -> None:
    """Cut off a last line that was not written to its end, so that the next one stands on its own."""
    if file.is_file() and not (held := file.read_bytes()).endswith(b"\n"):
        os.truncate(file, held.rfind(b"\n") + 1)


def append(folder: Path, line: Episode | Scored) -> None:
    """Add one line and flush it to disk."""
    name = EPISODES if isinstance(line, Episode) else ANSWERS
    with (folder / name).open("ab") as file:
        file.write(schema.to_json(line) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def write_answers(folder: Path, lines: Sequence[Scored]) -> None:
    """All answers at once."""
    folders.put(folder / ANSWERS, b"".join(schema.to_json(line) + b"\n" for line in lines))


def header(folder: Path) -> Run:
    """What made the run. DataError where the folder holds none."""
    file = folder / RUN
    if not file.is_file():
        raise DataError(f"no {RUN}: this is no run; `cuadata evaluate ... --out {folder}` makes one", place=str(folder))
    return _run(file)


def _run(file: Path) -> Run:
    try:
        return schema.from_json(file.read_bytes(), Run)
    except ValueError as error:
        raise DataError(f"{error}; make the run again, or restore the file", place=str(file)) from error


def episodes(folder: Path) -> tuple[Episode, ...]:
    """The episodes of a run; an episode that was written twice counts once, the first time."""
    held: dict[str, Episode] = {}
    for one in _lines(folder / EPISODES, Episode):
        held.setdefault(one.id, one)
    return tuple(held.values())


def answers(folder: Path) -> tuple[Scored, ...]:
    """The answers of a run."""
    return tuple(_lines(folder / ANSWERS, Scored))


def _lines(file: Path, kind: type[T]) -> Iterator[T]:
    """Lines of a run; a last line that was cut off while it was written is left out."""
    if not file.is_file():
        return
    held = file.read_bytes().split(b"\n")
    for number, line in enumerate(held, 1):
        if not line.strip():
            continue
        try:
            yield schema.from_json(line, kind)
        except ValueError as error:
            if number == len(held):
                return
            raise DataError(str(error), place=f"{file}:{number}") from error
