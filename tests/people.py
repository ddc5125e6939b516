"""Plays a person: real pointer and key input into the page that a recording listens to, and nothing through its own ways.

with recorded(folder, out) as (session, hands):
    hands.play(case(folder)["do"])
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import page_cases

from cuadata import recording
from cuadata.people import person
from cuadata.types import Locator, Size, Step, Trajectory

#: Whether the person's tests show a window; under Xvfb: CUADATA_HEADED=1 xvfb-run pytest tests/test_person.py
HEADED = os.environ.get("CUADATA_HEADED") == "1"


@dataclass
class Hands:
    """What sends the input."""

    session: person.Person

    @property
    def page(self) -> Any:
        """Playwright's page that is in front; asynchronous."""
        return self.session.page.twin.tab.page

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine of the page's."""
        return self.session.page.run(work, 30)

    def play(self, verbs: Sequence[dict[str, Any]]) -> None:
        """Send the verbs of a case's `do`."""
        for verb in verbs:
            getattr(self, f"_{verb['do']}")(verb)

    def click(self, x: float, y: float, **options: Any) -> None:
        """Press and release, as fast as a hand."""
        self.run(self.page.mouse.move(x, y))
        time.sleep(0.03)
        self.run(_pressed(self.page, x, y, options))

    def type(self, text: str, pause: float = 20) -> None:
        """Key by key."""
        self.run(self.page.keyboard.type(text, delay=pause))

    def press(self, keys: str) -> None:
        """A chord."""
        self.run(self.page.keyboard.press(keys))

    def _click(self, verb: dict[str, Any]) -> None:
        self.click(*verb["at"], button=verb.get("button", "left"), click_count=verb.get("count", 1))
        time.sleep(0.15)

    def _move(self, verb: dict[str, Any]) -> None:
        self.run(self.page.mouse.move(*verb["at"]))

    def _drag(self, verb: dict[str, Any]) -> None:
        self.run(self.page.mouse.move(*verb["from"]))
        self.run(self.page.mouse.down())
        self.run(self.page.mouse.move(*verb["to"], steps=verb.get("steps", 5)))
        self.run(self.page.mouse.up())
        time.sleep(0.1)

    def _type(self, verb: dict[str, Any]) -> None:
        self.type(verb["text"])

    def _press(self, verb: dict[str, Any]) -> None:
        self.press(verb["keys"] if isinstance(verb["keys"], str) else "+".join(verb["keys"]))

    def _ime(self, verb: dict[str, Any]) -> None:
        self.run(self._compose(verb["compose"], verb["commit"]))

    async def _compose(self, stages: Sequence[str], commit: str) -> None:
        session = await self.page.context.new_cdp_session(self.page)
        for stage in stages:
            at = len(stage)
            await session.send("Input.imeSetComposition", {"text": stage, "selectionStart": at, "selectionEnd": at})
        await session.send("Input.insertText", {"text": commit})
        await session.detach()

    def _select(self, verb: dict[str, Any]) -> None:
        css, wanted = verb["css"], verb["value"]
        box = self.run(self.page.locator(css).bounding_box())
        places = f"e => [[...e.options].findIndex(o => o.value === {wanted!r}), e.selectedIndex]"
        index, now = self.run(self.page.eval_on_selector(css, places))
        self.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        time.sleep(0.4)
        for _ in range(abs(index - now)):
            self.press("ArrowDown" if index > now else "ArrowUp")
            time.sleep(0.05)
        self.press("Enter")
        time.sleep(0.2)

    def _upload(self, verb: dict[str, Any]) -> None:
        self.run(self._choose(verb["css"], verb["files"]))

    async def _choose(self, css: str, files: Sequence[str]) -> None:
        box = await self.page.locator(css).bounding_box()
        async with self.page.expect_file_chooser() as chooser:
            await self.page.mouse.click(box["x"] + 5, box["y"] + box["height"] / 2, delay=50)
        await (await chooser.value).set_files(list(files))

    def _eval(self, verb: dict[str, Any]) -> None:
        self.session.page.evaluate(verb["js"])

    def _wait_ms(self, verb: dict[str, Any]) -> None:
        time.sleep(verb["ms"] / 1000)

    def _switch_to_new_page(self, verb: dict[str, Any]) -> None:
        page_cases.wait_until(lambda: len(self.session.page.pages) > 1)
        self.session.ready()

    def _switch_to_first_page(self, verb: dict[str, Any]) -> None:
        page_cases.wait_until(lambda: self.session.page.pages[0].active)
        self.session.ready()

    def _repeat(self, verb: dict[str, Any]) -> None:
        for _ in range(verb["times"]):
            self.play(verb["steps"])


async def _pressed(page: Any, x: float, y: float, options: dict[str, Any]) -> None:
    from playwright.async_api import Error

    try:
        await page.mouse.click(x, y, delay=60, **options)
    except Error:
        if not page.is_closed():  # a pop-up that closes itself may be gone before the browser has answered
            raise


@contextlib.contextmanager
def recording_of(
    page: str | Path, out: Path, *, headed: bool = HEADED, **options: Any
) -> Iterator[tuple[person.Person, Hands]]:
    """A recording in progress, ready for the first input."""
    with person.start(page, out, instruction=options.pop("instruction", "Do it"), headed=headed, **options) as session:
        session.ready()
        yield session, Hands(session)


@contextlib.contextmanager
def recorded(folder: Path, out: Path, **options: Any) -> Iterator[tuple[person.Person, Hands]]:
    """A case's page being recorded."""
    load = page_cases.case(folder)["load"]
    with recording_of(
        folder / load["page"], out, viewport=Size(*load["viewport"]), device_pixel_ratio=load["device_scale_factor"], **options
    ) as (session, hands):  # fmt: skip
        yield session, hands


def played(page: str | Path, out: Path, *moves: Any, **options: Any) -> Trajectory:
    """The recording of moves, each called with the hands."""
    with recording_of(page, out, **options) as (session, hands):
        for move in moves:
            move(hands)
        session.settle()
        session.end("success")
    return recording.read(out)


def told(steps: Sequence[Step]) -> list[tuple[str, str | None]]:
    """What was done, and on what."""
    return [(s.action.type, way(s.target.locator) if s.target is not None else None) for s in steps]


def way(locator: Locator) -> str:
    """A locator in one line."""
    return " ".join((*locator.frames, *locator.shadow, locator.css))
