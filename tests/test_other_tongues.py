"""What models say beside their own grammar: read where it can mean one thing only, and never as what it is not.

The answers were written before any reader was run on them.
"""

from __future__ import annotations

import pytest

from cuadata.contracts import FailureKind, ParseFailure, View
from cuadata.registry import formats
from cuadata.types import Action, ActionType, Point, Size

#: Kind and point of an action, or why a text is none.
Read = tuple[ActionType, Point | None] | FailureKind

VIEW = View(image=Size(1920, 1080), viewport=Size(1920, 1080))
PX = View(image=Size(1920, 1080), viewport=Size(1920, 1080), frame="px")


def outcome(name: str, text: str, view: View = PX) -> Read:
    """Kind and point of the first action as a family reads it, or the kind of failure."""
    try:
        action = formats[name].read(text, view)
    except ParseFailure as failure:
        return failure.kind
    return action.type, action.point


def call(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "computer_use", "arguments": {arguments}}}\n</tool_call>'


AT: Read = ("click", Point(683, 324))
SAID: tuple[tuple[str, str, Read], ...] = (
    # Qwen2.5-VL: prose and thoughts around the call, several calls, slips in the JSON
    ("qwen25vl", "I will click it. " + call('{"action": "left_click", "coordinate": [683, 324]}') + " Done.", AT),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [683, 324]}') + call('{"action": "terminate"}'), AT),
    ("qwen25vl", "<think>Not (10, 20).</think>" + call("{'action': 'left_click', 'coordinate': (683, 324,),}"), AT),
    ("qwen25vl", "<think>It may be (683, 324)", "no_action"),
    ("qwen25vl", '```json\n[{"bbox_2d": [673, 314, 693, 334], "label": "button"}]\n```', AT),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [[683, 324]]}'), AT),
    ("qwen25vl", call('{"action": "left_click", "coordinate": ["683", "324"]}'), AT),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [\uff16\uff18\uff13, \uff13\uff12\uff14]}'), AT),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [\u2212683, 324]}'), "coordinates_out_of_range"),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [683.0, 324.0]}'), AT),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [0.36, 0.3]}'), "coordinates_out_of_range"),
    ("qwen25vl", call('{"action": "left_click", "coordinate": [683, 32'), "broken"),
    ("qwen25vl", call('{"action": "left_click"}'), "missing_argument"),
    ("qwen25vl", "I'm sorry, but I can't help with clicking (683, 324).", "no_action"),
    ("qwen25vl", "", "no_action"),
    ("qwen25vl", "   \n", "no_action"),
    # GTA1: one point, in whatever clothes
    ("gta1", "(683,324)", AT),
    ("gta1", "\uff08\uff16\uff18\uff13\uff0c\uff13\uff12\uff14\uff09", AT),
    ("gta1", "(\u2212683, 324)", "coordinates_out_of_range"),
    ("gta1", "-683, 324", "coordinates_out_of_range"),
    ("gta1", "[673, 314, 693, 334]", AT),
    ("gta1", "<answer>(683, 324)</answer>", AT),
    ("gta1", "<think>Perhaps (1, 2)?</think>\n(683, 324)", AT),
    ("gta1", "<points>[[683, 324]]</points>", AT),
    ("gta1", "(0.3557, 0.3)", "coordinates_out_of_range"),
    ("gta1", "(2683, 324)", "coordinates_out_of_range"),
    ("gta1", "I cannot see such a button.", "no_action"),
    ("gta1", "pyautogui.write(message='hello (3, 4)')", "unsupported_action"),
    ("gta1", '{"action": "type", "text": "at (3, 4)"}', "unsupported_action"),
    # UI-TARS
    ("uitars15", "Thought: It is at the top.\nAction: click(start_box='<|box_start|>(683,324)<|box_end|>')", AT),
    ("uitars15", "Action: click(point='<point>683 324</point>')", AT),
    ("uitars15", "Action: click(start_box='(673,314,693,334)')", AT),
    ("uitars15", "Action: click(start_box='(683,3", "broken"),
    ("uitars15", '{"action": "double_click", "coordinate": [683, 324]}', "no_action"),
    # Fractions, and families asked in the tongue of others
    ("aguvis", "```python\npyautogui.click(x=0.5, y=0.25)\n```", ("click", Point(960, 270))),
    ("aguvis", "pyautogui.click(x=683, y=324)", "coordinates_out_of_range"),
    ("smolvlm", "Think: there.\n<code>\nclick(x=0.5, y=0.25)\n</code>", ("click", Point(960, 270))),
    ("qwen25vl", "Action: left_double(start_box='<|box_start|>(683,324)<|box_end|>')", "no_action"),
    ("qwen25vl", "Action: drag(start_box='<box>(1,2)</box>', end_box='<box>(3,4)</box>')", "no_action"),
    ("json", '{"action": "click", "point": {"x": 683, "y": 324},}', AT),
    ("json", "{action: click, point: [683, 324]}", AT),
)


@pytest.mark.parametrize(("name", "text", "expected"), SAID)
def test_what_models_really_say(name: str, text: str, expected: Read) -> None:
    view = VIEW if name in ("aguvis", "smolvlm") else PX
    assert outcome(name, text, view) == expected


ACTS = (
    Action(type="double_click", point=Point(683, 324)),
    Action(type="type", text="hello (3, 4)"),
    Action(type="press", keys=("Enter",)),
    Action(type="wait", seconds=2.0),
    Action(type="done"),
    Action(type="drag", point=Point(100, 200), end=Point(300, 400)),
)


@pytest.mark.parametrize("action", ACTS, ids=lambda action: action.type)
@pytest.mark.parametrize("reader", formats.names())
def test_no_family_reads_anothers_act_as_a_different_one(reader: str, action: Action) -> None:
    """What is no click in one family's grammar is the same act in another's, or cannot be read."""
    for writer in formats.names():
        try:
            text = formats[writer].write(action, VIEW)
        except ValueError:
            continue
        got = outcome(reader, text, VIEW)
        assert isinstance(got, str) or got[0] == action.type, (writer, text)
