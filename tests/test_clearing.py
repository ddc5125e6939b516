"""Gates asked one by one and gates that clearances speak for say the same of good, bad and hostile examples."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_trajectories as made
import pytest
from evidence import direct, many, spatial, without_a_page
from test_faults import ROWS
from test_gates_contract import CANDIDATES

from cuadata import recording, split
from cuadata.judging import clearing, gating
from cuadata.registry import gates
from cuadata.rows import Candidate
from cuadata.types import Action, BBox, Element, Evidence, Locator, Observation, Point, States

RECORDINGS = sorted((Path(__file__).parent.parent / "examples" / "recordings").iterdir())
CHOSEN = gating.choose()
GOOD = [direct(), spatial(), without_a_page(spatial()), *many(12), *split.examples(made.checkout("t"))]

#: Values that decide, that are no values, and that a hostile page would send.
NUMBERS = (0.0, -0.0, 1.0, 1 / 3, 1 / 3 - 0.005, 0.1, -5.0, 3.0, 2.9, 12.0, 1e9, math.nan, math.inf, -math.inf)
TEXTS = (
    "",
    " ",
    "Copy",
    " COPY. ",
    "Ｃｏｐｙ",
    "\u202eCopy",
    "\ud83d",
    "<b>x</b>",
    "a\0b",
    "x" * 5000,
    "mail bo@firma.de",
    "sıd=1",
)
INSTRUCTIONS = (
    "", "!?", "Click on the 'Copy' button", "Click on the button left of 'Search'", "Click on the nearest link above 'Cut'",
    "Click on the first button in the row", "Klicke auf »Kopieren«", "the button between 'Cut' and 'Paste'", "'' left of ''",
)  # fmt: skip


def one_by_one(candidate: Candidate) -> list[Any]:
    return [gates[name](candidate) for name in (one.name for one in CHOSEN)]


def check(candidate: Candidate) -> None:
    assert gating.verdicts(candidate, CHOSEN) == one_by_one(candidate)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.gate}-{row.reason}")
def test_planted_faults_and_near_faults(row: Any) -> None:
    check(row.fault())
    check(row.near())


@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_recorded_steps(folder: Path) -> None:
    for candidate in split.examples(recording.read(folder)):
        check(candidate)


def test_steps_with_little_to_look_at() -> None:
    for candidate in CANDIDATES:
        check(candidate)


@pytest.mark.parametrize("seed", range(8))
def test_examples_changed_at_random(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(150):
        candidate = chance.choice(GOOD)
        for change in chance.sample(CHANGES, chance.choice((1, 1, 2, 3))):
            candidate = change(candidate, chance)
        check(candidate)


def test_of_good_examples_hardly_a_gate_is_asked() -> None:
    """A clearance that never speaks makes nothing fast, and the comparison above would not notice."""
    spoken = {clearance for candidate in GOOD for clearance in _clearances() if clearance(candidate)}
    assert spoken == set(_clearances())
    asked = sum(not clearance(candidate) for candidate in many(50) for clearance in _clearances())
    assert asked <= 50 * 4


def test_a_threshold_of_the_caller_is_heard() -> None:
    chosen = gating.choose(["target_too_small:min_side=500", "box:max_cover=0.0001"])
    assert [one.reason for one in gating.verdicts(direct(), chosen)] == ["box_covers_page", "target_too_small"]


def test_a_wrong_clearance_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(clearing._FOUND, "box", lambda candidate: True)
    box = next(row for row in ROWS if row.gate == "box")
    assert gating.verdicts(box.fault(), gating.choose()) != one_by_one(box.fault())


def _clearances() -> list[clearing.Clearance]:
    return list(dict.fromkeys(one for name in gates.names() if (one := clearing.of(name)) is not None))


# Changes ---------------------------------------------------------------------------------------------------------------


def _box(chance: random.Random, box: BBox | None) -> BBox | None:
    if box is None or chance.random() < 0.1:
        return None
    name = chance.choice(("x", "y", "width", "height"))
    return replace(box, **{name: chance.choice((*NUMBERS, getattr(box, name) + chance.choice((-40, -1, 1, 2, 40))))})


def of_the_row(candidate: Candidate, chance: random.Random) -> Candidate:
    """Columns of the example itself."""
    target = candidate.example.target
    changes: Iterator[dict[str, Any]] = iter((
        {"instruction": chance.choice(INSTRUCTIONS)},
        {"relation": chance.choice((None, "left_of", "below", "near", "nearest"))},
        {"target": None},
        {"references": ()},
        {"provenance": chance.choice(("", "{}", "[1]", '{"licence": "CC BY-NC"}', '{"dataset": "screenspot", "split": "test"}',
                                      '{"task_failed": true}', '{"task_failed": true, "paid": 0.5}', '{"task_failed": "',
                                      '["task_failed"]', '{"task_failed": true, "paid": "much"}', '{"words": ["Copy"]}', '{"rollouts": {"hits": 0, "n": 8}}'))},
        {"site": chance.choice(("", "webarena", "shop.test"))},
        {"viewport_width": chance.choice((0, 100, 1920)), "viewport_height": chance.choice((0, 100, 1080))},
        {"history": (chance.choice(TEXTS),)},
        {} if target is None else {"target": replace(target, bbox=_box(chance, target.bbox))},
        {} if target is None else {"target": replace(target, name=chance.choice(TEXTS), role=chance.choice(("", "link")))},
        {} if target is None else {"target": replace(target, locator=chance.choice((None, Locator(), Locator(css="#e4"))))},
    ))  # fmt: skip
    return replace(candidate, example=replace(candidate.example, **chance.choice(list(changes))))


def of_the_action(candidate: Candidate, chance: random.Random) -> Candidate:
    """What was done, in the row and in its step."""
    point = Point(chance.choice((*NUMBERS, 200.0)), chance.choice((*NUMBERS, 116.0)))
    action = chance.choice((
        Action(type="click", point=point), Action(type="click"), Action(type="hover", element=3), Action(type="wait", seconds=1),
        Action(type="drag", point=point, end=Point(1.0, 1.0)), Action(type="press", keys=("Nope",)), Action(type="type", text="hi"),
        Action(type="navigate", url="https://a.test/#b"), Action(type="infeasible", text="no"), Action(type="scroll", scroll_y=3),
    ))  # fmt: skip
    step = candidate.step and replace(candidate.step, action=action)
    return replace(candidate, step=step, example=replace(candidate.example, action=action))


def of_the_step(candidate: Candidate, chance: random.Random) -> Candidate:
    """Its place, time and outcome."""
    if candidate.step is None or chance.random() < 0.1:
        return replace(candidate, step=None, trajectory=None)
    changes: tuple[dict[str, Any], ...] = (
        {"error": chance.choice(("it failed", "target_stale: gone"))},
        {"index": chance.choice((-1, 0, 1, 7))},
        {"time": chance.choice((0.0, 1e12, math.nan))},
        {"effect": None},
    )
    return replace(candidate, step=replace(candidate.step, **chance.choice(changes)))


def of_the_trajectory(candidate: Candidate, chance: random.Random) -> Candidate:
    """The steps around it: missing, twice, in another order, at other times."""
    whole = candidate.trajectory
    if whole is None:
        return candidate
    steps = list(whole.steps)
    place = chance.randrange(len(steps))
    steps[place] = replace(steps[place], time=chance.choice((0.0, 2e9)), index=chance.choice((place, place + 1)))
    kept = chance.choice((steps, steps[1:], [*steps, *steps], steps[::-1]))
    return replace(
        candidate, trajectory=replace(whole, steps=tuple(kept), source=chance.choice((whole.source, "mind2web")))
    )


def of_the_page(candidate: Candidate, chance: random.Random) -> Candidate:
    """An element of the page, measured otherwise; or its notes."""
    page = candidate.observation
    if page is None or not page.elements:
        return candidate
    if chance.random() < 0.15:
        note = chance.choice(
            ("missing_file: x", "convention_unknown", "not_an_input: an assertion", "a font did not load")
        )
        return _on(candidate, replace(page, notes=(note,)))
    css = candidate.example.target.locator.css if candidate.example.target and candidate.example.target.locator else ""
    own = [place for place, one in enumerate(page.elements) if one.locator.css == css]
    place = chance.choice(own * 3 + list(range(len(page.elements))))
    elements = list(page.elements)
    elements[place] = _measured(elements[place], chance)
    return _on(candidate, replace(page, elements=tuple(elements)))


def _on(candidate: Candidate, page: Observation) -> Candidate:
    return replace(candidate, observation=page, step=candidate.step and replace(candidate.step, observation=page))


def _measured(one: Element, chance: random.Random) -> Element:
    share = chance.choice(NUMBERS)
    held: Evidence = one.evidence
    evidence = (
        {"rects": ()}, {"rects": (_box(chance, one.bbox) or BBox(0, 0, 2, 2),)}, {"in_viewport": share}, {"opacity": share},
        {"clipped": share}, {"covered": share}, {"rendered": False}, {"inert": True}, {"pointer_events": False},
        {"contrast": share}, {"unsure": "mask"}, {"unsure": "mask", "pixels": share},
    )  # fmt: skip
    changes: tuple[dict[str, Any], ...] = (
        {"seen": share}, {"point": None}, {"interactive": False}, {"acts_on": 3}, {"parent": 1}, {"states": States(disabled=True)},
        {"name": chance.choice(TEXTS)}, {"text": chance.choice(TEXTS)}, {"role": "link"}, {"bbox": _box(chance, one.bbox)},
        *({"evidence": replace(held, **change)} for change in evidence),
    )  # fmt: skip
    return replace(one, **chance.choice(changes))


CHANGES: list[Callable[[Candidate, random.Random], Candidate]] = [
    of_the_row, of_the_row, of_the_action, of_the_step, of_the_trajectory, of_the_page, of_the_page, of_the_page,
]  # fmt: skip
