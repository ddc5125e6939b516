"""Published labels proved again, and known faults that the gates have to catch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import toolbars
from build_trajectories import checkout, save
from evidence import COPY, direct, many, spatial, without_a_page

from cuadata import build, verify
from cuadata.errors import CallError, DataError
from cuadata.generating.spatial import generate
from cuadata.judging import gating
from cuadata.proving import drawing, inject, injectors, measuring, pairs
from cuadata.proving.rendering import Renderer, candidate_of, task_of
from cuadata.publishing import published
from cuadata.registry import gates
from cuadata.reporting import verify_report
from cuadata.rows import Example, Grounding, Pair
from cuadata.types import BBox, Size

GATES = gating.choose(None, without=verify.OF_OTHERS)


# Known faults ----------------------------------------------------------------------------------------------------------


def test_every_kind_of_fault_finds_a_place() -> None:
    kinds = {fault.kind for held in (direct(), spatial()) for fault in inject.faults(held)}
    assert kinds == set(inject.SWEEPS)


def test_faults_are_the_same_each_time_and_change_something() -> None:
    for held in (direct(), spatial()):
        once, again = list(inject.faults(held, seed=3)), list(inject.faults(held, seed=3))
        assert once == again
        for fault in once:
            assert fault.candidate != held, (fault.kind, fault.severity)


def test_a_fault_without_a_page_needs_none() -> None:
    kinds = {fault.kind for fault in inject.faults(without_a_page(spatial()))}
    assert "relation_flipped" in kinds and "covered" not in kinds
    with pytest.raises(KeyError):
        list(inject.faults(direct(), ["no_such_fault"]))


def test_what_is_wrong_follows_from_the_fault() -> None:
    wrong = {(f.kind, f.severity): f.wrong for f in inject.faults(direct())}
    assert wrong["covered", "60 %"] is False and wrong["covered", "70 %"] is True
    assert wrong["target_moved", "1 px"] is None and wrong["target_moved", "40 px"] is True
    assert wrong["duplicated", "other name"] is False and wrong["duplicated", "white space"] is True
    assert wrong["text_changed", "case"] is False
    assert injectors.label_is_off(COPY.bbox or BBox(0, 0, 1, 1), direct().example) is None


def test_recall_and_false_rejects_on_good_pages() -> None:
    found = measuring.measure(many(25), GATES)
    assert found.examples == 25 and not found.unfit
    missed = [(c.kind, c.severity) for c in found.cells if c.wrong and c.rejected.hits < c.rejected.n]
    assert not missed
    assert found.recall.rate is not None and found.recall.rate >= 0.99
    assert found.false_rejects.rate is not None and found.false_rejects.rate <= 0.01
    card = found.for_the_card()
    assert {"relation", "reference", "ambiguous", "stale", "target_occluded"} <= set(card)
    assert card["relation"]["recall"].startswith("100.0 % [")


def test_an_example_that_a_gate_rejects_counts_as_a_false_reject() -> None:
    held = direct()
    broken = replace(held, example=replace(held.example, instruction=""))
    found = measuring.measure([broken, held], GATES)
    assert found.unfit == {"instruction_missing": 1}
    assert found.false_rejects.hits >= 1


# Datasets --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Recordings, and the dataset that was built from them."""
    folder = tmp_path_factory.mktemp("verified")
    for number in range(3):
        save(checkout(f"t{number}", seed=number + 1), folder / "recordings")
    build.build([("recordings", folder / "recordings")], folder / "out", workers=1)
    return folder / "recordings", folder / "out"


def tampered(dataset: Path, out: Path, change: Any, config: str = "actions") -> Path:
    """The dataset with every row of a config changed, as somebody who edits columns would."""
    import pyarrow as arrow
    from pyarrow import parquet

    for file in sorted((dataset / config).glob("*.parquet")):
        table = parquet.read_table(file)
        rows = [change(row) for row in table.to_pylist()]
        (out / config).mkdir(parents=True, exist_ok=True)
        parquet.write_table(arrow.Table.from_pylist(rows, table.schema), out / config / file.name)
    return out


def test_labels_hold_by_the_recordings(made: tuple[Path, Path]) -> None:
    recordings, dataset = made
    found = verify.dataset(dataset, recordings=recordings, render=False)
    assert found.rows > 5 and found.holds.rate == 1.0 and not found.failures
    assert set(found.evidence) == {"recording"}


