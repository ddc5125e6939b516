"""In a real browser: the phases found in an oracle's recordings are those that its tasks know by construction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cuadata import recorder, recording, split
from cuadata.judging.judging import judge
from cuadata.registry import families, gates, policies

OURS = [name for name in gates.names() if gates[name].__module__.endswith((".action", ".screenshot"))]


@pytest.mark.browser
@pytest.mark.parametrize(("family", "seed"), [("overlays", 1), ("modal", 0), ("code_entry", 5), ("code_entry", 3)])
def test_phases_of_recorded_tasks(tmp_path: Path, family: str, seed: int) -> None:
    task = families[family](seed)
    path = recorder.record(task, tmp_path / "r", policy=policies["oracle"]())
    made = recording.read(path)
    assert made.outcome.ended == "success"
    wanted = tuple(move.phase for move in task.solution)
    assert split.phases(made) == wanted
    assert split.phases(replace(made, task=None)) == wanted  # the evidence alone says so
    for candidate in split.examples(made):
        assert [v for v in judge(candidate, OURS) if v.keep != "yes"] == []
