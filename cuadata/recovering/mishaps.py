"""Ways to fail at a step: tries that an actor might make instead of the right action, read off an observation.

Each way gives an action that ought to change nothing, or None where the page offers no such try. Whether it really changed
nothing is measured when it is played; nothing here says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated

from cuadata.geometry import clip, contains, distance, intersection
from cuadata.splitting.recovery import WITHOUT_INPUT
from cuadata.splitting.rescues import FAR, hidden
from cuadata.types import Action, BBox, Element, Locator, Observation, Phase, Point

#: How far beside its target a first click is dropped, CSS px.
NEAREST, FARTHEST = 5.0, 40.0
_PRESSED = ("button", "link", "menuitem", "tab")
_TOGGLES = ("checkbox", "switch", "menuitemcheckbox")
#: Roles of what is around controls: it may take a press, and does nothing with it.
_AROUND = ("dialog", "region", "generic", "none", "group", "form", "")
_PLACES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where a try is made."""

    observation: Annotated[Observation, "what stands"]
    right: Annotated[Action, "the action that would go on; pointer actions name their element"]
    phase: Annotated[Phase | None, "phase of the right action, where it is known"] = None
    coming: Annotated[tuple[Locator, ...], "what is acted on later, soonest first"] = ()
    last: Annotated[Action | None, "the last pointer action that did something"] = None
    rng: Annotated[Random, "draws places and distances"]

    @property
    def target(self) -> Element | None:
        """The element of the right action."""
        return next((e for e in self.observation.elements if e.id == self.right.element), None)


def missed(moment: Moment) -> Action | None:
    """The right click, dropped 5 to 40 px beside its target, on nothing that takes input."""
    target = moment.target
    if moment.right.type != "click" or target is None or target.bbox is None:
        return None
    for _ in range(_PLACES):
        angle, far = moment.rng.uniform(0, 2 * math.pi), moment.rng.uniform(NEAREST, FARTHEST)
        point = _beside(target.bbox, angle, far)
        if NEAREST <= distance(target.bbox, point) <= FARTHEST and _dead(moment.observation, point):
            return Action(type="click", point=point)
    return None


def covered(moment: Moment) -> Action | None:
    """A click where something that is wanted later lies under what the right action closes."""
    target = moment.target
    if target is None or target.bbox is None or target.dialog is None:
        return None
    over = next((e.bbox for e in moment.observation.elements if e.id == target.dialog), None)
    if over is None:
        return None
    wanted = [_at(moment.observation, locator) for locator in moment.coming]
    others = [e for e in moment.observation.elements if e.dialog is None]
    for element in (*wanted, *moment.rng.sample(others, len(others))):
        if element is None or not _under_cover(element) or element.dialog == target.dialog:
            continue
        # Only where the very dialog that is closed lies over it.
        for point in _points(element.bbox and intersection(element.bbox, over), moment):
            if distance(target.bbox, point) > FAR and _dead(moment.observation, point):
                return Action(type="click", point=point)
    return None


def fake(moment: Moment) -> Action | None:
    """A click on another way out of the same dialog than the one that works."""
    target = moment.target
    if target is None or target.dialog is None or target.role not in _PRESSED or moment.phase not in ("dismiss", None):
        return None
    others = [e for e in moment.observation.elements if e.dialog == target.dialog and e.role in _PRESSED]
    open_ = [e for e in others if e.id != target.id and e.point is not None and not e.states.disabled]
    return Action(type="click", element=moment.rng.choice(open_).id) if open_ else None


def disabled(moment: Moment) -> Action | None:
    """A click on a control that is disabled until the right action is done."""
    target = moment.target
    barred = [e for e in moment.observation.elements if e.states.disabled and e.bbox is not None and not hidden(e)]
    near = [e for e in barred if target is None or e.dialog == target.dialog]
    for element in near:
        if element.hit > 0.5 and element.bbox is not None and moment.right.element != element.id:
            return Action(type="click", point=element.bbox.center)
    return None


