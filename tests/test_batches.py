"""Rows in Arrow's form: what is read from JSON, or made of buffers, is what Python's objects would have become."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import rows, schema, types
from cuadata.building import batches
from cuadata.building.batches import Packed

RECORDINGS = Path(__file__).resolve().parent.parent / "examples" / "recordings"
KINDS = [rows.Target, rows.TaskRow, rows.Verdict, types.Action]


def row(**changes: Any) -> rows.Rejected:
    plain = rows.Rejected(id="t/0", trajectory_id="t", step_index=0, gate="box", keep="no", reason="box_missing")
    return replace(plain, **changes)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_json_becomes_what_dicts_become(kind: type, data: st.DataObject) -> None:
    held = data.draw(st.lists(st.from_type(kind), min_size=1, max_size=5))
    arrow_schema = schema.arrow_schema(kind)
    read = batches.of_json([Packed(schema.to_json(one)) for one in held], arrow_schema)
    assert read.equals(batches.of_dicts([schema.to_row(one) for one in held], arrow_schema))
    read.validate(full=True)


@given(
    st.lists(
        st.none() | st.tuples(st.binary(max_size=9), st.text(st.characters(codec="utf-8"), max_size=5)),
        min_size=1,
        max_size=20,
    )
)
def test_pictures_and_texts_are_put_in(held: list[tuple[bytes, str] | None]) -> None:
    arrow_schema = schema.arrow_schema(rows.Rejected)
    packed = [Packed(schema.to_json(row()), {"thumbnail": one}, {"place": one[1] if one else ""}) for one in held]
    dicts = [
        {**schema.to_row(row()), "thumbnail": one and {"bytes": one[0], "path": one[1]}, "place": one[1] if one else ""}
        for one in held
    ]
    read = batches.of_json(packed, arrow_schema)
    read.validate(full=True)
    assert read.to_pylist() == dicts
    assert read.equals(batches.of_dicts(dicts, arrow_schema))


@pytest.mark.parametrize(
    "text", ["2024-01-02", "2024-01-02T03:04:05Z", "1", "null", "\0", "a\nb", "\u2028", "\U0001f600"]
)
def test_a_text_stays_a_text(text: str) -> None:
    held = row(instruction=text, also=(text, ""))
    (read,) = batches.of_json([Packed(schema.to_json(held))], schema.arrow_schema(rows.Rejected)).to_pylist()
    assert (read["instruction"], read["also"]) == (text, [text, ""])


def test_what_the_reader_of_json_does_not_take_goes_the_long_way() -> None:
    held = {**msgspec.to_builtins(row()), "viewport_width": 1280.0}
    packed = Packed(msgspec.json.encode(held), {"thumbnail": (b"png", "a.png")}, {"place": "here"})
    (read,) = batches.of_json([packed], schema.arrow_schema(rows.Rejected)).to_pylist()
    assert (read["viewport_width"], read["thumbnail"]["bytes"], read["place"]) == (1280, b"png", "here")


def test_a_build_does_without_pandas(tmp_path: Path) -> None:
    code = (
        "import sys; from cuadata import build; "
        "build.build([('recordings', sys.argv[1])], sys.argv[2], workers=1); print('pandas' in sys.modules)"
    )
    words = [sys.executable, "-c", code, str(RECORDINGS), str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split()[-1] == "False"
