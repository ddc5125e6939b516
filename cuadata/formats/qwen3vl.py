"""Qwen3-VL: `computer_use` calls with coordinates in thousandths of each side.

Grammar: the computer_use cookbook of Qwen3-VL, whose tool states a screen of 1000x1000 whatever the picture; the processor
resizes to multiples of 32, which the coordinates do not depend on.
"""

from __future__ import annotations

from cuadata.formats._computer_use import ComputerUse
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.types import Size


class Qwen3VL(ComputerUse):
    """Qwen3-VL: computer_use tool calls, 0-1000 over each side (factor 32)."""

    name = "qwen3vl"
    frame = Frame("thousand", factor=32, min_pixels=65_536, max_pixels=16_777_216)
    resolution = Size(1000, 1000)
    answers = True
    persona = ""
    extra = ("middle_click", "triple_click", "hscroll", "answer")


formats.add(Qwen3VL())
