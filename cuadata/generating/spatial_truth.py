"""What can be asked about a measured page: every question has one answer by the boxes, with a margin to the runner-up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import msgspec

from cuadata import relation_rules, relations
from cuadata.generating import spatial_plain, spatial_search
from cuadata.generating.spatial_scene import Question, Scene, box
from cuadata.generating.spatial_scene import boxes as all_boxes
from cuadata.relations import OPPOSITES
from cuadata.types import BBox, Element, Relation
from cuadata.wording.phrases import Stated

DIRECTIONS: Final[tuple[Relation, ...]] = (*spatial_search.DOWN, *spatial_search.ACROSS)
#: Kinds of question that are tried in turn.
DRAWN: Final = (
    "nearest", "between", "between", "same_row", "same_column", "nth_in_row", "nth_in_column", "nth_in_list",
)  # fmt: skip
#: Kinds that few elements of a page are fit for: all are tried.
SEARCHED: Final[tuple[Relation, ...]] = ("inside", "contains", "overlapping", "at_edge", "at_corner")
SIDES: Final[tuple[relations.Side, ...]] = ("top", "bottom", "left", "right")
_CORNERS: Final[tuple[tuple[relations.Side, relations.Side], ...]] = (
    ("top", "left"), ("top", "right"), ("bottom", "left"), ("bottom", "right"),
)  # fmt: skip
KINDS: Final = frozenset((*DIRECTIONS, "composed", *DRAWN, *SEARCHED))
#: Questions that are tried on one page.
TRIES: Final = 24
#: Pairs of references that are tried for one target.
_PAIRS: Final = 40


def questions(scene: Scene, rng: Random, *, tries: int = TRIES) -> list[Question]:
    """Different questions about a page: some of all that it has by direction, the others as many as some tries find."""
    found: dict[object, Question] = {}
    if not scene.things or len(scene.references) < 3:
        return []
    for rare in SEARCHED:
        for one in itertools.islice(_searched(rare, scene, rng), 4):
            found.setdefault(_key(one), one)
    for one in spatial_search.directions(scene, rng):
        found.setdefault(_key(one), one)
    things, kinds = sorted(scene.things), rng.sample(DRAWN, len(DRAWN))
    mixed = rng.sample(scene.references, len(scene.references))
    for kind in itertools.islice(itertools.cycle(kinds), tries):
        thing, first = rng.choice(things), rng.randrange(len(mixed))
        drawn = _drawn(kind, scene, rng.choice(scene.things[thing]), [*mixed[first:], *mixed[:first]], rng)
        question = scene.question(kind, thing, *drawn) if drawn is not None else None
        if question is not None:
            found.setdefault(_key(question), question)
    return list(found.values())


def _key(question: Question) -> object:
    return question.kind, question.thing, question.stated, tuple(e.id for e in question.all_references)


def _searched(kind: Relation, scene: Scene, rng: Random) -> Iterator[Question]:
    """Questions of a kind about any element that it fits."""
    viewport = scene.look.observation.viewport
    page = BBox(0, 0, viewport.width, viewport.height)
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
                if relation_rules.at_edge(box(target), page, sides) >= -relation_rules.ROUNDING
            )
        else:
            near = (one for one in scene.touching(target) if scene.holds(kind, target, one))
            drawn = ((Stated(relation=kind), (one,)) for one in near)
        for stated, references in drawn:
            question = scene.question(kind, thing, [stated], [references])
            if question is not None:
                yield question


Drawn = tuple[list[Stated], list[tuple[Element, ...]]]


def _drawn(kind: str, scene: Scene, target: Element, mixed: Sequence[Element], rng: Random) -> Drawn | None:
    """Relations of a kind that a target may be meant by, with references that they hold to; None where there are none.

    `mixed`: the references, in the order in which they are tried.
    """
    others = [one for one in mixed if one is not target]
    if kind == "between":
        pairs = itertools.islice(itertools.combinations(others, 2), _PAIRS)
        held = next((pair for pair in pairs if scene.between(target, *pair)), None)
        return ([Stated(relation="between")], [held]) if held else None
    if kind.startswith("nth_"):
        return _counted(kind, scene, target, others, rng)  # type: ignore[arg-type]
    if kind == "nearest":
        return [Stated(relation="nearest")], [(others[0],)]
    near = next((one for one in others if scene.holds(kind, target, one)), None)  # type: ignore[arg-type]
    return ([Stated(relation=kind)], [(near,)]) if near else None  # type: ignore[arg-type]


def _counted(kind: Relation, scene: Scene, target: Element, others: Sequence[Element], rng: Random) -> Drawn | None:
    """A place in a row, column or list; sometimes in the row or column of something that is not counted itself."""
    if kind == "nth_in_list":
        if not _single_file(scene, target):
            return None
        return [Stated(relation=kind, position=rng.choice((1, 2, 3, 4, 5, -1)))], [()]
    heads = [one for one in others if not one.interactive and scene.holds(_LINE[kind], target, one)]
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


def swapped(scene: Scene, question: Question, one: Element, other: Element) -> Question | None:
    """What a question would mean if a reference and a target stood in each other's place; None where not plainly another element.

    Worked out from the boxes as they are: what a page does when two of its elements change places, only it can tell.
    """
    moved = {one.id: replace(one, bbox=other.bbox), other.id: replace(other, bbox=one.bbox)}
    candidates = tuple(moved.get(each.id, each) for each in question.candidates)
    references = tuple(tuple(moved.get(each.id, each) for each in held) for held in question.references)
    margins = scene.margins(candidates, question.stated, references)
    finding = relations.decide([min(each) for each in margins])
    if finding.reason is not None or finding.fits[0] == question.answer:
        return None
    place, boxes = finding.fits[0], list(map(box, candidates))
    if not spatial_plain.answers(question.stated, place, boxes, all_boxes(references), margins):
        return None
    return replace(
        question, candidates=candidates, references=references, margins=tuple(map(min, margins)), answer=place
    )  # fmt: skip


def neighbour(scene: Scene, question: Question, others: Sequence[Question]) -> Question | None:
    """A question about an element that stands on the right side of this one's reference and yet does not answer it."""
    near = {question.candidates[place].id for place in right_side(question)}
    return next((one for one in others if one.target.id in near and one.thing == question.thing), None)


