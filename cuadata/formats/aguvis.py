"""AGUVIS: PyAutoGUI code with coordinates as fractions of each side.

Grammar: xlang-ai/aguvis and AgentNet, four decimals. Scrolls are written in wheel clicks, whose sign PyAutoGUI documents;
`scroll(page=..)`, whose sign AGUVIS does not document, is read with negative as up, as smol2operator reads that data set.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuadata.contracts import Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import pyautogui_code
from cuadata.speaking.grid import Grid
from cuadata.speaking.model_format import ModelFormat
from cuadata.speaking.parsing import Call
from cuadata.types import Action


class Aguvis(ModelFormat):
    """AGUVIS and OpenCUA: PyAutoGUI code, fractions 0-1 of each side."""

    name = "aguvis"
    frame = Frame("unit")
    says = pyautogui_code.SAYS

    def system_text(self, prompt: Prompt) -> str:
        return (
            "You act on a graphical interface. Look at the screenshot, the instruction and the previous actions, and answer "
            "with the next action as PyAutoGUI code. Coordinates are fractions of the picture's width and height."
        )

    def calls(self, text: str) -> Iterator[Call]:
        return pyautogui_code.calls(text)

    def say(self, action: Action, grid: Grid, view: View) -> str:
        return pyautogui_code.say(action, grid)


formats.add(Aguvis())
