"""Which questions are asked of a made-up page: those that nobody answers another way."""

from __future__ import annotations

import itertools

import pytest

from cuadata.generating import spatial_plain
from cuadata.generating.spatial_look import Look
from cuadata.generating.spatial_scene import Scene
from cuadata.types import BBox, Element, Evidence, Locator, Observation, Point, Size
from cuadata.wording import phrases

VIEW = Size(640, 600)
Places = dict[str, tuple[float, float, float, float]]


def scene(places: Places, *, clipped: str = "") -> Scene:
    """Buttons by name at left, top, width, height; what is called with a capital H first is a heading."""
    elements = tuple(
        Element(
            id=n, role="heading" if name.startswith("H ") else "button", name=name, tag="button", bbox=BBox(*place), seen=1.0,
            hit=1.0, point=Point(place[0] + 5, place[1] + 5), interactive=not name.startswith("H "),
            locator=Locator(css=f"#e{n}"), evidence=Evidence(clipped=0.4 if name == clipped else 0.0),
        )
        for n, (name, place) in enumerate(places.items())
    )  # fmt: skip
    return Scene(Look(Observation(screenshot=None, viewport=VIEW, elements=elements), {}, {}))


def asked(text: str, page: Scene) -> str | None:
    """The name of the button that a question is asked for; None where it is not asked."""
    said = phrases.read(f"Click the button {text}" if not text.startswith("the ") else f"Click {text}")
    told = {one.name.lower(): one for one in page.look.observation.elements}
    references = [[told[noun.name] for noun in one.references] for one in said.stated]
    question = page.question(said.stated[0].relation, "button", said.stated, references)
    return question.target.name if question is not None else None


LIST: Places = {"Send": (100, 100, 100, 28), "Menu": (100, 167, 27, 27), "Compare": (100, 280, 90, 28)}


@pytest.mark.parametrize(
    ("rival", "answer"),
    [
        ((100, 167, 27, 27), None),  # begins at the same line, and its middle is elsewhere
        ((172, 167, 27, 27), None),  # ends nearly there
        ((240, 167, 27, 27), "Send"),
    ],
)
def test_what_begins_at_one_line_stands_in_one_column(
    rival: tuple[float, float, float, float], answer: str | None
) -> None:
    assert asked("in the same column as 'Compare'", scene({**LIST, "Menu": rival})) == answer


def test_what_shares_some_height_may_be_in_the_row() -> None:
    row: Places = {"Send": (100, 100, 60, 28), "Compare": (300, 100, 60, 28), "Menu": (200, 120, 60, 80)}
    assert asked("in the same row as 'Compare'", scene(row)) is None
    assert asked("in the same row as 'Compare'", scene({**row, "Menu": (200, 140, 60, 80)})) == "Send"


