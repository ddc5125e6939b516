"""Wilson intervals, McNemar's test, the bootstrap and the smallest difference, against closed forms and against each other."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata.scores import compare_runs
from cuadata.statistics import intervals, paired

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
outcomes = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80)


def test_case_wilson_at_the_edges(cases: Path) -> None:
    folder = cases / "evaluation" / "B102-wilson-at-the-edges"
    given_, expected = (json.loads((folder / name).read_text()) for name in ("rows.json", "expected.json"))
    for row, wanted in zip(given_["counts"], expected["expect"]["intervals"], strict=True):
        found = intervals.wilson(row["k"], row["n"], given_["confidence"])
        assert found == (wanted and pytest.approx(wanted, abs=expected["tolerance"]))
    with pytest.raises(intervals.NotBinary) as refused:
        intervals.rate(given_["graded"])
    assert refused.value.reason == expected["expect"]["graded"]["reason"]
    assert refused.value.exit_code == 1


@pytest.mark.parametrize("graded", [[0.5], [1.0, 0.999999], [0, 1, 2], [-1.0], [math.nan], [True, 0.25]])
def test_graded_values_are_refused_wherever_they_stand(graded: list[float]) -> None:
    with pytest.raises(intervals.NotBinary):
        intervals.rate(graded)


def test_binary_values_of_any_number_type_are_counted() -> None:
    assert intervals.rate([True, 0, 1.0, False]) == intervals.counted(2, 4)
    assert intervals.rate([]) == intervals.Rate(hits=0, n=0, rate=None, interval=None)


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (0.5, 3), (1, -1)])
def test_counts_that_are_none_are_refused(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match="no count"):
        intervals.wilson(hits, n)


def test_a_confidence_is_between_nothing_and_certainty() -> None:
    assert intervals.z(0.95) == pytest.approx(1.959964, abs=1e-6)
    for wrong in (0.0, 1.0, 95.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            intervals.wilson(1, 2, wrong)


@given(counts)
def test_wilson_holds_the_share_and_stays_in_bounds(count: tuple[int, int]) -> None:
    hits, n = count
    ends = intervals.wilson(hits, n)
    assert ends is not None
    low, high = ends
    assert 0 <= low <= hits / n <= high <= 1
    assert (low == 0) == (hits == 0)
    assert (high == 1) == (hits == n)


@given(counts)
def test_wilson_is_monotone_symmetric_and_narrows(count: tuple[int, int]) -> None:
    hits, n = count
    ends = intervals.wilson(hits, n)
    assert ends is not None
    mirrored = intervals.wilson(n - hits, n)
    assert mirrored == pytest.approx((1 - ends[1], 1 - ends[0]), abs=1e-12)
    if hits < n:
        more = intervals.wilson(hits + 1, n)
        assert more is not None
        assert more[0] > ends[0]
        assert more[1] > ends[1] or ends[1] == 1
    wider, larger = intervals.wilson(hits, n, 0.99), intervals.wilson(10 * hits, 10 * n)
    assert wider is not None
    assert larger is not None
    assert wider[1] - wider[0] > ends[1] - ends[0] > larger[1] - larger[0]


@given(outcomes)
def test_mcnemar_is_symmetric_and_a_probability(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = paired.mcnemar(first, second), paired.mcnemar(second, first)
    assert (there.only_first, there.only_second) == (back.only_second, back.only_first)
    assert there.p == back.p
    assert 0 < there.p <= 1
    assert paired.mcnemar(first, first).p == 1


def _discordant(b: int, c: int) -> paired.McNemar:
    return paired.mcnemar([True] * b + [False] * c, [False] * b + [True] * c)


def test_mcnemar_against_scipy_on_both_sides_of_the_border() -> None:
    from scipy.stats import binomtest, chi2

    for b, c in ((0, 0), (1, 0), (5, 1), (12, 12), (20, 4)):
        assert _discordant(b, c).method == "exact"
        wanted = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
        assert _discordant(b, c).p == pytest.approx(wanted)
    for b, c in ((20, 5), (12, 13), (13, 13), (60, 20)):
        assert _discordant(b, c).method == "chi_square"
        wanted = chi2.sf(max(abs(b - c) - 1, 0) ** 2 / (b + c), 1)
        assert _discordant(b, c).p == pytest.approx(wanted)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 5))
def test_the_bootstrap_is_fixed_by_its_seed(values: list[float], seed: int) -> None:
    clusters = [i // 3 for i in range(len(values))]
    one = intervals.mean(values, clusters, samples=200, seed=seed)
    assert one == intervals.mean(values, clusters, samples=200, seed=seed)
    assert one.interval is not None
    assert min(values) - 1e-9 <= one.interval[0] <= one.interval[1] <= max(values) + 1e-9


def test_the_bootstrap_s_draws_do_not_depend_on_how_many_are_asked_for() -> None:
    values = [0.0, 1.0, 0.25, 0.5]
    assert intervals.means(values, samples=1200)[:700] == intervals.means(values, samples=700)


def test_clusters_widen_the_interval() -> None:
    rows = [float(i % 2) for i in range(40) for _ in range(10)]
    alone = intervals.bootstrap(rows, samples=2000)
    whole = intervals.bootstrap(rows, [i // 10 for i in range(400)], samples=2000)
    assert whole[1] - whole[0] > 2 * (alone[1] - alone[0])


def test_means_of_nothing_are_none() -> None:
    assert intervals.mean([]) == intervals.Mean(mean=None, n=0, interval=None)
    with pytest.raises(ValueError, match="each value needs its own"):
        intervals.bootstrap([1.0, 0.0], ["a"])


@given(st.floats(0, 1), st.integers(20, 5000))
def test_the_smallest_difference_shrinks_with_the_sample(share: float, n: int) -> None:
    few, many = paired.smallest_difference(n, share), paired.smallest_difference(4 * n, share)
    assert many is not None
    assert few is None or many <= few
    assert 0 < many <= 1


def test_the_smallest_difference_is_shown_with_its_power() -> None:
    """Simulated: at the difference it names, McNemar's test rejects in about 80 of 100 samples."""
    import numpy as np

    n, share = 600, 0.3
    difference = paired.smallest_difference(n, share)
    assert difference is not None
    random = np.random.default_rng(0)
    draws = random.multinomial(n, [(share + difference) / 2, (share - difference) / 2, 1 - share], 400)
    shown = sum(paired._p_value(int(b), int(c))[0] < 0.05 for b, c, _ in draws)
    assert 0.72 <= shown / 400 <= 0.88


