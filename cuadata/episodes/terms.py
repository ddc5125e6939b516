"""Reward terms and success, read off an observation by meaning: accessibility role, name and state, never tag names.

A `<button role="radio" data-state="checked">`, an element with `aria-checked` and an `<input type="radio">` are one thing
here, because Chromium's accessibility tree says the same of all three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cuadata.element_states import STATES, state_of
from cuadata.errors import CallError
from cuadata.types import Condition, Element, Observation, Reward, Task, Term

#: Reads a condition's script on the live page.
Evaluate = Callable[[str], Any]

#: Roles that mean the same to a person; the first is the name of the group.
ALIKE = (("textbox", "searchbox"), ("dialog", "alertdialog"), ("img", "image"), ("button", "togglebutton"))
_GROUP = {role: group[0] for group in ALIKE for role in group}
#: An element fainter than this is one that a person takes for gone.
FAINTEST = 0.02


def fold(text: str) -> str:
    """A name as it is compared: white space folded, case ignored."""
    return " ".join(text.split()).casefold()


def fits(condition: Condition, element: Element) -> bool:
    """Whether role, name and state of an element are those of a condition."""
    if condition.role is not None and _role(element.role) != _role(condition.role):
        return False
    if condition.name is not None and fold(element.name) != fold(condition.name):
        return False
    if condition.state is None:
        return True
    told = state_of(element, condition.state)
    return told is not None and (condition.value is None or fold(told) == fold(condition.value))


def matches(condition: Condition, observation: Observation) -> tuple[Element, ...]:
    """The elements of an observation that a condition speaks of, in document order.

    An element counts where it is rendered, scrolled out of sight or not. For a condition that says `present=False` one
    that has faded out or shrunk to nothing is gone, as a person would say.
    """
    there = _rendered if condition.present else _to_be_seen
    return tuple(e for e in observation.elements if there(e) and fits(condition, e))


def holds(condition: Condition, observation: Observation, evaluate: Evaluate | None = None) -> bool:
    """Whether a condition holds. CallError for a script where there is no live page to run it on."""
    if condition.script is not None:
        if evaluate is None:
            raise CallError(f"the script {condition.script!r:.60} needs a live page; here is only an observation")
        return bool(evaluate(condition.script)) == condition.present
    if condition.url is not None:
        return (condition.url in observation.url) == condition.present
    return bool(matches(condition, observation)) == condition.present


def all_hold(conditions: Iterable[Condition], observation: Observation, evaluate: Evaluate | None = None) -> bool:
    """Whether every condition holds; True for none."""
    return all(holds(condition, observation, evaluate) for condition in conditions)


def succeeds(task: Task, observation: Observation, evaluate: Evaluate | None = None) -> bool:
    """Whether a task's success stands on the page; False for a task without success conditions."""
    return bool(task.success) and all_hold(task.success, observation, evaluate)


def _rendered(element: Element) -> bool:
    return element.evidence.rendered and element.bbox is not None


def _to_be_seen(element: Element) -> bool:
    return (
        _rendered(element) and element.evidence.opacity > FAINTEST and (element.bbox is None or element.bbox.area > 1)
    )


def _role(role: str) -> str:
    lower = role.casefold()
    return _GROUP.get(lower, lower)


def check(task: Task) -> None:
    """CallError for terms that cannot be right: no condition or a mixed one, an unknown state, absences alone, a name given twice.

    A term made of absences alone would be paid on an empty page, so that navigating away earns it.
    """
    names = [term.name for term in task.terms]
    for name in sorted({n for n in names if names.count(n) > 1}):
        raise CallError(f"task {task.id}: two terms are named '{name}'")
    for name, conditions in [*((t.name, t.when) for t in task.terms), ("success", task.success)]:
        if not conditions and name != "success":
            raise CallError(
                f"{name}: it has no condition, so that an empty page would meet it; `when` says what must hold"
            )
        for condition in conditions:
            asked = _asked(condition)
            if len(asked) != 1:
                raise CallError(
                    f"{name}: a condition asks for an element (role, name, state), a url or a script, one of the three; "
                    f"this one asks for {' and '.join(asked) or 'nothing'}"
                )
            if condition.state is not None and condition.state not in STATES:
                raise CallError(f"{name}: '{condition.state}' is no state; there are: {', '.join(STATES)}")
            if condition.value is not None and condition.state is None:
                raise CallError(f"{name}: the value {condition.value!r} needs a state to be compared with")
        if conditions and not any(c.present for c in conditions):
            raise CallError(
                f"{name}: it asks only for what is not there, so an empty page would meet it; add something that is there"
            )


def _asked(condition: Condition) -> list[str]:
    """Which of the three kinds of things a condition asks for."""
    element = any(told is not None for told in (condition.role, condition.name, condition.state))
    kinds = {"an element": element, "a url": condition.url is not None, "a script": condition.script is not None}
    return [kind for kind, meant in kinds.items() if meant]


@dataclass(slots=True)
class Ledger:
    """What the terms of a task have paid in one episode.

    A `once` term pays the first time its conditions hold, and never for what stood at the start. A `potential` term pays
    its value when they begin to hold and takes it back when they cease, so that no loop earns (Ng, Harada and Russell,
    "Policy invariance under reward transformations", 1999).
    """

    terms: Sequence[Term]
    held: dict[str, bool]
    paid: set[str]

    @classmethod
    def open(cls, terms: Sequence[Term], observation: Observation, evaluate: Evaluate | None = None) -> Ledger:
        """A ledger at the start of an episode."""
        held = {t.name: all_hold(t.when, observation, evaluate) for t in terms}
        return cls(terms, held, {name for name, holding in held.items() if holding})

    def pay(self, observation: Observation, evaluate: Evaluate | None = None) -> tuple[Reward, ...]:
        """What the step that led to this observation earns, in the order of the terms."""
        found: list[Reward] = []
        for term in self.terms:
            now = all_hold(term.when, observation, evaluate)
            if term.kind == "potential" and now != self.held[term.name]:
                found.append(Reward(name=term.name, value=term.value if now else -term.value))
            elif term.kind == "once" and now and term.name not in self.paid:
                found.append(Reward(name=term.name, value=term.value))
            self.held[term.name] = now
            if now:
                self.paid.add(term.name)
        return tuple(found)
