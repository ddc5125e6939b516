"""Points and boxes out of what a model says, in whatever notation: the numbers as written, in the model's own frame.

The notations are tried from the most deliberate to the least: JSON with a key that names a place, point and box tags,
calls, bracketed pairs, `x=.. y=..`, numbers behind a word such as `coordinates`, and two bare numbers where they are the whole answer. Of several in JSON or in calls
the first is the answer, since those are steps to take one by one; of several in running text the last is, since what a
model considers stands before what it settles on (GUI-Perturbed scores GTA1 so). A box stands for its centre.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cuadata.contracts import ParseFailure, View
from cuadata.geometry import Frame
from cuadata.speaking import call_words, lenient, parsing
from cuadata.speaking.grid import finite
from cuadata.speaking.grid import of as grid_of
from cuadata.types import BBox, Point

#: Two numbers of a point, or the four of a box (left, top, right, bottom), as the model wrote them.
Numbers = tuple[float, ...]

_N = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SEP = r"\s*[,;\s]\s*"
_NUMBER = re.compile(rf"(?<![\w.]){_N}(?!\w|\.\d|%)")
_THINK = r"(?:think(?:ing)?|thought|reasoning)>"
_THOUGHT = re.compile(rf"<{_THINK}.*?</{_THINK}", re.DOTALL)
_THOUGHT_END = re.compile(rf"</{_THINK}")
#: A thought that never ends reaches to the first tool call: models forget the end mark and call all the same.
_OPEN_THOUGHT = re.compile(rf"<{_THINK}.*?(?=<tool_call>|$)", re.DOTALL)
_WIDE = str.maketrans("\uff08\uff09\uff0c\u3001\uff1b\uff1a\uff3b\uff3d\uff0e", "(),,;:[].") | lenient.SIGNS
_MARKS = re.compile(r"<\|(?:im_end|im_start|endoftext|end_of_text|eot_id)\|>|<end_of_utterance>|\[EOS\]|</s>")
_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|$)|\b(?:final )?answer\s*:", re.DOTALL | re.IGNORECASE)
_TAGS = re.compile(
    r"<\|box_start\|>(.*?)<\|box_end\|>|<(point|box|bbox|click|coord|coordinate|loc)>(.*?)</\2>"
    r'|<points?\s+x1?\s*=\s*"([^"]*)"\s+y1?\s*=\s*"([^"]*)"'
    r"|<x>\s*([^<>]*?)\s*</x>\s*<y>\s*([^<>]*?)\s*</y>",
    re.DOTALL | re.IGNORECASE,
)
_CALL = re.compile(r"\b[A-Za-z_][\w.]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_BOXES = re.compile(
    rf"[(\[]\s*[(\[]?\s*({_N})\s*,\s*({_N})\s*[)\]]?\s*,\s*[(\[]?\s*({_N})\s*,\s*({_N})\s*[)\]]?\s*[)\]]"
    rf"|\(\s*({_N})\s*,\s*({_N})\s*\)\s*,\s*\(\s*({_N})\s*,\s*({_N})\s*\)"
)
_PAIRS = re.compile(rf"[(\[]\s*[\"']?({_N})[\"']?{_SEP}[\"']?({_N})[\"']?\s*[)\]]")
_SPOKEN_BOX = re.compile(
    rf"\b(?:top|upper)[- ]?left\b[^\d(\[]{{0,24}}[(\[]\s*({_N})\s*,\s*({_N})\s*[)\]]"
    rf"[^(\[]{{0,40}}\b(?:bottom|lower)[- ]?right\b[^\d(\[]{{0,24}}[(\[]\s*({_N})\s*,\s*({_N})\s*[)\]]",
    re.IGNORECASE,
)
_WHOLE = re.compile(rf"\s*[(\[][\s(\[]*{_N}(?:{_SEP}{_N}){{1,3}}[\s)\]]*\s*")
_IS = r"[\"']?\s*(?:[=:]|\bis\b|(?<=[xy]\s))\s*[\"']?"
_AND = r"[\"']?[\s,;]*(?:and\s+)?[\"']?"
_END = r"(?!\w|\.\d|%)"
#: Either coordinate may come first: the names say which is which.
_NAMED = re.compile(
    rf"\b(?:x{_IS}({_N}){_AND}\by{_IS}({_N}){_END}|y{_IS}({_N}){_AND}\bx{_IS}({_N}){_END})", re.IGNORECASE
)
_PX = re.compile(r"(?<=\d)\s*px\b")
_LABELLED = re.compile(
    rf"\b(?:coordinates?|points?|position|location|click|tap|answer)(?:\s+(?:is|are|at|on))*\s*[:=]?\s*({_N})\s*,\s*({_N})"
    r"(?!\w|\.\d|%|\s*,\s*\d)",
    re.IGNORECASE,
)
_CORNERS = re.compile(
    r"\W+".join([rf"\b(x1|y1|x2|y2|[xy]_?min|[xy]_?max|left|top|right|bottom)\s*[=:]\s*({_N})"] * 4), re.IGNORECASE
)
_BARE = re.compile(rf"\s*({_N}){_SEP}({_N})\s*\.?\s*")
#: Keys that name a place in JSON, in the order in which they are believed.
_KEYS: Final = (
    "point", "point_2d", "points", "coordinate", "coordinates", "position", "location", "click", "click_point", "center",
    "start_box", "start_point", "bbox_2d", "bbox", "box_2d", "box", "bounding_box", "xy",
)  # fmt: skip
#: Whole numbers below this need no second look.
_PLAIN: Final = 1_000_000
#: Names of a box's corners, left, top, right and bottom, without capitals and underscores; two are corners themselves.
_SIDES: Final = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))
_CORNER_PAIRS: Final = (("topleft", "bottomright"), ("upperleft", "lowerright"))
#: Names of a box's middle.
_MIDDLES: Final = (("cx", "cy"), ("centerx", "centery"), ("centrex", "centrey"))
#: Keys whose x and y are a point, whatever size stands beside them.
_POINTS: Final = frozenset(
    key for key in _KEYS if any(word in key for word in ("point", "coord", "click", "center", "xy"))
)
_DEEPER: Final = ("arguments", "action", "answer", "result", "output", "target", "parameters", "input", "element")


def said(text: str) -> str:
    """The part of a model's text that answers: without closed or broken-off thoughts and without end marks.

    ParseFailure where nothing is left.
    """
    if "think" in text or "thought>" in text or "reasoning>" in text:
        text = _OPEN_THOUGHT.sub("", _after_thoughts(text))
    if "<|" in text or "</s>" in text or "[EOS]" in text or "<end_of" in text:
        text = _MARKS.sub("", text)
    if not text.strip():
        raise ParseFailure("the answer is empty, or a thought that never ends")
    return text


def _after_thoughts(text: str) -> str:
    """A text without its closed thoughts, and from the last end on whose beginning stands in the prompt."""
    last = max((match.end() for match in _THOUGHT_END.finditer(text)), default=0)
    return _THOUGHT_END.split(_THOUGHT.sub("", text[:last]))[-1] + text[last:]


def answer(text: str) -> Numbers:
    """The point or box that a text settles on. ParseFailure of kind no_action where it names none."""
    found, last = _found(text)
    if not found:
        raise ParseFailure(f"no coordinates in {text.strip()!r:.80}")
    return found[-1 if last else 0]


def numbers(text: str) -> list[Numbers]:
    """Every point or box of the most deliberate notation in a text, in order; empty where there is none."""
    return _found(text)[0]


def _found(text: str) -> tuple[list[Numbers], bool]:
    """The places of the most deliberate notation, and whether the last of them is the answer."""
    body = said(text)
    if not body.isascii():
        body = body.translate(_WIDE)
    if "px" in body:
        body = _PX.sub("", body)
    answers = [m for m in _ANSWER.finditer(body)] if ":" in body or "<" in body else []
    if answers:
        end = answers[-1]
        held = _in_any_notation(end[1] if end[1] is not None else body[end.end() :])
        if held[0]:
            return held
    return _in_any_notation(body)


def grounded(text: str) -> list[Numbers]:
    """Places that a text gives in the grammar of grounding answers and in no other: JSON that names them, point and box
    tags, or, where they are the whole answer, four or two bracketed numbers or an x and a y by name.

    Empty for prose, whatever numbers it holds, and for a call of another family's grammar that is no click."""
    if other_act(text) is not None:
        return []
    if found := _json(text) or _tags(text):
        return found
    whole = text.strip(" \n.()[]`*")
    return _brackets(text) if _WHOLE.fullmatch(text) else _named(whole) if _NAMED.fullmatch(whole) else []


