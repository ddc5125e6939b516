"""MiniWoB++ over one live page: an episode is begun by seed without navigation, stepped by real input, scored by the page.

The pages are those of the PyPI package `miniwob` (the extra `miniwob`). Roles and names are Chromium's own, asked for
element by element in the page (`computedRole`, `computedName`), which costs a third of fetching the whole accessibility
tree; they are read again whenever the page changed in a way that they could depend on.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata import effects, image, native_lists
from cuadata.browsing import browser_find, engine, pacing, wire
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.browsing.serve import Server
from cuadata.episodes import miniwob_rows, registration
from cuadata.episodes.stage import TRIES, Judgement, element_of, refused, worth_another
from cuadata.episodes.terms import fold
from cuadata.errors import CallError, DataError
from cuadata.types import (
    Action,
    Condition,
    Element,
    Image,
    Observation,
    Point,
    Size,
    Step,
    Task,
)

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from cuadata.browsing.browsers import Give
    from cuadata.browsing.page_session import AsyncPage

#: Milliseconds that stand for no time limit, as BrowserGym sets them.
NO_LIMIT = 1_000_000
VIEWPORT, FLIGHT_VIEWPORT = Size(332, 214), Size(600, 700)
SCHEME = "miniwob:"
#: Actions whose input goes straight to the browser.
CLICKS = frozenset({"click", "double_click", "right_click"})
#: What would leave the page, and with it the score that it keeps: an actor could go to one that tells another.
LEAVING = frozenset({"navigate", "back", "forward", "reload"})
#: What is not of the task: the score board, whose clock would make every picture another, and the click marker.
HIDE = "#reward-display,#click-canvas{display:none!important}*{caret-color:transparent!important}"
#: Remembers which elements listen to the pointer; runs before the page's own scripts.
LISTEN = """(() => {
  const types = new Set(["click", "mousedown", "mouseup", "pointerdown", "dblclick", "touchstart"]);
  const held = (globalThis.cuadataListening = new WeakSet());
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (types.has(type) && this instanceof Element) held.add(this);
    return add.call(this, type, ...rest);
  };
})()"""
#: What makes a browser tell roles and names to the page, and lets itself be spoken to directly.
ARGUMENTS = ("--enable-blink-features=ComputedAccessibilityInfo", wire.ARGUMENT)
#: Of a browser that does not draw when told, whose pages are pictured in turn: a picture waits for a frame, and frames come
#: as they are wanted, not 60 a second. Many pages at once wait together; to them this would only cost processor time.
UNPACED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")


def arguments() -> tuple[str, ...]:
    """The command line of the browser that there is."""
    return (*ARGUMENTS, *(pacing.ARGUMENTS if pacing.possible() else ()))


def name_of(task: Task) -> str:
    """The MiniWoB++ name of a task; CallError where it is none of theirs."""
    if task.url is None or not task.url.startswith(SCHEME):
        raise CallError(f"task {task.id} is no MiniWoB++ task: its url is {task.url!r}")
    return task.url[len(SCHEME) :]


def viewport_of(name: str) -> Size:
    """The viewport that a task's page is laid out for, CSS px."""
    return FLIGHT_VIEWPORT if name.startswith("flight.") else VIEWPORT


@cache
def _script() -> str:
    return Path(__file__).with_name("miniwob.js").read_text(encoding="utf-8")


def folder() -> Path:
    """The folder of the pages. CallError where the package is not installed."""
    found = registration.miniwob_folder()
    if found is None:
        raise CallError("MiniWoB++ is not installed; `pip install 'cuadata[miniwob]'` brings its pages")
    return found


