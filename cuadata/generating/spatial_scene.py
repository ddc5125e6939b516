"""What is seen of a measured page, and what a description by place means there: one element, with a margin to the next."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from cuadata import relation_rules, relations
from cuadata.generating import spatial_plain, spatial_sides
from cuadata.generating.extents import Extents
from cuadata.generating.spatial_look import Look
from cuadata.generating.spatial_words import noun, title
from cuadata.relations import Finding
from cuadata.types import BBox, Element, Relation
from cuadata.wording import descriptions, phrases
from cuadata.wording.phrases import Stated

#: Relations to what is beside a reference, neither in it nor around it.
_BESIDE: Final = ("nearest", "same_row", "same_column", "nth_in_row", "nth_in_column")
#: CSS px beyond the view, and share cut off by a scroller, that nobody sees.
_SLACK: Final = 1.0
_CLIPPED: Final = 0.02
#: Classes of characters that are written from the right.
_RIGHT: Final = frozenset(("R", "AL"))
#: Characters of a name by which something can be spoken of.
_LONGEST: Final = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A description by place, and what it means on one page."""

    kind: Annotated[str, "a relation, or composed"]
    thing: Annotated[str, "the class that is spoken of: circle, button"]
    stated: Annotated[tuple[Stated, ...], "relations that have to hold together"]
    references: Annotated[tuple[tuple[Element, ...], ...], "references of each relation"]
    candidates: Annotated[tuple[Element, ...], "everything of this class but the references, in document order"]
    margins: Annotated[tuple[float, ...], "of each candidate, 0 or more where all relations hold"]
    answer: Annotated[int, "position of the target among the candidates"]

    @property
    def target(self) -> Element:
        """The element that is meant."""
        return self.candidates[self.answer]

    @property
    def all_references(self) -> tuple[Element, ...]:
        """The references of all relations, in their order."""
        return tuple(one for held in self.references for one in held)


def box(element: Element) -> BBox:
    """The box of an element that has one."""
    assert element.bbox is not None
    return element.bbox


