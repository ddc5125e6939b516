"""Text in pictures: read where OCR is installed, and then a secret that only a picture shows stops a publication."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import publishing
import pytest

pytest.importorskip("rapidocr_onnxruntime")

from cuadata import dataset, image, privacy
from cuadata.publishing import hub_checks, ocr, redaction
from cuadata.types import Image


def shown(text: str) -> Image:
    """A page that shows a text, black on white."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    page = Pillow.new("RGB", (640, 160), "white")
    ImageDraw.Draw(page).text((30, 50), text, fill="black", font=ImageFont.load_default(32))
    out = io.BytesIO()
    page.save(out, "PNG")
    return image.from_bytes(out.getvalue())


def test_a_card_number_is_read_off_a_picture() -> None:
    picture = shown("Pay with 4242 4242 4242 4242")
    assert picture.data is not None
    assert [one.kind for one in privacy.find(ocr.text(ocr.read(picture.data)))] == ["card_number"]


def test_a_secret_that_only_a_picture_shows_stops_a_publication(tmp_path: Path) -> None:
    size: dict[str, Any] = {"image_width": 640, "image_height": 160, "viewport_width": 640, "viewport_height": 160}
    folder = publishing.dataset(tmp_path / "set", 5, image=shown("Pay with 4242 4242 4242 4242"), **size)
    told: list[tuple[str, int, int]] = []
    found = hub_checks.check(folder, public=False, progress=lambda *one: told.append(one))
    assert [(one.kind, one.count, one.first) for one in found.problems] == [("card_number", 1, "t003/0")]
    assert found.problems[0].place.endswith("pictures") and found.unchecked == ()
    assert ("reading pictures", 5, 5) in told
    assert hub_checks.check(folder, public=False, allow=["card_number"]).problems == ()


def test_redaction_blacks_what_only_a_picture_shows_and_masks_it_in_texts(tmp_path: Path) -> None:
    """The number stands in the picture of one row and, as typed, in the history of another: one map masks both."""
    size: dict[str, Any] = {"image_width": 640, "image_height": 160, "viewport_width": 640, "viewport_height": 160}
    held = shown("Pay with 4242 4242 4242 4242")
    folder = publishing.dataset(tmp_path / "set", 5, image=held, **size)
    assert redaction.redact(folder, tmp_path / "clean") == {"card_number": 1}
    assert hub_checks.check(tmp_path / "clean", public=False).problems == ()
    rows = [row for split in ("train", "test") for row in dataset.open_rows(tmp_path / "clean", "actions", split)]
    (row,) = (row for row in rows if row["id"] == "t003/0")
    clean, before = image.rgb(row["image"]["bytes"]), image.rgb(held.data or b"")
    assert not clean[60:75, 200:400].any() and (clean[120:] == before[120:]).all()
