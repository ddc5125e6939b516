"""The recordings in examples/: small, whole, and enough to see what a build does without a browser."""

from __future__ import annotations

from pathlib import Path

from cuadata import build, dataset

RECORDINGS = Path(__file__).parent.parent / "examples" / "recordings"


def test_they_weigh_little() -> None:
    assert sum(file.stat().st_size for file in RECORDINGS.rglob("*") if file.is_file()) < 3_000_000


def test_they_give_rows_in_every_split_and_show_a_rejection(tmp_path: Path) -> None:
    report = build.build([("recordings", RECORDINGS)], tmp_path / "set", workers=1)
    assert min(report.kept["actions"][split] for split in ("train", "test")) > 0
    assert report.rejected == {"no_effect": 5}
    assert sum(report.kept["chunks"].values()) > 0


def test_the_card_says_how_many_failed_their_task(tmp_path: Path) -> None:
    """Two of the three tick every box, whatever was asked: what they did worked and is kept, and is wrong."""
    report = build.build([("recordings", RECORDINGS)], tmp_path / "set", workers=1, configs=("actions",))
    assert report.summary()["failed_trajectories"] == 3
    assert "3 of the 5 trajectories failed their task" in (tmp_path / "set" / "README.md").read_text()
    rows = [row for split in ("train", "test") for row in dataset.read(tmp_path / "set", "actions", split)]
    assert len({row.trajectory_id for row in rows if "task_failed" in row.provenance}) == 3
