"""A task of any page from a YAML file: page, instruction, reward terms in roles, names and states, success.

page: https://example.org/plans           # an address, or an HTML file beside this one
instruction: Choose the yearly plan and submit.
viewport: [1280, 720]
terms:
  - {name: chosen, value: 0.1, when: [{role: radio, name: Yearly, state: checked, value: "true"}]}
  - name: saved
    value: 1.0
    kind: once                            # or potential
    when:
      - {role: heading, name: Thank you, later: true}
      - {role: dialog, name: Choose a plan, present: false}
success: [{role: heading, name: Thank you, later: true}]
solution: recordings/by-hand              # a recording, played move by move by the oracle
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cuadata import recording
from cuadata.episodes import terms
from cuadata.errors import CallError, DataError
from cuadata.schema import from_row
from cuadata.types import Condition, Element, Move, Observation, Size, Task, Term

KEYS = ("page", "instruction", "viewport", "device_pixel_ratio", "terms", "success", "solution", "name", "seed")
ADDRESSES = ("http://", "https://", "data:", "miniwob:")
_CONDITION = tuple(f.name for f in fields(Condition))


@dataclass(frozen=True, slots=True)
class Bound:
    """What one condition of a file finds on a page."""

    term: Annotated[str, "name of the term, or success"]
    condition: Condition
    later: Annotated[bool, "the file says that it is not there at the start"]
    elements: Annotated[tuple[Element, ...], "elements of its role and name, whatever their state"]

    @property
    def dead(self) -> bool:
        """Nothing on the page is what the condition speaks of, and nobody said that it comes later."""
        speaks_of_elements = self.condition.url is None and self.condition.script is None
        return speaks_of_elements and not self.elements and not self.later


def read(path: Path) -> Task:
    """The task of a file. DataError that names the key for a file that is none."""
    body = _body(path)
    if not body.get("page") or not body.get("instruction"):
        raise DataError("a task file needs a page and an instruction", place=str(path))
    name, seed = str(body.get("name") or path.stem), _number(body.get("seed", 0), "seed", int, 0, path)
    html, url = _page(str(body["page"]), path)
    held = _terms(body.get("terms", []), path)
    task = Task(
        id=f"{name}/{seed}",
        family=name,
        seed=seed,
        instruction=str(body["instruction"]),
        html=html,
        url=url,
        viewport=_viewport(body.get("viewport", [1280, 720]), path),
        device_pixel_ratio=_number(body.get("device_pixel_ratio", 1.0), "device_pixel_ratio", float, 0.1, path),
        terms=held,
        success=tuple(c for c, _ in _conditions(body.get("success", []), f"{path}: success")),
        template=name,
    )
    try:
        terms.check(task)
    except CallError as error:
        raise DataError(str(error), place=str(path)) from error
    return replace(task, solution=_solution(body.get("solution"), path)) if body.get("solution") else task


def read_terms(path: Path) -> dict[str, tuple[tuple[Condition, bool], ...]]:
    """The conditions of a file by term, `success` among them, each with whether it is said to come later."""
    body = _body(path)
    found = {}
    for number, term in enumerate(_list(body.get("terms", []), f"{path}: terms")):
        place = f"{path}: terms[{number}]"
        found[_named(term, place)] = _conditions(term.get("when", []), place)
    if body.get("success"):
        found["success"] = _conditions(body["success"], f"{path}: success")
    if not found:
        raise DataError("there is no term and no success in it", place=str(path))
    return found


def bind(held: Mapping[str, tuple[tuple[Condition, bool], ...]], observation: Observation) -> list[Bound]:
    """What every condition finds on a page, states left aside: what is to be ticked is not ticked yet."""
    found = []
    for name, conditions in held.items():
        for condition, later in conditions:
            plain = replace(condition, state=None, value=None, present=True)
            speaks = condition.url is None and condition.script is None
            elements = terms.matches(plain, observation) if speaks else ()
            found.append(Bound(name, condition, later, elements))
    return found


def bind_page(page: str, path: Path, *, viewport: Size = Size(1280, 720)) -> list[Bound]:
    """What the terms of a file find on a page: an address, or an HTML file."""
    from cuadata import browser

    held = read_terms(path)
    with browser.open(page, viewport=viewport) as opened:
        return bind(held, opened.observe(screenshot=False))


def _body(path: Path) -> dict[str, Any]:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        body, tree = yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except OSError as error:
        raise CallError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"it is no YAML: {error}", place=str(path)) from error
    if not isinstance(body, dict):
        raise DataError(f"wanted keys and values, got {type(body).__name__}", place=str(path))
    keys = [key.value for key, _ in tree.value] if tree is not None else []
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise DataError(f"said twice: {', '.join(sorted(twice))}", place=str(path))
    unknown = sorted(set(map(str, body)) - set(KEYS))
    if unknown:
        raise DataError(f"no key is named {', '.join(unknown)}; there are: {', '.join(KEYS)}", place=str(path))
    return body


N = TypeVar("N", int, float)


def _number(given: Any, key: str, kind: type[N], least: float, path: Path) -> N:
    """A number of a kind, at least `least` and at most a million. DataError for anything else."""
    fits = isinstance(given, (int, kind)) and not isinstance(given, bool) and least <= given <= 1e6
    if not fits:
        raise DataError(f"{key}: wanted a number from {least:g} to 1000000, got {given!r:.60}", place=str(path))
    return kind(given)


def _viewport(given: Any, path: Path) -> Size:
    if not isinstance(given, list) or len(given) != 2:
        raise DataError(f"viewport: wanted [width, height] in CSS px, got {given!r:.60}", place=str(path))
    width, height = (_number(side, "viewport", int, 1, path) for side in given)
    return Size(width, height)


def _page(page: str, path: Path) -> tuple[str | None, str | None]:
    """The page as HTML or as an address; a file is always served, never opened by `file:`."""
    if page.startswith(ADDRESSES):
        return None, page
    file = (path.parent / page).resolve()
    if "://" in page or not file.is_file():
        raise DataError(f"page: it is no address of http or https, and there is no file {file}", place=str(path))
    try:
        return file.read_text(encoding="utf-8"), None
    except UnicodeDecodeError as error:
        raise DataError(f"page: {file} is no text in UTF-8: {error.reason}", place=str(path)) from error


def _terms(given: Any, path: Path) -> tuple[Term, ...]:
    found = []
    for number, term in enumerate(_list(given, f"{path}: terms")):
        place = f"{path}: terms[{number}]"
        conditions = tuple(c for c, _ in _conditions(term.get("when", []), place))
        plain = {k: v for k, v in term.items() if k != "when"}
        try:
            found.append(replace(from_row(plain, Term), when=conditions))
        except ValueError as error:
            raise DataError(str(error), place=place) from error
        if not math.isfinite(found[-1].value):
            raise DataError(f"Term.value: wanted a finite number, got {found[-1].value}", place=place)
    return tuple(found)


def _conditions(given: Any, place: str) -> tuple[tuple[Condition, bool], ...]:
    found = []
    for number, condition in enumerate(_list(given, place)):
        here = f"{place}, condition {number}"
        plain = dict(condition)
        later = bool(plain.pop("later", False))
        if isinstance(plain.get("value"), bool):  # YAML reads a bare true as a boolean; states are text
            plain["value"] = str(plain["value"]).lower()
        if not plain:
            raise DataError(f"it asks for nothing; there are: {', '.join(_CONDITION)}", place=here)
        try:
            found.append((from_row(plain, Condition), later))
        except ValueError as error:
            raise DataError(str(error), place=here) from error
    return tuple(found)


def _list(given: Any, place: str) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise DataError(f"wanted a list of keys and values, got {given!r:.60}", place=place)
    return given


def _named(term: Mapping[str, Any], place: str) -> str:
    name = term.get("name")
    if not isinstance(name, str) or not name:
        raise DataError(
            f"a term needs a name, a text (in quotes where YAML reads something else), got {name!r}", place=place
        )
    return name


def _solution(given: Any, path: Path) -> tuple[Move, ...]:
    """The moves of a recording: its inputs that went through, each on the element that it acted on."""
    folder = (path.parent / str(given)).resolve()
    return moves(recording.read(folder, pictures=False).steps)


def moves(steps: Any) -> tuple[Move, ...]:
    """Moves that do again what recorded steps did; thoughts and failed steps are left out."""
    found = []
    for step in steps:
        if step.error is not None or step.action.type in ("reason", "done", "infeasible"):
            continue
        locator = step.target.locator if step.target is not None else None
        action = replace(step.action, element=None, point=step.action.point if locator is None else None)
        found.append(Move(action=action, locator=locator, phase=step.phase))
    return tuple(found)
