"""How far a scroll goes: every tool counts in its own unit and sign; inside the project + is down and to the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from cuadata.contracts import ParseFailure
from cuadata.speaking.grid import finite
from cuadata.types import Action, Size

#: px of one wheel click, for families that can only count clicks; Chromium's own step for a wheel notch.
PX_PER_CLICK: Final = 100.0

Unit = Literal["px", "line", "click"]
_WAYS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_UNITS: Final[dict[str, Unit]] = {
    "px": "px", "pixel": "px", "pixels": "px", "line": "line", "lines": "line", "click": "click", "clicks": "click",
}  # fmt: skip


def amounts(
    word: str, arguments: Mapping[str, Any], positional: Sequence[Any], viewport: Size, unsaid: float
) -> tuple[float, float, Unit]:
    """Scroll to the right and down, with its unit, whichever way the tool counts.

    `word` is the call's name without separators, `unsaid` the wheel clicks of a scroll that names only its way.
    ParseFailure where it says neither how far nor which way.
    """

    def number(*names: str) -> float | None:
        return next((n for name in names if (n := finite(arguments.get(name))) is not None), None)

    unit = arguments.get("unit", arguments.get("scroll_unit"))
    way = str(arguments.get("scroll_direction") or arguments.get("direction") or word.removeprefix("scroll")).lower()
    numbers = [n for p in positional if (n := finite(p)) is not None]
    if not way.strip() or way not in _WAYS:
        way = next((p.lower() for p in positional if isinstance(p, str) and p.lower() in _WAYS), "")
    if way in _WAYS:
        amount = number("scroll_amount", "amount", "clicks", "magnitude", "pixels", "distance")
        if amount is None and numbers and len(numbers) != 2:  # two are the place: scroll(683, 324, 'down')
            amount = numbers[-1]
        used = _unit(unit or ("px" if "pixels" in arguments or "distance" in arguments else "click"))
        size = abs(unsaid if amount is None else amount)
        return _WAYS[way][0] * size, _WAYS[way][1] * size, used
    sideways = word == "hscroll"
    if (pixels := number("pixels")) is not None:  # Qwen's tool: positive is up
        return (pixels, 0.0, "px") if sideways else (0.0, -pixels, "px")
    if (page := number("page")) is not None:  # AGUVIS: pages; negative is up, as smol2operator reads that set
        return (page * viewport.width, 0.0, "px") if sideways else (0.0, page * viewport.height, "px")
    clicks = number("clicks") if "clicks" in arguments else (numbers[0] if len(numbers) == 1 else None)
    if clicks is not None:  # PyAutoGUI: positive is up, and to the right
        return (clicks, 0.0, "click") if sideways else (0.0, -clicks, "click")
    across, down = number("scroll_x", "delta_x", "dx", "right"), number("scroll_y", "delta_y", "dy", "down")
    both = arguments.get("scroll", numbers)
    if across is None and down is None and isinstance(both, (list, tuple)) and len(both) == 2:
        across, down = finite(both[0]), finite(both[1])
    if across is None and down is None:
        raise ParseFailure("a scroll says neither how far nor which way", kind="missing_argument")
    return across or 0.0, down or 0.0, _unit(unit or "px")


def _unit(name: object) -> Unit:
    found = _UNITS.get(str(name).lower())
    if found is None:
        raise ParseFailure(f"'{name}' is no unit of scrolling", kind="missing_argument")
    return found


def one_way(action: Action) -> tuple[Literal["up", "down", "left", "right"], float, Unit]:
    """Direction, amount (positive) and unit of a scroll. ValueError for one that goes nowhere, or two ways at once."""
    across, down = action.scroll_x or 0.0, action.scroll_y or 0.0
    if bool(across) == bool(down):
        raise ValueError(f"a scroll by ({across:g}, {down:g}) has no single direction; this family says one")
    unit = action.scroll_unit or "px"
    if across:
        return ("right" if across > 0 else "left"), abs(across), unit
    return ("down" if down > 0 else "up"), abs(down), unit


def in_clicks(amount: float, unit: Unit) -> int:
    """A positive amount in whole wheel clicks, at least one; px at 100 a click. ValueError for lines."""
    if unit == "line":
        raise ValueError("a scroll counted in lines has no number of wheel clicks; record it in px")
    return max(1, round(amount / PX_PER_CLICK if unit == "px" else amount))


def in_px(amount: float, unit: Unit) -> float:
    """An amount in px; wheel clicks at 100 px. ValueError for lines, whose height is the page's."""
    if unit == "line":
        raise ValueError("a scroll counted in lines has no number of px; record it in px")
    return amount if unit == "px" else amount * PX_PER_CLICK
