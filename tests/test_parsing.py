"""What real models say is read: prose, several calls, code fences, slips in JSON; and what cannot be read is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import get_args

import pytest

from cuadata.contracts import FailureKind, ParseFailure, View
from cuadata.geometry import Frame, FrameKind
from cuadata.registry import formats
from cuadata.speaking import parsing, pointing, scrolling
from cuadata.speaking.call_words import kind_of
from cuadata.types import Action, ActionType, BBox, Element, Point, Size

PAGE = View(image=Size(1000, 500), viewport=Size(1000, 500), frame="px")
IDS = View(
    image=Size(1000, 500),
    viewport=Size(1000, 500),
    elements=(
        Element(id=18, role="checkbox", name="MRW", bbox=BBox(10, 10, 20, 20), interactive=True, seen=1.0),
        Element(id=21, role="button", name="Submit", bbox=BBox(10, 40, 60, 20), interactive=True, seen=1.0),
    ),
)


def test_case_coordinate_answers(cases: Path) -> None:
    folder = cases / "training" / "B82-coordinate-answers"
    held = json.loads((folder / "answers.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    size = Size(*held["image_size"])
    for row, want in zip(held["rows"], expected["expect"]["rows"], strict=True):
        kind: FrameKind = row["unit"]
        view = View(image=size, viewport=size)
        if want["point_px"] is None:
            with pytest.raises(ParseFailure):
                pointing.point(row["text"], view, Frame(kind))
        else:
            point = pointing.point(row["text"], view, Frame(kind))
            assert (point.x, point.y) == pytest.approx(want["point_px"], abs=0.01), row["text"]


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("(683,324)", (683, 324)),
        ("[683, 324]", (683, 324)),
        ("683 324", (683, 324)),
        ('["683", "324"]', (683, 324)),
        ("Top-left corner (600, 300), bottom-right corner at (700, 400).", (650, 350)),
        ("\uff08683\uff0c324\uff09", (683, 324)),
        ("It may be (1, 2).</reasoning>(683, 324)", (683, 324)),
        ("<|box_start|>(683,324)<|box_end|>", (683, 324)),
        ("<box>(600,300),(700,400)</box>", (650, 350)),
        ("[[600, 300, 700, 400]]", (650, 350)),
        ("(600,300),(700,400)", (650, 350)),
        ("<points x1='1' y1='2'>", None),
        ('<point x="12.5" y="30">menu</point>', (12.5, 30)),
        ("CLICK <point>[[68, 32]]</point>", (68, 32)),
        ("click(point='<point>68 32</point>')", (68, 32)),
        ("pyautogui.click(x=68, y=32)", (68, 32)),
        ('[{"point_2d": [68, 32], "label": "one of (3, 4)"}]', (68, 32)),
        ("```json\n{'bbox_2d': [60, 30, 70, 40]}\n```", (65, 35)),
        ('{"action": {"click": [1], "coordinate": [68, 32]}}', (68, 32)),
        ("The ad at (10, 20) is not meant, the button is at (640, 90).", (640, 90)),
        ("Options: (1, 2) or (3, 4).\nFinal answer: (5, 6)", (5, 6)),
        ("<think>perhaps (1, 2)</think>\n(3, 4)", (3, 4)),
        ("perhaps (1, 2)</think>(3, 4)", (3, 4)),
        ("<answer>(7, 8)</answer> or (1, 2)", (7, 8)),
        ("(5, 6)<|im_end|>", (5, 6)),
        ("Click at x: 12 and y: 13.", (12, 13)),
        ("y=80, x=17.5", (17.5, 80)),
        ("y: 80; x: 17.5", (17.5, 80)),
        ("x is 17.5 and y is 80", (17.5, 80)),
        ("x 17.5, y 80", (17.5, 80)),
        ("X: 17.5\nY: 80", (17.5, 80)),
        ('x="17.5" y="80"', (17.5, 80)),
        ("click(y=80, x=17.5)", (17.5, 80)),
        ("pyautogui.click(y=80, x=17.5)", (17.5, 80)),
        ("y2=400, x2=700, y1=300, x1=600", (650, 350)),
        ('{"bbox": {"x": 600, "y": 300, "width": 100, "height": 100}}', (650, 350)),
        ('{"box": {"left": 600, "top": 300, "width": 100, "height": 100}}', (650, 350)),
        ('{"box": {"xmin": 600, "ymin": 300, "xmax": 700, "ymax": 400}}', (650, 350)),
        ('{"point": "y=80, x=17"}', (17, 80)),
        ('{"points": [[12, 13], [600, 300]]}', (12, 13)),
        ('{"points": [{"x": 12, "y": 13}, {"x": 600, "y": 300}]}', (12, 13)),
        ('{"points": [12, 13]}', (12, 13)),
        ('{"bbox": [[600, 300], [700, 400]]}', (650, 350)),
        ("left: 600, top: 300, right: 700, bottom: 400", (650, 350)),
        ("xmin=600, ymin=300, xmax=700, ymax=400", (650, 350)),
        ("left 12, top 13", None),
        ("<x>12</x><y>13</y>", (12, 13)),
        ("(12,\n 13)", (12, 13)),
        ("The coordinates are 12, 13.", (12, 13)),
        ("Click at 12, 13", (12, 13)),
        ("(12px, 13 px)", (12, 13)),
        ("x1=600, y1=300, x2=700, y2=400", (650, 350)),
        ("<click>12, 13</click>", (12, 13)),
        ("click 12, 13, 14 and 15", None),
        ('{"x": "12", "y": 13.5}', (12, 13.5)),
        ('{"x1": 600, "y1": 300, "x2": 700, "y2": 400}', (650, 350)),
        ('{"x_min": 600, "y_min": 300, "x_max": 700, "y_max": 400}', (650, 350)),
        ('{"bbox": {"Left": 600, "Top": 300, "Right": 700, "Bottom": 400}}', (650, 350)),
        ('{"left": 600, "top": 300, "width": 100, "height": 100}', (650, 350)),
        ('{"x": 600, "y": 300, "width": 100, "height": 100}', (650, 350)),
        ('{"box": {"x": 600, "y": 300, "w": 100, "h": 100}}', (650, 350)),
        ('{"point": {"x": 12, "y": 13, "width": 1000, "height": 500}}', (12, 13)),
        ('{"top_left": [600, 300], "bottom_right": [700, 400]}', (650, 350)),
        ('{"center_x": 12, "center_y": 13}', (12, 13)),
        ('{"cx": 12, "cy": 13, "w": 4, "h": 4}', (12, 13)),
        ('{"left": 600, "top": 300}', None),
        ("I could click(10, 20), but no.\n(683,324)", (683, 324)),
        ('The note is {"x": 1, "y": 2}.\n\n**[683, 324]**\n', (683, 324)),
        ("It stands in <point>1 2</point>:\n```\n(683, 324)\n```", (683, 324)),
        ('{"point":\n[683, 324]\n}', (683, 324)),
        ("<think>it is (1, 2)", None),
        ("(512, 38", None),
        ("At 50%, 20%", None),
        ("[1, 2, 3]", None),
        ("version 1.2.3 of 4.5.6", None),
        ("(nan, 3)", None),
        ("See figure 3, 4 buttons.", None),
    ],
)
def test_points_in_every_notation(text: str, point: tuple[float, float] | None) -> None:
    if point is None:
        with pytest.raises(ParseFailure) as failure:
            pointing.point(text, PAGE, Frame("px"))
        assert failure.value.kind == "no_action"
    else:
        assert pointing.center(pointing.answer(text)) == point


def test_points_on_lines_of_their_own_are_several() -> None:
    assert pointing.numbers("(1,1)\n(2,2)\n(3,9)") == [(1, 1), (2, 2), (3, 9)]


@pytest.mark.parametrize("name", ["qwen25vl", "uitars15", "gta1"])
@pytest.mark.parametrize(
    "text",
    [
        '{"point": {"x": 12, "y": 13}}',
        '{"bbox": {"x": 2, "y": 3, "w": 20, "h": 20}}',
        '{"x": 2, "y": 3, "width": 20, "height": 20}',
        '{"coordinate": {"X": 12, "Y": 13}}',
    ],
)
def test_a_place_named_by_its_sides_is_a_click_there(name: str, text: str) -> None:
    assert formats[name].read(text, PAGE) == Action(type="click", point=Point(12, 13))


@pytest.mark.parametrize(
    ("text", "kind", "out"),
    [
        ("(-5, 40)", "px", True),
        ("(1000, 40)", "px", True),
        ("(40, 500)", "px", True),
        ("[-5, 10, 25, 30]", "px", True),
        ("[900, 10, 1000, 30]", "px", False),
        ("[900, 10, 1001, 30]", "px", True),
        ("(999.5, 499)", "px", False),
        ("(1e999, 3)", "px", True),
        ("(1.2, 0.5)", "unit", True),
        ("(1.0, 1.0)", "unit", False),
        ("(1000, 1000)", "thousand", False),
        ("(1001, 3)", "thousand", True),
        ("(1000, 3)", "999", True),
        ("(999, 0)", "999", False),
    ],
)
def test_points_off_the_picture(text: str, kind: FrameKind, out: bool) -> None:
    view = View(image=Size(1000, 500), viewport=Size(1000, 500))
    if out:
        with pytest.raises(ParseFailure) as failure:
            pointing.point(text, view, Frame(kind))
        assert failure.value.kind == "coordinates_out_of_range"
    else:
        point = pointing.point(text, view, Frame(kind))
        assert point.x < 1000 and point.y < 500, "the far end of a grid is the last pixel, which takes a click"


CLICK = Action(type="click", point=Point(512, 384))
KINDS: list[tuple[ActionType, str]] = [
    ("double_click", "double_click(512, 384)"),
    ("right_click", "right_click(512, 384)"),
    ("hover", "mouse_move(512, 384)"),
    ("double_click", "Action: triple_click(512, 384)"),
]
READ: list[tuple[str, str, Action]] = [
    # Qwen2.5-VL and its kin: prose before, fences, calls after, slips.
    ("qwen25vl", ('Thought: the menu.\nAction: open it.\n<tool_call>\n{"name": "computer_use", "arguments": '
     '{"action": "left_click", "coordinate": [512, 384]}}\n</tool_call>'), CLICK),
    ("qwen25vl", '```json\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [512, 384]}}\n```',
     CLICK),
    ("qwen25vl", ('<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [512, 384]}\n'
     "</tool_call>"), CLICK),
    ("qwen25vl", "<tool_call>{'name': 'computer_use', 'arguments': {'action': 'left_click', 'coordinate': [512, 384],}}",
     CLICK),
    ("qwen25vl", "<tool_call>computer_use(action='left_click', coordinate=[512, 384])</tool_call>", CLICK),
    ("qwen25vl", "computer_use(action='left_click', coordinate=[512, 384])", CLICK),
    ("qwen25vl", ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [512 384]}}'
     "</tool_call>"), CLICK),
    ("qwen25vl", ('<think>It is at (1, 2).\n<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", '
     '"coordinate": [512, 384]}}</tool_call>'), CLICK),
    ("qwen25vl", ('<thought>{"action": "left_click", "coordinate": [1, 2]}</thought>\n{"name": "computer_use", '
     '"arguments": {"action": "left_click", "coordinate": [512, 384]}}'), CLICK),
    ("qwen25vl", '{"bbox_2d": [500, 380, 524, 388], "label": "menu"}', CLICK),
    ("qwen25vl", "[500, 380, 524, 388]", CLICK),
    ("qwen25vl", "y=384, x=512.", CLICK),
    ("qwen25vl", ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": '
     '"y=384, x=512"}}</tool_call>'), CLICK),
    ("uitars15", "Action: click(start_box='y=384, x=512')", CLICK),
    ("qwen25vl", '<tool_call>{"name": "computer_use", "arguments": {"action": "key", "keys": ["Spacebar"]}}</tool_call>',
     Action(type="press", keys=(" ",))),
    ("claude", '{"action": "key", "text": "ctrl+eacute"}', Action(type="press", keys=("Control", "é"))),
    ("uitars", "Action: hotkey(key='ctrl page down')", Action(type="press", keys=("Control", "PageDown"))),
    ("qwen25vl", ('<tool_call>{"name": "computer_use", "arguments": "{\\"action\\": \\"left_click\\", \\"coordinate\\": '
     '[512, 384]}"}</tool_call>'), CLICK),
    ("qwen25vl", ('<tool_call>{"name": "computer_use", "arguments": {"action": "browser_select_option", "coordinate": '
     '[512, 384], "text": "7"}}</tool_call>'), Action(type="select", point=Point(512, 384), text="7")),
    ("qwen25vl", '<tool_call>{"name": "computer_use", "arguments": {"action": "key", "keys": ["enter"]}}</tool_call>',
     Action(type="press", keys=("Enter",))),
    ("qwen3vl", ('<tool_call>{"name": "computer_use", "arguments": {"action": "triple_click", "coordinate": [512, 384]}}'
     "</tool_call>"), Action(type="double_click", point=Point(512, 384))),
    ("evocua", ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_click_drag", "start_coordinate": [1, 2], '
     '"coordinate": [3, 4]}}</tool_call>'), Action(type="drag", point=Point(1, 2), end=Point(3, 4))),
    ("evocua", '<tool_call>{"name": "computer_use", "arguments": {"action": "hscroll", "pixels": 5}}</tool_call>',
     Action(type="scroll", scroll_x=5.0, scroll_y=0.0, scroll_unit="px")),
    ("evocua_s1", ("# Step: 3\n## Thought:\nI click(now).\n## Action:\nOpen the file.\n## Code:\n```python\n"
     "pyautogui.click(x=512, y=384)\n```"), CLICK),
    ("evocua_s1", "## Code:\n```code\ncomputer.terminate(status=\"failure\")\n```", Action(type="infeasible")),
    # UI-TARS: old and new notation, quotes that nobody escaped, a thought with brackets.
    ("uitars15", "Thought: I should click (the blue one).\nAction: click(start_box='(512,384)')", CLICK),
    ("uitars15", "Action: click(start_box='<|box_start|>(512,384)<|box_end|>')", CLICK),
    ("uitars15", "Action: click(point='<point>512 384</point>')", CLICK),
    ("uitars15", "Action: click(start_box='[500, 380, 524, 388]')", CLICK),
    ("uitars15", "click(start_box='(512,384)')", CLICK),
    ("uitars15", "<|box_start|>(512,384)<|box_end|>", CLICK),
    ("uitars15", "(512,384)", CLICK),
    ("uitars15", "Action: <point>512 384</point>", CLICK),
    ("uitars15", "Action: click(start_box='(512,384)'", CLICK),
    ("uitars15", ("Thought: the next action: click(start_box='(1,2)') is wrong.\n"
     "Action: click(start_box='(512,384)')"), CLICK),
    ("uitars", "Action: type(content='it's here\\n')", Action(type="type", text="it's here\n")),
    ("uitars", 'Action: type(content="say \'a\'", start_box=\'(5,6)\')',
     Action(type="type", text="say 'a'", point=Point(5, 6))),
    ("uitars", "Action: select(start_box='(512,384)')", CLICK),
    ("uitars", "Action: hotkey(key='ctrl shift t')", Action(type="press", keys=("Control", "Shift", "t"))),
    ("uitars", "Action: scroll(start_box='(5,6)', direction='up')",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=-5.0, scroll_unit="click")),
    ("uitars", "Action: finished()", Action(type="done")),
    ("uitars", "Action: drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')",
     Action(type="drag", point=Point(1, 2), end=Point(3, 4))),
    # PyAutoGUI: positions without names, buttons, chords, several calls that are one act.
    ("aguvis", "pyautogui.click(512, 384)", CLICK),
    ("aguvis", "# Open it\npyautogui.click(x=512, y=384, button='right')", Action(type="right_click", point=Point(512, 384))),
    ("aguvis", "pyautogui.click(512, 384, clicks=2)", Action(type="double_click", point=Point(512, 384))),
    ("aguvis", "pyautogui.moveTo(1, 2)\npyautogui.dragTo(3, 4, button='left')",
     Action(type="drag", point=Point(1, 2), end=Point(3, 4))),
    ("aguvis", "pyautogui.moveTo(5, 6)\npyautogui.scroll(-3)",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=3.0, scroll_unit="click")),
    ("aguvis", "pyautogui.moveTo(512, 384)\npyautogui.click()", CLICK),
    ("aguvis", "pyautogui.scroll(page=-0.1)", Action(type="scroll", scroll_x=0.0, scroll_y=-50.0, scroll_unit="px")),
    ("aguvis", "pyautogui.hotkey('ctrl', 'c')", Action(type="press", keys=("Control", "c"))),
    ("aguvis", "pyautogui.write('a', interval=0.1)", Action(type="type", text="a")),
    ("aguvis", "pyautogui.write('a', 0.25)", Action(type="type", text="a")),
    ("aguvis", "```DONE```", Action(type="done")),
    ("aguvis", "computer.terminate(status='success')", Action(type="done")),
    ("smolvlm", "<think>the button (s)</think>\n<code>\nclick(x=512, y=384)\n</code>", CLICK),
    ("smolvlm", "<code>press(['ctrl', 'c'])</code>", Action(type="press", keys=("Control", "c"))),
    # Providers' own shapes.
    ("claude", ('[{"type": "text", "text": "I click."}, {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": '
     '{"action": "left_click", "coordinate": [512, 384]}}]'), CLICK),
    ("claude", ('{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "computer", "arguments": '
     '"{\\"action\\": \\"left_click\\", \\"coordinate\\": [512, 384], \\"text\\": \\"shift\\"}"}}]}'),
     Action(type="click", point=Point(512, 384), modifiers=("Shift",))),
    ("claude", '{"action": "scroll", "coordinate": [5, 6], "scroll_direction": "down", "scroll_amount": 3}',
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=3.0, scroll_unit="click")),
    ("claude", '{"type": "tool_use", "name": "computer", "input": {"action": "screenshot"}}', Action(type="wait", seconds=0.0)),
    ("openai", ('{"output": [{"type": "reasoning", "summary": []}, {"type": "computer_call", "call_id": "c", "action": '
     '{"type": "click", "button": "left", "x": 512, "y": 384}}]}'), CLICK),
    ("openai", '{"type": "computer_call", "actions": [{"type": "keypress", "keys": ["CTRL", "A"]}]}',
     Action(type="press", keys=("Control", "a"))),
    ("openai", ('{"type": "computer_call", "action": {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 9, "y": 9}, '
     '{"x": 3, "y": 4}]}}'), Action(type="drag", point=Point(1, 2), end=Point(3, 4))),
    ("openai", '{"type": "click", "button": "back", "x": 1, "y": 2}', Action(type="back")),
    # The tool's own words without its wrapping: calls on lines of their own that end the answer.
    *[(name, text, CLICK) for name in ("qwen25vl", "qwen3vl", "evocua", "claude", "openai", "json", "gta1") for text in (
        "left_click(512, 384)", "I open it.\nleft_click(512, 384)", "```python\nclick(512, 384)\n```",
        "**Action:** left_click(coordinate=[512, 384])", "`left_click(x=512, y=384)`", "left_click([512, 384])  # open it")],
    *[(name, text, Action(type=kind, point=Point(512, 384))) for name in ("qwen25vl", "claude", "openai", "json")
      for kind, text in KINDS],
    ("qwen25vl", "type('click(3, 4)')", Action(type="type", text="click(3, 4)")),
    ("qwen25vl", "type(512, 384, 'a')", Action(type="type", text="a", point=Point(512, 384))),
    ("uitars", "Action: type(512, 384, 'a')", Action(type="type", text="a")),
    ("qwen25vl", "key('ctrl+c')", Action(type="press", keys=("Control", "c"))),
    ("claude", "key('ctrl', 'c')", Action(type="press", keys=("Control", "c"))),
    ("openai", "keypress(['CTRL', 'C'])", Action(type="press", keys=("Control", "c"))),
    ("qwen25vl", "scroll(-300)", Action(type="scroll", scroll_x=0.0, scroll_y=300.0, scroll_unit="px")),
    ("qwen25vl", "scroll(5, 6, -300)",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=300.0, scroll_unit="px")),
    ("qwen3vl", "hscroll(5)", Action(type="scroll", scroll_x=5.0, scroll_y=0.0, scroll_unit="px")),
    ("claude", "scroll([5, 6], 'down', 3)",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=3.0, scroll_unit="click")),
    ("claude", "scroll(5, 6, 'down')",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=5.0, scroll_unit="click")),
    ("uitars", "Action: scroll(5, 6, 'down')", Action(type="scroll", scroll_x=0.0, scroll_y=5.0, scroll_unit="click")),
    ("aguvis", "pyautogui.scroll(-3, 5, 6)",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=3.0, scroll_unit="click")),
    ("openai", "scroll(5, 6, 0, 300)",
     Action(type="scroll", point=Point(5, 6), scroll_x=0.0, scroll_y=300.0, scroll_unit="px")),
    ("qwen25vl", "wait(2)", Action(type="wait", seconds=2.0)),
    ("qwen25vl", "terminate('failure')", Action(type="infeasible")),
    ("aguvis", "computer.terminate('failure')", Action(type="infeasible")),
    ("qwen3vl", "terminate('success')", Action(type="done")),
    ("qwen3vl", "answer('failure')", Action(type="done", text="failure")),
    ("qwen25vl", "mouse_move(1, 2)\nleft_click_drag(3, 4)", Action(type="drag", point=Point(1, 2), end=Point(3, 4))),
    ("claude", "left_click_drag([1, 2], [3, 4])", Action(type="drag", point=Point(1, 2), end=Point(3, 4))),
    ("json", 'Sure! {"action": "click", "x": 512, "y": 384}', CLICK),
    ("json", '{"type": "click", "point": {"x": 512, "y": 384}}', CLICK),
    ("json", '{"click": {"x": 512, "y": 384}}', CLICK),
    # By id.
    ("axtree", "click(18)", Action(type="click", element=18, point=Point(20, 20))),
    ("qwen35", "I will check it.\nclick(18)", Action(type="click", element=18, point=Point(20, 20))),
    ("axtree", "I will check it.\nclick('18')", Action(type="click", element=18, point=Point(20, 20))),
    ("axtree", "click([18])", Action(type="click", element=18, point=Point(20, 20))),
    ("axtree", '<tool_call>{"name": "click", "arguments": {"target": 18}}</tool_call>',
     Action(type="click", element=18, point=Point(20, 20))),
    ("axtree", "<tool_call><function=click><parameter=target>18</parameter></function></tool_call>",
     Action(type="click", element=18, point=Point(20, 20))),
    ("axtree", "type(21, '18')", Action(type="type", element=21, point=Point(40, 50), text="18")),
    ("axtree", "scroll(0, 300)", Action(type="scroll", scroll_x=0.0, scroll_y=300.0, scroll_unit="px")),
    ("axtree", "noop(500)", Action(type="wait", seconds=500.0)),
    ("qwen35", ("<think>\n\n</think>\n\n<tool_call>\n<function=click>\n<parameter=target>\n18\n</parameter>\n</function>\n"
     "</tool_call>"), Action(type="click", element=18, point=Point(20, 20))),
    ("qwen35", "<function=type>\n<parameter=target>21</parameter>\n<parameter=text>\na\nb\n</parameter>\n</function>",
     Action(type="type", element=21, point=Point(40, 50), text="a\nb")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "action"), READ, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(READ)])
def test_what_models_say(name: str, text: str, action: Action) -> None:
    form = formats[name]
    assert form.read(text, IDS if name in ("axtree", "qwen35") else PAGE) == action


REFUSED: list[tuple[str, str, FailureKind]] = [
    # Calls that prose mentions are none.
    *[(name, text, "no_action") for name in ("qwen25vl", "qwen3vl", "claude", "openai", "json", "qwen35") for text in (
        "I could click(3, 4) here.", "click(3, 4) would be wrong", "Do not left_click(3, 4)", "see click(3, 4)",
        "left_click(3, 4)\nThis is not what I want.", "print(left_click(3, 4))", "left_click(683, 32",
        "The function\nclick(3, 4)\nmoves the pointer.", "foo(3, 4)")],
    ("qwen25vl", "left_click(1200, 3)", "coordinates_out_of_range"),
    ("qwen25vl", "middle_click(3, 4)", "unsupported_action"),
    ("qwen25vl", "scroll(5, 6)", "missing_argument"),
    ("claude", "scroll(300)", "missing_argument"),
    ("qwen25vl", "left_click(foo(1))", "broken"),
    ("qwen25vl", "The page has no such link, see (3, 4).", "no_action"),
    ("qwen25vl", "", "no_action"),
    ("qwen25vl", '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [512, 38', "broken"),
    ("qwen25vl", "<tool_call>click there</tool_call>", "broken"),
    ("qwen25vl", ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [1200, 3]}}'
     "</tool_call>"), "coordinates_out_of_range"),
    ("qwen25vl", '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click"}}</tool_call>', "missing_argument"),
    ("qwen25vl", '<tool_call>{"name": "computer_use", "arguments": {"action": "fly"}}</tool_call>', "unknown_action"),
    ("qwen25vl", '<tool_call>{"name": "computer_use", "arguments": {"action": "key", "keys": ["hyperdrive"]}}</tool_call>',
     "unknown_key"),
    ("evocua", '<tool_call>{"name": "computer_use", "arguments": {"action": "middle_click", "coordinate": [1, 2]}}</tool_call>',
     "unsupported_action"),
    ("evocua", ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_click_drag", "coordinate": [1, 2]}}'
     "</tool_call>"), "missing_argument"),
    ("uitars", "Action: click(start_box='(12", "broken"),
    ("uitars", "Action: type(content='abc", "broken"),
    ("uitars", "Action: click(start_box='(12,3", "broken"),
    ("uitars", "Action: wait(seconds=1", "broken"),
    ("uitars", "The button (3, 4) is not here.", "no_action"),
    ("uitars", "Action: scroll(start_box='(1,2)', direction='sideways')", "missing_argument"),
    ("aguvis", "pyautogui.keyDown('shift')", "unsupported_action"),
    ("aguvis", "pyautogui.click(x=width/2, y=3)", "missing_argument"),
    ("axtree", "click(99)", "unknown_element"),
    ("axtree", "click('a12')", "unknown_element"),
    ("axtree", "[18] checkbox 'MRW'", "no_action"),
    ("qwen35", "<tool_call><function=click><parameter=target>1", "broken"),
    ("claude", "I could not find it.", "no_action"),
    ("openai", '{"type": "click", "button": "wheel", "x": 1, "y": 2}', "unsupported_action"),
    ("gta1", "(1200,)", "no_action"),
    ("gta1", "(1062,1089)", "coordinates_out_of_range"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "kind"), REFUSED, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(REFUSED)])
def test_what_cannot_be_read_says_why(name: str, text: str, kind: FailureKind) -> None:
    with pytest.raises(ParseFailure) as failure:
        formats[name].read(text, IDS if name in ("axtree", "qwen35") else PAGE)
    assert failure.value.kind == kind
    assert str(failure.value)
    with pytest.raises(ParseFailure):
        formats[name].read_all(text, IDS if name in ("axtree", "qwen35") else PAGE)


def test_every_call_of_a_plan_is_read_up_to_the_first_that_cannot_be() -> None:
    plan = "".join(
        f"<tool_call>\n<function=click>\n<parameter=target>{number}</parameter>\n</function>\n</tool_call>\n"
        for number in (18, 21, 99, 18)
    )
    for name in ("qwen35", "axtree"):
        assert [a.element for a in formats[name].read_all(plan, IDS)] == [18, 21], (
            "what follows was meant for another page"
        )
    calls = [
        {"action": "left_click", "coordinate": [5, 6]},
        {"action": "type", "text": "BCD"},
        {"action": "key", "keys": []},
    ]
    text = "\n".join(
        f"<tool_call>\n{json.dumps({'name': 'computer_use', 'arguments': call})}\n</tool_call>" for call in calls
    )
    assert [a.type for a in formats["qwen25vl"].read_all(text, PAGE)] == ["click", "type"]
    assert formats["qwen25vl"].read(text, PAGE).point == Point(5, 6)


def test_presses_in_a_row_are_as_many_actions() -> None:
    read = formats["aguvis"].read_all("pyautogui.press(['down', 'down'])\npyautogui.press('enter', presses=2)", PAGE)
    assert [a.keys for a in read] == [("ArrowDown",), ("ArrowDown",), ("Enter",), ("Enter",)]


def test_a_view_without_elements_takes_every_id() -> None:
    assert formats["axtree"].read("click(7)", PAGE) == Action(type="click", element=7)


def test_code_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for name in ("aguvis", "uitars", "smolvlm", "axtree", "evocua_s1"):
        with pytest.raises(ParseFailure):
            formats[name].read(
                f"pyautogui.write(open({str(mark)!r}, 'w').write('x'))\nclick(__import__('os').getpid())", PAGE
            )
    assert not mark.exists()


def test_every_failure_kind_is_met() -> None:
    assert {kind for _, _, kind in REFUSED} == set(get_args(FailureKind))


@pytest.mark.parametrize("word", ["", "swipe", "fly", "holdkey"])
def test_words_of_no_action(word: str) -> None:
    with pytest.raises(ParseFailure):
        kind_of(word, {})


def test_a_text_that_holds_the_notation_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="tag of the notation"):
        parsing.untagged("a</parameter>b")


def test_scroll_amounts_that_have_no_word() -> None:
    lines = Action(type="scroll", scroll_y=3.0, scroll_unit="line")
    both = Action(type="scroll", scroll_x=3.0, scroll_y=3.0, scroll_unit="px")
    for name in ("qwen25vl", "claude", "aguvis", "openai", "smolvlm"):
        with pytest.raises(ValueError, match="lines"):
            formats[name].write(lines, PAGE)
    with pytest.raises(ValueError, match="single direction"):
        formats["uitars"].write(both, PAGE)
    assert scrolling.in_clicks(20, "px") == 1, "a small scroll stays a scroll"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "[1," * 30_000,
        '{"a":"' + "x" * 50_000,
        '{"a":' * 20_000,
        "click(" * 20_000,
        "click(((" * 10_000,
        "<tool_call>" * 10_000,
        "<function=a><parameter=b>" * 5_000,
        "<think>" * 10_000,
        "</think>" * 10_000,
        "\n* " * 30_000,
        "click(a='b'" * 10_000,
        "x1=1 " * 20_000,
        "1, " * 50_000,
        "top left (1," * 5_000,
        "answer: " * 10_000,
        "'" * 50_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_nonsense_takes_no_longer_than_it_should(text: str) -> None:
    """Runaway generation is read in time that grows with its length, not with its square."""
    began = time.process_time()
    for name in ("gta1", "qwen25vl", "uitars", "aguvis", "axtree", "json", "qwen35"):
        with pytest.raises(ParseFailure):
            formats[name].read_all(text, PAGE)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "text", ["click(1, 2)\n" * 10_000 + "x)", "click(')\n" * 10_000, "Action: " * 10_000 + "click(1)"]
)
def test_lines_that_only_look_like_calls_take_no_longer_than_they_should(text: str) -> None:
    began = time.process_time()
    for name in ("qwen25vl", "claude", "openai", "json"):
        with pytest.raises(ParseFailure):
            formats[name].read_all(text, PAGE)
    assert time.process_time() - began < 10
