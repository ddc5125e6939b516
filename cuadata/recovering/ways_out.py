"""What stands in the way of acting on an element, and what would clear it: scroll to it, dismiss what covers it, wait for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cuadata.splitting.rescues import hidden
from cuadata.types import Action, Element, Locator, Observation

#: Words of controls that close what they stand in, the surest first.
_CLOSING = ("dismiss", "close", "no thanks", "not now", "maybe later", "understood", "got it", "ok", "reject", "accept")
_PRESSED = ("button", "link")
#: Seconds to wait for an element that is not there, or not enabled yet.
WAIT = 1.0


def way_out(
    observation: Observation,
    element: Element | None,
    *,
    known: Sequence[Locator] = (),
    tried: Collection[Locator] = (),
) -> Action | None:
    """What to do before an element can be acted on; None where nothing stands in the way.

    `element` is None where it is not on the page. `known` are controls that are known to lead on, a solution's; `tried`
    those that did not help. What covers the element is left by a known control inside it, else by one that is called like
    a way out, else by Escape.
    """
    if element is None or element.states.disabled:
        return Action(type="wait", seconds=WAIT)
    if hidden(element):
        return _scroll(observation, element)
    if element.point is not None or (element.evidence.covered < 0.5 and element.hit >= 1 / 3):
        return None
    cover = _cover(observation, element)
    inside = [e for e in observation.elements if cover is not None and _within(e, cover) and e.point is not None]
    open_ = [e for e in inside if e.locator not in tried and not e.states.disabled]
    for found in ([e for e in open_ if e.locator in known], _by_words(open_)):
        if found:
            return Action(type="click", element=found[0].id)
    return Action(type="press", keys=("Escape",))


def _scroll(observation: Observation, element: Element) -> Action | None:
    """A scroll that brings the middle of an element to the middle of what it scrolls in."""
    if element.bbox is None:
        return None
    scroller = next((e for e in observation.elements if e.id == element.scroller), None)
    middle = observation.viewport.height / 2
    if scroller is not None and scroller.bbox is not None:
        middle = scroller.bbox.center.y
    by = float(round(element.bbox.center.y - middle))
    if not by:
        return None
    return Action(type="scroll", element=None if scroller is None else scroller.id, scroll_y=by, scroll_unit="px")


def _cover(observation: Observation, element: Element) -> Element | None:
    """The dialog or layer that lies over an element; None where the observation does not tell."""
    name = element.evidence.covered_by
    over = next((e for e in observation.elements if name and e.locator.css == name), None)
    if over is not None and over.dialog is not None:
        return next((e for e in observation.elements if e.id == over.dialog), over)
    if over is not None:
        return over
    # What covers may be a bare layer that is no element of the observation: then the topmost dialog is meant.
    open_ = [e for e in observation.elements if e.role in ("dialog", "alertdialog") and e.seen > 0.5]
    return max(open_, key=lambda e: e.seen, default=None)


def _within(element: Element, cover: Element) -> bool:
    return cover.id in (element.dialog, element.parent)


def _by_words(elements: Sequence[Element]) -> list[Element]:
    """Controls that are called like a way out, the surest first."""
    pressed = [e for e in elements if e.role in _PRESSED]
    return [e for word in _CLOSING for e in pressed if (e.name or e.text).casefold().startswith(word)]
