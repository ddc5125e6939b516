"""The documents of one page, each with an isolated world that holds our script.

A frame of another site may live in another process with a debugger session of its own; the others share their parent's.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from cuadata.browsing.ax import Tree
from cuadata.browsing.loop import Stuck

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

WORLD = "cuadata"
SCRIPTS = (
    "page.js",
    "page_boxes.js",
    "page_places.js",
    "page_generated.js",
    "page_scene.js",
    "page_alike.js",
    "page_paint.js",
    "page_contrast.js",
    "page_evidence.js",
    "page_tools.js",
)
#: Ask for the browser's number of every node of an array, not for what the nodes hold.
NUMBERS = {
    "serialization": "deep",
    "maxDepth": 2,
    "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
}


#: Seconds that a frame in another process may take to answer, and for which one that did not is left alone.
PATIENCE, DEAF = 3.0, 10.0


class FrameGone(RuntimeError):
    """The document is no longer there: it navigated away, was removed, or its process ended."""


@cache
def script() -> str:
    """Our script, as it runs in every isolated world."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text() for name in SCRIPTS)


async def send(session: CDPSession, method: str, limit: float = 5.0, **parameters: Any) -> dict[str, Any]:
    """One call to the debugger. Stuck after `limit` seconds; FrameGone where its object is no more."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(limit):
            return dict(await _ask(session, method, parameters) or {})
    except TimeoutError:
        raise Stuck(f"{method} did not answer within {limit:g} s") from None
    except Error as error:
        raise FrameGone(f"{method}: {error}") from error


async def _ask(session: CDPSession, method: str, parameters: dict[str, Any]) -> dict[str, Any] | None:
    """An answer of the debugger as Playwright received it.

    Its public face looks through every value of an answer for objects of its own, which an answer of the debugger never
    holds: of the accessibility tree of a dashboard that is tens of thousands of calls, a fifth of what a recorded step costs.
    So the session inside is asked where it takes what all its versions took, and the public one where it does not.
    """
    inner: Any = getattr(session, "_impl_obj", None)
    rest = _TIMES_OUT.get(_parameters(cast("Hashable", type(inner))))
    answer = await (session.send(method, parameters) if rest is None else inner.send(method, parameters, *rest))
    return cast("dict[str, Any] | None", answer)


#: What follows method and parameters in a call of the session inside, by the names that it takes.
_TIMES_OUT = {("self", "method", "params"): (), ("self", "method", "params", "timeout"): (None,)}


@cache
def _parameters(kind: Hashable) -> tuple[str, ...]:
    sends = getattr(kind, "send", None)
    return () if sends is None else tuple(inspect.signature(sends).parameters)


@dataclass(slots=True, eq=False)
class Frame:
    """One document of the page."""

    id: str
    session: CDPSession
    document: str
    url: str
    parent: Frame | None = None
    world: int | None = None
    handle: str | None = None
    owner: int | None = None
    nodes: dict[int, int] = field(default_factory=dict)
    listening: set[int] = field(default_factory=set)
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    generation: int = -1
    born: Annotated[float | None, "when its document began, ms since the epoch; None before it was asked"] = None
    built: dict[int, Any] = field(default_factory=dict)
    tree: Tree = field(default_factory=Tree)
    tree_key: str = "never"
    stopped: bool = False
    restless: bool = False
    awaited: bool = False

    async def evaluate(self, expression: str, limit: float = 5.0, **options: Any) -> dict[str, Any]:
        """`Runtime.evaluate` in our world, which is made where it is missing. FrameGone, Stuck or ValueError."""
        if self.world is None:
            await self._enter(limit)
        try:
            answer = await send(
                self.session, "Runtime.evaluate", limit, expression=expression, contextId=self.world, **options
            )
        except FrameGone:
            self.world = None
            raise
        failed = answer.get("exceptionDetails")
        if failed:
            words = failed.get("exception", {}).get("description") or failed.get("text")
            raise ValueError(f"our script failed in {self.url}: {words}")
        return dict(answer["result"])

    async def value(self, expression: str, limit: float = 5.0, *, wait: bool = False) -> Any:
        """The value of an expression in our world."""
        result = await self.evaluate(expression, limit, returnByValue=True, awaitPromise=wait)
        return result.get("value")

    async def told(self, expression: str, limit: float = 5.0, *, wait: bool = False) -> Any:
        """The value of an expression that gives JSON text, or a promise of it (`wait`)."""
        return json.loads(await self.value(expression, limit, wait=wait))

    async def new_nodes(self, serials: list[int], limit: float = 5.0) -> list[tuple[int, int]]:
        """Learn the node numbers of new elements; (host, root) node numbers of closed shadow roots found on the way."""
        if not serials:
            return []
        asked = self.evaluate("cuadata.fresh()", limit, serializationOptions=NUMBERS, objectGroup=self._handles)
        result, _ = await asyncio.gather(asked, self.let_go(limit))  # in this order; the numbers need no handles
        closed: list[tuple[int, int]] = []
        numbers: list[int] = []
        for item in result.get("deepSerializedValue", {}).get("value", ()):
            value = item.get("value", {})
            numbers.append(int(value.get("backendNodeId", 0)))
            shadow = (value.get("shadowRoot") or {}).get("value", {})
            if shadow.get("mode") == "closed":
                closed.append((numbers[-1], int(shadow["backendNodeId"])))
        self.nodes.update({s: n for s, n in zip(serials, numbers, strict=True) if s})
        return closed

    async def root(self, limit: float = 5.0) -> str:
        """A handle on the document in the page's own world, asked for once.

        Asked through a handle of our world for listeners behind shadow roots, Chromium 156 ends with a segmentation fault
        on pages that put nodes with listeners in and out.
        """
        if self.handle is None:
            told = await send(self.session, "Runtime.evaluate", limit, expression="document")
            self.handle = str(told["result"]["objectId"])
        return self.handle

    async def roots(self, limit: float = 5.0) -> list[str]:
        """Handles on the document and on the shadow roots in it, in the page's own world, until `let_go`.

        Asked through handles of our world, the browser tells of our own listeners alone.
        """
        result = await self.evaluate(
            "cuadata.rootsNow()", limit, serializationOptions=NUMBERS, objectGroup=self._handles
        )
        numbers = [int(one["value"]["backendNodeId"]) for one in result["deepSerializedValue"]["value"]]
        asks = (
            send(self.session, "DOM.resolveNode", limit, backendNodeId=number, objectGroup=self._handles)
            for number in numbers
        )
        return [str(one["object"]["objectId"]) for one in await asyncio.gather(*asks)]

    async def object_of(self, node: int, limit: float = 5.0) -> str:
        """A handle on a node in our world, good for the next `call`."""
        held = await send(
            self.session, "DOM.resolveNode", limit, backendNodeId=node, executionContextId=self.world or 0,
            objectGroup=self._handles,
        )  # fmt: skip
        return str(held["object"]["objectId"])

    async def call(self, function: str, objects: list[str], limit: float = 5.0) -> Any:
        """Call a function of our world with handles, which are given back then."""
        answer = await send(
            self.session,
            "Runtime.callFunctionOn",
            limit,
            functionDeclaration=function,
            executionContextId=self.world or 0,
            arguments=[{"objectId": one} for one in objects],
            returnByValue=True,
        )
        await self.let_go(limit)
        return answer.get("result", {}).get("value")

    @property
    def _handles(self) -> str:
        """Name of this document's handles on nodes."""
        return f"{WORLD}-{self.id}"

    async def let_go(self, limit: float) -> None:
        """Give the handles on nodes back: what the browser gave one for stays in its memory when the page drops it."""
        await send(self.session, "Runtime.releaseObjectGroup", limit, objectGroup=self._handles)

    async def _enter(self, limit: float) -> None:
        made = await send(self.session, "Page.createIsolatedWorld", limit, frameId=self.id, worldName=WORLD)
        world = int(made["executionContextId"])
        expression = script() + ";performance.timeOrigin"
        told = await send(self.session, "Runtime.evaluate", limit, expression=expression, contextId=world)
        born = told["result"].get("value")
        if self.born not in (None, born):
            raise FrameGone(f"{self.url[:120]} has left; another document stands in its frame")
        self.world, self.born = world, born


