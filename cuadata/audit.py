"""Gates against people: which rows the geometry keeps, and what a person said of them.

GUI-Perturbed (arXiv 2604.14262) comes with reviews of relational steps that a script made: boxes of target and reference,
the relation that the script recorded, and whether a person rejected the step or found target and reference right. Only
boxes are known there, so only the geometric gates speak; what they cannot see is counted as well.
"""

from __future__ import annotations

import ast
import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import relations, text_files
from cuadata.errors import DataError
from cuadata.judging import gating
from cuadata.registry import gates
from cuadata.rows import Candidate, Example, Target, Verdict
from cuadata.splitting.examples import NO_PICTURE
from cuadata.statistics import intervals
from cuadata.statistics.paired import McNemar, mcnemar
from cuadata.types import Action, BBox, Relation, Size

SCREEN: Final = Size(1920, 1080)
#: The gates that need no more than boxes.
GEOMETRIC: Final = ("coordinates_out_of_range", "box", "reference", "relation")
DIRECTIONS: Final[dict[str, Relation]] = {"above": "above", "below": "below", "left": "left_of", "right": "right_of"}
#: Shares of the smaller extent by which target and reference may be out of line, for the sweep.
TOLERANCES: Final = (0.0, 0.02, 0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 1.0, math.inf)
CLASSES: Final[dict[str, str]] = {
    "not_rejected": "the person did not reject the step",
    "both_right": "the person found target and reference right",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A step and what a person said of it."""

    place: Annotated[str, "file and line"]
    task: Annotated[str, "rows of one task share their pages"]
    instruction: Annotated[str, "the direct instruction"]
    target: BBox
    reference: Annotated[BBox | None, "None where the script found none"]
    recorded: Annotated[tuple[str, ...], "sides that the script recorded; 'near' where it found no side"]
    truth: Annotated[dict[str, bool], "by class of `CLASSES`"]

    @property
    def relation(self) -> Relation | None:
        """The relation to check: the recorded side; where there is no single one, the side that the boxes show."""
        if len(self.recorded) == 1 and self.recorded[0] in DIRECTIONS:
            return DIRECTIONS[self.recorded[0]]
        if self.reference is None:
            return None
        for side in DIRECTIONS.values():
            if relations.holds(side, self.target, [self.reference]).holds:
                return side
        return None

    @property
    def misaligned(self) -> float:
        """How far the two are out of line across the relation, as a share of the smaller extent; inf without one."""
        if self.relation is None or self.reference is None:
            return math.inf
        return relations.misaligned(self.relation, self.target, self.reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """What a rule keeps against what a person said."""

    right_kept: int
    wrong_kept: int
    right_dropped: int
    wrong_dropped: int
    precision: Annotated[intervals.Rate, "of the kept, how many are right, with Wilson's interval"]
    recall: Annotated[intervals.Rate, "of the right, how many are kept, with Wilson's interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One class of a person's verdict: the gate, the bare rule, and the two against each other."""

    name: Annotated[str, "a word of `CLASSES`"]
    gate: Confusion
    bare: Confusion
    test: Annotated[McNemar, "correct decisions of the bare rule (first) and of the gate (second)"]
    tolerance: Annotated[float, "misalignment at which the gate's recall is no lower than the bare rule's"]
    at_equal_recall: Annotated[Confusion, "the gate at that tolerance"]
    test_at_equal_recall: Annotated[McNemar, "the same test at that tolerance"]
    crossed: Annotated[Confusion, "the gate where each tenth of the tasks is judged at the tolerance of the others"]
    test_crossed: Annotated[McNemar, "the same test of those decisions, which no row had a part in choosing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Everything that `cuadata audit gui_perturbed` prints."""

    reviews: int
    classes: tuple[Against, ...]
    reasons: Annotated[
        dict[str, dict[str, int]], "reason -> how many rows of each class, and how many of none, it drops"
    ]
    sweep: Annotated[tuple[dict[str, Any], ...], "precision and recall over the tolerance"]
    held_out: Annotated[
        dict[str, dict[str, float]], "tolerance chosen on other tasks: precision and recall of the rest"
    ]
    plain_but_rejected: Annotated[int, "rows that a person rejected though the geometry is as good as it gets"]
    same_boxes: Annotated[int, "pairs of rows with equal boxes of which a person rejected one"]
    columns: Annotated[
        dict[str, int] | None, "steps.csv: verdicts on the recorded columns by reason; None: no such file"
    ]


def gui_perturbed(path: Path) -> Audit:
    """Score the geometric gates against the reviews of GUI-Perturbed; `path` is reviews.csv or the folder that holds it.

    DataError, with the line, where a column is missing or a box is none.
    """
    folder = path if path.is_dir() else path.parent
    reviews = read_reviews(path / "reviews.csv" if path.is_dir() else path)
    verdicts = [verdict(candidate(one)) for one in reviews]
    kept = [one is None for one in verdicts]
    steps = folder / "steps.csv"
    return Audit(
        reviews=len(reviews),
        classes=tuple(_against(name, reviews, kept) for name in CLASSES),
        reasons=_by_reason(reviews, verdicts),
        sweep=tuple(_swept(reviews, kept, tolerance) for tolerance in TOLERANCES),
        held_out={name: _held_out(name, reviews) for name in CLASSES},
        plain_but_rejected=sum(
            keep and one.misaligned <= 0.02 and not one.truth["not_rejected"]
            for one, keep in zip(reviews, kept, strict=True)
        ),
        same_boxes=_same_boxes(reviews),
        columns=_columns(steps) if steps.is_file() else None,
    )


# Reading ---------------------------------------------------------------------------------------------------------------


def read_reviews(file: Path) -> list[Review]:
    """The reviews of a CSV file, in its order."""
    wanted = ("task_id", "step_instruction", "target_bbox", "nearest_bbox", "relative_position", "rejected")
    return [_review(row, place) for place, row in _rows(file, (*wanted, "target_correct", "nearest_correct"))]


def _rows(file: Path, wanted: Sequence[str]) -> Iterable[tuple[str, dict[str, str]]]:
    if not file.is_file():
        raise DataError("there is no such file", place=file.name)
    return text_files.table(file, wanted)


def _review(row: dict[str, str], place: str) -> Review:
    target = text_files.box(row["target_bbox"], place)
    if target is None:
        raise DataError("the step has no target box", place=place)
    yes = {name: row[name].strip().lower() == "true" for name in ("target_correct", "nearest_correct", "rejected")}
    return Review(
        place=place,
        task=row["task_id"],
        instruction=row["step_instruction"],
        target=target,
        reference=text_files.box(row["nearest_bbox"], place),
        recorded=_words(row["relative_position"], place),
        truth={
            "not_rejected": not yes["rejected"],
            "both_right": not yes["rejected"] and yes["target_correct"] and yes["nearest_correct"],
        },
    )


def _words(text: str, place: str) -> tuple[str, ...]:
    """`['above']` or `["above"]`; empty for an empty cell."""
    if not text.strip():
        return ()
    try:
        held = ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise DataError(f"{text!r:.60} is no list of words", place=place) from error
    return tuple(map(str, held)) if isinstance(held, (list, tuple)) else (str(held),)


# Judging ---------------------------------------------------------------------------------------------------------------


def candidate(review: Review) -> Candidate:
    """A review as a row of an imported set: boxes, and no page."""
    references = () if review.reference is None else (review.reference,)
    relation = review.relation or (review.recorded[0] if review.recorded else "near")
    return boxes_only(review.place, "", review.target, references, relation)


def boxes_only(
    name: str, instruction: str, target: BBox, references: Sequence[BBox], relation: str | None
) -> Candidate:
    """A row of GUI-Perturbed, of which only boxes on a 1920x1080 page are known."""
    example = Example(
        id=name,
        trajectory_id=name,
        step_index=0,
        image=NO_PICTURE,
        image_width=SCREEN.width,
        image_height=SCREEN.height,
        viewport_width=SCREEN.width,
        viewport_height=SCREEN.height,
        device_pixel_ratio=1.0,
        instruction=instruction,
        action=Action(type="click"),
        target=Target(role="", name="", bbox=target),
        references=tuple(Target(role="", name="", bbox=one) for one in references),
        relation=relation,
    )
    return Candidate(example=example)


def verdict(held: Candidate) -> Verdict | None:
    """The first geometric gate that does not keep; None where all do."""
    return next((one for one in gating.verdicts(held, _geometric()) if one.keep != "yes"), None)


@functools.cache
def _geometric(*settings: str) -> tuple[gating.Chosen, ...]:
    """The geometric gates; `settings` are added to the relation's: max_misaligned=1."""
    return tuple(
        gating.choose([":".join(["relation", *settings]) if name == "relation" else name for name in GEOMETRIC])
    )


def bare_rule(review: Review) -> bool:
    """The recorded side, and nothing else: beyond the edge, and sharing at least half of the smaller extent across."""
    if review.reference is None or len(review.recorded) != 1 or review.recorded[0] not in DIRECTIONS:
        return False
    return relations.holds(DIRECTIONS[review.recorded[0]], review.target, [review.reference]).holds


# Scoring ---------------------------------------------------------------------------------------------------------------


def confusion(kept: Sequence[bool], right: Sequence[bool]) -> Confusion:
    """Counts, precision and recall of what is kept."""
    found = Counter(zip(kept, right, strict=True))
    both, wrong, missed = found[True, True], found[True, False], found[False, True]
    return Confusion(
        right_kept=both,
        wrong_kept=wrong,
        right_dropped=missed,
        wrong_dropped=found[False, False],
        precision=intervals.counted(both, both + wrong),
        recall=intervals.counted(both, both + missed),
    )


def _against(name: str, reviews: Sequence[Review], kept: Sequence[bool]) -> Against:
    right = [one.truth[name] for one in reviews]
    bare = [bare_rule(one) for one in reviews]
    wanted = sum(keep and yes for keep, yes in zip(bare, right, strict=True))
    tolerance = _reaching(wanted, reviews, right)
    equal = _within(reviews, tolerance)
    crossed = _crossed(reviews, right, lambda held: sum(bare[place] and right[place] for place in held))
    return Against(
        name=name,
        gate=confusion(kept, right),
        bare=confusion(bare, right),
        test=_test(bare, kept, right),
        tolerance=tolerance,
        at_equal_recall=confusion(equal, right),
        test_at_equal_recall=_test(bare, equal, right),
        crossed=confusion(crossed, right),
        test_crossed=_test(bare, crossed, right),
    )


def _test(first: Sequence[bool], second: Sequence[bool], right: Sequence[bool]) -> McNemar:
    """McNemar's test on which of two rules decides rightly."""
    return mcnemar(
        [one == yes for one, yes in zip(first, right, strict=True)],
        [one == yes for one, yes in zip(second, right, strict=True)],
    )


def _within(reviews: Sequence[Review], tolerance: float) -> list[bool]:
    """What the gate keeps at another tolerance."""
    loose = _loose(reviews)
    return [keep and one.misaligned <= tolerance for keep, one in zip(loose, reviews, strict=True)]


def _loose(reviews: Sequence[Review]) -> list[bool]:
    """What the geometric gates keep without a bound on misalignment."""
    loose = _geometric("max_misaligned=Infinity")
    return [all(said.keep == "yes" for said in gating.verdicts(candidate(one), loose)) for one in reviews]


def _reaching(wanted: int, reviews: Sequence[Review], right: Sequence[bool]) -> float:
    """The tightest tolerance at which at least `wanted` right rows are kept."""
    loose = _loose(reviews)
    kept = sorted(one.misaligned for one, keep, yes in zip(reviews, loose, right, strict=True) if keep and yes)
    return kept[wanted - 1] if 0 < wanted <= len(kept) else math.inf


def _swept(reviews: Sequence[Review], kept: Sequence[bool], tolerance: float) -> dict[str, Any]:
    found = _within(reviews, tolerance)
    line: dict[str, Any] = {"tolerance": tolerance, "kept": sum(found)}
    for name in CLASSES:
        counted = confusion(found, [one.truth[name] for one in reviews])
        line[name] = {"precision": counted.precision.rate, "recall": counted.recall.rate}
    return line


def _held_out(name: str, reviews: Sequence[Review], recall: float = 0.8) -> dict[str, float]:
    """The tolerance is chosen on nine tenths of the tasks, the tightest that reaches a recall of 0.8, and tried on the rest."""
    right = [one.truth[name] for one in reviews]
    kept = _crossed(reviews, right, lambda held: math.ceil(recall * sum(right[place] for place in held)))
    found = confusion(kept, right)
    return {"precision": found.precision.rate or 0.0, "recall": found.recall.rate or 0.0}


def _crossed(
    reviews: Sequence[Review], right: Sequence[bool], wanted: Callable[[Sequence[int]], int], folds: int = 10
) -> list[bool]:
    """What is kept of each fold of the tasks, at the tolerance that keeps `wanted` right rows of the other folds."""
    tasks = {task: place % folds for place, task in enumerate(sorted({one.task for one in reviews}))}
    kept = [False] * len(reviews)
    for fold in range(folds):
        own = [place for place, one in enumerate(reviews) if tasks[one.task] == fold]
        others = [place for place, one in enumerate(reviews) if tasks[one.task] != fold]
        tolerance = _reaching(wanted(others), [reviews[place] for place in others], [right[place] for place in others])
        for place, keep in zip(own, _within([reviews[place] for place in own], tolerance), strict=True):
            kept[place] = keep
    return kept


def _by_reason(reviews: Sequence[Review], verdicts: Sequence[Verdict | None]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for one, verdict in zip(reviews, verdicts, strict=True):
        row = found.setdefault(
            verdict.reason or "" if verdict is not None else "kept", dict.fromkeys((*CLASSES, "rejected"), 0)
        )
        for name in CLASSES:
            row[name] += one.truth[name]
        row["rejected"] += not one.truth["not_rejected"]
    return dict(sorted(found.items()))


def _same_boxes(reviews: Sequence[Review]) -> int:
    """Pairs of rows whose boxes are equal and whose verdicts are not: no geometry tells these apart."""
    groups: dict[tuple[BBox, BBox | None], list[bool]] = {}
    for one in reviews:
        groups.setdefault((one.target, one.reference), []).append(one.truth["not_rejected"])
    return sum(group.count(True) * group.count(False) for group in groups.values())


def _columns(file: Path) -> dict[str, int]:
    """Verdicts of the relation's gate on the original steps, with the columns as they are and the text as rewritten."""
    wanted = ("variant", "relational_instruction", "target_bbox_xywh", "reference_bbox_xywh", "recorded_relation")
    found: Counter[str] = Counter()
    for place, row in _rows(file, wanted):
        if row["variant"] != "original":
            continue
        target, reference = (
            text_files.box(row["target_bbox_xywh"], place),
            text_files.box(row["reference_bbox_xywh"], place),
        )
        recorded = _words(row["recorded_relation"], place)
        column = DIRECTIONS.get(recorded[0]) if len(recorded) == 1 else None
        if target is None:
            raise DataError("the step has no target box", place=place)
        held = boxes_only(
            place, row["relational_instruction"], target, () if reference is None else (reference,), column
        )
        said = gates["relation"](held)
        contradicted = '"column"' in said.evidence
        found[
            "kept" if said.keep == "yes" else "column contradicts the instruction" if contradicted else str(said.reason)
        ] += 1
    return dict(sorted(found.items()))
