"""The one text form of an action: in histories, in prompts, in reports.

Training rows, rollouts and evaluation all write an action with `describe`, so that a model meets at inference the very
words that it was trained on.
"""

from __future__ import annotations

from cuadata.rows import Target
from cuadata.types import Action, Element, Point

#: Names and typed text are cut to this many characters.
LONGEST = 80
_VERBS = {"click": "click", "double_click": "double-click", "right_click": "right-click", "hover": "hover over"}
_THOUGHT = "think: "
_UNITS = {"px": "px", "line": "lines", "click": "clicks"}


def describe(action: Action, target: Element | Target | None = None) -> str:
    """An action in words, on one line: `click checkbox 'MRW'`, `type 'Ann' into textbox 'Name'`, `scroll down 300 px`.

    Without a target a pointer action names its point: `click at (100, 70)`, CSS px, rounded.
    """
    if action.type in _VERBS:
        words = f"{_VERBS[action.type]} {_place(target, action.point)}"
    elif action.type == "drag":
        words = f"drag {_place(target, action.point)} to {_point(action.end)}"
    elif action.type == "scroll":
        words = f"scroll {_amount(action)}{_in(' in ', target)}"
    elif action.type in ("type", "select", "upload"):
        words = _entry(action, target)
    else:
        words = _plain(action)
    held = f" holding {'+'.join(action.modifiers)}" if action.modifiers else ""
    return " ".join(f"{words}{held}".split())


def tells_a_thought(line: str) -> bool:
    """Whether a line of history tells a thought and not an action."""
    return line.startswith(_THOUGHT)


def no_effect_line(action: Action, target: Element | Target | None = None, *, tries: int = 1) -> str:
    """What a model is told when its last action, tried `tries` times in a row, changed nothing."""
    count = "" if tries == 1 else f" ({tries} times in a row)"
    return f"No effect: {describe(action, target)} changed nothing{count}."


def name(target: Element | Target) -> str:
    """An element in words: role and name, or its text where it has no name. `checkbox 'MRW'`."""
    role = target.role if target.role not in ("", "generic", "none") else "element"
    called = target.name or target.text
    return f"{role} {quote(called)}" if called.strip() else role


def quote(text: str) -> str:
    """A text in quotes, on one line, white space folded, cut at `LONGEST` characters."""
    folded = " ".join(text.split())
    if len(folded) > LONGEST:
        folded = folded[: LONGEST - 3].rstrip() + "..."
    return f'"{folded}"' if "'" in folded and '"' not in folded else f"'{folded}'"


def _place(target: Element | Target | None, point: Point | None) -> str:
    if target is None:
        return f"at {_point(point)}" if point else "at an unknown point"
    if (target.name or target.text).strip() or point is None:
        return name(target)
    return f"{name(target)} at {_point(point)}"


def _point(point: Point | None) -> str:
    return f"({round(point.x)}, {round(point.y)})" if point else "an unknown point"


def _in(word: str, target: Element | Target | None) -> str:
    return "" if target is None else f"{word}{name(target)}"


def _amount(action: Action) -> str:
    unit = _UNITS[action.scroll_unit or "px"]
    parts = []
    for amount, plus, minus in ((action.scroll_y, "down", "up"), (action.scroll_x, "right", "left")):
        if amount:
            size = abs(amount)
            parts.append(
                f"{plus if amount > 0 else minus} {size:g} {unit[:-1] if size == 1 and unit != 'px' else unit}"
            )
    return " and ".join(parts) or f"by 0 {unit}"


def _entry(action: Action, target: Element | Target | None) -> str:
    if action.type == "type":
        return f"type {quote(action.text or '')}{_in(' into ', target)}"
    if action.type == "select":
        return f"select {quote(action.text or action.value or '')}{_in(' in ', target)}"
    return f"upload {', '.join(quote(file) for file in action.files) or 'nothing'}{_in(' to ', target)}"


def _plain(action: Action) -> str:
    """Actions that have no target."""
    said = f": {quote(action.text)}" if action.text else ""
    words = {
        "press": f"press {'+'.join('Space' if key == ' ' else key for key in action.keys)}",
        "navigate": f"go to {action.url or 'an unknown address'}",
        "back": "go back",
        "forward": "go forward",
        "reload": "reload the page",
        "wait": "wait" if action.seconds is None else f"wait {action.seconds:g} s",
        "switch_page": "switch page" if action.page is None else f"switch to page {action.page}",
        "dialog": ("accept" if action.accept else "dismiss") + f" the dialog{said}",
        "reason": f"{_THOUGHT}{quote(action.text)}" if action.text else "think",
        "done": f"done{said}",
        "infeasible": f"infeasible{said}",
    }
    return words[action.type]
