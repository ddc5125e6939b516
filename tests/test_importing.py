"""Sets that somebody else made: conventions, missing pictures, files from Windows, hostile names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import build, dataset, split
from cuadata.errors import CallError, DataError
from cuadata.judging import conventions, gating, importing, judging
from cuadata.judging.importing import Problem
from cuadata.registry import sources
from cuadata.types import BBox, Image, Size

BOXES = ("xyxy_unit", "xyxy_px", "xyxy_thousandths", "xywh_px")


def reasons(path: Path, **options: object) -> list[str | None]:
    """The first reason against every record of a set, by all gates; None where it is kept."""
    read, gates = sources["annotated"], gating.choose()
    found: list[str | None] = []
    for trajectory in read(path, **options):
        for candidate in split.examples(trajectory):
            against = judging.against(gating.judge(candidate, gates))
            found.append(None if against is None else against.reason)
    return found


# Conventions -----------------------------------------------------------------------------------------------------------


def test_case_b92(cases: Path) -> None:
    folder = cases / "guidata" / "B92-which-convention"
    held = json.loads((folder / "sources.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    corners = [name for name in held["conventions_to_consider"] if name.startswith("xyxy")]
    for name, source in held["sources"].items():
        size = Size(*source["image_size"])
        found = conventions.decide(
            source["boxes"],
            [size] * len(source["boxes"]),
            declared=source["declared"],
            consider=corners,
            min_side=held["min_side_px"],
        )
        want = expected[name]
        assert found.convention == want.get("convention"), name
        if found.convention is not None:
            box = conventions.to_px(source["boxes"][0], found.convention, size)
            assert [box.x, box.y, box.width, box.height] == pytest.approx(want["first_px_xywh"], abs=0.01)
        else:
            said = {"ambiguous_convention": "convention_unknown", "contradicts_declaration": "convention_contradicted"}
            assert found.reason == said[want["reason"]]


@pytest.mark.parametrize(
    ("rows", "sizes", "answer"),
    [
        # The same numbers in px on a picture that holds them, and on one that does not.
        ([[100, 100, 900, 500]], [Size(1000, 600)], "xyxy_px xywh_px xyxy_thousandths xywh_thousandths"),
        ([[600, 300, 500, 200], [10, 10, 20, 20]], [Size(1200, 600)] * 2, "xywh_px"),
        ([[600, 300, 1150, 400]], [Size(1200, 600)], "xyxy_px"),
        ([[0.5, 0.5, 0.75, 0.9]], [Size(800, 600)], "xyxy_unit"),
        ([[0.5, 0.5, 0.4, 0.3]], [Size(800, 600)], "xywh_unit"),
        ([[0.1, 0.2, 12, 30]], [Size(800, 600)], "xywh_px xyxy_px"),
        ([[10, 10, 5, 4], [20, 20, 60, 70]], [Size(100, 100)] * 2, "xywh_px"),
    ],
)
def test_only_what_fits_every_row_is_left(rows: list[list[float]], sizes: list[Size], answer: str) -> None:
    found = conventions.decide(rows, sizes)
    fitting = {name for name, count in found.misfits.items() if count == 0}
    assert fitting == set(answer.split()) or (len(answer.split()) > 1 and found.convention is None)
    assert found.convention == (answer if " " not in answer else None)


def test_points_in_fractions_are_no_points_in_the_first_pixel() -> None:
    assert conventions.decide([[0.5, 0.25], [0.9, 0.1]], [Size(800, 600)] * 2).convention == "xy_unit"
    assert conventions.decide([[500, 250], [901, 100]], [Size(800, 600)] * 2).convention == "xy_thousandths"
    assert conventions.decide([[0, 1]], [Size(800, 600)]).convention == "xy_unit"
    assert conventions.decide([[500, 250]], [Size(1000, 600)]).reason == "convention_unknown"


def test_rare_orders_are_believed_when_they_are_declared() -> None:
    box = conventions.to_px([0.1, 0.2, 0.3, 0.4], "yxhw_unit", Size(1000, 500))
    assert (box.x, box.y, box.width, box.height) == pytest.approx((200, 50, 400, 150))
    assert conventions.to_px([50, 40, 20, 10], "cxcywh_px", Size(100, 100)) == BBox(40, 35, 20, 10)
    assert conventions.to_px([999, 999], "xy_999", Size(640, 480)) == BBox(640, 480, 0, 0)


@given(
    st.lists(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 4), min_size=1, max_size=5),
    st.sampled_from(conventions.BOXES),
)
def test_numbers_of_any_kind_are_judged(rows: list[tuple[float, ...]], declared: str) -> None:
    found = conventions.decide(rows, [Size(640, 480)] * len(rows), declared=declared)
    assert (found.convention is None) == (found.reason is not None)


def test_wrong_calls_are_named() -> None:
    with pytest.raises(ValueError, match="'xyxy_inch' is no convention"):
        conventions.decide([[1, 2, 3, 4]], [Size(9, 9)], declared="xyxy_inch")
    with pytest.raises(ValueError, match="2 rows and 1 picture sizes"):
        conventions.decide([[1, 2, 3, 4]] * 2, [Size(9, 9)])
    with pytest.raises(ValueError, match="has 4 numbers, got 2"):
        conventions.to_px([1, 2], "xyxy_px", Size(9, 9))
    assert conventions.decide([], []).reason == "convention_unknown"


# Pictures and names ----------------------------------------------------------------------------------------------------


def test_case_b93(cases: Path) -> None:
    folder = cases / "guidata" / "B93-missing-pictures"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    said = {
        "missing_image": "missing_file",
        "size_mismatch": "screenshot_size_mismatch",
        "image_corrupt": "screenshot_undecodable",
        "path_outside_set": "path_outside_set",
    }
    found = reasons(folder / "annotations.jsonl", convention="xywh_px")
    for row, reason in enumerate(found):
        want = expected["reject"].get(str(row))
        # The records have no instruction, which is a fault of its own and comes after what concerns the picture.
        assert reason == (said[want] if want else "instruction_missing")
    kept = [row for row, reason in enumerate(found) if reason == "instruction_missing"]
    assert kept == expected["keep"]


def test_case_b109(cases: Path) -> None:
    folder = cases / "guidata" / "B109-set-made-on-windows"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    held = list(importing.records(folder / "records.jsonl"))
    assert len(held) == expected["rows"]
    for row, (_, record) in enumerate(held):
        found = importing.find(folder, record["image"])
        want = expected["keep"].get(str(row))
        if want is None:
            assert isinstance(found, Problem) and found.reason == "path_outside_set"
        else:
            assert found == folder / want
    emitted = [importing.safe_name(value) for _, record in held for value in record.values() if isinstance(value, str)]
    told = json.dumps([str(t) for t in sources["annotated"](folder / "records.jsonl")])
    for name in emitted:
        assert not set(name) & set(expected["emitted_names_forbidden_characters"])
    for secret in expected["forbidden_in_output"]:
        assert secret not in " ".join(emitted)
        assert secret not in told and json.dumps(secret)[1:-1] not in told


@pytest.mark.parametrize(
    "name",
    ["../outside.png", "a/../../outside.png", "/etc/passwd", "C:\\Users\\me\\a.png", "c:a.png", "\\\\server\\share\\a.png",
     "~/a.png", "file:///etc/passwd", "link/secret.png", "..\\outside.png"],
)  # fmt: skip
def test_nothing_outside_of_the_set_is_read(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "a").mkdir(parents=True)
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "secret.png").write_bytes(b"x")
    (folder / "link").symlink_to(outside)
    found = importing.find(folder, name)
    assert isinstance(found, Problem) and found.reason == "path_outside_set"
    assert "Users" not in found.note and "/etc" not in found.note


@pytest.mark.parametrize(
    "name", [None, "", 5, "a\0.png", "https://example.test/a.png", "no.png", "A.PNG", "a.png/b", "sub"]
)
def test_names_without_a_file_are_missing(name: object, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "sub").mkdir()
    found = importing.find(tmp_path, name)
    assert isinstance(found, Problem) and found.reason == "missing_file"


def test_a_near_name_is_told_and_composed_letters_are_one_name(tmp_path: Path) -> None:
    (tmp_path / "Bild.png").write_bytes(b"x")
    (tmp_path / "caf\u00e9.png").write_bytes(b"x")
    found = importing.find(tmp_path, "bild.png")
    assert isinstance(found, Problem) and found.evidence["there_is"] == "Bild.png"
    assert importing.find(tmp_path, "cafe\u0301.png") == tmp_path / "caf\u00e9.png"


def test_pictures_are_what_they_say(tmp_path: Path, png: bytes) -> None:
    (tmp_path / "whole.png").write_bytes(png)
    (tmp_path / "cut.png").write_bytes(png[:-9])
    (tmp_path / "pointer.png").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    assert isinstance(importing.picture(tmp_path, "whole.png", Size(64, 48)), Image)
    for name, reason in (("cut.png", "screenshot_undecodable"), ("pointer.png", "screenshot_undecodable")):
        found = importing.picture(tmp_path, name)
        assert isinstance(found, Problem) and found.reason == reason
    wrong = importing.picture(tmp_path, "whole.png", Size(65, 48))
    assert isinstance(wrong, Problem) and wrong.evidence["picture"] == [64, 48]


@given(st.text(max_size=60))
def test_safe_names_are_safe(name: str) -> None:
    made = importing.safe_name(name)
    assert made and not set(made) & set('<>:"|?*\\\0\n')
    assert not made.startswith("/") and ".." not in made.split("/")
    assert all(part and part == part.rstrip(". ") for part in made.split("/"))


@pytest.mark.parametrize("name", ["CON", "nul.txt", "a/COM1.png", "aux"])
def test_devices_are_no_names(name: str) -> None:
    assert all(part.startswith("_") for part in importing.safe_name(name).split("/")[-1:])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_records_in_any_line_ends(encoding: str, end: str, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(end.join(['{"a": "\u00e9"}', '{"a": 2}', ""]).encode(encoding))
    assert [record["a"] for _, record in importing.records(file)] == ["\u00e9", 2]


@pytest.mark.parametrize("text", ['{"a": 1', "[1, 2]", "5", '{"a": 1}\n"b"', "[" * 100_000])
def test_bad_records_are_named_with_their_place(text: str, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(text)
    with pytest.raises(DataError, match=r"r\.jsonl"):
        list(importing.records(file))


# The source ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def annotated(tmp_path: Path, png: bytes) -> Path:
    (tmp_path / "a.png").write_bytes(png)
    rows = [
        {
            "image": "a.png",
            "instruction": "Click on the bar",
            "bbox": [10, 10, 30, 20],
            "role": "button",
            "name": "bar",
        },
        {"image": "a.png", "instruction": "Click on the rest", "point": [25, 18], "bbox": [12, 12, 32, 22]},
    ]
    file = tmp_path / "set.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_a_declared_convention_gives_boxes(annotated: Path) -> None:
    first, second = sources["annotated"](annotated, convention="xyxy_px")  # type: ignore[call-arg]
    target = first.steps[0].target
    assert target is not None and target.bbox == BBox(10, 10, 20, 10)
    assert second.steps[0].action.point is not None and second.steps[0].action.point.x == 25
    assert reasons(annotated, convention="xyxy_px") == [None, None]


def test_an_undeclared_convention_that_two_fit_is_refused(annotated: Path, tmp_path: Path) -> None:
    lines = annotated.read_text().splitlines()
    annotated.write_text(lines[0])
    assert reasons(annotated) == ["convention_unknown"]
    assert reasons(annotated, convention="xyxy_unit") == ["convention_contradicted"]
    assert reasons(annotated, convention="by heart") == ["convention_unknown"]


def test_case_b97_as_a_set(cases: Path, tmp_path: Path) -> None:
    """Boxes that cannot be, read as a set and judged by all gates."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    folder = cases / "guidata" / "B97-impossible-boxes"
    held = json.loads((folder / "rows.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    shot = Pillow.new("RGB", tuple(held["image_size"]), "white")
    for x in range(0, 640, 4):
        ImageDraw.Draw(shot).line((x, 0, x, 480), fill="navy")
    shot.save(tmp_path / "a.png")
    rows = [{**row, "image": "a.png", "instruction": f"Click on {row['id']}"} for row in held["rows"]]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = dict(zip((row["id"] for row in rows), reasons(tmp_path, convention="xywh_px"), strict=True))
    said = {
        "negative_size": "box_degenerate",
        "zero_size": "box_degenerate",
        "out_of_image": ("coordinates_out_of_range", "target_offscreen"),
        "point_outside_box": "point_outside_target",
        "whole_image": "box_covers_page",
        "not_a_number": "coordinates_out_of_range",
    }
    for name, want in expected.items():
        if want["verdict"] == "keep":
            assert found[name] is None, name
        else:
            assert found[name] in said[want["reason"]], name
    check_rows_of_a_build(tmp_path, expected)


def check_rows_of_a_build(folder: Path, expected: dict[str, Any]) -> None:
    """No number that is none stops a build; a box that is kept ends where the picture does, one that is not is told whole."""
    (folder / "more.jsonl").write_text(
        (folder / "rows.jsonl").read_text()
        + '\n{"id": "inf", "bbox_xywh": [10, 1e999, 5, 5], "image": "a.png", "instruction": "x"}'
        + '\n{"id": "no_point", "bbox_xywh": [10, 10, 50, 30], "point": [null, 25], "image": "a.png", "instruction": "y"}'
    )
    done = build.build([("annotated:convention=xywh_px", folder / "more.jsonl")], folder / "out", workers=1)
    boxes = {
        row["id"].split("/")[1]: row["target"]["bbox"] and list(row["target"]["bbox"].values())
        for row in dataset.open_rows(done.out, "actions")
    }
    kept = {name: want for name, want in expected.items() if want["verdict"] == "keep"}
    assert boxes.keys() == kept.keys()
    assert all(boxes[name] == want.get("bbox_xywh", boxes[name]) for name, want in kept.items())
    rejected = {row["id"].split("/")[1]: row for row in dataset.open_rows(done.out, "rejected")}
    assert rejected.keys() == (expected.keys() - kept.keys()) | {"inf", "no_point"}
    assert rejected["half_out"]["target"]["bbox"]["width"] == 80 and rejected["nan"]["target"]["bbox"] is None


@pytest.mark.parametrize(
    ("source", "words"),
    [("annotated:unit=px", "has no option 'unit'; there are: convention"), ("recordings:x=1", "there are: none"), ("a", "no source")],
)  # fmt: skip
def test_options_of_sources_that_there_are_not(source: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CallError, match=words):
        build.build([(source, tmp_path)], tmp_path / "out")


def test_what_sticks_out_is_clipped_in_the_evidence() -> None:
    from evidence import at, direct, without_a_page

    from cuadata.registry import gates
    from cuadata.rows import Candidate

    def judged(box: BBox) -> dict[str, object]:
        from dataclasses import replace

        held: Candidate = at(without_a_page(direct()), box.center)
        assert held.example.target is not None
        example = replace(
            held.example, viewport_width=640, viewport_height=480, target=replace(held.example.target, bbox=box)
        )
        verdict = gates["box"](replace(held, example=example))
        return {"keep": verdict.keep, **json.loads(verdict.evidence)}

    assert judged(BBox(600, 10, 41, 30))["clipped_to"] == [600, 10, 40, 30]
    assert judged(BBox(-2, 460, 40, 20))["keep"] == "yes"
    assert judged(BBox(600, 10, 80, 30))["keep"] == "no"
