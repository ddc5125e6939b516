"""Logged answers against a gold set: matched, read, scored, classed, compared; on a small set and on the published one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata import registry
from cuadata.cli import app
from cuadata.errors import CallError, DataError
from cuadata.scores import compare_runs, difficulty, evaluation, grounding, predictions, runs, selection
from cuadata.statistics.intervals import wilson
from cuadata.types import BBox

HEAD = (
    "task_id,step_index,split,variant,direct_instruction,relational_instruction,target_bbox_xywh,reference_text,"
    "recorded_relation,reference_bbox_xywh"
)
ABOVE, TARGET = '"[100, 200, 40, 20]"', '"[100, 100, 40, 20]"'
STEPS = "\n".join(
    [
        HEAD,
        f"""t1,0,s,original,Click on 'A',Click on the button above 'B',{TARGET},B,"[""above""]",{ABOVE}""",
        f"""t1,0,s,precision,Click on 'A',Click on the button above 'B',{TARGET},B,"[""near""]",{ABOVE}""",
        f"""t2,1,s,original,Click on 'Left',Click on the link below 'Not left',{TARGET},B,"[""above""]",{ABOVE}""",
        f"""t2,1,s,precision,Click on 'Left',Click on the link below 'Not left',{TARGET},B,"[""above""]",""",
        f"""t3,0,s,original,Click on it,Type 'Below' in the box above 'X',{TARGET},B,"[""below""]",{ABOVE}""",
        f"""t3,0,s,precision,Click on it,Click on the img under 'X',{TARGET},B,"[""above""]",{ABOVE}""",
    ]
)
ON, BESIDE, REFERENCE, OVER, UNDER = "(110,110)", "(141,110)", "(110,210)", "(300,50)", "(110,300)"


@pytest.fixture
def steps(tmp_path: Path) -> str:
    (tmp_path / "steps.csv").write_text(STEPS + "\n")
    return f"gui_perturbed:{tmp_path}"


@pytest.fixture
def predict(tmp_path: Path) -> Callable[..., Path]:
    """Writes a predictions file: one text, or a list of texts, for each of the six steps, in order."""

    def write(*texts: Any, kind: str = "relational", name: str = "predictions", **more: Any) -> Path:
        rows = [line.split(",")[:4] for line in STEPS.splitlines()[1:]]
        lines = [
            json.dumps(
                {"task_id": r[0], "step_index": int(r[1]), "variant": r[3], "kind": kind, "raw_prediction": t, **more}
            )
            for r, t in zip(rows, texts, strict=False)
        ]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_the_instruction_says_the_relation_and_geometry_checks_it(steps: str) -> None:
    _, golds = evaluation.gold_set(steps)
    relational = {g.task.id.split("gui_perturbed/")[1]: g for g in golds if g.kind == "relational"}
    said = {name: (g.task.relation, g.holds) for name, g in relational.items()}
    assert said == {
        "t1/0/original/relational": ("above", True),
        "t1/0/precision/relational": ("above", True),
        "t2/1/original/relational": ("below", False),
        "t2/1/precision/relational": ("below", None),
        "t3/0/original/relational": ("above", True),
        "t3/0/precision/relational": (None, None),
    }
    assert all(g.task.relation is None and not g.references for g in golds if g.kind == "direct")
    assert golds[0].target == BBox(100, 100, 40, 20)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("t,x,s,original,a,b,[],r,[],[]", "no step index|no box"),
        ('t,1,s,original,a,b,"[1, 2, 3]",r,[],', "no box"),
        ("t,1,s,original,a,b,,r,[],", "no target box"),
    ],
)
def test_a_broken_gold_file_names_its_line(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "steps.csv").write_text(f"{HEAD}\n{line}\n")
    with pytest.raises(DataError, match=rf"steps.csv:2: .*({words})"):
        evaluation.gold_set(f"gui_perturbed:{tmp_path}")
    (tmp_path / "steps.csv").write_text("task_id,variant\n")
    with pytest.raises(DataError, match="no column is named step_index"):
        evaluation.gold_set(f"gui_perturbed:{tmp_path}")


def test_every_class_of_answer_is_counted_once(steps: str, predict: Callable[..., Path]) -> None:
    path = predict(REFERENCE, "I cannot tell.", ON, ON, OVER, UNDER)
    run, rows, result = evaluation.answers(path, steps, "gta1")
    assert [r.miss for r in rows] == ["on_reference", "unread", None, None, "right_side", None]
    original = result["by_variant"]["original"]
    assert (original["n"], original["accuracy"]) == (3, pytest.approx(1 / 3))
    assert original["interval"] == wilson(1, 3)
    assert original["parse_failures"] == 0
    assert result["by_variant"]["precision"]["parse_failures"] == 1
    assert result["unread"] == {"no_action": 1}
    told = original["misses"]
    assert (told["rows"], told["n"]) == (2, 2)
    assert {k: v["count"] for k, v in told.items() if isinstance(v, dict) and v["count"]} == {
        "on_reference": 1,
        "right_side": 1,
    }
    assert (result["tolerance_px"], run.tolerance, result["frame"]) == (0.0, 0.0, "px")
    assert result["trivial"]["oracle"]["accuracy"] == 1
    assert result["trivial"]["nothing"]["accuracy"] == 0
    assert "infeasible" not in result["trivial"]
    assert result["flips"]["precision"]["n"] == 3
    assert result["worst_variant"]["variant"] in ("original", "precision")


def test_the_tolerance_is_asked_for_and_written_down(steps: str, predict: Callable[..., Path]) -> None:
    path = predict(*[BESIDE] * 6)
    assert evaluation.answers(path, steps, "gta1")[2]["accuracy"] == 0
    _, _, result = evaluation.answers(path, steps, "gta1", tolerance=1)
    assert (result["accuracy"], result["tolerance_px"]) == (1, 1)
    with pytest.raises(CallError, match="shrinks"):
        evaluation.answers(path, steps, "gta1", tolerance=-1)


def test_logged_px_are_read_as_px_whatever_the_family_counts_in(steps: str, predict: Callable[..., Path]) -> None:
    answers = {
        "uitars": "Thought: There.\nAction: click(start_box='(110,110)')",
        "uitars15": "Action: click(start_box='<|box_start|>(110,110)<|box_end|>')",
        "qwen25vl": '<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [110, 110]}}\n'
        '</tool_call>\n<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [1, 1]}}\n'
        "</tool_call>",
        "qwen3vl": '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [110, 110]}}'
        "</tool_call>",
    }
    for name, text in answers.items():
        _, _, result = evaluation.answers(predict(*[text] * 6), steps, name)
        assert result["accuracy"] == 1, name


def test_a_family_that_only_points_answers_last(steps: str, predict: Callable[..., Path]) -> None:
    """It may think before it answers, or run on and repeat itself."""
    path = predict(*[f"Between (1,1) and {UNDER}: {ON}"] * 6)
    assert evaluation.answers(path, steps, "gta1")[2]["accuracy"] == 1


def test_every_registered_format_reads_or_refuses(steps: str, predict: Callable[..., Path]) -> None:
    path = predict(ON, "", "\x00", "{", None, "click(click(click(")
    for name in registry.formats:
        if getattr(registry.formats[name], "lists_elements", False):
            with pytest.raises(
                CallError, match="build --elements"
            ):  # nobody could know the ids of a page that is not there
                evaluation.answers(path, steps, name)
            continue
        _, rows, result = evaluation.answers(path, steps, name)
        assert len(rows) == 6, name
        assert result["parse_failures"] + result["no_point"] + sum(r.point is not None for r in rows) == 6


def test_a_predictions_file_that_is_none_is_named(tmp_path: Path) -> None:
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "nowhere", "is not there")):
        with pytest.raises(CallError, match=f"{words}; wanted a predictions file"):
            list(predictions.lines(path))
    (tmp_path / "deep.jsonl").write_text(f"{{}}\n{'[' * 100_000}\n")
    with pytest.raises(DataError, match="deep.jsonl:2: no JSON"):
        list(predictions.lines(tmp_path / "deep.jsonl"))


def test_questions_are_found_by_kind_instruction_or_the_rest_of_the_file(steps: str, tmp_path: Path) -> None:
    _, golds = evaluation.gold_set(steps)
    base = {"task_id": "t1", "step_index": 0, "variant": "original", "raw_prediction": ON}
    other = {**base, "variant": "precision"}
    relational = "Click on the button above 'B'"

    def found(*rows: dict[str, Any], kind: str | None = None) -> predictions.Matched:
        return predictions.match([(str(i), row) for i, row in enumerate(rows)], golds, kind=kind)

    assert found({**base, "instruction": relational}).answered[0].gold.kind == "relational"
    assert found({**base, "instruction": "Click on 'A'"}).answered[0].gold.kind == "direct"
    assert found({**base, "instruction_type": "direct"}).answered[0].gold.kind == "direct"
    assert found({"id": golds[1].task.id, "text": ON}).answered[0].gold == golds[1]
    mixed = found({**base, "instruction": relational}, {**other, "instruction": "an older wording"})
    assert [a.gold.kind for a in mixed.answered] == ["relational", "relational"]
    assert (mixed.reworded, len(mixed.missing)) == (1, 4)
    assert found({**base, "instruction": "older"}, kind="direct").answered[0].gold.kind == "direct"
    with pytest.raises(CallError, match="no line asks for the kind 'relational': the file's instructions .* 'direct'"):
        found({**base, "instruction": "Click on 'A'"}, kind="relational")
    with pytest.raises(
        DataError, match="0: the line is of the kind 'relational', and its instruction is that of 'direct'"
    ):
        found({**base, "instruction": "Click on 'A'", "kind": "relational"})
    with pytest.raises(CallError, match="no kind 'relative'; there are: direct, relational"):
        found({**base, "instruction": "older"}, kind="relative")
    with pytest.raises(CallError, match="direct or relational"):
        found({**base, "instruction": "older"})
    with pytest.raises(DataError, match="names a question"):
        found({"task_id": "elsewhere", "text": ON})
    strange = found({**base, "kind": "direct"}, {"task_id": "elsewhere", "text": ON})
    assert strange.unknown == ("1",)


def test_what_names_no_question_is_told_with_what_would(steps: str, tmp_path: Path) -> None:
    _, golds = evaluation.gold_set(steps)
    with pytest.raises(DataError, match="the predictions file is empty"):
        predictions.match([], golds)
    held = {"task_id": "t1", "step_index": 0.0, "variant": "Original", "kind": "direct", "raw_prediction": ON}
    with pytest.raises(DataError, match='"step_index": "0", "variant": "original"'):
        predictions.match([("1", held)], golds)
    (found,) = predictions.match([("1", {**held, "variant": "original"})], golds).answered  # 0.0: a table with holes
    assert found.gold.kind == "direct"
    (tmp_path / "p.jsonl").write_text("[{\n")
    with pytest.raises(DataError, match="p.jsonl:1: no JSON: .*JSON Lines are wanted, one object a line"):
        list(predictions.lines(tmp_path / "p.jsonl"))


def test_two_numbers_are_one_answer_and_no_two_samples() -> None:
    assert predictions.texts({"answer": [683, 324.5]}, "") == ("[683, 324.5]",)
    assert predictions.texts({"answer": [[683, 324], "(1, 2)", None]}, "") == ("[683, 324]", "(1, 2)", "")
    assert predictions.texts({"answer": []}, "") == ()


@pytest.mark.parametrize(
    "line", ["[1]", "{", '"text"', '{"task_id": "t1", "step_index": 0, "variant": "original", "kind": "direct"}']
)
def test_a_line_that_is_no_prediction_is_named(steps: str, tmp_path: Path, line: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(DataError, match=r"p.jsonl:2"):
        evaluation.answers(path, steps, "gta1")


def test_samples_vote_and_are_never_dropped_in_silence(steps: str, predict: Callable[..., Path]) -> None:
    path = predict(*[[ON, "(112,111)", UNDER, "none"]] * 6)
    with pytest.raises(DataError, match="4 texts, but 1 wanted"):
        evaluation.answers(path, steps, "gta1")
    with pytest.raises(DataError, match="4 texts, but 5 wanted"):
        evaluation.answers(path, steps, "gta1", vote=5)
    run, rows, result = evaluation.answers(path, steps, "gta1", vote=4)
    assert (run.vote, result["vote"], result["accuracy"]) == (4, 4, 1)
    assert {r.consistency for r in rows} == {0.5}
    assert result["parse_failures"] == 0
    unread = evaluation.answers(predict(*[["none", "no"]] * 6), steps, "gta1", vote=2)[2]
    assert unread["parse_failures"] == 6


@pytest.mark.parametrize("gold", ["gui_perturbed", "gui_perturbed:", "unheard_of:.", "gui_perturbed:/nowhere/at/all"])
def test_a_gold_set_is_named_with_its_place(gold: str) -> None:
    with pytest.raises(CallError):
        evaluation.gold_set(gold)


def test_unknown_formats_are_refused_with_those_there_are(steps: str, predict: Callable[..., Path]) -> None:
    with pytest.raises(CallError, match="gta1"):
        evaluation.answers(predict(ON), steps, "gta2")


def test_two_runs_are_compared_on_what_both_have(steps: str, predict: Callable[..., Path], tmp_path: Path) -> None:
    for name, texts in {"bad": [UNDER] * 6, "good": [ON] * 5}.items():
        run, rows, result = evaluation.answers(predict(*texts, name=name), steps, "gta1")
        evaluation.save(tmp_path / f"run-{name}", run, rows, result)
    found = compare_runs.compare(tmp_path / "run-bad", tmp_path / "run-good", samples=200)
    assert (found["shared"], found["only_first"], found["only_second"]) == (5, 1, 0)
    assert found["same_test_set"] is False
    assert found["exact"]["difference"] == 1
    assert found["exact"]["clusters"] == 3
    assert found["default"] is None
    assert set(found["by_variant"]) == {"original", "precision"}
    assert "no difference shown" in found["exact"]["verdict"]
    loose = evaluation.answers(predict(*[ON] * 6), steps, "gta1", tolerance=2)
    evaluation.save(tmp_path / "run-loose", *loose)
    with pytest.raises(DataError, match="score both alike"):
        compare_runs.compare(tmp_path / "run-bad", tmp_path / "run-loose")


def test_a_folder_that_holds_another_run_is_not_overwritten(
    steps: str, predict: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    evaluation.save(out, *evaluation.answers(predict(ON, ON), steps, "gta1"))
    other = evaluation.answers(predict(ON, ON, ON), steps, "gta1")
    with pytest.raises(CallError, match="another run"):
        evaluation.save(out, *other)
    evaluation.save(out, *other, force=True)
    assert len(runs.answers(out)) == 3
    with pytest.raises(DataError, match="this is no run"):
        runs.header(tmp_path / "nothing")


def test_hit_rates_keep_the_middle_and_what_is_vouched_for(
    steps: str, predict: Callable[..., Path], tmp_path: Path
) -> None:
    _, golds = evaluation.gold_set(steps)
    half, none, all_ = [ON, UNDER, ON, UNDER], [UNDER] * 4, [ON] * 4
    path = predict(half, none, all_, none, half, [ON, "?", "?", "?"])
    limits = selection.Limits()
    chosen = {c.id.split("/", 1)[1]: c for c in selection.select(path, golds, "gta1", limits)}
    said = {name: (c.keep, c.reason) for name, c in chosen.items()}
    assert said == {
        "t1/0/original/relational": ("yes", None),
        "t1/0/precision/relational": ("yes", None),
        "t2/1/original/relational": ("no", "too_easy"),
        "t2/1/precision/relational": ("unsure", "never_hit"),
        "t3/0/original/relational": ("yes", None),
        "t3/0/precision/relational": ("yes", None),
    }
    assert chosen["t1/0/precision/relational"].vouched_by == ("relation",)
    assert chosen["t3/0/precision/relational"].unread == 3
    assert chosen["t1/0/original/relational"].interval == wilson(2, 4)
    strict = selection.Limits(trust_relation=False)
    doubted = {c.id: c.keep for c in selection.select(path, golds, "gta1", strict)}
    assert doubted["gui_perturbed/t1/0/precision/relational"] == "unsure"
    second = predict(*[ON] * 6, name="second")
    saved = {c.id: c for c in selection.select(path, golds, "gta1", strict, second=second)}
    assert saved["gui_perturbed/t2/1/precision/relational"].vouched_by == ("second_model",)
    assert saved["gui_perturbed/t2/1/precision/relational"].keep == "yes"
    result = selection.summary(list(chosen.values()), limits)
    assert (result["judged"], result["kept"], result["vouched"]) == (6, 4, {"relation": 1})
    assert result["hit_rates"]["none"] == 2
    selection.save(tmp_path / "selected", list(chosen.values()), result)
    assert len((tmp_path / "selected" / "selected.jsonl").read_text().splitlines()) == 4
    with pytest.raises(CallError, match="not empty"):
        selection.save(tmp_path / "selected", [], result)


def test_consistency_judges_without_labels(steps: str, predict: Callable[..., Path]) -> None:
    _, golds = evaluation.gold_set(steps)
    path = predict([UNDER] * 4, ["(1,1)", "(900,900)", "(1,900)", "(900,1)"], *[[ON, ON, UNDER, "(900,900)"]] * 4)
    limits = selection.Limits(by="consistency", low=0.5, high=0.9)
    chosen = selection.select(path, golds, "gta1", limits)
    assert [c.reason for c in chosen[:3]] == ["too_easy", "too_hard", None]


def test_a_full_kind_gives_way(steps: str, predict: Callable[..., Path]) -> None:
    _, golds = evaluation.gold_set(steps)
    path = predict(*[[ON, UNDER]] * 6)
    chosen = selection.select(path, golds, "gta1", selection.Limits(cap=1))
    assert sum(c.keep == "yes" for c in chosen) == 4  # t1, t2, and two kinds of t3
    assert [c.reason for c in chosen if c.keep == "no"] == ["over_cap"] * 2
    assert chosen == selection.select(path, golds, "gta1", selection.Limits(cap=1))
    assert sum(c.keep == "yes" for c in selection.select(path, golds, "gta1", selection.Limits(limit=3))) == 3


def test_a_spread_takes_rare_kinds_first() -> None:
    items = {f"common {i}": "common" for i in range(50)} | {"rare": "rare", "odd": "odd"}
    chosen = difficulty.diverse(items, limit=4)
    assert {"rare", "odd"} < set(chosen)
    assert chosen == difficulty.diverse(items, limit=4)
    assert chosen != difficulty.diverse(items, limit=4, seed=1) or len(items) == 4
    assert difficulty.diverse({}, limit=3) == []
    assert len(difficulty.diverse(items, cap=2)) == 4


@pytest.mark.parametrize("text", ["0.5", "a:b", "0.9:0.1", "-1:0.5", "0:2"])
def test_bounds_are_two_shares(text: str) -> None:
    with pytest.raises(CallError):
        selection.bounds(text)


def test_sizes_fall_into_one_bin() -> None:
    assert grounding.size_bin(BBox(0, 0, 16, 16)) == "16 to 32 px"
    assert grounding.size_bin(BBox(0, 0, 15.9, 16)) == "under 16 px"
    assert grounding.size_bin(BBox(0, 0, 1000, 1000)) == "64 px and over"


SHARED = Path(os.environ.get("CUADATA_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "gui_perturbed"
#: Accuracy in %, strict on the unchanged page, with 10 px of slack, and strict at 70 % zoom: the set's own README.
PUBLISHED = {
    ("gta1", "direct"): (89.5, 90.7, None),
    ("gta1", "relational"): (65.5, 67.1, 53.8),
    ("qwen25vl", "direct"): (83.9, 86.2, None),
    ("qwen25vl", "relational"): (39.9, 42.4, 35.7),
}
#: Misses on the reference element, in % of all misses, on the 333 rows whose reference fits the instruction.
ON_REFERENCE = {"gta1": (125, 21), "qwen25vl": (215, 34)}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published set lies beside the checkout in shared/gui_perturbed")
@pytest.mark.parametrize(("model", "kind"), list(PUBLISHED))
def test_published_figures_are_reached(model: str, kind: str) -> None:
    path = SHARED / f"predictions_{model}_no_reasoning_{kind}.jsonl"
    strict = evaluation.answers(path, f"gui_perturbed:{SHARED}", model)[2]
    loose = evaluation.answers(path, f"gui_perturbed:{SHARED}", model, tolerance=10)[2]
    wanted, wanted_loose, wanted_zoom = PUBLISHED[model, kind]
    assert strict["by_variant"]["original"]["n"] == 429
    assert 100 * strict["by_variant"]["original"]["accuracy"] == pytest.approx(wanted, abs=0.06)
    assert 100 * loose["by_variant"]["original"]["accuracy"] == pytest.approx(wanted_loose, abs=0.06)
    if wanted_zoom is not None:
        assert 100 * strict["by_variant"]["precision"]["accuracy"] == pytest.approx(wanted_zoom, abs=0.06)
        told = strict["by_variant"]["original"]["misses"]
        misses, share = ON_REFERENCE[model]
        assert (told["rows"], told["n"]) == (333, misses)
        assert 100 * told["on_reference"]["share"] == pytest.approx(share, abs=0.5)


def test_options_that_would_change_nothing_are_refused(
    steps: str, predict: Callable[..., Path], tmp_path: Path
) -> None:
    path = str(predict(ON, ON, ON, ON, ON, ON))
    for words, told in (
        ([path, "--gold", steps, "--format", "gta1", "--policy", "random", "--seeds", "0:3"], "--policy, --seeds"),
        (["shapes", "--policy", "nothing", "--seeds", "0:1", "--tolerance", "10"], "--tolerance"),
        ([str(tmp_path), "--vote", "3", "--format", "gta1"], "--format, --vote"),
    ):
        error = CliRunner().invoke(app, ["evaluate", *words]).exception
        assert isinstance(error, CallError)
        assert f", where {told} would change nothing" in str(error)
    assert (
        CliRunner().invoke(app, ["evaluate", path, "--gold", steps, "--format", "gta1", "--seeds", "test"]).exit_code
        == 0
    )
