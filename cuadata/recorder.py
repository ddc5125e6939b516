"""Record a script or a policy acting on a real page: one step an action, each with what stood before and after.

Every way of acting goes through `Recorder.do`, so that recordings differ in who acted and in nothing else. Recording a
person is `cuadata.people.person`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit

from cuadata import browser, recording
from cuadata.contracts import Policy
from cuadata.errors import CallError, DiskError
from cuadata.masking.guard import Guard
from cuadata.recordings import recording_files
from cuadata.types import Action, Element, Observation, Outcome, Point, Size, Step, Task

#: A drag shorter than this is a click, CSS px.
SHORTEST_DRAG = 4.0


class Recorder:
    """Acts on one page and records each action; a context manager that ends the recording.

    `guard` keeps secrets out of what is stored; without one everything is stored as it is.
    """

    def __init__(self, page: browser.Page, writer: recording.Writer, guard: Guard | None = None) -> None:
        self.page = page
        self.writer = writer
        self.guard = guard
        self.steps: list[Step] = []
        self.failed: DiskError | None = None
        self._next: Observation | None = None

    def observe(self) -> Observation:
        """What stands now; the observation after the last action where the page has not moved since."""
        if self._next is None:
            self._next = self.page.observe()
        return self._next

    def do(
        self, action: Action, *, thought: str | None = None, output: str | None = None, logprob: float | None = None, **known: Any
    ) -> Step:  # fmt: skip
        """Act and record. `known` are further fields of the step: phase, rewards. The step is on disk when this returns."""
        before = self.observe()
        if action.type in ("reason", "done", "infeasible"):
            step = Step(index=0, time=max(time.time(), before.time), observation=before, action=action, after=before)
        else:
            step = self.page.act(action, observation=before)
        step = replace(step, index=len(self.steps), thought=thought, output=output, logprob=logprob, **known)
        self._store(step)
        self._next = step.after
        return step

    def fail(self, action: Action, reason: str, target: Element | None = None) -> Step:
        """Record an action that could not be tried, with its reason."""
        before = self.observe()
        step = Step(
            index=len(self.steps), time=max(time.time(), before.time), observation=before, action=action, target=target,
            after=before, error=reason,
        )  # fmt: skip
        self._store(step)
        return step

    def _store(self, step: Step) -> None:
        try:
            self.writer.add(step if self.guard is None else self.guard.step(step))
            if self.guard is not None:
                self.guard.stored(self.writer, step)
        except DiskError as error:
            self.failed = error
            raise
        self.steps.append(step)

    def moved(self) -> None:
        """The page was changed by something else than an action: observe afresh before the next one."""
        self._next = None

    def told(self, words: str) -> str:
        """Words as they may be shown: without the secrets that are known."""
        return words if self.guard is None else self.guard.text(words)

    def close(self, outcome: Outcome) -> None:
        """End the recording and close the page. DiskError where a step could not be stored: it is interrupted then."""
        held = self.failed
        try:
            self._end(outcome if held is None else recording_files.outcome_of(held))
        except DiskError as error:
            # Of a disk that is full the first thing is said; that steps on it show a secret is said before all.
            held = error if held is None or "secret" in str(error) else held
        finally:
            self.page.close()
        if held is not None:
            raise held

    def _end(self, outcome: Outcome) -> None:
        if self.guard is None:
            self.writer.close(outcome)
        elif self.writer.open:
            self.guard.close(self.writer, outcome)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.writer.open or not isinstance(error, DiskError):
            self.close(recording_files.outcome_of(error))


def start(
    page: str | Path | Task, out: Path, *, instruction: str, source: str, id: str | None = None, viewport: Size | None = None,
    device_pixel_ratio: float | None = None, **options: Any,
) -> Recorder:  # fmt: skip
    """Open a page and begin a recording of it in the new folder OUT. DataError where OUT is there already.

    Secrets are masked as in a person's recording, unless the page is a Task: the passwords of those are made up by their
    seeds and stand in their instructions.
    """
    recording.check_free(out)
    task = page if isinstance(page, Task) else None
    opened = browser.open(page, viewport=viewport, device_pixel_ratio=device_pixel_ratio, **options)
    try:
        guard = None if task is not None else Guard(opened.twin)
        if guard is not None:
            opened.run(guard.begin(instruction), 30)
        writer = recording.create(
            out,
            id=id or out.name,
            instruction=instruction if guard is None else guard.instructed(),
            source=source,
            task=task,
            viewport=opened.viewport,
            device_pixel_ratio=device_pixel_ratio or (task.device_pixel_ratio if task else 1.0),
            browser=opened.browser,
            site=site_of(task, opened.url),
        )
    except BaseException:
        opened.close()
        raise
    return Recorder(opened, writer, guard)


def site_of(task: Task | None, address: str) -> str:
    """What a split keeps together: the family of a task, else the host; a page served by ourselves has no host."""
    if task is not None:
        return task.family
    host = urlsplit(address).hostname or ""
    return "" if host in ("127.0.0.1", "localhost") else host


def record(
    task_or_url: str | Path | Task,
    out: Path,
    policy: Policy | Callable[[Recorder], Outcome | None] | None = None,
    *,
    script: Path | None = None,
    instruction: str = "",
    max_steps: int = 50,
    **options: Any,
) -> Path:
    """Record one attempt in the new folder OUT and return it.

    A policy acts until it says it is done or `max_steps` are over; a callable is handed the Recorder and acts as it likes;
    a script (.py with a `page`, a DevTools Recorder .json, a Selenium IDE .side) is played. `options` go to `start`.
    CallError where none of the three is given, or no instruction is known.
    """
    if script is not None:
        from cuadata.scripting.script_player import play

        return play(script, out, address=task_or_url if task_or_url else None, instruction=instruction, **options)
    if policy is None:
        raise CallError("give a policy or a script; to record a person use `cuadata record URL`")
    wanted = instruction or (task_or_url.instruction if isinstance(task_or_url, Task) else "")
    if not wanted:
        raise CallError("a recording needs an instruction: what the actor was asked to do")
    source = str(getattr(policy, "name", getattr(policy, "__name__", "policy")))
    with start(task_or_url, out, instruction=wanted, source=source, **options) as recorder:
        if hasattr(policy, "act"):
            task = task_or_url if isinstance(task_or_url, Task) else None
            outcome = follow(recorder, cast(Policy, policy), wanted, task, max_steps)
        else:
            outcome = policy(recorder) or Outcome(ended="success", success=None)  # pyright: ignore[reportCallIssue]
        recorder.close(outcome)
    return out


def follow(recorder: Recorder, policy: Policy, instruction: str, task: Task | None, max_steps: int) -> Outcome:
    """Let a policy act until it is done; the outcome says why it ended, and success where the task can tell."""
    from cuadata.episodes import terms
    from cuadata.speaking import prompts
    from cuadata.split import history_lines

    policy.reset(task or Task(id="", family="", seed=0, instruction=instruction, url=recorder.page.url), 0)
    for _ in range(max_steps):
        seen = recorder.observe()
        prompt = prompts.of_observation(seen, instruction, history=history_lines(recorder.steps))
        choice = policy.act(seen, prompt)
        if choice.action is None:
            recorder.fail(
                Action(type="wait", seconds=0.0), f"action_failed: {choice.failure or 'the answer holds no action'}"
            )
            continue
        recorder.do(choice.action, output=choice.output or None, logprob=choice.logprob)
        if choice.action.type in ("done", "infeasible"):
            break
        if task is not None and task.success and terms.all_hold(task.success, recorder.observe()):
            return Outcome(ended="success", success=True, exact=1.0)
    if task is None or not task.success:
        return Outcome(ended="budget" if len(recorder.steps) >= max_steps else "success", success=None)
    won = terms.all_hold(task.success, recorder.observe())
    ended = "success" if won else ("budget" if len(recorder.steps) >= max_steps else "failure")
    return Outcome(ended=ended, success=won, exact=float(won))  # type: ignore[arg-type]


def summary(folder: Path) -> dict[str, Any]:
    """What a recording holds, in a few plain values."""
    held = recording.read(folder, pictures=False)
    return {
        "id": held.id,
        "instruction": held.instruction,
        "steps": len(held.steps),
        "failed": sum(step.error is not None for step in held.steps),
        "ended": held.outcome.ended,
        "success": held.outcome.success,
        "reason": held.outcome.reason,
        "folder": str(folder),
    }


def folder_name(text: str, taken: Path) -> Path:
    """A new folder in TAKEN named after a text; a number is added where the name is in use."""
    stem = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "recording"
    number, path = 1, taken / stem
    while path.exists():
        number += 1
        path = taken / f"{stem}-{number}"
    return path


def point_on(element: Element, offset: Point | None) -> Point | None:
    """The place a script means: its offset from the element's corner where that lies on it, else the point that hits."""
    box = element.bbox
    if offset is not None and box is not None and 0 <= offset.x < box.width and 0 <= offset.y < box.height:
        return Point(box.x + offset.x, box.y + offset.y)
    return element.point
