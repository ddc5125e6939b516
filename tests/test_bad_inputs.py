"""Files of others, calls at their edges, disks that end: a sentence with the file's name, and never a wrong figure."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from publishing import dataset as dataset_to_publish
from publishing import example
from typer.testing import CliRunner

from cuadata import dataset, parity, registry, stats, text_files
from cuadata.building import folders
from cuadata.cli import app, main
from cuadata.errors import CallError, DataError
from cuadata.generating import spatial
from cuadata.learning import training_rows
from cuadata.proving import effect_pairs, reviews
from cuadata.publishing import hub_remote, redaction
from cuadata.reporting import effect_report
from cuadata.rows import Example
from cuadata.scores import compare_runs, evaluation, reward_scores, runs, selection
from cuadata.types import BBox

HEAD = "task_id,step_index,variant,direct_instruction,relational_instruction,target_bbox_xywh,reference_bbox_xywh\n"
ROW = 'a,1,original,Click A,Click A above B,"[10, 20, 30, 40]","[10, 70, 30, 40]"\n'


def gold(path: Path, *rows: str) -> list[object]:
    (path / "steps.csv").write_text(HEAD + "".join(rows))
    return list(registry.gold["gui_perturbed"](path))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("b,2\n", "the row has 2 fields, and 7 columns are named"),
        (ROW.strip() + ",more\n", "the row has 8 fields"),
        (ROW, "is there already, at .*steps.csv:2"),
        (ROW.replace("a,1", "b,2").replace("[10, 20, 30, 40]", "[NaN, 20, 30, 40]"), "finite numbers"),
        (ROW.replace("a,1", "b,2").replace("[10, 20, 30, 40]", "[1e999, 20, 30, 40]"), "finite numbers"),
        (ROW.replace("a,1", "b,2").replace("[10, 20, 30, 40]", "[10, 20, -30, 40]"), "sides of 0 px or more"),
        (ROW.replace("a,1", "b,2").replace("[10, 20, 30, 40]", "[true, 20, 30, 40]"), "is no box"),
    ],
)
def test_a_row_of_a_gold_set_that_would_give_a_wrong_figure_is_refused(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as error:
        gold(tmp_path, ROW, row)
    assert "steps.csv:3" in str(error.value)


def test_a_long_field_and_a_separator_of_unicode_are_read(tmp_path: Path) -> None:
    long = "x" * 200_000 + "\u2028y"
    assert len(gold(tmp_path, ROW, ROW.replace("a,1", "b,2").replace("Click A,", f"{long},"))) == 4


def test_a_folder_without_the_set_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no steps.csv is in it"):
        list(registry.gold["gui_perturbed"](tmp_path))


def test_a_text_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_bytes(b"# \xff\n")
    with pytest.raises(DataError, match=r"README.md: it is no text in UTF-8: .* at byte 2"):
        text_files.read(file)


def test_a_box_of_a_cell() -> None:
    assert text_files.box("[1, 2, 3.5, 0]", "x") == BBox(1, 2, 3.5, 0)
    assert text_files.box(" ", "x") is None


def test_lines_end_at_line_ends_only(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    said = {"prompt": [{"role": "user", "content": "a\u2028b"}], "completion": [{"role": "assistant", "content": "c"}]}
    file.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [row["prompt"] for row in training_rows.message_rows(file, vision=False)] == [said["prompt"]]


# --- Parity ------------------------------------------------------------------------------------------------------------

TURNS = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    "row",
    [
        {"messages": 5},
        {"messages": "{"},
        {"messages": [5]},
        {"messages": [{"role": "user", "content": 5}]},
        {"messages": [{"role": "user", "content": [5]}]},
        {"messages": [{"content": "x"}]},
        {"messages": TURNS, "history": 5},
        {"messages": TURNS, "history": [5], "instruction": "a"},
        {"messages": TURNS, "context": [5]},
        {"messages": TURNS, "context": [{"kind": 1}]},
        {"messages": TURNS, "elements": 5},
        {"messages": TURNS, "frame": [1]},
        {"messages": TURNS, "format": {}},
        {"messages": TURNS, "image_width": "x", "image_height": 5},
        {"messages": TURNS, "image_width": float("nan"), "image_height": 5},
        {"instruction": "x", "image_width": -5, "image_height": 10},
        {"instruction": "x", "image_width": 1e308, "image_height": 10},
        {"instruction": "x", "image_width": 10, "image_height": 10, "elements": [{"role": 5}]},
    ],
)
def test_a_prompt_with_columns_of_wrong_types_is_no_prompt_that_agrees(row: dict[str, object]) -> None:
    with pytest.raises(DataError, match="^log.jsonl:3: "):
        parity.skeleton(row, registry.formats["gta1"], place="log.jsonl:3")


def test_a_log_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(json.dumps({"messages": TURNS}).encode() + b"\n\xff\xfe\n")
    with pytest.raises(DataError, match=r"log.jsonl:2: is no UTF-8"):
        list(parity.read(file))


# --- Runs --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of four answers."""
    (tmp_path / "set").mkdir()
    gold(tmp_path / "set", *(ROW.replace("a,1", f"a,{n}") for n in range(4)))
    file = tmp_path / "said.jsonl"
    said = {"task_id": "a", "variant": "original", "instruction": "Click A", "raw_prediction": "(15, 25)"}
    file.write_text("".join(json.dumps({**said, "step_index": n}) + "\n" for n in range(4)))
    made, rows, result = evaluation.answers(file, f"gui_perturbed:{tmp_path / 'set'}", "gta1")
    evaluation.save(tmp_path / "run", made, rows, result)
    return tmp_path / "run"


