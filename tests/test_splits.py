"""Splits that never leak, and come as near to their shares as whole groups allow."""

from __future__ import annotations

import io
import itertools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from cuadata import dataset, image
from cuadata.building import near, splits, subsets
from cuadata.errors import CallError, DataError

KEYS = ("episode", "template")


def noise(seed: int, size: tuple[int, int] = (96, 96)) -> Pillow.Image:
    return Pillow.frombytes("RGB", size, random.Random(seed).randbytes(size[0] * size[1] * 3))


def packed(picture: Pillow.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def records(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    return [{**row, "image": str(folder / row["image"])} for row in rows]


def test_no_group_is_on_both_sides_and_the_share_is_exact(cases: Path) -> None:
    """hub/B62."""
    case = cases / "hub" / "B62-split-by-group"
    expect = json.loads((case / "expected.json").read_text())["expect"]
    rows = records(case)
    for seed in range(12):
        found = dataset.assign_splits(rows, expect["fractions"], keys=KEYS, seed=seed)
        assert found.rows == {"train": 18, "test": 6} and found.groups == 6
        groups: dict[int, set[str]] = {}
        for row, group in zip(rows, found.group, strict=True):
            groups.setdefault(group, set()).add(row["episode"])
        assert sorted(map(sorted, groups.values())) == expect["groups_of_episodes"]
        assert not any(dataset.leaks(rows, found.split, keys=KEYS).values())
        assert found == dataset.assign_splits(rows, expect["fractions"], keys=KEYS, seed=seed)
    assert len({dataset.assign_splits(rows, expect["fractions"], keys=KEYS, seed=s).split for s in range(12)}) > 1


def test_a_split_by_rows_leaks_and_is_told(cases: Path) -> None:
    rows = records(cases / "hub" / "B62-split-by-group")
    found = dataset.leaks(rows, ["train" if n % 5 else "test" for n in range(24)], keys=KEYS)
    assert found["episode"] >= 4 and found["template"] >= 4 and found["same_picture"] == 1


def test_rows_with_the_same_pixels_stay_together(cases: Path) -> None:
    """guidata/B95: what must be in one split."""
    case = cases / "guidata" / "B95-same-pixels-other-bytes"
    expect = json.loads((case / "expected.json").read_text())["expect"]
    rows = [json.loads(line) for line in (case / "annotations.jsonl").read_text().splitlines()]
    rows = [{**row, "image": str(case / row["image"])} for row in rows]
    found = splits.assign(rows, keys=())
    groups: dict[int, list[int]] = {}
    for number, group in enumerate(found.group):
        groups.setdefault(group, []).append(number)
    assert list(groups.values()) == expect["same_split_together"]


def test_joining_is_transitive_through_keys_and_pictures() -> None:
    shared, other = packed(noise(1)), packed(noise(2))
    rows = [
        {"trajectory_id": "a", "site": "x", "image": packed(noise(3))},
        {"trajectory_id": "b", "site": "x", "image": shared},
        {"trajectory_id": "c", "template": "t", "image": packed(noise(1), compress_level=0)},
        {"trajectory_id": "d", "template": "t", "seed_block": "s", "image": [other, packed(noise(4))]},
        {"trajectory_id": "e", "seed_block": "s", "image": None},
        {"trajectory_id": "f", "site": "", "template": None, "image": packed(noise(5))},
    ]
    assert splits.assign(rows).group == (0, 0, 0, 0, 0, 1)
    assert splits.assign(rows[::-1]).group == (0, 1, 1, 1, 1, 1)


def test_near_pictures_are_joined_and_unlike_ones_are_not() -> None:
    page = noise(7, (24, 16)).resize((640, 360), Pillow.Resampling.BICUBIC)
    blinked = page.copy()
    blinked.paste((0, 0, 0), (300, 200, 302, 214))
    other_colours = Pillow.merge("RGB", page.split()[::-1])
    flats = [Pillow.new("RGB", (64, 48), colour) for colour in ((20, 10, 200), (21, 10, 200), (250, 250, 250))]
    pictures = {
        "page": packed(page),
        "blinked": packed(blinked),
        "jpeg": packed(page, "JPEG", quality=85),
        "other colours": packed(other_colours),
        "another page": packed(noise(8, (24, 16)).resize((640, 360), Pillow.Resampling.BICUBIC)),
        **{f"flat {n}": packed(flat) for n, flat in enumerate(flats)},
        "flat again": packed(flats[0].convert("RGBA")),
    }
    rows = [{"image": data} for data in pictures.values()]
    groups = dict(zip(pictures, splits.assign(rows, keys=()).group, strict=True))
    assert groups["page"] == groups["blinked"] == groups["jpeg"]
    assert groups["flat 0"] == groups["flat again"]
    assert len(set(groups.values())) == 6
    exact = splits.assign(rows, keys=(), distance=0, level=0.0)
    assert exact.group[0] != exact.group[2]


@given(
    weights=st.lists(st.integers(1, 9), min_size=1, max_size=9),
    shares=st.lists(st.integers(1, 6), min_size=2, max_size=3),
    seed=st.integers(0, 3),
)
def test_sizes_are_as_near_as_any_choice_of_groups(weights: list[int], shares: list[int], seed: int) -> None:
    sizes = subsets.targets(sum(weights), [share / sum(shares) for share in shares])
    assert sum(sizes) == sum(weights)

    def off(choice: tuple[int, ...]) -> int:
        got = [sum(w for w, c in zip(weights, choice, strict=True) if c == i) for i in range(len(sizes))]
        return sum(abs(a - b) for a, b in zip(got, sizes, strict=True))

    found = tuple(subsets.divide(weights, sizes, seed))
    assert found == tuple(subsets.divide(weights, sizes, seed))
    if len(weights) <= 7:
        assert off(found) == min(map(off, itertools.product(range(len(sizes)), repeat=len(weights))))


@pytest.mark.parametrize(
    ("count", "largest", "shares"),
    [(2_000, 30, (0.8, 0.1, 0.1)), (20_000, 60, (0.9, 0.1)), (40, 4_000, (0.5, 0.3, 0.2)), (300, 30, (0.7, 0.2, 0.1))],
)
def test_many_groups_reach_their_shares(count: int, largest: int, shares: tuple[float, ...]) -> None:
    chance = random.Random(count)
    weights = [chance.randrange(1, largest) for _ in range(count)]
    sizes = subsets.targets(sum(weights), shares)
    got = Counter[int]()
    for weight, split in zip(weights, subsets.divide(weights, sizes), strict=True):
        got[split] += weight
    slack = 2 if count < 100 else 0
    assert all(abs(got[i] - size) <= slack for i, size in enumerate(sizes))


def test_what_cannot_be_divided_stays_in_the_first_split() -> None:
    rows = [{"site": "one", "n": n} for n in range(10)]
    for fractions in ({"train": 0.5, "test": 0.5}, {"train": 0.9, "test": 0.1}):
        found = splits.assign(rows, fractions, pictures=())
        assert found.rows == {"train": 10, "test": 0}
    assert splits.assign([], pictures=()).rows == {"train": 0, "test": 0}


@pytest.mark.parametrize(
    "fractions", [{}, {"train": 0.5}, {"train": 1.5, "test": -0.5}, {"train": 0.9, "te st": 0.1}, {"a-b": 1.0}]
)
def test_shares_that_make_no_splits_are_refused(fractions: dict[str, float]) -> None:
    with pytest.raises(CallError):
        splits.assign([{"site": "a"}], fractions, pictures=())


def test_a_picture_that_does_not_decode_is_named() -> None:
    torn = packed(noise(1))
    torn = torn[:200] + b"\0" * 300 + torn[500:]
    with pytest.raises((DataError, ValueError), match="does not decode|no look"):
        splits.assign([{"image": torn}], keys=())


@settings(max_examples=30)
@given(data=st.data(), distance=st.integers(0, 6))
def test_bands_find_every_close_pair(data: st.DataObject, distance: int) -> None:
    seeds = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6))
    flips = data.draw(st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 63), max_size=7)), max_size=40))
    values = [*seeds, *(seeds[n % len(seeds)] ^ sum(1 << bit for bit in bits) for n, bits in flips)]
    hashes = np.array(values, dtype=np.uint64)
    found = {(int(min(p)), int(max(p))) for block in near.close_pairs(hashes, distance) for p in block}
    pairs = itertools.combinations(range(len(values)), 2)
    assert found == {(a, b) for a, b in pairs if (values[a] ^ values[b]).bit_count() <= distance}


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_bits_are_counted_with_and_without_numpy_2(values: list[int]) -> None:
    hashes = np.array(values, dtype=np.uint64)
    expected = [value.bit_count() for value in values]
    assert list(near.ones(hashes)) == expected
    assert list(near.summed_ones(hashes)) == expected


def test_looks_are_taken_once_and_need_no_decoding() -> None:
    data = packed(noise(3))
    held = image.from_bytes(data, keep=False)
    looks = near.Looks()
    assert looks.place(held) == looks.place(image.from_bytes(data, phash=False)) == 0 and len(looks) == 1
    assert held.data is None and held.path is None  # it was placed without its bytes
