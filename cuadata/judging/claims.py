"""What an example claims of its target: the relation that its instruction states, and the elements that this speaks of.

An instruction may be rewritten after its columns were made. So the text is read first, a column that says otherwise is a
contradiction, and boxes come from the page's evidence wherever there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, get_args

import msgspec

from cuadata.judging.judging import element_of, page_of
from cuadata.relations import REFERENCES, Side
from cuadata.rows import Candidate, Grounding, Target
from cuadata.types import BBox, Element, Observation, Relation
from cuadata.wording import descriptions, phrases
from cuadata.wording.descriptions import Index
from cuadata.wording.phrases import Phrase, Stated

#: Sides that 'next to' may be said of.
_SIDES: Final = frozenset(("above", "below", "left_of", "right_of", "same_row", "same_column"))
_RELATIONS: Final = frozenset(get_args(Relation))


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What is claimed, before it is checked."""

    phrase: Annotated[Phrase, "the instruction, read"]
    stated: Annotated[tuple[Stated, ...], "relations that have to hold; empty where none is claimed"]
    column: Annotated[str | None, "the relation that the row's column or its task names"]
    contradicts: Annotated[bool, "column and instruction name different relations, or the column no known one"]


class Page(msgspec.Struct, frozen=True, eq=False):
    """The page of an example, for looking things up; empty where only boxes are known."""

    observation: Annotated[Observation | None, "None where only boxes are known"]
    visible: Annotated[Index, "elements that a person could see"]
    by_css: Annotated[dict[str, Element], "the first element of each selector"]

    def element(self, target: Target | None) -> Element | None:
        """The element that a row's target is on this page; None where there is none."""
        if target is None or self.observation is None:
            return None
        if target.locator is not None:
            found = self.by_css.get(target.locator.css)
            if found is None or found.locator is target.locator or found.locator == target.locator:
                return found
        return element_of(target, self.observation)


class Reading(msgspec.Struct, frozen=True, eq=False):
    """What several gates ask of one example, looked up once."""

    claim: Annotated[Claim, "the relation that it claims"]
    page: Page
    target: Annotated[Element | None, "the row's target on the page; None where it is not there"]
    references: Annotated[tuple[Element | None, ...], "the row's references on the page, in their order"]


_last: tuple[Candidate, Reading] | None = None


def read(candidate: Candidate) -> Reading:
    """The reading of an example; kept until another one is read, since the gates of one example ask in turn."""
    global _last
    last = _last
    if last is not None and last[0] is candidate:
        return last[1]
    observation = page_of(candidate)
    page = _page(observation, last[1].page if last is not None else None)
    example = candidate.example
    reading = Reading(
        _claim(candidate, page),
        page,
        page.element(example.target),
        tuple([page.element(one) for one in example.references]),
    )
    _last = candidate, reading
    return reading


def _page(observation: Observation | None, last: Page | None) -> Page:
    """The page for looking things up; what was gone through for the last one serves again where its elements are the same."""
    if observation is None:
        return Page(None, Index(()), {})
    if last is not None and last.observation is not None:
        # Several instructions are of one page, and several steps of a recording show one set of elements.
        if last.observation is observation:
            return last
        if last.observation.elements is observation.elements:
            return Page(observation, last.visible, last.by_css)
    by_css = {one.locator.css: one for one in reversed(observation.elements)}
    return Page(observation, Index(descriptions.seen(observation)), by_css)


def claim(candidate: Candidate) -> Claim:
    """The relation that an example claims.

    A goal such as "Find flights under $200" states none: without a column or references, words count as a relation only
    where the things that they name are on the page.
    """
    return read(candidate).claim


def _claim(candidate: Candidate, page: Page) -> Claim:
    example, task = candidate.example, candidate.task
    phrase = phrases.read(example.instruction)
    column = example.relation or (task.relation if task is not None else None)
    stated = phrase.stated
    if stated and column is None and not example.references and not isinstance(example, Grounding):
        stated = stated if _speaks_of_the_page(phrase, candidate, page) else ()
    if column is None:
        return Claim(phrase=phrase, stated=stated, column=None, contradicts=False)
    if task is not None and task.relation is not None and example.relation and example.relation != task.relation:
        return Claim(phrase=phrase, stated=stated, column=column, contradicts=True)
    if stated:
        return Claim(phrase=phrase, stated=stated, column=column, contradicts=not _names(column, stated))
    if column not in _RELATIONS:
        return Claim(phrase=phrase, stated=(), column=column, contradicts=True)
    return Claim(phrase=phrase, stated=(_from_column(column, candidate),), column=column, contradicts=False)


