"""Which gates judge, in which order, with which thresholds, and what their verdicts mean for each config."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from cuadata.errors import CallError
from cuadata.judging import clearing, judging
from cuadata.judging.clearing import Clearance
from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict

#: Rooms of gates from the cheapest and plainest reason to the subtlest; a row is counted under its first objection.
ORDER = (
    *("files", "screenshot", "benchmark", "privacy", "convention", "box", "action", "instruction"),
    *("stale", "target", "reference", "ambiguous", "relation", "effect", "difficulty", "outcome"),
)
LAST = ("duplicates",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A gate and the thresholds that it is given."""

    name: Annotated[str, "name in the registry"]
    options: Annotated[tuple[tuple[str, Any], ...], "thresholds set by the caller"] = ()

    def __call__(self, candidate: Candidate) -> Verdict:
        """What the gate says. An exception names the example and the gate: it is a fault of the gate."""
        gate: Any = gates[self.name]
        try:
            verdict: Verdict = gate(candidate, **dict(self.options)) if self.options else gate(candidate)
        except Exception as error:
            error.add_note(f"gate {self.name} failed on example {candidate.example.id}")
            raise
        return verdict

    def thresholds(self) -> dict[str, Any]:
        """Every threshold with the value that it has in this build."""
        return {**defaults(self.name), **dict(self.options)}


def choose(asked: Sequence[str] | None = None, *, without: Sequence[str] = ()) -> tuple[Chosen, ...]:
    """The gates of a build in their order: all that are registered, or those asked for as NAME or NAME:threshold=value.

    CallError for names and thresholds that there are not, and for values of another type.
    """
    known = gates.names()
    for name in without:
        _check_name(name, known)
    found = [_parsed(one, known) for one in (known if asked is None else asked)]
    twice = sorted({one.name for one in found if [f.name for f in found].count(one.name) > 1})
    if twice:
        raise CallError(f"gate {twice[0]} is asked for twice; give it once, with all its thresholds")
    return tuple(sorted((one for one in found if one.name not in without), key=lambda one: _place(one.name)))


def _check_name(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise CallError(f"no gate is named '{name}'; there are: {', '.join(known) or 'none'}")


def _parsed(asked: str, known: Sequence[str]) -> Chosen:
    name, *settings = asked.split(":")
    _check_name(name, known)
    held = defaults(name)
    options = []
    for setting in settings:
        option, _, text = setting.partition("=")
        if option not in held:
            there = ", ".join(f"{k}={v}" for k, v in held.items()) or "none"
            raise CallError(f"gate {name} has no threshold '{option}'; there are: {there}")
        options.append((option, _value(text, held[option], f"{name}:{option}")))
    return Chosen(name=name, options=tuple(sorted(options)))


def _value(text: str, default: Any, place: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(default, tuple):
        value = tuple(value) if isinstance(value, list) else (text,)
    if default is not None and type(value) is not type(default):
        raise CallError(f"{place} is {text!r}; wanted a {type(default).__name__}, such as {default!r}")
    if isinstance(value, (int, float)) and not value >= 0:
        # Nothing measured is below 0, and nothing compares with NaN: a gate would judge all rows one way and not say so.
        raise CallError(f"{place} is {text!r}; wanted a number of at least 0, such as {default!r}")
    return value


@cache
def defaults(name: str) -> Mapping[str, Any]:
    """The keyword parameters of a gate with their defaults."""
    parameters = inspect.signature(gates[name]).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _place(name: str) -> tuple[int, str, int, str]:
    """Where a gate stands: by its file, then by its line in it."""
    gate: Any = gates[name]
    room = str(getattr(gate, "__module__", "")).rsplit(".", 1)[-1]
    rank = ORDER.index(room) if room in ORDER else len(ORDER) + (room in LAST)
    code = getattr(inspect.unwrap(gate), "__code__", None)
    return rank, room, code.co_firstlineno if code else 0, name


def code_hash(chosen: Iterable[Chosen]) -> str:
    """Changes where a gate's file or its thresholds change: what an interrupted build found before then is stale."""
    held = hashlib.sha256()
    for one in chosen:
        file = inspect.getsourcefile(inspect.unwrap(gates[one.name])) if inspect.isroutine(gates[one.name]) else None
        held.update(repr((one.name, sorted(one.thresholds().items()))).encode())
        if file is not None:
            with open(file, "rb") as opened:
                held.update(opened.read())
    return held.hexdigest()


def judge(candidate: Candidate, chosen: Iterable[Chosen]) -> list[Verdict]:
    """What every gate says, in order. Whatever they say, a row needs a picture that decodes: `build` says so last.

    A picture without a perceptual hash is one that did not decode when the hash was to be taken.
    """
    said = verdicts(candidate, chosen)
    picture = candidate.example.image
    if not picture.phash and against(said, "actions") is None:
        said.append(rejected("build", "screenshot_undecodable" if picture.sha256 else "screenshot_missing"))
    return said


def verdicts(candidate: Candidate, chosen: Iterable[Chosen]) -> list[Verdict]:
    """What every gate says, in order; gates that a clearance speaks for are not asked. See `cuadata.judging.clearing`."""
    plan = _planned(chosen)
    said = plan.clean.copy()
    name = ""
    try:
        for name, clearance, held in plan.groups:
            if clearance is not None and clearance(candidate):
                continue
            for place, name, gate in held:  # noqa: B007 - an error is told with the gate that was at work
                said[place] = gate(candidate)
    except Exception as error:
        error.add_note(f"gate {name} failed on example {candidate.example.id}")
        raise
    if {*map(type, said)} != {Verdict}:
        try:
            return [judging.verdict(name, one) for name, one in zip(plan.names, said, strict=True)]
        except TypeError as error:
            error.add_note(f"on example {candidate.example.id}")
            raise
    return said


_Placed = tuple[int, str, Callable[[Candidate], Verdict]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The gates of a build, those that one clearance speaks for together."""

    names: Annotated[tuple[str, ...], "the gates in their order"]
    clean: Annotated[list[Verdict], "what gates say that have nothing to say, in their order"]
    groups: Annotated[
        tuple[tuple[str, Clearance | None, tuple[_Placed, ...]], ...],
        "first gate, clearance (None: they are always asked), and place, name and function of each gate",
    ]


_last: tuple[Iterable[Chosen], _Plan] | None = None


def _planned(chosen: Iterable[Chosen]) -> _Plan:
    """The plan of these gates: made once for as long as the same ones judge."""
    global _last
    last = _last
    if last is not None and last[0] is chosen:
        return last[1]
    held = tuple(chosen)
    groups: dict[Clearance | None, list[_Placed]] = {}
    for place, one in enumerate(held):
        gate = functools.partial(gates[one.name], **dict(one.options)) if one.options else gates[one.name]
        # A clearance knows the default thresholds only.
        groups.setdefault(None if one.options else clearing.of(one.name), []).append((place, one.name, gate))
    plan = _Plan(
        names=tuple(one.name for one in held),
        clean=[kept(one.name) for one in held],
        groups=tuple((found[0][1], clearance, tuple(found)) for clearance, found in groups.items()),
    )
    if isinstance(chosen, tuple):
        _last = chosen, plan
    return plan


def against(verdicts: Iterable[Verdict], config: str, *, keep_unsure: bool = False) -> Verdict | None:
    """The first verdict that keeps an example out of a config; None where none does."""
    for verdict in verdicts:  # nearly all of them keep
        keep = verdict.keep
        if keep == "yes" or (keep_unsure and keep == "unsure"):
            continue
        if not verdict.configs or config in verdict.configs:
            return verdict
    return None
