"""One action has one text form."""

from __future__ import annotations

import typing

import pytest
from build_trajectories import element, type_into
from hypothesis import given
from hypothesis import strategies as st

from cuadata import text
from cuadata.rows import Target
from cuadata.types import Action, ActionType, Point

MRW = element(1, "checkbox", "MRW", (10, 10, 20, 20))
NAME = element(2, "textbox", "Name", (10, 40, 100, 20))


@pytest.mark.parametrize(
    ("action", "target", "words"),
    [
        (Action(type="click", point=Point(20, 20)), MRW, "click checkbox 'MRW'"),
        (Action(type="click", point=Point(99.6, 70)), None, "click at (100, 70)"),
        (type_into(NAME, "Ann"), NAME, "type 'Ann' into textbox 'Name'"),
        (Action(type="type", text="it's"), None, 'type "it\'s"'),
        (Action(type="press", keys=("Control", "a")), None, "press Control+a"),
        (Action(type="press", keys=(" ",)), NAME, "press Space"),
        (Action(type="scroll", scroll_y=300, scroll_unit="px"), None, "scroll down 300 px"),
        (Action(type="scroll", scroll_y=-1, scroll_unit="click"), None, "scroll up 1 click"),
        (
            Action(type="scroll", scroll_y=3, scroll_x=-2.5, scroll_unit="line"),
            None,
            "scroll down 3 lines and left 2.5 lines",
        ),
        (Action(type="drag", point=Point(1, 2), end=Point(3, 4)), None, "drag at (1, 2) to (3, 4)"),
        (
            Action(type="select", text="Express"),
            element(3, "combobox", "Ship by", (0, 0, 9, 9)),
            "select 'Express' in combobox 'Ship by'",
        ),
        (
            Action(type="upload", files=("a.pdf",)),
            element(3, "button", "File", (0, 0, 9, 9)),
            "upload 'a.pdf' to button 'File'",
        ),
        (Action(type="hover"), element(3, "generic", "", (0, 0, 9, 9), text="Menu"), "hover over element 'Menu'"),
        (Action(type="click", point=Point(5, 5)), element(3, "button", "", (0, 0, 9, 9)), "click button at (5, 5)"),
        (Action(type="click", modifiers=("Control",)), MRW, "click checkbox 'MRW' holding Control"),
        (Action(type="dialog", accept=True, text="yes"), None, "accept the dialog: 'yes'"),
        (Action(type="dialog", accept=False), None, "dismiss the dialog"),
        (Action(type="wait", seconds=2), None, "wait 2 s"),
        (Action(type="switch_page", page=1), None, "switch to page 1"),
        (Action(type="infeasible", text="no such item"), None, "infeasible: 'no such item'"),
    ],
)
def test_words(action: Action, target: typing.Any, words: str) -> None:
    assert text.describe(action, target) == words


def test_a_row_reads_like_the_element_that_it_came_from() -> None:
    action = Action(type="click", point=Point(20, 20))
    assert text.describe(action, Target(role="checkbox", name="MRW")) == text.describe(action, MRW)


def test_an_action_without_effect_is_told_in_its_own_words() -> None:
    action = Action(type="click", point=Point(20, 20))
    assert text.no_effect_line(action, MRW) == "No effect: click checkbox 'MRW' changed nothing."
    assert "(3 times in a row)" in text.no_effect_line(action, MRW, tries=3)


@given(st.from_type(Action), st.text(max_size=200))
def test_every_action_is_one_short_line(action: Action, called: str) -> None:
    held = element(1, "button", called, (0, 0, 10, 10))
    for target in (None, held):
        line = text.describe(action, target)
        assert line and len(line.splitlines()) == 1 and line == line.strip()
        assert len(text.name(held)) <= text.LONGEST + len("button ''")
    assert "\n" not in text.name(held)


def test_every_type_of_action_has_words() -> None:
    for kind in typing.get_args(ActionType):
        assert text.describe(Action(type=kind))