def other_act(text: str) -> str | None:
    """The word of the act that a text calls for first, in any family's grammar, where that is no click; else None.

    A double click at a place, or a text to type that holds numbers, is no answer to where something is.
    """
    calls = itertools.chain(parsing.tool_calls(text), parsing.python_calls(text, call_words.is_word))
    try:
        words = (word for call in calls if call_words.is_word(word := call_words.word_of(call)))
        word = next(words, "click")
    except ParseFailure:  # a call that breaks off: what it is is for the family's own reader to say
        return None
    return None if call_words.named(word) == "click" else word


def _in_any_notation(text: str) -> tuple[list[Numbers], bool]:
    for notation in (_json, _calls_or_tags, _brackets, _corners, _named, _labelled, _bare):
        if held := notation(text):
            if notation in (_json, _calls_or_tags) and (settled := _last_line(text)):
                return _brackets(settled), True
            return held, notation in _RUNNING or (notation is _calls_or_tags and not _calls(text))
    return [], False


def _last_line(text: str) -> str:
    """The last of several lines where it is a place by itself: what stands above it, calls and JSON too, led up to it."""
    before, _, line = text.rstrip("\n \t`*.").rpartition("\n")
    line = line.strip(" \t`*.")
    return line if before and _WHOLE.fullmatch(line) else ""


