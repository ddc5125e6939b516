"""Rows for models that read the page: built with its elements, prompted as the live page, answered by id, scored offline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuadata import build, dataset, export, parity, recording
from cuadata.contracts import ParseFailure
from cuadata.errors import CallError
from cuadata.registry import formats
from cuadata.rows import Example
from cuadata.scores import evaluation
from cuadata.speaking import prompts
from cuadata.types import Observation

RECORDINGS = Path(__file__).resolve().parent.parent / "examples" / "recordings"
BY_ID = ("axtree", "qwen35")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of the shipped recordings whose rows keep the page."""
    out = tmp_path_factory.mktemp("rows") / "data"
    build.build([("recordings", RECORDINGS)], out, fractions={"test": 1.0}, elements=True, workers=1)
    return out


def rows(folder: Path) -> list[Example]:
    return [row for row in dataset.read(folder, "actions", "test") if isinstance(row, Example)]


def observed(row: Example) -> Observation:
    """What the row was cut from."""
    held = next(h for h in map(recording.read, sorted(RECORDINGS.iterdir())) if h.id == row.trajectory_id)
    return held.steps[row.step_index].observation


def predicted(folder: Path, name: str, file: Path, answer: str = "") -> Path:
    """A predictions file: the right answer of every row with a target, or `answer` for the first."""
    lines: list[dict[str, str]] = []
    for row in rows(folder):
        if row.target is not None:
            text = formats[name].write(row.action, prompts.of_example(row).view)
            lines.append({"id": row.id, "output": answer if answer and not lines else text})
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@pytest.mark.parametrize("name", BY_ID)
def test_a_row_makes_the_prompt_that_the_live_page_made(folder: Path, name: str) -> None:
    for row in rows(folder):
        observation = observed(row)
        live = prompts.of_observation(observation, row.instruction, history=row.history)
        assert row.elements and live.view.elements
        assert formats[name].prompt(prompts.of_example(row)) == formats[name].prompt(live)


@pytest.mark.parametrize("name", BY_ID)
def test_answers_by_id_are_scored_against_rows_that_keep_the_page(folder: Path, tmp_path: Path, name: str) -> None:
    gold = f"dataset:{folder}"
    _, scored, result = evaluation.answers(predicted(folder, name, tmp_path / "right.jsonl"), gold, name)
    assert len(scored) > 10 and result["accuracy"] == 1.0
    number = {"axtree": "click({})", "qwen35": "<function=click><parameter=target>{}</parameter></function>"}[name]
    for id, failures in ((9999, 1), (rows(folder)[0].elements[-1].id, 0)):  # an id that there is not; another element
        wrong = predicted(folder, name, tmp_path / "wrong.jsonl", number.format(id))
        _, _, result = evaluation.answers(wrong, gold, name)
        assert (result["parse_failures"], round(result["accuracy"] * result["n"])) == (failures, len(scored) - 1)
    with pytest.raises(ParseFailure, match="9999"):
        formats[name].read(number.format(9999), prompts.of_example(rows(folder)[0]).view)


def test_parity_sees_the_page_that_a_row_keeps(folder: Path, tmp_path: Path) -> None:
    form = formats["axtree"]
    observation = observed(rows(folder)[0])
    log = tmp_path / "prompts.jsonl"
    parity.append(log, prompts.of_observation(observation, "Tick it"), form)
    trained = [parity.skeleton(row, form) for _, row in parity.read(predicted_as_train(folder, tmp_path))]
    live = [(place, parity.skeleton(row)) for place, row in parity.read(log)]
    assert parity.compare(trained, live) == ()


def predicted_as_train(folder: Path, tmp_path: Path) -> Path:
    """The same rows as the train split, which is what parity reads."""
    held = tmp_path / "trained"
    dataset.write(rows(folder), Example, held / "actions", name="train")
    return held


def test_rows_without_the_page_are_refused_with_what_would_do(folder: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    build.build([("recordings", RECORDINGS)], bare, fractions={"test": 1.0}, workers=1)
    assert not any(row.elements for row in rows(bare))
    with pytest.raises(CallError, match="--elements"):
        evaluation.answers(predicted(folder, "axtree", tmp_path / "right.jsonl"), f"dataset:{bare}", "axtree")
    with pytest.raises(ValueError, match="can be said in axtree"):
        export.export(bare, "trl", tmp_path / "none", format="axtree")
    told = export.export(folder, "trl", tmp_path / "told", format="axtree")
    assert told.records == {"test": len(rows(folder))} and not told.left_out
