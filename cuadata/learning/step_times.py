"""Where a reinforcement step's time goes, read off a run's log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path


def table(log: Path) -> str:
    """Mean seconds of a step by part, mean calls a completion and groups without spread, as lines for a terminal.

    `generate` and `score` are measured in the rollout, `score` as far as it was waited for; the rest of a step is the optimiser's:
    forward passes, backward pass, update. Where TRL generates by itself only the whole step is known.
    """
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    steps = [entry for entry in entries if "reward" in entry]
    if not steps:
        return "No step was logged."
    whole = _mean(entry.get("step_time") for entry in steps)
    parts = {name: _mean(entry.get(f"seconds/{name}") for entry in steps) for name in ("generate", "score")}
    lines = [f"A step of {len(steps)}, mean:", f"  {'whole':<10} {whole:8.2f} s"]
    known = {name: seconds for name, seconds in parts.items() if seconds}
    if known:
        known["optimise"] = max(whole - sum(known.values()), 0.0)
    lines += [f"  {name:<10} {seconds:8.2f} s {seconds / max(whole, 1e-9):6.0%}" for name, seconds in known.items()]
    calls = [entry["terms/turns"] for entry in steps if "terms/turns" in entry]
    if calls:
        lines.append(f"  {_mean(calls):.2f} calls a completion")
    flat = [entry.get("groups/flat_share", entry.get("frac_reward_zero_std")) for entry in steps]
    lines.append(f"  {_mean(flat):.0%} of groups drawn without spread")
    if any("groups/flat_left" in entry for entry in steps):
        lines.append(f"  {_mean(entry.get('groups/flat_left') for entry in steps):.0%} left after drawing again")
    return "\n".join(lines)


def _mean(values: Iterable[float | None]) -> float:
    held = [value for value in values if value is not None]
    return sum(held) / len(held) if held else 0.0
