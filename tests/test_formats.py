"""Every format goes there and back within its grid's step, says what it cannot say, and shows a prompt the same way."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import geometry
from cuadata.contracts import Format, ParseFailure, Prompt, View
from cuadata.learning import chat
from cuadata.registry import formats
from cuadata.rows import ContextLine
from cuadata.speaking import scrolling
from cuadata.speaking.grid import Grid
from cuadata.speaking.interpret import Habits
from cuadata.types import Action, ActionType, BBox, Element, Image, Point, Size, States

NAMES = formats.names()
RATIOS = (1.0, 1.25, 2.0)
#: Characters that break naive writers and readers: quotes, escapes, brackets, tags, newlines, other scripts.
TEXTS = st.text(st.sampled_from(list("ab1 .,:;'\"\\(){}[]<>/=\n|Größe→日")), min_size=1, max_size=30)


def element(number: int, box: BBox, **fields: Any) -> Element:
    return Element(id=number, role="button", name=f"b{number}", bbox=box, interactive=True, seen=1.0, **fields)


def by_id(form: Format) -> bool:
    """Whether a family says where by element ids."""
    return getattr(form, "habits", Habits()).where == "id"


@st.composite
def views(draw: st.DrawFn) -> View:
    """A viewport at one of the pixel ratios, with a row of elements in it."""
    wide, tall, ratio = draw(st.integers(320, 2560)), draw(st.integers(240, 1600)), draw(st.sampled_from(RATIOS))
    boxes = [BBox(20 + 60 * at, 30, 40, 20) for at in range(4)]
    return View(
        image=Size(round(wide * ratio), round(tall * ratio)),
        viewport=Size(wide, tall),
        elements=tuple(element(11 + 7 * at, box) for at, box in enumerate(boxes)),
    )


@st.composite
def actions(draw: st.DrawFn, view: View) -> Action:
    """Any action on the view, on one of its elements where it has a place."""
    kind = draw(st.sampled_from(get_args(ActionType)))
    fields: dict[str, Any] = {}
    if kind in ("click", "double_click", "right_click", "hover", "drag", "select", "upload"):
        fields["point"] = draw(points(view))
    if kind == "drag":
        fields["end"] = draw(points(view))
    if kind in ("type", "select", "reason"):
        fields["text"] = draw(TEXTS)
    if kind == "press":
        keys = st.sampled_from(
            [("Enter",), ("Control", "a"), ("ArrowDown",), (" ",), ("Shift", "Tab"), ("7",), ("F5",)]
        )
        fields["keys"] = draw(keys)
    if kind == "scroll":
        along = draw(st.sampled_from(["scroll_x", "scroll_y"]))
        amount = float(draw(st.integers(1, 30)) * 100 * draw(st.sampled_from([-1, 1])))
        fields |= {"scroll_x": 0.0, "scroll_y": 0.0, along: amount, "scroll_unit": "px"}
        fields["point"] = draw(st.none() | points(view))
    return Action(type=kind, **fields, **_plain(draw, kind))


def _plain(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "upload": {"files": ("a b.txt", "c.png")},
        "navigate": {"url": "https://example.org/a?b=(c)&d='e'"},
        "wait": {"seconds": draw(st.sampled_from([0.5, 2.0, 30.0]))},
        "switch_page": {"page": draw(st.integers(0, 9))},
        "dialog": {"accept": draw(st.booleans()), "text": draw(st.sampled_from([None, "yes"]))},
        "done": {"text": draw(st.sampled_from([None, "42"]))},
    }
    return dict(made.get(kind, {}))


def points(view: View) -> st.SearchStrategy[Point]:
    """Points inside one of the view's elements, never on an edge that belongs to nothing."""
    inside = [e.bbox for e in view.elements if e.bbox is not None]
    shares = st.tuples(st.sampled_from(inside), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
    return shares.map(lambda s: Point(s[0].x + s[1] * s[0].width, s[0].y + s[2] * s[0].height))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_what_a_family_writes_it_reads(name: str, data: st.DataObject) -> None:
    form, view = formats[name], data.draw(views())
    action = data.draw(actions(view))
    try:
        text = form.write(action, view)
    except ValueError as refusal:
        assert str(refusal)
        return
    read = form.read(text, view)
    assert form.read_all(text, view) == (read,), "one action, whatever calls it takes"
    assert read.type == action.type
    _same_place(form, view, action, read)
    _same_words(name, action, read)


def _same_place(form: Format, view: View, action: Action, read: Action) -> None:
    across, down = _steps(form, view)
    for said, meant in ((read.point, action.point), (read.end, action.end)):
        if said is None or meant is None:
            continue
        if by_id(form):
            box = next(e.bbox for e in view.elements if e.bbox is not None and geometry.contains(e.bbox, meant))
            assert geometry.contains(box, said)
        elif action.type != "scroll" or action.point is not None:
            assert abs(said.x - meant.x) <= max(1, across)
            assert abs(said.y - meant.y) <= max(1, down)
    if action.type in ("click", "double_click", "right_click", "drag"):
        assert read.point is not None


def _steps(form: Format, view: View) -> tuple[float, float]:
    grid: Grid = form.grid(view)  # type: ignore[attr-defined]
    return grid.step


def _same_words(name: str, action: Action, read: Action) -> None:
    for field in ("keys", "files", "url", "page", "accept"):
        assert getattr(read, field) == getattr(action, field)
    if action.type != "infeasible":  # whose cause most families do not say
        assert read.text == action.text
    unsaid = getattr(formats[name], "habits", Habits())
    if action.type == "wait":
        assert read.seconds in (action.seconds, unsaid.wait), "some waits have one length"
    if action.type == "scroll":
        assert _way(read) == _way(action)
        only_the_way = read.scroll_unit == "click" and abs(read.scroll_x or read.scroll_y or 0) == unsaid.scroll
        assert only_the_way or _px(read) == pytest.approx(_px(action), abs=50)


def _way(action: Action) -> tuple[float, float]:
    return math.copysign(bool(action.scroll_x), action.scroll_x or 0), math.copysign(
        bool(action.scroll_y), action.scroll_y or 0
    )


def _px(action: Action) -> float:
    unit = action.scroll_unit or "px"
    return scrolling.in_px(abs(action.scroll_x or 0.0) + abs(action.scroll_y or 0.0), unit)


@pytest.mark.parametrize("name", NAMES)
def test_every_format_is_one(name: str) -> None:
    form = formats[name]
    assert isinstance(form, Format)
    assert form.name == name
    assert (form.__doc__ or "").strip(), "`cuadata list formats` shows the first line"


def test_the_docs_list_formats_that_there_are() -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "formats.md").read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert set(listed) <= set(NAMES), "the page names formats that there are not"
    assert len(listed) >= 13


