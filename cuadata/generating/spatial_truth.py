"""What can be asked about a measured page: every question has one answer by the boxes, with a margin to the runner-up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any, Final

import msgspec

from cuadata import relation_rules, relations
from cuadata.generating import spatial_plain
from cuadata.generating.spatial_look import Look
from cuadata.generating.spatial_words import noun, title
from cuadata.relations import OPPOSITES, Finding
from cuadata.types import BBox, Element, Relation
from cuadata.wording import descriptions, phrases
from cuadata.wording.phrases import Stated

DIRECTIONS: Final[tuple[Relation, ...]] = ("above", "below", "left_of", "right_of")
#: Kinds of question that are tried in turn; directions twice, since models fail on them.
KINDS: Final = (*DIRECTIONS, *DIRECTIONS, "composed", "composed", "nearest", "between", "between", "same_row", "same_column",
                "nth_in_row", "nth_in_column", "nth_in_list")  # fmt: skip
#: Kinds that few elements of a page are fit for: all are tried.
SEARCHED: Final[tuple[Relation, ...]] = ("inside", "contains", "overlapping", "at_edge", "at_corner")
SIDES: Final[tuple[relations.Side, ...]] = ("top", "bottom", "left", "right")
_CORNERS: Final[tuple[tuple[relations.Side, relations.Side], ...]] = (
    ("top", "left"), ("top", "right"), ("bottom", "left"), ("bottom", "right"),
)  # fmt: skip
#: Relations to what is beside a reference, neither in it nor around it.
_BESIDE: Final = ("nearest", "same_row", "same_column", "nth_in_row", "nth_in_column")
#: Questions that are tried on one page.
TRIES: Final = 96
ENOUGH: Final = 32
#: Characters of a name by which something can be spoken of.
_LONGEST: Final = 48
#: Pairs of references that are tried for one target.
_PAIRS: Final = 40


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

    def __init__(self, look: Look, *, reach: float = math.inf) -> None:
        """`reach`: CSS px from a reference, beyond which nobody would speak of it."""
        self.look = look
        self.reach = reach
        seen = [one for one in look.observation.elements if one.bbox is not None and one.seen >= 1 / 3]
        called = [title(one) for one in seen]
        #: What can be referred to: seen, and called by a name that nothing else has.
        self.references = [e for e, n in zip(seen, called, strict=True) if n and called.count(n) == 1 and _plain(n)]
        self.targets = [one for one in self.references if one.interactive and one.point is not None]
        index = descriptions.Index(seen)
        self.things: dict[str, list[Element]] = {}
        for thing in dict.fromkeys(noun(one, look.looks.get(one.id)) for one in self.targets):
            if thing:
                meant = phrases.read(f"Click the {thing}").target
                self.things[thing] = index.matching(meant)

    def answer(
        self, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> tuple[Finding, list[Element], list[tuple[float, ...]]]:
        """What relations mean among all elements of a class, whatever comes of it; each one's margins in each relation."""
        left_out = {one.id for held in references for one in held}
        candidates = [one for one in self.things.get(thing, ()) if one.id not in left_out]
        margins = self.margins(candidates, stated, references)
        return relations.decide([min(each) for each in margins]), candidates, margins

    def margins(
        self, candidates: Sequence[Element], stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> list[tuple[float, ...]]:
        """By how much each candidate fulfils each of the relations, below 0 where it fails."""
        boxes, page = [box(one) for one in candidates], self.look.observation.viewport
        found = [
            relations.margins(one.relation, boxes, [box(e) for e in held], **one.qualifiers(page))
            for one, held in zip(stated, references, strict=True)
        ]
        return list(zip(*found, strict=True))

    def question(
        self, kind: str, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> Question | None:
        """The question, where exactly one element answers it and a person sees so at a glance; None where not."""
        # People do not agree whether what holds the reference, or lies in it, is near it, or in the same column.
        close = (one.nearest or one.relation in _BESIDE for one in stated)
        if any(close) and any(self.touching(one) for one in references[0]):
            return None
        finding, candidates, margins = self.answer(thing, stated, references)
        if finding.reason is not None or len(candidates) < 2 or candidates[finding.fits[0]] not in self.targets:
            return None
        place = finding.fits[0]
        answer = candidates[place]
        # A dropdown may be what somebody calls a text field, so it is a rival; nobody is asked for it by that word.
        if noun(answer, self.look.looks.get(answer.id)) != thing:
            return None
        meant = box(answer)
        if any(relations.gap(meant, box(one)) > self.reach for held in references for one in held):
            return None
        if not spatial_plain.answers(stated, place, list(map(box, candidates)), _boxes(references), margins):
            return None
        return Question(
            kind=kind, thing=thing, stated=tuple(stated), references=tuple(map(tuple, references)),
            candidates=tuple(candidates), margins=tuple(map(min, margins)), answer=place,
        )  # fmt: skip

    def touching(self, element: Element) -> list[Element]:
        """References whose boxes share area with an element's."""
        own = box(element)
        return [
            one for one in self.references if one is not element and one.bbox is not None and one.bbox.x < own.right
            and own.x < one.bbox.right and one.bbox.y < own.bottom and own.y < one.bbox.bottom
        ]  # fmt: skip

    def again(self, question: Question) -> list[tuple[Element, ...]] | None:
        """The references of a question of another page, on this one; None where one is not seen here."""
        here = {one.locator: one for one in self.references}
        held = [tuple(here[e.locator] for e in refs if e.locator in here) for refs in question.references]
        same = [len(a) == len(b) for a, b in zip(held, question.references, strict=True)]
        return held if all(same) else None


def _boxes(references: Sequence[Sequence[Element]]) -> list[list[BBox]]:
    return [list(map(box, held)) for held in references]


def _plain(name: str) -> bool:
    """Whether a name can stand in quotes, and is no whole sentence."""
    return len(name) <= _LONGEST and not any(mark in name for mark in "'\"‘’“”")


def questions(scene: Scene, rng: Random, *, tries: int = TRIES, enough: int = ENOUGH) -> list[Question]:
    """Different questions about a page, as many as are found in some tries, at most `enough`."""
    found: dict[object, Question] = {}
    if not scene.things or len(scene.references) < 3:
        return []
    things, kinds = sorted(scene.things), rng.sample(KINDS, len(KINDS))
    for rare in SEARCHED:
        for one in itertools.islice(_searched(rare, scene, rng), 4):
            found.setdefault(_key(one), one)
    for attempt in range(tries):
        thing = rng.choice(things)
        if attempt % 2:
            question = _not_the_nearest(scene, thing, rng)
        else:
            kind = kinds[attempt // 2 % len(kinds)]
            drawn = _drawn(kind, scene, rng.choice(scene.things[thing]), rng)
            question = scene.question(kind, thing, *drawn) if drawn is not None else None
        if question is not None:
            found.setdefault(_key(question), question)
            if len(found) == enough:
                break
    return list(found.values())


def _key(question: Question) -> object:
    return question.kind, question.thing, question.stated, tuple(e.id for e in question.all_references)


def _searched(kind: Relation, scene: Scene, rng: Random) -> Iterator[Question]:
    """Questions of a kind about any element that it fits."""
    page = scene.look.observation.viewport
    targets = [(thing, one) for thing, held in sorted(scene.things.items()) for one in held]
    rng.shuffle(targets)
    at_the_page = kind in ("at_edge", "at_corner")
    for thing, target in targets:
        drawn: Iterator[tuple[Stated, tuple[Element, ...]]]
        if at_the_page:
            edges: tuple[tuple[relations.Side, ...], ...] = tuple((side,) for side in SIDES)
            places: Iterable[tuple[relations.Side, ...]] = edges if kind == "at_edge" else _CORNERS
            drawn = (
                (Stated(relation=kind, sides=sides), ())
                for sides in places
                if relations.holds(kind, box(target), viewport=page, sides=sides).holds
            )
        else:
            near = (one for one in scene.touching(target) if _holds(kind, target, one))
            drawn = ((Stated(relation=kind), (one,)) for one in near)
        for stated, references in drawn:
            question = scene.question(kind, thing, [stated], [references])
            if question is not None:
                yield question


def _not_the_nearest(scene: Scene, thing: str, rng: Random) -> Question | None:
    """A direction to an element, from a reference to which another of its class is nearer; None where that is not so."""
    reference, held = rng.choice(scene.references), scene.things[thing]
    target = rng.choice(held)
    own = relations.gap(box(target), box(reference))
    if target is reference or all(
        relations.gap(box(one), box(reference)) >= own for one in held if one is not reference
    ):
        return None
    for direction in DIRECTIONS:
        if _holds(direction, target, reference):
            for nearest in (False, True):
                stated = [Stated(relation=direction, nearest=nearest)]
                question = scene.question(direction, thing, stated, [(reference,)])
                if question is not None:
                    return question if question.target is target else None
    return None


Drawn = tuple[list[Stated], list[tuple[Element, ...]]]


def _drawn(kind: str, scene: Scene, target: Element, rng: Random) -> Drawn | None:
    """Relations of a kind that a target may be meant by, with references that they hold to; None where there are none."""
    others = [one for one in scene.references if one is not target]
    rng.shuffle(others)
    if kind == "composed":
        return _composed(target, others, rng)
    if kind == "between":
        pairs = itertools.islice(itertools.combinations(others, 2), _PAIRS)
        held = next((pair for pair in pairs if _holds("between", target, *pair)), None)
        return ([Stated(relation="between")], [held]) if held else None
    if kind.startswith("nth_"):
        return _counted(kind, scene, target, others, rng)  # type: ignore[arg-type]
    if kind == "nearest":
        return [Stated(relation="nearest")], [(others[0],)]
    near = next((one for one in others if _holds(kind, target, one)), None)  # type: ignore[arg-type]
    nearest = kind in DIRECTIONS and rng.random() < 0.2
    return ([Stated(relation=kind, nearest=nearest)], [(near,)]) if near else None  # type: ignore[arg-type]


def _holds(relation: Relation, target: Element, *references: Element) -> bool:
    rule: Any = relation_rules.PAIRS.get(relation, relation_rules.between)
    return bool(rule(target.bbox, *[one.bbox for one in references]) >= 0)


def _composed(target: Element, others: Sequence[Element], rng: Random) -> Drawn | None:
    """One relation across and one down, each to a reference of its own."""
    told: list[tuple[Relation, Element]] = []
    for pair in rng.sample((DIRECTIONS[:2], DIRECTIONS[2:]), 2):
        used = [one for _, one in told]
        fits: Iterator[tuple[Relation, Element]] = (
            (name, one) for one in others if one not in used for name in pair if _holds(name, target, one)
        )
        told.extend(itertools.islice(fits, 1))
    if len(told) < 2:
        return None
    return [Stated(relation=name) for name, _ in told], [(one,) for _, one in told]


def _counted(kind: Relation, scene: Scene, target: Element, others: Sequence[Element], rng: Random) -> Drawn | None:
    """A place in a row, column or list; sometimes in the row or column of something that is not counted itself."""
    if kind == "nth_in_list":
        if not _single_file(scene, target):
            return None
        return [Stated(relation=kind, position=rng.choice((1, 2, 3, 4, 5, -1)))], [()]
    heads = [one for one in others if not one.interactive and _holds(_LINE[kind], target, one)]
    held = (heads[0],) if heads else ()
    return [Stated(relation=kind, position=rng.choice((1, 2, 3, -1)))], [held]


_LINE: Final[dict[str, Relation]] = {"nth_in_row": "same_row", "nth_in_column": "same_column"}


def _single_file(scene: Scene, target: Element) -> bool:
    """Whether controls of a target's class stand one under the other, as what people call a list does."""
    if scene.look.looks.get(target.id) == target.name:
        return False
    held = next((some for some in scene.things.values() if target in some), [])
    boxes = sorted(map(box, held), key=lambda one: one.y)
    return len(boxes) > 2 and all(
        upper.bottom <= lower.y + 1
        and lower.y - upper.bottom <= 4 * min(upper.height, lower.height)
        and max(upper.height, lower.height) <= 2 * min(upper.height, lower.height)
        and relations.holds("above", upper, [lower]).holds
        for upper, lower in itertools.pairwise(boxes)
    )


def opposite(scene: Scene, question: Question) -> Question | None:
    """The question with the opposite relation and the same reference, where it has one answer too."""
    if len(question.stated) != 1 or question.kind not in OPPOSITES:
        return None
    turned = msgspec.structs.replace(question.stated[0], relation=OPPOSITES[question.stated[0].relation])
    return scene.question(turned.relation, question.thing, [turned], question.references)


def turns(scene: Scene, question: Question, one: Element, other: Element) -> bool:
    """Whether a question would plainly mean another element if a reference and a target stood in each other's place.

    Worked out from the boxes as they are: what a page does when two of its elements change places, only it can tell.
    """
    moved = {one.id: replace(one, bbox=other.bbox), other.id: replace(other, bbox=one.bbox)}
    candidates = [moved.get(each.id, each) for each in question.candidates]
    references = [[moved.get(each.id, each) for each in held] for held in question.references]
    margins = scene.margins(candidates, question.stated, references)
    finding = relations.decide([min(each) for each in margins])
    if finding.reason is not None or finding.fits[0] == question.answer:
        return False
    boxes = list(map(box, candidates))
    return spatial_plain.answers(question.stated, finding.fits[0], boxes, _boxes(references), margins)


def neighbour(scene: Scene, question: Question, others: Sequence[Question]) -> Question | None:
    """A question about an element that stands on the right side of this one's reference and yet does not answer it."""
    near = {question.candidates[place].id for place in right_side(question)}
    return next((one for one in others if one.target.id in near and one.thing == question.thing), None)


def right_side(question: Question) -> Iterator[int]:
    """Positions of candidates whose middle lies on the stated side of the reference, the target left out."""
    if len(question.stated) != 1 or question.kind not in DIRECTIONS:
        return
    reference = box(question.references[0][0]).center
    for place, one in enumerate(question.candidates):
        middle = box(one).center
        side = {
            "above": middle.y < reference.y,
            "below": middle.y > reference.y,
            "left_of": middle.x < reference.x,
            "right_of": middle.x > reference.x,
        }[question.kind]
        if side and place != question.answer:
            yield place


def failure(question: Question, place: int) -> str:
    """Why a candidate is not meant; empty for the target."""
    if place == question.answer:
        return ""
    if place in set(right_side(question)):
        return (
            "on the right side, but not the nearest" if question.stated[0].nearest else "on the right side, not in line"
        )
    names = " and ".join(one.relation.replace("_", " ") for one in question.stated)
    return f"{names}: fails by {-question.margins[place]:.2f}"


def lost(scene: Scene, question: Question) -> bool:
    """Whether nothing would answer a question if its target were gone and all else stayed as it is."""
    if question.kind.startswith("nth_"):
        return False
    left = [one for one in question.candidates if one is not question.target]
    margins = scene.margins(left, question.stated, question.references)
    return spatial_plain.unanswered(question.stated, list(map(box, left)), _boxes(question.references), margins)


def unanswered(scene: Scene, question: Question, references: Sequence[Sequence[Element]], kind: str) -> bool:
    """Whether nothing that is seen comes near to answering; where the target is covered, it must be unseen."""
    finding, left, margins = scene.answer(question.thing, question.stated, references)
    here = next((e for e in scene.look.observation.elements if e.locator == question.target.locator), None)
    gone = here is None if kind == "removed" else here is not None and here.seen == 0
    clear = spatial_plain.unanswered(question.stated, list(map(box, left)), _boxes(references), margins)
    return gone and not finding.fits and clear
