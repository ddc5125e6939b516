"""Boxes, frames and the processed size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import geometry
from cuadata.geometry import Frame
from cuadata.types import BBox, Point, Size

SIDES = st.integers(30, 4000)
BOXES = st.builds(BBox, *[st.floats(-500, 500)] * 2, *[st.floats(1, 500)] * 2)


@given(BOXES, BOXES)
def test_intersection_lies_in_both(one: BBox, other: BBox) -> None:
    shared = geometry.intersection(one, other)
    assert shared == geometry.intersection(other, one)
    if shared is not None:
        assert geometry.union([one, shared]) == geometry.union([one])
        assert 0 < geometry.iou(one, other) <= 1 + 1e-9
    else:
        assert geometry.iou(one, other) == 0


@given(SIDES, SIDES, st.sampled_from(["px", "resized", "unit", "thousand", "999"]), st.sampled_from([1.0, 1.25, 2.0]))
def test_frames_go_there_and_back(width: int, height: int, kind: geometry.FrameKind, ratio: float) -> None:
    viewport, picture = Size(width, height), Size(round(width * ratio), round(height * ratio))
    frame, point = Frame(kind), Point(width * 0.3, height * 0.7)
    back = geometry.from_frame(*geometry.to_frame(point, frame, picture, viewport), frame, picture, viewport)
    assert back.x == pytest.approx(point.x)
    assert back.y == pytest.approx(point.y)


@given(SIDES, SIDES)
def test_the_processed_size_is_a_multiple_within_the_bounds(width: int, height: int) -> None:
    if max(width, height) / min(width, height) > 200:
        return
    tall, wide = geometry.smart_resize(height, width)
    assert tall % 28 == wide % 28 == 0
    assert tall * wide <= 14 * 14 * 4 * 1280


def test_a_sliver_has_no_processed_size() -> None:
    with pytest.raises(ValueError, match="ratio up to 200"):
        geometry.smart_resize(4, 4000)


def test_case_boxes_in_resized_pixels(cases: Path) -> None:
    folder = cases / "training" / "B80-boxes-in-resized-pixels"
    held = json.loads((folder / "rows.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]["rows"]
    for row, want in zip(held["rows"], expected, strict=True):
        wide, tall = row["image_size"]
        picture, frame = Size(wide, tall), Frame("resized", **held["processor"])
        left, top, right, bottom = row["bbox_xyxy"]
        corners = [geometry.to_frame(Point(x, y), frame, picture, picture) for x, y in ((left, top), (right, bottom))]
        assert list(reversed(geometry.smart_resize(tall, wide, **held["processor"]))) == want["resized"]
        assert [v for corner in corners for v in corner] == pytest.approx(want["bbox_xyxy"], abs=0.5)
