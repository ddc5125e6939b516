"""A `page` for Python scripts: Playwright's words, each input recorded as one step.

A script is run with `page` in its globals. Reading (`title`, `inner_text`, `count`, waits, assertions) goes to Playwright
as it is; acting (`click`, `fill`, `press`, ...) is looked up among the observed elements and done by the recorder.
"""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuadata import recorder, text_files
from cuadata.errors import CallError, DataError, DiskError
from cuadata.recorder import Recorder
from cuadata.scripting import time_limit
from cuadata.scripting.script_player import act_on, bring_into_view, element_with
from cuadata.scripting.time_limit import OutOfTime
from cuadata.speaking import keys
from cuadata.types import Action, BBox, Element, Outcome, Point, Task

#: Locator methods that lead to another locator.
LEADS = {"locator", "get_by_role", "get_by_text", "get_by_label", "get_by_placeholder", "get_by_title", "get_by_alt_text",
         "get_by_test_id", "frame_locator", "filter", "nth", "or_", "and_"}  # fmt: skip


class ScriptError(DataError):
    """A step of the script could not be done."""


class ScriptLocator:
    """A Playwright locator whose inputs are recorded."""

    def __init__(self, session: Recorder, twin: Any) -> None:
        self._session = session
        self._twin = twin

    def __getattr__(self, name: str) -> Any:
        held: Any = getattr(self._twin, name)
        if name in ("first", "last", "content_frame"):
            return ScriptLocator(self._session, held)
        if not callable(held):
            return held
        call: Any = held
        if name in LEADS:
            return lambda *a, **k: ScriptLocator(
                self._session, call(*map(_bare, a), **{n: _bare(v) for n, v in k.items()})
            )
        return lambda *a, **k: self._session.page.run(call(*a, **k), 35)

    def click(
        self,
        *,
        button: str = "left",
        click_count: int = 1,
        modifiers: tuple[str, ...] = (),
        position: Any = None,
        **_: Any,
    ) -> None:
        """One click, recorded; `button="right"` and `click_count=2` as in Playwright."""
        kind = "right_click" if button == "right" else "double_click" if click_count == 2 else "click"
        offset = Point(float(position["x"]), float(position["y"])) if position else None
        self._act(Action(type=kind, modifiers=tuple(modifiers)), offset)  # type: ignore[arg-type]

    def dblclick(self, **options: Any) -> None:
        """A double click, recorded."""
        self.click(click_count=2, **options)

    def hover(self, **_: Any) -> None:
        """The pointer moves onto it, recorded."""
        self._act(Action(type="hover"))

    def fill(self, value: str, **_: Any) -> None:
        """Type into it key by key, recorded; what it held is replaced."""
        self._act(Action(type="type", text=value))

    def type(self, text: str, **_: Any) -> None:
        """Type into it key by key, recorded."""
        self._act(Action(type="type", text=text))

    press_sequentially = type

    def press(self, key: str, **_: Any) -> None:
        """A key or chord while it has the focus, recorded."""
        chord = Action(type="press", keys=keys.read(key, "browser"))
        element = self._element()
        if not element.states.focused:
            self._session.page.run(self._twin.focus(), 10)
            self._session.moved()
        _checked(self._session.do(replace(chord, element=element.id)).error)

    def check(self, **_: Any) -> None:
        """A click where it is not ticked yet, recorded."""
        if self._element().states.checked != "true":
            self.click()

    def uncheck(self, **_: Any) -> None:
        """A click where it is ticked, recorded."""
        if self._element().states.checked == "true":
            self.click()

    def select_option(self, value: str | None = None, *, label: str | None = None, **_: Any) -> None:
        """Choose an option by value or label, recorded."""
        self._act(Action(type="select", value=value, text=label))

    def set_input_files(self, files: str | Path | list[str | Path], **_: Any) -> None:
        """Choose files, recorded by their names."""
        paths = files if isinstance(files, list) else [files]
        self._act(Action(type="upload", files=tuple(str(path) for path in paths)))

    def drag_to(self, target: ScriptLocator, **_: Any) -> None:
        """Drag onto another element, recorded."""
        end = target._element().point
        if end is None:
            raise ScriptError("target_occluded: nothing of the place to drop on takes the pointer")
        self._act(Action(type="drag", end=end))

    def _act(self, action: Action, offset: Point | None = None) -> None:
        _checked(act_on(self._session, action, self._element(), offset))

    def _element(self) -> Element:
        self._session.page.run(self._twin.wait_for(state="attached"), 35)
        found = bring_into_view(self._session, self._look)
        if found is None:
            raise ScriptError(f"target_missing: {self._twin} is not among the elements that a person could act on")
        return found

    def _look(self) -> Element | None:
        box = self._session.page.run(self._twin.bounding_box(), 35)
        if box is None:
            return None
        wanted = BBox(box["x"], box["y"], box["width"], box["height"])
        found = element_with(self._session.observe(), wanted)
        if found is None:  # it moved since the observation: look once more
            self._session.moved()
            found = element_with(self._session.observe(), wanted)
        return found


class ScriptKeyboard:
    """The keyboard; inputs go to what has the focus and are recorded."""

    def __init__(self, session: Recorder) -> None:
        self._session = session

    def press(self, key: str, **_: Any) -> None:
        """A key or chord, recorded."""
        _checked(self._session.do(Action(type="press", keys=keys.read(key, "browser"))).error)

    def type(self, text: str, **_: Any) -> None:
        """Text, key by key, recorded."""
        _checked(self._session.do(Action(type="type", text=text)).error)

    insert_text = type


