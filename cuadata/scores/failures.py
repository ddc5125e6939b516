"""Why an episode failed, by rules that read what happened and ask no model.

An episode may show several failures; they are listed in the order of `FAILURES`, and the first stands for the episode in
tables. Rules speak of evidence that was recorded: where it is missing they stay silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from cuadata.statistics.intervals import Rate, rate
from cuadata.types import Action, Ended

Failure = Literal[
    "no_executable_action",
    "budget_exhausted",
    "repeated_click_loop",
    "typed_before_dismissal",
    "acted_under_overlay",
    "unrequested_selection",
    "premature_submission",
    "parse_failure",
    "gave_up",
    "environment_error",
    "other",
]
FAILURES: tuple[Failure, ...] = get_args(Failure)
#: What each failure means, for tables and reports.
MEANING: dict[Failure, str] = {
    "no_executable_action": "not one action of the episode could be carried out",
    "budget_exhausted": "the step limit was reached",
    "repeated_click_loop": "it ended in the same useless action, three times or more",
    "typed_before_dismissal": "text was typed past an overlay that still stood",
    "acted_under_overlay": "an action went to something that an overlay covered, and did nothing",
    "unrequested_selection": "something was selected that was not asked for",
    "premature_submission": "it was submitted, or called done, with something asked for still missing",
    "parse_failure": "a text of the model could not be read",
    "gave_up": "the model said that it cannot be done",
    "environment_error": "the environment failed or was interrupted: no verdict on the model",
    "other": "it failed in none of these ways",
}
#: Two clicks nearer than this are the same click, CSS px.
SAME_PLACE = 3.0
#: So many times the same action without an effect is a loop.
LOOP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of an episode, as much of it as the rules and the tables need."""

    action: Annotated[Action | None, "None where the text could not be read"]
    output: Annotated[str, "the model's text; empty for policies without one"] = ""
    failure: Annotated[str | None, "why the text could not be read"] = None
    error: Annotated[str | None, "why the action could not be carried out"] = None
    effect: Annotated[bool | None, "whether it changed anything; None: not measured"] = None
    reward: Annotated[float, "what it earned"] = 0.0
    target: Annotated[str | None, "role and name of the element acted on"] = None
    overlay: Annotated[bool, "an overlay that the task does not ask for stood before the action"] = False
    on_overlay: Annotated[bool | None, "the action went to that overlay; None: no overlay, or no target known"] = None
    covered: Annotated[bool | None, "the target took no click where it was; None: not known"] = None
    error_px: Annotated[float | None, "distance from a click to the box it was meant for, CSS px; None: not known"] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an episode ended, and how far its selections were from what was asked."""

    ended: Annotated[Ended, "why it ended"]
    success: Annotated[bool | None, "by the exact criterion; None where nobody said"]
    missing: Annotated[int | None, "what was asked for and not done: selections, or conditions; None: not known"] = None
    extra: Annotated[int | None, "selections that were not requested; None: as above"] = None


def failures(turns: Sequence[Turn], ending: Ending) -> tuple[Failure, ...]:
    """Every failure that an unsuccessful episode shows, in the order of `FAILURES`; none for a success."""
    if ending.success:
        return ()
    found: dict[Failure, bool] = {
        "no_executable_action": not any(_executed(t) for t in turns),
        "budget_exhausted": ending.ended == "budget",
        "repeated_click_loop": loop(turns) >= LOOP,
        "typed_before_dismissal": any(_typed_past(t) for t in turns),
        "acted_under_overlay": any(_acted_under(t) for t in turns),
        "unrequested_selection": bool(ending.extra),
        "premature_submission": ending.ended == "failure" and bool(ending.missing),
        "parse_failure": any(t.failure is not None for t in turns),
        "gave_up": any(t.action is not None and t.action.type == "infeasible" for t in turns),
        "environment_error": ending.ended in ("error", "interrupted", "discarded"),
    }
    shown: tuple[Failure, ...] = tuple(name for name in FAILURES if found.get(name))
    return shown or ("other",)


def short(ending: Ending) -> int | None:
    """How many selections, or conditions, a premature submission was short; None for an episode that is none."""
    return ending.missing if not ending.success and ending.ended == "failure" and ending.missing else None


def loop(turns: Sequence[Turn]) -> int:
    """How often the last action was made in a row at the end without an effect; 0 where it had one or is not known."""
    count = 0
    for turn in reversed(turns):
        if turn.action is None or turn.effect is not False or not same(turn.action, turns[-1].action):
            break
        count += 1
    return count


def longest_loop(turns: Sequence[Turn]) -> int:
    """The longest row of the same action without an effect anywhere in the episode."""
    return max((loop(turns[: end + 1]) for end in range(len(turns))), default=0)


def same(one: Action, other: Action | None) -> bool:
    """Whether two actions are the same try: type, element and text alike, and points within `SAME_PLACE`."""
    if other is None or (one.type, one.element, one.text, one.keys) != (
        other.type,
        other.element,
        other.text,
        other.keys,
    ):
        return False
    if one.point is None or other.point is None:
        return one.point is other.point
    return abs(one.point.x - other.point.x) <= SAME_PLACE and abs(one.point.y - other.point.y) <= SAME_PLACE


def _executed(turn: Turn) -> bool:
    return turn.action is not None and turn.failure is None and turn.error is None and turn.action.type != "reason"


def _typed_past(turn: Turn) -> bool:
    return turn.overlay and turn.on_overlay is False and turn.action is not None and turn.action.type == "type"


def _acted_under(turn: Turn) -> bool:
    if not turn.overlay or turn.on_overlay is not False or turn.action is None or turn.action.type == "type":
        return False
    return turn.covered is True or turn.effect is False


def ordering(episodes: Iterable[Sequence[Turn]], confidence: float = 0.95) -> Rate:
    """Ordering accuracy: where an overlay stands at the start, how often the first action addresses it.

    An unreadable first answer does not. Scrolling, waiting and thinking are no answer to the question and are passed over.
    """
    firsts = [next((t for t in turns if not _idle(t)), None) for turns in episodes if turns and turns[0].overlay]
    return rate([t is not None and t.on_overlay is True for t in firsts], confidence)


def _idle(turn: Turn) -> bool:
    return turn.action is not None and turn.action.type in ("wait", "reason", "scroll", "hover")
