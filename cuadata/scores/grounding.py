"""Logged grounding answers scored against a gold set: accuracy by variant, where the misses went, what flipped."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from msgspec import to_builtins

from cuadata import scoring
from cuadata.contracts import Format, Gold
from cuadata.errors import DataError
from cuadata.scores import misses, predictions
from cuadata.scores.misses import Miss
from cuadata.scores.predictions import Answered, Matched, Reading
from cuadata.statistics import voting
from cuadata.statistics.intervals import Rate, counted, rate
from cuadata.types import Axis, BBox, Point

#: Targets by the square root of their area, CSS px: upper edges of the bins.
SIZES = ((16.0, "under 16 px"), (32.0, "16 to 32 px"), (64.0, "32 to 64 px"), (float("inf"), "64 px and over"))
#: Where a question has no target, since nothing answers it.
NO_TARGET = "no target"
Trivial = Literal["nothing", "infeasible", "random point", "screen centre", "reference", "oracle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One question with its answer's score."""

    id: Annotated[str, "id of the question"]
    item: Annotated[str, "joins the variants of one question"]
    cluster: Annotated[str, "screenshot or task, for the bootstrap"]
    variant: Annotated[str, "how the page was changed"]
    kind: Annotated[str, "kind of instruction"]
    relation: Annotated[str | None, "side that the instruction states"]
    axes: Annotated[tuple[Axis, ...], "what was varied"]
    size: Annotated[str, "bin of the target's size"]
    point: Annotated[Point | None, "where it clicked, CSS px"]
    success: Annotated[bool, "the point lies in the target's box; infeasible was said where nothing is meant"]
    failure: Annotated[str | None, "why the answer could not be read; None where it could"]
    miss: Annotated[Miss | None, "class of the miss; None for a hit, or where no stated relation holds"]
    taxonomy: Annotated[bool, "the stated relation holds, so that misses have a class"]
    edge_px: Annotated[float | None, "distance to the box, CSS px; None without a point"]
    centre_px: Annotated[float | None, "distance to the middle of the box, CSS px; None without a point"]
    samples: Annotated[int, "texts that the answer was made from; 0 where there is none"] = 1
    consistency: Annotated[float | None, "share of samples that agree; None for a single one"] = None
    answered: Annotated[bool, "whether there is an answer at all"] = True
    feasible: Annotated[bool, "something answers the question; False: infeasible is the right answer"] = True


def score(
    answered: Answered,
    format: Format,
    *,
    tolerance: float = 0.0,
    vote: int | None = None,
    frame: str | None = None,
) -> Scored:
    """One question. With `vote` its first so many texts vote on a region; without it a question has one text.

    DataError where there are more texts than are used, or fewer than the vote wants.
    """
    gold = answered.gold
    wanted = vote or 1
    if len(answered.texts) < wanted or (vote is None and len(answered.texts) > 1):
        raise DataError(
            f"{len(answered.texts)} texts, but {wanted} wanted; --vote K joins K samples of a question into one answer",
            place=gold.task.id,
        )
    seen = predictions.view(gold, frame)
    readings = [predictions.read(text, format, seen) for text in answered.texts[:wanted]]
    if vote is None:
        return _scored(gold, readings[0], tolerance)
    agreed = voting.vote([r.point for r in readings], viewport=gold.task.viewport)
    given_up = [r for r in readings if r.action is not None and r.action.type == "infeasible"]
    if len(given_up) > agreed.votes:  # more samples say that there is nothing than agree on a place
        return _scored(gold, given_up[0], tolerance, vote, len(given_up) / vote)
    failure = readings[0].failure if all(r.failure is not None for r in readings) else None
    joined = Reading(action=None, point=agreed.point, failure=failure)
    return _scored(gold, joined, tolerance, vote, agreed.consistency)


def unanswered(gold: Gold) -> Scored:
    """A question that has no answer, which is not right; it has no class of miss, since nothing went anywhere."""
    return replace(
        _scored(gold, Reading(action=None, point=None, failure=None), 0.0, 0), answered=False, miss=None, taxonomy=False
    )