@pytest.mark.parametrize("name", NAMES)
def test_what_a_family_cannot_say_is_named(name: str) -> None:
    form, view = formats[name], View(image=Size(640, 480), viewport=Size(640, 480))
    refused = []
    for kind in get_args(ActionType):
        try:
            form.write(Action(type=kind), view)
        except ValueError as refusal:
            refused.append(kind)
            assert str(refusal)
            if kind not in form.says:  # type: ignore[attr-defined]
                assert f"{name} has no word for '{kind}'" in str(refusal)
    assert {"click", "drag", "type", "press", "scroll", "navigate"} <= set(refused), "these mean nothing without a part"


@pytest.mark.parametrize("name", NAMES)
def test_a_point_off_the_page_is_not_written(name: str) -> None:
    form, view = formats[name], View(image=Size(640, 480), viewport=Size(640, 480))
    for point in (Point(-1, 5), Point(5, 481), Point(math.nan, 3)):
        with pytest.raises(ValueError, match=r"outside the viewport|means no element"):
            form.write(Action(type="click", point=point), view)


def _prompt(picture: Image | None, **fields: Any) -> Prompt:
    boxes = (BBox(10, 10, 20, 20), BBox(50, 10, 20, 20))
    view = View(
        image=Size(1280, 720),
        viewport=Size(1280, 720),
        elements=(element(18, boxes[0], states=States(checked="true")), element(21, boxes[1])),
    )
    return Prompt(instruction="Pick Größe → 'M'", view=view, image=picture, **fields)


PICTURE = Image(sha256="", width=1280, height=720, format="png", phash="")
LINES = (
    ContextLine("no_effect", "No effect: click at (3, 4) changed nothing."),
    ContextLine("subgoal", "Close the banner."),
)


