"""Splits that never leak: rows that share a key or show a near-duplicate picture stay together, transitively."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Annotated, Any

from cuadata import image
from cuadata.building import near, subsets
from cuadata.errors import CallError
from cuadata.rows import CONFIGS

#: Columns whose equal values keep rows together; an empty value or None says nothing.
KEYS = ("trajectory_id", "site", "template", "seed_block")
FRACTIONS: Mapping[str, float] = MappingProxyType({"train": 0.9, "test": 0.1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that goes into one split as a whole: a row, or all rows of a trajectory."""

    keys: Annotated[tuple[str, ...], "what it shares with others, as `column=value`"]
    pictures: Annotated[tuple[int, ...], "the looks of its pictures, see `near.Looks`"] = ()
    weight: Annotated[int, "rows that it stands for"] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Where each item goes."""

    split: Annotated[tuple[str, ...], "split of each item, in their order"]
    group: Annotated[tuple[int, ...], "number of each item's group, in order of first appearance"]
    rows: Annotated[dict[str, int], "rows of each split"]
    wanted: Annotated[dict[str, int], "rows that the fractions ask for"]

    @property
    def groups(self) -> int:
        """How many groups there are; a split cannot be filled with less than one."""
        return len(set(self.group))


class Disjoint:
    """Sets that are joined, never parted (union-find with path halving, Tarjan)."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))

    def find(self, item: int) -> int:
        """The set's representative, its smallest member."""
        parent = self.parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Make one set of two."""
        low, high = sorted((self.find(one), self.find(other)))
        self.parent[high] = low


def divide(
    items: Sequence[Item],
    fractions: Mapping[str, float] = FRACTIONS,
    *,
    looks: near.Looks | None = None,
    seed: int = 0,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> Splits:
    """Group items by what they share, then fill the splits with whole groups, as near to `fractions` as they allow.

    Sizes are exact wherever some choice of groups reaches them. The same items in the same order and the same seed give
    the same splits. CallError for fractions that do not add up to 1.
    """
    check(fractions)
    sets = joined(items, looks=looks, distance=distance, level=level)
    number: dict[int, int] = {}
    group = tuple(number.setdefault(sets.find(i), len(number)) for i in range(len(items)))
    weights = [0] * len(number)
    for item, of in zip(items, group, strict=True):
        weights[of] += item.weight
    names = list(fractions)
    sizes = subsets.targets(sum(weights), [fractions[n] for n in names])
    chosen = subsets.divide(weights, sizes, seed)
    rows = dict.fromkeys(names, 0)
    for weight, split in zip(weights, chosen, strict=True):
        rows[names[split]] += weight
    return Splits(
        split=tuple(names[chosen[g]] for g in group),
        group=group,
        rows=rows,
        wanted=dict(zip(names, sizes, strict=True)),
    )


def check(fractions: Mapping[str, float]) -> None:
    """CallError unless every split has a name and a share, and the shares add up to 1."""
    if not fractions or any(not 0 <= f <= 1 for f in fractions.values()) or abs(sum(fractions.values()) - 1) > 1e-6:
        said = ", ".join(f"{name}={f:g}" for name, f in fractions.items()) or "nothing"
        raise CallError(f"fractions are {said}; give each split its share, together 1: train=0.9 test=0.1")
    for name in fractions:
        if not name.isidentifier():
            raise CallError(f"'{name}' is no name for a split; use letters, digits and _: train, validation, test")


def check_keys(keys: Iterable[str]) -> None:
    """CallError for a column that no row has: nothing would be kept together by it, and rows would leak in silence."""
    able = dict.fromkeys(field.name for kind in CONFIGS.values() for field in fields(kind))
    for key in keys:
        if key not in able:
            raise CallError(f"no row has a column '{key}' to be kept together by; there are: {', '.join(able)}")


def joined(
    items: Sequence[Item],
    *,
    looks: near.Looks | None = None,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> Disjoint:
    """The items that may not part, as sets."""
    import numpy as np

    sets = Disjoint(len(items))
    first: dict[str, int] = {}
    owner = [-1] * (len(looks) if looks is not None else 0)
    for place, item in enumerate(items):
        for key in item.keys:
            sets.join(place, first.setdefault(key, place))
        for picture in item.pictures:
            if owner[picture] < 0:
                owner[picture] = place
            sets.join(place, owner[picture])
    if looks is not None and owner:
        roots = np.array([sets.find(place) if place >= 0 else -1 for place in owner])
        for block in looks.near_pairs(roots, distance=distance, level=level):
            for one, other in block:
                low, high = sorted((roots[one], roots[other]))
                sets.join(int(low), int(high))
                roots[roots == high] = low  # the smaller stands for the joined set
    return sets


def assign(
    rows: Iterable[Any],
    fractions: Mapping[str, float] = FRACTIONS,
    *,
    keys: Sequence[str] = KEYS,
    pictures: Sequence[str] = ("image",),
    seed: int = 0,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> Splits:
    """The split of each row (dicts or dataclasses), by the columns `keys` and the picture columns `pictures`.

    Pictures may be `Image`, bytes, paths or `{bytes, path}`, also in lists. Near is: at most `distance` bits of the
    perceptual hash apart, and at most `level` grey levels on average over 8x8 cells.
    """
    items, looks = _items(rows, keys, pictures)
    return divide(items, fractions, looks=looks, seed=seed, distance=distance, level=level)


def leaks(
    rows: Iterable[Any],
    split: Sequence[str],
    *,
    keys: Sequence[str] = KEYS,
    pictures: Sequence[str] = ("image",),
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> dict[str, int]:
    """How many values of each key, how many pictures and how many near pairs stand in more than one split."""
    items, looks = _items(rows, keys, pictures)
    return count_leaks(items, split, looks=looks, keys=keys, distance=distance, level=level)


def count_leaks(
    items: Sequence[Item],
    split: Sequence[str],
    *,
    looks: near.Looks | None = None,
    keys: Sequence[str] = KEYS,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> dict[str, int]:
    """The leak report: what is shared across splits, counted by kind. Zero everywhere where nothing leaks."""
    import numpy as np

    number = {name: place for place, name in enumerate(dict.fromkeys(split))}
    seen: dict[str, set[str]] = {}
    where = np.full(len(looks) if looks is not None else 0, -1, dtype=np.int64)
    both: set[int] = set()
    for item, name in zip(items, split, strict=True):
        for key in item.keys:
            seen.setdefault(key, set()).add(name)
        for picture in item.pictures:
            if where[picture] not in (-1, number[name]):
                both.add(picture)
            where[picture] = number[name]
    found = {key: 0 for key in keys}
    for key, names in seen.items():
        found[key.split("=", 1)[0]] += len(names) > 1
    pairs: set[tuple[int, int]] = set()
    if looks is not None and len(where):
        for block in looks.near_pairs(where, distance=distance, level=level):
            pairs.update((int(min(pair)), int(max(pair))) for pair in block)
    return {**found, "same_picture": len(both), "near_picture": len(pairs)}


def _items(rows: Iterable[Any], keys: Sequence[str], pictures: Sequence[str]) -> tuple[list[Item], near.Looks]:
    looks = near.Looks()
    known: dict[str, int] = {}
    items = []
    for number, row in enumerate(rows):
        get = _getter(row)
        shared = tuple(f"{key}={value}" for key in keys if (value := get(key)) not in (None, ""))
        shown: dict[int, None] = {}
        for column in pictures:
            for value in _flat(get(column)):
                picture = image.from_any(value, f"row {number}, {column}")
                if picture.sha256 not in known:
                    known[picture.sha256] = looks.place(picture)
                shown[known[picture.sha256]] = None
        items.append(Item(keys=shared, pictures=tuple(shown)))
    return items, looks


def _getter(row: Any) -> Callable[[str], Any]:
    return row.get if isinstance(row, Mapping) else lambda name: getattr(row, name, None)


def _flat(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)
