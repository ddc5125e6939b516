"""Pages rendered again, to see whether what was published of them still holds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, get_type_hints

from cuadata import browser
from cuadata.errors import CallError, DataError
from cuadata.proving import inject, page_faults
from cuadata.proving.inject import Fault
from cuadata.proving.page_faults import OF_THE_LABEL
from cuadata.registry import families
from cuadata.rows import Candidate, Example
from cuadata.splitting import examples
from cuadata.types import Action, Locator, Observation, Size, Step, Task, Trajectory

#: What a page's script may add to it after a load is measured once it stands still.
_NO_SCRIPT = "<script"


def task_of(name: str, options: Mapping[str, Any] | None = None) -> Task:
    """The task of an id, family/seed, made with the options that its rows name, as JSON holds them.

    DataError where no family makes it, or the family takes no such options.
    """
    family, _, seed = name.rpartition("/")
    if family not in families or not seed.lstrip("-").isdigit():
        raise DataError(f"'{name}' names no family and seed; there are: {', '.join(families.names()) or 'none'}")
    make: Any = families[family]
    try:
        made: Task = make(int(seed), **_options(make, options or {}))
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise DataError(f"family {family} makes no page with the options {dict(options or {})}: {error}") from error
    return made


def _options(make: Callable[..., Task], held: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where a family takes sizes and tuples."""
    kinds = get_type_hints(make)
    return {
        name: (Size(*value) if kinds.get(name) is Size else tuple(value)) if isinstance(value, list) else value
        for name, value in held.items()
    }


class Renderer:
    """One page in a browser, which shows one task after the other. A context manager."""

    def __init__(self) -> None:
        self._page: browser.Page | None = None
        self._task: Task | None = None
        self._shown: Observation | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        if self._page is not None:
            self._page.close()
        self._page = self._task = self._shown = None

    def show(self, task: Task) -> Observation:
        """What the task's page shows when it has just been opened. DataError where it does not open.

        Rows of one page follow each other, so a page that is shown already is not measured again.
        """
        if self._shown is None or self._task != task:
            page = self._open(task)
            self._shown = page.observe(settle=not _still(task))
        return self._shown

    def _open(self, task: Task) -> browser.Page:
        """The task's page as it is at first: rewritten in place where it has no scripts and the window is the same."""
        page, last = self._page, self._task
        if page is not None and last is not None and _still(last) and _still(task) and _window(last) == _window(task):
            page.rewrite(task.html or "")
            self._task, self._shown = task, None
            return page
        self._close()
        self._page, self._task = browser.open(task), task
        return self._page

    def faults(self, candidate: Candidate, *, seed: int = 0, most: int | None = None) -> Iterator[Fault]:
        """The shown page with every fault in turn, measured again; then the faults of the label alone.

        `most`: so many of the page's faults, drawn by the example's id; None: all.
        """
        held = list(page_faults.faults(candidate, seed=seed))
        if most is not None and most < len(held):
            held = random.Random(f"{seed}/{candidate.example.id}/{most}").sample(held, most)
        for fault in held:
            page = self._changed(fault.script, fault.of.locator, fault.argument)
            if page is not None:
                yield page_faults.on_the_new_page(candidate, fault, page)
        yield from inject.faults(candidate, OF_THE_LABEL, seed=seed)

    def _changed(self, script: str, locator: Locator | None, argument: object) -> Observation | None:
        """The page after a script was run on an element; None where the element is not to be had."""
        assert self._task is not None and locator is not None
        shown, page = self._shown, self._open(self._task)
        held = {"css": locator.css, "argument": argument}
        call = f"(held) => {{ const el = document.querySelector(held.css); if (!el) return false; ({script})(el, held.argument); return true; }}"
        changed = page.observe(settle=not _still(self._task)) if page.evaluate(call, held) else None
        self._shown = shown
        return changed


def candidate_of(task: Task, page: Observation) -> Candidate | None:
    """The example that a task makes of its page as it is first shown: a click on its target; None where it binds none."""
    bound = next((one for one in task.bindings if one.part == "target"), None)
    element = next((one for one in page.elements if bound is not None and one.locator == bound.locator), None)
    if element is None:
        return None
    step = Step(
        index=0,
        time=page.time + 0.1,
        observation=page,
        action=Action(type="click", point=element.point, element=element.id),
        target=element,
    )
    whole = Trajectory(id=task.id, instruction=task.instruction, source="generated", task=task, steps=(step,))
    found = [one for one in examples.examples(whole) if one.example.action.type == "click"]
    # Nothing was done yet, so the example has no phase: it is a pointing task.
    return replace(found[0], example=replace(found[0].example, phase=None)) if found else None


def evidence_for(example: Example, task: Task | None, page: Observation) -> Candidate:
    """A published row beside its page as it is shown now, with the task where it asks what the task asks.

    The picture stays the published one: another build of the browser paints other bytes of the same page, and whether the
    picture shows the target is a question to the picture.
    """
    shown = replace(page, screenshot=example.image)
    wanted = example.target.locator if example.target is not None else None
    element = next((one for one in shown.elements if wanted is not None and one.locator == wanted), None)
    step = Step(index=0, time=page.time + 0.1, observation=shown, action=example.action, target=element)
    return Candidate(example=example, observation=shown, step=step, task=task)


def page_of(example: Example) -> tuple[Task, bool] | None:
    """The page that a row was made on, with the options that its family had, in the window that the row has.

    With it, whether the row asks what the task asks: a page of the generators is asked many questions of its own. None
    where the provenance names no task of a family that there is. DataError where the family takes no such options, or no
    browser has such a window.
    """
    try:
        held = json.loads(example.provenance)
    except ValueError:
        return None
    name = held.get("task") if isinstance(held, dict) else None
    if not isinstance(name, str) or name.rpartition("/")[0] not in families:
        return None
    options = held.get("options")
    task = task_of(name, options if isinstance(options, dict) else None)
    window = Size(example.viewport_width, example.viewport_height)
    try:
        browser.check_window(window, example.device_pixel_ratio)
    except CallError as error:
        raise DataError(f"row {example.id[:200]}: {error}") from error
    return replace(task, viewport=window, device_pixel_ratio=example.device_pixel_ratio), "variant" not in held


def _still(task: Task) -> bool:
    """Whether a page has no scripts, so that it may be put in another's place without a load."""
    return task.html is not None and _NO_SCRIPT not in task.html


def _window(task: Task) -> tuple[Size, float]:
    return task.viewport, task.device_pixel_ratio
