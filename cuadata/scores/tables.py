"""What an evaluation over environments says: success by size and axis, lengths, failures, trivial policies beside it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import to_builtins

from cuadata import scoring
from cuadata.scores import failures
from cuadata.scores.runs import Episode
from cuadata.statistics.intervals import average, rate

#: Policies that look at nothing, or that know the answer: they stand in every table.
TRIVIAL = ("nothing", "submit_only", "all_boxes", "random", "oracle")


def summary(episodes: Sequence[Episode], trivial: Mapping[str, Sequence[Episode]] | None = None) -> dict[str, Any]:
    """Everything that `cuadata evaluate FAMILY --json` says, as plain values.

    `exact` and `default` are success by the strict criterion and by the task's own; an episode that broke down in the
    environment is counted as no success, and beside. `trivial` holds the same seeds played by trivial policies.
    """
    return {
        **_sliced(episodes),
        "unjudged": sum(e.success is None for e in episodes),
        "broken_down": sum(e.ended in ("error", "interrupted") for e in episodes),
        "lengths": lengths(episodes),
        "ended": dict(sorted(Counter(e.ended for e in episodes).items())),
        "failures": _failures(episodes),
        "short_by": _short(episodes),
        "loops": _loops(episodes),
        "ordering": to_builtins(failures.ordering(e.turns for e in episodes)),
        "valid_output": to_builtins(scoring.valid_output(t.failure for e in episodes for t in e.turns)),
        "click_error_px": to_builtins(scoring.distances(_click_errors(episodes))),
        "reward": _spread([e.reward for e in episodes]),
        "raw": _spread([e.raw for e in episodes if e.raw is not None]),
        "trivial": {name: _sliced(held) for name, held in (trivial or {}).items()},
    }


def _sliced(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Both criteria of all, by the number of things requested, and by each axis."""
    sizes = _by(episodes, lambda e: [] if e.size is None else [str(e.size)])
    return {
        **criteria(episodes),
        "by_size": dict(sorted(sizes.items(), key=_by_number)),
        "by_axis": _axes(episodes),
    }


def criteria(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Exact and default success with their intervals; an episode that nobody judged counts as no success."""
    return {
        "n": len(episodes),
        "exact": to_builtins(rate([e.success is True for e in episodes])),
        "default": to_builtins(rate([e.default is True for e in episodes])),
    }


def lengths(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Turns an episode: of all, and of those that succeeded."""
    return {
        "all": _spread([float(len(e.turns)) for e in episodes]),
        "successes": _spread([float(len(e.turns)) for e in episodes if e.success]),
        "counts": {str(k): v for k, v in sorted(Counter(len(e.turns) for e in episodes).items())},
    }


def _by(episodes: Iterable[Episode], keys: Callable[[Episode], Iterable[str]]) -> dict[str, Any]:
    groups: dict[str, list[Episode]] = {}
    for one in episodes:
        for key in keys(one):
            groups.setdefault(key, []).append(one)
    return {key: criteria(held) for key, held in groups.items()}


def _axes(episodes: Sequence[Episode]) -> dict[str, Any]:
    names = sorted({axis.name for e in episodes for axis in e.axes})
    return {name: dict(sorted(_by(episodes, partial(_values, name)).items(), key=_by_number)) for name in names}


def _by_number(one: tuple[str, Any]) -> tuple[float, str]:
    """Sorts values that are numbers as numbers, before those that are none."""
    try:
        return float(one[0]), one[0]
    except ValueError:
        return math.inf, one[0]


def _values(axis: str, one: Episode) -> list[str]:
    return [a.value for a in one.axes if a.name == axis]


def _failures(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Episodes that show each failure, and those for which it is the first of the list."""
    shown = Counter(name for e in episodes for name in e.failures)
    first = Counter(e.failures[0] for e in episodes if e.failures)
    return {name: {"episodes": shown[name], "first": first[name]} for name in failures.FAILURES if shown[name]}


def _short(episodes: Sequence[Episode]) -> dict[str, int]:
    """Premature submissions by how many selections they were short."""
    held = Counter(e.missing for e in episodes if "premature_submission" in e.failures and e.missing)
    return {str(k): v for k, v in sorted(held.items())}


def _loops(episodes: Sequence[Episode]) -> dict[str, Any]:
    held = [failures.longest_loop(e.turns) for e in episodes]
    return {
        "episodes": sum(length >= failures.LOOP for length in held),
        "longest": max(held, default=0),
    }


def _click_errors(episodes: Iterable[Episode]) -> list[float]:
    return [t.error_px for e in episodes for t in e.turns if t.error_px is not None]


def _spread(values: Sequence[float]) -> dict[str, Any]:
    if not values:
        return {"n": 0, "mean": None, "median": None, "max": None}
    return {
        "n": len(values),
        "mean": average(values),
        "median": statistics.median(values),
        "max": max(values),
    }
