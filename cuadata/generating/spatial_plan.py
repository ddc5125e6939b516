"""Which values of the axes a page gets: a covering plan, in which every pair of values of two axes appears."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any, Final

Axes = Mapping[str, Sequence[Any]]
#: Completions of a row that are tried; more make the plan a little shorter.
_TRIES: Final = 12


def covering(axes: Axes, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of axis values such that each pair of values of two axes stands in one of them; pure in its arguments.

    Greedy, one row at a time, each begun with a pair that is still missing: the AETG scheme (Cohen et al., "The AETG
    system", IEEE TSE 1997). With fewer than two axes every value is one row.
    """
    names = list(axes)
    if len(names) < 2:
        return [{name: value} for name in names for value in axes[name]]
    left = {
        ((a, x), (b, y)): None
        for a, b in combinations(names, 2)
        for x in range(len(axes[a]))
        for y in range(len(axes[b]))
    }
    rng, rows = Random(f"covering/{seed}"), []
    while left:
        first = next(iter(left))
        row = max((_complete(axes, dict(first), rng) for _ in range(_TRIES)), key=lambda one: _gain(one, names, left))
        for pair in _pairs(row, names):
            left.pop(pair, None)
        rows.append({name: axes[name][row[name]] for name in names})
    rng.shuffle(rows)
    return rows


def _complete(axes: Axes, row: dict[str, int], rng: Random) -> dict[str, int]:
    return {name: row[name] if name in row else rng.randrange(len(axes[name])) for name in axes}


def _pairs(row: Mapping[str, int], names: Sequence[str]) -> Iterable[tuple[tuple[str, int], tuple[str, int]]]:
    return (((a, row[a]), (b, row[b])) for a, b in combinations(names, 2))


def _gain(row: Mapping[str, int], names: Sequence[str], left: Mapping[Any, None]) -> int:
    return sum(pair in left for pair in _pairs(row, names))


def coverage(axes: Axes, rows: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """How many pairs of axis values appear in rows (values as text): {pairs, covered, missing: the first 20}."""
    names = [*axes]
    seen = {((a, row[a]), (b, row[b])) for row in rows for a, b in combinations(names, 2) if a in row and b in row}
    wanted = {
        ((a, str(x)), (b, str(y))) for a, b in combinations(names, 2) for x in axes[a] for y in axes[b]
    }  # fmt: skip
    missing = sorted(wanted - seen)
    return {
        "pairs": len(wanted),
        "covered": len(wanted) - len(missing),
        "missing": [" with ".join("=".join(part) for part in pair) for pair in missing[:20]],
    }
