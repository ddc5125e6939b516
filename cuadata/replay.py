"""Act a recording again on the live page: by locators, and where one no longer leads there by less, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from cuadata import browser, privacy, recording, text
from cuadata.errors import CallError, DataError
from cuadata.geometry import contains
from cuadata.types import Action, Element, Observation, Point, Size, Step, Trajectory

Way = Literal["locator", "name", "text", "point", "none"]
#: Actions that are aimed at an element.
AIMED = frozenset(("click", "double_click", "right_click", "hover", "drag", "type", "select", "upload"))
#: Attributes that name a thing whatever it is called.
_IDENTITY = frozenset(("name", "href"))
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
#: Actions that need no input again: a thought, and what only ends a trajectory.
SILENT = frozenset(("reason", "done", "infeasible"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One step, acted again."""

    index: Annotated[int, "position in the recording"]
    what: Annotated[str, "the action in words"]
    way: Annotated[Way, "how its element was found; none: it has no element, or none was found"]
    holds: Annotated[bool, "it was found by its locator, and the input went through"]
    reason: Annotated[str, "why it does not hold, or what it fell back on; empty where nothing is to be said"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a recorded target is now."""

    element: Element | None
    way: Way
    reason: str = ""


def replay(folder: Path, address: str | Path | None = None, *, headed: bool = False) -> list[Played]:
    """Act the steps of a recording in order, on the page where it began or on `address`. It goes on after one that fails.

    CallError where the recording says no address that can be opened, DataError where it does not read.
    """
    held = recording.read(folder, pictures=False)
    if not held.steps:
        raise DataError("it has no steps to act again", place=str(folder))
    begin = address if address is not None else held.steps[0].observation.url
    if not begin:
        raise CallError(f"{folder} does not say where it began; give the page")
    if address is None and privacy.holds_mask(str(begin)):
        raise CallError(f"{folder} began at an address that held a secret, which was not recorded; give the page")
    if address is None and urlsplit(str(begin)).scheme not in ("http", "https"):
        raise CallError(f"{folder} began at {str(begin)[:80]!r}, which is no address to be opened again; give the page")
    first = held.steps[0].observation
    size = Size(first.viewport.width, first.viewport.height)
    try:
        opened = browser.open(
            begin, viewport=size, device_pixel_ratio=first.device_pixel_ratio, headed=headed, dialogs="leave"
        )
    except ValueError as error:
        if address is None and urlsplit(str(begin)).hostname in ("127.0.0.1", "localhost", "::1"):
            raise CallError(
                f"{error}; it began at a page of this machine, which is not served now: give it, as in "
                f"`cuadata record PAGE --replay {folder}`"
            ) from error
        raise
    with opened as page:
        return [_one(page, step) for step in _inputs(held)]


def _inputs(held: Trajectory) -> list[Step]:
    return [step for step in held.steps if step.action.type not in SILENT and step.error is None]


def _one(page: browser.Page, step: Step) -> Played:
    """One step, whatever the page does: those after it are tried too."""
    asked = _dismissed(page) if step.action.type != "dialog" else ""
    try:
        played = _again(page, step)
    except (ValueError, RuntimeError, TimeoutError) as error:
        words = f"action_failed: {error}"[:300]
        what = _told(step)
        played = Played(index=step.index, what=what, way="none", holds=False, reason=words)
    if not asked:
        return played
    return replace(played, holds=False, reason="; ".join(one for one in (asked, played.reason) if one))


def _dismissed(page: browser.Page) -> str:
    """Dismiss a dialog that was not there when it was recorded, since nothing goes on behind it; what it asked, in words."""
    tab = page.twin.windows.held
    if tab is None or tab.dialog is None:
        return ""
    kind, message = tab.dialog.type, tab.dialog.message
    page.run(page.twin.windows.answer_dialog(tab, tab.dialog, False, None), 10)
    return f"the page asked {message[:80]!r} ({kind}), which the recording does not answer; it was dismissed"


def _again(page: browser.Page, step: Step) -> Played:
    action, what = step.action, _told(step)
    lost = _not_recorded(action)
    found = Found(element=None, way="none")
    if action.type in AIMED:
        found = find(page, step)
        if found.way == "none":
            return Played(index=step.index, what=what, way="none", holds=False, reason=lost or found.reason)
    if lost is not None:
        return Played(index=step.index, what=what, way=found.way, holds=False, reason=lost)
    done = page.act(_aimed(action, step, found), effect=False, screenshot=False)
    reason = done.error or found.reason
    return Played(index=step.index, what=what, way=found.way, holds=not reason, reason=reason)


def _told(step: Step) -> str:
    """The action in words; what is a secret, or stands for one, is not among them."""
    action, target = step.action, step.target
    if action.type in ("type", "select", "dialog") and action.text is not None and _secret(action.text, target):
        action = replace(action, text="(a secret)")
    if action.url is not None and privacy.holds_mask(action.url):
        action = replace(action, url=f"{action.url.split('?')[0].split('#')[0][:80]} (with a secret)")
        if privacy.holds_mask(action.url or ""):
            action = replace(action, url="an address with a secret")
    return text.describe(action, target)


def _secret(typed: str, target: Element | None) -> bool:
    """Whether a text stands for a secret, or went into a field for one: a recording of another make may hold it."""
    if privacy.holds_mask(typed):
        return True
    return target is not None and any(a.name == "type" and a.value == "password" for a in target.attributes)


def _not_recorded(action: Action) -> str | None:
    """Why an action cannot be done again whatever the page is."""
    words = {"type": "what was typed", "select": "what was chosen", "dialog": "what was answered"}
    if action.type in words and privacy.holds_mask(action.text or action.value or ""):
        return f"{words[action.type]} is a secret and was not recorded"
    if action.type == "navigate" and privacy.holds_mask(action.url or ""):
        return "the address held a secret, which was not recorded"
    if action.type == "upload":
        return "only the files' names were recorded"
    return None


def find(page: browser.Page, step: Step) -> Found:
    """The target of a step on the page as it is now."""
    target = step.target
    if target is None:
        return _by_point(page.observe(screenshot=False), step, "it had no element")
    try:
        observation, (matches,) = page.select(target.locator.css)
    except ValueError:
        if not page.pages:
            raise
        observation, matches = page.observe(screenshot=False), ()  # an edited recording: it is no selector
    same = [e for e in matches if e.locator == target.locator]
    if len(same) == 1 and _is_same(same[0], target):
        return Found(element=same[0], way="locator")
    if same:
        why = f"its locator leads to {_called(same[0])} now"
    else:
        why = f"nothing is found by {target.locator.css}"
    for way, key in (("name", _by_name), ("text", _by_text)):
        fitting = [
            e for e in observation.elements if key(e) == key(target) and e.locator.frames == target.locator.frames
        ]
        if key(target)[-1] and len(fitting) == 1:
            return Found(element=fitting[0], way=way, reason=f"{why}; found by its {way}")  # type: ignore[arg-type]
    if len(same) == 1 and (known := _renamed(same[0], target)) is not None:
        return Found(
            element=same[0], way="locator", reason=f"renamed: {_called(target)} is {_called(same[0])} now, {known}"
        )
    return _by_point(observation, step, why)


def _called(element: Element) -> str:
    """An element in words: button 'Save'."""
    return f"{element.role or element.tag} '{element.name or element.text[:40]}'"


def _renamed(now: Element, then: Element) -> str | None:
    """What says that an element at the recorded place is the recorded one under another name; None where nothing does.

    A place alone says nothing: where 'Save' stood, 'Delete all' may stand now.
    """
    if now.tag != then.tag or now.role != then.role:
        return None
    if _NUMBERS.sub("0", _label(now)) == _NUMBERS.sub("0", _label(then)):
        return "which differs in its numbers only"
    if re.fullmatch(r"#[^\s>]+", then.locator.css):  # the locator is the element's own id, which it still has
        return "with the same id"
    before = {one.name: one.value for one in then.attributes if one.name in _IDENTITY}
    after = {one.name: one.value for one in now.attributes if one.name in _IDENTITY}
    return f"with the same {' and '.join(before)}" if before and before == after else None


def _label(element: Element) -> str:
    return " ".join((element.name or element.text).split())


def _by_name(element: Element) -> tuple[str, str]:
    return element.role, element.name


def _by_text(element: Element) -> tuple[str, str]:
    return element.tag, element.text


def _is_same(now: Element, then: Element) -> bool:
    """Whether an element is the one recorded: what it is and is called; what it holds may differ."""
    if now.tag != then.tag or now.role != then.role:
        return False
    return now.name == then.name and (
        bool(then.name) or now.text == then.text or then.tag in ("input", "textarea", "select")
    )


def _by_point(observation: Observation, step: Step, why: str) -> Found:
    """What is at the recorded point now, if it is of the same kind."""
    point, target = step.action.point, step.target
    if point is None or target is None and step.action.type in ("type", "select", "upload"):
        return Found(element=None, way="none", reason=f"target_missing: {why}, and there is no point to fall back on")
    here = [e for e in observation.elements if e.bbox is not None and contains(e.bbox, point) and e.point is not None]
    alike = [e for e in here if target is None or (e.tag == target.tag and e.role == target.role)]
    if target is not None and not alike:
        return Found(element=None, way="none", reason=f"target_missing: {why}, and nothing of its kind is at its point")
    others = [e for e in alike if target is not None and _label(target) and _label(e) != _label(target)]
    if others and len(others) == len(alike):
        there = f"at its point is {_called(others[-1])}, which nothing says is the same"
        return Found(element=None, way="none", reason=f"target_missing: {why}, and {there}")
    return Found(element=None, way="point", reason=f"{why}; acted at its point")


def _aimed(action: Action, step: Step, found: Found) -> Action:
    """The action on the element where it is now, at the same place on it."""
    element, target = found.element, step.target
    if element is None:
        return replace(action, element=None)
    point = element.point
    moved = Point(0.0, 0.0)
    if action.point is not None and element.bbox is not None and target is not None and target.bbox is not None:
        moved = Point(element.bbox.x - target.bbox.x, element.bbox.y - target.bbox.y)
        there = Point(action.point.x + moved.x, action.point.y + moved.y)
        if contains(element.bbox, there):
            point = there
    if action.type in ("type", "select"):
        point = None
    end = Point(action.end.x + moved.x, action.end.y + moved.y) if action.end is not None else None
    return replace(action, element=element.id, point=point, end=end)
