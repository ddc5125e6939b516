"""Key names of the vocabularies mean the same keys, and go there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import keys
from cuadata.keys import Vocabulary

CHORDS = st.tuples(
    st.lists(st.sampled_from(keys.MODIFIERS), unique=True),
    st.sampled_from(["a", "z", "7", "/", "+", "-", "Enter", "Escape", "ArrowLeft", "PageDown", " ", "F4", "Delete"]),
).map(lambda pair: (*[m for m in keys.MODIFIERS if m in pair[0]], pair[1]))


def test_case_key_names(cases: Path) -> None:
    folder = cases / "recorder" / "B43-key-name-vocabularies"
    rows = json.loads((folder / "keys.json").read_text())["rows"]
    wanted = json.loads((folder / "expected.json").read_text())["expect"]["canonical"]
    for row, want in zip(rows, wanted, strict=True):
        if "is" in want:
            assert list(keys.read(row["keys"], row["vocabulary"])) == want["is"]
        else:
            with pytest.raises(ValueError, match="no key of the vocabulary"):
                keys.read(row["keys"], row["vocabulary"])


@given(CHORDS, st.sampled_from(get_args(Vocabulary)))
def test_keys_go_there_and_back(chord: tuple[str, ...], vocabulary: Vocabulary) -> None:
    names = keys.write(chord, vocabulary)
    assert keys.read(names, vocabulary) == chord
    assert keys.guess(names) == chord
    assert keys.read("+".join(names), vocabulary) == chord


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ctrl c", ("Control", "c")),
        ("Ctrl+Shift+T", ("Control", "Shift", "T")),
        (["ctrl", "v"], ("Control", "v")),
        ("arrowdown", ("ArrowDown",)),
        ("pagedown", ("PageDown",)),
        ("Page_Down", ("PageDown",)),
        ("space", (" ",)),
        (" ", (" ",)),
        ("+", ("+",)),
        ("ctrl++", ("Control", "+")),
        ("'enter'", ("Enter",)),
        ("f5", ("F5",)),
    ],
)
def test_what_models_call_keys(said: str | list[str], meant: tuple[str, ...]) -> None:
    assert keys.guess(said) == meant


@pytest.mark.parametrize("said", ["hyperdrive", "", [], ["ctrl", "warp"]])
def test_what_is_no_key(said: str | list[str]) -> None:
    with pytest.raises(ValueError, match="key"):
        keys.guess(said)


def test_a_key_without_a_name_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'BrowserBack'"):
        keys.write(["BrowserBack"], "pyautogui")
