"""What stood at the moment of an input: the observation that still held, or one put together from what was measured then.

A person does not wait. Where nothing has changed since the last observation, that is what stood; else the document measured
itself before the page heard of the input, and the picture is the last one that the screen had shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from cuadata import image
from cuadata.browsing import compose
from cuadata.browsing.ax import Named
from cuadata.browsing.frames import Frame
from cuadata.browsing.measure import Measured
from cuadata.browsing.tab import Tab
from cuadata.masking.fields import Seen, place_of, with_masks
from cuadata.people.person_ears import Shown
from cuadata.types import Element, Observation, Point


@dataclass(slots=True, eq=False)
class Moment:
    """The moment of an input."""

    time: Annotated[float, "seconds since the epoch, as the browser took the input"]
    tab: Tab
    frame_id: str
    frame: Annotated[Frame | None, "the document that heard it; None where it was not read yet"]
    base: Annotated[Seen | None, "the last observation of this page"]
    told: Annotated[dict[str, Any] | None, "what the document said at that moment; None: as in `base`"] = None
    only: Annotated[bool, "`told` speaks of the target alone"] = False
    shown: Annotated[Shown | None, "what the screen showed"] = None
    seen: Annotated[Seen | None, "what stood, once it was put together"] = None


def look_back(moment: Moment) -> Seen | None:
    """What stood at a moment; None where nothing is known of it."""
    if moment.seen is None:
        moment.seen = moment.base if moment.told is None else _together(moment, moment.told)
    return moment.seen


def _together(moment: Moment, told: dict[str, Any]) -> Seen | None:
    base, tab = moment.base, moment.tab
    frame = moment.frame or (tab.frames.held(moment.frame_id) if tab.frames is not None else None)
    if frame is None:
        return base
    held = list(base.held) if base is not None else []
    before = next((m for m in held if m.frame is frame), None)
    if moment.only:
        if before is None:
            return base
        fresh = {row["id"]: row for row in told["elements"]}
        rows = [{**row, **fresh.pop(row["id"], {})} for row in before.told["elements"]] + list(fresh.values())
        told = {**before.told, "focused": told["focused"], "elements": rows}
    # Elements that are new since then have their names from the tree that was read later, if they were still there.
    tree = {**frame.tree, **(before.tree if before is not None else {})}
    now = Measured(frame, told, {**tree, **_entered(frame, told, tree)})
    if before is not None:
        held[held.index(before)] = now
    elif frame.parent is None:
        held = [now]
    else:
        held = [*held, now]
    if not held or held[0].frame.parent is not None:
        return base
    return _seen(moment, base, held, told if held[0].frame is frame else None)


def _entered(frame: Frame, told: dict[str, Any], tree: dict[int, Named]) -> dict[int, Named]:
    """What was entered by then: the tree is older than the rows, and a person types while it is being read."""
    found: dict[int, Named] = {}
    for row in told["elements"]:
        node = frame.nodes.get(row["id"], -1)
        if row.get("entered") is not None and node in tree:
            value, checked = row["entered"]
            named = tree[node]
            states = replace(named.states, checked=checked) if checked else replace(named.states, value=value or None)
            found[node] = replace(named, states=states)
    return found


def _seen(moment: Moment, base: Seen | None, held: list[Measured], top: dict[str, Any] | None) -> Seen:
    tab = moment.tab
    elements = compose.compose(held, tab.number)
    size = tab.page.viewport_size or {"width": 1280, "height": 720}
    observation = base.observation if base is not None else _empty(tab, size, moment.time)
    notes = [*observation.notes, "the page had changed: its elements were measured at the moment of the input"]
    shot, taken = observation.screenshot, observation.time
    if moment.shown is not None:
        shot, taken = image.from_bytes(moment.shown.png, phash=False), moment.shown.time
    else:
        notes.append(f"the picture is {max(moment.time - taken, 0):.2f} s older than the input")
    observation = replace(
        observation, screenshot=shot, time=taken, elements=elements, dialogs=(), notes=tuple(dict.fromkeys(notes))
    )
    if top is not None:
        # The tree says which element has the focus, and is older than the input.
        focused = tab.number(held[0].frame, top["focused"]) if top["focused"] else None
        observation = replace(
            observation, url=top["url"], title=top["title"], scroll=Point(*top["scroll"]), focused=focused
        )
    made = with_masks(Seen(observation, tab, held))
    if base is not None:
        # A field that was masked a moment ago may not be told any more where the page has replaced it.
        made.masks = tuple(dict.fromkeys((*made.masks, *base.masks)))
    return made


def _empty(tab: Tab, size: Any, time: float) -> Observation:
    from cuadata.types import Size

    return Observation(screenshot=None, viewport=Size(size["width"], size["height"]), url=tab.page.url, time=time)


def point_at(seen: Seen, moment: Moment, point: Point | None) -> Point | None:
    """A point of the document that heard an input, in the top-level viewport."""
    if point is None:
        return None
    frame = moment.frame or (moment.tab.frames.held(moment.frame_id) if moment.tab.frames is not None else None)
    measured = next((m for m in seen.held if m.frame is frame), None)
    place = place_of(seen.held, measured) if measured is not None else None
    if place is None:
        return point if frame is not None and frame.parent is None else None
    x, y = place.at(point.x, point.y)
    return Point(round(x, 2), round(y, 2))


def target_of(seen: Seen, moment: Moment, chain: Sequence[tuple[int, str]]) -> Element | None:
    """The element that an input acts on: the innermost that takes input, else the innermost that is told.

    A listener on something that holds several things (a list that acts for its items) does not make it the target.
    """
    frame = moment.frame or (moment.tab.frames.held(moment.frame_id) if moment.tab.frames is not None else None)
    if frame is None:
        return None
    by_id = {e.id: e for e in seen.observation.elements}
    around = [(by_id[id], why) for serial, why in chain if (id := seen.tab.number(frame, serial)) in by_id]
    for at, (element, why) in enumerate(around):
        if why in ("listener", "tabindex") and at and _holds_more(element, around[0][0], seen.observation.elements):
            break
        if why or element.interactive:
            return element
    return around[0][0] if around else None


def _holds_more(outer: Element, inner: Element, elements: Sequence[Element]) -> bool:
    """Whether an element holds other things beside the one inside it."""
    return any(e.parent == outer.id and e.id != inner.id and (e.text or e.name) for e in elements)
