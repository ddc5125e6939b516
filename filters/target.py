"""Whether a person could see and use what the action is aimed at.

A target is valid when a person sees at least a third of it (painted, inside every clip and the viewport, not transparent,
veiled or in the colour of its ground), some point of it takes a real click, and it is enabled. Where the page's script could
not tell what is seen (masks, blends, veils), pixels decide: `Evidence.pixels` is the share that changes when the element is
hidden. Without pixels the verdict is unsure.
"""

from __future__ import annotations

import json
from typing import Any

from cuadata.geometry import contains
from cuadata.judging import page_of
from cuadata.registry import gates
from cuadata.rows import Candidate, Target, Verdict
from cuadata.types import Action, BBox, Element, Keep

#: Actions that are aimed at an element.
AIMED = frozenset({"click", "double_click", "right_click", "hover", "drag", "type", "select", "upload"})
#: Those of them that a point carries.
POINTED = frozenset({"click", "double_click", "right_click", "hover", "drag"})
#: Smallest contrast that a person notices, channel levels of 255.
MIN_CONTRAST = 12.0


def element_of(candidate: Candidate) -> Element | None:
    """The element acted on with its evidence; None where the data came without a page, so that nothing was measured."""
    if candidate.step is not None and candidate.step.target is not None:
        target = candidate.step.target
        return target if page_of(candidate) is not None or target.evidence.rects else None
    wanted = candidate.example.action.element
    if candidate.observation is None or wanted is None:
        return None
    return next((e for e in candidate.observation.elements if e.id == wanted), None)


def _kept(gate: str, **evidence: Any) -> Verdict:
    return Verdict(gate=gate, evidence=json.dumps(evidence) if evidence else "{}")


def _not(gate: str, reason: str, keep: Keep = "no", **evidence: Any) -> Verdict:
    return Verdict(gate=gate, keep=keep, reason=reason, evidence=json.dumps(evidence))


def _aimed(action: Action) -> bool:
    return action.type in AIMED


@gates.add
def target_missing(candidate: Candidate) -> Verdict:
    """An action that is aimed at something needs its element, or at least a box."""
    if not _aimed(candidate.example.action) or element_of(candidate) or candidate.example.target:
        return _kept("target_missing")
    return _not("target_missing", "target_missing", action=candidate.example.action.type)


@gates.add
def target_stale(candidate: Candidate) -> Verdict:
    """A target that was remembered from an earlier state of the page is none."""
    error = candidate.step.error if candidate.step is not None else None
    if error is None or not error.startswith("target_stale"):
        return _kept("target_stale")
    return _not("target_stale", "target_stale", error=error)


@gates.add
def target_offscreen(candidate: Candidate, *, min_in_view: float = 1 / 3) -> Verdict:
    """At least `min_in_view` of the target's area must lie inside the viewport."""
    element = element_of(candidate)
    if element is not None:
        share = element.evidence.in_viewport
        if not element.evidence.rendered or not element.evidence.rects or share >= min_in_view:
            return _kept("target_offscreen")
        return _not("target_offscreen", "target_offscreen", in_viewport=share)
    box = candidate.example.target.bbox if candidate.example.target else None
    share = _share_on_screen(box, candidate) if box is not None else 1.0
    if share >= min_in_view:
        return _kept("target_offscreen")
    return _not("target_offscreen", "target_offscreen", in_viewport=round(share, 4))


def _share_on_screen(box: BBox, candidate: Candidate) -> float:
    if box.width <= 0 or box.height <= 0:
        return 1.0  # no area has no share: whether the box can be is another gate's question
    width = min(box.right, candidate.example.viewport_width) - max(box.x, 0)
    height = min(box.bottom, candidate.example.viewport_height) - max(box.y, 0)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / box.area


@gates.add
def target_too_small(candidate: Candidate, *, min_side: float = 3.0) -> Verdict:
    """A person can hit a target only if some part of it is `min_side` CSS px wide and high; a thin stroke may be longer."""
    element = element_of(candidate)
    if element is not None:
        evidence = element.evidence
        if not evidence.rendered:
            return _kept("target_too_small")
        widest = max((r.width + r.height for r in evidence.rects if min(r.width, r.height) >= 1), default=0.0)
        if widest >= 2 * min_side:
            return _kept("target_too_small")
        return _not("target_too_small", "target_too_small", rects=[[r.width, r.height] for r in evidence.rects[:4]])
    box = candidate.example.target.bbox if candidate.example.target else None
    if box is None or box.width + box.height >= 2 * min_side:
        return _kept("target_too_small")
    return _not("target_too_small", "target_too_small", box=[box.width, box.height])


