"""Pages rendered again, to see whether what was published of them still holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType
from typing import Self

from cuadata import browser, examples, inject, page_faults
from cuadata.errors import DataError
from cuadata.inject import Fault
from cuadata.page_faults import OF_THE_LABEL
from cuadata.registry import families
from cuadata.rows import Candidate, Example
from cuadata.types import Action, Locator, Observation, Step, Task, Trajectory

#: What a page's script may add to it after a load is measured once it stands still.
_NO_SCRIPT = "<script"


def task_of(name: str) -> Task:
    """The task of an id, family/seed. DataError where no family makes it."""
    family, _, seed = name.rpartition("/")
    if family not in families or not seed.lstrip("-").isdigit():
        raise DataError(f"'{name}' names no family and seed; there are: {', '.join(families.names()) or 'none'}")
    return families[family](int(seed))


class Renderer:
    """One page in a browser, which shows one task after the other. A context manager."""

    def __init__(self) -> None:
        self._page: browser.Page | None = None
        self._task: Task | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        if self._page is not None:
            self._page.close()
        self._page = self._task = None

    def show(self, task: Task) -> Observation:
        """What the task's page shows when it has just been opened. DataError where it does not open."""
        self._close()
        self._page, self._task = browser.open(task), task
        return self._page.observe()

    def faults(self, candidate: Candidate, *, seed: int = 0) -> Iterator[Fault]:
        """The shown page with every fault in turn, measured again; then the faults of the label alone."""
        for fault in page_faults.faults(candidate, seed=seed):
            page = self._changed(fault.script, fault.of.locator, fault.argument)
            if page is not None:
                yield page_faults.on_the_new_page(candidate, fault, page)
        yield from inject.faults(candidate, OF_THE_LABEL, seed=seed)

    def _changed(self, script: str, locator: Locator | None, argument: object) -> Observation | None:
        """The page after a script was run on an element; None where the element is not to be had."""
        assert self._page is not None and self._task is not None and locator is not None
        html = self._task.html
        if html is None or _NO_SCRIPT in html:
            self._page.close()
            self._page = browser.open(self._task)
        else:
            self._page.rewrite(html)
        held = {"css": locator.css, "argument": argument}
        call = f"(held) => {{ const el = document.querySelector(held.css); if (!el) return false; ({script})(el, held.argument); return true; }}"
        return self._page.observe() if self._page.evaluate(call, held) else None


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


def evidence_for(example: Example, task: Task, page: Observation) -> Candidate:
    """A published row beside its page as it is shown now.

    The picture stays the published one: another build of the browser paints other bytes of the same page, and whether the
    picture shows the target is a question to the picture.
    """
    shown = replace(page, screenshot=example.image)
    wanted = example.target.locator if example.target is not None else None
    element = next((one for one in shown.elements if wanted is not None and one.locator == wanted), None)
    step = Step(index=0, time=page.time + 0.1, observation=shown, action=example.action, target=element)
    return Candidate(example=example, observation=shown, step=step, task=task)


def named_task(example: Example) -> str | None:
    """The task that a row was made from, family/seed, by its provenance; None where it names none."""
    try:
        held = json.loads(example.provenance)
    except ValueError:
        return None
    name = held.get("task") if isinstance(held, dict) else None
    return name if isinstance(name, str) else None
