"""What can be asked about a measured page: every question has one answer by the boxes, with a margin to the runner-up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Final

from cuadata import descriptions, phrases, relations
from cuadata.phrases import Stated
from cuadata.relations import OPPOSITES, Finding
from cuadata.spatial_look import Look
from cuadata.spatial_words import noun
from cuadata.types import BBox, Element, Relation

DIRECTIONS: Final[tuple[Relation, ...]] = ("above", "below", "left_of", "right_of")
#: Kinds of question; directions are drawn most often, since models fail on them.
KINDS: Final = (*DIRECTIONS, *DIRECTIONS, "composed", "composed", "nearest", "between", "same_row", "same_column", "nth_in_row",
                "nth_in_column", "at_corner")  # fmt: skip
_CORNERS: Final[tuple[tuple[relations.Side, relations.Side], ...]] = (
    ("top", "left"), ("top", "right"), ("bottom", "left"), ("bottom", "right"),
)  # fmt: skip
#: Questions that are tried on one page.
TRIES: Final = 72
ENOUGH: Final = 20


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

    def __init__(self, look: Look) -> None:
        self.look = look
        seen = [one for one in look.observation.elements if one.bbox is not None and one.seen >= 1 / 3]
        called = [one.name or one.text for one in seen]
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
        self, kind: str, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> tuple[Finding, list[Element], list[float]]:
        """What relations mean among all elements of a class, whatever comes of it."""
        left_out = {one.id for held in references for one in held}
        candidates = [one for one in self.things.get(thing, ()) if one.id not in left_out]
        boxes = [box(one) for one in candidates]
        found = [
            relations.margins(
                one.relation, boxes, [box(e) for e in held], **one.qualifiers(self.look.observation.viewport)
            )
            for one, held in zip(stated, references, strict=True)
        ]
        margins = [min(each) for each in zip(*found, strict=True)]
        return relations.decide(margins), candidates, margins

    def question(
        self, kind: str, thing: str, stated: Sequence[Stated], references: Sequence[Sequence[Element]]
    ) -> Question | None:
        """The question, where exactly one element answers it by the margin; None where not."""
        finding, candidates, margins = self.answer(kind, thing, stated, references)
        if finding.reason is not None or len(candidates) < 2 or candidates[finding.fits[0]] not in self.targets:
            return None
        return Question(
            kind=kind, thing=thing, stated=tuple(stated), references=tuple(map(tuple, references)),
            candidates=tuple(candidates), margins=tuple(margins), answer=finding.fits[0],
        )  # fmt: skip

    def again(self, question: Question) -> list[tuple[Element, ...]] | None:
        """The references of a question of another page, on this one; None where one is not seen here."""
        here = {one.locator: one for one in self.references}
        held = [tuple(here[e.locator] for e in refs if e.locator in here) for refs in question.references]
        same = [len(a) == len(b) for a, b in zip(held, question.references, strict=True)]
        return held if all(same) else None


def _plain(name: str) -> bool:
    return not any(mark in name for mark in "'\"‘’“”")


def questions(scene: Scene, rng: Random, *, tries: int = TRIES, enough: int = ENOUGH) -> list[Question]:
    """Different questions about a page, as many as are found in some tries, at most `enough`."""
    found: dict[object, Question] = {}
    if not scene.things or len(scene.references) < 3:
        return []
    things = sorted(scene.things)
    for attempt in range(tries):
        thing = rng.choice(things)
        if attempt % 3:
            question = _not_the_nearest(scene, thing, rng)
        else:
            kind = rng.choice(KINDS)
            stated, references = _drawn(kind, scene, rng)
            question = scene.question(kind, thing, stated, references)
        if question is not None:
            key = (question.kind, thing, question.stated, tuple(e.id for e in question.all_references))
            found.setdefault(key, question)
            if len(found) == enough:
                break
    return list(found.values())


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
        if relations.holds(direction, box(target), [box(reference)]).holds:
            for nearest in (False, True):
                stated = [Stated(relation=direction, nearest=nearest)]
                question = scene.question(direction, thing, stated, [(reference,)])
                if question is not None:
                    return question if question.target is target else None
    return None


def _drawn(kind: str, scene: Scene, rng: Random) -> tuple[list[Stated], list[tuple[Element, ...]]]:
    """Relations and references for a kind of question."""
    some = rng.sample(scene.references, 2)
    if kind == "composed":
        one = rng.choice(("above", "below")), rng.choice(("left_of", "right_of"))
        first, second = rng.sample(one, 2)
        return [Stated(relation=first), Stated(relation=second)], [(some[0],), (some[1],)]  # type: ignore[arg-type]
    if kind == "between":
        return [Stated(relation="between")], [(some[0], some[1])]
    if kind in ("nth_in_row", "nth_in_column"):
        return [Stated(relation=kind, position=rng.choice((1, 2, 3, 4, -1)))], [()]  # type: ignore[arg-type]
    if kind == "at_corner":
        return [Stated(relation="at_corner", sides=rng.choice(_CORNERS))], [()]
    nearest = kind in DIRECTIONS and rng.random() < 0.2
    return [Stated(relation=kind, nearest=nearest)], [(some[0],)]  # type: ignore[arg-type]


def opposite(scene: Scene, question: Question) -> Question | None:
    """The question with the opposite relation and the same reference, where it has one answer too."""
    if len(question.stated) != 1 or question.kind not in OPPOSITES:
        return None
    turned = replace(question.stated[0], relation=OPPOSITES[question.stated[0].relation])
    return scene.question(turned.relation, question.thing, [turned], question.references)


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


def unanswered(scene: Scene, question: Question, references: Sequence[Sequence[Element]], kind: str) -> bool:
    """Whether nothing that is seen answers a question by the margin; where the target is covered, it must be unseen."""
    finding, _, _ = scene.answer(question.kind, question.thing, question.stated, references)
    here = next((e for e in scene.look.observation.elements if e.locator == question.target.locator), None)
    gone = here is None if kind == "removed" else here is not None and here.seen == 0
    return gone and not finding.fits and (finding.runner_up_margin is None or finding.runner_up_margin <= -0.1)