def test_a_box_that_was_moved_does_not_hold(made: tuple[Path, Path], tmp_path: Path) -> None:
    recordings, dataset = made

    def change(row: dict[str, Any]) -> dict[str, Any]:
        if row["target"] is not None and row["target"]["bbox"] is not None:
            row["target"]["bbox"]["x"] += 30.0
        return row

    edited = tampered(dataset, tmp_path / "edited", change)
    with pytest.raises(DataError, match="labels do not hold"):
        verify_report.show(edited, recordings=recordings, family="", seeds="", render=False, inject=False, limit=None,
                           out=tmp_path / "failures", as_json=False)  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / "failures" / "failures.jsonl").read_text().splitlines()]
    assert lines and {line["reason"] for line in lines} <= {"target_stale", "point_outside_target"}
    for line in lines:
        assert (tmp_path / "failures" / line["picture"]).read_bytes()[:4] == b"\x89PNG"


def test_an_id_that_stands_twice_names_no_row(made: tuple[Path, Path], tmp_path: Path) -> None:
    recordings, dataset = made
    first: list[str] = []

    def change(row: dict[str, Any]) -> dict[str, Any]:
        first.append(row["id"])
        return row | {"id": first[0] if len(first) == 3 else row["id"]}

    found = verify.dataset(tampered(dataset, tmp_path / "edited", change), recordings=recordings, render=False)
    assert [(one.gate, one.reason) for one in found.failures] == [("duplicate", "duplicate")]


def test_without_evidence_only_the_row_is_judged(made: tuple[Path, Path]) -> None:
    found = verify.dataset(made[1], render=False, limit=3)
    assert found.evidence == {"row": 3} and found.holds.rate == 1.0


