"""UI-TARS 1.0: `Thought: .. Action: click(start_box='..')`, coordinates in thousandths of each side.

Grammar: bytedance/UI-TARS (README and codes/ui_tars/action_parser.py): texts are Python strings, a newline at the end of a
content submits, keys of a chord are separated by a space, a wait lasts 5 s, a scroll turns the wheel by 5 clicks.
"""

from __future__ import annotations

from cuadata.formats._ui_tars import UITars
from cuadata.geometry import Frame
from cuadata.registry import formats


class UITars10(UITars):
    """UI-TARS 1.0: Action: click(start_box=...), 0-1000 over each side."""

    name = "uitars"
    frame = Frame("thousand")
    opener = "<|box_start|>"
    closer = "<|box_end|>"


formats.add(UITars10())
