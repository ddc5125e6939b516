"""The middle of a build, over all rows at once: ids, duplicates, splits, and which row goes into which shard.

It reads the journal in order and holds a few dozen bytes a row, whatever the pictures weigh.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from cuadata.building import mixing, near, repeats, splits
from cuadata.building.answers import Answers
from cuadata.building.inputs import Part
from cuadata.building.journal import Damage, Entry, Journal, Summary
from cuadata.building.splits import Item, Splits
from cuadata.building.work import Workers
from cuadata.errors import DataError

#: Configs whose rows are no examples to learn from: they have one split and no say in the others.
ASIDE = ("rejected",)
#: The gate and the reason of rows that say what an earlier one said.
DUPLICATE = "duplicate"
_THUMBNAIL_BYTES = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How rows are divided and bounded."""

    fractions: Annotated[Mapping[str, float], "share of each split; together 1"]
    keys: Annotated[tuple[str, ...], "columns whose equal values keep rows together"]
    seed: Annotated[int, "seed of the splits"]
    distance: Annotated[
        int | None, "bits that near pictures' hashes may differ in; None: pictures are told apart by their bytes"
    ]
    level: Annotated[float, "grey levels that near pictures may differ by on average"]
    shard_bytes: Annotated[int, "bytes of a shard, about"]
    thumbnails: Annotated[int, "thumbnails a reason and gate in `rejected`"]
    mix: Annotated[Mapping[str, float], "weights of the configs in the mixture; empty: there is none"]