def test_faults_in_recorded_evidence(made: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    recordings, dataset = made
    verify_report.show(dataset, recordings=recordings, family="", seeds="", render=False, inject=True, limit=4,
                       out=None, as_json=True)  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["injected"]["examples"] >= 3 and found["gate_recall"]
    cells: dict[str, list[float]] = defaultdict(list)
    for cell in found["injected"]["cells"]:
        if cell["wrong"]:
            cells[cell["kind"]].append(cell["rejected"]["rate"])
    assert min(cells["hidden"]) == 1.0 and min(cells["other_moment"]) == 1.0


def test_wrong_calls(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"recordings": None, "seeds": "0:1", "render": False, "inject": False, "limit": None,
                             "out": None, "as_json": False}  # fmt: skip
    with pytest.raises(CallError, match="say what to verify"):
        verify_report.show(None, family="", **plain)
    with pytest.raises(CallError, match="no family is named 'nothing'"):
        verify_report.show(None, family="nothing", **plain)
    with pytest.raises(DataError, match="no config of a dataset"):
        verify_report.show(tmp_path, family="", **plain)


def test_a_dataset_without_labels_proves_nothing(tmp_path: Path) -> None:
    from pyarrow import parquet

    from cuadata import schema

    (tmp_path / "set" / "actions").mkdir(parents=True)
    empty = schema.arrow_schema(Example).empty_table()
    parquet.write_table(empty, tmp_path / "set" / "actions" / "train-00000-of-00001.parquet")
    with pytest.raises(DataError, match="it holds no label, so nothing was proved"):
        verify.dataset(tmp_path / "set", render=False)
    call = [
        sys.executable,
        "-c",
        "from cuadata.cli import main; main()",
        "verify",
        str(tmp_path / "set"),
        "--no-render",
    ]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "it holds no label" in done.stderr


def test_a_dataset_that_lacks_a_shard_is_no_whole_one(made: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(made[1], tmp_path / "set")
    shard = next((tmp_path / "set" / "transitions").glob("*.parquet"))
    shard.unlink()
    with pytest.raises(DataError, match=f"cuadata.json lists transitions/{shard.name}, which is not there"):
        verify.dataset(tmp_path / "set", render=False)


def test_a_drawn_row_shows_what_the_verdict_says() -> None:
    from PIL import Image

    held = spatial()
    verdict = gates["relation"](replace(held, example=replace(held.example, relation="above")))
    drawn = verify.drawn(held, verdict)
    import io

    with Image.open(io.BytesIO(drawn)) as picture:
        assert picture.size == (1280, 720 + 4 * 22)  # a legend, the instruction, the reason, what decided
        assert picture.convert("RGB").getpixel((263, 110)) == (213, 94, 0)  # the target's outline
    empty = replace(held, example=replace(held.example, image=replace(held.example.image, sha256="", data=None)))
    assert verify.drawn(empty, verdict)[:4] == b"\x89PNG"


def test_evidence_is_told_in_words() -> None:
    box = [1, 2.5, 30, 40]
    evidence = {
        "what": "bbox",
        "label": {"role": "button", "name": "Copy", "bbox": box},
        "others": [],
        "margin": 0.25,
        "inert": False,
    }
    assert drawing.told(evidence) == (
        "what: bbox; label: button 'Copy' at x 1, y 2.5, 30 x 40 px; others: none; margin: 0.25; inert: no"
    )
    long = drawing.marked(None, Size(300, 100), words=("word " * 400, "x" * 900))
    import io

    from PIL import Image

    with Image.open(io.BytesIO(long)) as picture:
        assert picture.size == (300, 100 + 22 * (1 + 3 + 1))  # words are wrapped, and cut after three lines


# Pages rendered again --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of pointing rows made from three pages."""
    rows = []
    with Renderer() as renderer:
        for seed in range(3):
            task = toolbars.toolbars(seed)
            candidate = candidate_of(task, renderer.show(task))
            assert candidate is not None
            held = {one.name: getattr(candidate.example, one.name) for one in fields(Example)}
            rows.append(Grounding(**held))
    out = tmp_path_factory.mktemp("rendered") / "out"
    build.build([], out, rows={"grounding": rows})
    return out


@pytest.mark.browser
def test_labels_hold_on_the_page_rendered_again(rendered: Path) -> None:
    found = verify.dataset(rendered)
    assert found.evidence == {"rendered": 3} and found.holds.rate == 1.0


@pytest.mark.browser
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("device_pixel_ratio", float("nan"), "the device pixel ratio cannot be nan"),
        ("device_pixel_ratio", 0.0, "the device pixel ratio cannot be 0"),
        ("viewport_width", 0, "the viewport cannot be 0x"),
        ("viewport_height", 1_000_000, "the viewport cannot be"),
    ],
)
def test_a_window_that_no_browser_has_is_bad_data(
    rendered: Path, tmp_path: Path, column: str, value: float, said: str
) -> None:
    edited = tampered(rendered, tmp_path / "edited", lambda row: row | {column: value}, "grounding")
    with pytest.raises(DataError, match=f"row .*: {said}"):
        verify.dataset(edited)


@pytest.mark.browser
def test_a_stale_relation_is_found_on_the_page(rendered: Path, tmp_path: Path) -> None:
    opposite = {"left_of": "right_of", "right_of": "left_of", "above": "below", "below": "above"}

    def change(row: dict[str, Any]) -> dict[str, Any]:
        row["relation"] = opposite.get(row["relation"], row["relation"])
        return row

    spatial_rows = sum(row["relation"] is not None for row in published.columns(rendered, "grounding", ("relation",)))
    found = verify.dataset(tampered(rendered, tmp_path / "edited", change, "grounding"))
    assert spatial_rows and found.reasons == {"relation_false": spatial_rows}


