"""Rewards scored offline on logged answers: what a reward would have paid, before anything is trained on it.

Beside each reward stands a random one, drawn for the same answers: a reward that ranks hits no better, or spreads its
groups no more usefully, has nothing to teach.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata.contracts import Gold
from cuadata.errors import CallError, DataError
from cuadata.registry import formats, rewards
from cuadata.scores import cautions, evaluation, misread, predictions
from cuadata.scores.predictions import Answered, Matched
from cuadata.statistics import groups, intervals

#: Columns that name the group of an answer, the first that is there.
GROUPS: Final = ("group", "group_id", "prompt_id", "task_id", "id")
RANDOM: Final = "random"
#: Columns that make the question of a line, and what its answers are judged by.
_ASKED: Final = (
    "target", "bbox", "references", "candidates", "relation", "action", "instruction", "frame", "format", "step_index",
    "variant", "image_width", "image_height", "viewport_width", "viewport_height",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One prompt: every answer to it, and the columns that a reward judges by."""

    group: Annotated[str, "name of the prompt"]
    answers: Annotated[tuple[str, ...], "the model's texts"]
    columns: Annotated[Mapping[str, Any], "target, sizes, frame, format, ..."]
    own: Annotated[
        tuple[Mapping[str, Any], ...],
        "what each answer's own line holds, such as its outcome; empty: all share `columns`",
    ] = ()
    place: Annotated[str, "file and line of the first answer; empty where the columns are a gold set's"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one reward pays over a file."""

    name: Annotated[str, "the reward"]
    n: Annotated[int, "answers"]
    left_out: Annotated[int, "prompts without a column that this reward judges by"]
    mean: Annotated[float, "mean"]
    std: Annotated[float, "standard deviation, n - 1 in the denominator"]
    quantiles: Annotated[tuple[float, ...], "minimum, quartiles, maximum"]
    zero: Annotated[float, "share of answers paid exactly 0"]
    groups: Annotated[int, "groups of two answers or more"]
    without_spread: Annotated[float | None, "share of those groups in which every reward is the same; None: no groups"]
    group_std: Annotated[float | None, "mean standard deviation inside a group; None: no groups"]
    ranks_hits: Annotated[float | None, "chance that a hit is paid more than a miss (AUC); None without both"]


def from_gold(path: Path, gold: str, form: str, *, frame: str | None = None, kind: str | None = None) -> list[Case]:
    """The cases of a predictions file against a gold set, NAME:PATH. Raises as `evaluation.answers`."""
    return _cases(_matched(path, gold, kind).answered, form, frame)


def _matched(path: Path, gold: str, kind: str | None) -> Matched:
    _, golds = evaluation.gold_set(gold)
    return predictions.match(predictions.lines(path), golds, kind=kind)


def _cases(answered: Sequence[Answered], form: str, frame: str | None) -> list[Case]:
    return [
        Case(group=one.gold.task.id, answers=one.texts, columns=_columns(one.gold, form, frame)) for one in answered
    ]


def _columns(gold: Gold, form: str, frame: str | None) -> dict[str, Any]:
    return {
        "format": form,
        "target": gold.target,
        "references": gold.references,
        "candidates": gold.candidates,
        "relation": gold.task.relation,
        "image_size": gold.image,
        "viewport_size": gold.task.viewport,
        "frame": frame or gold.frame,
    }


def from_rows(path: Path, form: str, *, frame: str | None = None) -> list[Case]:
    """The cases of a predictions file whose lines hold their own columns. Lines of one group are one case.

    A line's group is its `group`, `group_id`, `prompt_id`, `task_id` or `id`; a line without one is a group of its own.
    DataError for a line without a text, and for a file without lines.
    """
    found: dict[str, Case] = {}
    for place, row in predictions.lines(path):
        group = next((str(row[name]) for name in GROUPS if row.get(name) is not None), place)
        texts = predictions.texts(row, place)
        if not texts:
            raise DataError("the list of texts is empty; write what the model said, or leave the line out", place=place)
        held = found.get(group)
        columns = {**row, "format": row.get("format", form), **({"frame": frame} if frame else {})}
        if held is not None:
            _check_same(group, held, columns, place)
        own = (columns,) * len(texts)
        found[group] = (
            Case(group=group, answers=texts, columns=columns, own=own, place=place)
            if held is None
            else replace(held, answers=(*held.answers, *texts), own=(*held.own, *own))
        )
    if not found:
        raise DataError("holds no predictions", place=str(path))
    return list(found.values())


def _check_same(group: str, held: Case, columns: Mapping[str, Any], place: str) -> None:
    """DataError where a line of a group is of another question: its answers would be judged by the first one's target."""
    for name in _ASKED:
        if columns.get(name) != held.columns.get(name):
            raise DataError(
                f"it is of group '{group:.80}' as {held.place} is, and its `{name}` is another; samples of one question are "
                "a group: give each question a `group` of its own",
                place=place,
            )


def score(cases: Sequence[Case], names: Sequence[str], *, seed: int = 0, **thresholds: Any) -> tuple[Score, ...]:
    """Every reward over the cases, and a random one at the end.

    Prompts without a column that a reward judges by, such as those that state no relation, are left out of its line and
    counted. Where it can judge none of them its error is raised, as every other error is. Thresholds go to the rewards
    that have them.
    """
    hits = [_hits(case) for case in cases]
    table = [_line_of(name, cases, hits, thresholds) for name in names]
    draw = random.Random(seed)
    chance = [[draw.random() for _ in case.answers] for case in cases]
    return (*table, _score(RANDOM, chance, hits))


def _line_of(
    name: str, cases: Sequence[Case], hits: Sequence[Sequence[bool] | None], thresholds: Mapping[str, Any]
) -> Score:
    paid: list[Sequence[float]] = []
    marks: list[Sequence[bool] | None] = []
    lacking: CallError | None = None
    for case, hit in zip(cases, hits, strict=True):
        try:
            paid.append(_paid(name, case, thresholds))
            marks.append(hit)
        except CallError as error:  # a column is missing
            lacking = error
    if lacking is not None and not paid:
        raise CallError(f"{name}: {lacking}") from lacking
    return _score(name, paid, marks, left_out=len(cases) - len(paid))


def _paid(name: str, case: Case, thresholds: Mapping[str, Any]) -> list[float]:
    known = {key: value for key, value in thresholds.items() if key in _parameters(rewards[name])}
    own = case.own or [case.columns] * len(case.answers)
    return [
        float(rewards[name](answer, **{**columns, "group": case.answers, **known}))
        for answer, columns in zip(case.answers, own, strict=True)
    ]


def _parameters(reward: Callable[..., Any]) -> set[str]:
    import inspect

    return {name for name, p in inspect.signature(reward).parameters.items() if p.kind is p.KEYWORD_ONLY}


def _hits(case: Case) -> list[bool] | None:
    """Which answers hit the target; None for rows without one, such as rollouts that carry only an outcome."""
    if case.columns.get("target", case.columns.get("bbox")) is None:
        return None
    try:
        return [rewards["point_in_box"](answer, **case.columns) > 0 for answer in case.answers]
    except (ValueError, TypeError) as error:
        if not case.place:
            raise
        raise DataError(str(error), place=case.place) from error


def _score(
    name: str, paid: Sequence[Sequence[float]], hits: Sequence[Sequence[bool] | None], *, left_out: int = 0
) -> Score:
    values = [value for group in paid for value in group]
    if not values:
        raise DataError("there are no answers to score")
    shared = [group for group in paid if len(group) > 1]
    spread = groups.spread({str(at): group for at, group in enumerate(shared)})
    judged = [
        (v, h) for group, marks in zip(paid, hits, strict=True) if marks for v, h in zip(group, marks, strict=True)
    ]
    return Score(
        name=name,
        n=len(values),
        left_out=left_out,
        mean=intervals.average(values),
        std=intervals.deviation(values),
        quantiles=_quantiles(values),
        zero=sum(v == 0 for v in values) / len(values),
        groups=len(shared),
        without_spread=spread.fraction if shared else None,
        group_std=intervals.average([intervals.deviation(group) for group in shared]) if shared else None,
        ranks_hits=auc(judged),
    )


def _quantiles(values: Sequence[float]) -> tuple[float, ...]:
    held, unit = sorted(values), intervals.scale(values)
    cuts = statistics.quantiles([v / unit for v in held], n=4, method="inclusive") if len(held) > 1 else None
    return (held[0], *([unit * cut for cut in cuts] if cuts is not None else held * 3), held[-1])


def auc(judged: Iterable[tuple[float, bool]]) -> float | None:
    """Chance that a hit is paid more than a miss, ties counting half (area under the ROC curve, by ranks); None without
    a hit and a miss."""
    held = sorted(judged)
    number = sum(hit for _, hit in held)
    misses = len(held) - number
    if not number or not misses:
        return None
    total, at = 0.0, 0
    while at < len(held):
        end = at
        while end < len(held) and held[end][0] == held[at][0]:
            end += 1
        total += sum(hit for _, hit in held[at:end]) * (at + 1 + end) / 2  # the mean rank of the ties
        at = end
    return (total - number * (number + 1) / 2) / (number * misses)


def show(
    path: Path,
    names: str,
    form: str,
    *,
    gold: str = "",
    frame: str | None = None,
    kind: str | None = None,
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Score and print: a table on stderr, or one object on stdout."""
    from msgspec import to_builtins

    from cuadata.reporting import printing

    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if not wanted:
        raise CallError(f"say which rewards to score; there are: {', '.join(rewards.names())}")
    if wrong := [name for name in wanted if name not in rewards]:
        raise CallError(f"no reward is named '{wrong[0]}'; there are: {', '.join(rewards.names())}")
    if form not in formats:
        raise CallError(f"no format is named '{form}'; there are: {', '.join(formats.names())}")
    matched = _matched(path, gold, kind) if gold else None
    cases = _cases(matched.answered, form, frame) if matched else from_rows(path, form, frame=frame)
    found = score(cases, wanted, seed=seed)
    warnings = [
        *(
            f"{one.left_out} prompts lack what {one.name} judges by, and are left out of it"
            for one in found
            if one.left_out
        ),
        *(cautions.of_match(matched) if matched else []),
        *misread.of_samples(matched.answered if matched else (), form, frame=frame),
    ]
    if as_json:
        held = {"predictions": path.name, "format": form, "rewards": to_builtins(found), "warnings": warnings}
        printing.data(held)
    head = ["reward", "n", "mean", "median", "0", "no spread", "std in group", "ranks hits"]
    printing.table(f"Rewards of {path.name} ({len(cases)} prompts)", head, [_line(one) for one in found])
    printing.warn(warnings)


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.3e}"


def _line(one: Score) -> list[str]:
    share = "-" if one.without_spread is None else f"{100 * one.without_spread:.1f} %"
    inside = "-" if one.group_std is None else _number(one.group_std)
    ranks = "-" if one.ranks_hits is None else f"{one.ranks_hits:.3f}"
    return [
        one.name,
        str(one.n),
        _number(one.mean),
        _number(one.quantiles[2]),
        f"{100 * one.zero:.1f} %",
        share,
        inside,
        ranks,
    ]
