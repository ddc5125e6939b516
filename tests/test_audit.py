"""Gates against people: GUI-Perturbed's reviews, and review files of datasets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cuadata import audit
from cuadata.errors import CallError, DataError
from cuadata.proving import reviews
from cuadata.reporting import audit_report

_ROOT = Path(__file__).resolve().parent.parent
_PLACES = (_ROOT.parent / "shared" / "gui_perturbed", _ROOT.parent.parent / "shared" / "gui_perturbed")
SHARED = next((place for place in _PLACES if place.is_dir()), _PLACES[0])
COLUMNS = (
    "split", "task_id", "step_index", "step_instruction", "target_bbox", "nearest_bbox", "relative_position",
    "target_correct", "nearest_correct", "rejected",
)  # fmt: skip


def written(folder: Path, *rows: dict[str, str]) -> Path:
    usual = {"split": "test", "task_id": "t", "step_index": "0", "step_instruction": "Click on 'A' button",
             "target_correct": "", "nearest_correct": "", "rejected": "True"}  # fmt: skip
    file = folder / "reviews.csv"
    with file.open("w", newline="") as opened:
        writer: csv.DictWriter[str] = csv.DictWriter(opened, COLUMNS)
        writer.writeheader()
        writer.writerows({**usual, **row} for row in rows)
    return file


def good(**more: str) -> dict[str, str]:
    boxes = {"target_bbox": "[100, 100, 80, 30]", "nearest_bbox": "[200, 100, 80, 30]", "relative_position": "['left']"}
    return {**boxes, "target_correct": "True", "nearest_correct": "True", "rejected": "False", **more}


def test_what_is_kept_and_why_the_rest_is_not(tmp_path: Path) -> None:
    found = audit.gui_perturbed(
        written(
            tmp_path,
            good(),
            good(nearest_bbox="[200, 112, 80, 30]", rejected="True"),  # out of line by more than a quarter
            good(nearest_bbox="[200, 160, 80, 30]", rejected="True"),  # shares no row
            good(nearest_bbox="[200, 100, 1, 1]", rejected="True"),
            good(relative_position="['near']"),  # the side is computed again from the boxes
            good(relative_position="['right']", rejected="True"),  # a side that the boxes do not show
            good(nearest_bbox="", rejected="True"),
        )
    )
    gate = found.classes[0].gate
    assert (gate.right_kept, gate.wrong_kept, gate.right_dropped, gate.wrong_dropped) == (2, 0, 0, 5)
    bare = found.classes[0].bare
    assert (bare.right_kept, bare.wrong_kept) == (1, 2)
    assert set(found.reasons) == {
        "kept", "relation_marginal", "relation_false", "reference_too_small", "relation_unmatched"
    }  # fmt: skip
    assert found.columns is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (good(target_bbox=""), "reviews.csv:2: the step has no target box"),
        (good(target_bbox="[1, 2]"), "is no box"),
        (good(relative_position="left["), "is no list of words"),
    ],
)
def test_bad_reviews_are_named_with_their_line(row: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message.replace("[", r"\[").replace("(", r"\(")):
        audit.gui_perturbed(written(tmp_path, row))


def test_missing_files_and_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        audit.gui_perturbed(tmp_path)
    (tmp_path / "reviews.csv").write_text("task_id,rejected\n1,True\n")
    with pytest.raises(DataError, match="no column is named step_instruction"):
        audit.gui_perturbed(tmp_path)
    with pytest.raises(CallError, match="say where it is"):
        audit_report.show("gui_perturbed", None, review_file=None, as_json=False)
    with pytest.raises(CallError, match="no set with reviews"):
        audit_report.show("other", None, review_file=None, as_json=False)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the reviews of GUI-Perturbed are not beside this checkout")
def test_gui_perturbed_is_judged_better_than_by_the_bare_rule(capsys: pytest.CaptureFixture[str]) -> None:
    audit_report.show("gui_perturbed", SHARED, review_file=None, as_json=True)
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    for one in found["classes"]:
        equal, bare = one["at_equal_recall"], one["bare"]
        assert equal["recall"]["rate"] >= bare["recall"]["rate"]
        assert equal["precision"]["rate"] > bare["precision"]["rate"]
        test = one["test_at_equal_recall"]
        assert test["only_second"] > test["only_first"] and test["p"] < 0.05
        crossed = one["test_crossed"]  # no row has a part in choosing the tolerance that it is judged at
        assert (
            crossed["only_second"] > crossed["only_first"]
            and one["crossed"]["precision"]["rate"] > bare["precision"]["rate"]
        )
    kept = found["classes"][0]["gate"]
    assert kept["precision"]["rate"] >= 0.65 and kept["recall"]["rate"] >= 0.6
    held_out = found["held_out"]["not_rejected"]
    assert held_out["precision"] >= 0.65 and held_out["recall"] >= 0.6
    assert found["columns"]["column contradicts the instruction"] >= 60
    assert "What no geometry sees" in shown.err


# Review files ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of a few kept and rejected rows, as a build writes them."""
    from build_trajectories import checkout, save

    from cuadata import build

    folder = tmp_path_factory.mktemp("reviewed")
    for number in range(4):
        save(checkout(f"t{number}", seed=number + 1), folder / "recordings")
    build.build(
        [("recordings", folder / "recordings")], folder / "out", gates=["target_too_small:min_side=30"], workers=1
    )
    return folder / "out"