@pytest.mark.parametrize("change", [lambda lines: lines[:2], lambda lines: [*lines, lines[0].replace("true", "false")]])
def test_a_run_that_lost_or_doubled_answers_is_not_compared(
    run: Path, change: Callable[[list[str]], list[str]]
) -> None:
    file = run / runs.ANSWERS
    assert compare_runs.compare(run, run, samples=100)["shared"] == 4
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    with pytest.raises(DataError, match="and 4 were scored"):
        compare_runs.compare(run, run, samples=100)


def test_slack_over_the_whole_page_is_no_measure(run: Path) -> None:
    place = run.parent
    with pytest.raises(CallError, match="every point of a page of 1920 px hits"):
        evaluation.answers(place / "said.jsonl", f"gui_perturbed:{place / 'set'}", "gta1", tolerance=1e308)


def test_a_disk_that_ends_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text("before")
    code = (
        "import sys, pathlib; from cuadata.building import folders; folders.put(pathlib.Path(sys.argv[1]), 'x' * 9000)"
    )

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    done = subprocess.run(
        [sys.executable, "-B", "-c", code, str(file)], check=False, preexec_fn=small, capture_output=True, text=True
    )
    assert f"DataError: {file}: the file would be larger" in done.stderr
    assert file.read_text() == "before" and os.listdir(tmp_path) == ["run.json"]


def test_folders_come_with_the_files_and_take_old_ones_places(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "dataset" / "old").mkdir(parents=True)
    with pytest.raises(RuntimeError), folders.files_into(out) as made:
        (made / "dataset").mkdir()
        raise RuntimeError
    assert (out / "dataset" / "old").is_dir()
    with folders.files_into(out) as made:
        (made / "dataset" / "new").mkdir(parents=True)
        (made / "list").write_text("x")
    assert sorted(path.name for path in out.rglob("*")) == ["dataset", "list", "new"]


# --- Effects and names -------------------------------------------------------------------------------------------------


def test_a_picture_of_another_size_masks_nothing_and_a_point_off_the_picture_is_none(tmp_path: Path) -> None:
    before, other = tmp_path / "a.png", tmp_path / "b.png"
    Image.new("RGB", (40, 30), "white").save(before)
    Image.new("RGB", (30, 30), "white").save(other)
    asked = {"ratio": 1.0, "labels": None, "again": False, "write": False, "as_json": False}
    with pytest.raises(DataError, match=r"b.png: it is 30x30 px, and the picture before the action 40x30 px"):
        effect_report.run([before, before], ambient=[other], point=None, **asked)  # type: ignore[arg-type]
    for point in ("41,5", "-1,5"):
        with pytest.raises(CallError, match="is off the picture, 40x30 CSS px"):
            effect_report.run([before, before], ambient=[], point=point, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.b", "json.x", "", ".", "/etc/passwd", "_ui_tars", "a\0b", "x" * 10_000])
def test_what_is_no_name_of_a_plug_in_is_said_so(name: str) -> None:
    with pytest.raises(KeyError, match="no format is named"):
        registry.formats[name]


# --- Rewards and rows of datasets --------------------------------------------------------------------------------------

ASKED = {"output": "(5, 5)", "target": [1, 1, 10, 10], "image_width": 100, "image_height": 100}


def logged(path: Path, *lines: dict[str, object]) -> Path:
    file = path / "log.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_every_answer_of_a_group_is_paid_for_its_own_outcome(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"group": "a", "output": "x", "outcome": {"ended": "success", "success": success}} for success in (True, False)
    ]
    cases = reward_scores.from_rows(logged(tmp_path, *lines), "json")
    assert reward_scores.score(cases, ["exact"])[0].mean == 0.5


