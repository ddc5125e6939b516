"""Whether a person could see and use what the action is aimed at.

A target is valid when a person sees at least a third of it (painted, inside every clip and the viewport, not transparent,
veiled or in the colour of its ground), some point of it takes a real click, and it is enabled. Where the page's script could
not tell what is seen (masks, blends, veils), pixels decide: `Evidence.pixels` is the share of the area that shows through.
Without pixels the verdict is unsure.

Each gate speaks of one cause. Where a target is lost to several, the gate of the greatest speaks.
"""

from __future__ import annotations

from typing import Final

from cuadata import geometry
from cuadata.judging import claims
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, rejected
from cuadata.judging.visibility import FAINT, PLAIN, SLACK, SPECK
from cuadata.registry import gates
from cuadata.rows import Candidate, Target, Verdict
from cuadata.types import BBox, Element, Point

#: Actions that are aimed at an element, and those that a point carries there.
AIMED: Final = frozenset({"click", "double_click", "right_click", "hover", "drag", "type", "select", "upload"})
POINTED: Final = frozenset({"click", "double_click", "right_click", "hover", "drag"})
#: Roles of what only holds other things.
_CONTAINERS: Final = frozenset(
    ("", "none", "generic", "presentation", "list", "listbox", "menu", "group", "region", "table", "grid", "rowgroup", "row",
     "tree", "main", "article", "section", "form", "radiogroup", "tablist", "toolbar", "navigation", "figure")
)  # fmt: skip
_NOT_CHECKED: Final = "there is no page to measure the target on"


def _element(candidate: Candidate) -> Element | None:
    """The target with its evidence: as the row names it, as the action does, or as the step recorded it."""
    reading = claims.read(candidate)
    page = reading.page
    if reading.target is not None:
        return reading.target
    wanted = candidate.example.action.element
    if page.observation is not None and wanted is not None:
        return next((e for e in page.observation.elements if e.id == wanted), None)
    recorded = candidate.step.target if candidate.step is not None else None
    # Of an imported set only the box is known: nobody measured what is seen there.
    imported = page.observation is None and recorded is not None and not recorded.evidence.rects
    return None if imported else recorded


def _gone(element: Element | None) -> bool:
    """Whether nothing is left of a target to judge by its shares."""
    return element is None or not element.evidence.rendered or not element.evidence.rects


def _seen(element: Element) -> float:
    """Share that a person sees; pixels settle what script was not sure of."""
    evidence = element.evidence
    return element.seen if evidence.unsure is None or evidence.pixels is None else evidence.pixels


def _undecided(element: Element) -> bool:
    return element.evidence.unsure is not None and element.evidence.pixels is None


@gates.add
def target_missing(candidate: Candidate) -> Verdict:
    """An action that is aimed at something needs its element, or at least a box."""
    action = candidate.example.action
    if action.type not in AIMED or candidate.example.target is not None or _element(candidate) is not None:
        return kept("target_missing")
    if action.type in ("type", "hover", "drag") and candidate.observation is None:
        return kept("target_missing", not_checked=_NOT_CHECKED)
    return rejected("target_missing", "target_missing", action=action.type, element=action.element, point=action.point)


@gates.add
def target_stale(candidate: Candidate) -> Verdict:
    """The target is of this state of the page, not remembered from an earlier one."""
    error = candidate.step.error if candidate.step is not None else None
    if error is None or not error.startswith("target_stale"):
        return kept("target_stale")
    return rejected("target_stale", "target_stale", error=error)


@gates.add
def target_disabled(candidate: Candidate) -> Verdict:
    """The target is enabled (itself, its fieldset, by aria-disabled), not inert, and takes the pointer; a hover asks for no enabled one."""
    element, action = _element(candidate), candidate.example.action
    if element is None:
        return kept("target_disabled", not_checked=_NOT_CHECKED)
    evidence = element.evidence
    deaf = action.type in POINTED and not evidence.pointer_events and element.point is None
    if not (element.states.disabled and action.type != "hover" or evidence.inert or deaf):
        return kept("target_disabled")
    told = {"disabled": element.states.disabled, "inert": evidence.inert, "pointer_events": evidence.pointer_events}
    return rejected("target_disabled", "target_disabled", told)