def _scored(
    gold: Gold, reading: Reading, tolerance: float, samples: int = 1, consistency: float | None = None
) -> Scored:
    right = predictions.right(reading, gold, tolerance)
    point, failure, target = reading.point, reading.failure, gold.target
    taxonomy = gold.holds is True
    return Scored(
        id=gold.task.id,
        item=gold.task.pair_id or gold.task.id,
        cluster=gold.cluster or gold.task.id,
        variant=gold.variant,
        kind=gold.kind,
        relation=gold.task.relation,
        axes=gold.task.axes,
        size=size_of(gold),
        point=point,
        success=right,
        failure=failure,
        miss=None if right or not taxonomy else _miss(gold, point, failure),
        taxonomy=taxonomy,
        edge_px=None if point is None or target is None else scoring.edge_error(point, target),
        centre_px=None if point is None or target is None else scoring.centre_error(point, target),
        samples=samples,
        consistency=consistency,
        feasible=target is not None,
    )


def _miss(gold: Gold, point: Point | None, failure: str | None) -> Miss:
    if point is None:
        return "no_point" if failure is None else "unread"
    return misses.classify(
        point, gold.references, gold.task.relation, viewport=gold.task.viewport, candidates=gold.candidates
    )


def size_bin(box: BBox) -> str:
    """The bin of `SIZES` that a target falls into, by the square root of its area."""
    side = max(box.width * box.height, 0.0) ** 0.5
    for edge, name in SIZES:
        if side < edge:
            return name
    return SIZES[-1][1]


def size_of(gold: Gold) -> str:
    """The bin of a question's target; `NO_TARGET` where nothing answers it."""
    return NO_TARGET if gold.target is None else size_bin(gold.target)


def trivial(gold: Gold, name: Trivial) -> Point | None:
    """What a policy that looks at nothing would click; `random point` is drawn from the question's id.

    It is a digest's halves, each a share of a side: to seed a generator for two numbers costs as much as reading an answer.
    """
    if name in ("nothing", "infeasible"):
        return None
    if name == "random point":
        across, down = divmod(
            int.from_bytes(hashlib.blake2b(gold.task.id.encode(), digest_size=8).digest(), "big"), 2**32
        )
        return Point(across / 2**32 * gold.task.viewport.width, down / 2**32 * gold.task.viewport.height)
    if name == "screen centre":
        return Point(gold.task.viewport.width / 2, gold.task.viewport.height / 2)
    if name == "reference":
        return gold.references[0].center if gold.references else None
    return gold.target.center if gold.target is not None else None


def summary(matched: Matched, rows: Sequence[Scored], *, tolerance: float, wrong: bool = False) -> dict[str, Any]:
    """Everything that `cuadata evaluate --json` says of a predictions file, as plain values.

    Accuracy is over the questions that have an answer and counts a parse failure as not right, and beside it; beside it
    too stand `questions`, how many of them are `unanswered`, and `accuracy_all`, which counts those as wrong, as every
    figure does where `wrong` is set. `misses` looks only at answers whose reference stands in the relation that the
    instruction states; its shares are of all such rows that were not hit. `strict_pairs` is the share of items of which
    every member is right: all variants of a step, or all members of a minimal pair; items with an unanswered member are
    left out and counted, unless `wrong` is set. `rows` are the answers' scores, in order.
    """
    every = [*rows, *map(unanswered, matched.missing)]
    judged = every if wrong else list(rows)
    variants = list(dict.fromkeys(r.variant for r in every))
    sizes = _by(every, lambda r: (r.size,), wrong)
    lacking = {r.item for r in every if not r.answered}
    members = Counter(r.item for r in every if r.item in lacking)
    whole = judged if wrong or not lacking else [r for r in rows if r.item not in lacking]
    return {
        "tolerance_px": tolerance,
        **_accuracy(every, wrong),
        "unread": dict(sorted(Counter(predictions.kind_of(r.failure) for r in rows if r.failure).items())),
        "missing": len(matched.missing),
        "unknown": len(matched.unknown),
        "reworded": matched.reworded,
        "kinds_not_asked": matched.unasked,
        "by_variant": {v: _accuracy([r for r in every if r.variant == v], wrong) for v in variants},
        "by_instruction": _by(every, lambda r: [r.kind], wrong),
        "by_relation": _by(every, lambda r: [r.relation] if r.relation else [], wrong),
        "by_size": {name: sizes[name] for name in (*(n for _, n in SIZES), NO_TARGET) if name in sizes},
        "by_feasible": _by_feasible(every, wrong),
        "by_axis": _axes(every, wrong),
        "flips": _flips(judged),
        "worst_variant": _worst(judged, variants),
        "strict_pairs": to_builtins(scoring.strict((r.item, r.success) for r in whole)),
        "strict_pairs_left_out": 0 if wrong else sum(number > 1 for number in members.values()),
        "trivial": _trivial([*(a.gold for a in matched.answered), *(matched.missing if wrong else ())], tolerance),
    }