def test_lines_of_one_group_that_ask_other_questions_are_no_samples_of_one(tmp_path: Path) -> None:
    lines = {"task_id": "a", **ASKED}, {"task_id": "a", **ASKED, "target": [50, 50, 10, 10]}
    with pytest.raises(
        DataError, match=r"log.jsonl:2: it is of group 'a' as .*log.jsonl:1 is, and its `target` is anoth"
    ):
        reward_scores.from_rows(logged(tmp_path, *lines), "gta1")


@pytest.mark.parametrize(
    "change",
    [
        {"target": [5, 5, -3, -3]},
        {"target": [1e400, 5, 3, 3]},
        {"target": "x"},
        {"image_width": 0},
        {"image_width": "x"},
    ],
)
def test_a_line_that_no_reward_can_be_right_about_is_named(tmp_path: Path, change: dict[str, object]) -> None:
    file = logged(tmp_path, {"id": "a", **ASKED}, {"id": "b", **ASKED, **change})
    with pytest.raises(DataError, match=r"log.jsonl:2: "):
        reward_scores.score(reward_scores.from_rows(file, "gta1"), ["gui_g2"])


def test_a_line_without_any_text_is_not_left_out_in_silence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"log.jsonl:1: the list of texts is empty"):
        reward_scores.from_rows(logged(tmp_path, {**ASKED, "output": []}), "gta1")