@gates.add
def target_hidden(
    candidate: Candidate, *, min_seen: float = 1 / 3, min_opacity: float = 0.1, min_contrast: float = MIN_CONTRAST
) -> Verdict:
    """Rendered, opaque enough, in another colour than its ground; where script cannot tell, by its pixels."""
    element = element_of(candidate)
    if element is None:
        return _kept("target_hidden")
    evidence = element.evidence
    found: dict[str, Any] = {}
    if not evidence.rendered:
        found["rendered"] = False
    elif evidence.opacity < min_opacity:
        found["opacity"] = evidence.opacity
    elif evidence.pixels is not None:
        if evidence.pixels >= min_seen:
            return _kept("target_hidden", pixels=evidence.pixels)
        found["pixels"] = evidence.pixels
    elif evidence.contrast is not None and evidence.contrast < min_contrast:
        found["contrast"] = evidence.contrast
    elif evidence.unsure is not None:
        return _not("target_hidden", "target_hidden", "unsure", unsure=evidence.unsure)
    if found:
        return _not("target_hidden", "target_hidden", **found)
    return _kept("target_hidden")


def _seen(element: Element) -> float:
    """Share that a person sees, by pixels where script was not sure."""
    evidence = element.evidence
    return element.seen if evidence.pixels is None else max(element.seen, evidence.pixels)


@gates.add
def target_clipped(candidate: Candidate, *, min_seen: float = 1 / 3) -> Verdict:
    """What scrollers and clips leave of the target must be at least `min_seen` of it."""
    element = element_of(candidate)
    if element is None or not _lacks(element, min_seen) or element.evidence.covered > element.evidence.clipped:
        return _kept("target_clipped")
    evidence = element.evidence
    if evidence.clipped < 1e-6:
        return _kept("target_clipped")
    return _not("target_clipped", "target_clipped", seen=element.seen, clipped=evidence.clipped)


@gates.add
def target_occluded(candidate: Candidate, *, min_seen: float = 1 / 3) -> Verdict:
    """At least `min_seen` of the target must not be painted over, and some point of it must take the click."""
    element = element_of(candidate)
    if element is None:
        return _from_shares(candidate.example.target, min_seen)
    evidence = element.evidence
    if not evidence.rendered or not evidence.rects or evidence.in_viewport <= 0:
        return _kept("target_occluded")
    told: dict[str, Any] = {
        "seen": element.seen,
        "hit": element.hit,
        "covered": evidence.covered,
        "covered_by": evidence.covered_by,
    }
    if element.point is None:
        return _not("target_occluded", "target_occluded", **told)
    # What a clip takes away is the clip's matter.
    if _lacks(element, min_seen) and evidence.covered >= evidence.clipped:
        return _not("target_occluded", "target_occluded", **told)
    return _kept("target_occluded")


def _lacks(element: Element, min_seen: float) -> bool:
    """Whether too little of a rendered element inside the viewport is seen."""
    evidence = element.evidence
    return evidence.rendered and bool(evidence.rects) and _seen(element) < min_seen - 0.005


def _from_shares(target: Target | None, min_seen: float) -> Verdict:
    if target is None or target.seen is None and target.hit is None:
        return _kept("target_occluded")
    low = (target.seen is not None and target.seen < min_seen) or target.hit == 0
    if low:
        return _not("target_occluded", "target_occluded", seen=target.seen, hit=target.hit)
    return _kept("target_occluded")


@gates.add
def target_disabled(candidate: Candidate) -> Verdict:
    """Disabled (own, by fieldset, by aria-disabled), inert, or deaf to the pointer."""
    element = element_of(candidate)
    if element is None:
        return _kept("target_disabled")
    evidence = element.evidence
    deaf = candidate.example.action.type in POINTED and not evidence.pointer_events and element.point is None
    if element.states.disabled or evidence.inert or deaf:
        return _not(
            "target_disabled",
            "target_disabled",
            disabled=element.states.disabled,
            inert=evidence.inert,
            pointer_events=evidence.pointer_events,
        )
    return _kept("target_disabled")


@gates.add
def target_not_interactive(candidate: Candidate) -> Verdict:
    """The target takes input by role, tag, listener or as the label of a control; hovering asks for nothing."""
    element = element_of(candidate)
    action = candidate.example.action
    if element is None or not _aimed(action) or action.type in ("hover", "drag"):
        return _kept("target_not_interactive")
    if element.interactive or element.acts_on is not None:
        return _kept("target_not_interactive")
    return _not("target_not_interactive", "target_not_interactive", role=element.role, tag=element.tag)


@gates.add
def point_outside_target(candidate: Candidate, *, slack: float = 0.5) -> Verdict:
    """The action's point lies in one of the target's boxes, widened by `slack` CSS px."""
    action = candidate.example.action
    element = element_of(candidate)
    target = candidate.example.target
    boxes = element.evidence.rects if element is not None and element.evidence.rects else ()
    if not boxes:
        box = element.bbox if element is not None else target.bbox if target is not None else None
        boxes = (box,) if box is not None else ()
    if action.type not in POINTED or action.point is None or not boxes:
        return _kept("point_outside_target")
    if any(contains(box, action.point, slack) for box in boxes):
        return _kept("point_outside_target")
    return _not("point_outside_target", "point_outside_target", point=[action.point.x, action.point.y])
