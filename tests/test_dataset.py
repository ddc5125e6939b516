"""Rows of any dataclass into Parquet and back: pictures untouched, bounded row groups, one schema, the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from cuadata import dataset, image, rows, schema
from cuadata.building import shards
from cuadata.errors import CallError, DataError
from cuadata.types import Action, BBox, Image, Point


@dataclass(frozen=True, slots=True)
class Shot:
    n: int
    shot: Image


@dataclass(frozen=True, slots=True)
class Episode:
    episode: int
    images: tuple[Image, ...] = ()
    steps: tuple[Shot, ...] = ()


@dataclass(frozen=True)
class Numbered:
    n: int
    image: Image


@dataclass(frozen=True)
class Result:
    id: str
    error: str | None = None
    reward: float = 0.0
    tags: tuple[str, ...] = ()


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def loaded(folder: Path, code: str, home: Path) -> Any:
    """What a reader with nothing but the folder and `datasets` makes of it: the value that the code prints as JSON."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    head = "import json, os, sys\nfrom datasets import load_dataset\nfolder = sys.argv[1]\n"
    # A stream that is left half read keeps threads of pyarrow's, which now and then abort an interpreter that ends.
    tail = "\nsys.stdout.flush()\nos._exit(0)\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code + tail, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=home,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_pictures_in_lists_survive_without_their_files(cases: Path, tmp_path: Path) -> None:
    """hub/B58, list column and list of structs alike."""
    case = cases / "hub" / "B58-images-in-a-list-column"
    given_rows = [
        {
            "episode": one["episode"],
            "images": [str(case / name) for name in one["images"]],
            "steps": [{"n": step["n"], "shot": (case / step["shot"]).read_bytes()} for step in one["steps"]],
        }
        for one in records(case / "records.jsonl")
    ]
    dataset.write(given_rows, Episode, tmp_path / "set")
    code = """
rows = load_dataset("parquet", data_files=folder + "/*.parquet", split="train", streaming=STREAMING)
say = lambda p: [list(p.convert("RGB").getpixel((0, 0))), list(p.size)]
print(json.dumps([[r["episode"], [say(p) for p in r["images"]], [say(s["shot"]) for s in r["steps"]]] for r in rows]))
"""
    expect = json.loads((case / "expected.json").read_text())["expect"]
    for streaming in ("False", "True"):
        got = loaded(tmp_path / "set", code.replace("STREAMING", streaming), tmp_path)
        assert [len(pictures) for _, pictures, _ in got] == expect["images_per_row"]
        for pixel in expect["pixels"]:
            for column in (1, 2):
                assert got[pixel["episode"]][column][pixel["index"]] == [pixel["rgb"], pixel["size"]]


def test_row_groups_are_bounded_in_bytes(cases: Path, tmp_path: Path) -> None:
    """hub/B59."""
    case = cases / "hub" / "B59-row-groups-by-bytes"
    expect = json.loads((case / "expected.json").read_text())["expect"]
    given_rows = [{"n": one["n"], "image": str(case / one["image"])} for one in records(case / "records.jsonl")]
    (path,) = dataset.write(given_rows, Numbered, tmp_path / "set", row_group_bytes=expect["limit_bytes"])
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        assert len(groups) >= expect["min_row_groups"]
        assert all(g.num_rows <= expect["max_rows_per_group"] for g in groups)
        assert all(g.total_byte_size <= expect["limit_bytes"] for g in groups)
        assert all(g.column(i).has_offset_index for g in groups for i in range(g.num_columns))
    assert [row["n"] for row in dataset.open_rows(tmp_path / "set")] == expect["order"]


