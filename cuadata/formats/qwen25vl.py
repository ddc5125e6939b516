"""Qwen2.5-VL: `computer_use` calls with px of the picture as its processor resized it.

Grammar: the computer_use tool of the Qwen2.5-VL cookbooks. Sides are multiples of 28 (patch 14, merged 2x2); bounds on the
area are those of the released models' preprocessor_config.json.
"""

from __future__ import annotations

from cuadata.formats._computer_use import ComputerUse
from cuadata.geometry import Frame
from cuadata.registry import formats


class Qwen25VL(ComputerUse):
    """Qwen2.5-VL: computer_use tool calls, px of the resized picture (factor 28)."""

    name = "qwen25vl"
    frame = Frame("resized", factor=28, min_pixels=3136, max_pixels=12_845_056)


formats.add(Qwen25VL())
