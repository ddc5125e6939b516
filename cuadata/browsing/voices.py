"""A script of ours in every document of a page, in an isolated world, that speaks to us through a binding of that world.

No page can see, stop or forge it. It is in each document before the page's own scripts; in a frame of another site's process
as soon as that is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from cuadata.browsing import frames
from cuadata.browsing.frames import FrameGone, send
from cuadata.browsing.loop import Stuck
from cuadata.browsing.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

BINDING = "cuadataHear"


class Voices:
    """The voices of the documents of one page. `on_message(tab, frame id, message)`; `script`: what runs in each."""

    def __init__(self, tab: Tab, script: str, on_message: Callable[[Tab, str, dict[str, Any]], None]) -> None:
        self.tab = tab
        self._script = script
        self._on_message = on_message
        self._open: set[CDPSession] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def begin(self) -> CDPSession:
        """Begin to hear; the page's debugger session is opened, and returned."""
        self.tab.attended = True
        await self.tab.enter()
        session = self.tab.session
        assert session is not None
        await self._listen(session)
        for event in ("frameattached", "framenavigated"):
            self.tab.page.on(event, lambda _: self.later(self.reach()))
        return session

    async def reach(self) -> None:
        """Hear frames that live in processes of their own."""
        if self.tab.frames is None or self.tab.closed:
            return
        with contextlib.suppress(FrameGone, Stuck):
            await self.tab.frames.read()
            for session in self.tab.frames.sessions:
                await self._listen(session)

    def later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something; an error in it ends nothing else."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that nobody complains that nobody did

    async def _listen(self, session: CDPSession) -> None:
        if session in self._open:
            return
        self._open.add(session)
        contexts: dict[int, str] = {}

        def made(told: dict[str, Any]) -> None:
            context = told["context"]
            if context.get("name") == frames.WORLD:
                contexts[context["id"]] = context["auxData"]["frameId"]
                if len(contexts) > 2000:
                    contexts.pop(next(iter(contexts)))

        def heard(told: dict[str, Any]) -> None:
            frame = contexts.get(told["executionContextId"])
            if told["name"] == BINDING and frame is not None:
                self._on_message(self.tab, frame, json.loads(told["payload"]))

        session.on("Runtime.executionContextCreated", lambda told: self._guarded(made, told))
        session.on("Runtime.bindingCalled", lambda told: self._guarded(heard, told))
        await send(session, "Runtime.enable")
        await send(session, "Runtime.addBinding", name=BINDING, executionContextName=frames.WORLD)
        await send(
            session,
            "Page.addScriptToEvaluateOnNewDocument",
            source=self._script,
            worldName=frames.WORLD,
            runImmediately=True,
        )

    @staticmethod
    def _guarded(work: Callable[..., None], *arguments: Any) -> None:
        # An exception that leaves a listener of Playwright's is raised again by the next call of something else.
        with contextlib.suppress(KeyError, TypeError, ValueError):
            work(*arguments)
