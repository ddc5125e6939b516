"""What every test shares: where the cases are, and how hypothesis makes values of the project's types."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

os.environ.setdefault("OMP_NUM_THREADS", "1")
#: Slow proofs are collected only where they are named: `make soak`.
collect_ignore = [] if any("soak" in word for word in sys.argv) else ["soak"]
ROOT = Path(__file__).resolve().parent.parent

settings.register_profile(
    "cuadata", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("cuadata")

# JSON has no NaN, and files have no lone surrogates: the types' values are those that can be written.
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(int, st.integers(-(2**53), 2**53))
st.register_type_strategy(str, st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20))


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of acceptance cases: the shared one beside the checkout where it exists, else the copy in tests/."""
    shared = ROOT.parent / "shared" / "cases"
    return shared if shared.is_dir() else ROOT / "tests" / "cases"


@pytest.fixture
def png() -> bytes:
    """A PNG of 64x48 px with something on it."""
    import io

    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (64, 48), "white")
    ImageDraw.Draw(picture).rectangle((10, 10, 30, 20), fill="navy")
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