@pytest.mark.parametrize("name", NAMES)
def test_prompts_hold_what_they_are_given_and_nothing_else(name: str) -> None:
    form = formats[name]
    bare = form.prompt(_prompt(PICTURE))
    full = form.prompt(_prompt(PICTURE, history=("click link 'A'", "wait 1 s"), context=LINES))
    assert form.prompt(_prompt(PICTURE)) == bare, "the same prompt is the same messages"
    text, more = _text(bare), _text(full)
    assert "Pick Größe → 'M'" in text
    for line in ("click link 'A'", "wait 1 s", LINES[0].text, LINES[1].text):
        assert line not in text
        assert more.count(line) == 1
    left = more
    for line in ("- click link 'A'", "- wait 1 s", LINES[0].text, f"Subgoal: {LINES[1].text}"):
        left = left.replace(line, "")
    assert left.replace("Previous actions:", "Previous actions: none").split() == text.split()


@pytest.mark.parametrize("name", NAMES)
def test_a_thought_is_told_to_families_that_can_say_one(name: str) -> None:
    form = formats[name]
    asked = _text(form.prompt(_prompt(PICTURE)))
    told = _text(form.prompt(_prompt(PICTURE, history=("think: 'the banner first'",))))
    if "reason" in form.says:  # type: ignore[attr-defined]
        assert told.count("- think: 'the banner first'") == 1
    else:
        assert told == asked


@pytest.mark.parametrize("name", NAMES)
def test_prompts_have_as_many_marks_as_pictures(name: str) -> None:
    messages = formats[name].prompt(_prompt(PICTURE))
    text_alone = all(isinstance(message["content"], str) for message in messages)
    assert chat.check_pictures(messages, 0 if text_alone else 1).keep
    assert chat.check_pictures(formats[name].prompt(_prompt(None)), 0).keep
    assert all("image" not in part for m in messages if isinstance(m["content"], list) for part in m["content"])


def _text(messages: list[dict[str, Any]]) -> str:
    parts = []
    for message in messages:
        content = message["content"]
        parts.append(content if isinstance(content, str) else "".join(p.get("text", "") for p in content))
    return "\n".join(parts)


def test_the_page_as_text() -> None:
    text = _text(formats["axtree"].prompt(_prompt(None)))
    assert "[18] button 'b18', checked\n[21] button 'b21'" in text


def test_a_system_text_can_be_replaced() -> None:
    made = type(formats["qwen25vl"])("A text of the checkpoint's own.")  # type: ignore[call-arg]
    assert made.prompt(_prompt(PICTURE))[0]["content"] == [{"type": "text", "text": "A text of the checkpoint's own."}]


#: A click on the middle of a picture of 1280x720 px, as each family says it.
GRAMMAR = {
    "qwen25vl": '<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [644, 364]}}\n'
    "</tool_call>",
    "qwen3vl": '<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [500, 500]}}\n'
    "</tool_call>",
    "evocua": "Action: Click button 'b1'.\n<tool_call>\n"
    '{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [500, 500]}}\n</tool_call>',
    "evocua_s1": "## Action:\nClick button 'b1'.\n## Code:\n```python\npyautogui.click(x=644, y=364)\n```",
    "uitars": "Action: click(start_box='<|box_start|>(500,500)<|box_end|>')",
    "uitars15": "Action: click(start_box='(644,364)')",
    "gta1": "(640,360)",
    "smolvlm": "<code>\nclick(x=0.5, y=0.5)\n</code>",
    "aguvis": "pyautogui.click(x=0.5, y=0.5)",
    "claude": '{"type": "tool_use", "name": "computer", "input": {"action": "left_click", "coordinate": [640, 360]}}',
    "openai": '{"type": "computer_call", "action": {"type": "click", "button": "left", "x": 640, "y": 360}}',
    "json": '{"action": "click", "point": [640, 360]}',
    "axtree": "click(1)",
    "qwen35": "<tool_call>\n<function=click>\n<parameter=target>\n1\n</parameter>\n</function>\n</tool_call>",
}


@pytest.mark.parametrize("name", GRAMMAR)
def test_the_grammar_of_each_family(name: str) -> None:
    one = element(1, BBox(600, 340, 80, 40))
    view = View(image=Size(1280, 720), viewport=Size(1280, 720), elements=(one,))
    written = formats[name].write(Action(type="click", point=Point(640, 360), element=1), view)
    assert written == GRAMMAR[name]


