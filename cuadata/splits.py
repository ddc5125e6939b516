"""Splits that never leak: rows that share a key or show a near-duplicate picture stay together, transitively."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from cuadata import image, near, subsets
from cuadata.errors import CallError
from cuadata.types import Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Columns whose equal values keep rows together; an empty value or None says nothing.
KEYS = ("trajectory_id", "site", "template", "seed_block")
FRACTIONS: Mapping[str, float] = MappingProxyType({"train": 0.9, "test": 0.1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that goes into one split as a whole: a row, or all rows of a trajectory."""

    keys: Annotated[tuple[str, ...], "what it shares with others, as `column=value`"]
    pictures: Annotated[tuple[int, ...], "its pictures, as places in the list of distinct pictures"] = ()
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
    hashes: Sequence[str] = (),
    load: near.Load | None = None,
    seed: int = 0,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> Splits:
    """Group items by what they share, then fill the splits with whole groups, as near to `fractions` as they allow.

    `hashes` are the perceptual hashes of the distinct pictures, and `load` brings their small pictures where a near pair
    would join two groups. Sizes are exact wherever some choice of groups reaches them. The same items in the same order
    and the same seed give the same splits. CallError for fractions that do not add up to 1.
    """
    check(fractions)
    sets = joined(items, hashes=hashes, load=load, distance=distance, level=level)
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


def joined(
    items: Sequence[Item],
    *,
    hashes: Sequence[str] = (),
    load: near.Load | None = None,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> Disjoint:
    """The items that may not part, as sets."""
    sets = Disjoint(len(items))
    first: dict[str, int] = {}
    owner = [-1] * len(hashes)
    for place, item in enumerate(items):
        for key in item.keys:
            sets.join(place, first.setdefault(key, place))
        for picture in item.pictures:
            if owner[picture] < 0:
                owner[picture] = place
            sets.join(place, owner[picture])
    if hashes and load is not None:
        parted = partial(_parted, sets, owner)
        for block in near.near_pairs(near.numbers(hashes), load, parted=parted, distance=distance, level=level):
            for one, other in block:
                sets.join(owner[one], owner[other])
    return sets


def _parted(sets: Disjoint, owner: Sequence[int], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each pair of pictures: whether their items are still apart."""
    import numpy as np

    used = np.unique(pairs)
    root = {int(p): sets.find(owner[p]) if owner[p] >= 0 else -1 for p in used}
    roots = np.array([root[int(p)] for p in used])[np.searchsorted(used, pairs)]
    return (roots[:, 0] != roots[:, 1]) & (roots >= 0).all(axis=1)


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
    perceptual hash apart, and at most `level` grey levels on average over a 16x16 picture.
    """
    items, table = _items(rows, keys, pictures)
    return divide(items, fractions, hashes=table.hashes(), load=table.load, seed=seed, distance=distance, level=level)


def leaks(
    rows: Iterable[Any],
    split: Sequence[str],
    *,
    keys: Sequence[str] = KEYS,
    pictures: Sequence[str] = ("image",),
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> dict[str, int]:
    """How many values of each key, how many equal pictures and how many near pairs stand in more than one split."""
    items, table = _items(rows, keys, pictures)
    return count_leaks(items, split, hashes=table.hashes(), load=table.load, distance=distance, level=level, keys=keys)


def count_leaks(
    items: Sequence[Item],
    split: Sequence[str],
    *,
    hashes: Sequence[str] = (),
    load: near.Load | None = None,
    keys: Sequence[str] = KEYS,
    distance: int = near.DISTANCE,
    level: float = near.LEVEL,
) -> dict[str, int]:
    """The leak report: what is shared across splits, counted by kind. Zero everywhere where nothing leaks."""
    seen: dict[str, set[str]] = {}
    where: list[set[str]] = [set() for _ in hashes]
    for item, name in zip(items, split, strict=True):
        for key in item.keys:
            seen.setdefault(key, set()).add(name)
        for picture in item.pictures:
            where[picture].add(name)
    found = {key: 0 for key in keys}
    for key, names in seen.items():
        found[key.split("=", 1)[0]] += len(names) > 1
    found["same_picture"] = sum(len(names) > 1 for names in where)
    found["near_picture"] = 0
    if hashes and load is not None:
        apart = partial(_across, where)
        pairs: set[tuple[int, int]] = set()
        for block in near.near_pairs(near.numbers(hashes), load, parted=apart, distance=distance, level=level):
            pairs.update((int(a), int(b)) for a, b in block)
        found["near_picture"] = len(pairs)
    return found


def _across(where: Sequence[set[str]], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each pair of pictures: whether they stand in different splits."""
    import numpy as np

    return np.array([bool(where[a] and where[b]) and where[a] != where[b] for a, b in pairs], dtype=bool)


class Pictures:
    """Distinct pictures by content: equal pixels under other bytes have equal hashes, and are joined as near ones."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._images: list[Image] = []

    def place(self, value: Any, where: str) -> int:
        """The place of a picture in the list; new ones are added."""
        picture = image.from_any(value, where)
        if picture.sha256 not in self._place:
            self._place[picture.sha256] = len(self._images)
            self._images.append(picture)
        return self._place[picture.sha256]

    def hashes(self) -> list[str]:
        """Perceptual hashes; pictures that come without one are decoded."""
        return [p.phash or image.perceptual_hash(image.rgb(image.read(p))) for p in self._images]

    def load(self, places: Sequence[int]) -> NDArray[np.uint8]:
        """Small pictures, (n, 16, 16, 3)."""
        import numpy as np

        return np.stack([near.small(image.read(self._images[p])) for p in places])


def _items(rows: Iterable[Any], keys: Sequence[str], pictures: Sequence[str]) -> tuple[list[Item], Pictures]:
    table = Pictures()
    items = []
    for number, row in enumerate(rows):
        get = _getter(row)
        shared = tuple(f"{key}={value}" for key in keys if (value := get(key)) not in (None, ""))
        shown = [table.place(v, f"row {number}, {c}") for c in pictures for v in _flat(get(c))]
        items.append(Item(keys=shared, pictures=tuple(dict.fromkeys(shown))))
    return items, table


def _getter(row: Any) -> Callable[[str], Any]:
    return row.get if isinstance(row, Mapping) else lambda name: getattr(row, name, None)


def _flat(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)
