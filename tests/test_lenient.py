"""JSON as models write it: strict JSON as it is, slips where they mean one thing, nothing that is cut off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata.speaking import lenient

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_strict_json_is_read_as_it_is(value: Any) -> None:
    assert lenient.loads(json.dumps(value)) == value


@given(VALUES)
def test_the_small_parser_agrees_with_the_strict_one(value: Any) -> None:
    text = json.dumps(value)
    assert lenient._Parser(text, False).value(0, 0)[0] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'action': 'click', 'x': 3,}", {"action": "click", "x": 3}),
        ('{"a": True, "b": None}', {"a": True, "b": None}),
        ("{action: left_click, coordinate: [3, 4]}", {"action": "left_click", "coordinate": [3, 4]}),
        ('{"text": "say "hi" now", "x": 1}', {"text": 'say "hi" now', "x": 1}),
        ('{"text": "line\nbreak"}', {"text": "line\nbreak"}),
        ("{'text': 'it's here'}", {"text": "it's here"}),
        ('{"a": {"b": [1, 2]', {"a": {"b": [1, 2]}}),
        ('{"coordinate": (3, 4)}', {"coordinate": [3, 4]}),
        (r'{"text": "a\_b"}', {"text": "a_b"}),
        ("{\u201caction\u201d: \u201cclick\u201d}", {"action": "click"}),
        ('{"n": -1.5e3, "m": .5}', {"n": -1500.0, "m": 0.5}),
    ],
)
def test_slips_in_json(text: str, value: Any) -> None:
    assert lenient.loads(text) == value


@pytest.mark.parametrize(
    "text", ['{"x": [512, 3', '{"text": "hello wor', '{"x": 12', '{"a": tru', "[" * 5000, "{" * 5000]
)
def test_what_is_cut_off_is_not_taken_for_whole(text: str) -> None:
    with pytest.raises(lenient.Broken):
        lenient.loads(text, cut=True)


@given(st.text(st.sampled_from(list("{}[]\"':,\\ a1-.tn\n")), max_size=60), st.booleans())
def test_no_text_breaks_the_small_parser(text: str, cut: bool) -> None:
    try:
        lenient.loads(text, cut=cut)
    except lenient.Broken:
        pass
    list(lenient.values(text))
