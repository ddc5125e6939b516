"""Text answers: exact and partial are two numbers, tokens have borders, numbers have units."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata.errors import CallError
from cuadata.statistics import answers


def test_case_exact_and_partial(cases: Path) -> None:
    folder = cases / "evaluation" / "B100-exact-and-partial"
    given_, expected = (json.loads((folder / name).read_text()) for name in ("rows.json", "expected.json"))
    expect, tolerance = expected["expect"], expected["tolerance"]
    scores = {
        row["id"]: answers.score(row["answer"], row["gold"], row["kind"], unit=row["unit"], units=given_["units"])
        for row in given_["rows"]
    }
    for name, wanted in expect["rows"].items():
        assert scores[name].exact is wanted["exact"], name
        assert scores[name].partial == pytest.approx(wanted["partial"], abs=tolerance), name
    summary = answers.summary(scores.values())
    assert summary["exact_rate"] == pytest.approx(expect["exact_rate"], abs=tolerance)
    assert summary["partial_mean"] == pytest.approx(expect["partial_mean"], abs=tolerance)


@pytest.mark.parametrize(
    ("answer", "gold", "unit", "right"),
    [
        ("1,200", "1200", None, True),
        ("5..6", "5", None, False),
        ("5\u20266", "5", None, False),
        ("21_000", "21", None, False),
        ("It is 21...", "21", None, True),
        ("3.0", "3", None, True),
        ("1e3", "1000", None, True),
        ("It is 21 inches tall.", "21", "in", True),
        ("21in", "21", "in", True),
        ("21 cm", "21", "in", False),
        ("21cm", "21", None, False),
        ("10 items", "10", None, True),
        ("$10", "10", None, True),
        ("$10", "10", "usd", True),
        ("$10", "10", "eur", False),
        ("\u20ac 10", "10", "eur", True),
        ("10\u20ac", "10", "eur", True),
        ("-$10", "10", None, False),
        ("40 m\u00b2", "40", "m\u00b2", True),
        ("40 m2", "40", "m2", True),
        ("40 m", "40", "m2", False),
        ("40 m23", "40", "m2", False),
        ("40 m\u00b2", "40", "m", False),
        ("40 km/h", "40", "km", False),
        ("40 km per hour", "40", "km", False),
        ("5 min/km", "5", "min", False),
        ("40 usd per person", "40", "usd", True),
        ("40 usd/month", "40", "usd", True),
        ("12\u202f345\u202f678 m", "12345678", "m", True),
        ("3\u00a0400", "3400", None, True),
        ("3\u00a040", "340", None, False),
        ("(10)", "10", None, True),
        ("about 21.", "21", None, True),
        ("-5", "5", None, False),
        ("\N{MINUS SIGN}5", "-5", None, True),
        ("10k", "10", None, False),
        ("10%", "10", None, False),
        ("10 %", "10", "%", True),
        ("21st", "21", None, False),
        ("21 or 22", "21", None, False),
        ("2009-10", "2009", None, False),
        ("12.10.2024", "12.10", None, False),
        ("v10", "10", None, False),
        ("twenty-one", "21", None, False),
        ("", "21", None, False),
        (None, "21", None, False),
    ],
)
def test_a_number_stands_alone_and_keeps_its_unit(answer: str | None, gold: str, unit: str | None, right: bool) -> None:
    score = answers.score(answer, gold, "number", unit=unit)
    assert (score.exact, score.partial) == (right, float(right))


@pytest.mark.parametrize(
    ("answer", "phrases", "partial"),
    [
        ("help!", ["help"], 1.0),
        ("unhelpful", ["help"], 0.0),
        ("HELP  me", ["help me"], 1.0),
        ("C++ and C#", ["c++", "C#"], 1.0),
        ("it costs 10.50", ["10"], 0.0),
        ("it costs 10, or 12", ["10", "12"], 1.0),
        ("it costs 1,100", ["100"], 0.0),
        ("minus -10", ["10"], 0.0),
        ("caf\u00e9", ["cafe\u0301"], 1.0),
        ("a b", ["a", "b", "c", "d"], 0.5),
        ("", ["a"], 0.0),
        (None, ["a"], 0.0),
        ("\u6211\u559c\u6b22\u84dd\u706f", ["\u84dd\u706f"], 1),  # Chinese puts no spaces between words
        ("\u84dd\u706fA", ["A"], 0),
    ],
)
def test_phrases_have_token_borders(answer: str | None, phrases: list[str], partial: float) -> None:
    score = answers.score(answer, phrases, "phrases")
    assert score.partial == partial
    assert score.exact is (partial == 1.0)


def test_only_the_declared_mark_is_infeasible() -> None:
    for answer, right in (
        ("N/A", True),
        (" N/A ", True),
        ("N/A, sorry", False),
        ("none", False),
        ("", False),
        (None, False),
    ):
        assert answers.score(answer, "N/A", "infeasible").exact is right


def test_no_answer_is_not_an_empty_text() -> None:
    assert answers.score("", "", "text").exact
    assert not answers.score(None, "", "text").exact


@pytest.mark.parametrize(
    ("gold", "kind"),
    [("x", "fuzzy"), ([], "phrases"), (["a", " "], "phrases"), ("many", "number"), (["a", "b"], "text")],
)
def test_a_gold_that_cannot_be_met_is_the_caller_s_mistake(gold: str | list[str], kind: answers.Kind) -> None:
    with pytest.raises(CallError):
        answers.score("a", gold, kind)


@given(st.text(), st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1, max_size=4))
def test_credit_is_a_share_and_full_credit_is_exact(answer: str, phrases: list[str]) -> None:
    score = answers.score(answer, phrases, "phrases")
    assert 0 <= score.partial <= 1
    assert score.exact is (score.partial == 1)
    assert answers.score(" ".join(phrases), phrases, "phrases").exact
    assert answers.score(answer, answer, "text").exact


@given(st.integers(-(10**9), 10**9))
def test_a_number_equals_itself_however_it_is_padded(number: int) -> None:
    for written in (f"{number}", f"{number}.0", f"{number:,}", f"the answer is {number}."):
        assert answers.score(written, str(number), "number").exact, written
    assert not answers.score(str(number + 1), str(number), "number").exact


def test_nothing_scored_has_no_rate() -> None:
    assert answers.summary([]) == {"n": 0, "exact_rate": None, "partial_mean": None}
