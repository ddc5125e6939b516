"""Keys and scroll amounts mean the same in every vocabulary, or are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import key_names, keys, wheel
from cuadata.types import Action


def test_key_name_vocabularies(cases: Path) -> None:
    folder = cases / "recorder" / "B43-key-name-vocabularies"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    rows = json.loads((folder / "keys.json").read_text())["rows"]
    for row, want in zip(rows, expected["canonical"], strict=True):
        assert (row["vocabulary"], row["keys"]) == (want["vocabulary"], want["keys"])
        if want.get("verdict") == "reject":
            with pytest.raises(keys.UnknownKey):
                keys.canonical(row["keys"], row["vocabulary"])
        else:
            assert keys.canonical(row["keys"], row["vocabulary"]) == tuple(want["is"]), row
    for group in expected["equal_groups"]:
        assert len({keys.canonical(rows[i]["keys"], rows[i]["vocabulary"]) for i in group}) == 1


@pytest.mark.parametrize(
    ("vocabulary", "given_keys", "wanted"),
    [
        ("browser", "Control++", ("Control", "+")),
        ("browser", "+", ("+",)),
        ("browser", "Shift+A", ("Shift", "A")),
        ("browser", "A", ("a",)),
        ("browser", "é", ("é",)),
        ("browser", "Meta+Shift+Alt+ControlLeft+Digit1", ("Control", "Alt", "Shift", "Meta", "1")),
        ("browser", "Space", (" ",)),
        ("xdotool", "CTRL+period", ("Control", ".")),
        ("xdotool", "ISO_Left_Tab", ("Tab",)),
        ("xdotool", "KP_Enter", ("Enter",)),
        ("xdotool", "U20AC", ("€",)),
        ("xdotool", "shift+F12", ("Shift", "F12")),
        ("pyautogui", ["CTRL", "Shift", "esc"], ("Control", "Shift", "Escape")),
        ("pyautogui", ["+"], ("+",)),
        ("pyautogui", ["num7"], ("7",)),
        ("pyautogui", ["winleft", "d"], ("Meta", "d")),
        ("any", "CMD+SHIFT+ARROWLEFT", ("Shift", "Meta", "ArrowLeft")),
        ("any", "page_down", ("PageDown",)),
        ("any", "Ctrl+plus", ("Control", "+")),
    ],
)
def test_more_names(vocabulary: keys.Vocabulary, given_keys: Any, wanted: tuple[str, ...]) -> None:
    assert keys.canonical(given_keys, vocabulary) == wanted


@pytest.mark.parametrize(
    ("vocabulary", "given_keys"),
    [
        ("browser", "ctrl+a"),
        ("browser", ""),
        ("browser", "Control+"),
        ("browser", []),
        ("xdotool", "ctrl+."),
        ("xdotool", "escape"),
        ("xdotool", "UD800"),
        ("pyautogui", ["cmd", "c"]),
        ("pyautogui", ["é"]),
        ("any", "hyperdrive"),
    ],
)
def test_names_of_other_vocabularies_are_refused(vocabulary: keys.Vocabulary, given_keys: Any) -> None:
    with pytest.raises(keys.UnknownKey):
        keys.canonical(given_keys, vocabulary)


@pytest.mark.parametrize("vocabulary", ["xdotool", "pyautogui"])
def test_a_spelling_means_the_key_that_it_was_made_from(vocabulary: keys.Vocabulary) -> None:
    table = key_names.TO_XDOTOOL if vocabulary == "xdotool" else key_names.TO_PYAUTOGUI
    for key in [*table, *"abz019"]:
        (name,) = keys.spell([key], vocabulary)
        assert keys.canonical([name], vocabulary) == (key,), name


@given(st.lists(st.sampled_from([*keys.MODIFIERS, "a", "Enter", "F5", " ", "+"]), min_size=1, max_size=5, unique=True))
def test_canonical_keys_stay_as_they_are(chord: list[str]) -> None:
    once = keys.canonical(chord, "browser")
    assert keys.canonical(once, "browser") == once
    for vocabulary in ("xdotool", "pyautogui"):
        assert keys.canonical(keys.spell(once, vocabulary), vocabulary) == once


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
