"""Drives a case's page: opens it as `load` says, sends the real input of `do`, finds the elements that it names.

with opened(folder) as page:
    for step in play(page, case(folder)["do"]): ...
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuadata import browser
from cuadata.browsing.serve import Server
from cuadata.types import Action, BBox, Element, Observation, Point, Size, Step

Verb = dict[str, Any]


def case(folder: Path) -> dict[str, Any]:
    """What `expected.json` says."""
    told: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return told


class StallingServer(Server):
    """Serves a folder, but never answers requests for the files named."""

    def __init__(self, folder: Path, stall: Sequence[str]) -> None:
        self.stall = frozenset(stall)
        self.end = threading.Event()
        super().__init__(folder)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        if path.rsplit("/", 1)[-1] in self.stall:
            self.end.wait(60)
        return super().answer(path)

    def close(self) -> None:
        self.end.set()
        super().close()


@contextlib.contextmanager
def opened(folder: Path, **options: Any) -> Iterator[browser.Page]:
    """The case's page as its `load` wants it."""
    load = case(folder)["load"]
    with StallingServer(folder, load.get("stall", ())) as server:
        address = f"{server.address}/{load['page']}"
        size = Size(*load["viewport"])
        ratio = load["device_scale_factor"]
        with browser.open(address, viewport=size, device_pixel_ratio=ratio, online=False, **options) as page:
            if load["scroll_to"] != [0, 0]:
                page.evaluate(f"scrollTo({load['scroll_to'][0]}, {load['scroll_to'][1]})")
            yield page


@dataclass
class Player:
    """Sends the verbs of `do`; steps are those of real input."""

    page: browser.Page
    remembered: Element | None = None
    steps: list[Step] = field(default_factory=list)

    def play(self, verbs: Sequence[Verb]) -> list[Step]:
        """Send them in order; the steps that came of them."""
        for verb in verbs:
            if verb["do"] == "repeat":
                for _ in range(verb["times"]):
                    self.play(verb["steps"])
            elif not self.quietly(verb):
                self.steps.append(self.page.act(self.action(verb)))
        return self.steps

    def quietly(self, verb: Verb) -> bool:
        """Verbs that are no input of a person; False where the verb is one."""
        kind = verb["do"]
        if kind == "eval":
            self.page.evaluate(verb["js"])
        elif kind == "snapshot":
            wanted = verb["remember"]["name"]
            self.remembered = next(e for e in self.page.observe().elements if wanted in (e.name, e.text))
        elif kind == "wait_ms":
            time.sleep(verb["ms"] / 1000)
        elif kind in ("wait_for_title", "wait_for_text"):
            script = "document.title" if kind == "wait_for_title" else "document.body.innerText"
            wanted = verb.get("title") or verb.get("text") or ""
            wait_until(lambda: wanted in str(self.page.evaluate(script)))
        elif kind == "switch_to_new_page":
            wait_until(lambda: len(self.page.pages) > 1)
            self.page.switch(self.page.pages[-1].index)
        elif kind == "switch_to_first_page":
            self.page.switch(self.page.pages[0].index)
        else:
            return False
        return True

    def action(self, verb: Verb) -> Action:
        """A verb of real input as an action."""
        kind = verb["do"]
        at = Point(*verb["at"]) if "at" in verb else None
        if kind == "click":
            if verb.get("remembered"):
                assert self.remembered is not None
                return Action(type="click", element=self.remembered.id)
            if verb.get("button") == "right":
                return Action(type="right_click", point=at)
            return Action(type="double_click" if verb.get("count", 1) == 2 else "click", point=at)
        if kind == "move":
            return Action(type="hover", point=at)
        if kind == "drag":
            return Action(type="drag", point=Point(*verb["from"]), end=Point(*verb["to"]))
        if kind == "type":
            return Action(type="type", text=verb["text"])
        if kind == "press":
            return Action(
                type="press", keys=tuple(verb["keys"].split("+") if isinstance(verb["keys"], str) else verb["keys"])
            )
        if kind == "select":
            return Action(type="select", element=self.one(verb["css"]).id, value=verb["value"])
        if kind == "upload":
            return Action(type="upload", element=self.one(verb["css"]).id, files=tuple(verb["files"]))
        raise ValueError(f"no action for {verb}")

    def one(self, css: str) -> Element:
        """The one element that a selector matches."""
        _, (found,) = self.page.select(css)
        return found[0]


def wait_until(done: Any, limit: float = 5.0) -> None:
    """Wait until a condition holds; AssertionError after `limit` seconds."""
    end = time.monotonic() + limit
    while not done():
        assert time.monotonic() < end, "the page did not get there"
        time.sleep(0.05)


def find(observation: Observation, found: Sequence[Element], ref: dict[str, Any]) -> Element:
    """The element that a case's `ref` names, among those that match its selector."""
    frames, shadow = tuple(ref.get("frames", ())), tuple(ref.get("shadow", ()))
    fitting = [e for e in found if e.locator.frames == frames and e.locator.shadow == shadow]
    assert len(fitting) == 1, (ref, [e.locator for e in found])
    return fitting[0]


def close_to(box: BBox | None, wanted: Sequence[float], tolerance: float) -> bool:
    """Whether a box is the one that a case gives as [x, y, width, height]."""
    if box is None:
        return False
    return all(abs(a - b) <= tolerance for a, b in zip((box.x, box.y, box.width, box.height), wanted, strict=True))
