"""A wrong format or frame is named, by what reads a sample of the answers, and a right one is left in peace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cuadata import registry
from cuadata.cli import app
from cuadata.contracts import View
from cuadata.errors import CallError
from cuadata.scores import evaluation
from cuadata.types import Action, Point, Size

HEAD = "task_id,step_index,variant,direct_instruction,relational_instruction,target_bbox_xywh,reference_bbox_xywh"
SCREEN = View(image=Size(1920, 1080), viewport=Size(1920, 1080))
CENTRES = [Point(60 + 75 * n, 40 + 40 * n) for n in range(24)]


@pytest.fixture
def steps(tmp_path: Path) -> str:
    """Targets of 20 px along the diagonal of a page of 1920x1080."""
    rows = [
        f't{n},0,original,Click on it,Click above it,"[{c.x - 10}, {c.y - 10}, 20, 20]",' for n, c in enumerate(CENTRES)
    ]
    (tmp_path / "steps.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    return f"gui_perturbed:{tmp_path}"


Said = Callable[[int, Point], str]


def warnings(folder: Path, steps: str, said: Said, format: str, frame: str | None = None) -> list[str]:
    path = folder / "p.jsonl"
    lines = [
        {"task_id": f"t{n}", "step_index": 0, "variant": "original", "kind": "direct", "text": said(n, c)}
        for n, c in enumerate(CENTRES)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    held: list[str] = evaluation.answers(path, steps, format, frame=frame)[2]["warnings"]
    return held


def written(format: str, frame: str = "px") -> Said:
    view = View(image=SCREEN.image, viewport=SCREEN.viewport, frame=frame)
    return lambda n, centre: registry.formats[format].write(Action(type="click", point=centre), view)


@pytest.mark.parametrize(
    ("spoken", "chosen"),
    [("gta1", "claude"), ("gta1", "openai"), ("claude", "aguvis"), ("openai", "smolvlm"), ("qwen25vl", "aguvis")],
)
def test_a_format_that_reads_nothing_is_named_beside_the_one_that_does(
    steps: str, tmp_path: Path, spoken: str, chosen: str
) -> None:
    found = warnings(tmp_path, steps, written(spoken), chosen)
    assert len(found) == 1
    assert f"24 of 24 answers could not be read as '{chosen}' (no_action 24)" in found[0]
    assert "of a sample of 24" in found[0]
    named = found[0].rpartition("--format ")[2].partition(" ")[0]
    assert named == spoken or f"'{spoken}'" in found[0], "of those that read alike the family itself is named"
    assert warnings(tmp_path, steps, written(spoken), spoken) == []


def test_part_of_the_file_in_another_form_is_found(steps: str, tmp_path: Path) -> None:
    other, own = written("gta1"), written("claude")
    found = warnings(tmp_path, steps, lambda n, c: other(n, c) if n % 3 == 0 else own(n, c), "claude")
    assert "8 of 24 answers could not be read as 'claude'" in found[0]


def test_answers_that_nothing_reads_are_quoted(steps: str, tmp_path: Path) -> None:
    found = warnings(tmp_path, steps, lambda n, c: "I cannot see it.", "gta1")
    assert len(found) == 1
    assert found[0].startswith("24 of 24 answers could not be read as 'gta1' (no_action 24), and no other format reads")
    assert found[0].endswith("the first answer is 'I cannot see it.'")


def test_few_parse_failures_are_no_wrong_format(steps: str, tmp_path: Path) -> None:
    own = written("gta1")
    assert warnings(tmp_path, steps, lambda n, c: "I cannot see it." if n == 3 else own(n, c), "gta1") == []


@pytest.mark.parametrize("frame", ["thousand", "999", "unit"])
def test_numbers_of_another_frame_are_told_by_what_would_hit(steps: str, tmp_path: Path, frame: str) -> None:
    found = warnings(tmp_path, steps, written("gta1", frame), "gta1")
    assert "read as px of the picture, and 24 read as" in found[0]
    named = found[0].rpartition("--frame ")[2].partition(" ")[0]
    assert named == frame or {named, frame} == {"thousand", "999"}, "those two differ by less than these targets"
    assert warnings(tmp_path, steps, written("gta1", frame), "gta1", frame=frame) == []


def test_px_read_in_thousandths_are_told(steps: str, tmp_path: Path) -> None:
    found = warnings(tmp_path, steps, written("gta1"), "gta1", frame="thousand")
    assert any("is --frame px meant?" in words for words in found)


def test_points_off_the_picture_are_told_where_no_frame_hits(steps: str, tmp_path: Path) -> None:
    found = warnings(tmp_path, steps, lambda n, c: f"({2000 + n}, {3000 + n})", "gta1")
    assert "24 of 24 answers point off the picture" in found[0]
    assert "the first: (2000, 3000) lies off the picture of 1920x1080 px" in found[0]


def test_numbers_that_never_leave_a_frame_are_told_where_no_frame_hits(steps: str, tmp_path: Path) -> None:
    found = warnings(tmp_path, steps, lambda n, c: f"({990 - n}, {5 + n})", "gta1")
    assert len(found) == 1
    assert found[0].startswith("no number of any point is above 1000, though 11 of 24 sampled targets lie beyond")
    assert found[0].endswith("is --frame thousand meant?")


def test_a_model_that_only_misses_is_not_accused(steps: str, tmp_path: Path) -> None:
    own = written("gta1")
    assert warnings(tmp_path, steps, lambda n, c: own(n, CENTRES[(n + 7) % 24]), "gta1") == []


def test_rewards_and_selections_name_a_wrong_format_too(steps: str, tmp_path: Path) -> None:
    warnings(tmp_path, steps, written("gta1"), "gta1")  # writes the file
    calls = (
        ["rewards", "score", str(tmp_path / "p.jsonl"), "--reward", "point_in_box", "--gold", steps, "--format"],
        ["select", str(tmp_path / "p.jsonl"), "--out", str(tmp_path / "out"), "--force", "--gold", steps, "--format"],
    )
    for call in calls:
        shown = CliRunner().invoke(app, [*call, "claude"])
        assert shown.exit_code == 0, shown.output
        assert "24 of 24 answers could not be read as 'claude'" in shown.stderr
        assert "is --format gta1 meant?" in shown.stderr
        assert "WARNING" not in CliRunner().invoke(app, [*call, "gta1"]).stderr
    assert isinstance(CliRunner().invoke(app, [*calls[0], "gta2"]).exception, CallError)


def test_rewards_and_selections_tell_what_they_leave_out(steps: str, tmp_path: Path) -> None:
    warnings(tmp_path, steps, written("gta1"), "gta1")  # writes the file
    path = tmp_path / "p.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:20], '{"id": "nowhere", "text": "(1, 2)"}']) + "\n")
    words = ["--gold", steps, "--format", "gta1", "--json"]
    for call in (
        ["rewards", "score", str(path), "--reward", "point_in_box", *words],
        ["select", str(path), "--out", str(tmp_path / "out"), *words],
    ):
        shown = CliRunner().invoke(app, call)
        assert json.loads(shown.stdout)["warnings"] == [
            "4 of 24 questions have no answer, and are left out",
            "lines that name no question of the set, and are scored nowhere: 1",
        ]
        assert shown.stderr.count("WARNING") == 2
    assert "every question has one sample" in shown.stderr
    lacking = CliRunner().invoke(app, ["rewards", "score", str(path), "--reward", "point_in_box,action_type", *words])
    assert "action_type: this reward needs the column `action`" in str(lacking.exception)