def off_screen(moment: Moment) -> Action | None:
    """A click at the edge towards which the right action scrolls: a guess at what is out of sight."""
    if moment.right.type != "scroll" or not moment.right.scroll_y:
        return None
    view = moment.observation.viewport
    whole = BBox(0, 0, view.width, view.height)
    target = moment.target
    box = whole if target is None or target.bbox is None else clip(target.bbox, view)
    if box is None:
        return None
    third = box.height / 3
    edge = replace(box, y=box.bottom - third if moment.right.scroll_y > 0 else box.y, height=third)
    points = _points(edge, moment)
    return next((Action(type="click", point=p) for p in points if _dead(moment.observation, p)), None)


def too_early(moment: Moment) -> Action | None:
    """What was asked for is asked for again, instead of waiting for it."""
    held = {e.id: e for e in moment.observation.elements}
    if moment.right.type != "wait" or moment.last is None or moment.last.element not in held:
        return None
    return Action(type="click", element=moment.last.element)


def swapped(moment: Moment) -> Action | None:
    """The same action for another goal: one of the other boxes is ticked."""
    target = moment.target
    if moment.right.type != "click" or target is None or target.role not in _TOGGLES:
        return None
    others = [e for e in moment.observation.elements if e.role == target.role and e.id != target.id]
    free = [e for e in others if e.point is not None and e.acts_on is None and e.states.checked == "false"]
    return Action(type="click", element=moment.rng.choice(free).id) if free else None


#: Way -> what it tries; by the word that the evidence is expected to give as cause.
WAYS: dict[str, Callable[[Moment], Action | None]] = {
    "missed": missed,
    "covered": covered,
    "fake": fake,
    "disabled": disabled,
    "off_screen": off_screen,
    "too_early": too_early,
    "taken_back": swapped,
}


def possible(moment: Moment, ways: Sequence[str]) -> dict[str, Action]:
    """The tries that the page offers, by way."""
    if moment.right.type in WITHOUT_INPUT:
        return {}
    found = ((way, WAYS[way](moment)) for way in ways)
    return {way: action for way, action in found if action is not None}


def _at(observation: Observation, locator: Locator) -> Element | None:
    return next((e for e in observation.elements if e.locator == locator), None)


def _beside(box: BBox, angle: float, far: float) -> Point:
    """The point that lies `far` px from the edge of a box, seen from its middle in that direction."""
    across, down = math.cos(angle), math.sin(angle)
    reach = min(box.width / 2 / max(abs(across), 1e-9), box.height / 2 / max(abs(down), 1e-9))
    middle = box.center
    edge = Point(middle.x + across * reach, middle.y + down * reach)
    # On from the edge at a right angle, so that the distance is exact.
    if reach * abs(across) >= box.width / 2 - 1e-6:
        return Point(round(edge.x + math.copysign(far, across), 1), round(edge.y, 1))
    return Point(round(edge.x, 1), round(edge.y + math.copysign(far, down), 1))


def _points(box: BBox | None, moment: Moment) -> Iterator[Point]:
    """Places in the part of a box that is on the screen, not too near its edge."""
    seen = None if box is None else clip(box, moment.observation.viewport)
    if seen is None:
        return
    for _ in range(_PLACES):
        x, y = (moment.rng.uniform(0.15, 0.85) for _ in range(2))
        yield Point(round(seen.x + x * seen.width, 1), round(seen.y + y * seen.height, 1))


def _under_cover(element: Element) -> bool:
    """Whether something that takes input, and is in sight, is covered by something else."""
    if not element.interactive or hidden(element) or element.states.disabled:
        return False
    return element.evidence.covered >= 0.5 or element.hit < 1 / 3


def _dead(observation: Observation, point: Point) -> bool:
    """Whether nothing there takes input, as far as the boxes tell."""
    view = observation.viewport
    if not (2 <= point.x < view.width - 2 and 2 <= point.y < view.height - 2):
        return False
    return not any(_live(e) and e.bbox is not None and contains(e.bbox, point, 2.0) for e in observation.elements)


def _live(element: Element) -> bool:
    """Whether a press on an element may do something; a scroller or a dialog takes presses and does nothing with them."""
    takes = element.interactive or element.acts_on is not None
    return takes and element.hit > 0 and element.role not in _AROUND
