"""Patch labels: what they cover is the box, for every picture, box and processor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import geometry
from cuadata.errors import CallError
from cuadata.generating import patches
from cuadata.geometry import Frame
from cuadata.types import BBox, Size

FRAMES = [
    Frame(kind="resized", factor=factor, min_pixels=least, max_pixels=most)
    for factor, least, most in ((28, 3136, 12845056), (32, 65536, 16777216), (28, 3136, 602112))
]
sides = st.integers(60, 3000)


@given(
    frame=st.sampled_from(FRAMES), wide=sides, tall=sides, ratio=st.sampled_from((1.0, 1.25, 2.0)),
    at=st.tuples(*[st.floats(0, 1)] * 4),
)  # fmt: skip
def test_the_covered_shares_are_the_box(
    frame: Frame, wide: int, tall: int, ratio: float, at: tuple[float, float, float, float]
) -> None:
    view = Size(wide, tall)
    box = BBox(min(at[0], at[1]) * wide, min(at[2], at[3]) * tall, abs(at[0] - at[1]) * wide, abs(at[2] - at[3]) * tall)
    found = patches.covered(box, Size(round(wide * ratio), round(tall * ratio)), view, frame)
    assert (found.columns * found.side, found.rows * found.side) == (found.processed.width, found.processed.height)
    assert all(0 < share <= 1 + 1e-9 for share in found.shares.values())
    assert all(0 <= patch < found.rows * found.columns for patch in found.shares)
    scale = found.processed.width / wide * found.processed.height / tall
    assert sum(found.shares.values()) * found.side**2 == pytest.approx(box.area * scale, rel=1e-6, abs=1e-6)
    if found.shares:
        assert sum(found.target.values()) == pytest.approx(1)
        most = max(found.shares, key=found.shares.__getitem__)
        middle = found.middle(most)
        back = BBox(
            box.x * found.processed.width / wide, box.y * found.processed.height / tall,
            box.width * found.processed.width / wide, box.height * found.processed.height / tall,
        )  # fmt: skip
        assert geometry.distance(back, middle) <= found.side * 0.71
        across, down = found.markers()
        assert middle.x in across and middle.y in down and len(across) * len(down) == found.rows * found.columns


def test_a_box_off_the_picture_covers_nothing_and_an_edge_is_shared_out() -> None:
    frame, view = FRAMES[0], Size(280, 280)
    assert patches.covered(BBox(300, 300, 20, 20), view, view, frame).shares == {}
    assert patches.covered(BBox(14, 0, 28, 28), view, view, frame).shares == {0: 0.5, 1: 0.5}
    with pytest.raises(CallError, match="not on a grid"):
        patches.covered(BBox(0, 0, 9, 9), view, view, frame).middle(100)