def _json(text: str) -> list[Numbers]:
    if "{" not in text:
        return []
    return [place for value in lenient.values(text) for place in _in_json(value)]


def _in_json(value: Any) -> Iterator[Numbers]:
    if isinstance(value, Mapping):
        if (place := place_of(value)) is not None:
            yield place
            return
        for key in _DEEPER:
            if isinstance(value.get(key), (Mapping, list)):
                yield from _in_json(value[key])
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, (Mapping, list)):
                yield from _in_json(item)


def place_of(value: Mapping[str, Any]) -> Numbers | None:
    """The place that a mapping names under one of the usual keys, or as x and y; None where it names none."""
    for key in _KEYS:
        if key in value and (found := under(key, value[key])) is not None:
            return found
    return _of_sides(value)


def under(key: str, value: Any) -> Numbers | None:
    """The place under a key; None where it names none."""
    if key in _POINTS and isinstance(value, Mapping) and "x" in value and "y" in value:
        return pair([value["x"], value["y"]])
    return _first(value) if key == "points" else pair(value)


def _first(value: Any) -> Numbers | None:
    """The first of several points; two of them are no box."""
    several = isinstance(value, list) and bool(value) and isinstance(value[0], (list, tuple, Mapping))
    return pair(value[0]) if several else pair(value)


def pair(value: Any) -> Numbers | None:
    """Two or four numbers from a list, a mapping of x and y, or a text that holds just them; None otherwise."""
    if type(value) is list and len(value) == 2 and type(value[0]) is int and type(value[1]) is int:
        x, y = value
        if -_PLAIN < x < _PLAIN and -_PLAIN < y < _PLAIN:  # what nearly every model writes, read at once
            return float(x), float(y)
    if isinstance(value, Mapping):
        return _of_sides(value)
    if isinstance(value, str):
        if ("y" in value or "Y" in value) and (places := _named(value)):
            return places[0]
        held = tuple(float(n) for n in _NUMBER.findall(_unpointed(value.translate(_WIDE))))
        return held if len(held) in (2, 4) else None
    if isinstance(value, Sequence):
        if len(value) == 1:
            return pair(value[0])
        if len(value) == 2 and all(
            isinstance(item, (Sequence, Mapping)) and not isinstance(item, str) for item in value
        ):
            ends = [pair(item) for item in value]
            joined = tuple(n for end in ends if end is not None for n in end)
            return joined if len(joined) == 4 else None
        held = tuple(n for item in value if (n := finite(item)) is not None)
        return held if len(held) == len(value) and len(held) in (2, 4) else None
    return None