@settings(max_examples=25)
@given(
    sizes=st.lists(st.integers(0, 6000), min_size=1, max_size=40),
    group=st.integers(1, 30_000),
    shard=st.integers(1, 60_000),
)
def test_bounds_hold_whatever_the_rows_weigh(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], group: int, shard: int
) -> None:
    folder = tmp_path_factory.mktemp("set")
    given_rows = [Noted(number, bytes([number % 251]) * size, "x" * (size // 3)) for number, size in enumerate(sizes)]
    files = dataset.write(given_rows, Noted, folder, row_group_bytes=group, shard_bytes=shard)
    names = [f"train-{number:05d}-of-{len(files):05d}.parquet" for number in range(len(files))]
    assert [path.name for path in files] == names
    for path in files:
        with pq.ParquetFile(path) as file:
            weights = [shards.row_size(schema.to_row(r)) for r in rows_of(file)]
            assert sum(weights) <= shard or len(weights) == 1
            held = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
            assert all(g.total_byte_size <= group or g.num_rows == 1 for g in held)
    assert [row["n"] for row in dataset.open_rows(folder)] == list(range(len(sizes)))


@dataclass(frozen=True)
class Noted:
    n: int
    data: bytes
    note: str | None = None


def rows_of(file: Any) -> list[Noted]:
    return [Noted(**row) for row in file.read().to_pylist()]


def test_all_shards_have_one_schema(cases: Path, tmp_path: Path) -> None:
    """hub/B60: nulls and whole numbers in one shard, texts and fractions in the other, fields missing in a row."""
    case = cases / "hub" / "B60-schema-over-all-shards"
    expect = json.loads((case / "expected.json").read_text())["expect"]
    both = [records(case / "shard0.jsonl"), records(case / "shard1.jsonl")]
    apart = [dataset.write(some, Result, tmp_path / str(number))[0] for number, some in enumerate(both)]
    together = dataset.write([*both[0], *both[1]], Result, tmp_path / "set", shard_bytes=60)
    assert len(together) > 1
    schemas = [pq.read_schema(path) for path in (*apart, *together)]
    assert all(one.equals(schemas[0], check_metadata=True) for one in schemas)
    code = """
rows = load_dataset("parquet", data_files=folder + "/*.parquet", split="train")
f = rows.features
print(json.dumps({"types": [f["id"].dtype, f["error"].dtype, f["reward"].dtype, f["tags"].feature.dtype], "rows": list(rows)}))
"""
    got = loaded(tmp_path / "set", code, tmp_path)
    assert got["types"] == ["string", "string", "float64", "string"]
    assert len(got["rows"]) == expect["rows"]
    for name in ("error", "reward"):
        assert [row[name] for row in got["rows"]] == expect["values"][name]
    assert [bool(row["tags"]) for row in got["rows"]] == expect["values"]["tags_nonempty"]


@pytest.mark.parametrize("given_rows", [[], [{"id": "a"}], [Result("a")]], ids=["none", "dict", "instance"])
def test_a_shard_of_nulls_and_an_empty_one_have_the_schema_too(tmp_path: Path, given_rows: list[Any]) -> None:
    (path,) = dataset.write(given_rows, Result, tmp_path)
    (full,) = dataset.write([Result("b", "late", 0.5, ("x",))], Result, tmp_path / "full")
    assert pq.read_schema(path).equals(pq.read_schema(full), check_metadata=True)
    assert len(list(dataset.open_rows(tmp_path))) == len(given_rows)


def test_pictures_are_stored_as_they_are(cases: Path, tmp_path: Path) -> None:
    """hub/B69: palette, alpha, grey, JPEG; and how a person sees them."""
    case = cases / "hub" / "B69-image-modes-lossless"
    expect = json.loads((case / "expected.json").read_text())
    names = [one["image"] for one in records(case / "records.jsonl")]
    dataset.write([{"n": n, "image": str(case / name)} for n, name in enumerate(names)], Numbered, tmp_path / "set")
    got = {names[row["n"]]: row["image"]["bytes"] for row in dataset.open_rows(tmp_path / "set")}
    for name, sha256 in expect["expect"]["sha256_unchanged"].items():
        assert hashlib.sha256(got[name]).hexdigest() == sha256
    for name, seen in expect["expect"]["as_rgb_pixel_0_0"].items():
        level = image.rgb(got[name])[0, 0].astype(int)
        assert all(abs(int(a) - b) <= expect["tolerance_level"] for a, b in zip(level, seen, strict=True))


def encoded(mode: str, kind: str) -> bytes:
    out = io.BytesIO()
    Pillow.new(mode, (9, 7), 77 if mode in ("L", "P", "I;16") else None).save(
        out, kind, **({"lossless": True} if kind == "WEBP" else {})
    )
    return out.getvalue()


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("RGB", "WEBP"), ("1", "PNG"), ("LA", "PNG"), ("I;16", "PNG"), ("CMYK", "JPEG"), ("L", "JPEG"), ("P", "GIF")],
)
def test_other_kinds_of_pictures_pass_through_as_well(tmp_path: Path, mode: str, kind: str) -> None:
    data = encoded(mode, kind)
    dataset.write([Numbered(0, image.from_bytes(data, phash=False))], Numbered, tmp_path)
    (row,) = dataset.open_rows(tmp_path)
    assert row["image"]["bytes"] == data and row["image"]["path"].endswith(f".{kind.lower()}")


def test_the_same_rows_give_the_same_bytes(tmp_path: Path, png: bytes) -> None:
    given_rows = [Numbered(n, image.from_bytes(png, phash=False)) for n in range(30)]
    one = dataset.write(given_rows, Numbered, tmp_path / "a", row_group_bytes=1500)
    other = dataset.write(iter(given_rows), Numbered, tmp_path / "b", row_group_bytes=1500)
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in other]


