"""Prompts at inference against prompts in training: the first difference is shown, and nothing that varies by nature."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata import parity
from cuadata.cli import app
from cuadata.contracts import Prompt, View
from cuadata.errors import CallError, DataError
from cuadata.registry import formats
from cuadata.rows import ContextLine
from cuadata.types import Image, Size

NO_EFFECT = ContextLine("no_effect", "No effect: click at (3, 4) changed nothing.")
SUBGOAL = ContextLine("subgoal", "Close the banner.")


def prompt(instruction: str = "Open mail", size: Size = Size(1280, 720), **fields: Any) -> Prompt:
    picture = Image(sha256="", width=size.width, height=size.height, format="png", phash="")
    return Prompt(instruction=instruction, view=View(image=size, viewport=size), image=picture, **fields)


def row(
    instruction: str, *, history: list[str] | None = None, context: list[ContextLine] | None = None
) -> dict[str, Any]:
    """A dataset row without what parity does not look at."""
    return {
        "instruction": instruction,
        "history": history or [],
        "context": [{"kind": line.kind, "text": line.text} for line in context or []],
        "image_width": 1280,
        "image_height": 720,
        "viewport_width": 1280,
        "viewport_height": 720,
    }


TRAIN = [
    row("Close it"),
    row("Open Größe", history=["click link 'A'"]),
    row("Go", history=["wait 1 s", "click at (1, 2)", "press Enter"]),
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows))
    return path


def differences(live: list[Prompt], name: str = "evocua", trained: str | None = None) -> dict[str, parity.Difference]:
    form = formats[name]
    train = [parity.skeleton(one, formats[trained or name]) for one in TRAIN]
    logged = [(f"log:{at}", parity.skeleton(parity.entry(one, form))) for at, one in enumerate(live)]
    return {found.field: found for found in parity.compare(train, logged)}


@pytest.mark.parametrize("name", formats.names())
def test_the_same_prompts_are_the_same_whatever_they_ask(name: str) -> None:
    live = [prompt(), prompt("Send it\nnow", history=("click button 'Send'",)), prompt(history=("a", "b", "c"))]
    assert not differences(live, name)


@pytest.mark.parametrize(
    ("live", "field", "words"),
    [
        (prompt(context=(NO_EFFECT,)), "injected", "no_effect"),
        (prompt(context=(SUBGOAL,)), "injected", "subgoal"),
        (prompt(history=("1", "2", "3", "4")), "history", "4 lines"),
        (prompt(size=Size(1920, 1080)), "sizes", "1920x1080"),
    ],
)
def test_each_difference_is_named(live: Prompt, field: str, words: str) -> None:
    found = differences([prompt(history=("a",)), live])
    assert set(found) == {field}
    assert words in found[field].live
    assert found[field].place == "log:1"
    assert field in str(found[field])


def changed(entry: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> parity.Skeleton:
    change(entry)
    return parity.skeleton(entry)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda e: e["messages"][0]["content"][0].update(text="You are a helpful assistant."), "system"),
        (
            lambda e: e["messages"][1]["content"][1].update(text=e["messages"][1]["content"][1]["text"] + "\n\nHurry."),
            "text",
        ),
        (lambda e: e["messages"][1]["content"].insert(0, {"type": "image"}), "pictures"),
        (lambda e: e["messages"].append({"role": "tool", "content": "x"}), "roles"),
        (lambda e: e.update(frame="thousand"), "frame"),
        (lambda e: e.update(format="qwen3vl"), "format"),
    ],
)
def test_what_an_adapter_changes_is_found(change: Callable[[dict[str, Any]], None], field: str) -> None:
    train = [parity.skeleton(one, formats["evocua"]) for one in TRAIN]
    live = changed(parity.entry(prompt(), formats["evocua"]), change)
    found = [one.field for one in parity.compare(train, [("log:1", live)])]
    assert found[0] == field or (field in found and found[0] in ("roles", "text"))


def test_the_resized_frame_follows_the_picture() -> None:
    assert not differences([prompt()], "qwen25vl")
    small = View(image=Size(1280, 720), viewport=Size(1280, 720), max_pixels=256 * 28 * 28)
    live = Prompt(instruction="Go", view=small, image=prompt().image)
    assert "frame" in differences([live], "qwen25vl"), (
        "the processor's bounds are not those that the rows were written with"
    )


def test_a_run_without_any_history_is_not_as_trained() -> None:
    found = differences([prompt(), prompt("b"), prompt("c")])
    assert found["history"].live == "never any"
    assert not differences([prompt()]), "a first step has none"


def test_prompts_without_columns_are_read_from_their_text() -> None:
    """A log of bare messages: history and injected lines are counted in the text."""
    form = formats["qwen3vl"]
    given = prompt(history=("a", "b"), context=(NO_EFFECT, SUBGOAL))
    bare = parity.skeleton({"messages": form.prompt(given)})
    full = parity.skeleton(parity.entry(given, form))
    assert (bare.history, bare.injected) == (full.history, full.injected) == (2, ("no_effect", "subgoal"))
    assert bare.pictures == full.pictures == 1


def test_what_could_not_be_compared_is_said(tmp_path: Path) -> None:
    """A live prompt with a line that training never had passes where nobody says which part of it is the instruction."""
    turns = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Open mail"}]}]
    more = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Open mail\nYou failed."}]}]
    train = write(tmp_path / "train.jsonl", [{"messages": turns}])
    live = write(tmp_path / "live.jsonl", [{"messages": more}, {"messages": more, "instruction": "Open mail"}])
    shown = CliRunner().invoke(app, ["parity", str(train), str(live), "--json"])
    assert json.loads(shown.stdout)["not_compared"] == {"format": 2, "text": 2, "sizes": 2, "frame": 2}
    assert "WARNING: the text of 2 of 2 live prompts was not compared: a side lacks `instruction`" in shown.stderr
    write(train, [{"messages": turns, "instruction": "Open mail"}])
    shown = CliRunner().invoke(app, ["parity", str(train), str(live), "--json"])
    found = json.loads(shown.stdout)
    assert [one["field"] for one in found["differences"]] == ["text"]
    assert found["not_compared"]["text"] == 1


def test_new_lines_are_named_before_the_run() -> None:
    train = [parity.skeleton(one, formats["evocua"]) for one in [*TRAIN, row("a", context=[NO_EFFECT])]]
    parity.refuse_new_lines(train, ["no_effect"])
    with pytest.raises(DataError, match="subgoal"):
        parity.refuse_new_lines(train, ["no_effect", "subgoal"])


def test_what_is_no_prompt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="--format"):
        parity.skeleton(TRAIN[0])
    with pytest.raises(DataError, match="messages"):
        parity.skeleton({"text": "a"})
    with pytest.raises(DataError, match="no live prompts|are no live"):
        parity.compare([parity.skeleton(TRAIN[0], formats["json"])], [])
    (tmp_path / "bad.jsonl").write_text("{}\n[1\n")
    with pytest.raises(DataError, match="bad.jsonl:2"):
        list(parity.read(tmp_path / "bad.jsonl"))
    with pytest.raises(DataError, match="parquet"):
        list(parity.read(tmp_path))


def run(*options: str) -> Any:
    from cuadata import cli

    return CliRunner().invoke(cli.app, ["parity", *options])


def test_the_command(tmp_path: Path) -> None:
    train, log = write(tmp_path / "rows.jsonl", TRAIN), tmp_path / "log.jsonl"
    form = formats["evocua"]
    for one in (prompt(), prompt("b", history=("a",))):
        parity.append(log, one, form)
    same = run("--train", str(train), "--live", str(log), "--format", "evocua", "--json")
    assert same.exit_code == 0, same.output
    assert json.loads(same.stdout) == {"train": 3, "live": 2, "same": True, "not_compared": {}, "differences": []}
    parity.append(log, prompt("c", history=("a",), context=(SUBGOAL,)), form)
    other = run("--train", str(train), "--live", str(log), "--format", "evocua", "--json")
    assert isinstance(other.exception, DataError), "exit 1"
    assert json.loads(other.stdout)["differences"][0]["field"] == "injected"
    assert "log.jsonl:3" in str(other.exception)
    before = run("--train", str(train), "--inject", "subgoal", "--format", "evocua")
    assert isinstance(before.exception, DataError)
    assert "subgoal" in str(before.exception)
    assert isinstance(run("--train", str(train)).exception, CallError)
    assert isinstance(run("--train", str(train), "--inject", "hints").exception, CallError)


def test_a_dataset_folder_is_read_without_its_pictures(tmp_path: Path, png: bytes) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "actions").mkdir()
    table = pa.Table.from_pylist([{**one, "image": {"bytes": png, "path": None}} for one in TRAIN])
    pq.write_table(table, tmp_path / "actions" / "train-00000-of-00001.parquet")
    rows = list(parity.read(tmp_path))
    assert len(rows) == 3
    assert "image" not in rows[0][1]
    assert parity.skeleton(rows[2][1], formats["evocua"]).history == 3


@pytest.mark.parametrize("broken", [b"", b"PAR1", b"no parquet at all", b"PAR1" + bytes(40) + b"PAR1"])
def test_a_broken_parquet_file_ends_with_exit_1_and_its_name(
    broken: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from cuadata import cli

    (tmp_path / "actions").mkdir()
    (tmp_path / "actions" / "train-00000-of-00001.parquet").write_bytes(broken)
    parity.append(tmp_path / "log.jsonl", prompt(), formats["evocua"])
    words = ["cuadata", "parity", str(tmp_path), str(tmp_path / "log.jsonl"), "--format", "evocua"]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capfd.readouterr().err
    assert ended.value.code == 1, said
    assert "train-00000-of-00001.parquet" in said and "Traceback" not in said


def test_a_path_where_nothing_is_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="nowhere' is not there; give"):
        list(parity.read(tmp_path / "nowhere"))
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    with pytest.raises(DataError, match="deep.jsonl:1: is no JSON"):
        list(parity.read(tmp_path / "deep.jsonl"))
