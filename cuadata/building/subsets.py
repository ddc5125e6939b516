"""Dividing weighted groups among splits so that each reaches its size, exactly where a subset exists."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

#: Bits of reachable sums that may be held at once: 50 MB.
_BUDGET = 400_000_000
#: Groups that are kept for the exact search where there are too many for one.
_RESERVE = 300
#: Orders that are tried where one split is filled after another.
_TRIES = 16


def targets(total: int, fractions: Sequence[float]) -> list[int]:
    """Whole sizes that add up to `total`, by largest remainder."""
    exact = [total * f for f in fractions]
    whole = [int(x + 1e-9) for x in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], i))
    for i in by_remainder[: total - sum(whole)]:
        whole[i] += 1
    return whole


def divide(weights: Sequence[int], sizes: Sequence[int], seed: int = 0) -> list[int]:
    """The split of each group, such that the splits come as near to `sizes` as the groups allow.

    Few groups are searched exactly, over all splits at once. Of many groups most are dealt at random, in proportion to
    what is still missing, and the smallest ones close the gaps. The same arguments give the same answer.
    """
    rest = max(range(len(sizes)), key=lambda i: (sizes[i], -i))
    wanted = [i for i in sorted(range(len(sizes)), key=lambda i: (sizes[i], i)) if i != rest and sizes[i] > 0]
    if _cost(weights, [sizes[i] for i in wanted]) <= _BUDGET:
        chance = random.Random(f"cuadata {seed}")
        answer = [rest] * len(weights)
        _place(_shuffled(len(weights), chance), weights, wanted, sizes, chance, answer)
        return answer
    tries = (_in_turn(weights, sizes, rest, wanted, random.Random(f"cuadata {seed} {n}")) for n in range(_TRIES))
    best, fault = [rest] * len(weights), sum(weights) * 2 + 1
    for answer in tries:
        off = _off(weights, sizes, answer)
        if off < fault:
            best, fault = answer, off
        if fault == 0:
            break
    return best


def _shuffled(count: int, chance: random.Random) -> list[int]:
    order = list(range(count))
    chance.shuffle(order)
    return order


def _off(weights: Sequence[int], sizes: Sequence[int], answer: Sequence[int]) -> int:
    """By how much the splits miss their sizes, summed."""
    got = [0] * len(sizes)
    for weight, split in zip(weights, answer, strict=True):
        got[split] += weight
    return sum(abs(a - b) for a, b in zip(got, sizes, strict=True))


def _in_turn(
    weights: Sequence[int], sizes: Sequence[int], rest: int, wanted: Sequence[int], chance: random.Random
) -> list[int]:
    """One split after another, the smallest first; groups beyond the reserve are dealt at random before."""
    answer = [rest] * len(weights)
    order = _shuffled(len(weights), chance)
    reserve = set(sorted(order, key=lambda g: weights[g])[:_RESERVE])
    missing = _deal([g for g in order if g not in reserve], weights, rest, list(sizes), chance, answer)
    left = [g for g in order if g in reserve]
    for split in wanted:
        if missing[split] > 0:
            _place(left, weights, [split], missing, chance, answer)
            left = [g for g in left if answer[g] == rest]
    return answer


def _deal(
    order: Sequence[int],
    weights: Sequence[int],
    rest: int,
    sizes: list[int],
    chance: random.Random,
    answer: list[int],
) -> list[int]:
    """Give each group to a split that still lacks as much, at random in proportion; what is missing afterwards."""
    missing = list(sizes)
    for g in order:
        open_splits = [i for i, m in enumerate(missing) if m >= weights[g] > 0]
        split = chance.choices(open_splits, [missing[i] for i in open_splits])[0] if open_splits else rest
        answer[g] = split
        missing[split] -= weights[g]
    return missing


def _place(
    order: Sequence[int],
    weights: Sequence[int],
    splits: Sequence[int],
    sizes: Sequence[int],
    chance: random.Random,
    answer: list[int],
) -> None:
    chosen = _search([weights[g] for g in order], [sizes[i] for i in splits], chance)
    for g, where in zip(order, chosen, strict=True):
        if where >= 0:
            answer[g] = splits[where]


def _caps(weights: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Sums that are worth looking at: beyond twice the size, an empty split is nearer."""
    total = sum(weights)
    return [min(2 * size, total) for size in sizes]


def _cost(weights: Sequence[int], sizes: Sequence[int]) -> int:
    cost = len(weights) + 1
    for cap in _caps(weights, sizes):
        cost *= cap + max(weights, default=0) + 1
    return cost


def _search(weights: Sequence[int], sizes: Sequence[int], chance: random.Random) -> list[int]:
    """For each weight the place in `sizes` that it goes to, or -1 for the rest: the sums nearest to `sizes`.

    Subset sums by dynamic programming: bit s of a number says that the sums s can be reached, with the sums of several
    splits side by side in one number.
    """
    caps = _caps(weights, sizes)
    widths = [cap + max(weights, default=0) + 1 for cap in caps]
    strides = list(itertools.accumulate(widths, lambda a, b: a * b, initial=1))[:-1]
    valid = _valid(caps, strides)
    layers = [1]
    for weight in weights:
        reached = layers[-1]
        for cap, stride in zip(caps, strides, strict=True):
            if weight <= cap:
                reached |= layers[-1] << (weight * stride)
        layers.append(reached & valid)
    state = _nearest(layers[-1], sizes, widths, sum(weights))
    return _trace(weights, layers, strides, state, chance)


def _valid(caps: Sequence[int], strides: Sequence[int]) -> int:
    """The bits of the states whose sums are all within their caps."""
    mask = 1
    for cap, stride in zip(caps, strides, strict=True):
        mask = _repeated(mask, stride, cap + 1)
    return mask


def _repeated(pattern: int, stride: int, count: int) -> int:
    """`count` copies of a bit pattern, `stride` bits apart."""
    if count == 1:
        return pattern
    half = _repeated(pattern, stride, count // 2)
    both = half | half << (stride * (count // 2))
    return both | pattern << (stride * (count - 1)) if count % 2 else both


def _nearest(reached: int, sizes: Sequence[int], widths: Sequence[int], total: int) -> int:
    """The reached state whose sums are nearest to `sizes`, the rest counted too; of equal ones that with fewer empty."""
    import numpy as np

    octets = np.frombuffer(reached.to_bytes(reached.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    filled = np.flatnonzero(octets)
    bits = np.unpackbits(octets[filled][:, None], axis=1, bitorder="little")
    rows, columns = np.nonzero(bits)
    states = filled[rows] * 8 + columns
    left, off, surplus, used, empty = states, *np.zeros((4, len(states)), dtype=np.int64)
    for size, width in zip(sizes, widths, strict=True):
        sums, left = left % width, left // width
        off += np.abs(sums - size)
        surplus += sums - size
        used += sums
        empty += sums == 0
    empty += used == total
    return int(states[np.lexsort((states, empty, off + np.abs(surplus)))[0]])


def _trace(
    weights: Sequence[int], layers: Sequence[int], strides: Sequence[int], state: int, chance: random.Random
) -> list[int]:
    """Walk back from a reached state, choosing at random among the ways that led to it."""
    chosen = [-1] * len(weights)
    for g in range(len(weights) - 1, -1, -1):
        ways = [-1] if layers[g] >> state & 1 else []
        for place, stride in enumerate(strides):
            before = state - weights[g] * stride
            if weights[g] and before >= 0 and layers[g] >> before & 1:
                ways.append(place)
        chosen[g] = chance.choice(ways)
        if chosen[g] >= 0:
            state -= weights[g] * strides[chosen[g]]
    return chosen
