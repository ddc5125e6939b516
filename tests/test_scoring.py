"""Success, points in boxes, pairs, variants, misses, votes and rewards, on plain lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import scoring
from cuadata.scores import misses
from cuadata.scores.failures import Ending, failures
from cuadata.statistics import potential, voting
from cuadata.statistics.intervals import NotBinary, counted
from cuadata.types import BBox, Point, Size

BOX = BBox(100, 100, 50, 20)
small = st.floats(0, 1000)
points = st.builds(Point, small, small)
boxes = st.builds(BBox, small, small, st.floats(0.5, 300), st.floats(0.5, 300))


def test_case_positive_reward_is_not_success(cases: Path) -> None:
    folder = cases / "evaluation" / "B101-positive-reward-is-not-success"
    episodes = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    expect = json.loads((folder / "expected.json").read_text())["expect"]
    assert {e["id"]: e["goal_check"] for e in episodes} == expect["success"]
    found = scoring.success(e["goal_check"] for e in episodes)
    assert (found.judged.hits, found.judged.rate) == (expect["success_count"], expect["success_rate"])
    with pytest.raises(NotBinary):
        scoring.success(e["reward"] for e in episodes)
    endings = {
        e["id"]: Ending(ended="budget" if e["timed_out"] else "failure", success=e["goal_check"]) for e in episodes
    }
    found_out = [id for id, ending in endings.items() if "budget_exhausted" in failures((), ending)]
    assert found_out == expect["timed_out"]


def test_episodes_that_nobody_judged_are_counted_beside() -> None:
    assert scoring.success([True, None, False]) == scoring.Success(judged=counted(1, 2), unjudged=1)
    assert scoring.success([]).judged.rate is None


def test_case_reward_cannot_be_farmed(cases: Path) -> None:
    folder = cases / "evaluation" / "B105-reward-cannot-be-farmed"
    task, episodes, expected = (
        json.loads((folder / name).read_text()) for name in ("task.json", "episodes.json", "expected.json")
    )
    expect, tolerance = expected["expect"], expected["tolerance"]
    for number, actions in enumerate(episodes):
        state = dict(task["initial"])
        met = [potential.fraction_met(state, task["goal"])]
        for action in actions:
            state[action["set"]] = action["to"]
            met.append(potential.fraction_met(state, task["goal"]))
        rewards = potential.potential_rewards(met)
        assert rewards == pytest.approx(expect["rewards"][number], abs=tolerance)
        assert sum(rewards) == pytest.approx(expect["sums"][number], abs=tolerance)
        assert (met[-1] == 1) is expect["success"][number]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_no_loop_earns_more_than_its_end(potentials: list[float]) -> None:
    """However an episode wanders, it earns the difference of its ends, and the bonus at most once."""
    rewards = potential.potential_rewards(potentials)
    reached = any(p >= 1 - 1e-9 for p in potentials[1:])  # a sum of fractions may fall that short
    assert sum(rewards) == pytest.approx(potentials[-1] - potentials[0] + reached, abs=1e-6)
    assert len(rewards) == len(potentials) - 1


def test_a_field_is_met_by_its_own_type_only() -> None:
    assert potential.fraction_met({"a": 1, "b": True}, {"a": True, "b": True}) == 0.5
    assert potential.fraction_met({}, {"a": None}) == 0
    with pytest.raises(ValueError, match="without fields"):
        potential.fraction_met({}, {})


def test_all_edges_of_a_box_count_and_slack_is_asked_for() -> None:
    for x, y in ((100, 100), (150, 120), (125, 110)):
        assert scoring.hit(Point(x, y), BOX)
    assert not scoring.hit(Point(150.5, 110), BOX)
    assert scoring.hit(Point(150.5, 110), BOX, 1)
    assert not scoring.hit(None, BOX, 1000)
    with pytest.raises(ValueError, match="shrinks"):
        scoring.hit(Point(0, 0), BOX, -1)


@given(points, boxes, st.floats(0, 50))
def test_slack_only_adds_hits(point: Point, box: BBox, slack: float) -> None:
    assert scoring.hit(point, box, slack) or not scoring.hit(point, box)
    assert scoring.hit(box.center, box)
    assert (scoring.edge_error(point, box) == 0) == scoring.hit(point, box)


def test_click_errors_are_summed_up() -> None:
    assert scoring.edge_error(Point(153, 124), BOX) == 5
    assert scoring.centre_error(Point(125, 110), BOX) == 0
    assert scoring.distances([5, 1, 3]) == scoring.Distances(n=3, median=3, p90=5)
    assert scoring.distances([]).median is None


def test_strict_pairs_want_every_member() -> None:
    items = [("a", True), ("a", True), ("b", True), ("b", False), ("alone", True)]
    assert scoring.strict(items) == counted(1, 2)


def test_flips_are_churn_beside_the_net_change() -> None:
    first = {"a": True, "b": False, "c": True, "only here": True}
    second = {"a": False, "b": True, "c": True}
    found = scoring.flips(first, second)
    assert (found.n, found.broken, found.fixed, found.p) == (3, 1, 1, 1.0)
    assert found.rate == pytest.approx(2 / 3)
    assert scoring.flips({}, {}).rate is None


def test_the_worst_variant_is_the_lowest() -> None:
    assert scoring.worst({"easy": [True], "none": [], "hard": [True, False]}) == ("hard", counted(1, 2))
    assert scoring.worst({}) is None


def test_valid_output_counts_what_could_be_read() -> None:
    assert scoring.valid_output([None, "broken", None]) == counted(2, 3)


REFERENCE = BBox(100, 100, 50, 20)


@pytest.mark.parametrize(
    ("point", "relation", "miss"),
    [
        (Point(120, 110), "above", "on_reference"),
        (Point(120, 50), "above", "right_side"),
        (Point(400, 50), "above", "right_side"),
        (Point(120, 300), "above", "opposite_side"),
        (Point(300, 110), "above", "orthogonal"),
        (Point(50, 110), "left_of", "right_side"),
        (Point(300, 110), "left_of", "opposite_side"),
        (Point(120, 50), "right_of", "orthogonal"),
        (Point(120, 50), "inside", "wrong_element"),
        (Point(120, -1), "above", "outside"),
        (Point(2000, 110), "right_of", "outside"),
    ],
)
def test_where_a_miss_went(point: Point, relation: str, miss: misses.Miss) -> None:
    assert misses.classify(point, [REFERENCE], relation, viewport=Size(1280, 720)) == miss


def test_known_candidates_tell_an_element_from_the_ground() -> None:
    other = BBox(100, 40, 50, 20)
    assert misses.classify(Point(120, 50), [REFERENCE], "above", candidates=[other]) == "right_side"
    assert misses.classify(Point(120, 70), [REFERENCE], "above", candidates=[other]) == "outside"
    assert misses.classify(Point(120, 50), [], "above", candidates=[other]) == "wrong_element"


def test_the_table_counts_hits_apart() -> None:
    table = misses.table(["unread", None, "right_side", "right_side"])
    assert (table.rows, table.n) == (4, 3)
    assert table.classes["right_side"].share == pytest.approx(2 / 3)
    assert sum(c.count for c in table.classes.values()) == table.n
    assert set(table.classes) == set(misses.MEANING)
    assert misses.table([None]).classes["outside"].share == 0


@given(boxes, boxes)
def test_a_side_has_one_opposite(box: BBox, reference: BBox) -> None:
    for relation, opposite in misses.OPPOSITE.items():
        assert misses.beyond(relation, box, reference) == misses.beyond(opposite, reference, box)
        assert not (misses.beyond(relation, box, reference) and misses.beyond(opposite, box, reference))


def _on_pixels(held: list[Point], side: int) -> tuple[float, float, int]:
    """GUI-RC as published: votes on a grid of pixels, the largest connected region of the highest count."""
    import numpy as np
    from scipy.ndimage import label

    grid = np.zeros((400, 400), int)
    for point in held:
        x, y = int(point.x) - side // 2, int(point.y) - side // 2
        grid[y : y + side, x : x + side] += 1
    labelled: Any = label(grid == grid.max())
    labels = labelled[0]
    best = np.argmax(np.bincount(labels.ravel())[1:]) + 1
    ys, xs = np.where(labels == best)
    return (xs.min() + xs.max() + 1) / 2, (ys.min() + ys.max() + 1) / 2, int(grid.max())


whole = st.builds(Point, st.integers(50, 350).map(float), st.integers(50, 350).map(float))


@given(st.lists(whole, min_size=1, max_size=12))
def test_the_vote_is_that_of_a_grid_of_pixels(held: list[Point]) -> None:
    found = voting.vote(held, side=50)
    assert found.point is not None
    assert (found.point.x, found.point.y, found.votes) == _on_pixels(held, 50)


def test_samples_that_agree_win_over_those_that_do_not() -> None:
    held = [Point(100, 100), Point(104, 98), Point(97, 103), Point(900, 500), None]
    found = voting.vote(held, viewport=Size(1280, 720))
    assert found.point is not None
    assert abs(found.point.x - 100) < 10
    assert (found.votes, found.samples, found.consistency) == (3, 5, 0.6)
    assert found.region is not None
    assert scoring.hit(found.point, found.region)


def test_nothing_to_vote_on() -> None:
    for held in ([], [None, None], [Point(-5, 5)]):
        found = voting.vote(held, viewport=Size(100, 100))
        assert (found.point, found.votes, found.consistency) == (None, 0, 0.0)
    with pytest.raises(ValueError, match="covers nothing"):
        voting.vote([Point(1, 1)], side=0)


@given(st.lists(st.one_of(st.none(), points), min_size=1, max_size=15))
def test_region_rewards_are_shares(held: list[Point | None]) -> None:
    rewards = voting.region_rewards(held, viewport=Size(1000, 1000))
    assert len(rewards) == len(held)
    for point, reward in zip(held, rewards, strict=True):
        assert reward == 0 if point is None else 1 / len(held) - 1e-9 <= reward <= 1 + 1e-9
    assert voting.region_rewards([Point(5, 5)] * 3, viewport=Size(10, 10)) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_number_is_no_potential_and_no_count(bad: float) -> None:
    with pytest.raises(ValueError, match="finite numbers are wanted"):
        potential.potential_rewards([0, bad])
    with pytest.raises(ValueError, match="no count of hits"):
        scoring.wilson(bad, 3)  # type: ignore[arg-type]
