"""MiniWoB++ over one live page: an episode is begun by seed without navigation, stepped by real input, scored by the page.

The pages are those of the PyPI package `miniwob` (the extra `miniwob`). Names, roles and states come from Chromium's own
accessibility tree, which is read when an episode begins and again whenever the page changed in a way that a name could
depend on; between that only what no change of the document tells is read: ticks, values, focus, places.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata import ax, effects, engine, image, registration
from cuadata.errors import CallError, DataError
from cuadata.serve import Server
from cuadata.stage import Judgement, element_of
from cuadata.types import (
    Action,
    Attribute,
    BBox,
    Condition,
    Element,
    Evidence,
    Image,
    Locator,
    Observation,
    Point,
    Size,
    Step,
    Task,
)

if TYPE_CHECKING:
    from cuadata.browsers import Give
    from cuadata.page_session import AsyncPage

#: Milliseconds that stand for no time limit, as BrowserGym sets them.
NO_LIMIT = 1_000_000
VIEWPORT, FLIGHT_VIEWPORT = Size(332, 214), Size(600, 700)
SCHEME = "miniwob:"
#: What is not of the task: the score board, whose clock would make every picture another, and the click marker.
HIDE = "#reward-display,#click-canvas{visibility:hidden!important}*{caret-color:transparent!important}"
SHAPES = frozenset(["circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "text"])
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
_DEEP = {
    "serialization": "deep",
    "maxDepth": 1,
    "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
}


@dataclass(frozen=True, slots=True)
class Known:
    """What does not change about an element while it lives."""

    node: int
    tag: str
    locator: Locator
    attributes: tuple[Attribute, ...]
    interactive: bool


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
        self._reader = Reader()
        self._judged: Judgement | None = None

    async def begin(self, task: Task) -> tuple[Task, Observation]:
        """Begin the episode of the task's seed; the task comes back with the page's instruction."""
        name = name_of(task)
        for attempt in (0, 1):
            try:
                if self._page is None or name != self.name:
                    await self.close()
                    await self._open(name)
                return await self._begin(task)
            except Exception as error:
                await self.close()
                if attempt:
                    raise DataError(f"the page did not begin: {error}", place=task.id) from error
        raise AssertionError

    async def _open(self, name: str) -> None:
        place = f"{name.replace('.', '/')}/wrapper.html" if name.startswith("flight.") else f"miniwob/{name}.html"
        if not (folder() / place).is_file():
            raise CallError(f"MiniWoB++ has no task '{name}'; `cuadata list families` names them")
        self._server = Server(folder())
        port = self._server.port
        address = f"{self._server.address}/{place}"
        self._page = await engine.engine()[1].page(
            "about:blank",
            viewport=viewport_of(name),
            device_pixel_ratio=self.ratio,
            headed=False,
            reach=(f"127.0.0.1:{port}", f"localhost:{port}"),
            browser=await self._given() if self._given else None,
        )
        self.browser, self.name = self._page.browser, name
        await self._page.context.add_init_script(LISTEN)
        await self._page.goto(address)
        await self._page.tab.enter()
        await self._page.tab.page.add_style_tag(content=HIDE)
        await self._evaluate(_script() + ";0")

    async def _begin(self, task: Task) -> tuple[Task, Observation]:
        limit = (
            "null"
            if self._limit == "page"
            else json.dumps(NO_LIMIT if self._limit is None else float(self._limit) * 1000)
        )
        self._reader.forget()
        state = await self._look(f"cuadataMiniwob.begin({task.seed}, {limit}, {json.dumps(self.mode)})", names=True)
        for _ in range(100):
            if state["ready"]:
                break
            await asyncio.sleep(0.02)
            state = {**await self._look("cuadataMiniwob.look()"), "utterance": state["utterance"]}
        else:
            raise DataError("the page did not get ready within 2 s", place=task.id)
        said = state["utterance"]
        words = said["utterance"] if isinstance(said, dict) else said
        self._judged = None
        return replace(task, instruction=str(words)), await self._observation(state)

    async def act(self, action: Action, before: Observation) -> Step:
        """Do one action with real input; the page is read at once, as the package's own environment does."""
        page = self.page
        began = time.time()
        target = element_of(before, action.element)
        error = None
        if action.element is not None and target is None:
            error = f"target_stale: element {action.element} is not on the page"
        elif action.point is None and target is not None:
            if target.point is None:
                error = f"target_occluded: no point of element {target.id} takes a click"
            else:
                action = replace(action, point=target.point)
        if error is None:
            error = await page.input(action)
        after = await self._observation(await self._look("cuadataMiniwob.look()"))
        effect = None
        if self.effect:
            effect = effects.compare(
                before.screenshot, after.screenshot, point=action.point, state_before=before, state_after=after
            )
        return Step(
            index=0, time=max(began, before.time + 1e-6), observation=before, action=action, target=target, after=after,
            effect=effect, error=error,
        )  # fmt: skip

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

    async def _evaluate(self, script: str, **options: Any) -> dict[str, Any]:
        session = self.page.tab.session
        assert session is not None
        async with asyncio.timeout(10):
            told = await session.send("Runtime.evaluate", {"expression": script, **options})
        if "exceptionDetails" in told:
            raise DataError(f"the page's script failed: {told['exceptionDetails'].get('text')}", place=self.name)
        return dict(told["result"])

    async def _tree(self) -> dict[int, ax.Named]:
        session = self.page.tab.session
        assert session is not None
        async with asyncio.timeout(20):
            return ax.by_node((await session.send("Accessibility.getFullAXTree"))["nodes"])

    async def _look(self, script: str, *, names: bool = False) -> dict[str, Any]:
        """The page's state now; `names` asks for the accessibility tree at once instead of when it proves needed."""
        asked = asyncio.ensure_future(self._tree()) if names else None
        told = await self._evaluate(script, serializationOptions=_DEEP)
        text, *nodes = told["deepSerializedValue"]["value"]
        state: dict[str, Any] = json.loads(text["value"])
        self._reader.learn(state, [int(node["value"]["backendNodeId"]) for node in nodes])
        if asked is not None or self._reader.stale(state):
            self._reader.name(state, await (asked or self._tree()))
        self._judged = Judgement(
            done=state["done"],
            raw=float(state["raw"]),
            exact=state["done"] and float(state["raw"]) == 1.0,
            default=state["done"] and float(state["raw"]) > 0,
            decayed=float(state["decayed"]),
            reason=state["reason"],
        )
        return state

    async def _observation(self, state: dict[str, Any]) -> Observation:
        shot = await self._shoot() if self.screenshot else None
        return Observation(
            screenshot=shot,
            viewport=Size(state["width"], state["height"]),
            device_pixel_ratio=self.ratio,
            url=state["url"],
            title=state["title"],
            time=time.time(),
            scroll=Point(state["x"], state["y"]),
            elements=self._reader.elements(state),
            focused=state["focused"],
        )

    async def _shoot(self) -> Image:
        session, size = self.page.tab.session, viewport_of(self.name)
        assert session is not None
        options: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if self.ratio != 1:
            options["clip"] = {"x": 0, "y": 0, "width": size.width, "height": size.height, "scale": self.ratio}
        async with asyncio.timeout(10):
            told = await session.send("Page.captureScreenshot", options)
        return image.from_bytes(base64.b64decode(told["data"]), phash=False)


