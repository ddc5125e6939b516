"""Nodes that stay while what they show moves on, as the rows of virtual lists do."""

from __future__ import annotations

from cuadata.types import Observation

__all__ = ["stands_for_another"]


def stands_for_another(id: int | None, chosen: Observation, now: Observation) -> bool:
    """Whether the element of an id shows another thing than when it was chosen, and what was chosen is elsewhere now.

    A label that merely changes (Show, Hide) is the same, beside others of that label as well: nothing moved there.
    """
    was = next((e for e in chosen.elements if e.id == id), None) if id is not None else None
    mine = next((e for e in now.elements if e.id == id), None)
    if was is None or mine is None or not was.name or mine.name == was.name:
        return False
    before = {e.id for e in chosen.elements if (e.role, e.name) == (was.role, was.name)}
    return any((e.role, e.name) == (was.role, was.name) and e.id not in before for e in now.elements)
