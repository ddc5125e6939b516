"""What the gates catch: known faults put into good examples, and how often each gate says so."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from cuadata.judging import gating
from cuadata.judging.gating import Chosen
from cuadata.proving import inject
from cuadata.proving.inject import Fault
from cuadata.rows import Candidate
from cuadata.statistics import intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One kind of fault at one severity."""

    kind: Annotated[str, "which injector"]
    severity: Annotated[str, "how strong"]
    wrong: Annotated[bool | None, "whether a person would call the label wrong; None where people would differ"]
    rejected: Annotated[intervals.Rate, "share that some gate rejected: recall where wrong, false rejects where not"]
    gates: Annotated[dict[str, int], "how many each gate rejected, the most first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateMeasure:
    """One gate over everything that was put before it."""

    recall: Annotated[intervals.Rate, "of the wrong examples of those faults that it catches most of"]
    false_rejects: Annotated[intervals.Rate, "of the examples that are right"]
    faults: Annotated[tuple[str, ...], "the faults that it catches most of: kind and severity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The whole table."""

    examples: Annotated[int, "good examples that faults were put into"]
    unfit: Annotated[dict[str, int], "examples left out, since a gate rejects them as they are, by gate"]
    recall: Annotated[intervals.Rate, "of all wrong examples, how many some gate rejected"]
    false_rejects: Annotated[
        intervals.Rate, "of all right examples, untouched or harmlessly changed, how many were rejected"
    ]
    cells: tuple[Cell, ...]
    gates: dict[str, GateMeasure]

    def for_the_card(self) -> dict[str, dict[str, Any]]:
        """Recall, false rejects and number by gate, as `cuadata.build` takes them."""
        return {
            name: {"recall": _percent(one.recall), "false_rejects": _percent(one.false_rejects), "n": one.recall.n}
            for name, one in self.gates.items()
            if one.recall.n
        }


def _percent(rate: intervals.Rate) -> str:
    if rate.rate is None or rate.interval is None:
        return "not measured"
    low, high = rate.interval
    return f"{100 * rate.rate:.1f} % [{100 * low:.1f}, {100 * high:.1f}], n = {rate.n}"


@dataclass(slots=True)
class _Tally:
    """Counts of one kind and severity."""

    n: int = 0
    rejected: int = 0
    gates: Counter[str] = field(default_factory=Counter)


class Meter:
    """Takes examples one at a time, so that no more than one page has to be held."""

    def __init__(self, gates: Sequence[Chosen]) -> None:
        self.gates = gates
        self.examples = 0
        self.untouched = _Tally()
        #: By kind, severity, whether the label is wrong, and whether the instruction states a relation: where one does,
        #: another gate is asked.
        self.tallies: dict[tuple[str, str, bool | None, bool], _Tally] = {}

    def example(self, candidate: Candidate, config: str = "grounding") -> bool:
        """Count an example that is right as it stands; whether all gates keep it in this config."""
        return not self._count(self.untouched, candidate, config)

    def fault(self, fault: Fault, config: str = "grounding") -> None:
        """Count what the gates say of a fault."""
        key = fault.kind, fault.severity, fault.wrong, bool(fault.candidate.example.relation)
        self._count(self.tallies.setdefault(key, _Tally()), fault.candidate, config)

    def _count(self, tally: _Tally, candidate: Candidate, config: str) -> bool:
        verdicts = gating.verdicts(candidate, self.gates)
        against = [one.gate for one in verdicts if gating.against((one,), config) is not None]
        tally.n += 1
        tally.rejected += bool(against)
        tally.gates.update(against)
        return bool(against)

    def result(self) -> Measured:
        """The table of everything that was counted."""
        wrong = [tally for key, tally in self.tallies.items() if key[2]]
        right = [self.untouched, *(tally for key, tally in self.tallies.items() if key[2] is False)]
        return Measured(
            examples=self.untouched.n,
            unfit=dict(self.untouched.gates.most_common()),
            recall=_rate(wrong, lambda tally: tally.rejected),
            false_rejects=_rate(right, lambda tally: tally.rejected),
            cells=_cells(self.tallies),
            gates={gate.name: self._of_gate(gate.name, right) for gate in self.gates},
        )

    def _of_gate(self, name: str, right: Sequence[_Tally]) -> GateMeasure:
        own = {
            key: tally
            for key, tally in self.tallies.items()
            if key[2] and tally.gates and tally.gates[name] == max(tally.gates.values())
        }
        return GateMeasure(
            recall=_rate(own.values(), lambda tally: tally.gates[name]),
            false_rejects=_rate(right, lambda tally: tally.gates[name]),
            faults=tuple(dict.fromkeys(f"{key[0]}, {key[1]}" for key in own)),
        )


def _rate(tallies: Iterable[_Tally], hits: Callable[[_Tally], int]) -> intervals.Rate:
    held = list(tallies)
    return intervals.counted(sum(map(hits, held)), sum(tally.n for tally in held))


def _cells(tallies: Mapping[tuple[str, str, bool | None, bool], _Tally]) -> tuple[Cell, ...]:
    """One cell a kind, severity and truth, over all instructions."""
    found: dict[tuple[str, str, bool | None], _Tally] = {}
    for (kind, severity, wrong, _), tally in tallies.items():
        whole = found.setdefault((kind, severity, wrong), _Tally())
        whole.n += tally.n
        whole.rejected += tally.rejected
        whole.gates.update(tally.gates)
    return tuple(
        Cell(
            kind=kind,
            severity=severity,
            wrong=wrong,
            rejected=intervals.counted(tally.rejected, tally.n),
            gates=dict(tally.gates.most_common()),
        )
        for (kind, severity, wrong), tally in sorted(found.items(), key=lambda one: _order(*one[0]))
    )


def _order(kind: str, severity: str, wrong: bool | None) -> tuple[Any, ...]:
    """By kind, then from the weakest to the strongest; wrong labels before right ones, those that people differ on last."""
    sweep = inject.SWEEPS[kind].severities if kind in inject.SWEEPS else ()
    place = sweep.index(severity) if severity in sweep else len(sweep)
    parts = re.findall(r"\d+\.?\d*|\D+", severity)
    numbers = [(float(part), "") if part[0].isdigit() else (math.inf, part) for part in parts]
    return kind, place, numbers, (True, False, None).index(wrong)


def measure(candidates: Iterable[Candidate], gates: Sequence[Chosen], *, seed: int = 0) -> Measured:
    """Put every fault that has a place in it into every good example, and count what the gates say.

    The examples are taken to be right: what a gate rejects as it stands is a false reject, and takes no further part.
    """
    meter = Meter(gates)
    for candidate in candidates:
        if meter.example(candidate):
            for fault in inject.faults(candidate, seed=seed):
                meter.fault(fault)
    return meter.result()
