"""Record a person: what they do in a real page becomes steps, each with what stood before it; secrets never reach the disk.

with person.start("https://example.com", Path("recordings/one"), instruction="Find the price") as session:
    ...                                     # the person acts
    session.end("success")

docs/recording_people.md says what is recorded and what is not.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from cuadata import browser, recorder, recording
from cuadata.errors import CallError, DiskError
from cuadata.people.person_session import Session
from cuadata.recordings import recording_files
from cuadata.types import Outcome, Size, Step, Task

Ending = Literal["success", "failure", "discard"]


class Person:
    """A recording of a person in progress; a context manager. Safe from any thread."""

    def __init__(self, page: browser.Page, session: Session) -> None:
        self.page = page
        self._session = session

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self._session.steps)

    @property
    def over(self) -> bool:
        """Whether it has ended, or every page was closed by the person."""
        return self._session.over

    @property
    def failed(self) -> DiskError | None:
        """Why nothing more can be written: the disk is full, or read-only. The recording ends as interrupted then."""
        return self._session.failed

    @property
    def paused(self) -> bool:
        """Whether nothing is captured at present."""
        return self._session.paused

    def last(self) -> Step | None:
        """The step that was written last."""
        return self._session.steps.last

    def settle(self, limit: float = 15.0) -> None:
        """Wait until everything that was heard is a step on the disk; what is being typed is taken as finished."""
        self.page.run(self._session.settle(limit), limit + 5)

    def ready(self, limit: float = 15.0) -> None:
        """Wait until the page has been looked at and stands still; a person need not."""
        self.page.run(self._session.ready(limit), limit + 5)

    def pause(self) -> None:
        """Capture nothing until `resume`: no input, no picture."""
        self.page.run(self._session.pause(True), 10)

    def resume(self) -> None:
        """Go on after a pause, from what stands then."""
        self.page.run(self._session.pause(False), 10)

    def drop(self) -> bool:
        """Forget the last step; whether there was one."""
        return self.page.run(self._session.drop(), 30)

    def thought(self, text: str) -> None:
        """What the person thinks; it stands at the step that comes next."""
        self._session.thought = text.strip() or None

    def instruct(self, text: str) -> None:
        """What the person was asked to do, or says that they did."""
        self._session.instruction = text.strip()

    def end(self, how: Ending, *, instruction: str = "", reason: str | None = None) -> None:
        """End the recording and close the page. CallError where nobody has said what was to be done.

        DiskError where the disk took no more: the recording is interrupted then, and holds the steps before. After
        "discard" the recording says that it was discarded, and holds no step and no picture.
        """
        if instruction:
            self.instruct(instruction)
        if how != "discard" and not self._session.instruction:
            raise CallError("say what was to be done: an instruction, in the words of a person who asks for it")
        outcome = {
            "success": Outcome(ended="success", success=True, reason=reason),
            "failure": Outcome(ended="failure", success=False, reason=reason),
            "discard": Outcome(ended="discarded", reason=reason),
        }[how]
        self._close(outcome)

    def _close(self, outcome: Outcome) -> None:
        try:
            self.page.run(self._session.close(outcome), 90)
        finally:
            self.page.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._session.ended:
            return
        if isinstance(error, DiskError):
            with contextlib.suppress(DiskError):  # which is on its way already
                self._close(recording_files.outcome_of(error))
        elif error is None or isinstance(error, KeyboardInterrupt):
            self._close(Outcome(ended="interrupted", reason="closed before an outcome was said"))
        else:
            self._close(Outcome(ended="error", reason=type(error).__name__))


def start(
    page: str | Path | Task,
    out: Path,
    *,
    instruction: str = "",
    headed: bool = True,
    profile: Path | None = None,
    viewport: Size | None = None,
    device_pixel_ratio: float = 1.0,
    root: Path | None = None,
    id: str | None = None,
) -> Person:
    """Open a page for a person, and record what they do into the new folder OUT from then on.

    The browser is fresh, without cookies and logins, unless `profile` names a profile's folder. DataError where OUT is there
    already.
    """
    recording.check_free(out)
    task = page if isinstance(page, Task) else None
    address, server = browser.serve(page, root)
    opened = browser.open(
        "about:blank",
        viewport=viewport or (task.viewport if task else None),
        device_pixel_ratio=device_pixel_ratio,
        headed=headed,
        profile=profile,
        dialogs="leave",
        on_close=server.close if server is not None else None,
    )
    try:
        wanted = instruction or (task.instruction if task else "")
        writer = recording.create(
            out, id=id or out.name, instruction=wanted, source="person", task=task, viewport=opened.viewport,
            device_pixel_ratio=device_pixel_ratio, browser=opened.browser, site=recorder.site_of(task, address),
        )  # fmt: skip
    except BaseException:
        opened.close()
        raise
    session = Session(opened.twin, writer, wanted)
    person = Person(opened, session)
    try:
        opened.run(session.begin(address), 90)
    except BaseException as error:
        opened.run(session.close(Outcome(ended="error", reason=type(error).__name__)), 60)
        opened.close()
        raise
    return person


def wait(person: Person, pause: float = 0.2) -> None:
    """Wait until the person has closed every page, or the recording has ended."""
    while not person.over:
        time.sleep(pause)


__all__: list[Any] = ["Ending", "Person", "start", "wait"]