@gates.add
def target_too_small(candidate: Candidate, *, min_side: float = SPECK) -> Verdict:
    """A person hits a target only where some part of it is `min_side` CSS px wide and high; a long stroke may be thinner."""
    element = _element(candidate)
    if element is not None:
        if not element.evidence.rendered:
            return kept("target_too_small")
        sizes = [(r.width, r.height) for r in element.evidence.rects]
    else:
        box = candidate.example.target.bbox if candidate.example.target is not None else None
        if box is None or not (box.width > 0 and box.height > 0):
            return kept("target_too_small", not_checked=_NOT_CHECKED)
        sizes = [(box.width, box.height)]
    if any(min(size) >= 1 and sum(size) >= 2 * min_side for size in sizes):
        return kept("target_too_small")
    return rejected("target_too_small", "target_too_small", sizes=sizes[:4])


@gates.add
def target_hidden(
    candidate: Candidate, *, min_seen: float = 1 / 3, min_opacity: float = FAINT, min_contrast: float = PLAIN
) -> Verdict:
    """Rendered, opaque enough, in another colour than its ground (`min_contrast`: levels of 255).

    Where script cannot tell, pixels decide; without them the verdict is unsure.
    """
    element = _element(candidate)
    if element is None:
        return kept("target_hidden", not_checked=_NOT_CHECKED)
    evidence = element.evidence
    if not evidence.rendered:
        return rejected("target_hidden", "target_hidden", rendered=False)
    if evidence.opacity < min_opacity:
        return rejected("target_hidden", "target_hidden", opacity=evidence.opacity)
    if evidence.contrast is not None and evidence.contrast < min_contrast:
        return rejected("target_hidden", "target_hidden", contrast=evidence.contrast)
    if evidence.unsure is None:
        return kept("target_hidden")
    if evidence.pixels is None:
        return rejected("target_hidden", "target_hidden", keep="unsure", unsure=evidence.unsure)
    if evidence.pixels < min_seen - SLACK:
        return rejected("target_hidden", "target_hidden", pixels=evidence.pixels, unsure=evidence.unsure)
    return kept("target_hidden", pixels=evidence.pixels)


@gates.add
def target_offscreen(candidate: Candidate, *, min_seen: float = 1 / 3) -> Verdict:
    """At least `min_seen` of the target's area lies inside the viewport."""
    element = _element(candidate)
    if element is not None:
        if _gone(element):
            return kept("target_offscreen")
        share = element.evidence.in_viewport
    else:
        box = candidate.example.target.bbox if candidate.example.target is not None else None
        if box is None or not geometry.finite(box):
            return kept("target_offscreen", not_checked=_NOT_CHECKED)
        share = _share_on_screen(box, candidate.example.viewport_width, candidate.example.viewport_height)
    if share >= min_seen - SLACK:
        return kept("target_offscreen")
    return rejected("target_offscreen", "target_offscreen", in_viewport=share)


def _share_on_screen(box: BBox, wide: float, tall: float) -> float:
    width, height = min(box.right, wide) - max(box.x, 0), min(box.bottom, tall) - max(box.y, 0)
    if width < 0 or height < 0:
        return 0.0
    return width * height / box.area if box.area > 0 else 1.0


@gates.add
def target_clipped(candidate: Candidate, *, min_seen: float = 1 / 3) -> Verdict:
    """What scrollers and clips leave of the target is at least `min_seen` of it."""
    element = _element(candidate)
    if element is None or _gone(element):
        return kept("target_clipped")
    evidence = element.evidence
    if _enough(element, min_seen) or evidence.clipped < max(evidence.covered, 1e-6):
        return kept("target_clipped")
    return rejected("target_clipped", "target_clipped", seen=element.seen, clipped=evidence.clipped)


@gates.add
def target_occluded(candidate: Candidate, *, min_seen: float = 1 / 3) -> Verdict:
    """At least `min_seen` of the target is not painted over, and some point of it takes the click."""
    element, action = _element(candidate), candidate.example.action
    if element is None:
        return _by_shares(candidate.example.target, min_seen)
    if _gone(element) or element.evidence.in_viewport <= 0:
        return kept("target_occluded")
    evidence = element.evidence
    reached = element.point is not None or action.type not in POINTED
    if reached and (_enough(element, min_seen) or evidence.clipped > evidence.covered):
        return kept("target_occluded")
    told = {"seen": element.seen, "hit": element.hit, "covered": evidence.covered, "covered_by": evidence.covered_by}
    return rejected("target_occluded", "target_occluded", told)


