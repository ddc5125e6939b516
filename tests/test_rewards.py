"""Rewards are bounded, symmetric, fall with distance and do not change with scale; none turns an error into 0."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cuadata.cli import app
from cuadata.contracts import View
from cuadata.errors import CallError, DataError
from cuadata.learning.reward_adapter import text_of, trl_adapter
from cuadata.registry import formats, rewards
from cuadata.rows import Target
from cuadata.scores import reward_scores
from cuadata.statistics import gaussians, groups
from cuadata.types import Action, BBox, Outcome, Point, Size

PAGE = Size(1000, 800)
#: Bounds of the rewards of a place.
PLACES = {
    "point_in_box": (0, 1),
    "gaussian_point": (0, 1),
    "gaussian_coverage": (0, 1),
    "gui_g2": (0, 2),
    "distance_quad": (0, 2),
    "aepo_rank": (-1, 1),
    "corner_margin": (-1, 1),
}
BOXES = st.builds(BBox, st.integers(0, 800), st.integers(0, 600), st.integers(4, 200), st.integers(4, 200))
INSIDE = st.tuples(st.integers(0, 999), st.integers(0, 799))


def row(box: BBox, **columns: Any) -> dict[str, Any]:
    return {"target": box, "format": "gta1", "image_width": PAGE.width, "image_height": PAGE.height, **columns}


def pay(name: str, answer: str, box: BBox, **columns: Any) -> float:
    return rewards[name](answer, **row(box, **columns))


def at(x: float, y: float) -> str:
    return f"({x}, {y})"


def corners(box: BBox) -> str:
    return f"[{box.x}, {box.y}, {box.right}, {box.bottom}]"


@pytest.mark.parametrize("name", PLACES)
@given(box=BOXES, point=INSIDE)
def test_rewards_of_places_are_bounded(name: str, box: BBox, point: tuple[int, int]) -> None:
    low, high = PLACES[name]
    for answer in (at(*point), corners(box), "no idea", "(5000, 3)"):
        assert low <= pay(name, answer, box) <= high + 1e-9


@pytest.mark.parametrize("name", ["point_in_box", "gaussian_point", "gui_g2", "distance_quad", "corner_margin"])
@given(box=BOXES, across=st.integers(0, 300), down=st.integers(0, 300))
def test_rewards_of_places_are_symmetric(name: str, box: BBox, across: int, down: int) -> None:
    """Left or right, above or below: the same distance is worth the same, where the picture does not end first."""
    # On its right and bottom edge a point is outside of a box, on the others inside.
    assume(2 * across != box.width and 2 * down != box.height)
    page = {"image_width": 2000, "image_height": 2000}
    middle = BBox(1000 - box.width / 2, 1000 - box.height / 2, box.width, box.height)
    paid = {
        round(pay(name, at(1000 + i * across, 1000 + j * down), middle, **page), 9) for i in (-1, 1) for j in (-1, 1)
    }
    assert len(paid) == 1


@pytest.mark.parametrize("name", ["point_in_box", "gaussian_point", "gui_g2", "distance_quad", "corner_margin"])
@given(box=BOXES, angle=st.floats(0, math.tau), near=st.floats(0, 200), far=st.floats(0, 200))
def test_rewards_of_places_fall_with_distance(name: str, box: BBox, angle: float, near: float, far: float) -> None:
    near, far = sorted((near, far))
    page = {"image_width": 2000, "image_height": 2000}
    middle = BBox(1000 - box.width / 2, 1000 - box.height / 2, box.width, box.height)
    paid = [pay(name, at(1000 + r * math.cos(angle), 1000 + r * math.sin(angle)), middle, **page) for r in (near, far)]
    assert paid[0] >= paid[1] - 1e-9


@pytest.mark.parametrize("name", ["gaussian_point", "gaussian_coverage", "gui_g2"])
@given(one=BOXES, other=BOXES, scale=st.sampled_from([2, 3, 5]))
def test_gaussian_rewards_do_not_change_with_scale(name: str, one: BBox, other: BBox, scale: int) -> None:
    def scaled(box: BBox) -> BBox:
        return BBox(box.x * scale, box.y * scale, box.width * scale, box.height * scale)

    assume(one.right <= 1000 > other.right and one.bottom <= 800 > other.bottom)
    page = {"image_width": PAGE.width * scale, "image_height": PAGE.height * scale}
    small, large = pay(name, corners(one), other), pay(name, corners(scaled(one)), scaled(other), **page)
    assert small == pytest.approx(large, abs=1e-9)


@pytest.mark.parametrize("name", ["point_in_box", "distance_quad", "corner_margin"])
@given(box=BOXES, point=INSIDE, scale=st.sampled_from([2, 4]))
def test_rewards_of_shares_do_not_change_with_scale(name: str, box: BBox, point: tuple[int, int], scale: int) -> None:
    """The same page at twice the size, and the same page as a picture of twice the pixels."""
    big = BBox(box.x * scale, box.y * scale, box.width * scale, box.height * scale)
    page = {"image_width": PAGE.width * scale, "image_height": PAGE.height * scale}
    answer = at(point[0] * scale, point[1] * scale)
    assert pay(name, answer, big, **page) == pytest.approx(pay(name, at(*point), box), abs=1e-9)
    dense = {**page, "viewport_width": PAGE.width, "viewport_height": PAGE.height}
    assert pay(name, answer, box, **dense) == pytest.approx(pay(name, at(*point), box), abs=1e-9)


@given(BOXES)
def test_gui_g2_is_two_where_the_boxes_are_the_same(box: BBox) -> None:
    assume(box.right < 1000 and box.bottom < 800)
    assert pay("gui_g2", corners(box), box) == pytest.approx(2)
    assert pay("gaussian_coverage", corners(box), box) == pytest.approx(1)
    assert pay("gui_g2", at(box.center.x, box.center.y), box) == pytest.approx(1), "a point has nothing to cover with"
    assert pay("gui_g2", corners(box), box, nu=0.8, gamma=0.2) == pytest.approx(1)


@given(BOXES, BOXES)
def test_coverage_is_symmetric_and_the_bhattacharyya_coefficient(one: BBox, other: BBox) -> None:
    assert gaussians.coverage(one, other, alpha=0.5) == pytest.approx(gaussians.coverage(other, one, alpha=0.5))
    import numpy as np

    sides = [(b.center.x, max(0.5 * b.width, 0.5)) for b in (one, other)]
    span = np.linspace(-2000, 3000, 60_001)
    normal = [np.exp(-0.5 * ((span - m) / s) ** 2) / (s * math.sqrt(2 * math.pi)) for m, s in sides]
    across = float(np.sqrt(normal[0] * normal[1]).sum() * (span[1] - span[0]))
    row_of = BBox(one.x, 0, one.width, 10), BBox(other.x, 0, other.width, 10)
    assert gaussians.coverage(*row_of, alpha=0.5) == pytest.approx(across, abs=1e-3)


def test_known_values() -> None:
    box = BBox(100, 100, 100, 50)
    assert pay("gaussian_point", at(200, 125), box) == pytest.approx(math.exp(-0.5)), "one sigma off, alpha = 0.5"
    assert pay("distance_quad", at(150, 125), box) == pytest.approx(2)
    far = math.hypot(0.85, 1 - 125 / 800)
    assert pay("distance_quad", at(999, 799), box) == pytest.approx(
        1 - ((math.hypot(849, 674 * 1.25) / 1000) / far) ** 2
    )
    assert pay("corner_margin", at(150, 125), box) == pytest.approx(1)
    assert pay("corner_margin", at(100, 100), box) == 0
    assert pay("corner_margin", at(250, 125), box) == pytest.approx(-50 / math.hypot(800, 650))
    assert pay("point_in_box", at(205, 125), box) == 0
    assert pay("point_in_box", at(205, 125), box, slack=10) == 1


@pytest.mark.parametrize(
    ("answer", "paid"),
    [
        ("[(150, 125)]", 1.0),
        ("[(5, 5)]", -1.0),
        ('[{"point_2d": [5, 5]}, {"point_2d": [150, 125]}]', 1 / math.sqrt(2 * 2)),
        ('[{"point_2d": [150, 125]}, {"point_2d": [5, 5]}, {"point_2d": [7, 300]}]', 1 / math.sqrt(3)),
        ('[{"point_2d": [5, 5]}, {"point_2d": [9, 300]}]', -0.5),
        ('[{"point_2d": [140, 125]}, {"point_2d": [150, 125]}, {"point_2d": [160, 125]}]', -1.0),
        ("nothing", -1.0),
    ],
)
def test_the_rank_of_the_first_right_point(answer: str, paid: float) -> None:
    assert pay("aepo_rank", answer, BBox(100, 100, 100, 50)) == pytest.approx(paid)


def test_the_rank_pays_for_the_format_where_asked() -> None:
    assert pay("aepo_rank", "[(150, 125)]", BBox(100, 100, 100, 50), format_bonus=1.0) == 2


def test_the_relation_is_what_is_paid() -> None:
    reference, above, below = BBox(100, 200, 80, 30), BBox(100, 100, 80, 30), BBox(100, 300, 80, 30)
    columns = {"relation": "above", "references": [reference], "candidates": [above, below, reference]}
    assert pay("relation_satisfied", at(140, 115), above, **columns) == 1
    assert pay("relation_satisfied", at(140, 315), above, **columns) == 0, "the opposite side"
    assert pay("relation_satisfied", at(140, 215), above, **columns) == 0, "the reference itself"
    assert pay("relation_satisfied", at(600, 600), above, **columns) == 0, "nothing"
    assert pay("relation_satisfied", "no", above, **columns) == 0
    bare = {"relation": "above", "references": [{"bbox": {"x": 100, "y": 200, "width": 80, "height": 30}}]}
    assert pay("relation_satisfied", at(140, 100), above, **bare) == 1
    assert pay("relation_satisfied", at(140, 400), above, **bare) == 0
    with pytest.raises(CallError, match="relation"):
        pay("relation_satisfied", at(1, 1), above, relation="near", references=[reference])


@given(st.integers(0, 900), st.integers(0, 700), st.floats(0.4, 1.0))
def test_answers_that_move_with_the_picture_are_paid_in_full(x: int, y: int, zoom: float) -> None:
    moved = x * zoom + 3, y * zoom + 5
    columns = {"original": [x, y], "transform": json.dumps({"affine": [zoom, 0, 3, 0, zoom, 5]})}
    assert pay("equivariance", at(*moved), BBox(0, 0, 1, 1), **columns) == pytest.approx(1, abs=1e-9)
    off = pay("equivariance", at(999, 799), BBox(0, 0, 1, 1), **columns)
    assert 0 <= off <= 1
    assert pay("equivariance", "?", BBox(0, 0, 1, 1), **columns) == 0


def test_a_mirrored_picture_is_refused() -> None:
    with pytest.raises(CallError, match="mirrors"):
        pay("equivariance", at(1, 1), BBox(0, 0, 1, 1), original=[1, 1], transform=[-1, 0, 1000, 0, 1, 0])
    with pytest.raises(CallError, match="affine"):
        pay("equivariance", at(1, 1), BBox(0, 0, 1, 1), original=[1, 1])
    with pytest.raises(CallError, match="original"):
        pay("equivariance", at(1, 1), BBox(0, 0, 1, 1), transform=[1, 0, 0, 0, 1, 0])


def test_the_region_that_a_group_agrees_on() -> None:
    group = ["(100, 100)", "(102, 101)", "(98, 100)", "(700, 700)", "no idea"]
    paid = [pay("region_consistency", answer, BBox(0, 0, 1, 1), group=group) for answer in group]
    assert paid[4] == 0
    assert paid[3] == pytest.approx(1 / 3), "its own vote, by the three of the region"
    assert all(0.9 < value <= 1 for value in paid[:3])
    alone = pay("region_consistency", "(5, 5)", BBox(0, 0, 1, 1), group=["(5, 5)"] * 4)
    assert alone == 1
    with pytest.raises(CallError, match="group"):
        pay("region_consistency", "(5, 5)", BBox(0, 0, 1, 1))


def test_the_kind_of_action_and_its_text() -> None:
    def said(name: str, text: str, action: Any, **more: Any) -> float:
        return rewards[name](text, format="json", image_width=9, image_height=9, action=action, **more)

    typed = '{"action": "type", "text": "Hello brave world"}'
    wanted = Action(type="type", text="hello world")
    assert said("action_type", typed, wanted) == 1
    assert said("action_type", '{"action": "press", "keys": ["Enter"]}', wanted) == 0
    assert said("action_type", "?", wanted) == 0
    assert said("text_f1", typed, {"type": "type", "text": "hello world"}) == pytest.approx(2 * 2 / 5)
    assert said("text_f1", typed, wanted, threshold=0.5) == 1
    assert said("text_f1", "?", wanted) == 0
    assert said("text_f1", '{"action": "back"}', Action(type="back")) == 1
    with pytest.raises(CallError, match="action"):
        said("action_type", typed, None)


def test_the_format_is_paid_and_strictly_where_asked() -> None:
    clean, wordy = "(3, 4)", "I think it is (3, 4)."
    box = BBox(0, 0, 9, 9)
    assert pay("format_reward", clean, box) == pay("format_reward", wordy, box) == 1
    assert pay("format_reward", clean, box, strict=True) == 1
    assert pay("format_reward", wordy, box, strict=True) == 0
    assert pay("format_reward", "no idea", box) == 0


@pytest.mark.parametrize(
    ("outcome", "exact", "default", "raw"),
    [
        (Outcome(ended="success", success=True, exact=1.0, raw=1.0), 1.0, 1.0, 1.0),
        ({"exact": 0.0, "raw": 0.67}, 0.0, 1.0, 0.67),
        ({"success": False, "raw": -0.2}, 0.0, 0.0, -0.2),
    ],
)
def test_rewards_of_rollouts(outcome: Any, exact: float, default: float, raw: float) -> None:
    """Two of three boxes are paid in full by default, and nothing exactly."""
    paid = [rewards[name]("click(27)", outcome=outcome) for name in ("exact", "default", "raw")]
    assert paid == [exact, default, raw]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("point_in_box", {"image_width": 9, "image_height": 9, "target": [0, 0, 1, 1]}),
        ("point_in_box", {"format": "gta1", "target": [0, 0, 1, 1]}),
        ("point_in_box", {"format": "gta1", "image_width": 9, "image_height": 9}),
        ("gui_g2", {"format": "gta1", "image_width": 9, "image_height": 9, "target": "a box"}),
        ("exact", {"outcome": {}}),
        ("raw", {"outcome": {"raw": float("nan")}}),
        ("default", {}),
    ],
)
def test_a_row_that_cannot_be_judged_raises(name: str, columns: dict[str, Any]) -> None:
    with pytest.raises(CallError):
        rewards[name]("(3, 4)", **columns)


def test_an_unknown_format_raises() -> None:
    with pytest.raises(KeyError, match="no format is named"):
        pay("point_in_box", "(3, 4)", BBox(0, 0, 9, 9), format="gpt9")


@pytest.mark.parametrize("name", rewards.names())
def test_every_reward_is_one(name: str) -> None:
    reward = rewards[name]
    assert reward.__name__ == name
    assert (reward.__doc__ or "").strip()
    assert reward.__module__ == f"cuadata.rewards.{name}", "one file a reward"


def test_targets_in_every_form() -> None:
    box = BBox(10, 20, 30, 40)
    forms = [
        box,
        Target(role="button", name="a", bbox=box),
        {"role": "button", "bbox": {"x": 10, "y": 20, "width": 30, "height": 40}},
        {"x": 10, "y": 20, "width": 30, "height": 40},
        [10, 20, 30, 40],
    ]
    assert {rewards["point_in_box"](at(25, 30), **{**row(box), "target": form}) for form in forms} == {1.0}


def test_the_adapter_pays_row_by_row() -> None:
    call = formats["qwen25vl"].write(Action(type="click", point=Point(25, 30)), View(image=PAGE, viewport=PAGE))
    completions = [[{"role": "assistant", "content": call}], [{"role": "assistant", "tool_calls": []}], call]
    columns = {
        "target": [{"bbox": {"x": 10, "y": 20, "width": 30, "height": 40}}] * 2 + [[500, 500, 10, 10]],
        "image_width": [1000] * 3,
        "image_height": [800] * 3,
    }
    reward = trl_adapter("point_in_box", "qwen25vl")
    assert reward.__name__ == "point_in_box"
    paid = reward(["a", "a", "b"], completions, completion_ids=[[1], [2], [3]], trainer_state=None, **columns)
    assert paid == [1.0, 0.0, 0.0]
    assert trl_adapter("point_in_box", "qwen25vl", slack=1000)(["a"] * 3, completions, **columns)[2] == 1.0


def test_the_adapter_knows_the_group() -> None:
    texts = ["(100, 100)", "(100, 100)", "(700, 700)", "(5, 5)", "(5, 5)", "(5, 5)"]
    columns = {"image_width": [1000] * 6, "image_height": [800] * 6}
    by_prompt = trl_adapter("region_consistency", "gta1")([["a"]] * 3 + [["b"]] * 3, texts, **columns)
    assert by_prompt == pytest.approx([1, 1, 0.5, 1, 1, 1])
    by_size = trl_adapter("region_consistency", "gta1", group_size=3)(["same"] * 6, texts, **columns)
    assert by_size == by_prompt
    by_id = trl_adapter("region_consistency", "gta1")(["same"] * 6, texts, id=["p"] * 3 + ["q"] * 3, **columns)
    assert by_id == by_prompt


def test_the_adapter_raises_what_a_reward_raises() -> None:
    with pytest.raises(KeyError, match="no reward"):
        trl_adapter("luck", "gta1")
    with pytest.raises(KeyError, match="no format"):
        trl_adapter("point_in_box", "gpt9")
    with pytest.raises(CallError, match="no threshold"):
        trl_adapter("point_in_box", "gta1", slak=3)
    with pytest.raises(CallError, match="target"):
        trl_adapter("point_in_box", "gta1")(["a"], ["(3, 4)"], image_width=[9], image_height=[9])


def test_texts_of_completions() -> None:
    assert text_of("a") == "a"
    assert (
        text_of([{"role": "assistant", "content": [{"type": "text", "text": "a"}]}, {"role": "tool", "content": "x"}])
        == "a"
    )
    assert text_of([{"role": "assistant"}]) == ""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Four prompts with four answers each: one always right, one never, two in between."""
    rows = []
    for group, right in enumerate((4, 0, 2, 1)):
        for n in range(4):
            x = 50 + n if n < right else 70 + 3 * n
            rows.append({"group": f"g{group}", "output": f"({x}, 50)", **row(BBox(40, 40, 20, 20))})
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps({**r, "target": [40, 40, 20, 20]}) + "\n" for r in rows))
    return path


