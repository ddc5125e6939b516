"""The faults that `cuadata.proving.inject` puts into examples, one function a kind.

They work on the evidence as a browser would have measured it, and know nothing of how gates judge. Each gives the example
with the fault and whether a person would call its label wrong now (None where people would differ), or None where the
fault has no place in the example.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from cuadata import geometry
from cuadata.relations import OPPOSITES
from cuadata.rows import Candidate, Example, Target
from cuadata.types import BBox, Element, Locator, Observation, Point

Made = tuple[Candidate, bool | None] | None


# Where things are in an example ----------------------------------------------------------------------------------------


def target_of(candidate: Candidate) -> Element | None:
    """The element that the example is labelled with, found by its locator; None without a page or a target."""
    return _find(candidate, candidate.example.target)


def _find(candidate: Candidate, wanted: Target | None) -> Element | None:
    if candidate.observation is None or wanted is None or wanted.locator is None:
        return None
    return next((one for one in candidate.observation.elements if one.locator == wanted.locator), None)


def _number(severity: str) -> float:
    return float(severity.split()[0])


def _with_element(candidate: Candidate, changed: Element) -> Candidate:
    """The same example on a page where this element is measured so; the step's copy of it changes too."""
    assert candidate.observation is not None
    elements = tuple(changed if one.id == changed.id else one for one in candidate.observation.elements)
    step = candidate.step
    if step is not None and step.target is not None and step.target.id == changed.id:
        step = replace(step, target=changed)
    return _with_page(replace(candidate, step=step), replace(candidate.observation, elements=elements))


def _with_page(candidate: Candidate, page: Observation) -> Candidate:
    step = None if candidate.step is None else replace(candidate.step, observation=page)
    return replace(candidate, observation=page, step=step)


def _with_elements(candidate: Candidate, elements: Sequence[Element]) -> Candidate:
    assert candidate.observation is not None
    return _with_page(candidate, replace(candidate.observation, elements=tuple(elements)))


def _with_example(candidate: Candidate, example: Example) -> Candidate:
    step = candidate.step
    if step is not None and step.action == candidate.example.action:
        step = replace(step, action=example.action)
    return replace(candidate, example=example, step=step)


def _mapped(example: Example, box: Callable[[BBox], BBox], point: Callable[[Point], Point], *, all: bool) -> Example:
    """The label with every box and point of it changed; without `all` those of the references stay."""

    def one(target: Target) -> Target:
        return replace(
            target,
            bbox=None if target.bbox is None else box(target.bbox),
            point=None if target.point is None else point(target.point),
        )

    action = example.action
    if action.point is not None:
        action = replace(action, point=point(action.point))
    if action.end is not None and all:
        action = replace(action, end=point(action.end))
    references = tuple(map(one, example.references)) if all else example.references
    return replace(
        example, action=action, target=None if example.target is None else one(example.target), references=references
    )


def label_is_off(true: BBox, example: Example) -> bool | None:
    """Whether a label is off its element: the point misses it, or the boxes share less than half of their union."""
    box = example.target.bbox if example.target is not None else None
    point = example.action.point
    if point is not None and not geometry.contains(true, point):
        return True
    if box is not None and geometry.iou(true, box) < 0.5:
        return True
    return None


# The injectors ---------------------------------------------------------------------------------------------------------


