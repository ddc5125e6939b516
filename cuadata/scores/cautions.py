"""What a reader of an evaluation's figures has to know before believing them, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from cuadata.scores.predictions import Matched

#: So many questions are named where some have no answer.
_NAMED: Final = 5


def of(result: Mapping[str, Any], *, several: Sequence[str] = (), says: Collection[str] | None = None) -> list[str]:
    """The sentences that belong to a summary of logged answers.

    `several` are splits that were read together; `says` is what the format has words for, None where that is not known.
    """
    unknown = result["unknown"]
    return [
        *_unanswered(result),
        *(
            f"no question of the {what} {name!r} has an answer: {held['questions']} of {result['questions']} questions"
            for what, table in (("variant", "by_variant"), ("kind", "by_instruction"))
            for name, held in result[table].items()
            if held["unanswered"] == held["questions"]
        ),
        *(_unsayable(result) if says is not None and "infeasible" not in says else []),
        *([_lines_of_nothing(unknown)] if unknown else []),
        *([f"the splits {', '.join(several)} are scored together; NAME:PATH:SPLIT takes one"] if several else []),
    ]


def of_match(matched: Matched) -> list[str]:
    """The same of a predictions file that is judged answer by answer: what of it, and of the set, is left out."""
    total, left, unknown = len(matched.answered) + len(matched.missing), len(matched.missing), len(matched.unknown)
    return [
        *([f"{left} of {total} questions have no answer, and are left out"] if left else []),
        *([_lines_of_nothing(unknown)] if unknown else []),
    ]


def _lines_of_nothing(count: int) -> str:
    return f"lines that name no question of the set, and are scored nowhere: {count}"


def _unanswered(result: Mapping[str, Any]) -> list[str]:
    if not result["unanswered"]:
        return []
    first = f"{result['unanswered']} of {result['questions']} questions have no answer; "
    whole = rate(result["accuracy_all"], result["interval_all"])
    if result["unanswered_are"] == "wrong":
        return [f"{first}they are counted as wrong in every figure"]
    left = result["strict_pairs_left_out"]
    return [
        f"{first}counted as wrong the accuracy is {whole}, not {rate(result['accuracy'], result['interval'])}",
        *([f"left out of the strict pairs, since a question of theirs has no answer: {left} items"] if left else []),
    ]


def _unsayable(result: Mapping[str, Any]) -> list[str]:
    """Questions that nobody can answer right in this format."""
    held = result["by_feasible"].get("infeasible")
    if held is None:
        return []
    told = f"'{result['format']}' has no word for infeasible, so what nothing answers cannot be answered right: "
    return [f"{told}{held['questions']} of {result['questions']} questions; `by_feasible` holds both apart"]


def notes(result: Mapping[str, Any]) -> list[str]:
    """What is no fault, and still decides what the figures are of."""
    found = [
        f"the {count} questions of the kind '{kind}' were not asked: the file answers none of them, and no figure counts them"
        for kind, count in result["kinds_not_asked"].items()
    ]
    variants = [name for name, held in result["by_variant"].items() if held["n"]]
    if any(held["n"] for held in result["flips"].values()):  # the same items under several
        found.append(
            f"figures over all variants count an item once in each of {len(variants)}, as if they were items of their own: "
            "their intervals are too narrow by as much as the variants agree"
        )
    if result["reworded"]:
        found.append(f"{result['reworded']} answers are to an instruction that the set has in other words now")
    return found


def refusal(matched: Matched) -> str:
    """Why questions without an answer are refused, with the first of them."""
    held = [one.task.id for one in matched.missing]
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    total = len(matched.answered) + len(held)
    return (
        f"{len(held)} of {total} questions have no answer: {', '.join(held[:_NAMED])}{more}; answer them, or score with "
        "--unanswered skip or wrong"
    )


def rate(value: float | None, ends: tuple[float, float] | None) -> str:
    """A share in percent with its interval."""
    if value is None or ends is None:
        return "not known"
    return f"{100 * value:.1f} % [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"