def test_scores_of_a_log(log: Path) -> None:
    cases = reward_scores.from_rows(log, "gta1")
    assert [len(case.answers) for case in cases] == [4] * 4
    found = {s.name: s for s in reward_scores.score(cases, ["point_in_box", "gaussian_point", "format_reward"], seed=3)}
    sparse, dense, form, chance = (found[n] for n in ("point_in_box", "gaussian_point", "format_reward", "random"))
    assert (sparse.n, sparse.mean, sparse.groups) == (16, 7 / 16, 4)
    assert sparse.without_spread == 0.5, "all right, and all wrong"
    assert dense.without_spread == 0.0, "a dense reward tells the misses of a group apart"
    assert sparse.ranks_hits == dense.ranks_hits == 1.0
    assert form.without_spread == 1.0 and form.ranks_hits == 0.5
    assert chance.without_spread == 0.0 and chance.ranks_hits is not None and 0.1 < chance.ranks_hits < 0.9
    again = reward_scores.score(cases, ["point_in_box"], seed=3)
    assert again[-1] == chance, "the same seed draws the same"


def test_the_area_under_the_curve() -> None:
    assert reward_scores.auc([(1, True), (0, False)]) == 1
    assert reward_scores.auc([(0, True), (1, False)]) == 0
    assert reward_scores.auc([(1, True), (1, False)]) == 0.5
    assert reward_scores.auc([(3, True), (2, False), (1, True), (0, False)]) == 0.75
    assert reward_scores.auc([(1, True)]) is None


