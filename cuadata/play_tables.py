"""The tables of rollouts and environment checks, on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuadata import printing


def rollout(held: Mapping[str, Any]) -> None:
    """What one rollout came to."""
    rows = [[f"ended: {name}", f"{count}"] for name, count in held["ended"].items()]
    rows += [[f"paid: {name}", f"{count}"] for name, count in held["terms"].items()]
    body = [
        ["exact, % [95 %]", printing.rate(held["exact"])],
        ["default, % [95 %]", printing.rate(held["default"])],
        ["mean raw reward", f"{held['mean_raw']:.3f}"],
        *rows,
        ["steps", f"{held['steps']}"],
    ]
    if held["browser_share"] is not None:
        body.append(["browser's share of the time, %", f"{100 * held['browser_share']:.1f}"])
    title = f"{held['policy']} on {held.get('skill', held['family'])}, {held['episodes']} episodes"
    printing.table(title, ["", ""], body)
    for again in held.get("again", ()):
        printing.say(f"{again['skill']} scored again: exact {printing.rate(again['exact'])}")
    if "passed" in held and not held["passed"]:
        printing.say(f"{held['skill']} is not passed; the curriculum stops here")
