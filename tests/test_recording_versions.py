"""Older recordings migrate in one call, newer and nameless ones are refused; times and order are looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from build_trajectories import START, VIEWPORT, checkout, save

from cuadata import recording
from cuadata.errors import DataError
from cuadata.types import SCHEMA_VERSION, Action, BBox, Observation, Step, Trajectory


def rewrite(path: Path, change: Any, *, header: dict[str, Any]) -> None:
    """Change every record of a recording by hand; `header` replaces or (None) removes fields of the header."""
    old = json.loads((path / "header.json").read_text())
    new = {name: value for name, value in {**old, **header}.items() if value is not None}
    (path / "header.json").write_text(json.dumps(new))
    lines = [json.dumps(change(json.loads(line))) + "\n" for line in (path / "steps.jsonl").read_text().splitlines()]
    (path / "steps.jsonl").write_text("".join(lines))


def as_version_0(value: Any) -> Any:
    """A record as the first, unreleased version wrote it: a box as its corners."""
    if isinstance(value, list):
        return [as_version_0(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"x", "y", "width", "height"}:
        return [value["x"], value["y"], value["x"] + value["width"], value["y"] + value["height"]]
    return {name: inner if name == "rects" else as_version_0(inner) for name, inner in value.items()}


def test_an_old_recording_migrates_in_one_call(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    wanted = recording.read(path)
    rewrite(path, as_version_0, header={"schema_version": 0})
    with pytest.raises(DataError, match=f"version 0, this release reads {SCHEMA_VERSION}; migrate it with"):
        recording.read(path)
    assert recording.migrate(path) is True
    assert recording.read(path) == wanted
    bytes_once = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    assert recording.migrate(path) is False
    assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == bytes_once


def test_a_migration_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    wanted = recording.read(path)
    rewrite(path, lambda r: r, header={"schema_version": 0})  # the steps were moved on, the header not yet
    assert recording.migrate(path) is True
    assert recording.read(path) == wanted


def test_a_torn_line_survives_a_migration(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    rewrite(path, as_version_0, header={"schema_version": 0})
    with open(path / "steps.jsonl", "a") as file:
        file.write('{"step": {"ind')
    recording.migrate(path)
    back = recording.read(path)
    assert len(back.steps) == 5 and "torn" in back.notes[0]


def test_newer_and_nameless_recordings_are_refused(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    for version, words in ((99, "version 99, newer than this release"), ("2", "no whole number"), (-1, "no release")):
        rewrite(path, lambda r: r, header={"schema_version": version})
        for call in (recording.read, recording.migrate):
            with pytest.raises(DataError, match=words):
                call(path)
    rewrite(path, lambda r: r, header={"schema_version": None})
    for call in (recording.read, recording.migrate):
        with pytest.raises(DataError, match="states no schema_version"):
            call(path)
    assert recording.migrate(path, assume=SCHEMA_VERSION) is True
    assert len(recording.read(path).steps) == 5


def test_case_schema_versions(cases: Path, tmp_path: Path) -> None:
    """The case's versions 1, 2 and 99 are ours 0, 1 and 99: corners, then x, y, width, height, then unknown."""
    folder = cases / "store" / "B76-schema-versions"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    ours = {1: 0, 2: SCHEMA_VERSION, 99: 99}
    for line in (folder / "records.jsonl").read_text().splitlines():
        given = json.loads(line)
        want = expected[given["id"]]
        path = save(checkout(given["id"]), tmp_path)
        box = given["bbox"]
        if given.get("bbox_format") == "xywh":
            box = dict(zip(("x", "y", "width", "height"), box, strict=True))
        version = ours.get(given.get("schema_version"))

        def state(record: dict[str, Any], box: Any = box) -> dict[str, Any]:
            record["step"]["target"]["bbox"] = box
            return record

        rewrite(path, state, header={"schema_version": version})
        if want["verdict"] == "keep":
            recording.migrate(path)
            recording.migrate(path)
            target = recording.read(path).steps[0].target
            assert target is not None and target.bbox == BBox(*want["bbox_xywh"])
        else:
            with pytest.raises(DataError, match=str(want.get("names_version", "no schema_version"))):
                recording.migrate(path)
    assert recording.migrate(tmp_path / "r4", assume=0) is True  # told, it is kept


def timed(name: str, times: list[float]) -> Trajectory:
    """A trajectory with these times and nothing else."""
    seen = Observation(screenshot=None, viewport=VIEWPORT)
    steps = (
        Step(index=i, time=START + t, observation=seen, action=Action(type="wait", seconds=1))
        for i, t in enumerate(times)
    )
    return Trajectory(id=name, instruction="x", source="case", steps=tuple(steps))


def test_case_time_goes_backwards(cases: Path, tmp_path: Path) -> None:
    folder = cases / "store" / "B78-time-goes-backwards"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    for name, want in expected.items():
        times = [json.loads(line)["time"] for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        made = timed(name, times)
        if want["verdict"] == "keep":
            assert recording.read(save(made, tmp_path)).notes == ()
            continue
        with pytest.raises(DataError, match=f"step {want['at_step']}: its time goes back"):
            save(made, tmp_path / "refused")
        path = save(timed(name, sorted(times)), tmp_path)  # written by another tool, whose clock went back
        lines = [json.loads(line) for line in (path / "steps.jsonl").read_text().splitlines()]
        for line, time in zip(lines, times, strict=True):
            line["step"]["time"] = START + time
        (path / "steps.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (note,) = recording.read(path).notes
        assert note.startswith(f"step {want['at_step']}: the time goes back")
