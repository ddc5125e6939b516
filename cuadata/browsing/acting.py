"""Acting on the active page: aim at an element as it stands now, real input, the wait for an effect, what it changed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cuadata import native_lists
from cuadata.browsing import aftermath, arriving, page_input
from cuadata.browsing.arriving import Pulses, shown
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.browsing.recycled import stands_for_another
from cuadata.types import Action, Element, Observation, Point, Step

if TYPE_CHECKING:
    from cuadata.browsing.page_session import AsyncPage
    from cuadata.browsing.tab import Tab

POINTED = arriving.POINTED | {"hover"}
#: Actions that need no open page.
WITHOUT_PAGE = frozenset({"navigate", "switch_page", "wait", "reason", "done", "infeasible"})
#: Seconds to wait for an effect of actions that rarely have a late one; to enter one of `FIELDS` is an effect by itself.
BRIEF = {"hover": 0.3, "scroll": 0.3, "wait": 0.0, "reason": 0.0, "done": 0.0, "infeasible": 0.0, "switch_page": 0.0}
#: Roles of what only holds others.
BARE = frozenset({"", "none", "generic"})
FIELDS = frozenset({"textbox", "searchbox", "spinbutton"})


@dataclass(frozen=True, slots=True)
class Aim:
    """What an action is aimed at, the action with its point, and why it cannot be carried out."""

    target: Element | None
    action: Action
    error: str | None = None


async def act(
    page: AsyncPage,
    action: Action,
    *,
    observation: Observation | None,
    after: bool,
    screenshot: bool,
    renew: bool,
    effect: bool,
) -> Step:
    """One step; see `AsyncPage.act`.

    What the arrival of the pointer alone changes is no effect of a press: the effect is measured from then on.
    """
    from cuadata import effects

    tab = page.windows.held
    if tab is not None and effect and after and screenshot:
        # Pictures that will be compared are decoded while the rest is asked for.
        tab.ready = effects.prepare
    try:
        return await _act(
            page, action, observation=observation, after=after, screenshot=screenshot, renew=renew, effect=effect
        )
    finally:
        if tab is not None:
            tab.ready = tab.readied = None


async def _act(
    page: AsyncPage,
    action: Action,
    *,
    observation: Observation | None,
    after: bool,
    screenshot: bool,
    renew: bool,
    effect: bool,
) -> Step:
    tab = page.windows.held
    if tab is not None:
        tab.forget()
    before = await _before(page, action, observation, screenshot, renew)
    # What was taken last and is fresh still need not be asked about twice.
    known = renew and page.last is not None and before is observation is page.last.observation
    if observation is not None and not known and await _recycled(page, action, observation):
        return _refused(page, action, before)
    action = native_lists.chosen(action, before.elements)
    aim = await aimed(page, action, before, known=known)
    arrived = arriving.Arrived(before, before.screenshot)
    ambient: list[Observation] = []
    compared = effect and after and screenshot and tab is not None
    told = arriving.UNKNOWN
    if aim.error is None and action.type in arriving.POINTED:
        came = page.tab.pointer != aim.action.point
        renewed, told = await arriving.hover(page, aim.action.point, screenshot)
        if renewed is not None:
            arrived = arriving.Arrived(renewed, renewed.screenshot)
        elif came and compared:
            arrived = await arriving.repainted(page, before, told)
        if renew and renewed is not None:
            before = renewed
            aim = await aimed(page, aim.action, before)
    if compared and aim.error is None:
        ambient = await arriving.ambient(page, await arriving.standing(page) if told is arriving.UNKNOWN else told)
        aftermath.compare_ahead(page.tab, arrived.picture, ambient)
    began, since = time.time(), time.monotonic()
    done, error, waited = aim.action, aim.error, None
    if error is None:
        pulses = page.last.pulses if page.last is not None else {}
        done, error = await carry_out(page, aim.action)
        waited = await _until_effect(page, aim, pulses, since, stop=screenshot) if after else None
    seen = await page.observe(screenshot=screenshot, since=since) if after else None
    look = await aftermath.compared(tab, seen) if compared else None
    step = Step(
        index=page.steps,
        time=max(began, before.time + 1e-6),
        observation=before,
        action=done,
        target=aim.target,
        after=seen,
        error=error,
        effect=aftermath.effect_between(
            _unasked(arrived.observation, tab), seen, done, ambient, waited, picture=arrived.picture, look=look
        )
        if effect and seen is not None and error is None
        else None,
    )
    page.steps += 1
    return step


def _unasked(observation: Observation, tab: Tab | None) -> Observation:
    """An observation without what it tells only since it was asked for: the next one does not, and nothing has gone."""
    asked = frozenset[int]() if tab is None else tab.asked
    told = tuple(e for e in observation.elements if e.id not in asked or e.interactive or e.role not in BARE)
    return observation if len(told) == len(observation.elements) else replace(observation, elements=told)


async def _recycled(page: AsyncPage, action: Action, chosen: Observation) -> bool:
    """Whether the node of the chosen element stands for another thing now, and what was chosen is elsewhere."""
    if action.element is None or page.windows.held is None or await page.fresh():
        return False
    return stands_for_another(action.element, chosen, await page.observe(screenshot=False))


def _refused(page: AsyncPage, action: Action, before: Observation) -> Step:
    """The step of an action that was not done: what it was aimed at is another thing now."""
    page.steps += 1
    return Step(
        index=page.steps - 1, time=max(time.time(), before.time + 1e-6), observation=before, action=action, after=before,
        error=f"target_stale: element {action.element} stands for something else now",
    )  # fmt: skip


async def _before(
    page: AsyncPage, action: Action, given: Observation | None, screenshot: bool, renew: bool
) -> Observation:
    """The observation to act on: the one given or the last one, unless the page has changed since."""
    held = given if given is not None else page.last.observation if page.last is not None else None
    if held is None or (screenshot and held.screenshot is None and given is None):
        return await page.observe(screenshot=screenshot)
    if given is not None and (not renew or page.last is None or page.last.observation is not given):
        return given
    return held if await page.fresh(going=arriving.goes(page, action)) else await page.observe(screenshot=screenshot)


async def aimed(page: AsyncPage, action: Action, before: Observation, *, known: bool = False) -> Aim:
    """Find what the action is aimed at. An element that is gone is an error, and never its neighbour.

    `known`: the page was just seen to be as it was observed, so that an element is there, and only its place is asked for.
    """
    target = next((e for e in before.elements if e.id == action.element), None) if action.element is not None else None
    if page.windows.held is None and action.type not in WITHOUT_PAGE:
        return Aim(target, action, "action_failed: every page is closed")
    if page.windows.held is not None and page.tab.crashed and action.type not in WITHOUT_PAGE:
        return Aim(target, action, "action_failed: the page crashed")
    if action.element is None:
        return Aim(await _at(page, before, action.point), action)
    if known and target is not None and action.point is not None:
        return Aim(target, action)
    now = await page.tab.now(action.element)
    if now is None:
        return Aim(target, action, f"target_stale: element {action.element} is no longer on the page")
    if action.point is not None or action.type in ("select", "upload", "press"):
        return Aim(target or now, action)
    if action.type == "type" and now.states.focused:
        return Aim(target or now, action)
    point = now.point or (_middle(page, now) if action.type == "scroll" else None)
    if point is None:
        words = f"no point of element {action.element} takes a click"
        by = now.evidence.covered_by
        return Aim(target or now, action, f"target_occluded: {words}{f'; {by} does' if by else ''}")
    return Aim(target or now, replace(action, point=point))


def _middle(page: AsyncPage, element: Element) -> Point | None:
    """The middle of the part of an element that is on the screen."""
    box = element.bbox
    if box is None:
        return None
    left, right = max(box.x, 0), min(box.right, page.viewport.width)
    top, bottom = max(box.y, 0), min(box.bottom, page.viewport.height)
    return Point((left + right) / 2, (top + bottom) / 2) if left < right and top < bottom else None


async def _at(page: AsyncPage, before: Observation, point: Point | None) -> Element | None:
    """The element that a click at a point acts on: the innermost that takes input, else the innermost."""
    if point is None or page.windows.held is None or page.tab.dialog is not None:
        return None
    held = {e.id: e for e in before.elements}
    try:
        chain = [held[i] for i in await page.tab.at(point) if i in held]
    except (FrameGone, Stuck, ValueError):
        return None
    return next((e for e in chain if e.interactive), chain[0] if chain else None)


async def _until_effect(page: AsyncPage, aim: Aim, pulses: Pulses, since: float, *, stop: bool) -> float | None:
    """Wait until an action shows an effect: seconds until it did, None where it showed none within the patience.

    `stop`: what is at rest then may be stopped for its picture at once.
    """
    entering = aim.action.type == "click" and aim.target is not None and aim.target.role in FIELDS
    patience = BRIEF.get("hover" if entering else aim.action.type, page.patience)
    await page.windows.arriving()
    tab = page.windows.held
    if tab is None or tab.dialog is not None or page.windows.dialogs or page.last is None or tab is not page.last.tab:
        return time.monotonic() - since
    held, end = shown(pulses), time.monotonic() + patience
    with contextlib.suppress(FrameGone, Stuck):
        now = await tab.glance(next(iter(held.values()), None) if stop and not tab.waits_for(since) else None)
        while shown(now) == held:
            told, now = await tab.tick(), await tab.pulses()
            at_work = tab.waits_for(since) or told["busy"] or told["loading"]
            left = max(end - time.monotonic(), 0.1)
            if shown(now) == held and not at_work:
                changed = await tab.awake(now, min(left, 0.3) if told["alive"] else left)
                return time.monotonic() - since if changed else None
            if time.monotonic() > end:
                break
            # An answer that came is no effect yet: a page may ask again, and again, before it shows anything.
            await asyncio.sleep(0.02)
            now = await tab.pulses()
    return time.monotonic() - since


# --- input ------------------------------------------------------------------------------------------------------------


async def carry_out(page: AsyncPage, action: Action) -> tuple[Action, str | None]:
    """The bare input: the action as it was done, and an error text or None."""
    from playwright.async_api import Error

    if page.windows.held is None and action.type not in WITHOUT_PAGE:
        return action, "action_failed: every page is closed"
    tab = page.windows.held
    limit = page.limit * 3 if action.type != "wait" else 65.0
    work = asyncio.ensure_future(_carry_out(page, action))
    try:
        async with asyncio.timeout(limit):
            return await _or_dialog(tab, work, action), None
    except TimeoutError:
        freed = tab is not None and await tab.free()
        words = "a script ran without end and was stopped" if freed else "the page does not answer"
        return action, f"action_failed: {action.type} did not end within {limit:g} s: {words}"
    except (Error, FrameGone, Stuck, page_input.BadAction, ValueError) as error:
        if tab is not None and tab.closed and action.type in (*POINTED, "press", "type"):
            return action, None  # The page closed itself on the input: it arrived.
        words = str(error).splitlines()[0][:200]
        return action, words if words.startswith(("target_", "action_")) else f"action_failed: {words}"
    finally:
        if not work.done() and (tab is None or tab.dialog is None):
            work.cancel()


async def _or_dialog(tab: Tab | None, work: asyncio.Future[Action], action: Action) -> Action:
    """The end of the input, or the moment when it opened a dialog that waits for an answer."""
    while True:
        await asyncio.wait([work], timeout=0.05)
        if work.done():
            return await work
        if tab is not None and tab.dialog is not None and action.type != "dialog":
            work.add_done_callback(lambda done: done.cancelled() or done.exception())
            return action


async def _carry_out(page: AsyncPage, action: Action) -> Action:
    kind = action.type
    if kind == "navigate" and action.url:
        await page.goto(action.url)
    elif kind == "wait":
        await page_input.wait(action)
    elif kind == "switch_page" and action.page is not None:
        await page.switch(action.page)
    elif kind == "dialog":
        await _answer(page, action)
    elif kind in ("back", "forward", "reload"):
        await _travel(page, kind)
    elif kind not in ("reason", "done", "infeasible"):
        return await _touch(page, action)
    return action


async def _answer(page: AsyncPage, action: Action) -> None:
    tab = page.tab
    if tab.dialog is None:
        raise page_input.BadAction("no dialog is open; `dialogs='leave'` keeps them open for the actor")
    await page.windows.answer_dialog(tab, tab.dialog, action.accept is not False, action.text)


async def _travel(page: AsyncPage, kind: str) -> None:
    tab = page.tab.page
    limit = page.limit * 2000
    if kind == "reload":
        await tab.reload(wait_until="domcontentloaded", timeout=limit)
        return
    went = tab.go_back if kind == "back" else tab.go_forward
    if await went(wait_until="domcontentloaded", timeout=limit) is None and tab.url == "about:blank":
        raise page_input.BadAction(f"there is no page to go {kind} to")


async def _touch(page: AsyncPage, action: Action) -> Action:
    """Pointer, keys, wheel, options and files."""
    tab = page.tab
    target = tab.find(action.element) if action.element is not None else None
    kind = action.type
    if kind in ("click", "double_click", "right_click"):
        await page_input.click(tab.page, action)
    elif kind == "hover":
        await tab.page.mouse.move(action.point.x, action.point.y) if action.point else None
    elif kind == "drag":
        await page_input.drag(tab.page, action)
    elif kind == "type":
        if action.point is not None:
            await tab.page.mouse.click(action.point.x, action.point.y)
        await tab.page.keyboard.type(action.text or "")
    elif kind == "press":
        if target is not None:
            with contextlib.suppress(FrameGone):
                await page_input.focus(target[0], target[0].nodes.get(target[1], 0))
        await page_input.press(tab.page, action)
    elif kind == "scroll":
        middle = Point(page.viewport.width / 2, page.viewport.height / 2)
        await page_input.scroll(tab.page, action, action.point or middle)
    elif kind == "select":
        return await _select(page, action)
    elif kind == "upload":
        frame, node = (target[0], target[0].nodes.get(target[1])) if target is not None else (None, None)
        await page_input.upload(tab.page, frame, node, action)
        return replace(action, files=tuple(Path(f).name for f in action.files))
    else:
        raise page_input.BadAction(f"a {kind} lacks what it needs: {action}")
    tab.pointer = action.end or action.point or tab.pointer
    return action


async def _select(page: AsyncPage, action: Action) -> Action:
    """Choose an option of the element or, where this page's last look does not know it, of what stands at the point."""
    tab = page.tab
    found = tab.find(action.element) if action.element is not None else None
    if found is None and action.point is not None:
        await tab.look(screenshot=False, ratio=page.device_pixel_ratio, verify=False)
        found = next((held for id in await tab.at(action.point) if (held := tab.find(id)) is not None), None)
    if found is None:
        raise page_input.BadAction("a select needs the element, or a point on it")
    value, label = await page_input.select(*found, action)
    return replace(action, value=value, text=label)
