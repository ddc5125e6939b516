"""Questions that have no answer: counted beside the accuracy, never narrowed away, the same in table, report and comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata.cli import app
from cuadata.errors import CallError, DataError
from cuadata.scores import compare_runs, evaluation, runs
from cuadata.statistics.intervals import wilson
from cuadata.viewer import evaluation as report

HEAD = (
    "task_id,step_index,variant,direct_instruction,relational_instruction,target_bbox_xywh,reference_bbox_xywh,"
    "recorded_relation"
)
VARIANTS = ("original", "precision")
ON, OFF = "(110,110)", "(900,900)"


@pytest.fixture
def steps(tmp_path: Path) -> str:
    """Ten steps under two looks, each asked directly and by a relation."""
    box, reference = '"[100, 100, 40, 20]"', '"[100, 200, 40, 20]"'
    rows = [f"t{n},0,{v},Click on 'A{n}',Click above 'B{n}',{box},{reference}," for n in range(10) for v in VARIANTS]
    (tmp_path / "steps.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    return f"gui_perturbed:{tmp_path}"


def predicted(folder: Path, answers: dict[tuple[int, str], str], *, kind: str = "direct", name: str = "p") -> Path:
    path = folder / f"{name}.jsonl"
    lines = [
        {"task_id": f"t{n}", "step_index": 0, "variant": v, "kind": kind, "text": text}
        for (n, v), text in answers.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


#: Four of ten on the unchanged page, three of them right; two of ten, both right, on the other.
PART = {(0, "original"): ON, (1, "original"): ON, (2, "original"): ON, (3, "original"): OFF} | {
    (0, "precision"): ON,
    (9, "precision"): ON,
}


def test_accuracy_is_of_the_answered_and_all_stands_beside_it(steps: str, tmp_path: Path) -> None:
    run, rows, result = evaluation.answers(predicted(tmp_path, PART), steps, "gta1")
    original, precision = result["by_variant"]["original"], result["by_variant"]["precision"]
    assert (original["n"], original["accuracy"], original["interval"]) == (4, 0.75, wilson(3, 4))
    assert (original["questions"], original["unanswered"]) == (10, 6)
    assert (original["accuracy_all"], original["interval_all"]) == (0.3, wilson(3, 10))
    assert (precision["accuracy"], precision["accuracy_all"], precision["unanswered"]) == (1, 0.2, 8)
    assert (result["n"], result["questions"], result["unanswered"], result["accuracy_all"]) == (6, 20, 14, 0.25)
    assert result["by_size"]["16 to 32 px"]["questions"] == 20
    assert result["by_axis"]["variant"]["original"]["accuracy_all"] == 0.3
    assert result["flips"]["precision"]["n"] == 1
    assert (result["strict_pairs"]["n"], result["strict_pairs_left_out"]) == (1, 9), "of half an item nobody can tell"
    assert len(rows) == 6
    assert (run.count, run.questions) == (6, 20)
    assert any(
        "14 of 20 questions have no answer; counted as wrong the accuracy is 25.0 %" in w for w in result["warnings"]
    )


def test_nothing_changes_where_every_question_has_an_answer(steps: str, tmp_path: Path) -> None:
    full = {(n, v): ON if n < 7 else OFF for n in range(10) for v in VARIANTS}
    _, _, result = evaluation.answers(predicted(tmp_path, full), steps, "gta1")
    assert (result["unanswered"], result["questions"], result["n"]) == (0, 20, 20)
    assert (
        (result["accuracy"], result["interval"])
        == (result["accuracy_all"], result["interval_all"])
        == (0.7, wilson(14, 20))
    )
    assert result["warnings"] == []
    assert result["kinds_not_asked"] == {"relational": 20}, "the other wording is named, and no question left out"
    assert any("count an item once in each of 2" in note for note in result["notes"])
    assert any("'relational' were not asked" in words for words in result["notes"])


def test_counted_as_wrong_they_are_so_in_every_figure(steps: str, tmp_path: Path) -> None:
    _, rows, result = evaluation.answers(predicted(tmp_path, PART), steps, "gta1", unanswered="wrong")
    assert (result["n"], result["accuracy"], result["interval"]) == (20, 0.25, wilson(5, 20))
    assert result["accuracy_all"] == 0.25
    assert result["by_variant"]["original"]["accuracy"] == 0.3
    assert result["parse_failures"] == result["no_point"] == 0, (
        "what nobody said is neither unread nor a text without a point"
    )
    assert result["flips"]["precision"]["n"] == 10
    assert (result["strict_pairs"]["hits"], result["strict_pairs"]["n"]) == (1, 10)
    assert result["trivial"]["oracle"]["n"] == 20
    assert [r.id for r in rows] == [g.task.id for g in evaluation.gold_set(steps)[1] if g.kind == "direct"]
    assert sum(r.answered for r in rows) == 6
    assert any("counted as wrong in every figure" in words for words in result["warnings"])


def test_refused_they_are_named(steps: str, tmp_path: Path) -> None:
    path = predicted(tmp_path, PART)
    with pytest.raises(
        DataError, match=r"14 of 20 questions have no answer: gui_perturbed/t1/0/precision/direct, .* and 9 more"
    ):
        evaluation.answers(path, steps, "gta1", unanswered="refuse")
    with pytest.raises(CallError, match="skip, wrong, refuse"):
        evaluation.answers(path, steps, "gta1", unanswered="drop")  # type: ignore[arg-type]
    full = {(n, v): ON for n in range(10) for v in VARIANTS}
    assert evaluation.answers(predicted(tmp_path, full), steps, "gta1", unanswered="refuse")[2]["n"] == 20


def test_a_variant_without_any_answer_is_named(steps: str, tmp_path: Path) -> None:
    path = predicted(tmp_path, {(n, "original"): ON for n in range(10)})
    _, _, result = evaluation.answers(path, steps, "gta1")
    assert result["by_variant"]["precision"] | {"accuracy_all": 0.0} == result["by_variant"]["precision"]
    assert (result["by_variant"]["precision"]["n"], result["by_variant"]["precision"]["accuracy"]) == (0, None)
    assert any("no question of the variant 'precision' has an answer" in words for words in result["warnings"])
    assert result["worst_variant"]["variant"] == "original"
    assert result["flips"] == {}


def test_table_report_and_json_agree(steps: str, tmp_path: Path) -> None:
    path, out = predicted(tmp_path, PART), tmp_path / "run"
    call = ["evaluate", str(path), "--gold", steps, "--format", "gta1"]
    shown = CliRunner().invoke(app, [*call, "--out", str(out), "--json"])
    assert shown.exit_code == 0, shown.output
    result = json.loads(shown.stdout)
    words = "14 of 20 questions have no answer; counted as wrong the accuracy is 25.0 % [11.2, 46.9], not 83.3 % [43.6, 97.0]"
    assert words in shown.stderr
    assert "6 of 10" in shown.stderr
    assert "30.0 [10.8, 60.3]" in shown.stderr
    assert json.loads((out / runs.RESULT).read_text())["accuracy_all"] == result["accuracy_all"] == 0.25
    page = (out / report.REPORT).read_text()
    assert words in page
    assert "<td>6 of 10</td><td>30.0 % [10.8, 60.3]</td>" in page
    refused = CliRunner().invoke(app, [*call, "--unanswered", "refuse"])
    assert (type(refused.exception), getattr(refused.exception, "exit_code", None)) == (DataError, 1)


@pytest.mark.parametrize("unanswered", ["skip", "wrong"])
def test_a_comparison_pairs_what_both_answered_and_says_who_left_what_out(
    steps: str, tmp_path: Path, unanswered: evaluation.Unanswered
) -> None:
    full = {(n, v): ON if n else OFF for n in range(10) for v in VARIANTS}
    made: list[Any] = []
    for name, answers in (("part", PART), ("full", full)):
        path = predicted(tmp_path, answers, name=name)
        scored = evaluation.answers(path, steps, "gta1", unanswered=unanswered)
        evaluation.save(tmp_path / f"run-{name}", *scored)
        made.append(scored)
    found = compare_runs.compare(tmp_path / "run-part", tmp_path / "run-full", samples=100)
    assert (found["shared"], found["only_first"], found["only_second"]) == (6, 0, 14)
    assert (found["unanswered_first"], found["unanswered_second"]) == (14, 0)
    assert (found["exact"]["first"]["rate"], found["exact"]["second"]["rate"]) == (5 / 6, 4 / 6)
    said = " ".join(found["warnings"])
    assert "only the 6 items that both runs have are compared" in said
    assert "the first run (part) leaves 14 of 20 questions unanswered" in said
    assert "second run" not in said
    report.write_comparison(tmp_path / "compared", found)
    assert "leaves 14 of 20 questions unanswered" in (tmp_path / "compared" / report.REPORT).read_text()
