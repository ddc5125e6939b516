"""JSON as models really write it: read where it can mean one thing only, refused where it breaks off.

Strict JSON goes to the standard library. What that refuses is read by a small parser that knows the usual slips: single
quotes, unquoted keys and words, Python's True and None, trailing commas, raw newlines and inner quotes in strings, missing
closing brackets at the end. A number or a string that the end of the text cuts off is never taken for a whole one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

_DECODER = json.JSONDecoder(strict=False)
_STRICT = msgspec.json.Decoder()
#: Minus and plus signs that are not ASCII's, as fonts and input methods for wide scripts write them.
SIGNS = dict.fromkeys(map(ord, "\u2212\ufe63\uff0d"), "-") | {ord("\uff0b"): "+"}
_NUMBER = re.compile(r"[+\-\u2212\ufe63\uff0d\uff0b]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_UNICODE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_WORD = re.compile(r"[^\W\d][\w.\-]*")
_WORDS: dict[str, Any] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
_SPACE = " \t\r\n"
#: Deeper nesting than this, or more openings that lead nowhere, is no answer of a model.
MAX_DEPTH = 40
MAX_STARTS = 60


class Broken(ValueError):
    """The text is no JSON, not even by the usual slips."""


def loads(text: str, *, cut: bool = False) -> Any:
    """The value that a text is. Broken where it is none; `cut` says that the text may have been cut off at its end."""
    body = text.strip()
    try:
        return _STRICT.decode(body)  # what it takes it reads as the standard library does, four times as fast
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    try:
        return _DECODER.decode(body)
    except (ValueError, RecursionError):
        parser = _Parser(body, cut)
        value = parser.value(0, 0)
        return value[0]


def values(text: str, *, cut: bool = True) -> Iterator[Any]:
    """Every object and list in a text, outermost first, in order; what is none is passed over as prose."""
    place, starts = 0, 0
    while starts < MAX_STARTS and (place := _next(text, place)) >= 0:
        starts += 1
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            try:
                value, place = _Parser(text, cut).value(place, 0)
            except Broken:
                place += 1
                continue
        yield value


def _next(text: str, place: int) -> int:
    found = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
    return min(found, default=-1)


class _Parser:
    """One text; each method takes a place in it and gives a value and the place behind it."""

    def __init__(self, text: str, cut: bool) -> None:
        self.text = text
        self.cut = cut

    def value(self, place: int, depth: int) -> tuple[Any, int]:
        place = self.skip(place)
        char = self.text[place : place + 1]
        if depth > MAX_DEPTH:
            raise Broken(f"nested deeper than {MAX_DEPTH} levels")
        if char == "{":
            return self.members(place + 1, depth)
        if char in ("[", "("):
            return self.items(place + 1, "]" if char == "[" else ")", depth)
        if char in _QUOTES and char:
            return self.string(place)
        return self.bare(place)

    def bare(self, place: int) -> tuple[Any, int]:
        if number := _NUMBER.match(self.text, place):
            end = number.end()
            if end == len(self.text) and self.cut:
                raise Broken(f"breaks off in the number {number[0]}")
            if end < len(self.text) and (self.text[end].isalnum() or self.text[end] in "%_"):
                raise Broken(f"'{self.text[place : end + 8]}' is no number")
            written = number[0].translate(SIGNS)
            whole = len(written) < 300 and not set(written) & set(".eE")
            return (int(written) if whole else float(written)), end
        if word := _WORD.match(self.text, place):
            if word.end() == len(self.text) and self.cut:
                raise Broken(f"breaks off in the word {word[0]}")
            return _WORDS.get(word[0], word[0]), word.end()
        raise Broken(f"no value at character {place}")

    def members(self, place: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        while True:
            place = self.skip(place, ",;")
            if self.text[place : place + 1] in ("", "}"):
                return found, min(place + 1, len(self.text))
            key, place = self.value(place, depth + 1)
            place = self.skip(place)
            if self.text[place : place + 1] not in (":", "=") or not isinstance(key, (str, int, float)):
                raise Broken(f"no colon behind the key {key!r:.40}")
            found[str(key)], place = self.value(place + 1, depth + 1)

    def items(self, place: int, closer: str, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            place = self.skip(place, ",")
            if self.text[place : place + 1] in ("", closer):
                return found, min(place + 1, len(self.text))
            item, place = self.value(place, depth + 1)
            found.append(item)
            end, place = place, self.skip(place)
            spaced = place > end and isinstance(item, (int, float)) and _NUMBER.match(self.text, place)  # [683 324]
            if self.text[place : place + 1] not in ("", ",", closer) and not spaced:
                raise Broken(f"no comma between the items at character {place}")

    def string(self, place: int) -> tuple[str, int]:
        closer, out, at = _QUOTES[self.text[place]], [], place + 1
        while at < len(self.text):
            char = self.text[at]
            if char == "\\" and at + 1 < len(self.text):
                piece, at = self.escape(at + 1)
                out.append(piece)
                continue
            if char == closer and self.closes(at + 1):
                return "".join(out), at + 1
            out.append(char)
            at += 1
        raise Broken("a string has no end")

    def escape(self, at: int) -> tuple[str, int]:
        char = self.text[at]
        if run := _UNICODE.match(self.text, at - 1):  # a character beyond 16 bits is two escapes in a row
            return json.loads(f'"{run[0]}"'), run.end()
        return _ESCAPES.get(char, char), at + 1

    def closes(self, at: int) -> bool:
        """A quote ends a string only where something that follows a string stands behind it."""
        at = self.skip(at)
        return self.text[at : at + 1] in ("", ",", ":", "}", "]", ")", "=")

    def skip(self, place: int, more: str = "") -> int:
        while place < len(self.text) and (self.text[place] in _SPACE or self.text[place] in more):
            place += 1
        return place