class MiniWobStage:
    """A stage that stays on one page of MiniWoB++ and begins its episodes by seed.

    `time_limit` is the episode's length in seconds: None for none, "page" for the page's own. `mode` is the page's data
    mode (train or test). `screenshot` takes a picture with every observation.
    """

    def __init__(
        self,
        *,
        screenshot: bool = False,
        effect: bool = True,
        browser: Give | None = None,
        ratio: float | None = None,
        time_limit: float | str | None = None,
        mode: str = "train",
    ) -> None:
        self.screenshot, self.effect, self.mode = screenshot, effect, mode
        self.ratio = ratio or 1.0
        self.browser = ""
        self.name = ""
        self._given, self._limit = browser, time_limit
        self._page: AsyncPage | None = None
        self._server: Server | None = None
        self._wire: wire.Wire | None = None
        self._pacer: pacing.Pacer | None = None
        self._scrolls = False
        self._judged: Judgement | None = None

    async def begin(self, task: Task) -> tuple[Task, Observation]:
        """Begin the episode of the task's seed; the task comes back with the page's instruction."""
        name = name_of(task)
        for attempt in range(TRIES):
            try:
                if self._page is None or name != self.name:
                    await self.close()
                    await self._open(name)
                return await self._begin(task)
            except Exception as error:
                await self.close()
                if not await worth_another(attempt, error):
                    raise DataError(f"the page did not begin: {error}", place=task.id) from error
        raise AssertionError

    async def _open(self, name: str) -> None:
        place = f"{name.replace('.', '/')}/wrapper.html" if name.startswith("flight.") else f"miniwob/{name}.html"
        if not (folder() / place).is_file():
            raise CallError(f"MiniWoB++ has no task '{name}'; `cuadata list families` names them")
        self._server = Server(folder())
        port = self._server.port
        address = f"{self._server.address}/{place}"
        paced = pacing.possible()
        more = UNPACED if self.screenshot and not paced else ()
        browser = await (self._given() if self._given else _browser(*more))
        self._page = await engine.engine()[1].page(
            "about:blank",
            viewport=viewport_of(name),
            device_pixel_ratio=self.ratio,
            headed=False,
            reach=(f"127.0.0.1:{port}", f"localhost:{port}"),
            browser=browser,
            paced=paced,
        )
        self.browser, self.name = self._page.browser, name
        await self._page.context.add_init_script(LISTEN)
        if paced:
            await self._page.context.add_init_script(pacing.SCRIPT)
        await self._page.goto(address, watch=False)
        await self._page.tab.enter()
        assert self._page.tab.session is not None
        self._wire = await wire.opened(browser, self._page.tab.session)
        if paced:
            self._pacer = pacing.Pacer(self._wire, pacing.turn(browser))
            await self._pacer.begin()
        await self._page.tab.page.add_style_tag(content=HIDE)
        # Once it was asked for, the tree is kept between two questions, and is not built anew for each of them;
        # the browser's own switch would send it about as well.
        await self._wire.send("Accessibility.enable")
        await self._wire.send("Accessibility.getRootAXNode")
        await self._evaluate(_script() + ";0")

    async def _begin(self, task: Task) -> tuple[Task, Observation]:
        limit = (
            "null"
            if self._limit == "page"
            else json.dumps(NO_LIMIT if self._limit is None else float(self._limit) * 1000)
        )
        state = await self._look(f"cuadataMiniwob.begin({task.seed}, {limit}, {json.dumps(self.mode)})")
        said = state["utterance"]
        state = await self._complete(state, begun=True)
        if not state["ready"]:
            raise DataError("the page did not get ready within 2 s", place=task.id)
        words = said["utterance"] if isinstance(said, dict) else said
        self._judged = None
        return replace(task, instruction=str(words)), await self._observation(state)

    async def act(self, action: Action, before: Observation) -> Step:
        """Do one action with real input; the page is read at once, as the package's own environment does."""
        if action.type in LEAVING:
            return refused(
                action, before, f"action_failed: a page of MiniWoB++ is never left; it takes no {action.type}"
            )
        began = time.time()
        action = native_lists.chosen(action, before.elements)
        target = element_of(before, action.element)
        error = None
        if action.element is not None and target is None:
            error = f"target_stale: element {action.element} is not on the page"
        elif action.type == "select":
            with self._hurried():
                action, error = await self._choose(action, target, before)
        elif action.point is None and target is not None:
            if target.point is None:
                error = f"target_occluded: no point of element {target.id} takes a click"
            else:
                action = replace(action, point=target.point)
        if error is None and action.type != "select":
            error = await self._input(action)
        after = await self._after()
        effect = None
        if self.effect:
            effect = effects.compare(
                before.screenshot, after.screenshot, point=action.point, state_before=before, state_after=after
            )
        return Step(
            index=0, time=max(began, before.time + 1e-6), observation=before, action=action, target=target, after=after,
            effect=effect, error=error,
        )  # fmt: skip

    async def _input(self, action: Action) -> str | None:
        """Real input: clicks directly, all else as on any page. An error text, or None where it went through."""
        if action.type not in CLICKS or action.point is None or action.modifiers:
            with self._hurried():
                return await self.page.input(action)
        if self._pacer is not None and self._scrolls:
            # What an input brings into view moves with the next frame; the input after it has to meet it there.
            await self._pacer.fresh()
        limit = self.page.limit * 3
        button = "right" if action.type == "right_click" else "left"
        try:
            await self._line.click(
                action.point, button=button, count=2 if action.type == "double_click" else 1, limit=limit
            )
        except Stuck as error:
            freed = await self.page.tab.free()
            words = "a script ran without end and was stopped" if freed else "the page does not answer"
            return f"action_failed: {error}: {words}"
        except FrameGone as error:
            return f"action_failed: {error}"
        return None

    async def _choose(self, action: Action, target: Element | None, before: Observation) -> tuple[Action, str | None]:
        """Choose an option of a list by its label; one that takes several keeps those that are chosen already."""
        if target is None or target.tag != "select":
            return action, "action_failed: a select needs an element that is a list"
        held = native_lists.options(before.elements, target)
        wanted = fold(action.text or action.value or "")
        found = next((e for e in held if not e.states.disabled and wanted in (fold(e.name), fold(e.text))), None)
        if found is None:
            names = ", ".join(e.name or e.text for e in held[:20])
            return action, f"action_failed: there is no such option; there are: {names}"
        also = [e.text for e in held if e.states.selected] if target.role == "listbox" else []
        await self.page.tab.page.select_option(target.locator.css, label=[*also, found.text], timeout=5000)
        return replace(action, text=found.text), None

    async def judge(self) -> Judgement | None:
        """The page's own score as of the last look."""
        return self._judged

    async def scripts(self, conditions: tuple[Condition, ...]) -> dict[str, Any]:
        """Nothing: these tasks have no conditions."""
        return {}

    async def close(self) -> None:
        """Close the page and its server; never raises."""
        page, self._page = self._page, None
        server, self._server = self._server, None
        line, self._wire = self._wire, None
        pacer, self._pacer = self._pacer, None
        if pacer is not None:
            pacer.close()
        if line is not None:
            line.close()
        if page is not None:
            await page.close()
        if server is not None:
            server.close()

    @property
    def page(self) -> AsyncPage:
        """The page; ValueError before the first episode."""
        if self._page is None:
            raise ValueError("no episode has begun; call reset first")
        return self._page

    @property
    def _line(self) -> wire.Wire:
        if self._wire is None:
            raise ValueError("no episode has begun; call reset first")
        return self._wire

    def _hurried(self) -> contextlib.AbstractContextManager[None]:
        """Frames without pause, for input that waits for them."""
        return self._pacer.hurried() if self._pacer is not None else contextlib.nullcontext()

    async def _evaluate(self, script: str) -> Any:
        told = await self._line.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise DataError(f"the page's script failed: {told['exceptionDetails'].get('text')}", place=self.name)
        return told["result"].get("value")

    async def _look(self, script: str) -> dict[str, Any]:
        """The page's state now, and its score."""
        state: dict[str, Any] = wire.parsed(await self._evaluate(script))
        if self._pacer is not None:
            self._pacer.used(state["moves"])
        self._scrolls = state["scrolls"]
        self._judged = Judgement(
            done=state["done"],
            raw=float(state["raw"]),
            exact=state["done"] and float(state["raw"]) == 1.0,
            default=state["done"] and float(state["raw"]) > 0,
            decayed=float(state["decayed"]),
            reason=state["reason"],
        )
        return state

    async def _complete(self, state: dict[str, Any], *, begun: bool = False) -> dict[str, Any]:
        """The state once its pictures have come (`begun`: and the page is ready), or after 2 s as it is then."""
        end = time.monotonic() + 2
        while state["loading"] or (begun and not state["ready"]):
            if time.monotonic() > end:
                return await self._look("cuadataMiniwob.hurry()")
            await asyncio.sleep(0.005)
            state = await self._look("cuadataMiniwob.look()")
        return state

    async def _after(self) -> Observation:
        """What an input has made of the page; a picture that is drawn when it is asked for is drawn meanwhile."""
        shot = asyncio.ensure_future(self._shoot()) if self.screenshot and self._pacer is not None else None
        try:
            state = await self._look("cuadataMiniwob.look()")
            late = await self._look("cuadataMiniwob.later()") if state["list"] else state
            whole = await self._complete(late)
            return await self._observation(whole, await shot if shot is not None and whole is state else None)
        finally:
            if shot is not None:
                shot.cancel()

    async def _observation(self, state: dict[str, Any], shot: Image | None = None) -> Observation:
        if self.screenshot and shot is None:
            shot = await self._shoot()
        return Observation(
            screenshot=shot,
            viewport=Size(state["width"], state["height"]),
            device_pixel_ratio=self.ratio,
            url=state["url"],
            title=state["title"],
            time=time.time(),
            scroll=Point(state["x"], state["y"]),
            elements=tuple(miniwob_rows.element(row, state["focused"]) for row in state["rows"]),
            focused=state["focused"],
        )

    async def _shoot(self) -> Image:
        options: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if self._pacer is not None and self.ratio == 1:  # a frame's own picture has one px for each of CSS
            return image.from_bytes(base64.b64decode(await self._pacer.picture(**options)), phash=False)
        size = viewport_of(self.name)
        if self.ratio != 1:
            options["clip"] = {"x": 0, "y": 0, "width": size.width, "height": size.height, "scale": self.ratio}
        with self._hurried():
            told = await self._line.send("Page.captureScreenshot", **options)
        return image.from_bytes(base64.b64decode(told["data"]), phash=False)


async def _browser(*more: str) -> Browser:
    found = browser_find.find(headed=False)
    # With scroll bars, as the package's own environment has them: lines of text break where it breaks them.
    return await engine.engine()[1].browser(found, headed=False, arguments=(*arguments(), *more), scroll_bars=True)
