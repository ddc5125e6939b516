"""Calls out of what a model says: JSON tool calls, XML-like function tags, and Python calls, each as a name and arguments.

Nothing is ever evaluated: Python is read by `ast` as literals, JSON by `cuadata.speaking.lenient`. Calls come one at a time, so that
a caller who wants the first pays for no other, and a malformed call raises only when its turn comes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from cuadata.contracts import ParseFailure
from cuadata.speaking import lenient


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a model wrote."""

    name: Annotated[str, "as written, with its prefix: pyautogui.click"]
    arguments: Annotated[Mapping[str, Any], "by keyword"] = field(default_factory=dict)
    positional: Annotated[tuple[Any, ...], "without a keyword, in order"] = ()


_FUNCTION = re.compile(r"<function=([^<>\s]+?)\s*>(.*?)(</function>|(?=<function=)|$)", re.DOTALL)
_IS_CALL = re.compile(r"\s*[A-Za-z_][\w.]*\(")
_PARAMETER = re.compile(r"<parameter=([^<>\s]+?)\s*>(.*?)(</parameter>|(?=<parameter=)|$)", re.DOTALL)
_INPUTS = ("arguments", "parameters", "input", "args", "kwargs")
#: Keys under which providers nest the calls of a message.
_NESTS = ("tool_calls", "output", "content", "choices", "message", "item", "actions", "function", "response", "result")

#: Keys that name a place or a thing, and are no calls: {"point": {"x": 3, "y": 4}} answers where something is.
_THINGS = frozenset(
    (
        "point", "point_2d", "points", "coordinate", "coordinates", "position", "location", "center", "start_box",
        "bbox_2d", "bbox", "box_2d", "box", "bounding_box", "xy", "element", "target",
    )
)  # fmt: skip

#: Types of what holds calls, or holds none.
_ENVELOPES = frozenset(
    [
        "text",
        "output_text",
        "message",
        "reasoning",
        "thinking",
        "tool_use",
        "image",
        "function",
        "function_call",
        "computer_call",
        "response",
    ]
)


def tool_calls(text: str, *, bare: bool = True) -> Iterator[Call]:
    """Tool calls in the order in which they stand: in `<tool_call>` tags, as function tags, or as JSON anywhere.

    `bare` takes a JSON object that names an action without a tool around it. ParseFailure of kind broken where a tag
    holds what is no call.
    """
    if "<tool_call>" in text:
        pieces = text.split("<tool_call>")[1:]
        for number, piece in enumerate(pieces, 1):
            inside, closed, _ = piece.partition("</tool_call>")
            yield from _tagged(inside, cut=not closed and number == len(pieces), bare=bare)
    elif "<function=" in text:
        yield from function_calls(text)
    elif "{" in text:
        for value in lenient.values(text):
            yield from _in_json(value, bare)


def _tagged(inside: str, *, cut: bool, bare: bool) -> Iterator[Call]:
    if "<function=" in inside:
        yield from function_calls(inside)
        return
    if _IS_CALL.match(inside):
        yield from python_calls(inside)
        return
    try:
        value = lenient.loads(_unfenced(inside), cut=cut)
    except lenient.Broken as error:
        raise ParseFailure(f"the tool call {inside.strip()!r:.80} cannot be read: {error}", kind="broken") from error
    found = list(_in_json(value, bare))
    if not found:
        raise ParseFailure(f"the tool call {inside.strip()!r:.80} names no function", kind="broken")
    yield from found


def _unfenced(text: str) -> str:
    body = text.strip()
    return body.strip("`").removeprefix("json") if body.startswith("```") else body


def _in_json(value: Any, bare: bool) -> Iterator[Call]:
    if isinstance(value, list):
        for item in value:
            yield from _in_json(item, bare)
    elif type(value) is dict or isinstance(value, Mapping):
        if (call := _as_call(value, bare)) is not None:
            yield call
            return
        for key in _NESTS:
            if isinstance(value.get(key), (Mapping, list)):
                yield from _in_json(value[key], bare)


def _as_call(value: Mapping[str, Any], bare: bool) -> Call | None:
    name = value.get("name") or value.get("tool") or value.get("function")
    if isinstance(name, str) and "bbox_2d" not in value and "point_2d" not in value:  # those are things found, by name
        for key in _INPUTS:
            if key in value:
                return Call(name, _arguments(value[key]))
        return Call(name, {k: v for k, v in value.items() if k not in ("name", "tool", "function")})
    inner = value.get("action")
    if isinstance(inner, Mapping):
        return _as_call(inner, bare) if bare else None
    kind = inner if isinstance(inner, str) else value.get("action_type", value.get("type"))
    if bare and isinstance(kind, str) and kind not in _ENVELOPES:
        return Call("", value)
    only = next(iter(value)) if bare and len(value) == 1 else None
    if only is not None and only not in _NESTS and only not in _THINGS and isinstance(value[only], Mapping):
        return Call(only, value[only])  # {"click": {"x": 3, "y": 4}}
    return None


def _arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):  # chat completions carry arguments as JSON text
        try:
            value = lenient.loads(value) if value.strip() else {}
        except lenient.Broken as error:
            raise ParseFailure(f"the arguments {value!r:.80} cannot be read: {error}", kind="broken") from error
    if type(value) is dict:  # asked first, since asking for any mapping is dear
        return value
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ParseFailure(f"the arguments {value!r:.80} are no object", kind="broken")
    return value


