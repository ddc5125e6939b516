"""How hard an example is for a model, from k sampled answers, and which examples are worth training on.

An example that every rollout hits teaches nothing, and one that none hits is as likely to be mislabelled as hard: picking
the hardest collects the wrong labels (arXiv 2511.08172 filters for difficulty, then for alignment, then for diversity).
So the informative middle is kept, and what no rollout hits only on the word of another check.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from cuadata.contracts import Format, Gold
from cuadata.errors import DataError
from cuadata.rows import Example
from cuadata.scores import predictions
from cuadata.scores.grounding import size_of
from cuadata.scores.predictions import Answered
from cuadata.statistics import voting
from cuadata.statistics.intervals import Interval, wilson
from cuadata.types import Keep

#: Hit rates from this to that are informative: 1 of 8 to 7 of 8.
LOW, HIGH = 0.125, 0.875
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollouts:
    """What k sampled answers of a model say of one example."""

    id: Annotated[str, "id of the example or question"]
    hits: Annotated[int, "samples that hit the target"]
    n: Annotated[int, "samples"]
    unread: Annotated[int, "samples that could not be read; they count as no hits"] = 0
    consistency: Annotated[float | None, "share of samples in the winning region of a vote, without any label"] = None
    vouched_by: Annotated[tuple[str, ...], "checks that confirm the label: a gate, another model"] = ()

    @property
    def rate(self) -> float | None:
        """Hits by samples; None for no samples."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        """Wilson interval of the hit rate; None for no samples."""
        return wilson(self.hits, self.n)


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether an example is worth training on."""

    keep: Keep
    reason: str | None


def rollouts(
    answered: Answered,
    format: Format,
    *,
    samples: int | None = None,
    tolerance: float = 0.0,
    side: float = voting.SIDE,
    vouched_by: Sequence[str] = (),
) -> Rollouts:
    """Hit rate and vote consistency of one question; `samples` takes the first so many, None all of them.

    DataError where there are fewer than `samples`.
    """
    if samples is not None and len(answered.texts) < samples:
        raise DataError(f"{len(answered.texts)} samples, {samples} wanted", place=answered.gold.task.id)
    seen = predictions.view(answered.gold)
    read = [predictions.read(text, format, seen) for text in answered.texts[:samples]]
    agreed = voting.vote([r.point for r in read], side=side, viewport=answered.gold.task.viewport)
    return Rollouts(
        id=answered.gold.task.id,
        hits=sum(predictions.right(r, answered.gold, tolerance) for r in read),
        n=len(read),
        unread=sum(r.failure is not None for r in read),
        consistency=agreed.consistency,
        vouched_by=tuple(vouched_by),
    )


def judge(held: Rollouts, *, low: float = LOW, high: float = HIGH) -> Judged:
    """Keep the informative middle: a hit rate from `low` to `high`, and what nothing hit only where something vouches.

    `unsure` with never_hit is what another check could still save; too_hard and too_easy are not kept. No samples say
    nothing, and keep. ValueError for bounds that hold no rate.
    """
    if not 0 <= low <= high <= 1:
        raise ValueError(f"no hit rate lies from {low} to {high}; bounds with 0 <= low <= high <= 1 are wanted")
    rate = held.rate
    if rate is None:
        return Judged("yes", None)
    if held.hits == 0:
        return Judged("yes", None) if held.vouched_by else Judged("unsure", "never_hit")
    if rate < low:
        return Judged("no", "too_hard")
    return Judged("no", "too_easy") if rate > high else Judged("yes", None)


def label_free(held: Rollouts, *, low: float, high: float) -> Judged:
    """The same from the consistency of the samples alone, for examples without a trusted label."""
    if held.consistency is None:
        return Judged("yes", None)
    if held.consistency < low:
        return Judged("no", "too_hard")
    return Judged("no", "too_easy") if held.consistency > high else Judged("yes", None)


def attach(example: Example, held: Rollouts) -> Example:
    """The example with its rollouts in its provenance, where the gate `difficulty` finds them."""
    return replace(example, provenance=noted(example.provenance, held))


def noted(provenance: str, held: Rollouts) -> str:
    """Provenance as JSON text, with rollouts in it."""
    counts = {"hits": held.hits, "n": held.n, "unread": held.unread, "consistency": held.consistency}
    told = json.loads(provenance or "{}")
    if not isinstance(told, dict):
        raise ValueError("a JSON object is wanted")
    return json.dumps({**told, "rollouts": {**counts, "vouched_by": list(held.vouched_by)}})


def attached(example: Example) -> Rollouts | None:
    """The rollouts in an example's provenance; None where it has none. DataError where they are no counts."""
    if '"rollouts"' not in example.provenance:
        return None
    try:
        whole = json.loads(example.provenance)
    except ValueError:
        return None
    found = whole.get("rollouts") if isinstance(whole, dict) else None
    if found is None:
        return None
    try:
        held = Rollouts(
            id=example.id,
            hits=int(found["hits"]),
            n=int(found["n"]),
            unread=int(found.get("unread", 0)),
            consistency=found.get("consistency"),
            vouched_by=tuple(found.get("vouched_by", ())),
        )
        wilson(held.hits, held.n)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the rollouts in its provenance are no counts: {error}", place=example.id) from error
    return held


def cluster(gold: Gold) -> tuple[str, ...]:
    """What makes two questions alike: the screenshot or task, the target's role, the relation, and the bin of its size.

    Rows of a dataset have their split group for a screenshot: it holds all pictures whose perceptual hashes are near.
    """
    return (gold.cluster, gold.role, gold.task.relation or gold.kind, size_of(gold))


def diverse(items: Mapping[T, Hashable], *, limit: int | None = None, cap: int | None = None, seed: int = 0) -> list[T]:
    """A spread-out choice of items from their clusters: one of each cluster in turn, at most `cap` of one, `limit` in all.

    The smallest clusters come first in each turn, so that a rare kind is never crowded out. Within a cluster the seed
    decides. The order of the result is that of `items`.
    """
    groups: dict[Hashable, list[T]] = {}
    for item, key in items.items():
        groups.setdefault(key, []).append(item)
    draw = random.Random(f"cuadata diverse {seed}")
    for held in groups.values():
        draw.shuffle(held)
    queues = sorted(groups.values(), key=len)
    taken: list[T] = []
    turn = 0
    while queues and (cap is None or turn < cap):
        taken.extend(queue[turn] for queue in queues)
        turn += 1
        queues = [queue for queue in queues if turn < len(queue)]
    chosen = set(taken[:limit])
    return [item for item in items if item in chosen]


def vouchers(gold: Gold, second: Collection[str] = ()) -> tuple[str, ...]:
    """The checks that confirm a question's label: its relation by geometry, or a second model that hits it."""
    found = ["relation"] if gold.holds is True else []
    return (*found, *(["second_model"] if gold.task.id in second else []))


def histogram(held: Sequence[Rollouts], bins: int = 10) -> dict[str, int]:
    """Examples by hit rate: none, all, and equal bins between, for tables."""
    counts: Counter[str] = Counter()
    names = [f"{i / bins:.2g} to {(i + 1) / bins:.2g}" for i in range(bins)]
    for one in held:
        if one.rate is not None:
            name = (
                "none" if one.hits == 0 else "all" if one.hits == one.n else names[min(int(one.rate * bins), bins - 1)]
            )
            counts[name] += 1
    return {name: counts[name] for name in ("none", *names, "all")}
