"""One session of a person at a page: hears them, looks at the page whenever it has changed, and has the steps written."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cuadata import privacy, recording
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.browsing.tab import Tab
from cuadata.errors import DiskError
from cuadata.masking.fields import Seen, with_masks
from cuadata.masking.secrets import Secrets
from cuadata.people.browser_acts import BrowserActs
from cuadata.people.gestures import Gestures
from cuadata.people.heard import Gesture, Heard
from cuadata.people.person_ears import Ears
from cuadata.people.person_moments import Moment, look_back
from cuadata.people.person_steps import Draft, Steps
from cuadata.types import Outcome, Point

if TYPE_CHECKING:
    from playwright.async_api import Page as Tabbed

    from cuadata.browsing.page_session import AsyncPage

#: What begins a gesture: it brings what stood before it.
BEGINS = frozenset(("down", "key", "entering", "wheel", "choose", "files", "set"))
#: Seconds that a step waits for a later effect, and to be taken back, before it is written.
LINGER = 1.5
#: A page that goes on changing is looked at no more often than this, seconds.
RESTLESS = 1.0


class Session:
    """Runs on the browser's loop; `cuadata.people.person.Person` is the face for other threads."""

    def __init__(self, page: AsyncPage, writer: recording.Writer, instruction: str) -> None:
        self.page = page
        self.instruction = instruction
        self.secrets = Secrets()
        self.steps = Steps(writer, self.secrets)
        self.gestures = Gestures()
        self.paused = False
        self.ended = False
        self.failed: DiskError | None = None  # why nothing more can be written
        self.thought: str | None = None
        self.notes: list[str] = []
        self._ears: dict[int, Ears] = {}
        self._acts = BrowserActs(self)
        self._current: dict[int, Seen] = {}
        self._recent: deque[Seen] = deque(maxlen=8)
        self._looked: tuple[Seen, float, int] | None = None
        self._inputs = 0
        self.last_input = 0.0
        self._since = time.monotonic()
        self._stale = True
        self._looks = 0
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()
        self._work: asyncio.Task[None] | None = None

    # --- beginning and ending ---------------------------------------------------------------------------------------

    async def begin(self, address: str) -> None:
        """Hear the page from its first document on, and go to the address."""
        await self._attend(self.page.tab)
        self.page.context.on("page", self._on_page)
        await self.page.goto(address)
        self._acts.arrived(self.page.tab)
        self._stale = True
        await self._look()
        self._work = asyncio.ensure_future(self._attend_always())

    @property
    def over(self) -> bool:
        """Whether there is nothing left to hear."""
        return self.ended or self.failed is not None or self.page.windows.held is None

    async def close(self, outcome: Outcome) -> None:
        """Write what is left and end the recording."""
        if self.ended:
            return
        if self._work is not None and self.failed is None:
            with contextlib.suppress(Exception):
                await self.settle(10.0)
        self.ended = True
        self._wake.set()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        if self.failed is not None:
            self.steps.drafts.clear()
            outcome = Outcome(ended="interrupted", reason=str(self.failed)[:500])
        instruction = self.secrets.text(
            privacy.masked(self.instruction, ("password", "token", "api_key", "private_key"))
        )
        try:
            await asyncio.to_thread(self.steps.close, outcome, instruction or None, self.notes)
        except DiskError as error:
            # Of a disk that is full the first thing is said; that steps on it show a secret is said before all.
            self.failed = error if self.failed is None or "secret" in str(error) else self.failed
        if self.failed is not None:
            raise self.failed

    async def pause(self, on: bool) -> None:
        """Capture nothing, or go on."""
        if on:
            await self.settle(5.0)
        self.paused = on
        for ears in self._ears.values():
            await ears.tell(f"pause({'true' if on else 'false'})")
            await ears.show(not on)
        self._stale, self._since = True, time.monotonic()
        self._current.clear()
        self._recent.clear()
        self._looked = None
        self._wake.set()
        if not on:
            await self._look()

    async def drop(self) -> bool:
        """Forget the last step."""
        self._take(self.gestures.close())
        async with self._writing:
            return self.steps.drop()

    async def settle(self, limit: float) -> None:
        """Until everything heard is written; CPU permitting within `limit` seconds."""
        end = time.monotonic() + limit
        await asyncio.sleep(0.05)
        self._take(self.gestures.close())
        while self.steps.drafts and time.monotonic() < end and not self.paused:
            self._wake.set()
            if self._looked is None or self._looked[2] != self._inputs or self._stale:
                await asyncio.sleep(0.02)
                if self.page.windows.held is not None and self.page.windows.held.dialog is None:
                    continue
            await self._write(force=True)
        await self._write(force=True)

    async def ready(self, limit: float) -> None:
        """Until the page has been looked at since it last changed."""
        end = time.monotonic() + limit
        await asyncio.sleep(0.15)
        while time.monotonic() < end:
            tab = self.page.windows.held
            if tab is not None and not self._stale and tab.index in self._current:
                return
            await asyncio.sleep(0.02)

    # --- hearing ----------------------------------------------------------------------------------------------------

    def _on_page(self, page: Tabbed) -> None:
        with contextlib.suppress(Exception):
            tab = next(t for t in self.page.windows.tabs if t.page is page)
            self._ears[0].later(self._attend(tab))

    async def _attend(self, tab: Tab) -> None:
        ears = self._ears[tab.index] = Ears(tab, self._on_message, self._acts.heard)
        tab.page.on("close", lambda _: self._left(tab))
        with contextlib.suppress(FrameGone, Stuck, TimeoutError):
            await ears.open()
            await ears.reach()
        self._stale = True
        self._wake.set()

    def _left(self, tab: Tab) -> None:
        """A page was closed, perhaps by the press that is still going on in it."""
        self._take(self.gestures.left(tab.index))
        self._stale = True
        self._wake.set()

    def _on_message(self, tab: Tab, frame_id: str, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "secret":
            self.secrets.learn(message["value"], message["of"])
            return
        if self.paused or self.ended or self.failed is not None:
            return
        if kind == "changed":
            self._stale = True
            self._wake.set()
            return
        if kind in BEGINS and tab is not self.page.windows.held:
            self._switch(tab, message["time"])
        # What only goes on brings no measuring; should it begin something after all, the last observation is what stood.
        moment = self._moment(tab, frame_id, message)
        if kind in BEGINS:
            self._inputs += 1
            self.last_input = time.time()
        heard = Heard(
            kind=kind, time=message["time"], data=message, before=moment, place=(tab.index, frame_id, message.get("field")),
            point=Point(message["x"], message["y"]) if message.get("x") is not None else None,
            screen=Point(*message["screen"]) if message.get("screen") is not None else None,
        )  # fmt: skip
        if kind == "up":
            self.last_input = time.time()
        if kind == "down":
            message["hovered"] = [self._hover(tab, frame_id, one) for one in message["hovers"]]
        self._take(self.gestures.feed(heard))
        self._stale = True
        self._wake.set()

    def _moment(self, tab: Tab, frame_id: str, message: dict[str, Any]) -> Moment:
        stood: dict[str, Any] = message.get("moment") or {"same": True}
        base, ears = self._current.get(tab.index), self._ears.get(tab.index)
        told = None if stood["same"] and base is not None else stood.get("told")
        return Moment(
            time=message["time"], tab=tab, frame_id=frame_id, frame=tab.frames.held(frame_id) if tab.frames else None,
            base=base, told=told, only=stood.get("only", False), shown=ears.ring.at(message["time"]) if ears else None,
        )  # fmt: skip

    def _hover(self, tab: Tab, frame_id: str, one: dict[str, Any]) -> Heard:
        """A place that the pointer had to rest at, with what stood before it came there."""
        calm = [s for s in self._recent if s.tab is tab and s.observation.time < one["time"]]
        base = calm[-1] if calm else self._current.get(tab.index)
        moment = Moment(time=one["time"], tab=tab, frame_id=frame_id, frame=tab.frames.held(frame_id) if tab.frames else None, base=base)  # fmt: skip
        data = {"chain": one["chain"], "modifiers": []}
        return Heard(kind="hover", time=one["time"], data=data, before=moment, point=Point(one["x"], one["y"]))

    def _switch(self, tab: Tab, at: float) -> None:
        """The person turned to another page by themselves."""
        held = self.page.windows.held
        self.page.windows.held = tab
        if held is not None and not held.closed:
            self.browser_did("switch_page", held, at, page=tab.index)

    def browser_did(self, kind: str, tab: Tab, at: float, **data: Any) -> None:
        """Something that a person did to the browser itself, not to the page."""
        base = self._current.get(tab.index)
        if self.paused or self.ended or base is None:
            return
        moment = Moment(time=at, tab=tab, frame_id="", frame=None, base=base)
        self._inputs += 1
        self._take(self.gestures.feed(Heard(kind=kind, time=at, data=data, before=moment)))
        self._stale = True
        self._wake.set()

    def later(self, tab: Tab, work: Coroutine[Any, Any, Any]) -> None:
        """Run something beside; an error in it ends nothing else."""
        self._ears[tab.index].later(work)

    def _take(self, over: Iterable[Gesture]) -> None:
        for gesture in over:
            thought, self.thought = self.thought, None
            self.steps.add(gesture, thought)
            self._since = time.monotonic()

    # --- looking and writing ----------------------------------------------------------------------------------------

    async def _attend_always(self) -> None:
        while not self.ended and self.failed is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await self._wake.wait()
            self._wake.clear()
            self._take(self.gestures.expire(time.time()))
            try:
                if self._stale and not self.paused and not self.gestures.busy:
                    await self._look()
                await self._write()
            except DiskError:
                return  # nothing more can be kept: whoever began the recording is told, and ends it
            except Exception as error:  # noqa: BLE001 - whatever a page does to a look, the recording goes on
                words = f"a look failed: {type(error).__name__}: {error}"[:200]
                self.notes += [] if words in self.notes else [words]
                self._stale = True
                await asyncio.sleep(0.1)

    async def _look(self) -> None:
        """Observe the active page and keep what stands."""
        tab = self.page.windows.held
        if tab is None or tab.crashed or tab.dialog is not None:
            self._stale = False
            return
        began, inputs = time.time(), self._inputs
        self._stale = False
        observation = await self.page.observe(since=self._since)
        tab = self.page.windows.held
        if tab is None or not tab.held or observation.url != tab.held[0].told["url"]:
            self._stale = not observation.notes
            return
        ears = self._ears.get(tab.index)
        deaf = await ears.know_deaf() if ears is not None else ()
        if deaf:
            words = tuple(
                f"the frame {address[:120]} cannot be heard: what is done in it is not recorded" for address in deaf
            )
            self.notes += words
            observation = replace(observation, notes=(*observation.notes, *words))
        if self.paused:
            return
        seen = with_masks(Seen(observation, tab, list(tab.held)))
        self._current[tab.index] = seen
        self._recent.append(seen)
        self._looked = (seen, began, inputs)
        self._looks += 1
        if ears is not None:
            for measured in seen.held:
                ears.later(ears.tell(f"accept({measured.told['generation']})", [measured.frame]))

    async def _write(self, *, force: bool = False) -> None:
        """Write the drafts that are complete."""
        async with self._writing:
            while self.steps.drafts:
                draft = self.steps.drafts[0]
                later = self._later(1)
                if later is not None:
                    draft.after = look_back(later)
                elif (
                    self._looked is not None
                    and self._looked[1] >= draft.gesture.ended
                    and self._looked[2] == self._inputs
                ):
                    draft.after = self._looked[0]
                if not force and later is None and (draft.after is None or time.time() - draft.gesture.ended < LINGER):
                    return
                await self._store(draft)

    async def _store(self, draft: Draft) -> None:
        if self.failed is not None:
            raise self.failed
        seen = self.steps.prepare(draft)
        try:
            await asyncio.to_thread(self.steps.write, draft, seen)
        except DiskError as error:
            self.failed = error
            raise
        if self.steps.drafts and self.steps.drafts[0] is draft:
            self.steps.drafts.pop(0)

    def _later(self, number: int) -> Moment | None:
        """What stood before the gesture that followed a draft."""
        if len(self.steps.drafts) > number:
            moment: Moment = self.steps.drafts[number].gesture.begin.before
            return moment
        held = self.gestures.following
        return held.before if held is not None else None