def test_the_rewards_command(log: Path, tmp_path: Path) -> None:
    options = ["rewards", "score", str(log), "--reward", "point_in_box,gui_g2", "--format", "gta1", "--json"]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    held = json.loads(done.stdout)
    assert [r["name"] for r in held["rewards"]] == ["point_in_box", "gui_g2", "random"]
    assert held["rewards"][0]["mean"] == 7 / 16
    (tmp_path / "empty.jsonl").write_text("")
    empty = CliRunner().invoke(app, [*options[:2], str(tmp_path / "empty.jsonl"), *options[3:]])
    assert isinstance(empty.exception, DataError)


def test_rewards_on_a_gold_set() -> None:
    folder = Path(__file__).resolve().parents[2] / "shared" / "gui_perturbed"
    file = folder / "predictions_gta1_no_reasoning_relational.jsonl"
    if not file.exists():
        pytest.skip("the gold set is not at hand")
    cases = reward_scores.from_gold(file, f"gui_perturbed:{folder}", "gta1")
    hit, smooth, chance = reward_scores.score(cases, ["point_in_box", "gaussian_point"])
    assert hit.n == 1716 and 0.55 < hit.mean < 0.66
    assert smooth.ranks_hits is not None and smooth.ranks_hits > 0.99
    assert chance.ranks_hits is not None and 0.45 < chance.ranks_hits < 0.55


