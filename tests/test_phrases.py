"""Relations in words: what is read, what is left alone, and that what is written reads back the same."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata.relations import REFERENCES, Side
from cuadata.types import Attribute, Relation
from cuadata.wording import descriptions, phrases
from cuadata.wording.descriptions import Noun, normal
from cuadata.wording.phrases import PHRASINGS, read, write

LIKES: dict[Relation, tuple[str, ...]] = {
    "above": ("the button above 'Search'", "Click on the button just above the 'Search' link.", "Tap the button over the Search"),
    "below": ("the button below 'Search'", "button underneath Search", "Click the option under “Size”"),
    "left_of": (
        "the button left of Search",
        "Click on the button to the left of 'Search'",
        "Click on the link left 'VR'",
        "Type 'pork' in the textbox to the left of ‘G’",
        "the icon on the left-hand side of the title",
        "Select '2012' in the select to the left of '1992' select",
    ),
    "right_of": ("the button directly to the right of Search", "Click on the link right 'Live'"),
    "inside": ("the button inside 'Payment'", "the link within the card"),
    "contains": ("the card that contains 'Total'", "the box around 'Total'"),
    "between": ("the button between 'A' and 'B'",),
    "nearest": ("the button nearest to 'A'", "the closest button to A", "the button closest to the 'A' link"),
    "same_row": ("the link in the same row as 'Total'", "the button on the same line as A"),
    "same_column": ("the cell in the same column as 'Total'",),
    "nth_in_row": ("the third button in the row", "the last link in the row of 'Paris'"),
    "nth_in_column": ("the 2nd cell in the column",),
    "nth_in_list": ("the fourth item in the list 'Colours'",),
    "at_edge": ("the button at the left edge of the page",),
    "at_corner": ("Click the icon in the top-right corner", "the icon in the upper left corner of the screen"),
    "overlapping": ("the window that overlaps 'Notes'",),
}  # fmt: skip


@pytest.mark.parametrize(("relation", "text"), [(name, text) for name, texts in LIKES.items() for text in texts])
def test_read(relation: Relation, text: str) -> None:
    found = read(text)
    assert found.relation == relation
    fewest, most = REFERENCES[relation]
    assert fewest <= len(found.references) <= most


@pytest.mark.parametrize(
    ("text", "relation", "position"),
    [
        ("the second to last button in the row", "nth_in_row", -2),
        ("the second-to-last button in the row", "nth_in_row", -2),
        ("the second last link in the row of 'Paris'", "nth_in_row", -2),
        ("the penultimate cell in the column", "nth_in_column", -2),
        ("the last but one item in the list", "nth_in_list", -2),
        ("the third from last item in the list", "nth_in_list", -3),
        ("the second button from the left", "nth_in_row", 2),
        ("Click on the third button from the right.", "nth_in_row", -3),
        ("the first button from the right in the row of 'Paris'", "nth_in_row", -1),
        ("the second button from the bottom, please", "nth_in_column", -2),
        ("the second button from the top", "nth_in_column", 2),
        ("the last button in the row", "nth_in_row", -1),
    ],
)
def test_places_are_counted_from_either_end(text: str, relation: str, position: int) -> None:
    (stated,) = read(text).stated
    assert (stated.relation, stated.position) == (relation, position)


@pytest.mark.parametrize(
    "text",
    [
        "the button next to 'Search'",
        "the button right next to Search",
        "the button beside the 'Search' link",
        "the icon adjacent to 'A'",
    ],
)
def test_next_to_is_the_nearest_on_any_side(text: str) -> None:
    (stated,) = read(text).stated
    assert stated.relation == "nearest" and stated.beside and len(stated.references) == 1
    assert not read("the button nearest to 'Search'").stated[0].beside


@pytest.mark.parametrize(
    "text",
    ["the button at the top right of the page", "the icon in the upper right", "Click the link on the top right side."],
)
def test_a_corner_need_not_be_called_one(text: str) -> None:
    (stated,) = read(text).stated
    assert stated.relation == "at_corner" and set(stated.sides) == {"top", "right"} and not stated.references


@pytest.mark.parametrize(
    "text",
    [
        "Choose the first option from the left menu",
        "Select the second city from the top of the ranking",
        "Go to the next page",
        "Click the 'Next to' button",
        "Click on 'Scroll right of page' button",
        'Click on "The house above the cliff"',
        "hover over the menu",
        "Book a flight to Paris",
        "Click on 'What's left of us' link",
        "Turn right",
        "",
        "'",
        "Add the list",
    ],
)
def test_what_is_no_relation(text: str) -> None:
    assert read(text).relation is None


def test_the_parts_of_a_phrase() -> None:
    found = read("Click on the nearest 'View Deal' button to the left of the 'Select' link")
    assert found.target == Noun(
        roles=descriptions.ROLES["button"], name="view deal", exact=True, words="View Deal button"
    )
    assert found.stated[0].nearest and found.references[0].name == "select"
    assert read("the third button in the row").stated[0].position == 3
    assert read("the last button in the row").stated[0].position == -1
    assert read("the icon in the lower-left corner").stated[0].sides == ("bottom", "left")


def test_two_relations_both_count() -> None:
    found = read("the button left of 'A' and below 'B'")
    assert [(one.relation, one.references[0].name) for one in found.stated] == [("left_of", "a"), ("below", "b")]
    found = read("the third button in the row, below 'Total'")
    assert [one.relation for one in found.stated] == ["nth_in_row", "below"]


@pytest.mark.parametrize("relation", REFERENCES)
def test_what_is_written_reads_back(relation: Relation) -> None:
    for phrasing, template in enumerate(PHRASINGS[relation]):
        count = sum(f"{{{place}}}" in template for place in (1, 2))
        sides: tuple[Side, ...] = {"at_edge": ("left",), "at_corner": ("top", "left")}.get(relation, ())  # type: ignore[assignment]
        position = 2 if relation.startswith("nth_") else None
        names = ["'Search'", "the 'Help' link"][:count]
        text = write(relation, "button", names, phrasing=phrasing, position=position, sides=sides)
        found = read(f"Click on {text}")
        assert found.relation == relation, text
        assert [noun.name for noun in found.references] == ["search", "help"][:count], text
        assert found.target.roles == {"button"} and not found.target.name, text
        assert found.stated[0].position == position and found.stated[0].sides == sides


def test_nothing_takes_three_references() -> None:
    with pytest.raises(ValueError, match="no phrasing of above takes 3"):
        write("above", "button", ["a", "b", "c"])


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    read(text)


@pytest.mark.parametrize(
    "text", ["'" * 5000, "left of " * 5000, "<b>" * 3000, "\u202ethe button\u202c above 'x'", "a" * 1_000_000]
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    import time

    start = time.process_time()
    read(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Save", " SAVE "),
        ("Save changes", "save\u00a0\u00a0changes…"),
        ("ｆｕｌｌ width", "full width"),
        ("straße", "STRASSE"),
        ("\u202eSave\u202c", "save"),
        ("Save:", "“Save”"),
        ("e\u0301t\u00e9", "\u00e9te\u0301"),
    ],
)
def test_one_normal_form(one: str, other: str) -> None:
    assert normal(one) == normal(other) != ""


def test_punctuation_alone_is_a_name() -> None:
    assert normal("+") == "+" != normal("-")
    assert normal(" … ") != ""


@given(st.text(max_size=100))
def test_the_normal_form_is_final(text: str) -> None:
    once = normal(text)
    assert normal(once, limit=10_000) == once


def test_search_does_not_mean_search_history() -> None:
    from evidence import element

    search, history = element(1, "button", "Search", 0, 0, 9, 9), element(2, "button", "Search history", 0, 0, 9, 9)
    assert descriptions.Index([search, history]).matching(Noun(name="search")) == [search]
    assert descriptions.Index([search, history]).matching(Noun(name="history")) == [history]
    assert descriptions.Index([search, history]).matching(Noun(name="history", exact=True)) == []


#: Texts that are one name, or nearly, before and after they are brought into normal form.
_ALIKE = (
    "Save",
    "save ",
    "SAVE.",
    "Save as",
    "save  as",
    "Save\nas",
    "save\tas",
    "Ｓａｖｅ",
    "as",
    "",
    " ",
    "+",
    "'+'",
    "a+",
    "\u202eSave",
)


def test_a_glance_finds_no_name_alone_that_is_not() -> None:
    from evidence import element

    for name, other, said in itertools.product(_ALIKE, _ALIKE, _ALIKE):
        noun, one = Noun(name=normal(said), exact=True), element(1, "button", name, 0, 0, 9, 9)
        rivals: tuple[dict[str, Any], ...] = (
            {"name": other, "text": other},
            {"name": "", "text": other},
            {"name": "", "text": "", "attributes": (Attribute("title", other),)},
        )
        for more in rivals:
            index = descriptions.Index([one, replace(element(2, "button", "", 0, 0, 9, 9), **more)])
            if index.means_only(noun, one):
                assert index.matching(noun) == [one], (name, more, said)


def test_a_glance_finds_a_name_that_is_alone() -> None:
    from evidence import element

    elements = [element(1, "button", "Save", 0, 0, 9, 9), element(2, "button", "Open", 0, 0, 9, 9)]
    index = descriptions.Index(elements)
    assert index.means_only(Noun(name="save", exact=True), elements[0])
    assert not index.means_only(Noun(name="save", exact=True), elements[1])
    assert not index.means_only(Noun(name="save", exact=True, roles=frozenset(("link",))), elements[0])


def test_a_label_and_its_control_are_one_thing() -> None:
    from evidence import PAGE, direct, element

    label = element(50, "generic", "Express", 70, 180, 60, 20, acts_on=7)
    inner = element(51, "link", "Help", 760, 100, 30, 32, parent=6)
    page = direct().observation
    assert page is not None
    held = {one.id: one for one in PAGE}
    assert descriptions.distinct([held[7], label], page) == [held[7]]
    assert descriptions.distinct([inner, held[6]], page, keep=6) == [held[6]]
    assert len(descriptions.distinct([held[7], held[6]], page)) == 2
    assert phrases.read("x").relation is None


@pytest.mark.parametrize(
    "said",
    [
        "The cross under the green hexagon, please.",
        "I mean the cross under the green hexagon",
        "Could you please click on the cross under the green hexagon?",
        "Please, go ahead and click the cross under the green hexagon, thanks!",
        "Now click on the cross under the green hexagon please",
    ],
)
def test_what_is_said_out_of_politeness_names_nothing(said: str) -> None:
    assert phrases.read(said) == phrases.read("Click on the cross under the green hexagon")


def test_polite_words_in_quotes_are_names() -> None:
    assert phrases.read("Click on 'Yes, please'").target.name == "yes, please"
    assert phrases.read("Click 'I mean it' left of 'Could you'").references[0].name == "could you"


def test_elements_of_a_role_are_found_before_and_after_all_were_gone_through() -> None:
    from evidence import element

    link, button = element(1, "link", "Help", 0, 0, 9, 9), element(2, "button", "HELP", 0, 20, 9, 9)
    index = descriptions.Index([link, button])
    assert index.called("help", frozenset(("button",))) == [button]
    assert index.called("help") == [link, button]
    assert index.called("help", frozenset(("button",))) == [button] and index.called("help", frozenset(("tab",))) == []
