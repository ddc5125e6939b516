"""What was heard becomes one gesture an action: clicks and their doubles, drags, typing with corrections, keys that act."""

from __future__ import annotations

from typing import Any

import pytest

from cuadata.people.gestures import Gestures
from cuadata.people.heard import Gesture, Heard
from cuadata.types import Point

FIELD: dict[str, Any] = {"editable": True, "multiline": False, "select": False, "secret": None, "modifiers": []}
PLAIN: dict[str, Any] = {**FIELD, "editable": False}


class Person:
    """Says what a document would say, a tenth of a second apart."""

    def __init__(self) -> None:
        self.gestures = Gestures()
        self.done: list[Gesture] = []
        self.time = 0.0

    def hears(
        self, kind: str, *, x: float = 0.0, y: float = 0.0, place: Any = "a", after: float = 0.1, **data: Any
    ) -> Person:
        self.time += after
        held = {**PLAIN, **data}
        heard = Heard(kind=kind, time=self.time, data=held, point=Point(x, y), place=(0, "f", place))
        self.done += self.gestures.feed(heard)
        return self

    def key(self, key: str, *modifiers: str, text: str | None = "", how: str = "insertText", **data: Any) -> Person:
        """A key, and the text that the field took of it ("" for the key's own, None for none)."""
        told = {**FIELD, **data, "modifiers": list(modifiers)}
        types = len(key) == 1 and not set(modifiers) & {"Control", "Meta", "Alt"}
        self.hears("key", key=key, types=types, repeat=False, **told)
        if text is not None and (types or text):
            self.hears("text", how=how, **{**told, "data": text or key})
        return self

    def click(
        self, x: float = 10.0, *, button: int = 0, count: int = 1, to: float | None = None, **data: Any
    ) -> Person:
        self.hears("down", x=x, button=button, **data)
        if count > 1:
            self.hears("count", count=count, after=0.0)
        return self.hears("up", x=x if to is None else to, button=button, after=0.05)

    def told(self) -> list[tuple[str, str]]:
        self.done += self.gestures.close()
        return [(g.type, "".join(g.typed) or g.text or "+".join(g.keys)) for g in self.done]


def types(person: Person) -> list[str]:
    return [kind for kind, _ in person.told()]


def test_a_press_and_a_release_are_a_click() -> None:
    assert types(Person().click().click(button=2).click(50)) == ["click", "right_click", "click"]


def test_a_shaking_hand_clicks_and_four_px_are_a_drag() -> None:
    assert types(Person().click(10, to=13).click(10, to=14)) == ["click", "drag"]


def test_two_clicks_are_a_double_click_only_where_the_system_counts_two() -> None:
    assert types(Person().click().click(count=2)) == ["double_click"]
    assert types(Person().click().click()) == ["click", "click"]
    assert types(Person().click().click(count=2).click().click(count=2)) == ["double_click", "double_click"]


def test_a_release_that_never_comes_is_a_click_once() -> None:
    person = Person().hears("down", x=1, button=0)
    assert types(person) == ["click"]
    assert types(person.hears("up", x=1, button=0)) == ["click"]


def test_the_browsers_own_dragging_is_one_drag() -> None:
    person = Person().hears("down", x=1, button=0).hears("dragged").hears("cancel", x=9).hears("dropped", x=90)
    assert types(person) == ["drag"]


def test_typing_with_a_correction_is_what_stands_there() -> None:
    person = Person().key("L").key("e").key("x").key("Backspace", text=None).key("e").key("Enter", text=None)
    assert person.told() == [("type", "Lee"), ("press", "Enter")]


def test_a_key_that_deletes_what_stood_there_before_acts() -> None:
    assert Person().key("Backspace", text=None).key("a").told() == [("press", "Backspace"), ("type", "a")]


def test_an_editor_that_swallows_its_keys_is_typed_into() -> None:
    assert Person().key("h", text=None).key("i", text=None).told() == [("type", "hi")]


def test_typing_goes_on_in_one_field_only() -> None:
    person = Person().key("a").key("b").key("Tab", text=None).key("c")
    person.hears("key", place="b", key="d", types=True, repeat=False, **FIELD)
    assert person.told() == [("type", "ab"), ("press", "Tab"), ("type", "c"), ("type", "d")]


@pytest.mark.parametrize(
    ("text", "told"), [("\n", [("type", "a\nb")]), (None, [("type", "a"), ("press", "Enter"), ("type", "b")])]
)
def test_enter_is_text_only_where_the_field_took_it(text: str | None, told: list[tuple[str, str]]) -> None:
    person = Person().key("a").key("Enter", text=text, how="insertLineBreak", multiline=True).key("b")
    assert person.told() == told


def test_pasting_is_typing_of_what_was_pasted() -> None:
    assert Person().key("v", "Control", text="long text", how="insertFromPaste").told() == [("type", "long text")]
    assert Person().key("v", "Control", text=None).told() == [("press", "Control+v")]


def test_composed_text_stands_once() -> None:
    person = Person().hears("entering", **FIELD)
    for stage in ("n", "ni", "\u4f60"):
        person.hears("text", how="insertCompositionText", **{**FIELD, "data": stage})
    assert person.key("a").told() == [("type", "\u4f60a")]


def test_a_list_that_opens_is_a_choice_only() -> None:
    listed: dict[str, Any] = {**PLAIN, "select": True}
    person = Person().click(**listed).hears("choose", value="cat", label="Cat", **listed)
    assert person.told() == [("select", "Cat")]
    assert types(Person().click(**listed).click(90, place="b")) == ["click", "click"]