def _enough(element: Element, min_seen: float) -> bool:
    """Whether enough is seen, or pixels would have to say."""
    return _undecided(element) or _seen(element) >= min_seen - SLACK


def _by_shares(target: Target | None, min_seen: float) -> Verdict:
    if target is None or (target.seen is None and target.hit is None):
        return kept("target_occluded", not_checked=_NOT_CHECKED)
    if (target.seen is not None and target.seen < min_seen - SLACK) or target.hit == 0:
        return rejected("target_occluded", "target_occluded", seen=target.seen, hit=target.hit)
    return kept("target_occluded")


@gates.add
def target_not_interactive(candidate: Candidate) -> Verdict:
    """The target takes input: by role, tag or listener, or as the label of a control. Hovering and dragging ask for less.

    So does an item of something that listens for all that is in it, where the step shows that the input did something.
    """
    element, action = _element(candidate), candidate.example.action
    if element is None or action.type not in AIMED or action.type in ("hover", "drag"):
        return kept("target_not_interactive")
    if element.interactive or element.acts_on is not None:
        return kept("target_not_interactive")
    through = _listening(candidate, element)
    if through is not None:
        return kept("target_not_interactive", acts_through=through.id)
    return rejected("target_not_interactive", "target_not_interactive", role=element.role, tag=element.tag)


def _listening(candidate: Candidate, element: Element) -> Element | None:
    """The nearest element around a target that takes input, where it is a mere container and the step had an effect.

    A list that acts for its items has the listener itself: its items say nothing of it, and what the input did does.
    """
    page, step = candidate.observation, candidate.step
    if page is None or step is None or step.effect is None or not step.effect.happened:
        return None
    by_id, around = {one.id: one for one in page.elements}, element.parent
    while around is not None and (held := by_id.pop(around, None)) is not None:
        if held.interactive:
            return held if held.role in _CONTAINERS else None
        around = held.parent
    return None


@gates.add
def point_outside_target(candidate: Candidate, *, slack: float = 0.5) -> Verdict:
    """The action's point lies in one of the target's boxes, widened by `slack` CSS px.

    Where the row gives a box of its own, the point lies in that one too: a label is what the row says.
    """
    action, target = candidate.example.action, candidate.example.target
    if action.type not in POINTED or action.point is None:
        return kept("point_outside_target")
    element = _element(candidate)
    parts = element.evidence.rects if element is not None else ()
    whole = target.bbox if target is not None and target.bbox is not None else element.bbox if element else None
    if whole is None and not parts:
        return kept("point_outside_target", not_checked=_NOT_CHECKED)
    inside = whole is None or geometry.contains(whole, action.point, slack)
    if inside and (not parts or any(geometry.contains(part, action.point, slack) for part in parts)):
        return kept("point_outside_target")
    return rejected("point_outside_target", "point_outside_target", point=action.point, bbox=whole)


@clears(
    *("target_missing", "target_stale", "target_disabled", "target_too_small", "target_hidden", "target_offscreen"),
    *("target_clipped", "target_occluded", "target_not_interactive", "point_outside_target"),
)
def plainly_usable(candidate: Candidate, *, min_seen: float = 1 / 3 - SLACK, slack: float = 0.5) -> bool:
    """The target is on the page, enabled, takes input, is seen for sure, and the point lies in its only box."""
    step, action, label = candidate.step, candidate.example.action, candidate.example.target
    element = claims.read(candidate).target
    if element is None or label is None or element.point is None or (step is not None and step.error is not None):
        return False
    evidence = element.evidence
    if len(evidence.rects) != 1 or element.states.disabled or evidence.inert or evidence.unsure is not None:
        return False
    (part,) = evidence.rects
    return (
        evidence.rendered
        and (element.interactive or element.acts_on is not None)
        and evidence.opacity >= FAINT
        and (evidence.contrast is None or evidence.contrast >= PLAIN)
        and evidence.in_viewport >= min_seen
        and element.seen >= min_seen
        and part.width >= SPECK
        and part.height >= SPECK
        and (action.point is None or _in_both(action.point, part, label.bbox, slack))
    )


def _in_both(point: Point, part: BBox, label: BBox | None, slack: float) -> bool:
    """Whether a point lies in the element's box and in the label's, which most often are one."""
    if label is None or not geometry.contains(part, point, slack):
        return False
    return label is part or geometry.contains(label, point, slack)
