"""UI-TARS 1.5: as UI-TARS 1.0, with px of the picture as its processor resized it.

Grammar: bytedance/UI-TARS (README_coordinates.md): factor 28; bounds on the area from codes/ui_tars/action_parser.py.
"""

from __future__ import annotations

from cuadata.formats._ui_tars import UITars
from cuadata.geometry import Frame
from cuadata.registry import formats


class UITars15(UITars):
    """UI-TARS 1.5: Action: click(start_box='(x,y)'), px of the resized picture (factor 28)."""

    name = "uitars15"
    frame = Frame("resized", factor=28, min_pixels=100 * 28 * 28, max_pixels=16_384 * 28 * 28)


formats.add(UITars15())
