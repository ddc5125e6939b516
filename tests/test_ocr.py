"""Text in pictures: read where OCR is installed, and then a secret that only a picture shows stops a publication."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import publishing
import pytest

pytest.importorskip("rapidocr_onnxruntime")

from cuadata import image, privacy
from cuadata.publishing import hub_checks, ocr
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
    assert [one.kind for one in privacy.find(ocr.read(picture.data))] == ["card_number"]


def test_a_secret_that_only_a_picture_shows_stops_a_publication(tmp_path: Path) -> None:
    size: dict[str, Any] = {"image_width": 640, "image_height": 160, "viewport_width": 640, "viewport_height": 160}
    folder = publishing.dataset(tmp_path / "set", 5, image=shown("Pay with 4242 4242 4242 4242"), **size)
    told: list[tuple[str, int, int]] = []
    found = hub_checks.check(folder, public=False, progress=lambda *one: told.append(one))
    assert [(one.kind, one.count, one.first) for one in found.problems] == [("card_number", 1, "t003/0")]
    assert found.problems[0].place.endswith("pictures") and found.unchecked == ()
    assert ("reading pictures", 5, 5) in told
    assert hub_checks.check(folder, public=False, allow=["card_number"]).problems == ()