def column(folder: Path, name: str, value: object) -> None:
    """Give every row of a dataset of ours another value in a column, of whatever type it is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in folder.rglob("*.parquet"):
        held = pq.read_table(file)
        place = held.schema.get_field_index(name)
        pq.write_table(held.set_column(place, name, pa.array([value] * len(held))), file)


@pytest.mark.parametrize(
    ("name", "value"),
    [("image_width", "x"), ("viewport_width", 0), ("instruction", 1), ("target", "x"), ("references", 1), ("id", "a")],
)
def test_rows_of_a_dataset_that_give_a_wrong_figure_are_named(tmp_path: Path, name: str, value: object) -> None:
    dataset.write([example(number) for number in range(2)], Example, tmp_path / "actions")
    assert len(list(registry.gold["dataset"](tmp_path))) == 2
    column(tmp_path, name, value)
    with pytest.raises(DataError, match=r"train-00000-of-00001.parquet, row [01]: "):
        list(registry.gold["dataset"](tmp_path))


def test_what_cannot_be_redacted_is_bad_data_with_its_place(tmp_path: Path) -> None:
    folder = dataset_to_publish(tmp_path / "data")
    column(folder, "step_index", "x")
    with pytest.raises(DataError, match=r"data, actions/\w+: row 0: .*step_index"):
        redaction.redact(folder, tmp_path / "clean")
    (folder / "actions").rename(folder / "others")
    with pytest.raises(DataError, match=r"data, others/\w+: config 'others' is none of cuadata's"):
        redaction.redact(folder, tmp_path / "clean")
    assert not (tmp_path / "clean").exists()


@pytest.mark.parametrize(
    "repo",
    ["name", "a/b/c", "a/-b", "a/b--c", "a/b..c", "a/b.git", "a/b.", ".a/b", f"a/{'x' * 97}", "a/\u00e4", "a/ b"],
)
def test_a_name_against_the_hub_s_rules_is_a_wrong_call(repo: str) -> None:
    with pytest.raises(CallError, match="names no repository; wanted user/name"):
        hub_remote.check_name(repo)


@pytest.mark.parametrize("token", ["hf_\u00e4bc", "hf_a bc"])
def test_a_token_that_no_request_carries_is_said_and_not_shown(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(CallError, match="holds a space or a sign that no token has") as error:
        hub_remote.Remote("a/b")
    assert token not in str(error.value)


def test_more_rows_or_a_larger_seed_than_can_be_planned_are_refused_at_once(tmp_path: Path) -> None:
    for n, seed in ((10**20, 0), (1, 10**20)):
        with pytest.raises(CallError, match="planned for by nobody"):
            spatial.generate(n, tmp_path / "out", seed=seed)


def test_a_selection_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    source, out = tmp_path / "data", tmp_path / "out"
    dataset.write([example(number) for number in range(2)], Example, source / "actions")
    kept = [
        selection.Chosen(
            id=f"t{number:03d}/0", keep="yes", reason=None, hits=1, n=2, rate=0.5, interval=None, unread=0,
            consistency=None, vouched_by=(), cluster=(),
        )
        for number in range(2)
    ]  # fmt: skip
    assert len(selection.save(out, kept, {"kept": 2}, source=source)) == 1
    (out / "dataset" / "actions" / "train-00000-of-00002.parquet").write_bytes(b"of an earlier selection")
    column(source, "provenance", "{")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(DataError, match="row t000/0: its provenance is no JSON object"):
        selection.save(out, kept, {"kept": 2}, source=source, force=True)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    column(source, "provenance", "{}")
    files = selection.save(out, kept, {"kept": 2}, source=source, force=True)
    assert sorted(out.rglob("*.parquet")) == files and not list(tmp_path.glob(".*"))


def test_what_was_not_asked_for_is_not_called_nothing(tmp_path: Path) -> None:
    """A build without `rejected` counts none of it, and a null is no effect `none`."""
    recordings = Path(__file__).resolve().parent.parent / "examples" / "recordings"
    call = ["build", "--source", "recordings", str(recordings), "--out", str(tmp_path / "set"), "--configs", "actions"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert "rejected: nothing" not in done.output and "wise or not" not in done.output
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert "Nothing was rejected" not in card and "Not counted" in card
    assert "'none'" not in str(stats.stats(tmp_path / "set"))


@pytest.mark.parametrize(("name", "extra"), [("transformers", "train"), ("trl.trainer", "train"), ("gguf", "gguf")])
def test_a_missing_extra_is_named_with_what_installs_it(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def program() -> None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    with pytest.raises(SystemExit) as ended:
        main(program)  # type: ignore[arg-type]
    assert ended.value.code == 2 and f"cuadata[{extra}]" in capsys.readouterr().err


TWICE = "the key 'answer' stands there twice; delete the one that is wrong"


@pytest.mark.parametrize(
    "line",
    [
        '{"task_id": "a", "step_index": 1, "variant": "original", "kind": "direct", "answer": "(1,1)", "answer": "(20,30)"}',
        '{"id": "x", "more": [{"answer": 1, "answer" : 2}], "answer": "(1,1)"}',
    ],
)
def test_a_prediction_that_says_two_things_is_refused(tmp_path: Path, line: str) -> None:
    gold(tmp_path, ROW)
    (tmp_path / "p.jsonl").write_text(line + "\n")
    for call in (
        lambda: evaluation.answers(tmp_path / "p.jsonl", f"gui_perturbed:{tmp_path}", "gta1"),
        lambda: reward_scores.from_rows(tmp_path / "p.jsonl", "gta1"),
    ):
        with pytest.raises(DataError, match=rf"p.jsonl:1: no JSON: {TWICE}"):
            call()


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (reviews.read, '{"id": "a", "verdict": "right", "answer": 1, "answer": 2}'),
        (lambda path: list(effect_pairs.read(path)), '{"id": "a", "effect": true, "answer": 1, "answer": 2}'),
        (lambda path: effect_report._of_steps([], path), '{"recording": "a", "step": 0, "answer": 1, "answer": 2}'),
        (lambda path: list(training_rows.message_rows(path, vision=False)), '{"answer": 1, "answer": 2}'),
    ],
)
def test_a_label_that_says_two_things_is_refused(tmp_path: Path, read: Callable[[Path], object], line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=TWICE):
        read(path)


def test_two_labels_of_one_step_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"recording": "a", "step": 0, "effect": true}\n{"recording": "a", "step": 0, "effect": false}\n')
    with pytest.raises(DataError, match="line 2: .*step 0 of a has a label already"):
        effect_report._of_steps([], path)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(HEAD.strip() + ",variant\n" + ROW.strip() + ",style\n")
    with pytest.raises(DataError, match="two columns are named 'variant'"):
        list(registry.gold["gui_perturbed"](tmp_path))


NAMES = st.text(st.sampled_from('ab"\\: \u00e9'), max_size=3)
JSON = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('ab":\\ {},\n\t'), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=4).map(dict),
    max_leaves=6,
)


@given(
    st.lists(st.tuples(NAMES, JSON), max_size=4),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :"), (",\n", "\t:")]),
)
def test_a_key_that_stands_twice_is_found_however_it_is_written(
    members: list[tuple[str, Any]], marks: tuple[str, str]
) -> None:
    comma, colon = marks
    text = "{" + comma.join(f"{json.dumps(name)}{colon}{json.dumps(value)}" for name, value in members) + "}"
    if len({name for name, _ in members}) == len(members):
        assert text_files.json_value(text) == json.loads(text)
    else:
        with pytest.raises(ValueError, match="stands there twice"):
            text_files.json_value(text)
    inner = f'{{"a": 1, "outer": {text}}}'
    if len({name for name, _ in members}) < len(members):
        with pytest.raises(ValueError, match="stands there twice"):
            text_files.json_value(inner)