def test_keys_in_a_list_are_one_choice() -> None:
    listed: dict[str, Any] = {**PLAIN, "select": True}
    person = Person()
    for label in ("Dog", "Cat"):
        person.hears("key", key="ArrowDown", types=False, repeat=False, **listed)
        person.hears("choose", value=label.lower(), label=label, **listed)
    assert person.told() == [("select", "Cat")]


def test_a_file_chooser_is_no_click() -> None:
    assert types(Person().click().hears("files", files=["a.txt"])) == ["upload"]


def test_a_turn_of_the_wheel_is_one_scroll_each_way() -> None:
    person = Person()
    for down in (100, 100, 100, -100):
        person.hears("wheel", right=0, down=down, mode=0)
    person.hears("wheel", right=0, down=-3, mode=1)
    person.told()
    assert [(g.type, g.down, g.unit) for g in person.done] == [
        ("scroll", 300, "px"),
        ("scroll", -100, "px"),
        ("scroll", -3, "line"),
    ]


def test_a_slider_under_the_pointer_is_a_drag_and_a_picked_date_is_entered() -> None:
    slid = Person().hears("down", x=1, button=0).hears("set", value="40", type="range").hears("up", x=50, button=0)
    assert types(slid) == ["drag"]
    picked = Person().click().hears("set", value="2026-11-29", type="date")
    assert picked.told() == [("click", ""), ("type", "2026-11-29")]


def test_shortcuts_of_a_page_are_keys() -> None:
    person = Person()
    person.hears("key", key="j", types=True, repeat=False).hears(
        "key", **{**PLAIN, "key": "?", "types": True, "modifiers": ["Shift"]}
    )
    assert person.told() == [("press", "j"), ("press", "?")]


def test_a_commands_letter_is_the_same_with_shift() -> None:
    command = {**PLAIN, "key": "K", "types": False, "modifiers": ["Control", "Shift"]}
    assert Person().hears("key", **command).told() == [("press", "Control+Shift+k")]


def test_what_was_composed_and_given_up_was_not_typed() -> None:
    for how, data in (("deleteCompositionText", None), ("insertCompositionText", None)):
        person = Person().key("a", place="i")
        for text in ("x", "xy"):
            person.hears("text", place="i", how="insertCompositionText", **{**FIELD, "data": text})
        person.hears("text", place="i", how=how, **{**FIELD, "data": data}).key("b", place="i")
        assert person.told() == [("type", "ab")]


def test_a_key_whose_text_the_page_leads_to_a_field_is_one_action() -> None:
    person = Person().hears("key", place="grid", key="a", types=True)
    pressed = person.time
    person.hears("entering", place="i", after=0.01, **FIELD).hears(
        "text", place="i", after=0.0, how="insertText", **{**FIELD, "data": "a"}
    )
    person.key("b", place="i")
    assert person.told() == [("type", "ab")]
    assert person.done[0].begin.time == pressed, "what stood is what stood before the key"
    assert person.done[0].begin.place[2] == "i"


def test_text_that_was_announced_and_refused_begins_nothing_later() -> None:
    person = Person().click(place="n").hears("entering", place="n", **FIELD)
    person.key("7", place="n")
    typed = next(g for g in [*person.done, *person.gestures.close()] if g.type == "type")
    assert typed.begin.kind == "key"


def test_further_letters_of_an_options_name_are_no_keys_of_their_own() -> None:
    chosen = {**PLAIN, "select": True, "value": "c", "label": "Cherry"}
    letters = Person().hears("key", place="s", key="c", types=True, select=True).hears("choose", place="s", **chosen)
    letters.hears("key", place="s", key="h", types=True, select=True)
    assert letters.told() == [("select", "Cherry")]
    tab = (
        Person().hears("choose", place="s", **chosen).hears("key", place="s", key="ArrowDown", types=False, select=True)
    )
    tab.hears("key", place="s", key="Tab", types=False, select=True)
    assert tab.told() == [("select", "Cherry"), ("press", "ArrowDown"), ("press", "Tab")]


def test_a_press_that_ends_in_another_document_is_measured_on_the_screen() -> None:
    def pressed(right: float, kind: str = "up") -> Gesture:
        gestures = Gestures()
        down = Heard(
            kind="down",
            time=1.0,
            data={**PLAIN, "button": 0},
            point=Point(40, 15),
            screen=Point(90, 55),
            place=(0, "f"),
        )
        up = Heard(
            kind=kind,
            time=1.1,
            data={**PLAIN, "button": 0},
            point=Point(90 + right, 55),
            screen=Point(90 + right, 55),
            place=(0, "top" if kind == "up" else "f"),
        )
        assert gestures.feed(down) == gestures.feed(up) == []
        return gestures.close()[0]

    assert pressed(0).type == "click", "the frame went away under the pointer, which stood still"
    assert (pressed(100).type, pressed(100).end) == ("drag", Point(140, 15))
    assert pressed(100, "dropped").end == Point(190, 55), "a drop tells a place in the view of its process"


def test_a_button_that_was_pressed_in_a_page_that_is_gone_is_released() -> None:
    person = Person().hears("down", button=0)
    assert person.gestures.busy
    assert person.gestures.left(1) == [] and person.gestures.busy
    person.gestures.left(0)
    assert not person.gestures.busy
    assert person.told() == [("click", "")]


def test_the_cross_of_a_search_field_is_a_click_and_a_picked_date_is_typed() -> None:
    person = Person().click(place="s").hears("set", place="s", type="search", value="")
    assert person.told() == [("click", "")]
    person = Person().click(place="d").hears("set", place="d", type="date", value="2026-05-17")
    assert person.told() == [("click", ""), ("type", "2026-05-17")]
