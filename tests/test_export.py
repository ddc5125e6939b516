"""Rows in the forms of other trainers: the answers read back as the same actions, the pictures are the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import publishing
import pytest

from cuadata import dataset, export
from cuadata.errors import CallError, DataError
from cuadata.publishing import redaction
from cuadata.publishing.whole_folder import whole_folder
from cuadata.registry import formats
from cuadata.rows import Example
from cuadata.speaking import prompts
from cuadata.types import Action, Point


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publishing.dataset(
        tmp_path_factory.mktemp("data") / "set", 8, action=Action(type="type", text='Zürich\n"x"')
    )


def records(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    held: list[dict[str, Any]] = (
        json.loads(text) if path.suffix == ".json" else [json.loads(one) for one in text.splitlines()]
    )
    return held


def answers(to: str, record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Row id, picture and answer of a record."""
    if to == "agentnet":
        for step in record["traj"]:
            yield f"{record['task_id']}/{step['index']}", step["image"], step["value"]["code"]
    elif to in ("aguvis", "llava"):
        yield record["id"], record["image"], record["conversations"][-1]["value"]
    elif to == "qwen":
        yield record["id"], record["images"][0], record["messages"][-1]["content"]
    else:
        yield record["id"], record["images"][0], record["completion"][0]["content"][0]["text"]


@pytest.mark.parametrize("to", export.FORMS)
def test_answers_read_back(data: Path, tmp_path: Path, to: str) -> None:
    done = export.export(data, to, tmp_path / "out")
    form = formats[done.format]
    for split in ("train", "test"):
        rows: dict[str, Example] = {row.id: row for row in dataset.read(data, "actions", split)}
        file = next((tmp_path / "out").glob(f"{split}.json*"))
        found = [one for record in records(file) for one in answers(to, record)]
        assert [name for name, _, _ in found] == list(rows)
        for name, picture, answer in found:
            row = rows[name]
            assert (tmp_path / "out" / picture).read_bytes() == row.image.data
            back = form.read(answer, prompts.of_example(row).view)
            assert back.type == row.action.type and back.text == row.action.text
            if row.action.point is not None:
                assert back.point is not None
                assert back.point.x == pytest.approx(row.action.point.x, abs=0.1)
                assert back.point.y == pytest.approx(row.action.point.y, abs=0.1)


@pytest.mark.parametrize("to", ["aguvis", "llava", "qwen"])
def test_one_mark_a_picture(data: Path, tmp_path: Path, to: str) -> None:
    export.export(data, to, tmp_path / "out")
    for record in records(next((tmp_path / "out").glob("train.json*"))):
        turns = record.get("messages") or record["conversations"]
        text = "".join(turn.get("content") or turn.get("value") for turn in turns)
        assert text.count("<image>") == 1
        assert "Open item" in text


def test_another_family(data: Path, tmp_path: Path) -> None:
    done = export.export(data, "qwen", tmp_path / "out", format="qwen25vl")
    assert done.format == "qwen25vl" and sum(done.records.values()) == 8


def test_what_has_no_word_is_left_out_and_counted(tmp_path: Path) -> None:
    folder = publishing.dataset(
        tmp_path / "set", 6, action=Action(type="upload", files=("a.txt",), point=Point(1.0, 1.0))
    )
    done = export.export(folder, "qwen", tmp_path / "out")
    assert done.left_out == {"upload": 1} and sum(done.records.values()) == 5


def test_wrong_calls(data: Path, tmp_path: Path) -> None:
    for how in ({"to": "word"}, {"to": "trl", "config": "chunks"}, {"to": "trl", "format": "none"}):
        with pytest.raises(CallError):
            export.export(data, how.pop("to"), tmp_path / "out", **how)  # type: ignore[arg-type]
    export.export(data, "trl", tmp_path / "out")
    with pytest.raises(CallError, match="--force"):
        export.export(data, "trl", tmp_path / "out")


def test_nothing_left(tmp_path: Path) -> None:
    folder = publishing.dataset(tmp_path / "set", 4)
    with pytest.raises(DataError, match="can be said"):
        export.export(folder, "trl", tmp_path / "out", format="axtree")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("error", [DataError, KeyboardInterrupt])
def test_an_error_leaves_nothing_half_written(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def fails(*_: object) -> str:
        raise error("in the middle")

    monkeypatch.setattr(formats["qwen3vl"], "write", fails)
    with pytest.raises(error):
        export.export(data, "trl", tmp_path / "out")
    assert not names(tmp_path)


def test_a_broken_shard_leaves_nothing_half_written(tmp_path: Path) -> None:
    folder = publishing.dataset(tmp_path / "set", 6)
    shard = max((folder / "actions").glob("train-*"))
    shard.write_bytes(shard.read_bytes()[:1000])
    with pytest.raises(DataError, match="does not open"):
        export.export(folder, "trl", tmp_path / "out")
    assert names(tmp_path) == {"set"}


def test_what_a_killed_process_left_is_not_published(tmp_path: Path) -> None:
    folder, left = publishing.dataset(tmp_path / "set", 4), tmp_path / ".clean.partial" / "recovery"
    left.mkdir(parents=True)
    (left / "train-00000-of-00001.parquet").write_bytes(b"of another dataset, not redacted")
    redaction.redact(folder, tmp_path / "clean")
    assert list(dataset.configs(tmp_path / "clean")) == ["actions"]
    assert names(tmp_path) == {"set", "clean"}


def test_one_process_at_a_time(data: Path, tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out") as made:
        (made / "mine").write_text("whole")
        with pytest.raises(CallError, match="another process"):
            export.export(data, "trl", tmp_path / "out")
    assert names(tmp_path / "out") == {"mine"} and names(tmp_path) == {"out"}
