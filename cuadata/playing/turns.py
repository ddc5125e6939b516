"""From what an environment recorded to what the failure rules read: overlays, targets, selections, click errors.

Everything here is worked out from observations, by accessibility role, name and state; no page is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from cuadata import scoring
from cuadata.element_states import state_of
from cuadata.episodes import terms
from cuadata.scores.failures import Ending, Turn
from cuadata.splitting import overlays
from cuadata.splitting.overlays import Key
from cuadata.types import Action, BBox, Condition, Element, Locator, Observation, Outcome, Step, Task

#: Roles of things that are selected, and the state that says so.
SELECTABLE = {
    "checkbox": "checked",
    "radio": "checked",
    "switch": "checked",
    "menuitemcheckbox": "checked",
    "menuitemradio": "checked",
    "option": "selected",
}
#: A target of which less than this share takes the pointer is covered.
UNCOVERED = 0.01
_CLICKS = ("click", "double_click", "right_click")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selections:
    """What is selected on a page against what the task requests."""

    requested: Annotated[int, "selections that the task requests"]
    missing: Annotated[int, "requested, but not made"]
    extra: Annotated[int, "made, but not requested"]


def strays(task: Task | None, observations: Iterable[Observation]) -> set[Key]:
    """Overlays that stand in any of the observations and hold no control of the task; none for a task without bindings."""
    held = list(observations)
    if task is None or not overlays.binds(task):
        return set()
    return {key for o in held for key in overlays.open_overlays(o)} - overlays.bound_overlays(task, held)


def turn(step: Step, task: Task | None, stray: set[Key], *, reward: float = 0.0) -> Turn:
    """One step as the rules read it; `stray` are the overlays that the task does not ask for."""
    standing = {key for key in overlays.open_overlays(step.observation) if key in stray}
    target = overlays.target_of(step)
    return Turn(
        action=step.action,
        output=step.output or "",
        error=step.error,
        effect=None if step.effect is None else step.effect.happened,
        reward=reward,
        target=None if target is None else f"{target.role} {target.name}".strip(),
        overlay=bool(standing),
        on_overlay=_on_overlay(step, standing) if standing else None,
        covered=None if target is None or target.bbox is None else target.hit < UNCOVERED,
        error_px=click_error(step.action, step.observation, task),
    )


def misread(output: str, failure: str, observation: Observation, stray: set[Key]) -> Turn:
    """A turn whose text could not be read."""
    standing = any(key in stray for key in overlays.open_overlays(observation))
    return Turn(action=None, output=output, failure=failure, overlay=standing)


def _on_overlay(step: Step, standing: set[Key]) -> bool | None:
    """Whether an input went to an overlay; Escape goes to whatever stands. None where it went nowhere in particular."""
    if step.action.type == "press" and "Escape" in step.action.keys:
        return True
    if overlays.target_of(step) is None and step.action.point is None:
        return None
    return any(overlays.key(element) in standing for element in overlays.around(step))


def click_error(action: Action, observation: Observation, task: Task | None) -> float | None:
    """Distance from a click's point to the nearest element that the task's solution uses, CSS px; 0 inside.

    None for a click by element id, where no aim was taken, and where none of those elements is on the page.
    """
    if action.type not in _CLICKS or action.point is None or action.element is not None or task is None:
        return None
    boxes = _meant(task, observation)
    return min((scoring.edge_error(action.point, box) for box in boxes), default=None)


def _meant(task: Task, observation: Observation) -> list[BBox]:
    ways: set[Locator] = {m.locator for m in task.solution if m.locator is not None}
    ways |= {b.locator for b in task.bindings if b.part != "reference"}
    return [e.bbox for e in observation.elements if e.locator in ways and e.bbox is not None and e.evidence.rendered]


def selections(task: Task, observation: Observation) -> Selections | None:
    """What is selected now against what the task requests; None for a page on which nothing can be selected.

    The task's success conditions say what is requested; where they name no selection, the instruction does, by the names
    that stand in it as whole words.
    """
    wanted = [c for c in task.success if c.present and c.state in SELECTABLE.values() and c.value is not None]
    if wanted:
        return _by_conditions(wanted, observation)
    if task.success:
        return None
    held = [e for e in observation.elements if e.role in SELECTABLE and e.name.strip()]
    if not held:
        return None
    return _by_names(task.instruction, held)


def _by_conditions(wanted: Sequence[Condition], observation: Observation) -> Selections:
    on = [c for c in wanted if terms.fold(c.value or "") != "false"]
    off = [c for c in wanted if terms.fold(c.value or "") == "false"]
    missing = sum(not terms.holds(c, observation) for c in on)
    extra = sum(not terms.holds(c, observation) and _on_page(c, observation) for c in off)
    roles = {terms.fold(c.role) for c in on if c.role is not None}
    named = {(terms.fold(c.role or ""), terms.fold(c.name or "")) for c in wanted}
    for element in observation.elements:
        key = (terms.fold(element.role), terms.fold(element.name))
        if element.role in SELECTABLE and terms.fold(element.role) in roles and key not in named:
            extra += selected(element)
    return Selections(requested=len(on), missing=missing, extra=extra)


def _on_page(condition: Condition, observation: Observation) -> bool:
    return bool(terms.matches(replace(condition, state=None, value=None), observation))


def _by_names(instruction: str, held: Sequence[Element]) -> Selections:
    words = terms.fold(instruction)
    requested = [e for e in held if re.search(rf"(?<!\w){re.escape(terms.fold(e.name))}(?!\w)", words)]
    names = {e.id for e in requested}
    return Selections(
        requested=len(requested),
        missing=sum(not selected(e) for e in requested),
        extra=sum(selected(e) for e in held if e.id not in names),
    )


def selected(element: Element) -> bool:
    """Whether an element of a selectable role is selected."""
    state = SELECTABLE.get(element.role)
    return state is not None and state_of(element, state) == "true"


def ending(task: Task, outcome: Outcome, steps: Sequence[Step], first: Observation | None) -> Ending:
    """How an episode ended and how far it was from done: requested selections that are missing or too many.

    Where nothing can be selected and the actor itself called it done, the success conditions that do not hold are what is
    missing. Conditions that need a live page count as met: they cannot be asked any more.
    """
    page = last_page(steps) or first
    found = None if page is None else selections(task, page)
    missing, extra = (None, None) if found is None else (found.missing, found.extra)
    if missing is None and page is not None and steps and steps[-1].action.type == "done":
        missing = sum(c.script is None and not terms.holds(c, page) for c in task.success)
    return Ending(ended=outcome.ended, success=outcome.success, missing=missing, extra=extra)


def last_page(steps: Sequence[Step]) -> Observation | None:
    """The page that an episode was judged by: before its last action where that ended it, and else after it.

    A page that has taken a submission often shows something else by then.
    """
    if not steps:
        return None
    last = steps[-1]
    submitted = last.action.type in _CLICKS and last.target is not None and last.target.role not in SELECTABLE
    return last.observation if last.after is None or submitted or last.action.type == "press" else last.after
