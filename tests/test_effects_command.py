"""`cuadata effects`: one pair of pictures, recordings, and labelled sets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from effect_steps import click, described, drawn, encoded, observation, page, step
from typer.testing import CliRunner

from cuadata import recording
from cuadata.cli import app
from cuadata.errors import CallError, DataError
from cuadata.proving import effect_pairs
from cuadata.types import Outcome, Size

START = page(320, 240)
DONE = drawn(START, lambda d: d.rectangle((20, 20, 300, 220), fill=(20, 120, 60)))


def run(*words: object) -> Any:
    return CliRunner().invoke(app, ["effects", *map(str, words)])


def said(*words: object) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    before, after = (observation(picture=described(one), viewport=Size(320, 240)) for one in (START, DONE))
    for name, source in (("one", "person"), ("two", "oracle")):
        folder = tmp_path / "recordings" / name
        with recording.create(folder, id=name, instruction="send", source=source, viewport=Size(320, 240)) as writer:
            writer.add(step(0, click(10, 10), None, before, before))
            writer.add(step(1, click(11, 11), None, before, before))
            writer.add(step(2, click(60, 60), None, before, after))
            writer.close(Outcome(ended="success"))
    return tmp_path / "recordings"


def test_one_pair(cases: Path) -> None:
    folder = next((cases / "effect").glob("B50-*"))
    found = said(folder / "before.png", folder / "after.png", "--point", "46,266")
    assert found["happened"] is True and found["kind"] == "local"
    assert found["region"] == {"x": 42, "y": 261, "width": 11, "height": 12}
    done = run(folder / "before.png", folder / "after.png")
    assert done.stdout == "" and "local at 42,261" in done.stderr


def test_one_pair_with_frames_taken_without_acting(cases: Path) -> None:
    folder = next((cases / "effect").glob("B52-*"))
    found = said(folder / "before_0.png", folder / "after.png", "--ambient", folder / "before_1.png")
    assert found["happened"] is False and found["kind"] == "ambient"


def test_a_size_that_changed_is_a_verdict(cases: Path) -> None:
    folder = next((cases / "effect").glob("B49-*"))
    found = said(folder / "before.png", folder / "after.png")
    assert found["happened"] is None and found["size_changed"] is True


def test_a_broken_picture_is_bad_data(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encoded(START))
    (tmp_path / "b.png").write_bytes(encoded(START)[:500])
    done = run(tmp_path / "a.png", tmp_path / "b.png", "--json")
    assert isinstance(done.exception, DataError) and done.exception.exit_code == 1
    assert json.loads(done.stdout)["kind"] == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        ("{png}",),
        ("{png}", "{png}", "{png}"),
        ("{png}", "{folder}"),
        ("{png}", "nowhere.png"),
        ("{png}", "{png}", "--point", "here"),
        ("{png}", "{png}", "--point", "nan,1"),
        ("{png}", "{png}", "--point", "1,inf"),
        ("{png}", "{png}", "--calibrate", "{png}"),
        ("{folder}", "--point", "1,2"),
        ("{folder}", "--ambient", "{png}"),
    ],
)
def test_calls_that_are_none(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encoded(START))
    done = run(*(word.format(png=path, folder=tmp_path) for word in words))
    assert isinstance(done.exception, CallError) and done.exception.exit_code == 2


def test_a_frame_that_does_not_decode_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encoded(START))
    (tmp_path / "torn.png").write_bytes(encoded(START)[:500])
    done = run(tmp_path / "a.png", tmp_path / "a.png", "--ambient", tmp_path / "torn.png")
    assert isinstance(done.exception, DataError) and "torn.png" in str(done.exception)


@pytest.mark.parametrize("held", ["", "\n \n"])
def test_labels_that_hold_nothing_calibrate_nothing(held: str, tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text(held)
    done = run(tmp_path, "--calibrate", tmp_path / "labels.jsonl")
    assert isinstance(done.exception, DataError) and "holds no labels" in str(done.exception)


@pytest.mark.parametrize("ratio", ["0", "-1", "nan", "inf"])
def test_a_ratio_that_is_none_is_refused(ratio: str, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encoded(START))
    done = run(path, path, "--ratio", ratio)
    assert done.exit_code == 2 and "--ratio" in done.output


def test_recordings_are_labelled_and_told(recordings: Path) -> None:
    dry = said(recordings, "--dry-run")
    assert [one["written"] for one in dry["recordings"]] == [False, False]
    found = said(recordings)
    assert (found["steps"], found["no_effect"], found["no_effect_repeat"], found["recovery"]) == (6, 4, 2, 2)
    assert found["median_tries"] == 2 and found["changed_course"] == 0.5
    assert found["recordings"][0]["labels"] == ["no_effect", "no_effect_repeat", "recovery"]
    assert found["recordings"][0]["train_on"] == [2] and found["recordings"][0]["keep_as_context"] == [0, 1]
    assert [step.label for step in recording.read(recordings / "two").steps][-1] == "recovery"
    done = run(recordings)
    assert "repeated" in done.stderr and "oracle" in done.stderr and "nothing to write" in done.stderr


def test_a_folder_without_recordings_is_bad_data(tmp_path: Path) -> None:
    assert isinstance(run(tmp_path).exception, DataError)


def test_calibration_on_steps(recordings: Path, tmp_path: Path) -> None:
    rows = [
        {"recording": "one", "step": 0, "effect": False, "class": "dead"},
        {"recording": "one", "step": 2, "effect": True, "class": "panel"},
        {"recording": "two", "step": 1, "effect": True, "class": "dead"},  # a label that is wrong
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = said(recordings, "--calibrate", labels)
    assert found["n"] == 3 and found["precision"]["rate"] == 1.0 and found["recall"]["rate"] == 0.5
    assert found["by_class"]["dead"]["hits"] == 1 and found["by_class"]["dead"]["n"] == 2
    assert len(found["errors"]) == 1 and found["errors"][0].startswith("two 1: labelled an effect, measured none")
    assert {one["name"] for one in found["proposals"]} == {"similarity", "shift", "block"}
    assert recording.read(recordings / "one").steps[0].label is None
    labels.write_text(json.dumps({**rows[0], "step": 9}) + "\n")
    assert isinstance(run(recordings, "--calibrate", labels).exception, DataError)
    labels.write_text('{"recording": "one"}\n')
    assert isinstance(run(recordings, "--calibrate", labels).exception, DataError)


def test_calibration_proposes_a_threshold_between_noise_and_effect(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(encoded(START))
    lines = []
    for number, depth in enumerate((3, 4, 5, 12, 14, 40)):
        changed = drawn(START, lambda d, depth=depth: d.rectangle((200, 60, 300, 100), fill=(246 - depth, 247, 249)))
        (folder / f"{number}.png").write_bytes(encoded(changed))
        line = {"id": str(number), "effect": depth > 10, "before": "a.png", "after": f"{number}.png", "class": "colour"}
        lines.append(json.dumps(line))
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(lines))
    found = said(tmp_path, "--calibrate", labels)
    assert found["errors"] == []
    shift = next(one for one in found["proposals"] if one["name"] == "shift")
    assert (shift["low"], shift["high"], shift["errors"]) == (5.0, 12.0, 0)
    done = run(tmp_path, "--calibrate", labels)
    assert "colour" in done.stderr and "6/6" in done.stderr and "shift" in done.stderr


@pytest.mark.parametrize(
    "line, words",
    [
        ("{", "no label"),
        ('{"id": "a", "before": "a.png", "after": "a.png"}', "effect"),
        ('{"id": "a", "effect": 1, "before": "a.png", "after": "a.png"}', "true or false"),
        ('{"id": "a", "effect": true, "before": "../a.png", "after": "a.png"}', "leads out"),
        ('{"id": "a", "effect": true, "before": "a.png", "after": "no.png"}', "no.png"),
        ('{"id": "a", "effect": true, "before": "a.png", "after": "a.png@x,y"}', "a.png@x,y"),
        ('{"id": "a", "effect": true, "before": "a.png", "after": "a.png", "state_before": {"url": 3}}', "no label"),
    ],
)
def test_labels_that_are_none_are_named(line: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(encoded(START))
    (tmp_path / "labels.jsonl").write_text(line)
    with pytest.raises(DataError, match=words):
        for pair in effect_pairs.read(tmp_path / "labels.jsonl"):
            pair.measured()


def test_a_patch_is_laid_on_the_picture_before(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(encoded(START))
    (tmp_path / "pictures" / "p.png").write_bytes(encoded(DONE.crop((20, 20, 301, 221))))
    line = {"id": "a", "effect": True, "before": "a.png", "after": "p.png@20,20", "ambient": ["a.png@0,0@a.png"]}
    (tmp_path / "labels.jsonl").write_text(json.dumps(line))
    [pair] = effect_pairs.read(tmp_path / "labels.jsonl")
    assert pair.picture(pair.after).tobytes() == DONE.tobytes()
    assert pair.measured().kind == "global"
    assert replace(pair, after="a.png").measured().kind == "none"
