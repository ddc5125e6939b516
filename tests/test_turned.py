"""Pictures that are stored on their side and say so: upright wherever they are measured, as training sees them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow
from PIL import ImageDraw, ImageOps

from cuadata import build, image, split
from cuadata.judging import importing
from cuadata.judging.importing import Problem
from cuadata.publishing import redaction
from cuadata.registry import sources
from cuadata.types import Size

BOX = (30, 20, 60, 40)  # x, y, width, height on the upright picture


def upright() -> Pillow.Image:
    """A picture of 200x120 px with one red box."""
    made = Pillow.new("RGB", (200, 120), "white")
    ImageDraw.Draw(made).rectangle((BOX[0], BOX[1], BOX[0] + BOX[2], BOX[1] + BOX[3]), fill="red")
    return made


def stored(orientation: int, form: str = "JPEG") -> bytes:
    """The same picture as a camera held that way stores it."""
    undone = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # what undoes the turn that readers make
    turns = {0: "FLIP_LEFT_RIGHT", 1: "FLIP_TOP_BOTTOM", 2: "ROTATE_90", 3: "ROTATE_180", 4: "ROTATE_270",
             5: "TRANSPOSE", 6: "TRANSVERSE"}  # fmt: skip
    made = upright()
    if orientation > 1:
        made = made.transpose(Pillow.Transpose[turns[undone[orientation]]])
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    options: dict[str, Any] = {"quality": 95} if form == "JPEG" else {"lossless": True} if form == "WEBP" else {}
    made.save(out, form, exif=exif, **options)
    return out.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_size_and_pixels_are_what_datasets_shows(orientation: int, form: str) -> None:
    from datasets import Image as Column

    data = stored(orientation, form)
    shown = Column().decode_example({"bytes": data, "path": None})
    kind, width, height = image.header(data)
    assert (kind, width, height) == (form.lower(), *shown.size) == (form.lower(), 200, 120)
    assert np.array_equal(image.rgb(data), np.asarray(shown.convert("RGB")))
    assert np.abs(image.rgb(data).astype(int) - np.asarray(upright())).mean() < 3
    assert image.is_turned(data) == (orientation > 1)


def test_notes_that_cannot_be_read_turn_nothing() -> None:
    data = bytearray(stored(6))
    at = data.index(b"Exif\x00\x00") + 6
    for step in range(2, 26):
        broken = bytes(data[:at]) + bytes([255] * step) + bytes(data[at + step :])
        assert image.header(broken)[1:] == image.rgb(broken).shape[1::-1]


def test_boxes_of_a_set_lie_on_the_upright_picture(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(stored(6))
    row = {"image": "a.jpg", "instruction": "Click on the red box", "bbox": list(BOX), "image_size": [200, 120]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    (held,) = sources["annotated"](tmp_path / "rows.jsonl", convention="xywh_px")  # type: ignore[call-arg]
    (one,) = split.examples(held)
    assert (one.example.image_width, one.example.image_height) == (200, 120)
    found = importing.picture(tmp_path, "a.jpg", Size(120, 200))
    assert isinstance(found, Problem) and found.reason == "screenshot_size_mismatch"
    assert "upright" in found.evidence["turned"]


def test_a_build_says_the_size_that_training_sees(tmp_path: Path) -> None:
    from datasets import load_dataset

    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.jpg").write_bytes(stored(8))
    row = {"image": "a.jpg", "instruction": "Click on the red box", "bbox": list(BOX)}
    (tmp_path / "set" / "rows.jsonl").write_text(json.dumps(row))
    out = tmp_path / "data"
    build.build([("annotated:convention=xywh_px", tmp_path / "set" / "rows.jsonl")], out, fractions={"train": 1.0}, workers=1,
                gates=["coordinates_out_of_range"])  # fmt: skip
    (made,) = load_dataset("parquet", data_files=str(out / "actions" / "*.parquet"), split="train")
    assert made["image"].size == (made["image_width"], made["image_height"]) == (200, 120)
    box = made["target"]["bbox"]
    middle = (
        made["image"].convert("RGB").getpixel((int(box["x"] + box["width"] / 2), int(box["y"] + box["height"] / 2)))
    )
    assert middle[0] > 200 and middle[1] < 60, "the box is where the red is"


def test_what_is_blacked_out_is_blacked_out_on_the_upright_picture() -> None:
    painted = redaction.blackened({"bytes": stored(6), "path": None}, [BOX], {"viewport_width": 200})
    with Pillow.open(io.BytesIO(painted["bytes"])) as opened:
        seen = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    assert seen.shape == (120, 200, 3) and seen[40, 60].max() < 30 and seen[100, 150].min() > 220
