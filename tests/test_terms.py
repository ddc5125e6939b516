"""Terms read meaning off observations, and no going back and forth earns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata.episodes import terms
from cuadata.errors import CallError
from cuadata.types import Attribute, BBox, Condition, Element, Evidence, Observation, Size, States, Task, Term

BOX = BBox(10, 10, 100, 20)


def element(id: int, role: str, name: str, **fields: object) -> Element:
    return Element(id=id, role=role, name=name, **{"bbox": BOX, **fields})  # type: ignore[arg-type]


def page(*elements: Element, url: str = "") -> Observation:
    return Observation(screenshot=None, viewport=Size(800, 600), url=url, elements=elements)


def box(name: str, on: bool, id: int = 1) -> Element:
    return element(id, "checkbox", name, states=States(checked="true" if on else "false"))


TICKED = Condition(role="checkbox", name="a", state="checked", value="true")


def test_name_and_role_are_compared_as_a_person_would() -> None:
    seen = page(element(1, "heading", "Thank  you "), element(2, "searchbox", "Find", states=States(value="x")))
    assert terms.holds(Condition(role="heading", name="thank you"), seen)
    assert not terms.holds(Condition(role="heading", name="thank"), seen)
    assert terms.holds(Condition(role="textbox", name="Find", state="value", value="X"), seen)
    assert [e.id for e in terms.matches(Condition(role="textbox"), seen)] == [2]


@pytest.mark.parametrize(
    ("attribute", "checked", "counts"),
    [(None, "true", True), (None, "false", False), ("checked", "false", True), ("unchecked", "false", False), ("on", None, True)],
)  # fmt: skip
def test_a_radio_counts_by_aria_or_by_data_state(attribute: str | None, checked: str | None, counts: bool) -> None:
    attributes = () if attribute is None else (Attribute("data-state", attribute),)
    radio = element(1, "radio", "a", states=States(checked=checked), attributes=attributes)  # type: ignore[arg-type]
    asked = Condition(role="radio", name="a", state="checked", value="true")
    assert terms.holds(asked, page(radio)) is counts


def test_what_is_scrolled_away_is_there_and_what_has_faded_is_gone() -> None:
    away = element(1, "radio", "a", seen=0.0, states=States(checked="true"))
    assert terms.holds(Condition(role="radio", name="a", state="checked", value="true"), page(away))
    faded = element(2, "dialog", "d", evidence=Evidence(opacity=0.0))
    unrendered = element(3, "dialog", "d", evidence=Evidence(rendered=False), bbox=None)
    gone = Condition(role="dialog", name="d", present=False)
    assert terms.holds(gone, page(faded)) and terms.holds(gone, page(unrendered))
    assert not terms.holds(gone, page(element(4, "alertdialog", "d")))


def test_address_and_script() -> None:
    assert terms.holds(Condition(url="/done"), page(url="http://x/done?1"))
    assert not terms.holds(Condition(url="/done", present=False), page(url="http://x/done?1"))
    assert terms.holds(Condition(script="1 + 1"), page(), {"1 + 1": 2}.__getitem__)
    with pytest.raises(CallError, match="live page"):
        terms.holds(Condition(script="1"), page())


def task(*held: Term, success: tuple[Condition, ...] = ()) -> Task:
    return Task(id="t/0", family="t", seed=0, instruction="do", html="<p>", terms=held, success=success)


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (Term(name="x", value=1, when=(Condition(role="dialog", present=False),)), "empty page"),
        (Term(name="x", value=1, when=()), "empty page"),
        (Term(name="x", value=1, when=(Condition(role="radio", state="chosen", value="true"),)), "no state"),
        (Term(name="x", value=1, when=(Condition(role="radio", value="true"),)), "needs a state"),
    ],
)
def test_terms_that_cannot_be_right_are_refused(term: Term, words: str) -> None:
    with pytest.raises(CallError, match=words):
        terms.check(task(term))
    good = Term(name="ok", value=1, when=(TICKED,))
    terms.check(task(good))
    with pytest.raises(CallError, match="two terms are named 'ok'"):
        terms.check(task(good, good))


def test_once_pays_one_time_and_never_for_what_stood_at_the_start() -> None:
    held = (Term(name="a", value=0.5, when=(TICKED,)), Term(name="b", value=1, when=(replace(TICKED, name="b"),)))
    ledger = terms.Ledger.open(held, page(box("a", False, 1), box("b", True, 2)))
    paid = [
        ledger.pay(page(box("a", a, 1), box("b", b, 2)))
        for a, b in [(True, True), (False, False), (True, True), (True, False), (True, True)]
    ]
    assert [[(r.name, r.value) for r in one] for one in paid] == [[("a", 0.5)], [], [], [], []]


@given(st.lists(st.booleans(), max_size=12))
def test_a_potential_term_never_earns_more_than_where_it_stands(path: list[bool]) -> None:
    ledger = terms.Ledger.open((Term(name="a", value=0.3, kind="potential", when=(TICKED,)),), page(box("a", False)))
    total = sum(r.value for on in path for r in ledger.pay(page(box("a", on))))
    assert total == pytest.approx(0.3 if path and path[-1] else 0.0)


def test_case_going_back_and_forth_earns_nothing(cases: Path) -> None:
    folder = cases / "evaluation" / "B105-reward-cannot-be-farmed"
    told, episodes = (json.loads((folder / f"{n}.json").read_text()) for n in ("task", "episodes"))
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    goal = told["goal"]
    start = told["initial"]

    def shown(state: dict[str, object]) -> Observation:
        return page(
            *(element(i, "textbox", n, states=States(value=json.dumps(v))) for i, (n, v) in enumerate(state.items()))
        )

    def met(name: str) -> Condition:
        return Condition(role="textbox", name=name, state="value", value=json.dumps(goal[name]))

    held = [Term(name=n, value=1 / len(goal), kind="potential", when=(met(n),)) for n in goal]
    held.append(Term(name="all", value=1.0, when=tuple(met(n) for n in goal)))
    for steps, rewards, good in zip(episodes, expected["rewards"], expected["success"], strict=True):
        state = dict(start)
        ledger = terms.Ledger.open(held, shown(state))
        earned = []
        for step in steps:
            state[step["set"]] = step["to"]
            earned.append(sum(r.value for r in ledger.pay(shown(state))))
        assert earned == pytest.approx(rewards, abs=1e-5)
        assert terms.all_hold(held[-1].when, shown(state)) is good