@pytest.mark.browser
def test_generated_rows_hold_on_pages_made_with_their_own_options(tmp_path: Path) -> None:
    generate(12, tmp_path / "made", seed=4, workers=1, infeasible=0.3, pairs=0)
    rows = list(published.rows(tmp_path / "made", "grounding", Grounding))
    assert {"page"} < {row.id.split("/")[2] for row in rows}  # pages of which something was taken away are among them
    found = verify.dataset(tmp_path / "made")
    assert found.evidence == {"rendered": 12} and found.holds.rate == 1.0, found.reasons

    def forget(row: dict[str, Any]) -> dict[str, Any]:
        row["provenance"] = json.dumps({**json.loads(row["provenance"]), "options": {}})
        return row

    found = verify.dataset(tampered(tmp_path / "made", tmp_path / "other", forget, "grounding"))
    assert found.holds.rate is not None and found.holds.rate < 0.8  # a few pages are the same without them


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of generated rows with pairs of both makes: a changed picture, and a page rendered another way."""
    out = tmp_path_factory.mktemp("paired") / "out"
    generate(24, out, seed=11, workers=1, pairs=0.9)
    return out


@pytest.mark.browser
def test_both_labels_of_a_pair_hold(paired: Path) -> None:
    held = [json.loads(row["transform"]) for row in published.columns(paired, "pairs", ("transform",))]
    pictures = sum("affine" in one for one in held)
    found = verify.dataset(paired)
    assert found.evidence == {"rendered": 24 + 2 * len(held) - pictures, "picture": pictures}
    assert 0 < pictures < len(held) and found.holds.rate == 1.0, found.reasons


@pytest.mark.browser
def test_a_pair_whose_second_target_was_moved_does_not_hold(paired: Path, tmp_path: Path) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        row["transformed_target"]["bbox"]["x"] += 6.0
        return row

    edited = tampered(paired, tmp_path / "edited", change, "pairs")
    rows = list(published.columns(edited, "pairs", ("transform",)))
    pictures = sum("affine" in json.loads(row["transform"]) for row in rows)
    found = verify.dataset(edited)
    assert len(found.failures) == len(rows) and found.reasons["pair_false"] == pictures
    assert found.reasons.keys() <= {"pair_false", "target_stale"}


@pytest.mark.browser
def test_a_pair_with_the_picture_of_another_page_does_not_hold(paired: Path, tmp_path: Path) -> None:
    held = list(published.columns(paired, "pairs", ("trajectory_id", "transform", "transformed")))
    held = [row for row in held if "affine" in row["transform"]]

    def change(row: dict[str, Any]) -> dict[str, Any]:
        if "affine" in row["transform"]:
            row["transformed"] = next(
                one["transformed"] for one in held if one["trajectory_id"] != row["trajectory_id"]
            )
        return row

    edited = tampered(paired, tmp_path / "edited", change, "pairs")
    assert verify.dataset(edited, render=False).reasons == {"pair_false": len(held)}


@pytest.mark.parametrize("transform", ["", "[]", "{}", '{"kind": "zoom", "viewport": 3}'])
def test_a_pair_that_states_no_change_is_bad_data(transform: str) -> None:
    row = Pair(**{one.name: getattr(direct().example, one.name) for one in fields(Example)},
               transformed=direct().example.image, transform=transform, kind="zoom")  # fmt: skip
    with pytest.raises(DataError, match="its `transform`"):
        pairs.elsewhere(row)


@pytest.mark.parametrize("affine", [[], [1, 0, 0], ["a"] * 6, None, [1, 0, 0, 0, 1, 0]])
def test_a_change_that_cannot_be_made_again_is_a_verdict(affine: Any) -> None:
    example = direct().example
    row = Pair(**{one.name: getattr(example, one.name) for one in fields(Example)}, transformed=example.image,
               transformed_target=example.target, transform=json.dumps({"kind": "blur", "affine": affine}), kind="blur")  # fmt: skip
    assert pairs.of_the_picture(row).reason == "pair_false"


def test_options_that_a_family_does_not_take() -> None:
    assert task_of("shapes/3", {"viewport": [1024, 768], "without": [2]}).viewport == Size(1024, 768)
    assert task_of("shapes/3", {"count": 8, "without": [2]}) != task_of("shapes/3", {"count": 8})
    for options in ({"colour": "red"}, {"layout": "spiral"}, {"viewport": [1, 2, 3]}):
        with pytest.raises(DataError, match="family shapes makes no page with the options"):
            task_of("shapes/3", options)


@pytest.mark.browser
def test_faults_in_a_live_page_are_caught() -> None:
    found = verify.family("toolbars", range(1), faults=True).injected
    assert found is not None and not found.unfit
    kinds = {cell.kind for cell in found.cells}
    assert {"target_moved", "covered", "hidden", "disabled", "removed", "duplicated", "other_frame"} <= kinds
    assert [(c.kind, c.severity) for c in found.cells if c.wrong and c.rejected.hits < c.rejected.n] == []
    assert [(c.kind, c.severity) for c in found.cells if c.wrong is False and c.rejected.hits] == []


def test_the_test_family_is_a_pure_function() -> None:
    assert toolbars.toolbars(7) == toolbars.toolbars(7) != toolbars.toolbars(8)
    assert toolbars.toolbars(1).viewport == Size(900, 560)