class Frames:
    """Keeps track of the documents of a page over time."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page = page
        self.session = session
        self._held: dict[str, Frame] = {}
        self._others: dict[Any, CDPSession | None] = {}
        self._tried: dict[Any, str] = {}
        self._deaf: dict[Any, float] = {}
        self._top: Frame | None = None

    async def read(self, limit: float = 5.0) -> list[Frame]:
        """The documents there are now, parents before children; a document seen before is the same object."""
        found: list[Frame] = []
        await self._read_session(self.session, None, found, limit)
        self._top = found[0]
        for more in await asyncio.gather(*(self._read_other(*one, limit) for one in await self._separate(len(found)))):
            found += more
        kept = {f.id for f in found}
        self._held = {key: f for key, f in self._held.items() if key in kept}
        await asyncio.gather(*(self._find_owner(f, found, limit) for f in found[1:]), return_exceptions=True)
        return found

    async def _read_other(self, frame: Any, session: CDPSession, limit: float) -> list[Frame]:
        """The documents in another process; none where that does not answer, which is not waited for again at once."""
        found: list[Frame] = []
        if time.monotonic() < self._deaf.get(frame, 0.0):
            return found
        try:
            await self._read_session(session, None, found, min(limit, PATIENCE))
            self._deaf.pop(frame, None)
        except FrameGone:
            self._others.pop(frame, None)
            self._tried.pop(frame, None)
        except Stuck:
            self._deaf[frame] = time.monotonic() + DEAF
        return found

    @property
    def unheard(self) -> list[str]:
        """Addresses of frames in other processes that do not answer."""
        return [frame.url for frame in self.page.frames[1:] if frame in self._deaf]

    def deafen(self, frame: Frame) -> None:
        """Do not ask a frame in another process again at once: it did not answer."""
        for other, session in self._others.items():
            if session is frame.session is not self.session:
                self._deaf[other] = time.monotonic() + DEAF

    def held(self, id: str) -> Frame | None:
        """The document last seen in the frame of this id; None where it was not read yet."""
        return self._held.get(id)

    @property
    def sessions(self) -> list[CDPSession]:
        """The debugger sessions of the page: its own, then those of frames in processes of their own."""
        return [self.session, *(s for s in self._others.values() if s is not None)]

    async def top(self, limit: float = 5.0) -> Frame:
        """The main document, without a look at the frames in it; asked for only where it may be another."""
        if self._top is not None and self._top.world is not None:
            return self._top
        found: list[Frame] = []
        await self._read_session(self.session, None, found, limit)
        return found[0]

    async def _read_session(self, session: CDPSession, parent: Frame | None, found: list[Frame], limit: float) -> None:
        tree = (await send(session, "Page.getFrameTree", limit))["frameTree"]
        stack: list[tuple[dict[str, Any], Frame | None]] = [(tree, parent)]
        while stack:
            branch, above = stack.pop()
            told = branch["frame"]
            frame = self._held.get(told["id"])
            if frame is None or frame.document != told["loaderId"] or frame.session is not session:
                frame = Frame(id=told["id"], session=session, document=told["loaderId"], url=told["url"])
                self._held[told["id"]] = frame
            frame.url = told["url"]
            frame.parent = above
            found.append(frame)
            stack += [(kid, frame) for kid in reversed(branch.get("childFrames", ()))]

    async def _separate(self, local: int) -> list[tuple[Any, CDPSession]]:
        """Sessions of frames that live in processes of their own; nothing is asked where every frame is local."""
        from playwright.async_api import Error

        frames = self.page.frames[1:]
        if len(frames) + 1 <= local:
            return []
        for frame in frames:
            if self._tried.get(frame) == frame.url:
                continue
            self._tried[frame] = frame.url
            self._deaf.pop(frame, None)
            try:
                async with asyncio.timeout(2):
                    self._others[frame] = await self.page.context.new_cdp_session(frame)
            except (
                Error,
                TimeoutError,
            ):  # It has no session of its own, or is gone: both mean that there is nothing to ask.
                self._others[frame] = None
        return [(f, s) for f in frames if (s := self._others.get(f)) is not None]

    async def _find_owner(self, frame: Frame, found: list[Frame], limit: float) -> None:
        """The node of the iframe that holds this frame, in the parent's process."""
        if frame.parent is not None and frame.owner is None:
            frame.owner = int(
                (await send(frame.session, "DOM.getFrameOwner", limit, frameId=frame.id))["backendNodeId"]
            )
            return
        if frame.parent is not None:
            return
        for session in dict.fromkeys(f.session for f in found if f.session is not frame.session):
            try:
                frame.owner = int((await send(session, "DOM.getFrameOwner", limit, frameId=frame.id))["backendNodeId"])
            except FrameGone:
                continue
            frame.parent = next((f for f in found if f.session is session and frame.owner in f.nodes.values()), None)
            if frame.parent is None:
                frame.parent = next(f for f in found if f.session is session)
            return
