"""Recordings are edited by id: a wrong one changes nothing, and nobody is taken for a neighbour."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_trajectories import START, VIEWPORT, checkout, save
from typer.testing import CliRunner

from cuadata import edit, image, recording
from cuadata.commands.edit import app
from cuadata.errors import CallError, DataError
from cuadata.types import Action, Effect, Observation, Outcome, Step, Trajectory


def tree(folder: Path) -> dict[str, str]:
    """Every file of a folder with its sha256."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def episode(id: str, task: str, texts: Sequence[str], picture: Path | None = None) -> Trajectory:
    """An episode of a case as a trajectory: one typing step a row."""
    shot = None if picture is None else image.from_file(picture)
    seen = Observation(screenshot=shot, viewport=VIEWPORT)
    steps = (
        Step(index=i, time=START + i, observation=seen, action=Action(type="type", text=text))
        for i, text in enumerate(texts)
    )
    return Trajectory(id=id, instruction=task, source="case", steps=tuple(steps), outcome=Outcome(ended="success"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def typed(path: Path) -> list[str | None]:
    return [step.action.text for step in recording.read(path).steps]


def test_case_gap_in_episode_numbers(cases: Path, tmp_path: Path) -> None:
    folder = cases / "store" / "B72-gap-in-episode-numbers"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    rows = lines(folder / "steps.jsonl")
    for one in lines(folder / "episodes.jsonl"):
        texts = [row["text"] for row in rows if row["episode"] == one["episode"]]
        save(episode(str(one["episode"]), one["task"], texts), tmp_path)
    for number, task in expected["lookup"].items():
        episode_found = recording.read(edit.pick(tmp_path, number))
        assert episode_found.instruction == task and episode_found.steps[0].action.text == f"{task}-0"
    for number in map(str, expected["missing"]):
        with pytest.raises(DataError, match=f"no recording has the id '{number}'; there are: 0, 1, 4, 5"):
            edit.pick(tmp_path, number)
    stated = json.loads((folder / "info.json").read_text())["total_episodes"]
    found = edit.survey(tmp_path, stated=stated)
    assert found.missing == tuple(map(str, expected["missing"]))
    assert "6 recordings are stated, 4 are there" in found.problems
    assert edit.renumber(tmp_path) == {"0": "0", "1": "1", "4": "2", "5": "3"}
    assert recording.read(edit.pick(tmp_path, "2")).instruction == "delta"
    assert edit.pick(tmp_path, "3").name == "3"
    assert edit.survey(tmp_path).problems == ()
    assert edit.renumber(tmp_path) == {str(n): str(n) for n in range(4)}


def test_case_delete_wrong_number(cases: Path, tmp_path: Path) -> None:
    folder = cases / "store" / "B73-delete-wrong-number"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    for file in sorted(folder.glob("ep*.jsonl")):
        (row,) = lines(file)
        save(episode(str(row["episode"]), "x", [row["text"]]), tmp_path)
    before = tree(tmp_path)
    for case in expected["delete"]:
        ids = [str(number) for number in case["numbers"]]
        if case["result"] == "error":
            with pytest.raises(DataError, match="'7'"):
                edit.delete(tmp_path, ids)
        else:
            edit.delete(tmp_path, ids)
        if case.get("files_unchanged"):
            assert tree(tmp_path) == before
    left = [text for path in recording.find(tmp_path) for text in typed(path)]
    assert left == expected["delete"][-1]["remaining_texts"]


def test_case_merge_collisions(cases: Path, tmp_path: Path) -> None:
    folder = cases / "store" / "B74-merge-collisions"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    for name in ("a", "b"):
        tasks = {row["task_index"]: row["task"] for row in lines(folder / name / "tasks.jsonl")}
        for row in lines(folder / name / "episodes.jsonl"):
            number, task = row["episode"], tasks[row["task_index"]]
            picture = folder / name / "img" / f"ep{number}_0.png"
            save(episode(str(number), task, [f"{name}/{number}"], picture), tmp_path / name)
    before = tree(tmp_path)
    mapping = edit.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert {name: digest for name, digest in tree(tmp_path).items() if not name.startswith("out")} == before
    merged = {t.id: t for t in recording.read_all(tmp_path / "out")}
    assert sorted(map(int, merged)) == expected["numbers"]
    assert list(mapping.values()) == [str(n) for n in expected["numbers"]]
    for number, want in zip(expected["numbers"], expected["by_number"], strict=True):
        found = merged[str(number)]
        shot = found.steps[0].observation.screenshot
        assert found.instruction == want["task"] and found.steps[0].action.text == want["from"]
        assert shot is not None and image.rgb(image.read(shot))[0, 0].tolist() == want["rgb"]
        assert any("merged from" in note for note in found.notes)
    assert list(dict.fromkeys(t.instruction for t in merged.values())) == expected["distinct_tasks"]


def test_merging_ids_of_every_shape(tmp_path: Path) -> None:
    for name, ids in (("a", ["run", "t1", "0", "007"]), ("b", ["run", "t1", "t3", "0", "007"]), ("c", ["run", "0"])):
        for id in ids:
            save(checkout(id), tmp_path / name)
    mapping = edit.merge([tmp_path / name for name in "abc"], tmp_path / "out")
    given = list(mapping.values())
    assert len(set(given)) == len(given) == 11
    by_source = {key.removeprefix(f"{tmp_path}/"): id for key, id in mapping.items()}
    assert by_source["a/run"] == "run" and by_source["b/run"] == "run-2" and by_source["c/run"] == "run-3"
    assert by_source["b/t3"] == "t3" and by_source["b/t1"] == "t4"
    assert (by_source["b/0"], by_source["c/0"]) == ("1", "2")
    assert by_source["b/007"] == "007-2"
    assert {t.id for t in recording.read_all(tmp_path / "out")} == set(given)


def test_a_merge_that_cannot_be_leaves_nothing(tmp_path: Path) -> None:
    save(checkout("t0"), tmp_path / "a")
    bad = save(checkout("t1"), tmp_path / "b")
    (bad / "header.json").write_text("{")
    with pytest.raises(DataError, match=r"t1: header.json"):
        edit.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    edit.merge([tmp_path / "a"], tmp_path / "out")
    with pytest.raises(DataError, match="exists already"):
        edit.merge([tmp_path / "a"], tmp_path / "out")
    with pytest.raises(CallError, match="named twice"):
        edit.merge([tmp_path / "a", tmp_path / "b" / ".." / "a"], tmp_path / "out", force=True)
    save(checkout("t0"), tmp_path / "c")
    edit.merge([tmp_path / "a", tmp_path / "c"], tmp_path / "out", force=True)
    assert [t.id for t in recording.read_all(tmp_path / "out")] == ["t0", "t1"]


def test_keeping_is_deleting_the_others(tmp_path: Path) -> None:
    for n in range(4):
        save(checkout(f"t{n}"), tmp_path)
    before = tree(tmp_path)
    with pytest.raises(DataError, match="'t9'"):
        edit.keep(tmp_path, ["t1", "t9"])
    with pytest.raises(CallError, match="nothing would be left"):
        edit.keep(tmp_path, [])
    assert tree(tmp_path) == before
    assert [p.name for p in edit.keep(tmp_path, ["t1", "t3", "t1"])] == ["t0", "t2"]
    assert sorted(edit.index(tmp_path)) == ["t1", "t3"]


def test_what_is_being_recorded_is_left_alone(tmp_path: Path) -> None:
    save(checkout("t0"), tmp_path)
    with recording.create(tmp_path / "live", id="live", instruction="x", source="person") as writer:
        for call in (
            lambda: edit.delete(tmp_path, ["t0", "live"]),
            lambda: edit.renumber(tmp_path),
            lambda: edit.merge([tmp_path], tmp_path.parent / "out"),
        ):
            with pytest.raises(DataError, match="is recording into it"):
                call()
        assert edit.close_interrupted(tmp_path) == []
        writer.close(Outcome(ended="success"))
    assert sorted(edit.index(tmp_path)) == ["live", "t0"]


def test_two_of_one_id_are_named(tmp_path: Path) -> None:
    save(checkout("t0"), tmp_path / "a")
    save(checkout("t0"), tmp_path / "b")
    with pytest.raises(DataError, match=r"b/t0: its id 't0' is also that of .*a/t0"):
        edit.index(tmp_path)


def test_annotating_changes_what_is_said_and_nothing_else(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    before = recording.read(path)
    effect = Effect(kind="none", similarity=1.0, reason="nothing changed")
    assert (
        edit.annotate(path, {1: {"label": "no_effect", "effect": effect}, 3: {"thought": "the name comes next"}}) == 2
    )
    after = recording.read(path)
    assert (after.steps[1].label, after.steps[1].effect, after.steps[3].thought) == (
        "no_effect",
        effect,
        "the name comes next",
    )
    changed = (
        replace(after.steps[1], label=None, effect=before.steps[1].effect),
        replace(after.steps[3], thought=None),
    )
    assert (after.steps[0], changed[0], after.steps[2], changed[1], after.steps[4]) == before.steps
    held = tree(path)
    for change, words in (
        ({9: {"label": "progress"}}, "no step 9"),
        ({1: {"action": Action(type="wait")}}, "cannot be changed afterwards"),
        ({0: {"phase": "dismiss"}, 1: {"label": "splendid"}}, "'splendid'"),
    ):
        with pytest.raises(ValueError, match=words):
            edit.annotate(path, change)
        assert tree(path) == held
    assert edit.annotate(path, {}) == 0 and tree(path) == held


def test_interrupted_recordings_can_be_ended(tmp_path: Path) -> None:
    path = save(checkout("t0"), tmp_path)
    save(checkout("t1"), tmp_path)
    (path / "outcome.json").unlink()
    with open(path / "steps.jsonl", "a") as file:
        file.write('{"torn')
    assert edit.close_interrupted(tmp_path) == [path]
    assert edit.close_interrupted(tmp_path) == []
    back = recording.read(path)
    assert (back.outcome.ended, len(back.steps), back.notes) == ("interrupted", 5, ())


def test_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    for n in (0, 1, 3):
        save(checkout(f"t{n}"), tmp_path / "a")
    listed = run(app, ["list", str(tmp_path / "a"), "--json"])
    assert json.loads(listed.stdout) == {
        "ids": ["t0", "t1", "t3"],
        "missing": ["t2"],
        "problems": ["the numbers leave out t2"],
    }
    assert isinstance(run(app, ["delete", str(tmp_path / "a"), "t9"]).exception, DataError)
    done = run(app, ["delete", str(tmp_path / "a"), "t1"])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "deleted: t1\n")
    done = run(app, ["merge", str(tmp_path / "b"), str(tmp_path / "a"), "--json"])
    assert sorted(json.loads(done.stdout)["ids"].values()) == ["t0", "t3"]
    assert json.loads(run(app, ["renumber", str(tmp_path / "a"), "--json"]).stdout)["ids"] == {"t0": "t0", "t3": "t1"}
    assert json.loads(run(app, ["migrate", str(tmp_path / "a"), "--json"]).stdout) == {"migrated": []}
    assert json.loads(run(app, ["close", str(tmp_path / "a"), "--json"]).stdout) == {"closed": []}
    assert run(app, ["keep", str(tmp_path / "a"), "t1"]).exit_code == 0
    assert sorted(edit.index(tmp_path / "a")) == ["t1"]
