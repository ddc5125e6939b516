"""The recordings in examples/: small, whole, and enough to see what a build does without a browser."""

from __future__ import annotations

from pathlib import Path

from cuadata import build, dataset

RECORDINGS = Path(__file__).parent.parent / "examples" / "recordings"


def test_they_weigh_little() -> None:
    assert sum(file.stat().st_size for file in RECORDINGS.rglob("*") if file.is_file()) < 3_000_000


def test_they_give_rows_in_every_split_and_show_a_rejection(tmp_path: Path) -> None:
    shares = {"train": 0.7, "test": 0.3}  # of rows so few no smaller share holds a whole group
    report = build.build([("recordings", RECORDINGS)], tmp_path / "set", workers=1, fractions=shares)
    assert min(report.kept["actions"].get(split, 0) for split in ("train", "test")) > 0
    assert report.rejected["no_effect"] == 5 and report.rejected["task_failed"] > 0


def test_steps_of_failed_tasks_stay_out_unless_asked_for(tmp_path: Path) -> None:
    """Two of those three tick every box, whatever was asked: what they did worked and is wrong."""
    sources = [("recordings", RECORDINGS)]
    report = build.build(sources, tmp_path / "set", workers=1)
    whole = build.build(sources, tmp_path / "whole", workers=1, without=("task_failed",))
    assert report.summary()["failed_trajectories"] == whole.summary()["failed_trajectories"] == 3
    for folder, ends in (("set", "hold them still"), ("whole", "the wrong thing to do")):
        said = (tmp_path / folder / "README.md").read_text()
        assert "3 of the 8 trajectories failed their task" in said and ends in said
    assert failed(tmp_path / "set", "actions") == set()
    assert len(failed(tmp_path / "whole", "actions")) == 3
    assert report.rejected["task_failed"] == whole.examples - report.examples > 0
    assert len(failed(tmp_path / "set", "transitions")) == 3


def failed(folder: Path, config: str) -> set[str]:
    """Trajectories that failed their task and have rows in a config."""
    rows = (row for split in dataset.configs(folder)[config] for row in dataset.read(folder, config, split))
    return {row.trajectory_id for row in rows if "task_failed" in row.provenance}