def _of_sides(value: Mapping[str, Any]) -> Numbers | None:
    """The box or point of a mapping that names its sides, its corners or its middle; None where it names none of them.

    A corner with a size is a box, and left and top by themselves are no point.
    """
    if "x" in value and "y" in value and not ("width" in value or "w" in value):  # what nearly every one of them is
        return pair([value["x"], value["y"]])
    held = {key.lower().replace("_", "").replace("-", ""): one for key, one in value.items() if isinstance(key, str)}
    for names in (*_SIDES, *_CORNER_PAIRS):
        if all(name in held for name in names) and (found := pair([held[name] for name in names])) is not None:
            return found
    for names in _MIDDLES:
        if all(name in held for name in names):
            return pair([held[name] for name in names])
    size = pair([held.get("width", held.get("w")), held.get("height", held.get("h"))])
    for across, down in (("x", "y"), ("left", "top")):
        if across in held and down in held:
            corner = pair([held[across], held[down]])
            if corner is None or size is None or len(corner) + len(size) != 4:
                return corner if across == "x" else None
            return (*corner, corner[0] + size[0], corner[1] + size[1])
    return None


def _unpointed(text: str) -> str:
    """A text without the tags around its numbers."""
    return re.sub(r"<[^<>]*>", " ", text)


def _tags(text: str) -> list[Numbers]:
    if "<" not in text:
        return []
    found = []
    for match in _TAGS.finditer(text):
        inside = match[1] or match[3]
        sides = [match[4], match[5]] if match[4] is not None else [match[6], match[7]]
        place = pair(inside) if inside is not None else pair(sides)
        if place is not None:
            found.append(place)
    return found


def _calls_or_tags(text: str) -> list[Numbers]:
    """Places in calls, which may hold tags; else in tags alone."""
    return _calls(text) or _tags(text)


def _calls(text: str) -> list[Numbers]:
    if "(" not in text:
        return []
    found = []
    for match in _CALL.finditer(text):
        inside = match[1]
        place = next(iter(_named(inside)), None) or pair(inside)
        if place is None and (bracketed := _brackets(inside)):
            place = bracketed[0]
        if place is not None:
            found.append(place)
    return found


def _brackets(text: str) -> list[Numbers]:
    found: list[tuple[int, Numbers]] = []
    covered: list[tuple[int, int]] = []
    if text.count(",") >= 3:
        for match in (*_BOXES.finditer(text), *_SPOKEN_BOX.finditer(text)):
            found.append((match.start(), tuple(float(n) for n in match.groups() if n is not None)))
            covered.append(match.span())
    for match in _PAIRS.finditer(text):
        if not any(start <= match.start() < end for start, end in covered):
            found.append((match.start(), (float(match[1]), float(match[2]))))
    return [place for _, place in sorted(found)]


def _named(text: str) -> list[Numbers]:
    return [(float(m[1] or m[4]), float(m[2] or m[3])) for m in _NAMED.finditer(text)]


def _corners(text: str) -> list[Numbers]:
    found = []
    for match in _CORNERS.finditer(text):
        sides = {match[at].lower().replace("_", ""): float(match[at + 1]) for at in (1, 3, 5, 7)}
        if names := next((names for names in _SIDES if all(name in sides for name in names)), None):
            found.append(tuple(sides[name] for name in names))
    return found


def _labelled(text: str) -> list[Numbers]:
    return [(float(m[1]), float(m[2])) for m in _LABELLED.finditer(text)]


def _bare(text: str) -> list[Numbers]:
    match = _BARE.fullmatch(text)
    return [(float(match[1]), float(match[2]))] if match else []


#: Notations of running text, in which the last place is the answer.
_RUNNING: Final = (_brackets, _corners, _named, _labelled)


def center(place: Numbers) -> tuple[float, float]:
    """The point itself, or the middle of a box."""
    if len(place) == 4:
        return (place[0] + place[2]) / 2, (place[1] + place[3]) / 2
    return place[0], place[1]


def point(text: str, view: View, frame: Frame) -> Point:
    """The point that a text names, CSS px. ParseFailure where it names none, or one off the picture.

    `frame` is how the numbers count; `view.frame` overrides it.
    """
    return grid_of(view, frame).read_place(answer(text))


def points(text: str, view: View, frame: Frame) -> tuple[Point, ...]:
    """Every point of the text's most deliberate notation, in order, CSS px. ParseFailure for none or one off the picture."""
    grid = grid_of(view, frame)
    found = numbers(text)
    if not found:
        raise ParseFailure(f"no coordinates in {text.strip()!r:.80}")
    return tuple(grid.read_place(place) for place in found)


def box(text: str, view: View, frame: Frame) -> BBox | None:
    """The box that a text names, CSS px; None where it names a point only. ParseFailure where it names neither."""
    place = answer(text)
    return grid_of(view, frame).read_box(*place) if len(place) == 4 else None