@dataclass(slots=True)
class Shard:
    """Rows of one file, in order."""

    config: str
    split: str
    number: int = 0
    count: int = 1
    parts: array[int] = field(default_factory=lambda: array("I"))
    rows: array[int] = field(default_factory=lambda: array("I"))
    groups: dict[str, str] = field(default_factory=dict)  # trajectory -> name of its group
    firsts: dict[int, str] = field(default_factory=dict)  # position here of a duplicate -> id of the row it repeats
    thumbnails: set[int] = field(default_factory=set)  # positions here that get one
    size: int = 0

    @property
    def name(self) -> str:
        """The file's name, from the dataset's folder on."""
        return f"{self.config}/{self.split}-{self.number:05d}-of-{self.count:05d}.parquet"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a row goes."""

    part: int
    row: int
    entry: Entry
    config: str
    split: str
    first: str | None  # id of the row that it repeats
    group: int | None


@dataclass(slots=True)
class _Open:
    """The shards that rows are being put into, one a config and split; one ends where the next row would overfill it."""

    shards: list[Shard]
    shard_bytes: int
    held: dict[tuple[str, str], Shard] = field(default_factory=dict)

    def add(self, config: str, place: _Place, size: int, groups: Mapping[int, str]) -> Shard:
        """Put a row at the end of its shard."""
        shard = self.held.get((config, place.split))
        if shard is None or shard.size + size > self.shard_bytes:
            shard = self.held[config, place.split] = Shard(config=config, split=place.split)
            self.shards.append(shard)
        if place.group is not None:
            shard.groups[place.entry.trajectory_id] = groups[place.group]
        shard.parts.append(place.part)
        shard.rows.append(place.row)
        shard.size += size
        return shard


@dataclass(slots=True)
class Plan:
    """What the dataset will hold."""

    shards: list[Shard] = field(default_factory=list)
    kept: dict[str, dict[str, int]] = field(default_factory=dict)
    mixed: dict[str, dict[str, int]] = field(default_factory=dict)  # split -> config -> rows of the mixture
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)  # (gate, reason) -> rows
    splits: Splits | None = None
    leaks: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)  # prompts of `actions`, and those with several answers
    damage: list[Damage] = field(default_factory=list)


class Planner:
    """Makes the plan from the journal's finished pieces."""

    def __init__(
        self, journal: Journal, parts: Sequence[Part], summaries: Sequence[Summary], wanted: Wanted, workers: Workers
    ) -> None:
        self.journal = journal
        self.parts = parts
        self.summaries = summaries
        self.wanted = wanted
        self.left_out: set[tuple[int, str]] = set()  # piece and id of trajectories whose id is taken
        self.position: dict[str, int] = {}  # id of a trajectory with kept rows -> its place among the items
        self.workers = workers
        self.looks = near.Looks(by_bytes=wanted.distance is None)
        self.duplicates: dict[str, str] = {}  # id of an example -> id of the one that it repeats
        self.plan = Plan()

    def make(self) -> Plan:
        """Read the journal twice: once to decide, once to lay out."""
        self._own_ids()
        self.duplicates = repeats.find(lambda: ((n, e) for n, _, e in self._entries()), self.journal, self.workers)
        items = self._items()
        chosen = splits.divide(
            items,
            self.wanted.fractions,
            looks=self.looks,
            seed=self.wanted.seed,
            distance=self.wanted.distance or 0,
            level=self.wanted.level,
        )
        self.plan.splits = chosen
        self.plan.leaks = splits.count_leaks(
            items,
            chosen.split,
            looks=self.looks,
            keys=self.wanted.keys,
            distance=self.wanted.distance or 0,
            level=self.wanted.level,
        )
        self._lay_out(chosen)
        return self.plan

    def _own_ids(self) -> None:
        """An id stands for one trajectory: a second one of the same id is damage, and its rows stay out."""
        owner: dict[str, int] = {}
        for number, summary in enumerate(self.summaries):
            for id in summary.trajectories:
                first = owner.setdefault(id, number)
                if first != number:
                    self.left_out.add((number, id))
                    message = f"its id '{id}' is also that of {self.parts[first].name}"
                    self.plan.damage.append(Damage(place=self.parts[number].name, message=message))

    def _entries(self) -> Iterator[tuple[int, int, Entry]]:
        """Every row to be with its piece and its place in it, without those of trajectories whose id is taken."""
        for number in range(len(self.summaries)):
            for row, entry in enumerate(self.journal.entries(number)):
                if (number, entry.trajectory_id) not in self.left_out:
                    yield number, row, entry

    def _repeats(self, entry: Entry) -> str | None:
        """The id of what a row repeats; None where it says something new."""
        if not entry.steps or any(step not in self.duplicates for step in entry.steps):
            return None
        return self.duplicates[entry.steps[0]]

    def _items(self) -> list[Item]:
        """What goes into one split as a whole: the kept rows of a trajectory, weighed by its actions, or by all rows where none has any."""
        keys: list[dict[str, None]] = []
        shown: list[dict[int, None]] = []
        weights, rows = array("I"), array("I")
        for _, _, entry in self._entries():
            if entry.config in ASIDE or self._repeats(entry) is not None:
                continue
            at = self.position.setdefault(entry.trajectory_id, len(keys))
            if at == len(keys):
                keys.append({})
                shown.append({})
                weights.append(0)
                rows.append(0)
            keys[at].update(dict.fromkeys(entry.keys))
            shown[at].update(dict.fromkeys(map(self.looks.place, entry.pictures)))
            weights[at] += entry.config == "actions"
            rows[at] += 1
        weights = weights if any(weights) else rows
        return [Item(keys=tuple(k), pictures=tuple(p), weight=w) for k, p, w in zip(keys, shown, weights, strict=True)]

    def _lay_out(self, chosen: Splits) -> None:
        """Give every row its shard, in the order of the input; then the same for those that go into the mixture."""
        open_shards = _Open(self.plan.shards, self.wanted.shard_bytes)
        groups = self._group_names(chosen)
        ids: dict[str, dict[str, list[str]]] = {}
        asked = Answers()
        for place in self._placed(chosen):
            entry, config = place.entry, place.config
            pictured = config in ASIDE and self._counted(entry)
            size = 3_000 + pictured * _THUMBNAIL_BYTES if config in ASIDE else entry.size
            shard = open_shards.add(config, place, size, groups)
            if config == "actions" and entry.asked is not None:
                asked.add(entry.asked)
            if pictured:
                shard.thumbnails.add(len(shard.rows) - 1)
            if place.first is not None:
                shard.firsts[len(shard.rows) - 1] = place.first
            if config in self.wanted.mix:
                ids.setdefault(place.split, {}).setdefault(config, []).append(entry.id)
        self.plan.asked = asked.counts()
        if self.wanted.mix:
            self._mix(chosen, open_shards, groups, ids)
        self._number_shards()

    def _placed(self, chosen: Splits) -> Iterator[_Place]:
        """Every row with the config and split that it goes to, those that are written once only one time."""
        tasks: set[str] = set()
        for number, row, entry in self._entries():
            first = self._repeats(entry)
            if first is not None and entry.config not in ("actions", "point_only"):
                continue
            if entry.config == "tasks":
                if entry.id in tasks:
                    continue
                tasks.add(entry.id)
            config = "rejected" if first is not None else entry.config
            at = self.position.get(entry.trajectory_id)
            split = "train" if config in ASIDE or at is None else chosen.split[at]
            yield _Place(number, row, entry, config, split, first, None if at is None else chosen.group[at])

    def _mix(
        self, chosen: Splits, shards: _Open, groups: Mapping[int, str], ids: Mapping[str, Mapping[str, list[str]]]
    ) -> None:
        """Lay out the mixture. DataError where a config has no rows at all."""
        missing = [config for config in self.wanted.mix if not any(held.get(config) for held in ids.values())]
        if missing:
            raise DataError(f"the mixture wants rows of '{missing[0]}', and there are none; leave it out of --mix")
        taken = {split: mixing.choose(held, self.wanted.mix, self.wanted.seed) for split, held in ids.items()}
        self.plan.mixed = {
            split: {config: len(one) for config, one in held.items()} for split, held in sorted(taken.items())
        }
        for place in self._placed(chosen):
            if place.entry.id in taken.get(place.split, {}).get(place.config, ()):
                shards.add(mixing.NAME, place, place.entry.size, groups)

    def _counted(self, entry: Entry) -> bool:
        """Count a row that is not kept; whether it still gets a thumbnail."""
        verdict = entry.verdict
        why = (verdict.gate, verdict.reason or "") if verdict is not None else (DUPLICATE, DUPLICATE)
        self.plan.rejected[why] += 1
        return self.plan.rejected[why] <= self.wanted.thumbnails and bool(entry.pictures)

    def _group_names(self, chosen: Splits) -> dict[int, str]:
        """A group is called by the first of its trajectories' names, so that it reads the same whatever the order."""
        names: dict[int, str] = {}
        for id, group in zip(self.position, chosen.group, strict=True):
            names[group] = min(id, names.get(group, id))
        return names

    def _number_shards(self) -> None:
        counts = Counter((shard.config, shard.split) for shard in self.plan.shards)
        seen: Counter[tuple[str, str]] = Counter()
        for shard in self.plan.shards:
            key = (shard.config, shard.split)
            shard.number, shard.count = seen[key], counts[key]
            seen[key] += 1
            if shard.config not in ASIDE:
                rows = self.plan.kept.setdefault(shard.config, {})
                rows[shard.split] = rows.get(shard.split, 0) + len(shard.rows)
