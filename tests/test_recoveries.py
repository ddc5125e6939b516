"""Recovery rows: cut from recordings, told as inference tells them, mixed into a dataset by weight."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_trajectories as made
import pytest

from cuadata import build, dataset, split
from cuadata.building import mixing
from cuadata.cli import app
from cuadata.errors import CallError, DataError
from cuadata.rows import ContextLine, Mixed, Recovery
from cuadata.splitting import examples
from cuadata.types import Action, Effect, Point, Trajectory


def missing(id: str, tries: int = 2, seed: int = 0) -> Trajectory:
    """A checkout whose second overlay is closed only after clicks beside its button."""
    whole = made.checkout(id, seed=seed)
    before = whole.steps[1].observation
    beside = Action(type="click", point=Point(made.CLOSE.bbox.x - 12.0, 80.0))  # type: ignore[union-attr]
    failed = [
        replace(
            whole.steps[1], action=beside, target=made.OFFER, after=before, effect=Effect(kind="none", similarity=1.0)
        )
    ] * tries
    steps = [whole.steps[0], *failed, *whole.steps[1:]]
    timed = [replace(step, index=n, time=made.START + n) for n, step in enumerate(steps)]
    return replace(whole, steps=tuple(timed))


def test_a_row_tells_the_tries_and_the_line_that_they_changed_nothing() -> None:
    (candidate,) = split.recoveries(missing("t0"))
    row = candidate.example
    assert isinstance(row, Recovery) and row.id == "t0/3"
    assert row.history == ("click button 'Accept all'", "click dialog 'Offer'", "click dialog 'Offer'")
    words = "No effect: click dialog 'Offer' changed nothing (2 times in a row)."
    assert row.context == (ContextLine("no_effect", words),)
    assert len(row.failed) == 2 and row.cause == "missed" and row.miss_distance == pytest.approx(12.0)
    assert row.failed_target is not None and row.failed_target.name == "Close"
    assert row.label == "recovery"
    assert row.action.element == made.CLOSE.id and row.target is not None and row.target.name == "Close"


def test_at_most_three_tries_are_kept_and_the_line_counts_them_all() -> None:
    (candidate,) = split.recoveries(missing("t0", tries=6))
    row = candidate.example
    assert isinstance(row, Recovery) and len(row.failed) == 3
    assert row.context[0].text.endswith("changed nothing (6 times in a row).")
    assert len(row.history) == 5


def test_tries_in_a_row_are_those_of_one_action() -> None:
    steps = missing("t0", tries=3).steps
    moved = replace(steps[1], action=replace(steps[1].action, point=Point(300.0, 80.0)))
    (line,) = examples.no_effect_lines((steps[0], moved, *steps[2:4]))
    assert "(2 times in a row)" in line.text
    assert examples.no_effect_lines(steps[:1]) == () == examples.no_effect_lines(())
    unknown = replace(steps[1], effect=None)
    assert examples.no_effect_lines((unknown,)) == ()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in") / "recordings"
    for number in range(8):
        one = (
            missing(f"t{number}", 1 + number % 3, seed=number)
            if number % 2
            else made.checkout(f"t{number}", seed=number)
        )
        made.save(one, folder)
    return folder


def test_a_build_cuts_recoveries_and_keeps_the_tries_out_of_actions(recordings: Path, tmp_path: Path) -> None:
    done = build.build([("recordings", recordings)], tmp_path / "set", workers=1)
    rows = [row for name in done.kept["recovery"] for row in dataset.read(done.out, "recovery", name)]
    assert sorted(row.id for row in rows) == ["t1/3", "t3/2", "t5/4", "t7/3"]
    assert {row.cause for row in rows} == {"missed"} and sorted(len(row.failed) for row in rows) == [1, 2, 2, 3]
    actions = [row for name in done.kept["actions"] for row in dataset.read(done.out, "actions", name)]
    assert not any(row.action.point == rows[0].failed[0].point for row in actions)
    assert all(row.label is None or row.label != "no_effect" for row in actions)


def test_a_mixture_has_its_shares_and_the_same_bytes_again(recordings: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"fractions": {"train": 1.0}, "mix": {"actions": 0.8, "recovery": 0.2}}
    done = build.build([("recordings", recordings)], tmp_path / "one", workers=1, **options)
    again = build.build([("recordings", recordings)], tmp_path / "two", workers=2, **options)
    rows = list(dataset.read(done.out, "mix"))
    assert all(isinstance(row, Mixed) for row in rows)
    counts = {config: sum(row.config == config for row in rows) for config in ("actions", "recovery")}
    assert counts == done.manifest["counts"]["mix"]["train"] == {"actions": 16, "recovery": 4}
    assert len({(row.config, row.id) for row in rows}) == len(rows)
    held = {row.id: row for row in dataset.read(done.out, "recovery")}
    assert all(row.context == held[row.id].context for row in rows if row.config == "recovery")
    one, two = (
        hashlib.sha256((folder / "mix/train-00000-of-00001.parquet").read_bytes()).hexdigest()
        for folder in (done.out, again.out)
    )
    assert one == two
    card = (done.out / "README.md").read_text()
    assert "| train | `recovery` | 0.2 | 4 | 0.2000 |" in card and "--mix actions:0.8,recovery:0.2" in card


def test_the_command_mixes_and_says_what_cannot_be_mixed(recordings: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    words = ["build", "--source", "recordings", str(recordings), "--out", str(tmp_path / "set"), "--workers", "1"]
    done = CliRunner().invoke(app, [*words, "--mix", "actions:0.95,recovery:0.05"])
    assert done.exit_code == 0 and (tmp_path / "set" / "mix").is_dir()
    with pytest.raises(DataError, match="the mixture wants rows of 'grounding', and there are none"):
        build.build([("recordings", recordings)], tmp_path / "other", workers=1, mix={"actions": 1.0, "grounding": 1.0})
    for text, said in (
        ("actions:much", "is no share; wanted CONFIG:WEIGHT"),
        ("tasks:1", "rows of 'tasks' cannot be mixed; those of these can: actions"),
        ("actions:0", "wanted a number above 0"),
    ):
        with pytest.raises(CallError, match=said):
            mixing.read(text)


def test_the_scarcest_config_sets_the_size_and_a_row_more_moves_no_other() -> None:
    ids = {"actions": [f"a{n}" for n in range(1000)], "recovery": [f"r{n}" for n in range(20)]}
    chosen = mixing.choose(ids, {"actions": 0.95, "recovery": 0.05}, seed=3)
    assert (len(chosen["actions"]), len(chosen["recovery"])) == (380, 20)
    more = mixing.choose({**ids, "actions": [*ids["actions"], "new"]}, {"actions": 0.95, "recovery": 0.05}, seed=3)
    assert len(chosen["actions"] - more["actions"]) <= 1
    assert mixing.choose(ids, {"actions": 0.95, "recovery": 0.05}, seed=4)["actions"] != chosen["actions"]
    assert mixing.choose({"actions": ["a"]}, {"actions": 0.5, "recovery": 0.5}) == {"actions": set(), "recovery": set()}