def ids(dataset: Path) -> list[str]:
    from cuadata.publishing import published

    return [row["id"] for row in published.columns(dataset, "actions", ("id",))]


def reviewed(folder: Path, *lines: object) -> Path:
    file = folder / "reviews.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return file


def test_a_file_of_reviews_scores_the_gates(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = ids(dataset)
    file = reviewed(
        tmp_path,
        {"id": kept[0], "verdict": "right"},
        {"id": kept[1], "verdict": "wrong target", "note": "the other one"},
        {"id": kept[2], "verdict": "ambiguous"},
        {"id": kept[3], "verdict": "right", "reviewer": "a"},
        {"id": kept[3], "verdict": "wrong_reference", "reviewer": "b"},
        {"id": "gone/0", "verdict": "right"},
    )
    audit_report.show(str(dataset), None, review_file=file, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["reviewed"] == 4 and found["unknown"] == 1 and found["disagreeing"] == 1
    assert found["kept"] == {"right": 1, "wrong_target": 1, "wrong_reference": 1, "ambiguous": 1}
    assert found["precision"]["rate"] == 0.25
    assert found["recall"]["rate"] == 1.0


def test_rejected_rows_are_scored_by_their_gate(dataset: Path) -> None:
    from cuadata.publishing import published
    from cuadata.rows import Rejected

    rows = list(published.rows(dataset, "rejected", Rejected)) if "rejected" in published.configs(dataset) else []
    assert rows, "the build rejects something"
    said = [
        reviews.Review(id=row.id, verdict="right" if place == 0 else "wrong_target") for place, row in enumerate(rows)
    ]
    found = reviews.score(dataset, said)
    assert sum(one.n for one in found.gates) == found.reviewed - sum(found.kept.values())
    assert {one.gate for one in found.gates} <= {row.gate for row in rows}


@pytest.mark.parametrize(
    "line", [{"id": "a"}, {"id": "a", "verdict": "fine"}, {"verdict": "right"}, {"id": 5, "verdict": "right"}]
)
def test_what_is_no_review_is_named(line: object, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"reviews\.jsonl:1: wanted an id and a verdict"):
        reviews.read(reviewed(tmp_path, line))


def test_reviews_of_nothing_are_an_error(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file of reviews"):
        reviews.read(tmp_path / "no.jsonl")
    with pytest.raises(DataError, match="none of 1 reviewed ids"):
        reviews.score(dataset, [reviews.Review(id="x", verdict="right")])
    with pytest.raises(DataError, match="no config of a dataset"):
        reviews.score(tmp_path, [reviews.Review(id="x", verdict="right")])
