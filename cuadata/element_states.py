"""The state that an element is in, by meaning: what the accessibility tree says, else what its component library writes."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from cuadata.errors import CallError
from cuadata.types import Element, States

__all__ = ["STATES", "state_of"]

STATES: Final = tuple(field.name for field in fields(States))
#: What component libraries write into `data-state` where they leave the ARIA attribute out.
_DATA_STATE: Final = {
    "checked": {"checked": "true", "on": "true", "unchecked": "false", "off": "false", "indeterminate": "mixed"},
    "pressed": {"on": "true", "off": "false"},
    "expanded": {"open": "true", "closed": "false"},
    "selected": {"active": "true", "inactive": "false"},
}


def state_of(element: Element, state: str) -> str | None:
    """An element's state as text; None where it has none. `data-state` speaks where the accessibility tree is silent.

    CallError for a state that there is not.
    """
    if state not in STATES:
        raise CallError(f"'{state}' is no state; there are: {', '.join(STATES)}")
    held = getattr(element.states, state)
    told = None if held is None else held if isinstance(held, str) else str(held).lower()
    if told in (None, "false") and state in _DATA_STATE:
        written = next((a.value for a in element.attributes if a.name == "data-state"), "")
        return _DATA_STATE[state].get(written.lower(), told)
    return told
