"""Recording a person from a terminal: what is recorded is said first, and the controls stand here, never in the page."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable

from cuadata.errors import CallError
from cuadata.people.person import Person

#: One screen of 80 columns and 24 lines.
CONSENT = """\
cuadata records what you do in the browser window that opens now.

  Recorded   each click, drag, scroll, key and text, and the page around it: a
             picture of the moment before, names and boxes of what is on it, its
             address and title. Only this window; never another window or file.
  Masked     passwords, one-time codes, card numbers and tokens, also where the
             page shows them again: in text, in addresses, in the pictures.
  Never      cookies, network traffic, contents of files, your own profile
             (unless --profile names it). Nothing leaves this machine.
  Not known  names, mail and postal addresses, what others wrote to you: they are
             in the pictures. Pause, or drop the step, where they should not be.

  p         pause, and go on          i TEXT   what was to be done
  d         drop the last step        t TEXT   a thought, for the next step
  s         end: it succeeded         f        end: it failed
  x         discard everything        ?        this screen

It is recorded into {folder}"""

Say = Callable[[str], None]


def attend(person: Person, folder: str, *, say: Say, lines: Iterable[str] | None = None) -> bool:
    """Do what the terminal says until the recording has ended; whether an outcome was said.

    DiskError, as soon as that is known, where nothing more can be written.
    """
    say(CONSENT.format(folder=folder))
    typed: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin if lines is None else lines, typed), daemon=True).start()
    asked, silent = False, False
    while True:
        try:
            line = typed.get(timeout=0.2)
        except queue.Empty:
            line = ""
        if person.failed is not None:
            raise person.failed
        if line is None:
            silent = True  # nobody is at the terminal any more: the window decides
        elif line.strip() and command(person, line.strip(), say, folder):
            return True
        if person.over:
            if silent:
                return False
            if not asked:
                say("The window is closed. s: it succeeded, f: it failed, x: discard everything")
            asked = True
        elif silent:
            time.sleep(0.2)


def command(person: Person, line: str, say: Say, folder: str = "") -> bool:
    """Do one line; whether it ended the recording."""
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word == "p":
        (person.resume if person.paused else person.pause)()
        say("Paused: nothing is captured." if person.paused else "It goes on.")
    elif word == "d":
        say(f"Dropped; {person.steps} steps are left." if person.drop() else "There is no step to drop.")
    elif word == "t" and rest:
        person.thought(rest)
        say("It stands at the next step.")
    elif word == "i" and rest:
        person.instruct(rest)
        say("Noted.")
    elif word in ("s", "f", "x"):
        how = {"s": "success", "f": "failure", "x": "discard"}[word]
        try:
            person.end(how, instruction=rest if word != "x" else "")  # type: ignore[arg-type]
        except CallError as error:
            say(f"{error}\nWrite it behind: {word} Order a large tea")
            return False
        return True
    else:
        say(CONSENT.format(folder=folder))
    return False


def _read(lines: Iterable[str], typed: queue.Queue[str | None]) -> None:
    for line in lines:
        typed.put(line)
    typed.put(None)
