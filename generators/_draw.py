"""Seeded choices: every axis has a generator of its own, so that fixing one leaves all others as they were."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from cuadata.errors import CallError
from cuadata.types import Axis

T = TypeVar("T")


class Draw:
    """Draws the values of a task's axes from its family and seed, and keeps a list of what was drawn."""

    def __init__(self, family: str, seed: int) -> None:
        self.place = f"{family}/{seed}"
        self._axes: dict[str, str] = {}

    def rng(self, name: str) -> Random:
        """The generator of one subject: the same numbers whatever else is drawn."""
        return Random(f"{self.place}/{name}")

    def axis(self, name: str, values: Sequence[T], given: T | None = None) -> T:
        """The value of a named axis: the one given, else one drawn. CallError where the given one is none of them."""
        if given is not None and given not in values:
            raise CallError(f"{name}={given!r} is not known; there are: {', '.join(map(str, values))}")
        value = self.rng(name).choice(values) if given is None else given
        self.note(name, value)
        return value

    def note(self, name: str, value: object) -> None:
        """Record an axis that followed from others."""
        self._axes[name] = str(value)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """What was varied, in the order it was drawn."""
        return tuple(Axis(name, value) for name, value in self._axes.items())
