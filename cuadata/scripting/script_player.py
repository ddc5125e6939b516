"""Play a script on the live page through the recorder: each step is found, brought into view, acted and recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata import recorder
from cuadata.errors import CallError
from cuadata.recorder import Recorder
from cuadata.scripting import script_steps, time_limit
from cuadata.scripting.script_steps import Script, ScriptStep, Way
from cuadata.scripting.time_limit import OutOfTime
from cuadata.types import Action, BBox, Element, Observation, Outcome, Point, Task

if TYPE_CHECKING:
    from playwright.async_api import Frame, FrameLocator, Locator, Page

#: How far a located box and an observed one may lie apart, CSS px, to be the same element.
SAME = 1.0


def play(script: Path, out: Path, *, address: str | Path | Task | None, instruction: str = "", **options: Any) -> Path:
    """Record a script in the new folder OUT and return it. `address` replaces the script's own start, or its server.

    `seconds`, among `options`: how long it may run before it is interrupted.
    """
    if script.suffix == ".py":
        from cuadata.scripting.script_page import run

        return run(script, out, address=address, instruction=instruction, **options)
    test, base, seconds = options.pop("test", None), None, options.pop("seconds", None)
    if isinstance(address, str) and address.startswith("http"):
        base = address
    held = script_steps.read(script, base=base, test=test)
    begin = address if address is not None and base is None else held.start
    if begin is None:
        raise CallError(f"{script} does not say where it begins; give the address")
    if options.get("viewport") is None:
        options["viewport"] = held.viewport
    wanted = instruction or held.title
    with recorder.start(begin, out, instruction=wanted, source="script", **options) as session:
        try:
            with time_limit.within(seconds):
                outcome = _play(session, held)
        except OutOfTime as error:
            outcome = Outcome(ended="interrupted", reason=f"the script was ended: {error}")
        session.close(outcome)
    return out


def _play(session: Recorder, script: Script) -> Outcome:
    for step in script.steps:
        if step.action is None:
            continue
        if step.checked is not None and _state(session, step) == step.checked:
            continue
        done = _one(session, step)
        if done is not None:
            return Outcome(ended="failure", success=False, reason=f"{step.place}: {done}")
    return Outcome(ended="success", success=True)


def _state(session: Recorder, step: ScriptStep) -> bool | None:
    found = find(session, step)
    return None if found is None or found.states.checked is None else found.states.checked == "true"


def _one(session: Recorder, step: ScriptStep) -> str | None:
    """Act one step; None, or why it failed."""
    action = step.action
    assert action is not None
    if not step.ways:
        return session.do(action).error
    element = bring_into_view(session, lambda: find(session, step))
    if element is None:
        ways = " or ".join(way[-1].text for way in step.ways)
        return session.fail(action, f"target_missing: nothing is found by {ways}").error
    return act_on(session, action, element, step.offset)


def act_on(session: Recorder, action: Action, element: Element, offset: Point | None = None) -> str | None:
    """Do an action on an observed element; typing replaces what a field holds, as scripts mean it."""
    if action.type in ("type", "select", "upload"):
        return session.do(replace(action, element=element.id)).error
    point = recorder.point_on(element, offset)
    return session.do(replace(action, element=element.id, point=point)).error


def bring_into_view(session: Recorder, look: Callable[[], Element | None], tries: int = 4) -> Element | None:
    """The element, after recorded scrolls where it lay outside the viewport; None where there is none."""
    element = look()
    for _ in range(tries):
        if element is None or element.bbox is None or element.point is not None:
            break
        away = _distance(element.bbox, session.observe())
        if away is None:
            break
        scroller = next((e for e in session.observe().elements if e.id == element.scroller), None)
        at = scroller.point if scroller is not None else None
        session.do(Action(type="scroll", point=at, scroll_x=away.x, scroll_y=away.y, scroll_unit="px"))
        element = look()
    return element


def _distance(box: BBox, seen: Observation) -> Point | None:
    """The scroll that brings a box to the middle; None where it is in view already."""
    size = seen.viewport
    across = 0.0 if 0 <= box.x and box.right <= size.width else box.center.x - size.width / 2
    down = 0.0 if 0 <= box.y and box.bottom <= size.height else box.center.y - size.height / 2
    return None if across == down == 0 else Point(round(across), round(down))


def find(session: Recorder, step: ScriptStep, wait: float = 2.0) -> Element | None:
    """The observed element that the first way with a single match leads to; waits a moment for one to appear."""
    for limit in (0.0, wait):
        for chain in step.ways:
            box = session.page.run(_box(session.page.twin.tab.page, chain, step.frames, limit), 10 + limit)
            if box is None:
                continue
            if limit:
                session.moved()
            found = element_with(session.observe(), box)
            if found is not None:
                return found
    return None


def element_with(seen: Observation, box: BBox) -> Element | None:
    """The observed element with this box, or the control that it is part of; None where none has it."""
    near = [e for e in seen.elements if e.bbox is not None and _apart(e.bbox, box) <= SAME]
    found = min(near, key=lambda e: (not e.interactive, _apart(e.bbox or box, box)), default=None)
    by_id = {e.id: e for e in seen.elements}
    around = found
    while around is not None and not around.interactive:  # a text inside a link means the link
        around = by_id.get(around.parent) if around.parent is not None else None
    return around or found


def _apart(one: BBox, other: BBox) -> float:
    return max(abs(one.x - other.x), abs(one.y - other.y), abs(one.width - other.width), abs(one.height - other.height))


async def _box(page: Page, chain: tuple[Way, ...], frames: tuple[int | str, ...], wait: float) -> BBox | None:
    from playwright.async_api import Error

    try:
        root: Page | Frame | FrameLocator = page
        for frame in frames:
            root = _inside(root, frame)
        located: Any = root
        for way in chain:
            located = _located(located, way)
        if wait:
            await located.first.wait_for(state="visible", timeout=wait * 1000)
        if await located.count() != 1:
            return None
        held = await located.bounding_box(timeout=1000)
    except (Error, IndexError):
        return None
    return BBox(held["x"], held["y"], held["width"], held["height"]) if held else None


def _inside(root: Any, frame: int | str) -> Any:
    if isinstance(frame, str):
        return root.frame_locator(frame)
    if hasattr(root, "main_frame"):
        return root.main_frame.child_frames[frame]
    return root.child_frames[frame] if hasattr(root, "child_frames") else root.frame_locator(f"iframe >> nth={frame}")


def _located(root: Any, way: Way) -> Locator:
    if way.kind == "css":
        found = root.locator(f"css={way.text}")
    elif way.kind == "xpath":
        found = root.locator(f"xpath={way.text}")
    elif way.kind == "text":
        found = root.get_by_text(way.text, exact=True)
    elif way.kind == "link":
        found = root.get_by_role("link", name=way.text, exact=True)
    elif way.kind == "partial_link":
        found = root.get_by_role("link", name=way.text)
    elif way.role is not None:
        found = root.get_by_role(way.role, name=way.text, exact=True)
    else:
        found = _named(root, way.text)
    return found  # type: ignore[no-any-return]


def _named(root: Any, name: str) -> Any:
    """Whatever takes input under this accessible name; Playwright asks for a role with a name, so all are tried."""
    roles = ("button", "link", "textbox", "checkbox", "radio", "combobox", "menuitem", "tab", "option", "switch", "searchbox",
             "spinbutton", "slider", "treeitem", "heading", "img")  # fmt: skip
    found = root.get_by_role(roles[0], name=name, exact=True)
    for role in roles[1:]:
        found = found.or_(root.get_by_role(role, name=name, exact=True))
    return found.or_(root.get_by_text(name, exact=True)).first
