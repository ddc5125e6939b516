"""Calls of a tool's actions by themselves, `left_click(683, 324)`, from families whose own grammar wraps them.

Models leave the wrapping out now and then. Only what nobody can take for prose is read so: calls that stand on lines of their
own, in a code block or not, and end the answer. A call that is mentioned in a sentence, or that a sentence follows, is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from cuadata.contracts import ParseFailure
from cuadata.speaking import parsing
from cuadata.speaking.call_words import is_word, named, squeezed
from cuadata.speaking.grid import finite
from cuadata.speaking.parsing import Call

#: Where a line begins with a call, perhaps behind a mark such as `Action:`.
_LINE: Final = re.compile(
    r"^[^\S\n]*(?:\**Actions?\**[^\S\n]*:\**[^\S\n]*)?`?(?=[A-Za-z_][\w.]*\()", re.MULTILINE | re.IGNORECASE
)
_NAME: Final = re.compile(r"((?:[A-Za-z_]\w*\.)?[A-Za-z_]\w*)\(")
#: Arguments of UI-TARS's grammar, whose numbers count in a frame of their own: another tongue, not a call without wrapping.
_FOREIGN: Final = re.compile(r"\b(?:start|end)_(?:box|point)\s*=|<point>|<\|?box")
#: What may stand between calls and behind the last one: ends of statements, comments, the end of a code block.
_BETWEEN: Final = re.compile(r"(?:[\s;`]|\.(?=\s|$)|#[^\n]*)*")
#: Lines that are tried: an answer with more such lines that lead nowhere is no answer.
_TRIES: Final = 30
_WAYS: Final = frozenset(("up", "down", "left", "right"))


def calls(text: str, *, scroll: str = "") -> Iterator[Call]:
    """The calls that end a text, in order; none where it does not end in calls alone.

    `scroll` is the argument that a number by itself is, in a scroll that names no way; empty where the family's tool counts in
    no such way. ParseFailure of kind broken where a call has arguments that are no literals.
    """
    if ")" not in text[-200:]:
        return
    for number, line in enumerate(_LINE.finditer(text)):
        if number == _TRIES:
            return
        if found := _to_the_end(text, line.end()):
            for piece in found:
                yield from (_named(call, scroll) for call in parsing.python_calls(piece, is_word))
            return


def _to_the_end(text: str, place: int) -> list[str]:
    """The calls from a place on, where nothing but calls of actions stands there up to the end; else none."""
    found = []
    while name := _NAME.match(text, place):
        end = parsing.closing(text, name.end())
        piece = text[place : end + 1]
        if end >= len(text) or not is_word(name[1]) or _FOREIGN.search(piece):
            return []
        found.append(piece)
        between = _BETWEEN.match(text, end + 1)
        place = between.end() if between is not None else end + 1
    return found if place >= len(text) else []


def _named(call: Call, scroll: str) -> Call:
    """A call whose values without names are named, where their order in the tools' own signatures says what they are."""
    kind, held = named(squeezed(call.name)), call.positional
    if kind == "scroll" and held:
        return replace(call, arguments={**_scroll(held, scroll), **call.arguments}, positional=())
    if kind == "type" and len(held) == 3 and isinstance(held[2], str) and _numbers(held[:2]):
        return replace(call, arguments={"coordinate": list(held[:2]), "text": held[2], **call.arguments}, positional=())
    return call


def _scroll(held: Sequence[Any], scroll: str) -> dict[str, Any]:
    """A scroll's place, way and amount, as far as the order of its values tells them. ParseFailure where it does not."""
    ways = [one for one in held if isinstance(one, str) and one.lower() in _WAYS]
    places = [list(one) for one in held if isinstance(one, (list, tuple)) and len(one) == 2 and _numbers(one)]
    numbers = [one for one in held if finite(one) is not None]
    if len(ways) + len(places) + len(numbers) != len(held) or max(len(ways), len(places)) > 1:
        raise ParseFailure(f"the values {list(held)!r:.60} of a scroll say nothing", kind="missing_argument")
    if not places and len(numbers) >= 3 - len(ways):
        places, numbers = [numbers[:2]], numbers[2:]
    told: dict[str, Any] = {"coordinate": places[0]} if places else {}
    if ways:
        told |= {"direction": ways[0], **({"amount": numbers[0]} if len(numbers) == 1 else {})}
        numbers = numbers[1:]
    elif len(numbers) == 2 and scroll != "pixels":
        return told | {"scroll_x": numbers[0], "scroll_y": numbers[1]}
    elif len(numbers) == 1 and scroll:
        return told | {scroll: numbers[0]}
    if numbers or not ways:
        raise ParseFailure(f"the values {list(held)!r:.60} of a scroll do not say how far", kind="missing_argument")
    return told


def _numbers(values: Sequence[Any]) -> bool:
    return all(finite(value) is not None and not isinstance(value, str) for value in values)
