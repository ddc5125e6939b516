"""From recordings to a dataset: what is kept, what is not, the same bytes each time, and nothing half done."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_trajectories as made
import pytest
from PIL import Image as Pillow
from PIL import ImageDraw

from cuadata import build, dataset, image, registry
from cuadata.building import manifest
from cuadata.errors import CallError, DataError
from cuadata.judging import gating
from cuadata.rows import Example, Grounding
from cuadata.types import Effect, Point, Trajectory

ROOT = Path(__file__).resolve().parent.parent
COLOURS = ("#802020", "#208020", "#202080", "#707000")


def bytes_of(folder: Path) -> dict[str, str]:
    """sha256 of every file of a dataset."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def somewhere(trajectory: Trajectory, site: str, colour: str) -> Trajectory:
    """The trajectory on a site, of a template, and with a colour of its own."""
    task = None if trajectory.task is None else replace(trajectory.task, template=site, family=site)
    return replace(repainted(trajectory, colour=colour), site=site, task=task)


def repainted(trajectory: Trajectory, *, colour: str = "", level: int = 6, mode: str = "RGB") -> Trajectory:
    """The same trajectory with its pictures packed in another way, or with a band of colour over them."""

    def painted(observation: Any) -> Any:
        picture = Pillow.open(io.BytesIO(observation.screenshot.data)).convert(mode)
        if colour:
            ImageDraw.Draw(picture).rectangle((0, 180, 640, 360), fill=colour)
        out = io.BytesIO()
        picture.save(out, "PNG", compress_level=level)
        return replace(observation, screenshot=image.from_bytes(out.getvalue()))

    steps = [
        replace(step, observation=painted(step.observation), after=step.after and painted(step.after))
        for step in trajectory.steps
    ]
    return replace(trajectory, steps=tuple(steps))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve checkouts; every third has a click on a covered button, every fourth one without effect."""
    folder = tmp_path_factory.mktemp("in") / "recordings"
    for number in range(12):
        trajectory = made.checkout(f"checkout-{number:02d}", seed=number, thoughts=(None, None, "express first"))
        steps = list(trajectory.steps)
        if number % 3 == 0:
            steps[4] = with_target(steps[4], hit=0.0, point=None, seen=0.0)
        if number % 4 == 0:
            steps[2] = replace(steps[2], effect=Effect(kind="none", similarity=1.0, reason="nothing changed"))
        made.save(replace(trajectory, steps=tuple(steps)), folder)
    return folder


def with_target(step: Any, **changes: Any) -> Any:
    """The step with another target, in the observation too."""
    other = replace(step.target, evidence=replace(step.target.evidence, covered=1.0), **changes)
    elements = tuple(other if one.id == other.id else one for one in step.observation.elements)
    return replace(step, target=other, observation=replace(step.observation, elements=elements))


@pytest.fixture(scope="module")
def built(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> build.Report:
    """The dataset of those recordings."""
    return build.build([("recordings", recordings)], tmp_path_factory.mktemp("out") / "set", workers=1)


def test_every_step_is_kept_or_rejected_with_a_reason(built: build.Report) -> None:
    counts = built.manifest["counts"]
    assert counts["trajectories"] == 12
    assert counts["steps"] == 12 * 5
    assert built.examples + sum(built.rejected.values()) == 12 * 6  # five actions and the one reason
    assert built.rejected == {"target_occluded": 4, "no_effect": 3}
    rows = list(dataset.open_rows(built.out, "rejected"))
    assert len(rows) == sum(built.rejected.values())
    for row in rows:
        assert row["reason"] in built.rejected and row["gate"] and json.loads(row["evidence"])
        assert row["place"].startswith("recordings/checkout-") and "step" in row["place"]
        assert image.from_bytes(row["thumbnail"]["bytes"], phash=False).width == 320
        assert row["viewport_width"] == 640 and row["action"]["type"] == "click"


def test_prompts_with_several_answers_are_counted(built: build.Report, tmp_path: Path) -> None:
    asked = built.manifest["counts"]["asked"]
    assert asked == {"prompts": built.examples, "several_answers": 0, "rows": 0}
    assert "several answers" not in (built.out / "README.md").read_text()
    folder = tmp_path / "recordings"
    one = made.checkout("one")
    other = replace(one.steps[0], action=one.steps[1].action, target=one.steps[1].target)
    nearby = replace(one.steps[0], action=replace(one.steps[0].action, point=Point(501, 321)))
    for name, first in (("one", one.steps[0]), ("other", other), ("nearby", nearby)):
        made.save(replace(one, id=name, steps=(first, *one.steps[1:])), folder)
    report = build.build([("recordings", folder)], tmp_path / "set", workers=1, gates=[])
    asked = report.manifest["counts"]["asked"]
    # the first prompt is answered by two buttons, one of them at two places; the history of `other` differs from then on
    assert asked["several_answers"] == 1 and asked["rows"] == 3
    assert "1 of the 9 prompts of `actions`" in (report.out / "README.md").read_text()


def test_rows_keep_their_pictures_and_their_truth(built: build.Report, recordings: Path) -> None:
    blobs = {path.stem for path in recordings.rglob("*.png")}
    rows = list(dataset.read(built.out, "actions"))
    assert rows and all(isinstance(row, Example) for row in rows)
    for row in rows:
        assert row.image.sha256 in blobs
        assert (row.image_width, row.image_height) == (row.image.width, row.image.height) == (640, 360)
        assert row.split_group and json.loads(row.provenance)["recording"] == row.trajectory_id
    assert {row.phase for row in rows} == {"dismiss", "reason", "act", "enter"}


def test_what_has_no_effect_stays_in_transitions_only(built: build.Report) -> None:
    gone = {r["id"] for r in dataset.open_rows(built.out, "rejected") if r["reason"] == "no_effect"}
    assert len(gone) == 3
    assert not gone & {row["id"] for row in dataset.open_rows(built.out, "actions")}
    assert gone <= {row["id"] for row in dataset.open_rows(built.out, "transitions")}


@pytest.mark.parametrize("workers", [2, 3])
def test_the_bytes_do_not_depend_on_the_workers(
    built: build.Report, recordings: Path, tmp_path: Path, workers: int
) -> None:
    again = build.build([("recordings", recordings)], tmp_path / "elsewhere" / "other", workers=workers)
    assert bytes_of(again.out) == bytes_of(built.out)
    assert not manifest.damaged_files(again.out)
    assert [p.name for p in again.out.parent.iterdir()] == ["other"]  # no trace of the work in progress


def test_many_shards_and_row_groups_hold_the_same_rows_in_order(
    built: build.Report, recordings: Path, tmp_path: Path
) -> None:
    small = build.build(
        [("recordings", recordings)], tmp_path / "set", workers=1, shard_bytes=60_000, row_group_bytes=15_000
    )
    for config in ("actions", "transitions", "chunks"):
        one, other = list(dataset.open_rows(built.out, config)), list(dataset.open_rows(small.out, config))
        assert one == other
    shards = dataset.configs(small.out)["actions"]["train"]
    assert len(shards) > 2
    for path in shards:
        with dataset.opened(path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
            assert all(group.total_byte_size <= 15_000 or group.num_rows == 1 for group in groups)
    assert bytes_of(built.out).keys() != bytes_of(small.out).keys()


def test_nothing_is_overwritten_unless_forced(recordings: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    with pytest.raises(CallError, match="holds something already"):
        build.build([("recordings", recordings)], out, workers=1)
    assert [p.name for p in out.iterdir()] == ["mine.txt"]
    build.build([("recordings", recordings)], out, workers=1, force=True, configs=("actions",))
    assert sorted(p.name for p in out.iterdir()) == ["README.md", "actions", "cuadata.json"]


def test_gates_thresholds_and_unsure_rows_are_the_callers_choice(recordings: Path, tmp_path: Path) -> None:
    none = build.build([("recordings", recordings)], tmp_path / "a", workers=1, gates=[])
    assert not none.rejected and none.examples == 72
    one = build.build([("recordings", recordings)], tmp_path / "b", workers=1, gates=["no_effect"])
    assert one.rejected == {"no_effect": 3}
    assert one.manifest["settings"]["gates"] == [{"name": "no_effect", "thresholds": {"detours": True}}]
    for words, said in (
        (["nope"], "no gate is named 'nope'"),
        (["no_effect:near=3"], "has no threshold 'near'"),
        (["box:max_outside=-5"], "wanted a number of at least 0, such as 0.1"),
        (["box:max_outside=NaN"], "wanted a number of at least 0"),
        (["no_effect:detours=maybe"], "wanted a bool"),
        (["no_effect", "no_effect"], "asked for twice"),
    ):
        with pytest.raises(CallError, match=said):
            build.build([("recordings", recordings)], tmp_path / "c", workers=1, gates=words)


def test_exact_duplicates_under_other_bytes_are_kept_once(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    first = made.checkout("a", task=False)
    made.save(first, folder)
    made.save(replace(repainted(first, mode="RGBA", level=1), id="b"), folder)
    report = build.build([("recordings", folder)], tmp_path / "set", workers=1)
    assert report.rejected == {"duplicate": 5}
    rows = list(dataset.open_rows(report.out, "rejected"))
    assert {row["trajectory_id"] for row in rows} == {"b"}
    assert json.loads(rows[0]["evidence"]) == {"first": "a/0"}
    assert {row["trajectory_id"] for row in dataset.open_rows(report.out, "transitions")} == {"a"}
    assert {row["trajectory_id"] for row in dataset.open_rows(report.out, "chunks")} == {"a"}


def test_splits_follow_sites_and_never_leak(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    for number in range(8):
        made.save(somewhere(made.checkout(f"t{number}"), f"site{number // 2}", COLOURS[number // 2]), folder)
    apart = build.build(
        [("recordings", folder)],
        tmp_path / "set",
        workers=1,
        fractions={"train": 0.5, "test": 0.5},
    )
    splits = apart.manifest["splits"]
    assert splits["rows"] == splits["wanted_rows"] and not any(splits["leaks"].values())
    sites: dict[str, set[str]] = {}
    for split in ("train", "test"):
        for row in dataset.open_rows(apart.out, "actions", split):
            sites.setdefault(row["site"], set()).add(split)
        ids = {row["trajectory_id"] for row in dataset.open_rows(apart.out, "actions", split)}
        assert ids == {row["trajectory_id"] for row in dataset.open_rows(apart.out, "transitions", split)}
    assert len(sites) == 4 and all(len(names) == 1 for names in sites.values())


def test_rows_given_ready_made_are_written_beside_the_others(
    recordings: Path, tmp_path: Path, png: bytes, built: build.Report
) -> None:
    example = next(iter(dataset.read(built.out, "actions")))
    shared = {name: getattr(example, name) for name in Example.__dataclass_fields__}
    rows = [
        Grounding(
            **{**shared, "id": f"g{n}", "trajectory_id": f"g{n}", "site": "new", "template": "", "seed_block": ""}
        )
        for n in range(3)
    ]
    report = build.build([("recordings", recordings)], tmp_path / "set", workers=1, rows={"grounding": rows})
    assert [row["id"] for row in dataset.open_rows(report.out, "grounding")] == ["g0", "g1", "g2"]
    assert report.kept["actions"] == built.kept["actions"]
    alone = build.build([], tmp_path / "alone", workers=1, rows={"grounding": rows})
    assert alone.kept == {"grounding": {"train": 3}}
    with pytest.raises(DataError, match="grounding given, row 0: .*no field is named 'nonsense'"):
        build.build([], tmp_path / "bad", workers=1, rows={"grounding": [{"nonsense": 1}]})


def ready(name: str, picture: Pillow.Image, example: Example, level: int = 6) -> Grounding:
    """A row that is given ready-made, about a picture that was packed in some way and never looked at."""
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=level)
    shared = {one: getattr(example, one) for one in Example.__dataclass_fields__}
    shown = {"id": name, "trajectory_id": name, "image": image.from_bytes(out.getvalue(), phash=False)}
    return Grounding(**{**shared, **shown, "site": "", "template": "", "seed_block": ""})


def test_pictures_may_be_told_apart_by_their_bytes_and_none_is_decoded(
    tmp_path: Path, built: build.Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = next(iter(dataset.read(built.out, "actions")))
    page = Pillow.open(io.BytesIO(image.read(example.image))).convert("RGB")
    rows = [ready("a", page, example), ready("b", page, example), ready("c", page, example, level=1)]
    alike = build.build([], tmp_path / "alike", workers=1, rows={"grounding": rows})
    assert alike.manifest["splits"]["groups"] == 1

    def decoded(data: bytes) -> None:
        raise AssertionError("a picture was decoded")

    monkeypatch.setattr(image, "_as_seen", decoded)
    report = build.build([], tmp_path / "set", workers=1, rows={"grounding": rows}, distance=None)
    splits = report.manifest["splits"]
    assert splits["groups"] == 2 and splits["near"] is None and "same_picture" in splits["kept_together"]
    card = (report.out / "README.md").read_text(encoding="utf-8")
    assert "Pictures are the same when their files are." in card and "perceptual" not in card
    monkeypatch.undo()
    hole = bytearray(image.read(rows[0].image))
    hole[len(hole) // 2] ^= 1
    torn = replace(rows[0], image=image.from_bytes(bytes(hole), phash=False))
    with pytest.raises(DataError, match="grounding given, row 0: .*does not decode"):
        build.build([], tmp_path / "torn", workers=1, rows={"grounding": [torn]}, distance=None)


def test_a_png_is_whole_where_every_chunk_is_there_with_its_checksum(png: bytes) -> None:
    assert image.is_whole(png)
    for place in range(8, len(png), 97):
        assert not image.is_whole(png[:place]), place
        assert not image.is_whole(png[:place] + bytes([png[place] ^ 1]) + png[place + 1 :]), place
    assert not image.is_whole(png + b" ") and not image.is_whole(b"") and not image.is_whole(png[:8] + png[-12:])
    out = io.BytesIO()
    Pillow.open(io.BytesIO(png)).convert("RGB").save(out, "JPEG")
    assert not image.is_whole(out.getvalue())


def test_points_without_boxes_go_to_their_own_config(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    trajectory = made.checkout("p", task=False)
    bare = replace(trajectory.steps[2].target, bbox=None) if trajectory.steps[2].target else None
    steps = list(trajectory.steps)
    steps[2] = replace(
        steps[2],
        target=bare,
        observation=replace(
            steps[2].observation, elements=tuple(e for e in steps[2].observation.elements if e.id != made.EXPRESS.id)
        ),
    )
    made.save(replace(trajectory, steps=tuple(steps)), folder)
    report = build.build([("recordings", folder)], tmp_path / "set", workers=1, gates=["box"])
    assert report.kept["point_only"] == {"train": 1}
    (row,) = dataset.open_rows(report.out, "point_only")
    assert row["step_index"] == 2 and row["target"]["bbox"] is None and row["action"]["point"]


# What can go wrong: a clear message with the place, and nothing half written.


def truncate_picture(folder: Path) -> None:
    blob = next((folder / "checkout-01" / "blobs").glob("*.png"))
    blob.write_bytes(blob.read_bytes()[:-40])


def swap_picture(folder: Path) -> None:
    one, other = sorted((folder / "checkout-01" / "blobs").glob("*.png"))[:2]
    one.write_bytes(other.read_bytes())


def lose_picture(folder: Path) -> None:
    next((folder / "checkout-01" / "blobs").glob("*.png")).unlink()


def of_another_size(folder: Path) -> None:
    edit_steps(
        folder, lambda text: text.replace('"width":640,"height":360,"format"', '"width":641,"height":360,"format"')
    )


def without_observation(folder: Path) -> None:
    def drop(text: str) -> str:
        lines = text.splitlines()
        held = json.loads(lines[1])
        del held["step"]["observation"]
        return "\n".join([lines[0], json.dumps(held), *lines[2:], ""])

    edit_steps(folder, drop)


def unknown_action(folder: Path) -> None:
    edit_steps(folder, lambda text: text.replace('"type":"click"', '"type":"squeeze"', 1))


def empty(folder: Path) -> None:
    edit_steps(folder, lambda text: "")


def same_id(folder: Path) -> None:
    shutil.copytree(folder / "checkout-01", folder / "copy")


def later_version(folder: Path) -> None:
    header = folder / "checkout-01" / "header.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "schema_version": 999}))


def edit_steps(folder: Path, change: Callable[[str], str]) -> None:
    steps = folder / "checkout-01" / "steps.jsonl"
    steps.write_text(change(steps.read_text()))


DAMAGE = [
    (truncate_picture, "cut off"),
    (swap_picture, "not the one that was recorded"),
    (lose_picture, "is not there"),
    (of_another_size, "its record says 641x360"),
    (without_observation, "observation"),
    (unknown_action, "squeeze"),
    (empty, "holds no step"),
    (same_id, "id 'checkout-01' is also that of recordings/checkout-01"),
    (later_version, "999"),
]


@pytest.mark.parametrize(("harm", "words"), DAMAGE, ids=lambda value: getattr(value, "__name__", ""))
def test_damage_stops_the_build_with_its_place(
    recordings: Path, tmp_path: Path, harm: Callable[[Path], None], words: str
) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(recordings, folder)
    harm(folder)
    with pytest.raises(DataError) as caught:
        build.build([("recordings", folder)], tmp_path / "set", workers=1)
    said = str(caught.value)
    assert words in said and ("recordings/checkout-01" in said or "recordings/copy" in said), said
    assert str(tmp_path) not in said
    assert not (tmp_path / "set").exists()
    report = build.build([("recordings", folder)], tmp_path / "set", workers=1, keep_going=True)
    assert len(report.damage) == 1 and words in report.damage[0].message
    assert report.manifest["counts"]["trajectories"] >= 11
    ids = [row["id"] for row in dataset.open_rows(report.out, "actions")]
    assert len(set(ids)) == len(ids)


def test_several_damaged_inputs_are_all_named(recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(recordings, folder)
    for number in (3, 5):
        (folder / f"checkout-{number:02d}" / "steps.jsonl").write_text('{"torn": 1}\n')
    with pytest.raises(DataError) as caught:
        build.build([("recordings", folder)], tmp_path / "set", workers=1)
    assert "2 inputs are damaged" in str(caught.value)
    assert "recordings/checkout-03, step 0" in str(caught.value) and "recordings/checkout-05" in str(caught.value)


def test_a_step_without_a_picture_is_rejected_not_fatal(tmp_path: Path) -> None:
    trajectory = made.checkout("n")
    steps = list(trajectory.steps)
    notes = ("the page did not answer",)
    steps[2] = replace(steps[2], observation=replace(steps[2].observation, screenshot=None, notes=notes))
    made.save(replace(trajectory, steps=tuple(steps)), tmp_path / "recordings")
    report = build.build([("recordings", tmp_path / "recordings")], tmp_path / "set", workers=1)
    assert report.rejected["screenshot_missing"] >= 1
    bare = build.build([("recordings", tmp_path / "recordings")], tmp_path / "bare", workers=1, gates=[])
    assert set(bare.rejected) == {"screenshot_missing"}  # no gate was asked: a row still needs a picture


def cuadata(*words: str | Path, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own."""
    call = [sys.executable, "-m", "cuadata.cli", *map(str, words)]
    return subprocess.run(call, cwd=cwd, capture_output=True, text=True, check=False, timeout=120, **options)


