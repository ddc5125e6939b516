"""What people said of rows, as a file, and the gates scored against it.

A review is a line of JSON: `{"id": "...", "verdict": "right"}`, with `note` and `reviewer` where there is more to say. The
verdicts are those that a person reaches by looking at picture, instruction and box: right, wrong target, wrong reference,
ambiguous.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from cuadata.errors import DataError
from cuadata.judging import importing
from cuadata.publishing import published
from cuadata.rows import CONFIGS, Example, Rejected
from cuadata.statistics import intervals

Word = Literal["right", "wrong_target", "wrong_reference", "ambiguous"]
WORDS: Final = get_args(Word)
#: Columns that scoring does not need, which are nearly all of a row's bytes.
_HEAVY: Final = ("image", "thumbnail", "transformed", "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a person said of one row."""

    id: Annotated[str, "id of the row"]
    verdict: Annotated[Word, "right, wrong_target, wrong_reference or ambiguous"]
    note: Annotated[str, "in the person's words"] = ""
    reviewer: Annotated[str, "who said it, for agreement between people"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateScore:
    """What people say of the rows that one gate rejected for one reason."""

    gate: str
    reason: str
    n: Annotated[int, "reviewed rows that it rejected"]
    wrong: Annotated[intervals.Rate, "of them, how many people too found wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The gates of a dataset against its reviews."""

    reviewed: Annotated[int, "reviewed rows that are in the dataset, kept or rejected"]
    unknown: Annotated[int, "reviews of rows that are not in it"]
    kept: Annotated[dict[str, int], "kept rows by what people said"]
    rejected: Annotated[dict[str, int], "rejected rows by what people said"]
    precision: Annotated[intervals.Rate, "of the reviewed rows that were kept, how many are right"]
    recall: Annotated[intervals.Rate, "of the reviewed rows that are right, how many were kept"]
    caught: Annotated[intervals.Rate, "of the reviewed rows that are wrong, how many were rejected"]
    gates: Annotated[tuple[GateScore, ...], "by gate and reason, the most frequent first"]
    disagreeing: Annotated[int, "rows of which people said both right and wrong; they count as wrong"]


def read(path: Path) -> list[Review]:
    """Reviews of a file, in order. DataError, with the line, for a record that is no review."""
    if not path.is_file():
        raise DataError("there is no such file of reviews", place=str(path))
    return [_review(record, place) for place, record in importing.records(path)]


def _review(record: Mapping[str, Any], place: str) -> Review:
    word = str(record.get("verdict", "")).strip().lower().replace(" ", "_").replace("-", "_")
    if not isinstance(record.get("id"), str) or word not in WORDS:
        raise DataError(f"wanted an id and a verdict ({', '.join(WORDS)}), got {dict(record)!r:.120}", place=place)
    return Review(
        id=record["id"],
        verdict=word,  # type: ignore[arg-type]
        note=str(record.get("note") or ""),
        reviewer=str(record.get("reviewer") or ""),
    )


def score(folder: Path, reviews: Sequence[Review]) -> Score:
    """Score the gates of the dataset in `folder`. DataError where it is none, or no review is of a row of it."""
    said = _said(reviews)
    kept, rejected = _kept(folder, said), _rejected(folder, said)
    if not kept and not rejected:
        raise DataError(f"none of {len(said)} reviewed ids is a row of the dataset", place=str(folder))
    # A row that one config keeps and another rejects was kept.
    rejected = {id: row for id, row in rejected.items() if id not in kept}
    right_kept = sum(said[id] == "right" for id in kept)
    right_dropped = sum(said[id] == "right" for id in rejected)
    wrong = len(kept) - right_kept, len(rejected) - right_dropped
    return Score(
        reviewed=len(kept) + len(rejected),
        unknown=len(said) - len(kept) - len(rejected),
        kept=_by_word(said[id] for id in kept),
        rejected=_by_word(said[id] for id in rejected),
        precision=intervals.counted(right_kept, len(kept)),
        recall=intervals.counted(right_kept, right_kept + right_dropped),
        caught=intervals.counted(wrong[1], sum(wrong)),
        gates=_by_gate(rejected.values(), said),
        disagreeing=sum(len(words) > 1 and "right" in words for words in _words(reviews).values()),
    )


def _words(reviews: Iterable[Review]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in reviews:
        found.setdefault(one.id, set()).add(one.verdict)
    return found


def _said(reviews: Iterable[Review]) -> dict[str, str]:
    """One word a row: where people differ, the first that is not right."""
    found: dict[str, str] = {}
    for one in reviews:
        if found.get(one.id, "right") == "right":
            found[one.id] = one.verdict
    return found


def _kept(folder: Path, said: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    for config in published.configs(folder):
        if issubclass(CONFIGS[config], Example):
            ids = (row["id"] for row in published.columns(folder, config, ("id",)))
            found.update(id for id in ids if id in said)
    return found


def _rejected(folder: Path, said: Mapping[str, str]) -> dict[str, Rejected]:
    if "rejected" not in published.configs(folder):
        return {}
    rows = published.rows(folder, "rejected", Rejected, without=_HEAVY)
    return {row.id: row for row in rows if row.id in said}


def _by_word(words: Iterable[str]) -> dict[str, int]:
    found = Counter(words)
    return {word: found[word] for word in WORDS}


def _by_gate(rows: Iterable[Rejected], said: Mapping[str, str]) -> tuple[GateScore, ...]:
    held: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        held.setdefault((row.gate, row.reason), []).append(said[row.id] != "right")
    found = [
        GateScore(gate=gate, reason=reason, n=len(wrong), wrong=intervals.rate(wrong))
        for (gate, reason), wrong in held.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.n, one.gate, one.reason)))