class Scene:
    """The measured page as questions need it: what a person sees, by class."""

    def __init__(self, look: Look, *, reach: float = math.inf, extents: Extents | None = None) -> None:
        """`reach`: CSS px from a reference, beyond which nobody would speak of it.

        `extents`: what the picture shows of boxes, where that may be something else.
        """
        self.look = look
        self.reach = reach
        self.extents = extents
        seen = [one for one in look.observation.elements if one.bbox is not None and one.seen >= 1 / 3]
        called = [title(one) for one in seen]
        told = _spoken_of(look.observation.elements)
        #: What can be referred to: seen whole, a thing of its own, and called by a name that nothing else has.
        self.references = [
            e
            for e, n in zip(seen, called, strict=True)
            if n and called.count(n) == 1 and _plain(n) and e.id in told and self.whole(e)
        ]
        self.targets = [one for one in self.references if one.interactive and one.point is not None]
        self._asked_for = {one.id for one in self.targets}
        self._index = descriptions.Index(seen)
        self.things: dict[str, list[Element]] = {}
        for thing in dict.fromkeys(noun(one, look.looks.get(one.id)) for one in self.targets):
            if thing:
                self.things[thing] = self.meant(thing)
        self._from_the_right = any(not _RIGHT.isdisjoint(map(unicodedata.bidirectional, name)) for name in called)
        #: Id -> place in the arrays of directions and distances.
        self.place = {one.id: place for place, one in enumerate(seen)}
        self.ways, self.apart = spatial_sides.between(list(map(box, seen)))
        self._sides: dict[Relation, list[list[float]]] = {name: way.margins.tolist() for name, way in self.ways.items()}
        self._touching: dict[int, list[Element]] = {}
        self._questions: dict[object, Question | None] = {}

    def meant(self, thing: str) -> list[Element]:
        """All that the word for a class may mean, though nothing is left that would be asked for by it."""
        held = self.things.get(thing)
        return self._index.matching(phrases.read(f"Click the {thing}").target) if held is None else held

    def answer(
        self, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> tuple[Finding, list[Element], list[tuple[float, ...]]]:
        """What relations mean among all elements of a class, whatever comes of it; each one's margins in each relation."""
        left_out = {one.id for held in references for one in held}
        candidates = [one for one in self.meant(thing) if one.id not in left_out]
        margins = self._margins(candidates, stated, references)
        return relations.decide([min(each) for each in margins]), candidates, margins

    def margins(
        self, candidates: Sequence[Element], stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> list[tuple[float, ...]]:
        """By how much each candidate fulfils each of the relations, below 0 where it fails."""
        own, page = [box(one) for one in candidates], self.look.observation.viewport
        found = [
            relations.margins(one.relation, own, [box(e) for e in held], **one.qualifiers(page))
            for one, held in zip(stated, references, strict=True)
        ]
        return list(zip(*found, strict=True))

    def _margins(
        self, candidates: Sequence[Element], stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> list[tuple[float, ...]]:
        """The same for elements as they stand on this page, by what was worked out before."""
        if any(one.nearest or one.relation not in self._sides for one in stated):
            return self.margins(candidates, stated, references)
        found = []
        for one, held in zip(stated, references, strict=True):
            table, reference = self._sides[one.relation], self.place[held[0].id]
            margins = [table[self.place[each.id]][reference] for each in candidates]
            found.append([0.0 if -relation_rules.ROUNDING <= margin < 0 else margin for margin in margins])
        return list(zip(*found, strict=True))

    def holds(self, relation: Relation, target: Element, reference: Element) -> bool:
        """Whether a relation of two boxes holds, with no allowance for rounding."""
        table = self._sides.get(relation)
        if table is not None:
            return table[self.place[target.id]][self.place[reference.id]] >= 0
        return relation_rules.PAIRS[relation](box(target), box(reference)) >= 0

    def between(self, target: Element, one: Element, other: Element) -> bool:
        """Whether a target lies past the one and before the other, or past the other and before the one."""
        own, first, last = self.place[target.id], self.place[one.id], self.place[other.id]
        return any(
            (table[first][own] >= 0 and table[own][last] >= 0) or (table[last][own] >= 0 and table[own][first] >= 0)
            for table in (self._sides["left_of"], self._sides["above"])
        )

    def question(
        self, kind: str, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> Question | None:
        """The question, where exactly one element answers it and a person sees so at a glance; None where not."""
        key = kind, thing, tuple(stated), tuple([tuple([one.id for one in held]) for held in references])
        if key not in self._questions:
            self._questions[key] = self._question(kind, thing, stated, references)
        return self._questions[key]

    def _question(
        self, kind: str, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> Question | None:
        if self._uncountable(thing, stated):
            return None
        # People do not agree whether what holds the reference, or lies in it, is near it, or in the same column.
        close = (one.nearest or one.relation in _BESIDE for one in stated)
        if any(close) and any(map(self.touching, references[0])):
            return None
        finding, candidates, margins = self.answer(thing, stated, references)
        if finding.reason is not None or len(candidates) < 2 or candidates[finding.fits[0]].id not in self._asked_for:
            return None
        place = finding.fits[0]
        answer = candidates[place]
        # A dropdown may be what somebody calls a text field, so it is a rival; nobody is asked for it by that word.
        if noun(answer, self.look.looks.get(answer.id)) != thing:
            return None
        meant = box(answer)
        if any(relations.gap(meant, box(one)) > self.reach for held in references for one in held):
            return None
        if not spatial_plain.answers(stated, place, list(map(box, candidates)), boxes(references), margins):
            return None
        if self.extents is not None and not self._seen_so(stated, references, candidates, place):
            return None
        return Question(
            kind=kind, thing=thing, stated=tuple(stated), references=tuple(map(tuple, references)),
            candidates=tuple(candidates), margins=tuple(map(min, margins)), answer=place,
        )  # fmt: skip

    def _seen_so(
        self,
        stated: Sequence[Stated],
        references: Sequence[Sequence[Element]],
        candidates: Sequence[Element],
        place: int,
    ) -> bool:
        """Whether the candidate at a place is meant by what the picture shows, too, whichever line a rival is seen by."""
        shown, target = self.extents or Extents(), candidates[place]
        for one, held in zip(stated, references, strict=True):
            if any(each.id in shown.lines for each in (target, *held)):
                return False
            outer = {"inside": held, "contains": (target,), "overlapping": (target, *held)}.get(one.relation, ())
            if any(each.id in shown.round for each in outer):
                return False
        page = self.look.observation.viewport
        beside = [[shown.drawn.get(one.id, box(one)) for one in held] for held in references]
        for line in range(max(len(shown.lines.get(one.id, ())) for one in candidates) + 1):
            own = [shown.line(one.id, line) or box(one) for one in candidates]
            found = [
                relations.margins(one.relation, own, held, **one.qualifiers(page))
                for one, held in zip(stated, beside, strict=True)
            ]
            margins = list(zip(*found, strict=True))
            finding = relations.decide([min(each) for each in margins])
            if finding.reason is not None or finding.fits[0] != place:
                return False
            if not spatial_plain.answers(stated, place, own, beside, margins):
                return False
        return True

    def _uncountable(self, thing: str, stated: Sequence[Stated]) -> bool:
        """Whether places are asked for where people count differently.

        On a page that is read from the right the first one in a row is the rightmost to some; where something of the class is
        cut off at the edge of the view, some count it and some do not.
        """
        counting = [one.relation for one in stated if one.relation.startswith("nth_")]
        return bool(counting) and (
            ("nth_in_row" in counting and self._from_the_right) or not all(map(self.whole, self.things.get(thing, ())))
        )

    def whole(self, element: Element) -> bool:
        """Whether nothing of an element is cut off by the view's edges or a scroller's."""
        view, own = self.look.observation.viewport, box(element)
        inside = (
            own.x >= -_SLACK
            and own.y >= -_SLACK
            and own.right <= view.width + _SLACK
            and own.bottom <= view.height + _SLACK
        )
        return inside and element.evidence.clipped <= _CLIPPED

    def touching(self, element: Element) -> list[Element]:
        """References whose boxes share area with an element's."""
        found = self._touching.get(element.id)
        if found is None:
            own = box(element)
            found = self._touching[element.id] = [
                one for one in self.references if one is not element and one.bbox is not None and one.bbox.x < own.right
                and own.x < one.bbox.right and one.bbox.y < own.bottom and own.y < one.bbox.bottom
            ]  # fmt: skip
        return found

    def again(self, question: Question) -> list[tuple[Element, ...]] | None:
        """The references of a question of another page, on this one; None where one is not seen here."""
        here = {one.locator: one for one in self.references}
        held = [tuple(here[e.locator] for e in refs if e.locator in here) for refs in question.references]
        same = [len(a) == len(b) for a, b in zip(held, question.references, strict=True)]
        return held if all(same) else None


def boxes(references: Sequence[Sequence[Element]]) -> list[list[BBox]]:
    """The boxes of the references of each relation."""
    return [list(map(box, held)) for held in references]


def _spoken_of(elements: Sequence[Element]) -> set[int]:
    """Ids of what people speak of: controls, and texts that are neither a part of a control nor a region around others.

    A region's name may be a label that nobody sees, or all the text in it; a badge on a link is the link; the sign between two
    links is nothing that anybody names.
    """
    parents = {one.id: one.parent for one in elements}
    controls = {one.id for one in elements if one.interactive}
    around = set(parents.values())

    def part(one: Element) -> bool:
        passed, above = set[int](), one.parent
        while above is not None and above not in passed:
            if above in controls:
                return True
            passed.add(above)
            above = parents.get(above)
        return False

    return {one.id for one in elements if one.interactive or (one.id not in around and _worded(one) and not part(one))}


def _worded(element: Element) -> bool:
    return any(map(str.isalnum, element.name or element.text))


def _plain(name: str) -> bool:
    """Whether a name can stand in quotes, and is no whole sentence."""
    return len(name) <= _LONGEST and not any(mark in name for mark in "'\"‘’“”")
