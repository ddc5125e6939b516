"""Every gate that is registered keeps what a gate promises; a new one is under this test with no line written here."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import build_trajectories as made
import pytest

from cuadata import reasons, split
from cuadata.errors import CallError
from cuadata.judging import gating
from cuadata.registry import gates
from cuadata.rows import CONFIGS, Candidate, Verdict
from cuadata.splitting.examples import NO_PICTURE
from cuadata.types import Action, Effect, Observation, Point, Size

NAMES = gates.names()


def candidates() -> Iterator[Candidate]:
    """Good steps, and steps with little or nothing that a gate could look at."""
    good = list(split.examples(made.checkout("t")))
    yield from good
    one = good[0]
    example = one.example
    yield replace(one, observation=None, step=None, task=None, trajectory=None)
    yield Candidate(example=replace(example, target=None, instruction="", image=NO_PICTURE))
    yield Candidate(example=replace(example, viewport_width=0, viewport_height=0, provenance="no json"))
    empty = Observation(screenshot=None, viewport=Size(0, 0))
    step = made.checkout("t").steps[0]
    yield Candidate(example=example, observation=empty, step=replace(step, observation=empty, target=None))
    for action in (
        Action(type="click", point=Point(float("nan"), 1e9)),
        Action(type="drag", point=Point(1.0, 1.0)),
        Action(type="scroll"),
        Action(type="infeasible", text="no"),
        Action(type="switch_page", page=99),
    ):
        changed = replace(step, action=action, effect=Effect(kind="unknown"), error="it failed")
        yield replace(one, example=replace(example, action=action), step=changed)


CANDIDATES = list(candidates())


@pytest.mark.parametrize("name", NAMES)
def test_a_gate_answers_whatever_it_is_shown(name: str) -> None:
    gate = gates[name]
    for candidate in CANDIDATES:
        verdict = gate(candidate)
        assert isinstance(verdict, Verdict) and verdict.gate
        assert isinstance(json.loads(verdict.evidence), dict)
        assert set(verdict.configs) <= set(CONFIGS)
        if verdict.keep == "yes":
            assert verdict.reason is None
        else:
            assert verdict.keep in ("no", "unsure") and reasons.check(verdict.reason or "")
        assert gate(candidate) == verdict  # a pure function of what it is shown


@pytest.mark.parametrize("name", NAMES)
def test_a_gate_says_what_it_does_and_its_thresholds_have_defaults(name: str) -> None:
    gate = gates[name]
    assert (gate.__doc__ or "").strip(), "`cuadata list gates` prints the first line of the docstring"
    parameters = list(inspect.signature(gate).parameters.values())
    assert [p.kind for p in parameters[1:]] == [inspect.Parameter.KEYWORD_ONLY] * (len(parameters) - 1)
    hints = typing.get_type_hints(gate)
    for parameter in parameters[1:]:
        assert parameter.default is not inspect.Parameter.empty and parameter.name in hints
        assert json.loads(json.dumps(parameter.default)) is not None or parameter.default is None


@pytest.mark.parametrize("name", NAMES)
def test_good_steps_pass(name: str) -> None:
    for candidate in split.examples(made.checkout("t")):
        assert gates[name](candidate).keep == "yes", candidate.example.id


def test_the_order_of_judging_is_from_plain_to_subtle_and_duplicates_come_last() -> None:
    chosen = [gate.name for gate in gating.choose()]
    assert sorted(chosen) == NAMES and chosen[-1] == "duplicate"
    for plain, subtle in (("screenshot_missing", "action_failed"), ("action_failed", "no_effect"), ("box", "relation")):
        assert chosen.index(plain) < chosen.index(subtle)
    assert [gate.name for gate in gating.choose(["duplicate", "no_effect"])] == ["no_effect", "duplicate"]
    assert "no_effect" not in [gate.name for gate in gating.choose(without=["no_effect"])]
    with pytest.raises(CallError, match="no gate is named 'none'"):
        gating.choose(without=["none"])


def test_thresholds_are_read_in_the_type_of_their_default() -> None:
    (relation,) = gating.choose(["relation:margin=1"])
    assert relation.thresholds()["margin"] == 1.0 and isinstance(relation.thresholds()["margin"], float)
    (leak,) = gating.choose(['benchmark_leak:allow=["a", "b"]'])
    assert leak.options == (("allow", ("a", "b")),)
    assert gating.choose(["benchmark_leak:allow=a"])[0].options == (("allow", ("a",)),)
    assert gating.code_hash([relation]) != gating.code_hash(gating.choose(["relation"]))


def verdict(keep: Any, *configs: str) -> Verdict:
    return Verdict(gate="g", keep=keep, reason=None if keep == "yes" else "no_effect", configs=configs)


def test_a_verdict_speaks_of_its_configs_only() -> None:
    said = [
        verdict("yes"),
        verdict("no", "grounding"),
        verdict("unsure", "actions", "chunks"),
        verdict("no", "actions"),
    ]
    assert gating.against(said, "grounding") == said[1]
    assert gating.against(said, "actions") == said[2]
    assert gating.against(said, "actions", keep_unsure=True) == said[3]
    assert gating.against(said, "chunks", keep_unsure=True) is None
    assert gating.against(said, "transitions") is None
    assert gating.against([verdict("no")], "transitions") is not None


def test_a_fault_of_a_gate_names_example_and_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(candidate: Candidate) -> Verdict:
        """Always fails."""
        raise ZeroDivisionError("by zero")

    monkeypatch.setitem(gates._found, "broken", broken)
    with pytest.raises(ZeroDivisionError) as caught:
        gating.judge(CANDIDATES[0], gating.choose(["broken"]))
    assert caught.value.__notes__ == ["gate broken failed on example t/0"]
