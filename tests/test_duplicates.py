"""Exact duplicates: the same pixels under other names and other compression, and nothing more."""

from __future__ import annotations

import base64
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_trajectories as made
import numpy as np
import pytest
from PIL import Image as Pillow

from cuadata import image, split
from cuadata.building import duplicates
from cuadata.rows import Example
from cuadata.types import Point


def annotated(case: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (case / "annotations.jsonl").read_text().splitlines()]
    return [{**row, "image": str(case / row["image"])} for row in rows]


@pytest.mark.parametrize("hashed", [True, False], ids=["with hashes", "without"])
def test_pictures_and_rows_are_grouped_by_what_they_show(cases: Path, hashed: bool) -> None:
    """guidata/B95."""
    case = cases / "guidata" / "B95-same-pixels-other-bytes"
    expect = json.loads((case / "expected.json").read_text())["expect"]
    names = [name for group in expect["image_groups"] for name in group]
    pictures = [image.from_file(case / name, phash=hashed) for name in names]
    groups = [[names[n] for n in group] for group in duplicates.same_pixels(pictures)]
    assert groups == expect["image_groups"]
    found = duplicates.row_groups(annotated(case), same=("instruction", "bbox_px"))
    assert found == expect["row_groups"] and len(found) == expect["rows_after_dedup"]


def packed(picture: Pillow.Image, **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, options.pop("kind", "PNG"), **options)
    return out.getvalue()


def test_what_only_looks_alike_is_no_duplicate() -> None:
    page = Pillow.new("RGB", (40, 30), (9, 90, 200))
    other = page.copy()
    other.putpixel((3, 4), (9, 90, 201))
    see_through = page.convert("RGBA")
    see_through.putalpha(254)
    grey = Pillow.new("L", (40, 30), 100)
    pictures = [
        packed(page),
        packed(other),
        packed(see_through),
        packed(page.convert("RGBA"), compress_level=1),
        packed(page.convert("P", palette=Pillow.Palette.ADAPTIVE)),
        packed(page.resize((30, 40))),
        packed(grey),
        packed(grey.convert("RGB")),
    ]
    assert duplicates.same_pixels(pictures) == [[0, 3, 4], [1], [2], [5], [6, 7]]


def examples() -> list[Example]:
    return [candidate.example for candidate in split.examples(made.checkout("t"))]


def test_the_key_is_of_picture_instruction_action_and_target() -> None:
    one = examples()[0]
    assert duplicates.key(one) == duplicates.key(
        replace(one, id="other", trajectory_id="o", step_index=9, history=("x",))
    )
    assert duplicates.key(one) == duplicates.key(replace(one, action=replace(one.action, element=77)))
    assert duplicates.key(one) == duplicates.key(replace(one, instruction=f"  {one.instruction}\n"))
    point = one.action.point
    assert point is not None and one.target is not None and one.target.bbox is not None
    assert duplicates.key(one) == duplicates.key(
        replace(one, action=replace(one.action, point=Point(point.x + 0.2, point.y - 0.2)))
    )
    others = [
        replace(one, instruction="Something else"),
        replace(one, action=replace(one.action, point=Point(point.x + 3, point.y))),
        replace(one, action=replace(one.action, type="double_click")),
        replace(one, action=replace(one.action, modifiers=("Shift",))),
        replace(one, target=replace(one.target, bbox=replace(one.target.bbox, width=99.0))),
        replace(one, image=replace(one.image, phash="0" * 16)),
        replace(one, image=replace(one.image, width=1)),
    ]
    keys = {duplicates.key(other) for other in others}
    assert len(keys) == len(others) and duplicates.key(one) not in keys


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (1366, 768), (1, 1), (7, 3), (641, 13), (2000, 2)])
def test_a_picture_looks_the_same_from_its_bytes_and_from_its_pixels(size: tuple[int, int]) -> None:
    chance = random.Random(size[0])
    noise = Pillow.frombytes("RGB", size, chance.randbytes(3 * size[0] * size[1]))
    out = io.BytesIO()
    noise.save(out, "PNG")
    held, pixels = image.from_bytes(out.getvalue()), np.asarray(noise)
    assert (held.phash, held.colours) == (image.perceptual_hash(pixels), image.colours(pixels))
    step = max(1, round((size[0] * size[1] / 16384) ** 0.5))  # every n-th pixel, from half of n on
    sampled = Pillow.fromarray(pixels[step // 2 :: step, step // 2 :: step].copy())
    assert base64.b64decode(held.colours) == sampled.resize((8, 8), Pillow.Resampling.BOX).tobytes()
