"""How tasks of MiniWoB++ are solved, for the oracle: from the instruction and the page, one action a turn.

Only tasks whose instruction names what to do in words are here; `SOLVERS` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from cuadata.types import Action, Element

Elements = Sequence[Element]
#: Instruction, page, and how many actions were taken, to the next action; None where nothing is left to do.
Solver = Callable[[str, Elements, int], Action | None]


def quoted(instruction: str) -> list[str]:
    """The texts in double quotes, in order."""
    return re.findall(r'"([^"]*)"', instruction)


def click(element: Element | None) -> Action | None:
    """A click on an element; None for None."""
    return None if element is None else Action(type="click", element=element.id)


def find(elements: Elements, role: str, name: str | None = None) -> Element | None:
    """The first element of a role, and of a name or text where one is given, case folded."""
    for e in elements:
        said = (e.name or e.text).strip().casefold()
        if e.role == role and e.point is not None and (name is None or said == name.strip().casefold()):
            return e
    return None


def wanted(instruction: str) -> list[str]:
    """The items of `Select A, B and click Submit.`; none for `Select nothing ...`."""
    found = re.match(r"Select (.*) and click Submit", instruction)
    return [] if not found or found.group(1) == "nothing" else found.group(1).split(", ")


def boxes(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Tick the boxes or choose the option that is named, then submit."""
    names = wanted(instruction)
    for e in elements:
        if e.role in ("checkbox", "radio") and e.name in names and e.states.checked != "true" and e.point is not None:
            return click(e)
    return click(find(elements, "button", "submit"))


def button(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Click the button that is named in quotes, or the only one."""
    names = quoted(instruction)
    return click(find(elements, "button", names[0] if names else None))


def buttons(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Click the buttons named in capitals, in their order."""
    names = re.findall(r"button ([A-Z]+)", instruction)
    return click(find(elements, "button", names[turn])) if turn < len(names) else None


def link(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Click the words that are named in quotes, wherever they listen."""
    name = quoted(instruction)[0]
    held = [e for e in elements if e.interactive and e.point is not None]
    return click(next((e for e in held if (e.name or e.text).strip() == name), None))


def dialog(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Close the dialog, or click the button of it that is named."""
    name = (quoted(instruction) or ["x"])[0]
    return click(find(elements, "button", "close" if name == "x" else name))


def fields(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Type the quoted texts into the fields in their order, the last one into all that are left, then submit."""
    texts = quoted(instruction)
    held = [e for e in elements if e.role == "textbox"]
    for number, e in enumerate(held):
        text = texts[min(number, len(texts) - 1)]
        if e.states.value != text:
            return Action(type="type", element=e.id, text=text)
    return click(find(elements, "button"))


def focus(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Click the field that is meant, the first where no number is said."""
    number = re.search(r"the (\d+)", instruction)
    held = [e for e in elements if e.role == "textbox"]
    return click(held[int(number.group(1)) - 1 if number else 0])


def choose(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Choose an entry of the list by its first letters, then submit."""
    name = re.match(r"Select (.*) from the list", instruction)
    combo = find(elements, "combobox")
    if combo is not None and name is not None and combo.states.value != name.group(1):
        return Action(type="select", element=combo.id, text=name.group(1))
    return click(find(elements, "button", "submit"))


def tab(instruction: str, elements: Elements, turn: int) -> Action | None:
    """Click the tab that is named."""
    return click(find(elements, "tab", instruction.removeprefix("Click on ").rstrip(".")))


SOLVERS: Final[dict[str, Solver]] = {
    "click-test": button,
    "click-test-2": lambda said, held, turn: click(find(held, "button", "one")),
    "click-test-transfer": lambda said, held, turn: click(find(held, "button", said.split()[-1].rstrip("."))),
    "click-button": button,
    "click-button-sequence": buttons,
    "click-checkboxes": boxes,
    "click-checkboxes-large": boxes,
    "click-checkboxes-transfer": boxes,
    "click-option": boxes,
    "click-link": link,
    "click-dialog": dialog,
    "click-dialog-2": dialog,
    "click-tab": tab,
    "choose-list": choose,
    "enter-text": fields,
    "enter-text-dynamic": fields,
    "enter-password": fields,
    "login-user": fields,
    "focus-text": focus,
    "focus-text-2": focus,
}
