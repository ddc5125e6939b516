"""Scroll amounts of browsers, pyautogui and xdotool as one action, in the unit that they were given in.

The sign is that of the browser: + is down and right. A click of a wheel and a line have no size in px of their own, so
neither is ever turned into px unless the caller says how large it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from cuadata.types import Action

Unit = Literal["px", "line", "click"]
_DELTA_MODES: dict[int, Unit] = {0: "px", 1: "line"}
#: X buttons of a wheel: columns to the right and rows down for one click.
_BUTTONS = {4: (0, -1), 5: (0, 1), 6: (-1, 0), 7: (1, 0)}


def from_browser(delta_x: float, delta_y: float, delta_mode: int = 0) -> Action:
    """A `WheelEvent`: deltaMode 0 is px, 1 is lines (W3C, "UI Events").

    ValueError for pages (deltaMode 2), whose size only the page knows, and for other modes.
    """
    if delta_mode not in _DELTA_MODES:
        what = "pages, which have no size of their own" if delta_mode == 2 else "unknown"
        raise ValueError(f"the unit of deltaMode {delta_mode} is {what}; there are: 0 px, 1 lines")
    return _scroll(delta_x, delta_y, _DELTA_MODES[delta_mode])


def from_pyautogui(clicks: float, *, horizontal: bool = False, px_per_click: float | None = None) -> Action:
    """`pyautogui.scroll` (+ is up) or, `horizontal`, `pyautogui.hscroll` (+ is right).

    Clicks unless `px_per_click` says how far one goes; ValueError where that is not above 0.
    """
    if px_per_click is not None and not px_per_click > 0:
        raise ValueError(f"px_per_click is {px_per_click}; it must be above 0")
    amount = clicks if horizontal else -clicks
    size, unit = (1.0, "click") if px_per_click is None else (px_per_click, "px")
    across, down = (amount * size, 0.0) if horizontal else (0.0, amount * size)
    return _scroll(across, down, "click" if unit == "click" else "px")


def from_xdotool(button: int, count: int = 1) -> Action:
    """`xdotool click --repeat COUNT BUTTON` for a wheel: 4 up, 5 down, 6 left, 7 right. ValueError for other buttons."""
    if button not in _BUTTONS:
        raise ValueError(f"button {button} is no wheel; there are: 4 up, 5 down, 6 left, 7 right")
    across, down = _BUTTONS[button]
    return _scroll(across * count, down * count, "click")


def from_keys(keys: Sequence[str]) -> Action:
    """Keys that happen to scroll, such as PageDown, stay keys: how far they go is the page's affair."""
    return Action(type="press", keys=tuple(keys))


def _scroll(across: float, down: float, unit: Unit) -> Action:
    if not (math.isfinite(across) and math.isfinite(down)):
        raise ValueError(f"({across}, {down}) is no scroll amount")
    # 0 where it does not move on this axis; -0.0 becomes 0.0, so that equal scrolls are equal text.
    return Action(type="scroll", scroll_x=float(across) + 0.0, scroll_y=float(down) + 0.0, scroll_unit=unit)
