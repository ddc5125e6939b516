"""Clearances: what lets an example pass several gates at one glance, so that gates are asked only where they may object.

Most examples of a build are good, and a few values show that a whole file of gates has nothing to say of one. A clearance
is a function beside its gates that is true only where each of them surely answers with its bare `kept`; where it is false,
which it may be at any time, the gates are asked one by one. So it can make a build fast and cannot change a verdict: a test
puts good, bad and hostile examples through both ways and compares all that is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cuadata.rows import Candidate

#: True only where the gates that it is registered for surely keep the example, with the thresholds of their defaults.
Clearance = Callable[[Candidate], bool]

_FOUND: Final[dict[str, Clearance]] = {}


def clears(*gates: str) -> Callable[[Clearance], Clearance]:
    """Decorates the clearance of these gates, each of which says `kept(name)` and no more wherever it is true."""

    def register(clearance: Clearance) -> Clearance:
        _FOUND.update(dict.fromkeys(gates, clearance))
        return clearance

    return register


def of(gate: str) -> Clearance | None:
    """The clearance of a gate; None where it has none and is always asked. The gate's own file must have been imported."""
    return _FOUND.get(gate)