@pytest.mark.parametrize("said", [",", " "])
def test_a_list_of_gates_that_names_none_is_refused(recordings: Path, tmp_path: Path, said: str) -> None:
    done = cuadata("build", "--source", "recordings", recordings, "--gates", said, "--out", "set", cwd=tmp_path)
    assert done.returncode == 2 and "--gates names no gate" in done.stderr
    assert not (tmp_path / "set").exists()


def test_the_command_builds_prints_and_says_what_is_wrong(
    recordings: Path, tmp_path: Path, built: build.Report
) -> None:
    shutil.copytree(recordings, tmp_path / "recordings")
    done = cuadata("build", "--source", "recordings", "--out", "set", "--json", "--report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["rejected"] == built.rejected and summary["report"] == "set/report/index.html"
    assert "no_effect" in done.stderr and "Nothing changed after the action" in done.stderr
    mine = {name: held for name, held in bytes_of(tmp_path / "set").items() if not name.startswith("report/")}
    assert mine == bytes_of(built.out)
    stats = cuadata("stats", "set", "--json", cwd=tmp_path)
    held = json.loads(stats.stdout)["configs"]["actions"]["train"]
    assert held["rows"] == built.examples and held["counts"]["phase"]["dismiss"] > 0
    for words, code, said in (
        (("build", "--source", "recordings", "nowhere", "--out", "x"), 2, "nowhere is not there"),
        (("build", "--source", "recordings", "--out", "set"), 2, "--force"),
        (("build", "--source", "nope", "recordings", "--out", "x"), 2, "no source is named 'nope'"),
        (("build", "--source", "recordings", "set", "--out", "x"), 1, "recordings"),
        (("build", "--out", "x", "--splits", "train=0.9,test=0.3"), 2, "together 1"),
        (("build", "--out", "x", "--workers", "0"), 2, "give 1 or more"),
        (("stats", "recordings"), 1, "no shard of a dataset"),
    ):
        failed = cuadata(*words, cwd=tmp_path)
        assert failed.returncode == code and said in failed.stderr, failed.stderr
        assert "Traceback" not in failed.stderr and not (tmp_path / "x").exists()


def test_a_full_disk_is_said_and_leaves_nothing(recordings: Path, tmp_path: Path) -> None:
    limit = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); sys.argv[0] = 'cuadata'; "
    )
    limit += "from cuadata.cli import main; main()"
    words = ["build", "--source", "recordings", str(recordings), "--out", "set", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-c", limit, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert "larger than the system allows" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "set").exists()
    build.build([("recordings", recordings)], tmp_path / "set", workers=1)
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


def test_a_killed_build_goes_on_and_ends_in_the_same_bytes(
    recordings: Path, tmp_path: Path, built: build.Report
) -> None:
    out = tmp_path / "set"
    slow = (
        "import os, sys, signal; from cuadata import build; "
        "told = lambda what, done, of: os.kill(os.getpid(), signal.SIGKILL) if (what, done) == (sys.argv[3], int(sys.argv[4])) else None; "
        "build.build([('recordings', sys.argv[1])], sys.argv[2], workers=1, progress=told)"
    )
    for what, done in (("reading", "5"), ("writing", "2")):
        killed = subprocess.run(
            [sys.executable, "-c", slow, str(recordings), str(out), what, done],
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert killed.returncode == -signal.SIGKILL
        assert not out.exists()
    resumed = build.build([("recordings", recordings)], out, workers=1)
    assert resumed.resumed == 12
    assert bytes_of(out) == bytes_of(built.out)


def test_what_a_stopped_build_left_is_no_part_of_the_next(
    recordings: Path, tmp_path: Path, built: build.Report
) -> None:
    def stopped(folder: Path) -> None:
        (folder / "report").mkdir()
        (folder / "report" / "index.html").write_text("<p>half a page")
        raise DataError("no space is left on the disk", place=str(folder))

    with pytest.raises(DataError, match="no space"):
        build.build([("recordings", recordings)], tmp_path / "set", workers=1, finish=[stopped])
    build.build([("recordings", recordings)], tmp_path / "set", workers=1)
    assert bytes_of(tmp_path / "set") == bytes_of(built.out)


def test_a_build_without_a_row_says_why(recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(recordings / "checkout-01", folder / "checkout-01")
    with pytest.raises(DataError, match="none of 5 steps became a row of recovery; with `rejected` among"):
        build.build([("recordings", folder)], tmp_path / "set", workers=1, configs=["recovery"])
    (folder / "checkout-01" / "outcome.json").unlink()
    empty(folder)
    with pytest.raises(
        DataError, match="every input was left out.*\n  recordings/checkout-01: it holds no step"
    ) as said:
        build.build([("recordings", folder)], tmp_path / "set", workers=1, keep_going=True)
    assert said.value.place == str(tmp_path / "set") and not (tmp_path / "set").exists()


def test_recordings_that_ran_into_each_other_give_no_id_twice(tmp_path: Path) -> None:
    trajectory = made.checkout("joined", seed=3)
    later = made.checkout("joined", seed=4)
    folder = made.save(trajectory, tmp_path / "in")
    other = made.save(later, tmp_path / "other")
    for blob in (other / "blobs").iterdir():
        shutil.copy(blob, folder / "blobs" / blob.name)
    with open(folder / "steps.jsonl", "a") as file:
        file.write((other / "steps.jsonl").read_text())
    (folder / "outcome.json").write_text('{"outcome":{"ended":"success","success":true}}')
    report = build.build([("recordings", tmp_path / "in")], tmp_path / "set", workers=1)
    assert report.examples == len(trajectory.steps)
    for config, splits in report.kept.items():
        ids = [row.id for split in splits for row in dataset.read(report.out, config, split)]
        assert len(ids) == len(set(ids))
    first = next(dataset.read(report.out, "actions"))
    shot = trajectory.steps[0].observation.screenshot
    assert shot is not None and first.image.sha256 == shot.sha256


def test_configs_without_actions_are_no_failure(recordings: Path, tmp_path: Path) -> None:
    words = ["build", "--source", "recordings", str(recordings), "--out", "set", "--configs", "chunks"]
    done = subprocess.run(
        [sys.executable, "-m", "cuadata.cli", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "no step became" not in done.stderr, done.stderr


def test_a_changed_input_or_gate_is_read_again(recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(recordings, folder)
    empty(folder)
    with pytest.raises(DataError):
        build.build([("recordings", folder)], tmp_path / "set", workers=1)
    shutil.copy(recordings / "checkout-01" / "steps.jsonl", folder / "checkout-01" / "steps.jsonl")
    report = build.build([("recordings", folder)], tmp_path / "set", workers=1, gates=[])
    assert report.examples == 72 and not report.rejected
    assert report.resumed == 0, "the earlier build judged by other gates: nothing that it read was of use"


def test_only_what_an_earlier_build_read_is_counted_as_resumed(recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(recordings, folder)
    empty(folder)
    with pytest.raises(DataError):
        build.build([("recordings", folder)], tmp_path / "set", workers=1)
    shutil.copy(recordings / "checkout-01" / "steps.jsonl", folder / "checkout-01" / "steps.jsonl")
    assert build.build([("recordings", folder)], tmp_path / "set", workers=1).resumed == 11


def test_a_picture_that_was_mended_is_read_again(recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(recordings, folder)
    picture = next((folder / "checkout-01" / "blobs").glob("*.png"))
    whole = picture.read_bytes()
    picture.write_bytes(whole[:-20])
    with pytest.raises(DataError, match="checkout-01, step .* cut off"):
        build.build([("recordings", folder)], tmp_path / "set", workers=1)
    picture.write_bytes(whole)
    assert build.build([("recordings", folder)], tmp_path / "set", workers=1).resumed == 11


def test_two_builds_into_one_folder_do_not_mix(recordings: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    def told(what: str, done: int, of: int) -> None:
        if not seen:
            seen.append(what)
            with pytest.raises(CallError, match="another build is writing"):
                build.build([("recordings", recordings)], tmp_path / "set", workers=1)

    build.build([("recordings", recordings)], tmp_path / "set", workers=1, progress=told)
    assert seen == ["reading"]


def test_a_script_without_a_main_guard_may_use_processes(recordings: Path, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "from cuadata import build\n"
        f"print(build.build([('recordings', {str(recordings)!r})], {str(tmp_path / 'set')!r}, workers=2).examples)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 1


def test_a_read_only_place_is_refused(recordings: Path, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="read-only|cannot be written"):
        build.build([("recordings", recordings)], Path("/proc/cuadata/set"), workers=1)
    (tmp_path / "file").write_text("x")
    with pytest.raises(CallError, match="is a file"):
        build.build([("recordings", recordings)], tmp_path / "file", workers=1)
    with pytest.raises(CallError, match="is a file"):
        build.build([("recordings", recordings)], tmp_path / "file" / "set", workers=1)


def test_a_folder_that_may_not_be_made_is_said_in_words(tmp_path: Path) -> None:
    """By rollouts and recoveries too, which keep their folder to themselves while they write."""
    (tmp_path / "shut").mkdir(mode=0o555)
    code = f"""
import os
from pathlib import Path
from cuadata.building import folders
if os.getuid() == 0:
    os.setuid(65534)  # nobody: root may write anywhere
try:
    with folders.alone(Path({str(tmp_path / "shut" / "rollouts")!r})):
        pass
except ValueError as error:
    print(error.exit_code, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1 ") and "this user may not write there" in done.stdout, done.stderr


def test_the_card_says_what_each_gate_was_seen_to_catch(tmp_path: Path) -> None:
    from cuadata.commands.build import _recall

    told = tmp_path / "verify.json"
    found = {"box": {"recall": "99 % [98, 100]", "false_rejects": "0 %", "n": 9}}
    told.write_text(json.dumps({"what": "data/own", "gate_recall": found}))
    held = _recall(told)
    assert _recall(None) is None and held is not None and held.gates == found
    assert "verify.json" in held.source and "data/own" in held.source
    for text in ("{", "[]", '{"what": "x"}', '{"gate_recall": {"box": 1}}', "[" * 100_000):
        told.write_text(text)
        with pytest.raises(DataError, match="cuadata verify DATA --inject --json"):
            _recall(told)
    with pytest.raises(CallError, match="cannot be read"):
        _recall(tmp_path / "none.json")


def test_without_figures_of_its_own_a_card_shows_those_of_the_package(recordings: Path, tmp_path: Path) -> None:
    from cuadata import __version__
    from cuadata.proving import measured

    build.build([("recordings", recordings)], tmp_path / "usual", workers=1)
    held = json.loads((tmp_path / "usual" / "cuadata.json").read_text())["settings"]
    table = measured.shipped(gating.choose())
    assert held["gate_recall"] == table.gates and held["gate_recall_source"] == table.source
    assert __version__ in table.source and "cuadata verify" in table.source
    card = " ".join((tmp_path / "usual" / "README.md").read_text().split())
    assert table.gates["relation"]["recall"] in card and table.source in card


def test_figures_of_other_thresholds_are_not_shown() -> None:
    from cuadata.proving import measured

    assert "relation" in measured.shipped(gating.choose(["relation", "box"])).gates
    assert "relation" not in measured.shipped(gating.choose(["relation:margin=0.3", "box"])).gates


def test_the_shipped_figures_are_of_this_version_and_reach_what_they_promise(tmp_path: Path) -> None:
    from cuadata import __version__
    from cuadata.proving import measured

    held = json.loads(Path(measured.__file__).with_name(measured.NAME).read_text())
    assert held["version"] == __version__, "measure again: see the docstring of cuadata/proving/measured.py"
    assert held["rows"] >= 300 and held["recall"]["rate"] >= 0.99 and held["false_rejects"]["rate"] <= 0.01
    assert set(held["gates"]) <= set(registry.gates.names())
    verified = {
        "injected": {"examples": 3, "recall": {}, "false_rejects": {}},
        "gate_recall": {"box": {"recall": "1 of 1"}},
    }
    measured.write(verified, "commands", tmp_path / "table.json")
    assert json.loads((tmp_path / "table.json").read_text())["gates"] == verified["gate_recall"]