class Reader:
    """Turns what the page's script tells into elements, with the names of the accessibility tree."""

    def __init__(self) -> None:
        self._known: dict[int, Known] = {}
        self._named: dict[int, ax.Named] = {}
        self._version = -1

    def forget(self) -> None:
        """A new episode: numbers begin again."""
        self._known.clear()
        self._named.clear()
        self._version = -1

    def learn(self, state: dict[str, Any], nodes: list[int]) -> None:
        """Elements that were told for the first time."""
        for node, (tag, css, fill, interactive) in zip(nodes, state["fresh"], strict=True):
            attributes = (Attribute("fill", fill),) if fill else ()
            self._known[len(self._known) + 1] = Known(node, tag, Locator(css=css), attributes, bool(interactive))

    def stale(self, state: dict[str, Any]) -> bool:
        """Whether the tree has to be read again: the page changed, or an element is new."""
        return state["version"] != self._version or any(row[0] not in self._named for row in state["rows"])

    def name(self, state: dict[str, Any], tree: dict[int, ax.Named]) -> None:
        """Take the names of a fresh tree."""
        bare = ax.Named("none", "")
        self._named = {number: tree.get(known.node, bare) for number, known in self._known.items()}
        self._version = state["version"]

    def elements(self, state: dict[str, Any]) -> tuple[Element, ...]:
        """The elements in document order."""
        return tuple(self._element(row, state["focused"]) for row in state["rows"])

    def _element(self, row: list[Any], focused: int | None) -> Element:
        number, x, y, width, height, point, checked, value, disabled, selected, text = row
        known, named = self._known[number], self._named[number]
        states = replace(
            named.states,
            checked=named.states.checked if checked is None else checked,
            value=named.states.value if value is None else value or None,
            disabled=named.states.disabled or disabled,
            selected=named.states.selected if selected is None else selected,
            focused=number == focused,
        )
        reached = point is not None
        return Element(
            id=number,
            # A line or path of a drawing is nothing to the accessibility tree; its tag says more than "none".
            role=named.role if named.role not in ("", "none") else known.tag if known.tag in SHAPES else "none",
            name=named.name,
            text=text,
            tag=known.tag,
            attributes=known.attributes,
            bbox=BBox(x, y, width, height),
            point=Point(*point) if reached else None,
            seen=float(reached),
            hit=float(reached),
            states=states,
            locator=known.locator,
            interactive=known.interactive,
            evidence=Evidence(in_viewport=float(reached)),
        )
