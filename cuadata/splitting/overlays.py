"""Overlays as the evidence shows them: which one an input went to, whether the task binds it, whether it is still there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuadata.types import BBox, Condition, Element, Locator, Observation, Step, Task

#: What names an element in every observation of a page: the way to it and its role.
Key = tuple[object, ...]
DIALOGS = frozenset({"dialog", "alertdialog"})
#: Overlays that a control opens to be used: choosing in them is the task's own business.
POPUPS = frozenset({"menu", "listbox", "tree", "grid", "tooltip", "combobox", "menubar"})


def key(element: Element) -> Key:
    """What names an element across observations; its number where it has no locator."""
    way = element.locator
    if not way.css:
        return ("id", element.id)
    return (way.frames, way.shadow, way.css, element.role)


def elements_by_id(observation: Observation) -> dict[int, Element]:
    """The elements of an observation by their numbers."""
    return {element.id: element for element in observation.elements}


def overlay_ids(observation: Observation) -> set[int]:
    """Numbers of the elements that are dialogs or overlays."""
    around = {element.dialog for element in observation.elements if element.dialog is not None}
    return around | {element.id for element in observation.elements if element.role in DIALOGS}


def is_there(element: Element) -> bool:
    """Whether an overlay is rendered; it may be covered by another one."""
    return element.bbox is not None and element.evidence.rendered and element.evidence.opacity > 0


def open_overlays(observation: Observation) -> dict[Key, Element]:
    """Every overlay that is rendered."""
    ids = overlay_ids(observation)
    return {key(e): e for e in observation.elements if e.id in ids and is_there(e)}


def chain(element: Element, by_id: dict[int, Element]) -> Iterator[Element]:
    """The overlays around an element, from the nearest out."""
    seen = {element.id}
    inner = element.dialog
    while inner is not None and inner not in seen and inner in by_id:
        seen.add(inner)
        yield by_id[inner]
        inner = by_id[inner].dialog


def target_of(step: Step) -> Element | None:
    """The element that an input went to: the step's target, else the element it names, else the focus for keys."""
    if step.target is not None:
        return step.target
    number = step.action.element
    if number is None and step.action.type == "press":
        number = step.observation.focused
    return None if number is None else elements_by_id(step.observation).get(number)


def around(step: Step) -> tuple[Element, ...]:
    """The overlays that an input went to, the nearest first; empty where it went to the page itself."""
    observation = step.observation
    by_id = elements_by_id(observation)
    target = target_of(step)
    if target is not None:
        own = (target,) if target.id in overlay_ids(observation) and target.id in by_id else ()
        return (*own, *chain(target, by_id))
    point = step.action.point
    if point is None:
        return ()
    held = [
        (box.area, element.id)
        for element in open_overlays(observation).values()
        if (box := element.bbox) is not None and _holds(box, point.x, point.y)
    ]
    if not held:
        return ()
    nearest = by_id[min(held)[1]]
    return (nearest, *chain(nearest, by_id))


def _holds(box: BBox, x: float, y: float) -> bool:
    return box.x <= x < box.right and box.y <= y < box.bottom


def binds(task: Task | None) -> bool:
    """Whether a task says which controls are its own; one that says nothing cannot tell an overlay from its business."""
    return task is not None and bool(task.bindings or any(True for _ in _controls(task)))


def bound(task: Task, observation: Observation) -> list[Element]:
    """The elements that a task binds: words of its instruction, and controls whose state it rewards."""
    ways: dict[str, set[Locator]] = {}
    for binding in task.bindings:
        ways.setdefault(binding.locator.css, set()).add(binding.locator)
    named = {(c.role, _fold(c.name or "")) for c in _controls(task)}
    roles = {role for role, _ in named}
    return [
        e
        for e in observation.elements
        if e.locator in ways.get(e.locator.css, ()) or (e.role in roles and (e.role, _fold(e.name)) in named)
    ]


def bound_overlays(task: Task, observations: Iterable[Observation]) -> set[Key]:
    """Overlays that hold a control which the task binds, in any of the observations."""
    found: set[Key] = set()
    for observation in observations:
        by_id = elements_by_id(observation)
        ids = overlay_ids(observation)
        for element in bound(task, observation):
            found.update(key(overlay) for overlay in chain(element, by_id))
            if element.id in ids:
                found.add(key(element))
    return found


def _controls(task: Task) -> Iterator[Condition]:
    terms = (condition for term in task.terms for condition in term.when)
    for condition in (*task.success, *terms):
        if condition.present and condition.role and condition.name and condition.state:
            yield condition


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()