KEYS: Places = {str(n): (60 + 48 * ((n - 1) % 3), 146 + 48 * ((n - 1) // 3), 36, 36) for n in range(1, 10)}


def test_between_is_asked_where_nothing_else_lies_on_the_way() -> None:
    page = scene({"H Overview": (60, 108, 140, 26), **KEYS})
    assert asked("between '4' and '6'", page) == "5"
    # The heading is as wide as three keys: 2 and 3 lie between it and 4 as well.
    assert asked("between '4' and 'H Overview'", page) is None
    assert asked("between '4' and 'H Overview'", scene({"H Overview": (60, 108, 36, 26), **KEYS})) == "1"


CARDS: Places = {
    "Account": (100, 363, 43, 43), "Farid": (518, 229, 93, 193), "Details": (300, 362, 92, 22), "Refresh": (300, 314, 98, 22),
}  # fmt: skip


def test_what_lies_on_a_slanting_way_is_between_too() -> None:
    assert asked("between 'Account' and 'Farid'", scene(CARDS)) is None
    assert asked("between 'Account' and 'Farid'", scene({**CARDS, "Refresh": (300, 200, 98, 22)})) == "Details"


@pytest.mark.parametrize("box", [(40, 40, 10, 10), (90, 20, 8, 8), (50, 10, 5, 5), (0, 0, 200, 200)])
def test_the_way_between_two_boxes_is_their_convex_hull(box: tuple[float, float, float, float]) -> None:
    """Told by points of it: a point is on the way where it is a mean of a point of each."""
    one, other, held = BBox(0, 0, 20, 20), BBox(80, 60, 30, 20), BBox(*box)
    shares = [n / 40 for n in range(41)]
    on_the_way = any(
        held.x < (1 - t) * (one.x + u * one.width) + t * (other.x + u * other.width) < held.right
        and held.y < (1 - t) * (one.y + v * one.height) + t * (other.y + v * other.height) < held.bottom
        for t, u, v in itertools.product(shares, shares, shares)
    )
    assert spatial_plain._amid(held, one, other) == on_the_way


@pytest.mark.parametrize(("rival", "answer"), [((147, 120, 18, 18), None), ((170, 120, 18, 18), "Blue")])
def test_the_nearest_is_nearest_by_its_middle_too(rival: tuple[float, float, float, float], answer: str | None) -> None:
    """By the gap one may be a third nearer and by the middles the other: corners of boxes are empty, and small things look nearer."""
    page = scene({"Red": (103, 124, 17, 17), "Blue": (71, 156, 23, 23), "Teal": rival})
    assert asked("nearest to 'Red'", page) == answer


def test_two_of_many_are_no_row() -> None:
    two: Places = {"Send": (100, 100, 40, 40), "Copy": (400, 104, 40, 40)}
    assert (
        asked("the second button in the row", scene({"H Star": (300, 300, 50, 50), "H Sun": (20, 20, 9, 9), **two}))
        is None
    )
    three = {"H Star": (300.0, 300.0, 50.0, 50.0), **two, "Move": (500.0, 100.0, 40.0, 40.0)}
    assert asked("the second button in the row", scene(three)) == "Copy"


def test_the_first_of_one_is_not_asked_for() -> None:
    page: Places = {"H Ada": (20, 100, 60, 30), "Send": (100, 100, 60, 30), "Copy": (300, 300, 60, 30)}
    assert asked("the first button in the row of 'H Ada'", scene(page)) is None
    assert asked("the first button in the row of 'H Ada'", scene({**page, "Move": (200, 100, 60, 30)})) == "Send"


def test_what_stands_above_a_heading_is_not_counted_under_it() -> None:
    page: Places = {"H Shop": (100, 100, 60, 30), "Send": (100, 200, 60, 30), "Copy": (100, 300, 60, 30)}
    assert asked("the second button in the column of 'H Shop'", scene(page)) == "Copy"
    assert asked("the second button in the column of 'H Shop'", scene({**page, "Move": (100, 20, 60, 30)})) is None


ROW: Places = {"Send": (100, 100, 60, 30), "Copy": (200, 100, 60, 30), "Move": (300, 100, 60, 30)}


@pytest.mark.parametrize("name", ["حفظ", "שמירה"])
def test_places_in_a_row_are_not_asked_for_where_people_read_from_the_right(name: str) -> None:
    assert asked("the first button in the row", scene(ROW)) == "Send"
    assert asked("the first button in the row", scene({**ROW, name: (400, 100, 60, 30)})) is None
    column: Places = {"Send": (100, 100, 60, 30), "Copy": (100, 200, 60, 30), name: (100, 300, 60, 30)}
    assert asked("the first button in the column", scene(column)) == "Send"


def test_what_is_cut_off_at_the_edge_is_not_counted_with() -> None:
    column: Places = {"Send": (100, -20, 60, 30), "Copy": (100, 100, 60, 30), "Move": (100, 200, 60, 30)}
    assert asked("the second button in the column", scene(column)) is None
    whole: Places = {**column, "Send": (100, 0, 60, 30)}
    assert asked("the second button in the column", scene(whole)) == "Copy"
    assert asked("the second button in the column", scene(whole, clipped="Move")) is None


@pytest.mark.parametrize(("rival", "gone"), [((300, 40, 40, 40), False), ((300, 190, 40, 40), True)])
def test_nothing_answers_only_where_nobody_would_look_for_it(
    rival: tuple[float, float, float, float], gone: bool
) -> None:
    """Up and to the right of the reference, the only button that is left: somebody clicks it as the one to the right."""
    page = scene({"Menu": (200, 300, 40, 40), "Archive": rival, "Send": (260, 300, 40, 40)})
    menu, archive, _ = page.look.observation.elements
    said = phrases.read("Click the button to the right of 'Menu'").stated
    margins = page.margins([archive], said, [[menu]])
    assert archive.bbox is not None and menu.bbox is not None
    assert spatial_plain.unanswered(said, [archive.bbox], [[menu.bbox]], margins) != gone