def function_calls(text: str) -> Iterator[Call]:
    """Calls in the XML-like notation: `<function=click><parameter=target>18</parameter></function>`; values are text."""
    for name, inside, closed in _FUNCTION.findall(text):
        arguments = {}
        for key, value, ended in _PARAMETER.findall(inside):
            if not ended and not closed:
                raise ParseFailure(f"the parameter '{key}' of {name} breaks off", kind="broken")
            arguments[key] = _trimmed(value)
        yield Call(name, arguments)


def _trimmed(value: str) -> str:
    """A parameter without the one newline on each side that the chat template writes around it."""
    return value.removeprefix("\n").removesuffix("\n")


_START = re.compile(r"(?<![\w.])((?:[A-Za-z_]\w*\.)?[A-Za-z_]\w*)\((?!e?s\))")


def python_calls(text: str, is_call: Callable[[str], bool] = lambda name: True) -> Iterator[Call]:
    """Python calls in order, with or without a module before the name; `is_call` tells a call's name from prose.

    ParseFailure of kind broken where a call breaks off or has arguments that are no literals.
    """
    place = 0
    while match := _START.search(text, place):
        place = match.end()
        if is_call(match[1]):
            end = closing(text, place)
            yield _parsed(match[1], text[place:end], text, place)
            place = max(end, place)


_TOKEN = re.compile(r"""\\.|["'()\[\]{}]""", re.DOTALL)


def closing(text: str, place: int) -> int:
    """Where the bracket opened before `place` closes, quotes and escapes heeded; the end of the text where it does not."""
    depth, quote = 1, ""
    for token in _TOKEN.finditer(text, place):
        char, end = token[0], token.end()
        if quote:
            # A quote inside a text that nobody escaped does not end it: what ends it is followed by , or ).
            if char == quote and text[end : end + 12].lstrip()[:1] in ("", ",", ")", "]", "}"):
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return token.start()
    return len(text)


#: One argument that needs no parser: a text without quotes or escapes, or a number, with or without its name.
_SIMPLE = re.compile(
    r"""\s*(?:([A-Za-z_]\w*)\s*=\s*)?(?:'([^'"\\\n]*)'|"([^'"\\\n]*)"|(-?\d{1,15})|(-?\d{1,15}\.\d{1,15}))\s*(?:,|$)"""
)


def _simple(name: str, inside: str) -> Call | None:
    """A call of plain arguments, ten times as fast as by Python's parser; None where an argument is not plain."""
    named: dict[str, Any] = {}
    positional: list[Any] = []
    place = 0
    while place < len(inside):
        match = _SIMPLE.match(inside, place)
        if match is None:
            return None
        key, one, other, whole, broken = match.groups()
        value: Any = one if one is not None else other if other is not None else int(whole) if whole else float(broken)
        if key:
            named[key] = value
        elif named:
            return None
        else:
            positional.append(value)
        place = match.end()
    return Call(name, named, tuple(positional))


#: What ends like this lacks only the call's own bracket: its last value stands whole between quotes or brackets.
_WHOLE_VALUE = re.compile(r"""=\s*(?:'[^']*'|"[^"]*"|\([^()]*\)|\[[^\[\]]*\])\s*$""")


def _parsed(name: str, inside: str, text: str, start: int) -> Call:
    if start + len(inside) >= len(text) and not _WHOLE_VALUE.search(inside):
        raise ParseFailure(f"the call {name}({inside!r:.60} breaks off", kind="broken")
    if (plain := _simple(name, inside)) is not None:
        return plain
    if _ODD_ESCAPE.search(inside):  # Python warns of an escape it does not know
        return _by_hand(name, inside)
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if isinstance(call, ast.Call):
            positional = tuple(_literal(node) for node in call.args)
            return Call(name, {k.arg or "": _literal(k.value) for k in call.keywords}, positional)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return _by_hand(name, inside)


def _literal(node: ast.expr) -> Any:
    """A literal; a bare word stands for itself, as in click(start_box=abc)."""
    if isinstance(node, ast.Name):
        return node.id
    return ast.literal_eval(node)


_ODD_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\[^nrtbfav0-7xuUN\\'\"\n]")
_ARGUMENT = re.compile(r"\s*(?:([A-Za-z_]\w*)\s*=\s*)?(?:([\"'])(.*)\2|(.*?))\s*", re.DOTALL)
_NEXT_KEYWORD = re.compile(r",\s*(?=[A-Za-z_]\w*\s*=)")


def _by_hand(name: str, inside: str) -> Call:
    """Arguments that Python refuses: texts with quotes, newlines or tags that nobody escaped."""
    named: dict[str, Any] = {}
    positional: list[Any] = []
    for piece in _NEXT_KEYWORD.split(inside) if "=" in inside else [inside]:
        match = _ARGUMENT.fullmatch(piece)
        if match is None:
            raise ParseFailure(f"the call {name}({inside!r:.60}) cannot be read", kind="broken")
        value = _unescaped(match[3]) if match[2] else _bare(match[4])
        if match[1]:
            named[match[1]] = value
        elif value != "":
            positional.append(value)
    return Call(name, named, tuple(positional))


def _bare(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if re.search(r"[()\n]|\w\s+\w", text):
            raise ParseFailure(f"the argument {text!r:.60} cannot be read", kind="broken") from None
        return text


def _unescaped(text: str) -> str:
    r"""A text between quotes with its escapes resolved: \n, \t, \\, \' and \"; others stand as they are."""
    return re.sub(r"\\([nt\\'\"])", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def untagged(text: str) -> str:
    """The text itself; ValueError where it holds a tag of the XML-like notation, in which it cannot be said."""
    if any(tag in text for tag in ("</parameter>", "<parameter=", "</function>", "<function=", "tool_call>")):
        raise ValueError(f"the text {text!r:.60} holds a tag of the notation itself, so it cannot be said in it")
    return text