class ScriptMouse:
    """The mouse by coordinates, CSS px."""

    def __init__(self, session: Recorder) -> None:
        self._session = session

    def click(self, x: float, y: float, **_: Any) -> None:
        """A click at a point, recorded."""
        _checked(self._session.do(Action(type="click", point=Point(float(x), float(y)))).error)

    def move(self, x: float, y: float, **_: Any) -> None:
        """A hover at a point, recorded."""
        _checked(self._session.do(Action(type="hover", point=Point(float(x), float(y)))).error)

    def wheel(self, delta_x: float, delta_y: float) -> None:
        """A scroll, recorded."""
        scroll = Action(type="scroll", scroll_x=float(delta_x), scroll_y=float(delta_y), scroll_unit="px")
        _checked(self._session.do(scroll).error)


class ScriptPage:
    """The page that a script sees."""

    def __init__(self, session: Recorder) -> None:
        self._session = session
        self.keyboard = ScriptKeyboard(session)
        self.mouse = ScriptMouse(session)

    def __getattr__(self, name: str) -> Any:
        twin = self._session.page.twin.tab.page
        held = getattr(twin, name)
        if not callable(held):
            return held
        if name in LEADS:
            return lambda *a, **k: ScriptLocator(self._session, held(*a, **k))
        if hasattr(ScriptLocator, name) and not name.startswith("_"):  # page.click(selector) is the locator's click
            return lambda selector, *a, **k: getattr(ScriptLocator(self._session, twin.locator(selector)), name)(
                *a, **k
            )
        return self._plain(held)

    def goto(self, url: str, **_: Any) -> None:
        """Load an address: the recording's first page where nothing was done yet, else a recorded navigation."""
        if self._session.steps:
            _checked(self._session.do(Action(type="navigate", url=url)).error)
        else:
            self._session.page.goto(url)
            self._session.moved()

    def go_back(self, **_: Any) -> None:
        """Back in the history, recorded."""
        _checked(self._session.do(Action(type="back")).error)

    def go_forward(self, **_: Any) -> None:
        """Forward in the history, recorded."""
        _checked(self._session.do(Action(type="forward")).error)

    def reload(self, **_: Any) -> None:
        """Load the page again, recorded."""
        _checked(self._session.do(Action(type="reload")).error)

    def think(self, words: str) -> None:
        """A thought between two actions, recorded as a step of its own without input."""
        self._session.do(Action(type="reason", text=words), thought=words)

    def _plain(self, held: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            value = held(*args, **options)
            if hasattr(value, "__await__"):
                value = self._session.page.run(value, 35)
                self._session.moved()  # a wait or a script may have changed the page
            return value

        return call


def _bare(value: Any) -> Any:
    return value._twin if isinstance(value, ScriptLocator) else value


def _checked(error: str | None) -> None:
    if error is not None:
        raise ScriptError(error)


def run(
    script: Path, out: Path, *, address: str | Path | Task | None, instruction: str = "", seconds: float | None = None,
    **options: Any,
) -> Path:  # fmt: skip
    """Record a Python script in the new folder OUT and return it; its `INSTRUCTION` and `URL` are used where none is given.

    A script that runs longer than `seconds` is interrupted: the steps before are kept.
    """
    from playwright.async_api import Error

    if not script.is_file():
        raise CallError(f"there is no script {script}")
    stated = _constants(script)
    begin = address or stated.get("URL") or "<!doctype html><title>blank</title>"
    wanted = instruction or str(stated.get("INSTRUCTION", "")) or (begin.instruction if isinstance(begin, Task) else "")
    if not wanted:
        raise CallError(f"say what {script} does: --instruction, or INSTRUCTION = '...' in the script")
    with recorder.start(begin, out, instruction=wanted, source="script", **options) as session:
        try:
            with time_limit.within(seconds):
                runpy.run_path(str(script), init_globals={"page": ScriptPage(session)}, run_name="__main__")
        except (ScriptError, AssertionError, Error) as error:
            words = str(error).split("\n")[0] or type(error).__name__
            session.close(Outcome(ended="failure", success=False, reason=words))
        except OutOfTime as error:
            session.close(Outcome(ended="interrupted", reason=f"the script was ended: {error}"))
        except SystemExit as error:
            if error.code not in (None, 0):
                session.close(
                    Outcome(ended="failure", success=False, reason=f"the script left with {error.code}"[:300])
                )
            else:
                session.close(Outcome(ended="success", success=True))
        except DiskError:
            raise  # not the script's doing: it is interrupted, with the steps before
        except Exception as error:
            words = session.told(f"{type(error).__name__}: {error}".split("\n")[0][:300])
            session.close(Outcome(ended="error", reason=words))
            kept = f"the {len(session.steps)} steps before it are in {out}"
            raise DataError(f"the script failed: {words}; {kept}", place=f"{script}{_line(error, script)}") from error
        else:
            session.close(Outcome(ended="success", success=True))
    return out


def _line(error: Exception, script: Path) -> str:
    """The last line of the script that an error came through, as `, line 3`; empty where it came through none."""
    lines = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == str(script)]
    return f", line {lines[-1]}" if lines else ""


def _constants(script: Path) -> dict[str, Any]:
    """The script's top-level string constants, read without running it. DataError where it is no Python."""
    import ast

    try:
        tree = ast.parse(text_files.read(script))
    except SyntaxError as error:
        raise DataError(f"it is no Python: {error}", place=str(script)) from error
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            found.update({t.id: node.value.value for t in node.targets if isinstance(t, ast.Name)})
    return found