@pytest.mark.parametrize("name", [n for n in NAMES if not by_id(formats[n])])
@given(x=st.integers(0, 999), y=st.integers(0, 999))
def test_the_frame_of_a_log_overrides_the_familys(name: str, x: int, y: int) -> None:
    form = formats[name]
    view = View(image=Size(1000, 1000), viewport=Size(500, 500), frame="px")
    text = form.write(Action(type="click", point=Point(x / 2, y / 2)), view)
    assert form.read(text, view).point == Point(x / 2, y / 2)
    assert f"{x}" in text and f"{y}" in text


def test_bounds_of_the_processor_move_the_resized_frame() -> None:
    small = View(image=Size(1280, 720), viewport=Size(1280, 720), max_pixels=256 * 28 * 28)
    text = formats["qwen25vl"].write(Action(type="click", point=Point(1280 / 2, 720 / 2)), small)
    tall, wide = geometry.smart_resize(720, 1280, max_pixels=256 * 28 * 28)
    assert f"[{wide // 2}, {tall // 2}]" in text


def test_case_thousandths(cases: Path) -> None:
    folder = cases / "training" / "B81-thousandths"
    rows = json.loads((folder / "rows.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    form = formats["qwen3vl"]
    for row, want in zip(rows, expected["to_thousandths"], strict=True):
        picture = Size(*row["image_size"])
        text = form.write(Action(type="click", point=Point(*row["point_px"])), View(image=picture, viewport=picture))
        said = json.loads(text.split("\n")[1])["arguments"]["coordinate"]
        assert said == pytest.approx(want, abs=expected["tolerance_thousandths"])
    for row in expected["from_thousandths"]:
        picture = Size(*row["image_size"])
        call = {"name": "computer_use", "arguments": {"action": "left_click", "coordinate": row["value"]}}
        point = form.read(f"<tool_call>{json.dumps(call)}</tool_call>", View(image=picture, viewport=picture)).point
        assert point is not None
        assert (point.x, point.y) == pytest.approx(row["px"], abs=1.0)


def test_case_boxes_in_resized_pixels(cases: Path) -> None:
    folder = cases / "training" / "B80-boxes-in-resized-pixels"
    held = json.loads((folder / "rows.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]["rows"]
    bounds = {name: held["processor"][name] for name in ("min_pixels", "max_pixels")}
    for row, want in zip(held["rows"], expected, strict=True):
        picture = Size(*row["image_size"])
        view = View(image=picture, viewport=picture, **bounds)
        grid: Grid = formats["qwen25vl"].grid(view)  # type: ignore[attr-defined]
        left, top, right, bottom = row["bbox_xyxy"]
        box = BBox(left, top, right - left, bottom - top)
        assert list(grid.extent) == want["resized"]
        written = grid.write_box(box)
        assert written == pytest.approx(want["bbox_xyxy"], abs=0.51)
        back = grid.read_box(*written)
        half = 0.5 * max(picture.width / grid.extent[0], picture.height / grid.extent[1])
        assert (back.x, back.y, back.right, back.bottom) == pytest.approx((left, top, right, bottom), abs=half + 0.01)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_no_text_breaks_a_reader(name: str, data: st.DataObject) -> None:
    """Whatever a model says is an action inside the viewport or a ParseFailure, never another error."""
    form, view = formats[name], data.draw(views())
    pieces = st.sampled_from([
        GRAMMAR.get(name, GRAMMAR["json"]), "<tool_call>", "</tool_call>", "{", "}", '"action": ', "[1, 2]", "(3,", "click(", ")", "\\", "'",
        "```", "-5", "1e999", "<think>", "</think>", "pyautogui.press(keys=[1])", '{"action": "scroll"}', "null", "=",
        '{"name": "computer_use", "arguments": 3}', "type(content=", "<function=click>", "<parameter=target>", "\n",
    ])  # fmt: skip
    text = "".join(data.draw(st.lists(pieces | st.text(max_size=8), max_size=8)))
    try:
        found = form.read_all(text, view)
    except ParseFailure as failure:
        assert str(failure)
        assert failure.kind
        return
    for action in found:
        for point in (action.point, action.end):
            assert point is None or (0 <= point.x < view.viewport.width and 0 <= point.y < view.viewport.height)