def test_text_is_cut_by_content_so_that_an_edit_moves_little(tmp_path: Path) -> None:
    def written(name: str, some: list[Result]) -> bytes:
        return dataset.write(some, Result, tmp_path, name=name)[0].read_bytes()

    held = [Result(hashlib.sha256(str(n).encode()).hexdigest() * 4, reward=n / 7) for n in range(20_000)]
    before, after = written("before", held), written("after", [Result("new"), *held])
    blocks = {before[i : i + 64] for i in range(0, len(before), 64)}
    shared = sum(after[i : i + 64] in blocks for i in range(len(after) - 64))  # at any offset
    assert shared > 0.5 * len(before) / 64


class Broken:
    """Rows that end in an error after some were taken."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield from ({"id": str(n)} for n in range(10))
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("no more"), KeyboardInterrupt(), ValueError("bad")])
def test_nothing_half_written_is_left(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        dataset.write(Broken(error), Result, tmp_path / "set", row_group_bytes=50, shard_bytes=100)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_row_is_named(tmp_path: Path, png: bytes) -> None:
    for bad, words in (
        ({"id": 7}, r"row 1: Result.id: wanted str, got 7"),
        ({"id": "a", "reward": "much"}, r"row 1: Result.reward: wanted float, got 'much'"),
        ({"id": "a", "score": 1}, r"row 1: Result: no field is named 'score'"),
        ({}, r"row 1: Result.id is missing"),
    ):
        with pytest.raises(ValueError, match=words):
            dataset.write([{"id": "ok"}, bad], Result, tmp_path / "set")
    torn = tmp_path / "torn.png"
    torn.write_bytes(png[:-20])
    with pytest.raises(ValueError, match="row 0: Numbered.image: the PNG of .* cut off"):
        dataset.write([{"n": 0, "image": str(torn)}], Numbered, tmp_path / "set")
    described = image.from_file(tmp_path / "whole.png") if (tmp_path / "whole.png").write_bytes(png) else None
    (tmp_path / "whole.png").write_bytes(png + b" ")
    with pytest.raises(ValueError, match="does not hold the picture"):
        dataset.write([{"n": 0, "image": described}], Numbered, tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_shards_of_a_name_are_replaced_only_when_asked(tmp_path: Path) -> None:
    many = [Result(str(n)) for n in range(9)]
    assert len(dataset.write(many, Result, tmp_path, shard_bytes=30)) == 9
    dataset.write(many[:2], Result, tmp_path, name="test")
    with pytest.raises(CallError, match="is there already"):
        dataset.write(many, Result, tmp_path)
    dataset.write(many[:3], Result, tmp_path, force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "test-00000-of-00001.parquet",
        "train-00000-of-00001.parquet",
    ]
    for name, words in (("tr/ain", "no name for a split"), ("", "no name for a split")):
        with pytest.raises(CallError, match=words):
            dataset.write(many, Result, tmp_path, name=name)
    with pytest.raises(CallError, match="hold nothing"):
        dataset.write(many, Result, tmp_path / "x", row_group_bytes=0)


def example(png: bytes, number: int) -> rows.Example:
    picture = image.from_bytes(png, phash=False)
    target = rows.Target(role="button", name="Save", bbox=BBox(1.0, 2.0, 30.0, 12.0))
    return rows.Example(
        id=f"t/{number}",
        trajectory_id="t",
        step_index=number,
        image=picture,
        image_width=64,
        image_height=48,
        viewport_width=64,
        viewport_height=48,
        device_pixel_ratio=1.0,
        instruction="Save it",
        action=Action(type="click", point=Point(4.0, 5.5)),
        target=target if number % 2 else None,
        history=("click button 'Open'",) * number,
    )


def test_rows_come_back_by_number_and_as_their_type(tmp_path: Path, png: bytes) -> None:
    held = [example(png, number) for number in range(12)]
    dataset.write(held, rows.Example, tmp_path / "actions", row_group_bytes=3000, shard_bytes=9000)
    assert list(dataset.read(tmp_path)) == held
    some = dataset.take(tmp_path, "actions", "train", {11, 0, 5, 99})
    assert sorted(some) == [0, 5, 11] and some[5]["id"] == "t/5" and some[11]["history"] == list(held[11].history)
    light = list(dataset.open_rows(tmp_path, "actions", columns=("id", "action.type")))
    assert light[3] == {"id": "t/3", "action": {"type": "click"}}
    with pytest.raises(CallError, match="no config 'chunks'; there are: 'actions'"):
        next(dataset.open_rows(tmp_path, "chunks"))
    with pytest.raises(CallError, match="no split 'test'; there are: train"):
        next(dataset.open_rows(tmp_path, "actions", "test"))
    with pytest.raises(DataError, match="no shard of a dataset"):
        dataset.configs(tmp_path / "actions" / "none")
    path = dataset.configs(tmp_path)["actions"]["train"][0]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="does not open"):
        list(dataset.open_rows(tmp_path, "actions"))


def test_a_config_loads_by_its_name_streaming_too(tmp_path: Path, png: bytes) -> None:
    """What `build` promises, with a card: typed columns and PIL images."""
    import build_trajectories as made

    from cuadata import build

    for number in range(2):
        made.save(made.checkout(f"c{number}", seed=number), tmp_path / "recordings")
    build.build([("recordings", tmp_path / "recordings")], tmp_path / "set", workers=1)
    code = """
