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

`later: true` says that what a condition asks for is not on the page at the start; `cuadata env check --url` misses all else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from cuadata import recording
from cuadata.element_states import state_of
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
    failure: Annotated[str | None, "why its script does not run on the page"] = None

    @property
    def told(self) -> tuple[str | None, ...]:
        """What each of the elements says now of the state that is asked for; empty where none is."""
        state = self.condition.state
        return () if state is None else tuple(state_of(element, state) for element in self.elements)

    @property
    def silent(self) -> bool:
        """The elements are there, and none has the state that is asked for; an empty field has no value and is not silent."""
        return bool(self.told) and self.condition.state != "value" and not any(self.told)

    @property
    def dead(self) -> bool:
        """Nothing on the page is what the condition speaks of, and nobody said that it comes later."""
        if self.later or self.condition.url is not None:
            return False
        if self.condition.script is not None:
            return self.failure is not None
        return not self.elements or self.silent


def read(path: Path) -> Task:
    """The task of a file. DataError that names the key for a file that is none."""
    body = _body(path)
    if not body.get("page") or not body.get("instruction"):
        raise DataError("a task file needs a page and an instruction", place=str(path))
    name, seed = str(body.get("name") or path.stem), _number(body.get("seed", 0), "seed", int, 0, path)
    html, url = _page(str(body["page"]), path)
    held = tuple(term for term, _ in _terms(body.get("terms", []), path))
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
    _check(task, path)
    return replace(task, solution=_solution(body.get("solution"), path)) if body.get("solution") else task


@dataclass(frozen=True, slots=True)
class Asked:
    """What a file asks of a page: terms and success, and of each condition whether it is said to come later."""

    task: Annotated[Task, "of the file's terms and success alone"]
    later: Annotated[Mapping[str, tuple[bool, ...]], "by term, and success"]

    @property
    def conditions(self) -> Iterator[tuple[str, Condition, bool]]:
        """Term, condition and whether it comes later, in the order of the file; success comes last."""
        for name, held in (*((t.name, t.when) for t in self.task.terms), ("success", self.task.success)):
            for condition, later in zip(held, self.later[name], strict=True):
                yield name, condition, later


def read_terms(path: Path) -> Asked:
    """Terms and success of a file, which needs no page; a term without a value is worth 1. DataError as `read`."""
    body = _body(path)
    held = _terms(body.get("terms", []), path, value=1.0)
    success = _conditions(body.get("success", []), f"{path}: success")
    if not held and not success:
        raise DataError("there is no term and no success in it", place=str(path))
    found = tuple(term for term, _ in held)
    task = Task(
        id=path.stem,
        family=path.stem,
        seed=0,
        instruction="",
        html="",
        terms=found,
        success=tuple(c for c, _ in success),
    )
    _check(task, path)
    return Asked(task, {**{t.name: flags for t, flags in held}, "success": tuple(later for _, later in success)})


def bind(asked: Asked, observation: Observation, failures: Mapping[str, str] = MappingProxyType({})) -> list[Bound]:
    """What every condition finds on a page, states left aside: what is to be ticked is not ticked yet.

    `failures` tell why scripts do not run there.
    """
    found = []
    for name, condition, later in asked.conditions:
        plain = replace(condition, state=None, value=None, present=True)
        speaks = condition.url is None and condition.script is None
        elements = terms.matches(plain, observation) if speaks else ()
        found.append(Bound(name, condition, later, elements, failures.get(condition.script or "")))
    return found


def standing(asked: Asked, observation: Observation, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the terms that hold on a page as it is, and so never pay, and `success` where it is won already.

    A potential term may stand at the start: it is paid back what was taken. `values` are those of the scripts.
    """
    once = [(term.name, term.when) for term in asked.task.terms if term.kind == "once"]
    held = [*once, *([("success", asked.task.success)] if asked.task.success else [])]
    return tuple(name for name, when in held if terms.all_hold(when, observation, values.get))


def bind_page(page: str, path: Path, *, viewport: Size = Size(1280, 720)) -> tuple[list[Bound], tuple[str, ...]]:
    """What the terms of a file find on a page (an address, or an HTML file), and which of them hold as it is."""
    from cuadata import browser

    asked = read_terms(path)
    values: dict[str, Any] = {}
    failures: dict[str, str] = {}
    with browser.open(page, viewport=viewport) as opened:
        for script in {c.script for _, c, _ in asked.conditions if c.script is not None}:
            try:
                values[script] = opened.evaluate(script)
            except Exception as error:  # noqa: BLE001
                failures[script] = str(error).splitlines()[0]
        observation = opened.observe(screenshot=False)
    return bind(asked, observation, failures), standing(asked, observation, values)


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
    if twice := _twice(tree):
        raise DataError(f"said twice: {', '.join(twice)}", place=str(path))
    unknown = sorted(set(map(str, body)) - set(KEYS))
    if unknown:
        raise DataError(f"no key is named {', '.join(unknown)}; there are: {', '.join(KEYS)}", place=str(path))
    return body


def _twice(tree: Any) -> list[str]:
    """Keys that stand twice in one place, with their lines: YAML takes the last and drops the others."""
    found, left, known = [], [tree], set[int]()
    while left:
        node = left.pop()
        if node is None or id(node) in known:  # an anchor may hold itself
            continue
        known.add(id(node))
        pairs = node.value if node.id == "mapping" else []
        keys = [str(key.value) for key, _ in pairs]
        found += [
            f"{name} (line {key.start_mark.line + 1})"
            for at, ((key, _), name) in enumerate(zip(pairs, keys, strict=True))
            if name in keys[:at]
        ]
        left += [value for _, value in pairs] if pairs else node.value if node.id == "sequence" else []
    return sorted(found)


def _check(task: Task, path: Path) -> None:
    try:
        terms.check(task)
    except CallError as error:
        raise DataError(str(error), place=str(path)) from error


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


def _terms(given: Any, path: Path, **usual: Any) -> list[tuple[Term, tuple[bool, ...]]]:
    """Terms, and of each condition whether it comes later; `usual` are fields of terms that do not say them."""
    found = []
    for number, term in enumerate(_list(given, f"{path}: terms")):
        place = f"{path}: terms[{number}]"
        _named(term, place)
        held = _conditions(term.get("when", []), place)
        plain = {**usual, **{k: v for k, v in term.items() if k != "when"}}
        try:
            made = replace(from_row(plain, Term), when=tuple(c for c, _ in held))
        except ValueError as error:
            raise DataError(str(error), place=place) from error
        if not math.isfinite(made.value):
            raise DataError(f"Term.value: wanted a finite number, got {made.value}", place=place)
        found.append((made, tuple(later for _, later in held)))
    return found


def _conditions(given: Any, place: str) -> tuple[tuple[Condition, bool], ...]:
    found = []
    for number, condition in enumerate(_list(given, place)):
        here = f"{place}, condition {number}"
        plain = dict(condition)
        later = plain.pop("later", False)
        if not isinstance(later, bool):
            raise DataError(f"later: wanted true or false, got {later!r:.60}", place=here)
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


def _named(term: Mapping[str, Any], place: str) -> None:
    name = term.get("name")
    if not isinstance(name, str) or not name:
        raise DataError(
            f"a term needs a name, a text (in quotes where YAML reads something else), got {name!r}", place=place
        )


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
