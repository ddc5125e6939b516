"""A rollout's outcome as a reward reads it. What is not there is an error, never a 0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cuadata.errors import CallError
from cuadata.types import Outcome


def of(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """The outcome in a row's columns: `outcome` as an Outcome or a mapping, or its fields as columns of their own."""
    held = columns.get("outcome")
    if isinstance(held, Outcome):
        return {"exact": held.exact, "raw": held.raw, "success": held.success}
    return held if isinstance(held, Mapping) else columns


def exact(outcome: Mapping[str, Any]) -> float:
    """The exact reward, else the exact success as 0 or 1. CallError where the outcome has neither."""
    if outcome.get("exact") is not None:
        return _number(outcome["exact"], "exact")
    if outcome.get("success") is not None:
        return float(bool(outcome["success"]))
    raise CallError("the outcome says neither `exact` nor `success`; this reward pays for finished rollouts")


def raw(outcome: Mapping[str, Any]) -> float:
    """The task's own reward. CallError where the outcome has none."""
    if outcome.get("raw") is None:
        raise CallError("the outcome has no `raw` reward; this reward pays for finished rollouts")
    return _number(outcome["raw"], "raw")


def _number(value: Any, name: str) -> float:
    number = float(value) if isinstance(value, int | float) else math.nan
    if not math.isfinite(number):
        raise CallError(f"the outcome's {name} reward is {value!r:.60}; a finite number is wanted")
    return number