def target_moved(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The label's box and point lie some px beside the element."""
    element = target_of(candidate)
    if element is None or element.bbox is None:
        return None
    turn = chance.choice((0, 90, 180, 270)) * math.pi / 180
    dx, dy = _number(severity) * round(math.cos(turn)), _number(severity) * round(math.sin(turn))
    moved = _mapped(
        candidate.example,
        lambda box: BBox(box.x + dx, box.y + dy, box.width, box.height),
        lambda point: Point(point.x + dx, point.y + dy),
        all=False,
    )
    return _with_example(candidate, moved), label_is_off(element.bbox, moved)


def covered(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """Something opaque lies over a share of the target; the click goes to what is left free."""
    element = target_of(candidate)
    if element is None or element.bbox is None or candidate.observation is None or element.evidence.covered > 0:
        return None
    share = _number(severity) / 100
    box = element.bbox
    side = chance.choice(("left", "right"))
    cover = BBox(box.x if side == "left" else box.right - box.width * share, box.y, box.width * share, box.height)
    free = BBox(box.x + (box.width * share if side == "left" else 0), box.y, box.width * (1 - share), box.height)
    under = replace(
        element,
        seen=element.seen * (1 - share),
        hit=element.hit * (1 - share),
        point=free.center,
        evidence=replace(element.evidence, covered=share, covered_by="#cover"),
    )
    over = Element(
        id=_free_id(candidate.observation),
        role="generic",
        name="",
        tag="div",
        bbox=cover,
        seen=1.0,
        hit=1.0,
        locator=Locator(css="#cover"),
    )
    page = _with_element(candidate, under)
    assert page.observation is not None
    page = _with_elements(page, (*page.observation.elements, over))
    example = page.example
    target = example.target and replace(example.target, point=free.center, seen=under.seen, hit=under.hit)
    action = replace(example.action, point=free.center) if example.action.point is not None else example.action
    return _with_example(page, replace(example, target=target, action=action)), share > 2 / 3


def hidden(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """A person does not see the target, though it is on the page."""
    element = target_of(candidate)
    return None if element is None else (_with_element(candidate, _hide(element, severity)), True)


def reference_hidden(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """A person does not see what the instruction refers to."""
    element = _find(candidate, candidate.example.references[0]) if candidate.example.references else None
    return None if element is None else (_with_element(candidate, _hide(element, severity)), True)


def _hide(element: Element, how: str) -> Element:
    evidence = element.evidence
    if how == "transparent":
        return replace(element, seen=0.0, evidence=replace(evidence, opacity=0.0))
    if how == "visibility":
        return replace(element, seen=0.0, hit=0.0, point=None, evidence=replace(evidence, rendered=False))
    if how == "colour of the ground":
        return replace(element, seen=0.0, evidence=replace(evidence, contrast=1.0))
    if how == "scrolled away":
        away = replace(evidence, clipped=1.0)
        return replace(element, seen=0.0, hit=0.0, point=None, evidence=away)
    gone = replace(evidence, in_viewport=0.0, rects=())
    assert element.bbox is not None and how == "outside"
    box = BBox(element.bbox.x, -element.bbox.height - 50, element.bbox.width, element.bbox.height)
    return replace(element, seen=0.0, hit=0.0, point=None, bbox=box, evidence=gone)


def disabled(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The target takes no input."""
    element = target_of(candidate)
    if element is None or candidate.example.action.type not in ("click", "type", "select", "double_click", "drag"):
        return None
    if severity == "inert":
        return _with_element(candidate, replace(element, hit=0.0, evidence=replace(element.evidence, inert=True))), True
    return _with_element(candidate, replace(element, states=replace(element.states, disabled=True))), True


def removed(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The target, or the reference, is no longer on the page."""
    references = candidate.example.references
    wanted = candidate.example.target if severity == "target" else references[0] if references else None
    element = _find(candidate, wanted)
    if element is None or candidate.observation is None:
        return None
    left = [one for one in candidate.observation.elements if one.id != element.id and one.parent != element.id]
    return _with_elements(candidate, left), True


def duplicated(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """A second element answers the description, and the relation where one is stated; 'other name' does not."""
    element, example = target_of(candidate), candidate.example
    if element is None or element.bbox is None or candidate.observation is None:
        return None
    box = _beside(element.bbox, candidate)
    if box is None:
        return None
    dx, dy = box.x - element.bbox.x, box.y - element.bbox.y
    point = element.point and Point(element.point.x + dx, element.point.y + dy)
    copy = replace(
        element,
        id=_free_id(candidate.observation),
        bbox=box,
        point=point,
        locator=Locator(css="#copy"),
        evidence=replace(element.evidence, rects=(box,)),
    )
    copy = _spelt(copy, severity)
    wrong = severity != "other name" or (example.relation is not None and _only_the_role_counts(example))
    # The copy stands farther from the reference: the nearest is still the first.
    wrong = wrong and not any(word in example.instruction.casefold() for word in ("nearest", "closest"))
    return _with_elements(candidate, (*candidate.observation.elements, copy)), wrong


def _spelt(copy: Element, severity: str) -> Element:
    name = copy.name
    if severity == "other case":
        return replace(copy, name=name.swapcase(), text=copy.text.swapcase())
    if severity == "white space":
        return replace(copy, name=f" {name.replace(' ', '  ')}\u00a0", text=f"{copy.text}\n")
    if severity == "punctuation":
        return replace(copy, name=f"{name}:", text=f"{copy.text}…")
    if severity == "other name":
        return replace(copy, name=f"{name} of another", text=f"{copy.text} of another")
    return copy


def _only_the_role_counts(example: Example) -> bool:
    """Whether the instruction speaks of the target by its role alone, as in 'the button left of Search'."""
    name = example.target.name if example.target is not None else ""
    return not name or name.casefold() not in example.instruction.casefold()


def _beside(box: BBox, candidate: Candidate) -> BBox | None:
    """A free place for a second element: beyond the first, seen from the reference; else anywhere in the viewport."""
    example = candidate.example
    reference = example.references[0].bbox if example.references else None
    steps: Sequence[tuple[float, float]] = ((0, 1), (0, -1), (1, 0), (-1, 0))
    if reference is not None and example.relation in _AWAY:
        steps = (_AWAY[example.relation],)
    elif example.relation is not None:
        return None
    if example.relation is not None and len(example.references) != 1:
        return None  # of several relations, the first says where one more would stand, and the others may rule it out
    taken = [one.bbox for one in candidate.observation.elements if one.bbox] if candidate.observation else []
    for far in range(1, 40):
        for dx, dy in steps:
            place = BBox(box.x + dx * far * (box.width + 8), box.y + dy * far * (box.height + 8), box.width, box.height)
            inside = 0 <= place.x and 0 <= place.y
            inside = inside and place.right <= example.viewport_width and place.bottom <= example.viewport_height
            if inside and not any(geometry.intersection(place, other) for other in taken):
                return place
    return None


_AWAY: Final[dict[str | None, tuple[float, float]]] = {
    "left_of": (-1, 0),
    "right_of": (1, 0),
    "above": (0, -1),
    "below": (0, 1),
}


def _free_id(page: Observation) -> int:
    return max((one.id for one in page.elements), default=0) + 1


def relation_flipped(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The opposite relation stands in the column, in the text, or in both."""
    example = candidate.example
    opposite = OPPOSITES.get(example.relation) if example.relation in OPPOSITES else None
    text = _opposite_words(example.instruction)
    if opposite is None or (severity != "column" and text == example.instruction):
        return None
    return _with_example(
        candidate,
        replace(
            example,
            relation=opposite if severity != "text" else example.relation,
            instruction=text if severity != "column" else example.instruction,
        ),
    ), None if _may_be_true_of_nothing(example, severity) else True


_FLIPS: Final = {"above": "below", "below": "above", "left": "right", "right": "left", "under": "over", "over": "under"}
_MEANT: Final = {"over": "above", "under": "below", "left": "left_of", "right": "right_of"}  # else the word itself


def _may_be_true_of_nothing(example: Example, severity: str) -> bool:
    """Whether the answer is that nothing is there, and column and text still agree: of several relations one is turned."""
    if example.target is not None or severity == "column":
        return False
    word = _word_of_direction(example.instruction)
    return severity == "both" or word is None or _MEANT.get(word[0].lower(), word[0].lower()) != example.relation


def _opposite_words(instruction: str) -> str:
    """The first word of direction turned round, outside of quotes."""
    word = _word_of_direction(instruction)
    if word is not None:
        return instruction[: word.start()] + _FLIPS[word[0].lower()] + instruction[word.end() :]
    return instruction


def _word_of_direction(instruction: str) -> re.Match[str] | None:
    """The first word of direction outside of quotes."""
    words = re.finditer(r"\b(?:above|below|left|right|under|over)\b", instruction, re.IGNORECASE)
    return next((one for one in words if all(instruction.count(mark, 0, one.start()) % 2 == 0 for mark in "'\"")), None)


def reference_swapped(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The label's reference is another element than the one that the instruction names."""
    example = candidate.example
    if not example.references or candidate.observation is None:
        return None
    held = {example.references[0].locator, example.target.locator if example.target is not None else None}
    others = [
        one
        for one in candidate.observation.elements
        if one.seen > 0.9 and one.name and one.locator not in held and one.name != example.references[0].name
    ]
    if not others:
        return None
    other = chance.choice(others)
    swapped = Target(
        role=other.role,
        name=other.name,
        text=other.text,
        bbox=other.bbox,
        point=other.point,
        seen=other.seen,
        hit=other.hit,
        locator=other.locator,
    )
    return _with_example(candidate, replace(example, references=(swapped, *example.references[1:]))), True


def other_moment(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The picture was taken after the action, or belongs to another moment than the evidence."""
    page, step = candidate.observation, candidate.step
    if page is None or step is None:
        return None
    if severity == "other picture":
        example = replace(candidate.example, image=replace(candidate.example.image, sha256="0" * 64, path=None))
        return replace(candidate, example=example), True
    return _with_page(candidate, replace(page, time=step.time + _number(severity))), True


def other_frame(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The label's coordinates count in another frame: px of a picture at another ratio, thousandths, fractions."""
    element, example = target_of(candidate), candidate.example
    if element is None or element.bbox is None:
        return None
    across = down = _number(severity) if severity not in ("thousandths", "fractions") else 0.0
    if severity == "thousandths":
        across, down = 1000 / example.viewport_width, 1000 / example.viewport_height
    elif severity == "fractions":
        across, down = 1 / example.viewport_width, 1 / example.viewport_height
    changed = _mapped(
        example,
        lambda box: BBox(box.x * across, box.y * down, box.width * across, box.height * down),
        lambda point: Point(point.x * across, point.y * down),
        all=True,
    )
    return _with_example(candidate, changed), label_is_off(element.bbox, changed)


def text_changed(candidate: Candidate, severity: str, chance: random.Random) -> Made:
    """The instruction names the target otherwise than it is."""
    example = candidate.example
    name = example.target.name if example.target is not None else ""
    if not name or name not in example.instruction:
        return None
    written = {
        "case": name.upper(),
        "white space": name.replace(" ", "  "),
        "another name": "Zebra crossing",
        "no instruction": "",
    }[severity]
    if written == name:
        return None
    text = example.instruction.replace(name, written) if severity != "no instruction" else ""
    return _with_example(candidate, replace(example, instruction=text)), severity in ("another name", "no instruction")
