"""Records a headed Chromium while xdotool turns the X server's own pointer and keyboard; run under a display of its own.

    DISPLAY=:99 python headed_hand.py OUT

Prints one JSON object: what the page logged, and what the recording tells.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import page_cases
import people
import people_log

from cuadata import recording
from cuadata.people import person

#: The page keeps where the pointer is: with that the window's place on the screen is measured.
PAGE = people_log.PAGE.replace(
    "</script>",
    "addEventListener('mousemove', (e) => { window.at = [e.clientX, e.clientY] }, true);</script>",
)


def hand(*words: str | int) -> None:
    """One call of xdotool."""
    subprocess.run(["xdotool", *map(str, words)], check=True, timeout=20, capture_output=True)


def window() -> str:
    """The browser's window, with the keyboard's focus."""
    found = subprocess.run(
        ["xdotool", "search", "--onlyvisible", "--class", "chrom"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    ).stdout.split()
    return found[-1] if found else ""


def offset(session: person.Person) -> tuple[int, int]:
    """Where the page's corner lies on the screen, px: a pointer is put somewhere and the page says where it sees it."""
    for place in ((300, 300), (320, 330)):  # one after the other: the page may be asked while the first is under way
        session.page.evaluate("window.at = null")
        hand("mousemove", *place)
        page_cases.wait_until(lambda: session.page.evaluate("window.at || null") is not None)
    x, y = session.page.evaluate("window.at")
    return round(320 - x), round(330 - y)


def act(session: person.Person) -> None:
    """A click, a text, a right click, two keys, a click: each as a hand gives it to the X server."""
    across, down = offset(session)

    def press(x: int, y: int, button: int = 1) -> None:
        hand("mousemove", across + x, down + y)
        time.sleep(0.1)
        hand("click", button)
        time.sleep(0.8)

    press(65, 24)
    press(65, 164)
    hand("type", "--delay", 60, "cab fare")
    press(195, 64, 3)
    hand("key", "F2")
    hand("key", "Escape")
    press(325, 164)
    hand("type", "--delay", 60, "d")
    press(455, 104)


def main() -> None:
    out = Path(sys.argv[1])
    with people.recording_of(PAGE, out, headed=True) as (session, _):
        page_cases.wait_until(lambda: bool(window()))
        hand("windowfocus", window())
        act(session)
        logged = session.page.evaluate("log")
        session.settle(30)
        session.end("success")
    held = recording.read(out)
    told = [people_log.said(step) for step in held.steps]
    before = [step.observation.screenshot is not None and step.observation.time <= step.time for step in held.steps]
    print(json.dumps({"logged": logged, "told": told, "before": all(before), "browser": held.browser}))


if __name__ == "__main__":
    main()