def right_side(question: Question) -> Iterator[int]:
    """Positions of candidates whose middle lies on the stated side of the reference, the target left out."""
    if len(question.stated) != 1 or question.kind not in DIRECTIONS:
        return
    reference, answer = box(question.references[0][0]), question.answer
    across, towards = question.kind in ("left_of", "right_of"), 1 if question.kind in ("below", "right_of") else -1
    middle = 2 * reference.x + reference.width if across else 2 * reference.y + reference.height
    for place, one in enumerate(map(box, question.candidates)):
        own = 2 * one.x + one.width if across else 2 * one.y + one.height
        if place != answer and towards * (own - middle) > 0:
            yield place


def failures(question: Question) -> tuple[str, ...]:
    """Why each candidate is not meant; empty for the target."""
    beside = set(right_side(question))
    aside = "on the right side, but not the nearest" if question.stated[0].nearest else "on the right side, not in line"
    names = " and ".join(one.relation.replace("_", " ") for one in question.stated)
    return tuple(
        "" if place == question.answer else aside if place in beside else f"{names}: fails by {-margin:.2f}"
        for place, margin in enumerate(question.margins)
    )


def lost(scene: Scene, question: Question) -> bool:
    """Whether nothing would answer a question if its target were gone and all else stayed as it is."""
    if question.kind.startswith("nth_"):
        return False
    left = [one for one in question.candidates if one is not question.target]
    margins = scene.margins(left, question.stated, question.references)
    return spatial_plain.unanswered(question.stated, list(map(box, left)), all_boxes(question.references), margins)


def unanswered(scene: Scene, question: Question, references: Sequence[Sequence[Element]], kind: str) -> bool:
    """Whether nothing that is seen comes near to answering; where the target is covered, it must be unseen."""
    finding, left, margins = scene.answer(question.thing, question.stated, references)
    here = next((e for e in scene.look.observation.elements if e.locator == question.target.locator), None)
    gone = here is None if kind == "removed" else here is not None and here.seen == 0
    clear = spatial_plain.unanswered(question.stated, list(map(box, left)), all_boxes(references), margins)
    return gone and not finding.fits and clear
