"""What UI-TARS 1.0 and 1.5 share: a thought, then one function call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Final

from cuadata.contracts import Message, Prompt, View
from cuadata.speaking import keys, parsing, pointing, prompts, scrolling
from cuadata.speaking.call_words import is_word
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.speaking.model_format import ModelFormat, need
from cuadata.speaking.parsing import Call
from cuadata.types import Action, Point

_CLICKS: Final = {"click": "click", "double_click": "left_double", "right_click": "right_single"}
#: The mark before the calls: at the head of a line, else, where a thought holds none, anywhere.
_ACTION = re.compile(r"^[^\w\n]*Actions?[^\S\n]*:", re.IGNORECASE | re.MULTILINE)
_ACTION_INLINE = re.compile(r"\bActions?\s*:", re.IGNORECASE)
_SPACE: Final = (
    "click(start_box='{box}')\nleft_double(start_box='{box}')\nright_single(start_box='{box}')\n"
    "drag(start_box='{box}', end_box='{box}')\nhotkey(key='ctrl c')  # keys of a chord separated by a space\n"
    "type(content='')  # a newline at the end submits\n"
    "scroll(start_box='{box}', direction='down or up or right or left')\n"
    "wait()\nfinished(content='')\ncall_user()  # the task cannot be done"
)


class UITars(ModelFormat):
    """A UI-TARS model. It says a scroll's direction and not how far, and a wait without its length."""

    says = frozenset(
        ("click", "double_click", "right_click", "drag", "type", "press", "scroll", "wait", "done", "infeasible")
    )
    habits = Habits(wait=5.0, scroll=5.0)
    #: What stands around the numbers of a point.
    opener: ClassVar[str] = ""
    closer: ClassVar[str] = ""

    def system_text(self, prompt: Prompt) -> str:
        space = _SPACE.format(box=f"{self.opener}(x1,y1){self.closer}")
        return (
            "You operate a graphical interface. Given an instruction, the previous actions and a screenshot, decide on the "
            f"next action.\n\n## Output Format\nThought: ...\nAction: ...\n\n## Action Space\n{space}"
        )

    def prompt(self, prompt: Prompt) -> list[Message]:
        """One user turn with the action space and the text, then the picture, as UI-TARS was trained."""
        system = self.system_text(prompt) if self.system is None else self.system
        user = f"{system}\n\n## User Instruction\n{prompts.user_text(prompt, thoughts='reason' in self.says)}"
        return prompts.messages(None, user, picture=prompt.image is not None, picture_last=True)

    def calls(self, text: str) -> Iterator[Call]:
        marked = _ACTION.search(text) or _ACTION_INLINE.search(text)
        body = text[marked.end() :] if marked else text
        called = False
        for call in parsing.python_calls(body, is_word):
            called = True
            yield call
        # Asked only where something is, the family answers with a point and no call around it.
        for place in [] if called else pointing.grounded(body):
            yield Call("click", {"coordinate": list(place)})

    def say(self, action: Action, grid: Grid, view: View) -> str:
        return f"Action: {self.call(action, grid)}"

    def call(self, action: Action, grid: Grid) -> str:
        """The call that does this action."""
        kind = action.type
        if kind in _CLICKS:
            return f"{_CLICKS[kind]}(start_box='{self.box(action.point, grid, kind)}')"
        if kind == "drag":
            start, end = self.box(action.point, grid, "drag"), self.box(action.end, grid, "the end of a drag")
            return f"drag(start_box='{start}', end_box='{end}')"
        if kind == "type":
            return f"type(content='{escaped(need(action.text, 'text'))}')"
        if kind == "press":
            names = ["arrow" + n if n in ("left", "right", "up", "down") else n for n in self.names(action)]
            return f"hotkey(key='{escaped(' '.join(names))}')"
        if kind == "scroll":
            way, _, _ = scrolling.one_way(action)
            middle = Point(grid.viewport.width / 2, grid.viewport.height / 2)
            return f"scroll(start_box='{self.box(action.point or middle, grid, 'scroll')}', direction='{way}')"
        if kind == "wait":
            return "wait()"
        if kind == "done":
            return f"finished(content='{escaped(action.text)}')" if action.text is not None else "finished()"
        return "call_user()"

    def names(self, action: Action) -> tuple[str, ...]:
        """Key names in UI-TARS' own spelling, which is PyAutoGUI's."""
        return keys.write(action.keys, "pyautogui")

    def box(self, point: Point | None, grid: Grid, what: str) -> str:
        """A point as the family writes it."""
        x, y = grid.write(point, what)
        return f"{self.opener}({x},{y}){self.closer}"


def escaped(text: str) -> str:
    r"""A text as it stands between single quotes: \\, \' and \n escaped."""
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
