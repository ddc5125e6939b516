"""One definition: Features, Arrow, JSON Schema, rows and JSON agree with the types."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import image, rows, schema, types
from cuadata.types import Action, BBox, Effect, Element, Image, Point, Trajectory

ROOT = Path(__file__).resolve().parent.parent
NOUNS = [types.Trajectory, types.Task, types.Step, types.Observation, types.Element, types.Action, rows.Verdict]


@pytest.mark.parametrize("kind", NOUNS, ids=lambda k: k.__name__)
@given(data=st.data())
def test_json_goes_there_and_back(kind: type, data: st.DataObject) -> None:
    value = data.draw(st.from_type(kind))
    line = schema.to_json(value)
    assert schema.from_json(line, kind) == value
    assert b"\n" not in line


@pytest.mark.parametrize("kind", [Action, Element, Effect, rows.Verdict], ids=lambda k: k.__name__)
@given(data=st.data())
def test_json_satisfies_the_json_schema(kind: type, data: st.DataObject) -> None:
    value = data.draw(st.from_type(kind))
    jsonschema.validate(json.loads(schema.to_json(value)), schema.json_schema(kind))


@pytest.mark.parametrize("kind", [Action, Element, Effect, rows.Target], ids=lambda k: k.__name__)
@given(data=st.data())
def test_rows_go_through_arrow_and_back(kind: type, data: st.DataObject) -> None:
    value = data.draw(st.from_type(kind))
    table = pa.Table.from_pylist([schema.to_row(value)], schema=schema.arrow_schema(kind))
    assert schema.from_row(table.to_pylist()[0], kind) == value


def example(png: bytes, **changes: Any) -> rows.Example:
    picture = image.from_bytes(png, phash=False)
    plain = rows.Example(
        id="t/0",
        trajectory_id="t",
        step_index=0,
        image=picture,
        image_width=64,
        image_height=48,
        viewport_width=64,
        viewport_height=48,
        device_pixel_ratio=1.0,
        instruction="Click it",
        action=Action(type="click", point=Point(20.0, 15.0)),
    )
    return replace(plain, **changes)


def test_an_example_comes_back_with_its_picture_untouched(png: bytes) -> None:
    table = pa.Table.from_pylist([schema.to_row(example(png))], schema=schema.arrow_schema(rows.Example))
    back = schema.from_row(table.to_pylist()[0], rows.Example)
    assert back == example(png)
    assert back.image.data == png


@dataclass(frozen=True)
class Album:
    """A row with pictures in a list."""

    pictures: tuple[Image, ...]
    score: float
    note: str | None = None


def test_own_dataclasses_work_too(png: bytes) -> None:
    row = schema.to_row(Album((image.from_bytes(png, phash=False),) * 2, 1.5))
    assert [p["bytes"] for p in row["pictures"]] == [png, png]
    assert schema.from_row({"pictures": [png], "score": 2}, Album).score == 2.0


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"x": 1, "y": 2, "width": 3}, "BBox.height is missing"),
        ({"x": "1", "y": 2, "width": 3, "height": 4}, "BBox.x: wanted float, got '1'"),
        ({"x": 1, "y": 2, "width": 3, "height": 4, "left": 5}, "no field is named 'left'"),
        ([1, 2, 3, 4], "wanted BBox"),
    ],
)
def test_a_bad_row_says_where(row: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        schema.from_row(row, BBox)


def test_bad_json_says_where() -> None:
    with pytest.raises(ValueError, match=r"Expected `str`, got `int` - at `\$.id`"):
        schema.from_json(b'{"id": 3}', Trajectory)


def test_a_hint_without_a_column_type_is_refused() -> None:
    @dataclass
    class Odd:
        either: int | str

    with pytest.raises(TypeError, match="only `T | None` unions"):
        schema.features(Odd)


@pytest.mark.parametrize("kind", [*dict.fromkeys(rows.CONFIGS.values()), Trajectory, Album], ids=lambda k: k.__name__)
def test_the_arrow_schema_is_that_of_the_features(kind: type) -> None:
    ours, theirs = schema.arrow_schema(kind), schema.features(kind).arrow_schema
    assert ours.equals(theirs, check_metadata=True)
    assert ours.metadata == theirs.metadata


@pytest.mark.parametrize("stem", sorted(schema.published()))
def test_the_schema_file_is_current(stem: str) -> None:
    held = (ROOT / "schemas" / f"{stem}.schema.json").read_text()
    assert json.loads(held) == schema.published()[stem], "run `make schemas`"


def test_every_field_says_what_it_is() -> None:
    silent = [
        f"{kind.__name__}.{c.name}"
        for module in (types, rows)
        for kind in vars(module).values()
        if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__") and kind.__module__ == module.__name__
        for c in schema.columns(kind)
        if not c.note
    ]
    assert silent == ["Candidate.example"]


def test_a_word_that_is_none_of_the_known_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"'levitate' - at `\$\.type`; wanted one of click, double_click, "):
        schema.from_json('{"type": "levitate"}', Action)


def test_the_command_writes_into_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from cuadata.cli import app

    told = CliRunner().invoke(app, ["schema", "--write", str(tmp_path / "new" / "schemas")])
    assert told.exit_code == 0, told.exception
    assert {f.name[: -len(".schema.json")] for f in (tmp_path / "new" / "schemas").iterdir()} == set(schema.published())
