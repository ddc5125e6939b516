"""Pictures of browsers are decoded without a decoder for all kinds; what comes out is what that gives."""

from __future__ import annotations

import io
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from cuadata import image

SHOTS = sorted((Path(__file__).resolve().parent.parent / "examples" / "recordings").glob("*/blobs/*.png"))


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(
    rows: Any, filters: Any, *, head: bytes = b"\x08\x02\x00\x00\x00", more: bytes = b"", size: Any = None
) -> bytes:
    """A PNG of rows (height, bytes) as they are stored, each after its filter's number."""
    height, width = size or (len(rows), rows.shape[1] // 3)
    flat = np.concatenate([np.asarray(filters, np.uint8)[:, None], rows], axis=1).tobytes()
    start = chunk(b"IHDR", struct.pack(">II", width, height) + head) + more
    return b"\x89PNG\r\n\x1a\n" + start + chunk(b"IDAT", zlib.compress(flat)) + chunk(b"IEND", b"")


def of_pillow(data: bytes) -> Any:
    """What Pillow makes of a picture."""
    with Pillow.open(io.BytesIO(data)) as opened:
        return np.asarray(opened.convert("RGB"))


def test_a_browsers_picture_is_decoded_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [of_pillow(path.read_bytes()) for path in SHOTS]
    monkeypatch.setattr(Pillow, "open", None)
    for path, pixels in zip(SHOTS, wanted, strict=True):
        found = image.rgb(path.read_bytes())
        assert found.dtype == np.uint8 and np.array_equal(found, pixels)


@pytest.mark.parametrize("filters", [2, 1, 3, 4, 0, "mixed"])
def test_every_filter_gives_what_pillow_gives(filters: Any) -> None:
    chance = np.random.default_rng(0)
    rows = chance.integers(0, 256, (17, 39), np.uint8)
    data = png(rows, chance.integers(0, 5, 17) if filters == "mixed" else [filters] * 17)
    assert np.array_equal(image.rgb(data), of_pillow(data))


def test_what_more_a_picture_says_of_its_colours_is_heeded() -> None:
    rows = np.zeros((4, 12), np.uint8)
    clear = png(rows, [2] * 4, more=chunk(b"tRNS", b"\x00\x00" * 3))
    assert (image.rgb(clear) == 255).all()  # black stands for nothing here
    grey = png(rows + np.uint8(7), [2] * 4, head=b"\x08\x00\x00\x00\x00", size=(4, 12))
    assert np.array_equal(image.rgb(grey), of_pillow(grey))


def test_a_broken_picture_is_what_pillow_makes_of_it() -> None:
    data = min((path.read_bytes() for path in SHOTS), key=len)
    chance = random.Random(0)
    broken = [data[:end] for end in (40, len(data) // 2, len(data) - 1)] + [data + b"more"]
    for place in [chance.randrange(33, len(data) - 12) for _ in range(60)]:
        broken.append(data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :])
    for one in broken:
        try:
            wanted = of_pillow(one)
        except (OSError, SyntaxError, ValueError):
            with pytest.raises(image.BadImage):
                image.rgb(one)
        else:
            assert np.array_equal(image.rgb(one), wanted)
