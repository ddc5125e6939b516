"""Relations: the definitions, their margins, and what they keep under a change of the page."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import relations
from cuadata.relations import OPPOSITES, REFERENCES, Fit, fits, holds, judge
from cuadata.types import BBox, Relation, Size

# Quarters of a CSS px in a range where sums and products are exact: equality means equality.
places = st.integers(-2000, 2000).map(lambda n: n / 4)
extents = st.integers(1, 1200).map(lambda n: n / 4)
boxes = st.builds(BBox, places, places, extents, extents)
names: st.SearchStrategy[Relation] = st.sampled_from(tuple(REFERENCES))
SEARCH = BBox(400, 200, 80, 30)
PAGE = BBox(0, 0, 800, 600)


def moved(box: BBox, dx: float, dy: float) -> BBox:
    return BBox(box.x + dx, box.y + dy, box.width, box.height)


def scaled(box: BBox, by: float) -> BBox:
    return BBox(box.x * by, box.y * by, box.width * by, box.height * by)


def found(relation: Relation, all_boxes: list[BBox], references: list[BBox], page: BBox) -> tuple[Fit, ...]:
    return fits(relation, all_boxes, references[: REFERENCES[relation][1]], viewport=page, position=2)


@pytest.mark.parametrize(
    ("relation", "target", "answer"),
    [
        ("left_of", BBox(300, 200, 80, 30), True),
        ("left_of", BBox(320, 200, 80, 30), True),  # ends at the edge
        ("left_of", BBox(321, 200, 80, 30), False),  # 1 px over it
        ("left_of", BBox(300, 215, 80, 30), True),  # shares exactly half of the height
        ("left_of", BBox(300, 216, 80, 30), False),
        ("left_of", BBox(300, 192, 80, 16), True),  # half of the smaller height
        ("right_of", BBox(700, 420, 60, 30), False),  # starts further right, shares no row
        ("above", BBox(400, 100, 80, 30), True),
        ("above", BBox(0, 0, 800, 40), True),  # a wide one covers the smaller width
        ("below", BBox(441, 230, 80, 30), False),
        ("inside", BBox(410, 205, 20, 20), True),
        ("inside", SEARCH, False),
        ("contains", SEARCH, False),
        ("contains", BBox(390, 190, 100, 50), True),
        ("same_row", BBox(500, 196, 40, 40), True),
        ("same_row", BBox(500, 0, 100, 600), False),  # a side bar is in no row of a button
        ("same_row", BBox(420, 200, 80, 30), False),  # not beside it
        ("same_column", BBox(380, 20, 120, 30), True),
        ("same_column", BBox(0, 20, 800, 30), False),
        ("same_column", BBox(400, 300, 30, 30), True),  # begins at the same line, its middle does not lie below
        ("same_column", BBox(450, 300, 30, 30), True),
        ("same_column", BBox(376, 300, 30, 30), False),  # most of it beside
        ("same_row", BBox(500, 200, 40, 80), True),
        ("same_row", BBox(500, 160, 40, 80), True),  # tops, middles and bottoms less than half of 30 apart
        ("same_row", BBox(500, 176, 40, 30), False),
        ("overlapping", BBox(470, 220, 80, 30), False),  # a corner of a 24th
        ("overlapping", BBox(440, 215, 80, 30), True),
        ("overlapping", BBox(410, 205, 20, 20), False),  # inside it
    ],
)
def test_definitions(relation: Relation, target: BBox, answer: bool) -> None:
    assert holds(relation, target, [SEARCH]).holds is answer


def test_between() -> None:
    one, other = BBox(100, 100, 50, 20), BBox(300, 100, 50, 20)
    assert holds("between", BBox(200, 100, 50, 20), [one, other]).holds
    assert holds("between", BBox(200, 100, 50, 20), [other, one]).holds
    assert not holds("between", BBox(200, 120, 50, 20), [one, other]).holds
    assert holds("between", BBox(200, 200, 60, 20), [BBox(200, 0, 60, 20), BBox(210, 400, 60, 20)]).holds


def test_nearest_is_the_smallest_gap_and_a_tie_is_ambiguous() -> None:
    near, far = BBox(400, 240, 80, 30), BBox(500, 200, 80, 30)
    assert [fit.holds for fit in fits("nearest", [near, far], [SEARCH])] == [True, False]
    tie = BBox(400, 160, 80, 30)
    assert judge("nearest", [near, tie], [SEARCH], target=0).reason == "relation_ambiguous"
    # 10 px against 11 px is no difference that a person sees.
    almost = BBox(400, 159, 80, 30)
    assert judge("nearest", [near, almost], [SEARCH], target=0).reason == "relation_marginal"


def test_places_in_rows_columns_and_lists() -> None:
    row = [BBox(100, 0, 40, 20), BBox(0, 2, 40, 20), BBox(50, 0, 40, 20)]
    assert [f.holds for f in fits("nth_in_row", row, position=3)] == [True, False, False]
    assert [f.holds for f in fits("nth_in_row", row, position=-1)] == [True, False, False]
    assert not any(f.holds for f in fits("nth_in_row", row, position=4))
    broken = [*row, BBox(150, 60, 40, 20)]
    assert not any(f.holds for f in fits("nth_in_row", broken, position=1))
    # With the row's own box as the reference, what lies outside it does not count.
    assert fits("nth_in_row", broken, [BBox(0, 0, 200, 30)], position=1)[1].holds
    grid = [BBox(x, y, 40, 20) for y in (0, 30) for x in (0, 50, 100)]
    assert [f.holds for f in fits("nth_in_list", grid, position=4)].index(True) == 3
    column = [BBox(0, y, 40, 20) for y in (60, 0, 30)]
    assert [f.holds for f in fits("nth_in_column", column, position=2)].index(True) == 2
    # A member as the reference: the row that it stands in.
    assert fits("nth_in_row", grid, [grid[4]], position=1)[3].holds


def test_edges_and_corners() -> None:
    corner = BBox(770, 5, 20, 20)
    assert holds("at_corner", corner, viewport=PAGE).holds
    assert holds("at_corner", corner, viewport=Size(800, 600), sides=("right", "top")).holds
    assert not holds("at_corner", corner, viewport=PAGE, sides=("left", "top")).holds
    assert holds("at_edge", BBox(300, 560, 20, 20), viewport=PAGE, sides=("bottom",)).holds
    assert not holds("at_edge", BBox(300, 300, 20, 20), viewport=PAGE).holds
    assert holds("at_edge", BBox(205, 300, 20, 20), [BBox(200, 200, 300, 300)], sides=("left",)).holds


@given(boxes, boxes)
def test_opposites_are_never_both_true(target: BBox, reference: BBox) -> None:
    for relation, opposite in OPPOSITES.items():
        forth, back = holds(relation, target, [reference]).holds, holds(opposite, target, [reference]).holds
        assert not (forth and back)
        assert forth == holds(opposite, reference, [target]).holds, "the opposite seen from the reference"


@given(boxes, boxes)
def test_directions_exclude_each_other_and_overlap(target: BBox, reference: BBox) -> None:
    held = [
        r
        for r in ("above", "below", "left_of", "right_of", "inside", "contains", "overlapping")
        if holds(r, target, [reference]).holds
    ]
    assert len(held) <= 1


@given(names, st.lists(boxes, min_size=1, max_size=6), boxes, boxes, boxes, places, places)
def test_moving_the_page_changes_nothing(
    relation: Relation, some: list[BBox], one: BBox, other: BBox, page: BBox, dx: float, dy: float
) -> None:
    there = [moved(box, dx, dy) for box in some]
    before = found(relation, some, [one, other], page)
    assert found(relation, there, [moved(one, dx, dy), moved(other, dx, dy)], moved(page, dx, dy)) == before


@given(names, st.lists(boxes, min_size=1, max_size=6), boxes, boxes, boxes, st.sampled_from((0.25, 0.5, 2.0, 8.0)))
def test_scaling_the_page_changes_nothing(
    relation: Relation, some: list[BBox], one: BBox, other: BBox, page: BBox, by: float
) -> None:
    before = found(relation, some, [one, other], page)
    after = found(relation, [scaled(b, by) for b in some], [scaled(one, by), scaled(other, by)], scaled(page, by))
    assert [f.holds for f in after] == [f.holds for f in before]
    assert [f.margin for f in after] == pytest.approx([f.margin for f in before])


@given(names, st.lists(boxes, min_size=1, max_size=6), boxes, boxes, boxes)
def test_what_a_crop_keeps_whole_stands_as_it_stood(
    relation: Relation, some: list[BBox], one: BBox, other: BBox, crop: BBox
) -> None:
    whole = [box for box in some if box.x >= crop.x and box.y >= crop.y and box.right <= crop.right]
    if not whole:
        return
    in_crop = [moved(box, -crop.x, -crop.y) for box in whole]
    references = [moved(box, -crop.x, -crop.y) for box in (one, other)]
    cut = BBox(0, 0, crop.width, crop.height)
    assert found(relation, in_crop, references, cut) == found(relation, whole, [one, other], crop)


@given(names, st.lists(boxes, min_size=1, max_size=6), boxes, boxes)
def test_the_order_of_the_candidates_does_not_matter(
    relation: Relation, some: list[BBox], one: BBox, other: BBox
) -> None:
    distinct = list(dict.fromkeys(some))
    before = found(relation, distinct, [one, other], PAGE)
    assert found(relation, distinct[::-1], [one, other], PAGE) == before[::-1]


@given(names, boxes, boxes, st.sampled_from(("x", "y", "width", "height")), st.sampled_from((math.nan, math.inf, -1.0)))
def test_boxes_that_cannot_be_fit_nothing(relation: Relation, box: BBox, other: BBox, name: str, value: float) -> None:
    if value == -1.0 and name in "xy":
        return
    numbers = {"x": box.x, "y": box.y, "width": box.width, "height": box.height, name: value}
    bad = BBox(**numbers)
    assert not found(relation, [bad, other], [other, other], PAGE)[0].holds
    if REFERENCES[relation][0]:
        assert not any(f.holds for f in found(relation, [box, other], [bad, bad], PAGE))


def test_wrong_calls_say_what_would_do() -> None:
    with pytest.raises(ValueError, match="no relation; there are: above"):
        fits("near", [SEARCH], [SEARCH])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="takes 2 references, got 1"):
        fits("between", [SEARCH], [SEARCH])
    with pytest.raises(ValueError, match="needs position="):
        fits("nth_in_row", [SEARCH])
    with pytest.raises(ValueError, match="give viewport="):
        fits("at_edge", [SEARCH])


def test_the_runner_up_has_to_fail_by_a_margin() -> None:
    target = BBox(300, 200, 80, 30)
    clear = judge("left_of", [target, BBox(300, 300, 80, 30)], [SEARCH], target=0)
    assert clear.reason is None and clear.runner_up == 1
    close = BBox(200, 216, 80, 30)  # shares 14 of 30 px: half is 15
    assert judge("left_of", [target, close], [SEARCH], target=0).reason == "relation_marginal"
    assert judge("left_of", [close], [SEARCH], target=0).reason == "relation_marginal"
    assert judge("left_of", [close, target], [SEARCH], target=0).reason == "relation_false"
    assert judge("right_of", [target], [SEARCH], target=0).reason == "relation_false"


def test_twenty_thousand_candidates_take_less_than_half_a_second() -> None:
    import time

    many = [BBox(x * 10.0, y * 10.0, 8, 8) for x in range(100) for y in range(200)]
    for relation in REFERENCES:
        taken = []
        for _ in range(3):
            start = time.process_time()
            found(relation, many, [many[5000], many[7000]], PAGE)
            taken.append(time.process_time() - start)
        assert min(taken) < 0.5, relation


def test_case_b98(cases: Path) -> None:
    folder = cases / "guidata" / "B98-ambiguous-relation"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    buttons = {
        "#red": BBox(200, 200, 80, 30),
        "#blue": BBox(300, 200, 80, 30),
        "#top": BBox(400, 100, 80, 30),
        "#far": BBox(700, 420, 60, 30),
    }
    asked: list[tuple[Relation, bool]] = [("left_of", False), ("above", False), ("left_of", True), ("right_of", False)]
    reasons = {"ambiguous": "relation_ambiguous", "no_match": "relation_unmatched", None: None}
    for row, (relation, nearest) in enumerate(asked):
        verdict = judge(relation, list(buttons.values()), [SEARCH], nearest=nearest)
        want = expected[str(row)]
        assert [list(buttons)[place] for place in verdict.fits] == want["fits"]
        assert verdict.reason == reasons[want.get("reason")]


def test_the_face_lists_every_relation_of_the_type() -> None:
    from typing import get_args

    assert set(get_args(Relation)) == set(REFERENCES) == set(relations.REFERENCES)


def test_the_drawing_is_made_from_the_definitions() -> None:
    import runpy

    docs = Path(__file__).resolve().parent.parent / "docs"
    drawn = runpy.run_path(str(docs / "draw_relations.py"))["draw"]()
    assert (docs / "relations.svg").read_text() == drawn, "run python docs/draw_relations.py"
    table = (docs / "relations.md").read_text()
    for relation in REFERENCES:
        assert f"`{relation}`" in table
