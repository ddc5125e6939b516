"""EvoCUA: a line of what to do and a `computer_use` call (style S2), or a step with PyAutoGUI code (style S1).

Grammar: meituan/EvoCUA (mm_agents/evocua). S2 states a screen of 1000x1000 and scales by 999, resize factor 32; S1 writes
px of the picture resized by factor 28.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from cuadata.contracts import Prompt, View
from cuadata.formats._computer_use import ComputerUse
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import pyautogui_code, tool_prompt
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.model_format import ModelFormat
from cuadata.speaking.parsing import Call
from cuadata.text import describe
from cuadata.types import Action, ActionType, Size

_S2 = (
    "\n\n# Response format\n\nAnswer every step with two parts and nothing else:\n"
    "1) Action: one short sentence that says what to do.\n"
    "2) One <tool_call>...</tool_call> block with the call as JSON.\n"
    "When the task is over, call with action=terminate."
)
_S1 = (
    "You operate a computer by PyAutoGUI. Answer every step with:\n"
    "# Step: the step's number\n## Thought:\nwhat you consider\n## Action:\none sentence that says what to do\n"
    "## Code:\na code block with one PyAutoGUI call, computer.wait() or computer.terminate(status=...)"
)


class EvoCUA(ComputerUse):
    """EvoCUA style S2: an Action line and a computer_use tool call, 0-999 over each side (factor 32)."""

    name = "evocua"
    frame = Frame("999", factor=32, min_pixels=65_536, max_pixels=16_777_216)
    resolution = Size(1000, 1000)
    answers = True
    persona = ""
    extra = ("middle_click", "triple_click", "key_down", "key_up", "hscroll", "answer")

    def system_text(self, prompt: Prompt) -> str:
        return tool_prompt.json_block([self.tool(None)]) + _S2

    def say(self, action: Action, grid: Grid, view: View) -> str:
        return f"Action: {_sentence(action, view)}\n{super().say(action, grid, view)}"


class EvoCUAS1(ModelFormat):
    """EvoCUA style S1: a step with thought, action and PyAutoGUI code, px of the resized picture (factor 28)."""

    name = "evocua_s1"
    frame = Frame("resized", factor=28, min_pixels=3136, max_pixels=12_845_056)
    says: ClassVar[frozenset[ActionType]] = pyautogui_code.SAYS
    habits = Habits(wait=20.0)  # computer.wait() sleeps 20 s in EvoCUA's own runner

    def system_text(self, prompt: Prompt) -> str:
        return _S1

    def calls(self, text: str) -> Iterator[Call]:
        return pyautogui_code.calls(text)

    def say(self, action: Action, grid: Grid, view: View) -> str:
        code = pyautogui_code.say(action, grid)
        kind = "code" if code.startswith("computer.") else "python"
        return f"## Action:\n{_sentence(action, view)}\n## Code:\n```{kind}\n{code}\n```"


def _sentence(action: Action, view: View) -> str:
    """What to do in words, without the numbers of a point, which would be in another frame than the call's."""
    target = next((e for e in view.elements if e.id == action.element), None)
    if target is None and action.point is not None and action.type != "scroll":
        verb = action.type.replace("_", "-")
        return f"{verb[0].upper()}{verb[1:]} at the place that the instruction means."
    words = describe(replace(action, point=None), target)
    return f"{words[0].upper()}{words[1:]}."


formats.add(EvoCUA())
formats.add(EvoCUAS1())