def test_three_pairs_show_nothing() -> None:
    assert paired.smallest_difference(3, 0.1) is None
    with pytest.raises(ValueError, match="share"):
        paired.smallest_difference(10, 1.5)


def test_a_comparison_speaks_of_the_second_against_the_first() -> None:
    first, second = [True] * 30 + [False] * 70, [True] * 60 + [False] * 40
    found = paired.compare(first, second, samples=2000)
    assert found.difference == pytest.approx(0.3)
    assert found.interval[0] > 0
    assert (found.mcnemar.only_first, found.mcnemar.only_second) == (0, 30)
    assert found.design_effect == pytest.approx(1, abs=0.1)
    doubled = paired.compare(first * 4, second * 4, list(range(100)) * 4, samples=2000)
    assert doubled.clusters == 100
    assert doubled.design_effect == pytest.approx(4, rel=0.15)
    assert found.smallest == pytest.approx(doubled.smallest or 0, rel=0.1)


def test_whole_clusters_are_flipped_in_every_way() -> None:
    drawn = random.Random(5)
    for _ in range(40):
        clusters = [drawn.randrange(7) for _ in range(30)]
        differences = [drawn.choice((-1, 0, 0, 1, 1)) for _ in range(30)]
        sums = [sum(d for d, c in zip(differences, clusters, strict=True) if c == one) for one in range(7)]
        ways = [abs(sum(s * w for s, w in zip(sums, way, strict=True))) for way in itertools.product((-1, 1), repeat=7)]
        share = sum(way >= abs(sum(sums)) for way in ways) / len(ways)
        assert paired.clustered(differences, clusters) == pytest.approx(share)
    assert paired.clustered([0, 0], "ab") == 1
    alone = [True] * 9 + [False] * 2, [False] * 9 + [True] * 2
    swapped = [int(b) - int(a) for a, b in zip(*alone, strict=True)]
    assert paired.clustered(swapped, range(11)) == pytest.approx(paired.mcnemar(*alone).p)


def test_many_clusters_go_by_the_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    differences, clusters = [1] * 130 + [-1] * 90, [place // 2 for place in range(220)]
    counted = paired.clustered(differences, clusters)
    monkeypatch.setattr(paired, "_COUNTED", 0)
    assert paired.clustered(differences, clusters) == pytest.approx(counted, rel=0.1)


def test_rows_of_few_clusters_show_no_difference() -> None:
    """Twenty samples of one lucky seed are one piece of luck."""
    first, second = [False] * 60, [True] * 20 + [False] * 40
    seeds = [place // 20 for place in range(60)]
    found = paired.compare(first, second, seeds, samples=500)
    assert found.mcnemar.p < 1e-4
    assert found.p == found.p_clustered == 1
    assert "no difference shown" in compare_runs.verdict(found)
    assert "3 clusters" in compare_runs.verdict(found)
    single = paired.compare(first, second, [0] * 60, samples=500)
    assert "1 cluster," in compare_runs.verdict(single)
    apart = paired.compare(first, second, range(60), samples=500)
    assert apart.p == apart.mcnemar.p
    assert "gains 33.3 points" in compare_runs.verdict(apart)


def test_comparisons_want_the_same_items() -> None:
    with pytest.raises(ValueError, match="same items"):
        paired.compare([True], [True, False])
    with pytest.raises(ValueError, match="no pairs"):
        paired.compare([], [])
