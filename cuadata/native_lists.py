"""Native lists (`<select>`): an option that no click reaches, because its list is closed or scrolled, is chosen all the same.

In document order a list's options stand right behind it, those of its groups as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cuadata.types import Action, Element


def with_lists(elements: Iterable[Element]) -> Iterator[tuple[Element, Element | None]]:
    """Each element with the native list that it is an option of, None for what is no option of one."""
    held: Element | None = None
    for element in elements:
        if element.tag == "select":
            held = element
        yield element, held if element.tag == "option" else None


def options(elements: Iterable[Element], list: Element) -> tuple[Element, ...]:
    """The options of a list, in order."""
    return tuple(e for e, held in with_lists(elements) if held is not None and held.id == list.id)


def chosen(action: Action, elements: Iterable[Element]) -> Action:
    """A click on an option that no click reaches is the choice of it in its list; any other action is itself."""
    if action.type != "click" or action.element is None:
        return action
    for element, held in with_lists(elements):
        if element.id == action.element and held is not None and element.point is None:
            return replace(action, type="select", element=held.id, point=None, text=element.name or element.text)
    return action
