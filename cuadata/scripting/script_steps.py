"""Scripts that people have: Chrome DevTools Recorder exports and Selenium IDE projects, read as steps to be played.

Neither holds a picture or a box, so neither is data by itself; played through the recorder they become recordings.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cuadata import text_files
from cuadata.errors import CallError, DataError
from cuadata.speaking import keys
from cuadata.types import Action, Point, Size


@dataclass(frozen=True, slots=True)
class Way:
    """One way to an element, as a script names it."""

    kind: Annotated[Literal["css", "xpath", "text", "aria", "link", "partial_link"], "how the text is read"]
    text: Annotated[str, "the selector; for aria the accessible name"]
    role: Annotated[str | None, "accessibility role, for aria"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One step of a script."""

    action: Annotated[Action | None, "what to do; None where it is no input and `skip` says what it is"]
    ways: Annotated[
        tuple[tuple[Way, ...], ...], "alternatives in order of preference, each a chain from outside in"
    ] = ()
    frames: Annotated[tuple[int | str, ...], "frames from the top down, by index, or by a selector"] = ()
    offset: Annotated[Point | None, "from the element's top left corner, CSS px; None: anywhere on it"] = None
    checked: Annotated[bool | None, "click only where the control is in the other state"] = None
    skip: Annotated[str | None, "what the step is where it is no input: a wait, a check"] = None
    place: Annotated[str, "where it stands in the script"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script, read."""

    title: Annotated[str, "its name; a weak instruction where none is given"]
    start: Annotated[str | None, "address that it begins at"]
    viewport: Annotated[Size | None, "CSS px; None: not stated"]
    steps: tuple[ScriptStep, ...]


def read(path: Path, *, base: str | None = None, test: str | None = None) -> Script:
    """Read a .json export of the DevTools Recorder or a .side project.

    `base` replaces scheme and host of every address, so that a script made against one server plays against another.
    `test` picks one test of a .side. CallError for another kind of file, DataError for one that does not read.
    """
    try:
        text = text_files.read(path, encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise CallError(f"there is no script {path}") from error
    try:
        held = text_files.json_value(text)
    except ValueError as error:
        raise DataError(f"it is no JSON: {error}", place=str(path)) from error
    if isinstance(held, dict) and isinstance(held.get("steps"), list):
        return _devtools(held, path, base)
    if isinstance(held, dict) and isinstance(held.get("tests"), list):
        return _selenium(held, path, base, test)
    raise CallError(
        f"{path} has neither the `steps` of a DevTools Recorder export nor the `tests` of a Selenium IDE project"
    )


# --- Chrome DevTools Recorder ---------------------------------------------------------------------------------------

_NO_INPUT = {"waitForElement", "waitForExpression", "close", "emulateNetworkConditions", "customStep", "setViewport"}


def _devtools(held: Mapping[str, Any], path: Path, base: str | None) -> Script:
    steps: list[ScriptStep] = []
    start, viewport = None, None
    pressed: list[str] = []
    for number, step in enumerate(held["steps"]):
        place = f"{path}, step {number}"
        with _reading(step, place):
            kind = step.get("type")
            if kind == "setViewport" and viewport is None:
                viewport = Size(int(step["width"]), int(step["height"]))
            elif kind == "navigate" and start is None and not steps:
                start = _at(step["url"], base)
            elif kind in ("keyDown", "keyUp"):
                steps += _key(step, kind, pressed, place)
            else:
                steps.append(_devtools_step(step, place, base))
    return Script(title=str(held.get("title") or path.stem), start=start, viewport=viewport, steps=tuple(steps))


@contextlib.contextmanager
def _reading(held: object, place: str) -> Iterator[None]:
    """Reads a part of a script; what it lacks, or has of another kind, is said with its place."""
    if not isinstance(held, dict):
        raise DataError(f"a JSON object was wanted, not {str(held)[:60]}", place=place)
    try:
        yield
    except DataError:
        raise
    except KeyError as error:
        raise DataError(f"it lacks '{error.args[0]}'", place=place) from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"it does not read: {error}; compare it with a fresh export", place=place) from error


def _key(step: Mapping[str, Any], kind: str, pressed: list[str], place: str) -> Iterator[ScriptStep]:
    """A chord is one press: the modifiers that are down when a plain key goes down belong to it."""
    key = str(step.get("key", ""))
    modifier = key in ("Control", "Shift", "Alt", "Meta")
    if kind == "keyDown" and modifier:
        pressed.append(key)
    elif kind == "keyUp" and modifier:
        if key in pressed:
            pressed.remove(key)
    elif kind == "keyDown":
        yield ScriptStep(action=Action(type="press", keys=_chord(pressed, key)), place=place)


def _chord(pressed: Sequence[str], key: str) -> tuple[str, ...]:
    """The keys of a press; a command's letter is the same with Shift and without."""
    if set(pressed) & {"Control", "Alt", "Meta"} and keys.is_key(key):
        return keys.read((*pressed, key), "browser")
    return (*pressed, key)


def _devtools_step(step: Mapping[str, Any], place: str, base: str | None) -> ScriptStep:
    kind = step.get("type")
    known: dict[str, Any] = {
        "ways": tuple(_chain(chain) for chain in step.get("selectors", ())),
        "frames": tuple(int(i) for i in step.get("frame", ())),
        "place": place,
    }
    offset = None
    if "offsetX" in step and "offsetY" in step:
        offset = Point(float(step["offsetX"]), float(step["offsetY"]))
    if kind == "click":
        button = "right_click" if step.get("button") == "secondary" else "click"
        return ScriptStep(action=Action(type=button), offset=offset, **known)  # type: ignore[arg-type]
    if kind == "doubleClick":
        return ScriptStep(action=Action(type="double_click"), offset=offset, **known)
    if kind == "hover":
        return ScriptStep(action=Action(type="hover"), offset=offset, **known)
    if kind == "change":
        return ScriptStep(action=Action(type="type", text=_text(step.get("value"))), **known)
    if kind == "scroll":
        action = Action(
            type="scroll", scroll_x=float(step.get("x", 0)), scroll_y=float(step.get("y", 0)), scroll_unit="px"
        )
        return ScriptStep(action=action, **known)
    if kind == "navigate":
        return ScriptStep(action=Action(type="navigate", url=_at(step["url"], base)), place=place)
    if kind in _NO_INPUT:
        return ScriptStep(action=None, skip=str(kind), place=place)
    raise DataError(f"its type '{kind}' is not one of the DevTools Recorder's", place=place)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _chain(chain: str | list[str]) -> tuple[Way, ...]:
    """A selector chain, or in older exports one plain string."""
    return tuple(_way(part) for part in ([chain] if isinstance(chain, str) else chain))


def _way(text: str) -> Way:
    if text.startswith("aria/"):
        name, _, rest = text[5:].partition("[role=")
        return Way("aria", name.strip(), rest.rstrip("]").strip("\"'") or None)
    if text.startswith("xpath/"):
        return Way("xpath", text[6:])
    if text.startswith("text/"):
        return Way("text", text[5:])
    return Way("css", text.removeprefix("pierce/"))


def _at(address: str, base: str | None) -> str:
    """The address on another server, where one is given."""
    if base is None:
        return address
    rest = re.sub(r"^[a-z]+://[^/]*", "", address)
    return base.rstrip("/") + (rest if rest.startswith("/") else f"/{rest}")


# --- Selenium IDE ---------------------------------------------------------------------------------------------------

_CHECKS = re.compile(
    r"^(mouseUp|mouseOut|mouseMove|assert|verify|waitFor|store|echo|debugger|pause|set|run|execute|answer|choose|webdriver|close)"
)
_FLOW = {"if", "else", "elseIf", "end", "times", "while", "do", "repeatIf", "forEach", "run"}
_POINTER = {"click": "click", "clickAt": "click", "doubleClick": "double_click", "doubleClickAt": "double_click",
            "mouseOver": "hover", "mouseDown": "click", "mouseDownAt": "click", "check": "click", "uncheck": "click"}  # fmt: skip


def _selenium(held: Mapping[str, Any], path: Path, base: str | None, test: str | None) -> Script:
    tests: dict[str, Any] = {}
    for number, one in enumerate(held["tests"]):
        with _reading(one, f"{path}, test {number}"):
            tests[str(one.get("name"))] = one
    if not tests:
        raise DataError("holds no test", place=str(path))
    if test is not None and test not in tests:
        raise CallError(f"{path} has no test '{test}'; there are: {', '.join(tests)}")
    name = test or next(iter(tests))
    root = base or str(held.get("url", ""))
    steps: list[ScriptStep] = []
    start: str | None = None
    frames: tuple[int | str, ...] = ()
    names: dict[str, str] = {}
    commands = tests[name].get("commands", ())
    if not isinstance(commands, list | tuple):
        raise DataError(f"its `commands` are no list but {str(commands)[:60]}", place=f"{path}, test '{name}'")
    for number, command in enumerate(commands):
        place = f"{path}, test '{name}', command {number}"
        with _reading(command, place):
            word = str(command.get("command", ""))
            target, value = (_filled(_text(command.get(part)), names) for part in ("target", "value"))
            if word.startswith("//") or not word:
                continue
            if word in _FLOW:
                raise DataError(f"'{word}' is control flow, which is not played; write the steps out", place=place)
            if word == "store":
                names[value] = target
            elif word == "open" and start is None and not steps:
                start = _join(root, target, base)
            elif word == "selectFrame":
                frames = _frame(frames, target)
            else:
                steps.append(_selenium_step(word, target, value, command, frames, root, base, place))
    return Script(title=name, start=start, viewport=None, steps=tuple(steps))


def _selenium_step(
    word: str, target: str, value: str, command: Mapping[str, Any], frames: tuple[int | str, ...], root: str, base: str | None,
    place: str,
) -> ScriptStep:  # fmt: skip
    if _CHECKS.match(word):
        return ScriptStep(action=None, skip=word, place=place)
    if word == "open":
        return ScriptStep(action=Action(type="navigate", url=_join(root, target, base)), place=place)
    if word not in (*_POINTER, "type", "sendKeys", "select", "addSelection"):
        known_words = ", ".join([*_POINTER, "type", "sendKeys", "select"])
        raise DataError(f"the command '{word}' is not played; there are: {known_words}", place=place)
    others = [pair[0] for pair in command.get("targets") or () if pair]
    ways = tuple((_selenium_way(one, place),) for one in dict.fromkeys([target, *others]) if one)
    known: dict[str, Any] = {"ways": ways, "frames": frames, "place": place}
    if word in _POINTER:
        offset = None
        if word.endswith("At") and re.fullmatch(r"\s*-?\d+\s*,\s*-?\d+\s*", value):
            across, down = value.split(",")
            offset = Point(float(across), float(down))
        checked = {"check": True, "uncheck": False}.get(word)
        return ScriptStep(action=Action(type=_POINTER[word]), offset=offset, checked=checked, **known)  # type: ignore[arg-type]
    if word in ("type", "sendKeys"):
        named = re.fullmatch(r"\$\{KEY_(\w+)\}", value)
        if named:
            return ScriptStep(action=Action(type="press", keys=keys.guess(named[1])), **known)
        return ScriptStep(action=Action(type="type", text=value), **known)
    how, _, rest = value.partition("=")
    label = rest if how in ("label", "value", "id", "index") and rest else value
    action = Action(type="select", value=label) if how == "value" else Action(type="select", text=label)
    return ScriptStep(action=action, **known)


def _selenium_way(target: str, place: str) -> Way:
    kind, _, rest = target.partition("=")
    if kind == "id":
        return Way("css", f'[id="{rest}"]')
    if kind == "name":
        return Way("css", f'[name="{rest}"]')
    if kind == "css":
        return Way("css", rest)
    if kind == "xpath" or target.startswith("//"):
        return Way("xpath", rest if kind == "xpath" else target)
    if kind in ("linkText", "link"):
        return Way("link", rest)
    if kind == "partialLinkText":
        return Way("partial_link", rest)
    raise DataError(
        f"the locator '{target}' is of no known kind; wanted id=, name=, css=, xpath=, linkText=", place=place
    )


def _frame(frames: tuple[int | str, ...], target: str) -> tuple[int | str, ...]:
    if target == "relative=parent":
        return frames[:-1]
    if target == "relative=top":
        return ()
    kind, _, rest = target.partition("=")
    return (*frames, int(rest)) if kind == "index" else (*frames, _selenium_way(target, target).text)


def _filled(text: str, names: Mapping[str, str]) -> str:
    """The text with stored names put in; `${KEY_...}` stays."""
    return re.sub(r"\$\{(?!KEY_)(\w+)\}", lambda found: names.get(found[1], found[0]), text)


def _join(root: str, target: str, base: str | None) -> str:
    if re.match(r"^[a-z]+://", target):
        return _at(target, base)
    return root.rstrip("/") + "/" + target.lstrip("/")