def test_prompts_that_a_reward_cannot_judge_are_left_out_and_counted() -> None:
    box = {"x": 100, "y": 100, "width": 40, "height": 20}
    columns = {"format": "gta1", "target": box, "image_size": [800, 600], "frame": "px"}
    below = {**box, "y": 200}
    cases = [
        reward_scores.Case(
            group="a", answers=("(120,110)",), columns={**columns, "relation": "above", "references": [below]}
        ),
        reward_scores.Case(group="b", answers=("(120,110)",), columns={**columns, "relation": None}),
        reward_scores.Case(group="c", answers=("(120,110)",), columns={**columns, "relation": "above"}),
    ]
    satisfied, hit, chance = reward_scores.score(cases, ["relation_satisfied", "point_in_box"])
    assert (satisfied.n, satisfied.left_out, satisfied.mean) == (1, 2, 1.0)
    assert (hit.n, hit.left_out, chance.n) == (3, 0, 3)
    with pytest.raises(CallError, match="relation"):
        reward_scores.score(cases[1:2], ["relation_satisfied"])


@pytest.mark.parametrize("raw", [(1e308, -1e308), (1e308, 1e308), (-1e308, 0.0), (1.7e308, 1.0)])
def test_enormous_rewards_are_scored_as_others_are(tmp_path: Path, raw: tuple[float, float]) -> None:
    def scored(unit: float) -> reward_scores.Score:
        lines = [{"group": "a", "text": f"{n}", "outcome": {"raw": value / unit}} for n, value in enumerate(raw * 2)]
        (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return reward_scores.score(reward_scores.from_rows(tmp_path / "p.jsonl", "gta1"), ["raw"])[0]

    large, small = scored(1), scored(1e300)
    for name in ("mean", "std", "group_std"):
        assert getattr(large, name) == pytest.approx(1e300 * getattr(small, name)), name
    assert large.quantiles == pytest.approx([1e300 * value for value in small.quantiles])
    assert large.without_spread == small.without_spread
    assert groups.advantages(raw) == pytest.approx(groups.advantages([v / 1e300 for v in raw]), abs=1e-3)


def test_rewards_whose_spread_no_float_holds_are_refused(tmp_path: Path) -> None:
    lines = [{"group": "a", "text": "x", "outcome": {"raw": value}} for value in (1.79e308, -1.79e308)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DataError, match=r"from -1.79e\+308 to 1.79e\+308 have no standard deviation"):
        reward_scores.score(reward_scores.from_rows(tmp_path / "p.jsonl", "gta1"), ["raw"])
