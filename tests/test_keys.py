"""Keys and scroll amounts mean the same in every vocabulary, or are refused."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata.speaking import key_names, keys, wheel
from cuadata.types import Action


def test_key_name_vocabularies(cases: Path) -> None:
    folder = cases / "recorder" / "B43-key-name-vocabularies"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    rows = json.loads((folder / "keys.json").read_text())["rows"]
    for row, want in zip(rows, expected["canonical"], strict=True):
        assert (row["vocabulary"], row["keys"]) == (want["vocabulary"], want["keys"])
        if want.get("verdict") == "reject":
            with pytest.raises(keys.UnknownKey):
                keys.read(row["keys"], row["vocabulary"])
        else:
            assert keys.read(row["keys"], row["vocabulary"]) == tuple(want["is"]), row
    for group in expected["equal_groups"]:
        assert len({keys.read(rows[i]["keys"], rows[i]["vocabulary"]) for i in group}) == 1


@pytest.mark.parametrize(
    ("vocabulary", "given_keys", "wanted"),
    [
        ("browser", "Control++", ("Control", "+")),
        ("browser", "+", ("+",)),
        ("browser", "Shift+A", ("Shift", "A")),
        ("browser", "Control+Shift+KeyK", ("Control", "Shift", "k")),
        ("browser", "Control+Shift+K", ("Control", "Shift", "k")),
        ("browser", "A", ("a",)),
        ("browser", "é", ("é",)),
        ("browser", "Meta+Shift+Alt+ControlLeft+Digit1", ("Control", "Alt", "Shift", "Meta", "1")),
        ("browser", "Space", (" ",)),
        ("xdotool", "CTRL+period", ("Control", ".")),
        ("xdotool", "ISO_Left_Tab", ("Tab",)),
        ("xdotool", "KP_Enter", ("Enter",)),
        ("browser", "Spacebar", (" ",)),
        ("browser", "Control+Left", ("Control", "ArrowLeft")),
        ("browser", "OS", ("Meta",)),
        ("browser", "Multiply", ("*",)),
        ("xdotool", "eacute", ("é",)),
        ("xdotool", "ctrl+adiaeresis", ("Control", "ä")),
        ("xdotool", "shift+Udiaeresis", ("Shift", "Ü")),
        ("xdotool", "ssharp", ("ß",)),
        ("xdotool", "scaron", ("š",)),
        ("xdotool", "questiondown", ("¿",)),
        ("xdotool", "EuroSign", ("€",)),
        ("xdotool", "U20AC", ("€",)),
        ("xdotool", "shift+F12", ("Shift", "F12")),
        ("pyautogui", ["CTRL", "Shift", "esc"], ("Control", "Shift", "Escape")),
        ("pyautogui", ["+"], ("+",)),
        ("pyautogui", ["num7"], ("7",)),
        ("pyautogui", ["winleft", "d"], ("Meta", "d")),
        ("openai", ["CTRL", "SHIFT", "K"], ("Control", "Shift", "k")),
        ("openai", ["CMD", "ARROWLEFT"], ("Meta", "ArrowLeft")),
    ],
)
def test_more_names(vocabulary: keys.Vocabulary, given_keys: Any, wanted: tuple[str, ...]) -> None:
    assert keys.read(given_keys, vocabulary) == wanted


@pytest.mark.parametrize(
    ("vocabulary", "given_keys"),
    [
        ("browser", "ctrl+a"),
        ("browser", ""),
        ("browser", "Control+"),
        ("browser", []),
        ("xdotool", "ctrl+."),
        ("xdotool", "escape"),
        ("xdotool", "Spacebar"),
        ("xdotool", "qacute"),
        ("xdotool", "acutee"),
        ("browser", "eacute"),
        ("xdotool", "UD800"),
        ("pyautogui", ["cmd", "c"]),
        ("pyautogui", ["é"]),
        ("openai", ["ctrl", "warp"]),
    ],
)
def test_names_of_other_vocabularies_are_refused(vocabulary: keys.Vocabulary, given_keys: Any) -> None:
    with pytest.raises(keys.UnknownKey):
        keys.read(given_keys, vocabulary)


@pytest.mark.parametrize("vocabulary", key_names.WRITTEN)
def test_a_name_means_the_key_that_it_was_written_for(vocabulary: keys.Vocabulary) -> None:
    for key in [*key_names.WRITTEN[vocabulary], *"abz019"]:
        (name,) = keys.write([key], vocabulary)
        assert keys.read([name], vocabulary) == (key,), name
        assert keys.guess([name]) == (key,), name


def test_a_key_without_a_name_is_refused_by_name() -> None:
    with pytest.raises(keys.UnknownKey, match="'Dead'"):
        keys.write(["Dead"], "pyautogui")


CHORDS = st.tuples(
    st.lists(st.sampled_from(keys.MODIFIERS), unique=True),
    st.sampled_from(["a", "z", "7", "/", "+", "-", "Enter", "Escape", "ArrowLeft", "PageDown", " ", "F4", "Delete"]),
).map(lambda pair: (*[m for m in keys.MODIFIERS if m in pair[0]], pair[1]))


@given(CHORDS, st.sampled_from(typing.get_args(keys.Vocabulary)))
def test_keys_go_there_and_back(chord: tuple[str, ...], vocabulary: keys.Vocabulary) -> None:
    names = keys.write(chord, vocabulary)
    assert keys.read(names, vocabulary) == chord
    assert keys.read("+".join(names), vocabulary) == chord
    if vocabulary != "openai" or "Shift" not in chord:  # a model's capital after Shift is a capital
        assert keys.guess(names) == chord


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ctrl c", ("Control", "c")),
        ("Ctrl+Shift+T", ("Control", "Shift", "T")),
        (["ctrl", "v"], ("Control", "v")),
        (["ctrl+v"], ("Control", "v")),
        ("CMD+SHIFT+ARROW_LEFT", ("Shift", "Meta", "ArrowLeft")),
        ("arrowdown", ("ArrowDown",)),
        ("Page_Down", ("PageDown",)),
        ("space", (" ",)),
        (" ", (" ",)),
        ("+", ("+",)),
        ("ctrl++", ("Control", "+")),
        ("Ctrl+plus", ("Control", "+")),
        ("'enter'", ("Enter",)),
        ("Spacebar", (" ",)),
        ("space bar", (" ",)),
        ("eacute", ("é",)),
        ("Ctrl-C", ("Control", "c")),
        ("ctrl-shift-t", ("Control", "Shift", "t")),
        ("ctrl page down", ("Control", "PageDown")),
        ("shift left", ("Shift", "ArrowLeft")),
        ("left arrow", ("ArrowLeft",)),
        ("<Alt>F4", ("Alt", "F4")),
        ("{ENTER}", ("Enter",)),
        ("Key.enter", ("Enter",)),
        ("⌘+c", ("Meta", "c")),
        ("-", ("-",)),
        ("ctrl+-", ("Control", "-")),
        ("Ctrl--", ("Control", "-")),
        ("page-down", ("PageDown",)),
        ("Super+Shift+S", ("Shift", "Meta", "S")),
        ("f5", ("F5",)),
    ],
)
def test_what_models_call_keys(said: str | list[str], meant: tuple[str, ...]) -> None:
    assert keys.guess(said) == meant


@pytest.mark.parametrize("said", ["hyperdrive", "", [], ["ctrl", "warp"]])
def test_what_is_no_key(said: str | list[str]) -> None:
    with pytest.raises(keys.UnknownKey, match="key"):
        keys.guess(said)


def read_scroll(row: dict[str, Any]) -> Action:
    """A row of the case as an action."""
    if row["source"] == "browser_wheel":
        return wheel.from_browser(row.get("deltaX", 0), row["deltaY"], row["deltaMode"])
    if row["source"] == "pyautogui":
        return wheel.from_pyautogui(row["clicks"], px_per_click=row.get("px_per_click"))
    if row["source"] == "xdotool":
        return wheel.from_xdotool(row["button"], row["count"])
    return wheel.from_keys(row["keys"])


def test_scroll_units(cases: Path) -> None:
    folder = cases / "recorder" / "B44-scroll-units"
    wanted = json.loads((folder / "expected.json").read_text())["expect"]["canonical"]
    units = {"px": "px", "lines": "line", "clicks": "click"}
    for row, want in zip(json.loads((folder / "scrolls.json").read_text()), wanted, strict=True):
        action = read_scroll(row)
        if want.get("not_a_scroll"):
            assert (action.type, list(action.keys)) == ("press", want["keys"])
        else:
            assert (action.type, action.scroll_y, action.scroll_unit) == ("scroll", want["dy"], units[want["unit"]])


def test_sideways_scrolls() -> None:
    assert wheel.from_xdotool(6, 2).scroll_x == -2
    assert wheel.from_xdotool(7).scroll_x == 1
    assert wheel.from_pyautogui(3, horizontal=True).scroll_x == 3
    assert wheel.from_browser(-40, 0).scroll_x == -40


def test_scrolls_that_have_no_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="pages"):
        wheel.from_browser(0, 1, 2)
    with pytest.raises(ValueError, match="no wheel"):
        wheel.from_xdotool(1)
    with pytest.raises(ValueError, match="above 0"):
        wheel.from_pyautogui(1, px_per_click=0)
    with pytest.raises(ValueError, match="no scroll amount"):
        wheel.from_browser(0, float("nan"))