def _names(column: str, stated: Iterable[Stated]) -> bool:
    """Whether a column names one of the relations that an instruction states."""
    for one in stated:
        if one.relation == column or (one.nearest and column == "nearest") or (one.beside and column in _SIDES):
            return True
    return False


def _from_column(column: str, candidate: Candidate) -> Stated:
    """A relation whose wording cannot be read, in another language say: place and sides stand among the task's axes."""
    axes = {one.name: one.value for one in candidate.task.axes} if candidate.task is not None else {}
    place = axes.get("position", "")
    named = get_args(Side)
    return Stated(
        relation=column,  # type: ignore[arg-type]
        nearest=axes.get("nearest", "").lower() in ("true", "yes", "1"),
        position=int(place) if place.lstrip("-").isdigit() else None,
        sides=tuple(side for side in axes.get("sides", "").replace("-", " ").split() if side in named),  # type: ignore[misc]
    )


def _speaks_of_the_page(phrase: Phrase, candidate: Candidate, page: Page) -> bool:
    target = page.element(candidate.example.target)
    if target is None or not descriptions.answers(phrase.target, target):
        return False
    return bool(phrase.references) and all(page.visible.matching(noun) for noun in phrase.references)


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """An element as a claim speaks of it, on the page or by its box alone."""

    element: Annotated[Element | None, "None where the page is not known, or it is not on it"]
    bbox: Annotated[BBox | None, "as the page shows it, else as the row has it"]
    described: Annotated[Element | Target | None, "for evidence"]


def thing(target: Target | None, element: Element | None) -> Thing:
    """A row's target or reference, with what it is on the page."""
    if element is not None:
        return Thing(element=element, bbox=element.bbox, described=element)
    return Thing(element=None, bbox=target.bbox if target is not None else None, described=target)


def references(candidate: Candidate, reading: Reading) -> tuple[Thing, ...]:
    """What the claim refers to: the row's references, else the task's bindings, else what the words mean on the page."""
    page = reading.page.observation
    if candidate.example.references:
        return tuple([thing(*one) for one in zip(candidate.example.references, reading.references, strict=True)])
    if page is None:
        return ()
    if candidate.task is not None:
        ways = [one.locator for one in candidate.task.bindings if one.part == "reference"]
        bound = [one for way in ways for one in page.elements if one.locator == way]
        if ways and len(bound) == len(ways):
            return tuple(Thing(element=one, bbox=one.bbox, described=one) for one in bound)
    meant = [reading.page.visible.matching(noun) for noun in reading.claim.phrase.references]
    return tuple(Thing(element=one[0], bbox=one[0].bbox, described=one[0]) for one in meant if one)


def shared_out(stated: Sequence[Stated], count: int) -> list[tuple[int, int]] | None:
    """Which of `count` references each stated relation takes, as (start, end); None where they cannot be shared out."""
    if len(stated) == 1:
        fewest, most = REFERENCES[stated[0].relation]
        return [(0, min(count, most))] if count >= fewest else None
    shares: list[tuple[int, int]] = []
    start = 0
    for one in stated:
        end = start + max(len(one.references), REFERENCES[one.relation][0])
        shares.append((start, end))
        start = end
    return shares if start <= count else None


def rivals(reading: Reading, target: Thing, held: Sequence[Thing]) -> list[Element]:
    """Every element that the description of the target could mean, the target first; references are not among them."""
    page = reading.page
    if page.observation is None or target.element is None:
        return []
    own = target.element
    # A label is its control, and that may be the reference.
    controls: set[int | None] = {one.element.id for one in held if one.element is not None}
    left_out = {own.id, *controls}
    apart = [one for one in meant(reading, own) if one.id not in left_out and one.acts_on not in controls]
    return descriptions.distinct([own, *apart], page.observation, keep=own.id)


def meant(reading: Reading, target: Element) -> list[Element]:
    """Every element that the words for the target fit; where they do not fit it itself, those that are like it."""
    noun, visible = reading.claim.phrase.target, reading.page.visible
    if noun.empty or not descriptions.answers(noun, target):
        return visible.like(target)
    return visible.matching(noun)
