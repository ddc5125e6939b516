"""Differences of state between two observations of a page: what changed by meaning, seen or not.

Address, title, pages, dialogs, scroll, focus, and of every element its presence, name, text, value and states. What the
page changes by itself is left out: differences that two observations without an action show, and the words and values of
elements inside which the picture moves by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from cuadata.element_states import STATES, state_of
from cuadata.types import BBox, Element, Observation, Point

#: Roles whose value is what a person entered, so that a moving caret does not make it the page's own.
EDITABLE = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "textarea"})
#: Roles that may not be named (WAI-ARIA 1.2, 5.2.8.6): what Chromium gives as their name comes and goes with the focus.
_NAMELESS = frozenset({"", "generic", "none", "presentation"})
_STATES = tuple(state for state in STATES if state not in ("value", "focused"))


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of state."""

    kind: Annotated[str, "url, title, pages, dialog, scroll, focus, appeared, gone, or the field that changed"]
    text: Annotated[str, "in words: \"checkbox 'MRW': checked false -> true\""]
    bbox: Annotated[BBox | None, "where, CSS px; None for the page as a whole"] = None
    subject: Annotated[str, "which element, whatever it says at the moment; empty for the page as a whole"] = ""


def state_difference(before: Observation, after: Observation) -> tuple[str, ...]:
    """What differs between two observations, one phrase each."""
    return tuple(difference.text for difference in differences(before, after))


def seen_difference(before: Observation, after: Observation) -> tuple[str, ...]:
    """What differs of all that is rendered: what is new a person sees now, and what is gone a person saw.

    A part of the page that is shown has appeared, whether or not it stood hidden in the document before.
    """
    left, right = (replace(o, elements=tuple(filter(_rendered, o.elements))) for o in (before, after))
    met = {kind: {subject(e) for e in o.elements if _seen(e)} for kind, o in (("gone", left), ("appeared", right))}
    return tuple(d.text for d in differences(left, right) if d.kind not in met or d.subject in met[d.kind])


def _seen(element: Element) -> bool:
    return element.seen > 0 or not element.evidence.rects  # of an imported element nothing was measured


def _rendered(element: Element) -> bool:
    return element.bbox is not None and element.evidence.rendered and element.evidence.opacity > 0


def differences(
    before: Observation,
    after: Observation,
    *,
    still: Sequence[Observation] = (),
    moves: Callable[[BBox], bool] | None = None,
    point: Point | None = None,
) -> tuple[Difference, ...]:
    """What differs between two observations.

    `still` are observations taken without acting, before the action: what differs among them and `before` is the page's
    own. `moves` says whether the picture moves by itself inside a box: words and values of such an element are the
    page's own too. `point` is where a pointer pressed, CSS px: that the element there took the focus without being a
    field to type in is no effect.
    """
    own = {_key(d) for earlier in still for d in _differences(earlier, before, None)}
    found = [d for d in _differences(before, after, point) if _key(d) not in own]
    if moves is not None:
        found = [d for d in found if d.bbox is None or d.kind not in ("name", "text", "value") or not moves(d.bbox)]
    return tuple(found)


def _key(difference: Difference) -> tuple[str, str]:
    """What differs of what; an element that comes by itself goes by itself too."""
    kind = "presence" if difference.kind in ("appeared", "gone") else difference.kind
    return kind, difference.subject


def _differences(before: Observation, after: Observation, point: Point | None) -> Iterator[Difference]:
    if _address(before.url) != _address(after.url):
        yield Difference("url", f"url: {before.url} -> {after.url}")
    if before.title != after.title:
        yield Difference("title", f"title: '{before.title}' -> '{after.title}'")
    yield from _pages(before, after)
    yield from _dialogs(before, after)
    if abs(before.scroll.x - after.scroll.x) >= 1 or abs(before.scroll.y - after.scroll.y) >= 1:
        moved = f"scroll: ({before.scroll.x:g}, {before.scroll.y:g}) -> ({after.scroll.x:g}, {after.scroll.y:g})"
        yield Difference("scroll", moved)
    yield from _elements(before, after)
    yield from _focus(before, after, point)


def _address(url: str) -> str:
    """An empty fragment, as a dead link leaves it, is no other address."""
    return url.removesuffix("#")


def _pages(before: Observation, after: Observation) -> Iterator[Difference]:
    held, now = {p.index: p for p in before.pages}, {p.index: p for p in after.pages}
    if not held or not now:
        return
    for index in sorted(now.keys() - held.keys()):
        yield Difference("pages", f"page {index} opened: '{now[index].title}'")
    for index in sorted(held.keys() - now.keys()):
        yield Difference("pages", f"page {index} closed: '{held[index].title}'")
    was, is_ = (next((p.index for p in pages if p.active), None) for pages in (before.pages, after.pages))
    if was != is_ and was in now:
        yield Difference("pages", f"active page: {was} -> {is_}")


