"""A damaged Parquet file costs its own trajectories, and repairing twice is repairing once."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata import repair
from cuadata.commands.edit import app
from cuadata.errors import CallError, DataError


def tree(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def shard(path: Path, ids: list[str], *, column: str = "trajectory_id") -> Path:
    """A small shard with one row an id, written with page checksums off, as the Hub's are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({column: ids, "text": [f"{id} " * 400 for id in ids]})
    pq.write_table(table, path, compression="zstd", row_group_size=2)
    return path


def test_case_footerless_parquet(cases: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(cases / "store" / "B70-footerless-parquet", folder)
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())["expect"]
    held = json.loads((folder / "meta" / "info.json").read_text())["files"]
    bad = {name: (folder / name).read_bytes() for name in expected["unreadable"]}
    found = repair.repair(folder, key="episode", expected=held)
    assert [int(id) for id in found.trajectories] == expected["episodes"]
    assert len(found.trajectories) == expected["total_episodes"] and found.rows == expected["total_steps"]
    assert list(found.unreadable) == expected["unreadable"]
    assert [int(id) for id in found.lost] == expected["lost_episodes"]
    for name, data in bad.items():
        assert (folder / f"{name}{repair.DAMAGED}").read_bytes() == data
    once = tree(folder)
    assert repair.repair(folder, key="episode") == found  # what was lost is remembered
    assert tree(folder) == once


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-60])


def hole(path: Path) -> None:
    """Zeros in the middle of a page: the footer still reads."""
    data = bytearray(path.read_bytes())
    data[40:400] = bytes(360)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [cut, hole, lambda p: p.write_bytes(b""), lambda p: p.write_bytes(b"PAR1" * 4)])
def test_any_damage_costs_one_file(tmp_path: Path, damage: Any) -> None:
    for n in range(3):
        shard(tmp_path / "actions" / f"train-{n:05d}-of-00003.parquet", [f"t{n}", f"t{n}", f"u{n}", "both"])
    names = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.parquet"))
    held = {name: [f"t{n}", f"u{n}", "both"] for n, name in enumerate(names)}
    damage(tmp_path / names[1])
    dry = repair.repair(tmp_path, expected=held, dry_run=True)
    assert (tmp_path / names[1]).exists() and not (tmp_path / repair.REPORT).exists()
    found = repair.repair(tmp_path, expected=held)
    assert found == dry
    assert found.unreadable == (names[1],) and len(found.reasons[0]) > 5
    assert found.trajectories == ("t0", "t2", "u0", "u2") and found.rows == 8
    assert (found.lost, found.incomplete) == (("t1", "u1"), ("both",))
    assert repair.repair(tmp_path) == found


def test_a_whole_set_is_left_alone(tmp_path: Path) -> None:
    shard(tmp_path / "train-00000-of-00001.parquet", ["a", "b"])
    before = tree(tmp_path)
    found = repair.repair(tmp_path)
    assert (found.unreadable, found.rows, found.trajectories) == ((), 2, ("a", "b"))
    assert tree(tmp_path) == before


def test_a_file_that_was_mended_counts_again(tmp_path: Path) -> None:
    path = shard(tmp_path / "train-00000-of-00002.parquet", ["a"])
    shard(tmp_path / "train-00001-of-00002.parquet", ["b"])
    whole = path.read_bytes()
    cut(path)
    repair.repair(tmp_path)
    path.write_bytes(whole)
    found = repair.repair(tmp_path)
    assert found.unreadable == () and found.trajectories == ("a", "b")
    assert not (tmp_path / repair.REPORT).exists()


def test_a_wrong_call_sets_nothing_aside(tmp_path: Path) -> None:
    shard(tmp_path / "a.parquet", ["a"])
    before = tree(tmp_path)
    with pytest.raises(CallError, match="no file has a column 'episode'"):
        repair.repair(tmp_path, key="episode")
    with pytest.raises(DataError, match="no such folder"):
        repair.repair(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no Parquet file"):
        repair.repair(tmp_path / "empty")
    assert tree(tmp_path) == before


def test_files_without_trajectories_are_counted_by_rows(tmp_path: Path) -> None:
    shard(tmp_path / "actions" / "train.parquet", ["a"])
    shard(tmp_path / "tasks" / "train.parquet", ["x", "y"], column="id")
    found = repair.repair(tmp_path)
    assert found.rows == 3 and found.trajectories == ("a",)


def test_a_flipped_bit_that_parquet_does_not_miss_is_said(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.parquet", ["a"])
    stated = hashlib.sha256(path.read_bytes()).hexdigest()
    files = [{"path": "a.parquet", "sha256": stated}, {"path": "gone.parquet", "sha256": stated}]
    (tmp_path / "cuadata.json").write_text(json.dumps({"files": files}))
    assert repair.repair(tmp_path).changed == ()
    shard(path, ["b"])
    found = repair.repair(tmp_path)
    assert (found.changed, found.unreadable) == (("a.parquet",), ())
    (tmp_path / "cuadata.json").write_text("[]")
    assert repair.repair(tmp_path).changed == ()


def test_the_command_line(tmp_path: Path) -> None:
    shard(tmp_path / "a.parquet", ["a"])
    cut(shard(tmp_path / "b.parquet", ["b"]))
    done = CliRunner().invoke(app, ["repair", str(tmp_path), "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["unreadable"], found["trajectories"], found["rows"]) == (["b.parquet"], 1, 1)