def tally(rows: Sequence[Scored], wrong: bool) -> dict[str, Any]:
    """The accuracy of some questions: over those that have an answer, or all where `wrong` is set, and over all."""
    answered = [r.success for r in rows if r.answered]
    right = rate(answered)
    lacking = len(rows) - len(answered)
    whole = counted(right.hits, len(rows)) if lacking else right
    return {
        **accuracy(whole if wrong else right),
        "questions": len(rows),
        "unanswered": lacking,
        "accuracy_all": whole.rate,
        "interval_all": whole.interval,
    }


def _accuracy(every: Sequence[Scored], wrong: bool) -> dict[str, Any]:
    rows = [r for r in every if r.answered]
    found: dict[str, Any] = {
        **tally(every, wrong),
        "parse_failures": sum(r.failure is not None for r in rows),
        "no_point": sum(r.failure is None and r.point is None and not r.success for r in rows),
        "centre_error_px": to_builtins(scoring.distances(r.centre_px for r in rows if r.centre_px is not None)),
        "miss_distance_px": to_builtins(
            scoring.distances(r.edge_px for r in rows if r.edge_px is not None and not r.success)
        ),
    }
    if any(r.samples > 1 for r in rows):
        held = [r.consistency for r in rows if r.consistency is not None]
        found["consistency"] = sum(held) / len(held)
    told = [r for r in rows if r.taxonomy]
    if told:
        found["misses"] = _misses(told)
    return found


def _misses(rows: Sequence[Scored]) -> dict[str, Any]:
    found = misses.table(r.miss for r in rows)
    return {"rows": found.rows, "n": found.n, **{name: to_builtins(share) for name, share in found.classes.items()}}


def _by(rows: Iterable[Scored], keys: Callable[[Scored], Iterable[str]], wrong: bool) -> dict[str, Any]:
    groups: dict[str, list[Scored]] = {}
    for row in rows:
        for key in keys(row):
            groups.setdefault(key, []).append(row)
    return {key: tally(held, wrong) for key, held in sorted(groups.items())}


def _by_feasible(rows: Sequence[Scored], wrong: bool) -> dict[str, Any]:
    """Questions that something answers, and those that nothing does; empty where there are none of the latter."""
    if all(r.feasible for r in rows):
        return {}
    return _by(rows, lambda r: ["feasible" if r.feasible else "infeasible"], wrong)


def accuracy(found: Rate) -> dict[str, Any]:
    """A rate under the names that tables use."""
    return {"n": found.n, "accuracy": found.rate, "interval": found.interval}


def _axes(rows: Sequence[Scored], wrong: bool) -> dict[str, Any]:
    groups: dict[str, dict[str, list[Scored]]] = {}
    for row in rows:
        for axis in row.axes:
            groups.setdefault(axis.name, {}).setdefault(axis.value, []).append(row)
    return {
        name: {value: tally(some, wrong) for value, some in sorted(held.items())}
        for name, held in sorted(groups.items())
    }


def _flips(rows: Sequence[Scored]) -> dict[str, Any]:
    """Each variant against the unchanged page, or against the first where there is none."""
    variants = list(dict.fromkeys(r.variant for r in rows))
    if len(variants) < 2:
        return {}
    base = "original" if "original" in variants else variants[0]
    by = {v: {r.item: r.success for r in rows if r.variant == v} for v in variants}
    return {v: {"against": base, **to_builtins(scoring.flips(by[base], by[v]))} for v in variants if v != base}


def _worst(rows: Sequence[Scored], variants: Sequence[str]) -> dict[str, Any] | None:
    found = scoring.worst({v: [r.success for r in rows if r.variant == v] for v in variants})
    return None if found is None else {"variant": found[0], **accuracy(found[1])}


def _trivial(golds: Sequence[Gold], tolerance: float) -> dict[str, Any]:
    names: list[Trivial] = ["nothing", "infeasible", "random point", "screen centre", "reference", "oracle"]
    if not any(g.references for g in golds):
        names.remove("reference")
    if all(g.target is not None for g in golds):
        names.remove("infeasible")  # it is right nowhere, as nothing is
    return {n: accuracy(rate([_trivially_right(g, n, tolerance) for g in golds])) for n in names}


def _trivially_right(gold: Gold, name: Trivial, tolerance: float) -> bool:
    if gold.target is None:
        return name in ("oracle", "infeasible")
    return scoring.hit(trivial(gold, name), gold.target, tolerance)
