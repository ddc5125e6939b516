"""Known faults, put into good examples, to measure what gates catch; `cuadata.proving.injectors` makes them.

Whether a label is wrong now follows from what a person would say of it, by the rule that stands beside each sweep, and
never from what a gate says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from cuadata.proving import injectors
from cuadata.proving.injectors import Made
from cuadata.rows import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A good example with one fault put in."""

    kind: Annotated[str, "which injector: target_moved, covered, ..."]
    severity: Annotated[str, "how strong, as printed: '10 px', '60 %', 'exact copy'"]
    wrong: Annotated[bool | None, "whether a person would call the label wrong; None where people would differ"]
    candidate: Annotated[Candidate, "the example with the fault"]


Injector = Callable[[Candidate, str, random.Random], Made]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A kind of fault over its severities, weakest first."""

    severities: tuple[str, ...]
    make: Injector
    rule: Annotated[str, "from where on a person would call the label wrong"]


SWEEPS: Final[dict[str, Sweep]] = {
    "target_moved": Sweep(
        severities=("1 px", "2 px", "4 px", "8 px", "16 px", "24 px", "40 px"),
        make=injectors.target_moved,
        rule="the point misses the element, or its box and the label's share less than half of their union",
    ),
    "covered": Sweep(
        severities=("5 %", "20 %", "40 %", "60 %", "70 %", "80 %", "95 %"),
        make=injectors.covered,
        rule="less than a third of the target is left free",
    ),
    "hidden": Sweep(
        severities=("transparent", "visibility", "colour of the ground", "scrolled away", "outside"),
        make=injectors.hidden,
        rule="always",
    ),
    "disabled": Sweep(severities=("disabled", "inert"), make=injectors.disabled, rule="always"),
    "removed": Sweep(severities=("target", "reference"), make=injectors.removed, rule="always"),
    "duplicated": Sweep(
        severities=("exact copy", "other case", "white space", "punctuation", "other name"),
        make=injectors.duplicated,
        rule="always, but for a copy of another name where the instruction speaks of the name",
    ),
    "relation_flipped": Sweep(severities=("column", "text", "both"), make=injectors.relation_flipped, rule="always"),
    "reference_swapped": Sweep(severities=("another element",), make=injectors.reference_swapped, rule="always"),
    "reference_hidden": Sweep(
        severities=("transparent", "visibility", "colour of the ground", "scrolled away", "outside"),
        make=injectors.reference_hidden,
        rule="always",
    ),
    "other_moment": Sweep(severities=("0.05 s", "1 s", "other picture"), make=injectors.other_moment, rule="always"),
    "other_frame": Sweep(
        severities=("0.5 x", "0.8 x", "1.25 x", "1.5 x", "2 x", "thousandths", "fractions"),
        make=injectors.other_frame,
        rule="the point misses the element, or its box and the label's share less than half of their union",
    ),
    "text_changed": Sweep(
        severities=("case", "white space", "another name", "no instruction"),
        make=injectors.text_changed,
        rule="the instruction names another thing, or nothing; case and white space change no name",
    ),
}


def faults(candidate: Candidate, kinds: Iterable[str] | None = None, *, seed: int = 0) -> Iterator[Fault]:
    """Every fault that has a place in this example, over all severities. KeyError for a kind that there is not."""
    for kind in kinds if kinds is not None else SWEEPS:
        sweep = SWEEPS[kind]
        for severity in sweep.severities:
            made = sweep.make(candidate, severity, random.Random(f"{seed}/{candidate.example.id}/{kind}/{severity}"))
            if made is not None:
                yield Fault(kind=kind, severity=severity, wrong=made[1], candidate=made[0])