found = []
for streaming in (False, True):
    for config in (None, "actions", "transitions", "chunks", "tasks"):
        rows = load_dataset(folder, *([config] if config else []), split="train", streaming=streaming)
        row = next(iter(rows))
        shown = {k: type(v).__name__ for k, v in row.items()}
        size = row["image"].size if "image" in row else None
        found.append([config, shown.get("image"), size, row.get("action", {}).get("point"), shown])
print(json.dumps(found))
"""
    got = loaded(tmp_path / "set", code, tmp_path)
    for config, kind, size, point, shown in got:
        if config != "tasks":
            assert kind == "PngImageFile" and size == [640, 360] and point == {"x": 540.0, "y": 310.0}
            assert shown["target"] == "dict" and shown["step_index"] == "int" and shown["history"] == "list"
        if config == "transitions":
            assert shown["after"] == "PngImageFile"
    assert len(got) == 10


def test_a_set_built_anew_in_its_place_is_not_read_from_an_old_copy(tmp_path: Path, png: bytes) -> None:
    """`datasets` keeps a prepared copy of a folder, and knows it again by the card alone."""
    import build_trajectories as made

    from cuadata import build

    code = 'print(json.dumps(list(load_dataset(folder, "actions", split="train")["trajectory_id"])))'
    for name in ("before", "afterwards"):
        made.save(made.checkout(name, seed=0), tmp_path / name)
        build.build([("recordings", tmp_path / name)], tmp_path / "set", workers=1, force=True)
        assert set(loaded(tmp_path / "set", code, tmp_path)) == {name}


NAMED = (
    {"bytes": None, "path": "/etc/hostname"},
    "/etc/hostname",
    {"sha256": "0" * 64, "width": 1, "height": 1, "format": "png", "phash": "", "path": "/etc/hostname"},
)


@pytest.mark.parametrize("held", NAMED, ids=["named", "text", "described"])
def test_a_stored_row_cannot_name_a_file_of_this_machine(held: Any, png: bytes) -> None:
    row = {"n": 1, "shot": {"bytes": png, "path": "/etc/hostname"}}
    assert schema.from_stored(row, Shot).shot.data == png
    with pytest.raises(ValueError, match="not opened"):
        schema.from_stored({"n": 1, "shot": held}, Shot)
    with pytest.raises(ValueError, match=r"images\[0\].*not opened"):
        schema.from_stored({"episode": 1, "images": [held]}, Episode)