def _dialogs(before: Observation, after: Observation) -> Iterator[Difference]:
    seen = Counter((d.type, d.message, d.accepted) for d in before.dialogs)
    for dialog in after.dialogs:
        key = (dialog.type, dialog.message, dialog.accepted)
        if seen[key]:
            seen[key] -= 1
        else:
            yield Difference("dialog", f"{dialog.type} dialog: '{dialog.message}'")
    for (kind, message, accepted), count in seen.items():
        if count and accepted is None:
            yield Difference("dialog", f"{kind} dialog closed: '{message}'")


def _elements(before: Observation, after: Observation) -> Iterator[Difference]:
    # An element that is as it was is the same object in both.
    same = {id(e) for e in before.elements} & {id(e) for e in after.elements}
    left, right = ([e for e in seen.elements if id(e) not in same] for seen in (before, after))
    pairs, gone, new = match(left, right)
    for one, other in pairs:
        yield from _changes(one, other)
    for element in gone:
        yield Difference("gone", f"gone: {label(element)}", element.bbox, subject(element))
    for element in new:
        yield Difference("appeared", f"appeared: {label(element)}", element.bbox, subject(element))


def subject(element: Element) -> str:
    """The element by its place in the document, else by its role and place on the screen."""
    where = element.locator
    if where.css:
        return "|".join((*where.frames, *where.shadow, where.css))
    return (
        f"{element.role}@{element.bbox.x:.0f},{element.bbox.y:.0f}" if element.bbox else f"{element.role}#{element.id}"
    )


def label(element: Element) -> str:
    """Role and name, as phrases name an element."""
    words = element.name or element.text
    return f"{element.role or element.tag} '{words[:60]}'" if words else element.role or element.tag or "element"


def match(
    before: Sequence[Element], after: Sequence[Element]
) -> tuple[list[tuple[Element, Element]], list[Element], list[Element]]:
    """Pairs of the same element, elements that are gone, elements that are new.

    By locator where both have one; the rest by id with the same role and tag, then by role and name in document order.
    """
    pairs: list[tuple[Element, Element]] = []
    left, right = list(before), list(after)
    for key in (_by_locator, _by_id, _by_name):
        waiting: dict[object, list[Element]] = {}
        for element in right:
            if (found := key(element)) is not None:
                waiting.setdefault(found, []).append(element)
        rest = []
        for element in left:
            queue = waiting.get(key(element)) if key(element) is not None else None
            if queue:
                pairs.append((element, queue.pop(0)))
            else:
                rest.append(element)
        taken = {id(other) for _, other in pairs}
        left, right = rest, [element for element in right if id(element) not in taken]
    return pairs, left, right


def _by_locator(element: Element) -> object:
    return (element.locator, element.role) if element.locator.css else None


def _by_id(element: Element) -> object:
    return (element.id, element.role, element.tag)


def _by_name(element: Element) -> object:
    return (element.role, element.name)


def _changes(one: Element, other: Element) -> Iterator[Difference]:
    bbox, whose = other.bbox or one.bbox, subject(one)
    for kind, words in _changed_words(one, other):
        yield Difference(kind, f"{label(one)}: {words}", bbox, whose)


def _changed_words(one: Element, other: Element) -> Iterator[tuple[str, str]]:
    if one.name != other.name and one.role not in _NAMELESS:
        yield "name", f"name -> '{other.name[:60]}'"
    elif one.text != other.text:
        yield "text", f"text '{one.text[:40]}' -> '{other.text[:40]}'"
    if one.states.value != other.states.value:
        kind = "entry" if is_field(one) else "value"
        yield kind, f"value {_quoted(one.states.value)} -> {_quoted(other.states.value)}"
    for state in _STATES:
        was, is_ = state_of(one, state), state_of(other, state)
        if was != is_:
            yield state, f"{state} {was or 'none'} -> {is_ or 'none'}"


def _quoted(value: str | None) -> str:
    return "none" if value is None else f"'{value[:40]}'"


def _focus(before: Observation, after: Observation, point: Point | None) -> Iterator[Difference]:
    was, is_ = focused(before), focused(after)
    if was is None and is_ is None:
        return
    if was is not None and is_ is not None and match([was], [is_])[0]:
        return
    if _by_the_press(is_, point):
        return
    here = is_ or was
    yield Difference("focus", f"focus: {_named(was)} -> {_named(is_)}", here.bbox if here else None, "focus")


def _by_the_press(is_: Element | None, point: Point | None) -> bool:
    """A press moves the focus to what lies under it, or away; where that is no field to type in, nothing was done."""
    return point is not None and (is_ is None or not is_field(is_))


def _named(element: Element | None) -> str:
    return "none" if element is None else label(element)


def is_field(element: Element) -> bool:
    """Whether a person types into it: by its role, or as `contenteditable`, which has the role `generic` in Chromium's tree."""
    if element.role in EDITABLE:
        return True
    return any(a.name == "contenteditable" and a.value != "false" for a in element.attributes)


def focused_field(state: Observation) -> Element | None:
    """The field to type in that has the focus; None where nothing has it, or something else."""
    element = focused(state)
    return element if element is not None and is_field(element) else None


def focused(observation: Observation) -> Element | None:
    """The element that has the focus; None where nothing has it."""
    for element in observation.elements:
        if element.id == observation.focused or element.states.focused:
            return element
    return None
