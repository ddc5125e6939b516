"""Every gate has a planted fault that it alone catches, and a near-fault that all gates let pass.

A gate that has no row here fails the test: whoever adds a gate adds what it is for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from evidence import (
    BROWSER_TIME,
    COPY,
    CUT,
    EXPRESS,
    LINK,
    PAGE,
    PASTE,
    SAVE,
    SEARCH,
    TITLE,
    at,
    direct,
    element,
    example,
    spatial,
    without_a_page,
)
from evidence import row as row_of

from cuadata import split
from cuadata.judging import judging
from cuadata.registry import gates
from cuadata.rows import Candidate
from cuadata.types import (
    Action,
    BBox,
    Binding,
    Effect,
    Element,
    Evidence,
    Image,
    Outcome,
    Point,
    Reward,
    Size,
    States,
    Step,
    Task,
)

Maker = Callable[[], Candidate]


@dataclass(frozen=True)
class Row:
    """A gate, the reason that it has to give, the fault, and what is nearly one."""

    gate: str
    reason: str
    fault: Maker
    near: Maker
    also: tuple[str, ...] = ()  # gates that say the same in other words, by what they are


# How examples are changed ----------------------------------------------------------------------------------------------


def seen_as(**changes: object) -> Candidate:
    """The direct example with its target measured otherwise."""
    return on_page(replace(COPY, **changes))  # type: ignore[arg-type]


def measured(**changes: object) -> Evidence:
    return replace(COPY.evidence, **changes)  # type: ignore[arg-type]


def on_page(target: Element) -> Candidate:
    page = tuple(target if one.id == target.id else one for one in PAGE)
    made = example(target, "Click on the 'Copy' button", elements=page, shot=direct().example.image)
    # The click goes where it went before, whether that is a good place or not.
    return at(made, target.point or COPY.point or Point(0, 0))


def instructed(text: str, candidate: Candidate | None = None) -> Candidate:
    held = candidate or direct()
    return replace(held, example=replace(held.example, instruction=text))


def failed(*, paid: float) -> Candidate:
    """A step of a trajectory that failed its task; the environment paid so much for the step itself."""
    held = direct().trajectory
    assert held is not None
    step = replace(held.steps[0], rewards=(Reward(name="ticked", value=paid),))
    lost = replace(held, steps=(step,), outcome=Outcome(ended="failure", success=False))
    return next(split.examples(lost))


def hopeless(text: str, *references: Element) -> Candidate:
    """The answer is that it cannot be done."""
    held = acting(Action(type="infeasible"), instructed(text), target=None)
    relation = "left_of" if "left of" in text else "right_of" if "right of" in text else None
    row = replace(held.example, target=None, references=tuple(map(row_of, references)), relation=relation)
    return replace(held, example=row)


def acting(action: Action, candidate: Candidate | None = None, **step: object) -> Candidate:
    held = candidate or direct()
    assert held.step is not None
    changed = replace(held.step, action=action, **step)  # type: ignore[arg-type]
    return follow(replace(held, example=replace(held.example, action=action), step=changed))


def follow(candidate: Candidate) -> Candidate:
    """The trajectory holds the step as it stands now."""
    assert candidate.step is not None and candidate.trajectory is not None
    earlier = candidate.trajectory.steps[:-1]
    return replace(candidate, trajectory=replace(candidate.trajectory, steps=(*earlier, candidate.step)))


def noted(note: str, candidate: Candidate | None = None) -> Candidate:
    held = candidate or without_a_page(direct())
    assert held.observation is not None
    return replace(held, observation=replace(held.observation, notes=(note,)))


def provenance(candidate: Candidate | None = None, **entries: object) -> Candidate:
    held = candidate or direct()
    return replace(held, example=replace(held.example, provenance=json.dumps(entries)))


def after(seconds: float, *, index: int = 1, same_picture: bool = False, **earlier: object) -> Candidate:
    """The direct example as the second step; the first began `seconds` before it."""
    held = direct()
    assert held.step is not None and held.trajectory is not None and held.observation is not None
    shot = held.observation.screenshot
    other = example(CUT, "", elements=(CUT, SAVE)).observation
    assert other is not None
    before = replace(other, screenshot=shot if same_picture else other.screenshot, time=BROWSER_TIME - seconds - 0.2)
    given: dict[str, object] = {
        "index": 0,
        "time": BROWSER_TIME - seconds,
        "observation": before,
        "action": Action(type="click", point=CUT.point, element=CUT.id),
        "target": CUT,
        "effect": Effect(kind="local", similarity=0.2),
        **earlier,
    }
    first = Step(**given)  # type: ignore[arg-type]
    step = replace(held.step, index=index)
    whole = replace(held.trajectory, steps=(first, step))
    return replace(held, step=step, trajectory=whole, example=replace(held.example, step_index=index))


def backwards() -> Candidate:
    """The direct example as the third step, where time went back between the first two."""
    held = after(1.0)
    assert held.trajectory is not None and held.step is not None
    first = held.trajectory.steps[0]
    second = replace(first, index=1, time=first.time - 0.5, action=Action(type="press", keys=("Tab",)), target=None)
    step = replace(held.step, index=2)
    return replace(held, step=step, trajectory=replace(held.trajectory, steps=(first, second, step)))


def observed(candidate: Candidate, **changes: object) -> Candidate:
    assert candidate.observation is not None and candidate.step is not None
    page = replace(candidate.observation, **changes)  # type: ignore[arg-type]
    return follow(replace(candidate, observation=page, step=replace(candidate.step, observation=page)))


def pictured(candidate: Candidate, shot: Image, *, stated: Size | None = None) -> Candidate:
    size = stated or Size(shot.width, shot.height)
    row = replace(candidate.example, image=shot, image_width=size.width, image_height=size.height)
    return observed(replace(candidate, example=row), screenshot=shot)


def without(gone: Element) -> Candidate:
    """The spatial example on a page from which an element has gone."""
    held = spatial()
    assert held.observation is not None
    return observed(held, elements=tuple(one for one in held.observation.elements if one.id != gone.id))


def painted(role: str) -> Candidate:
    """A row of an imported set whose target has this role."""
    held = boxed(COPY.bbox)
    assert held.example.target is not None
    return replace(held, example=replace(held.example, target=replace(held.example.target, role=role)))


def boxed(box: BBox | None, candidate: Candidate | None = None) -> Candidate:
    """A row of an imported set with this box."""
    held = without_a_page(candidate or direct())
    assert held.example.target is not None
    point = box.center if box is not None else COPY.point
    target = replace(held.example.target, bbox=box, point=point)
    action = replace(held.example.action, point=point)
    return replace(held, example=replace(held.example, target=target, action=action), step=None)


def referring(reference: Element, *others: Element, text: str | None = None) -> Candidate:
    """The spatial example with its reference measured otherwise, and other elements beside it."""
    page = (TITLE, PASTE, reference, LINK, EXPRESS, SAVE, *others)
    words = text or "Click on the button to the left of 'Search'"
    return example(PASTE, words, elements=page, references=(reference,), relation="left_of")


def reference_as(**changes: object) -> Candidate:
    evidence = replace(SEARCH.evidence, **changes)  # type: ignore[arg-type]
    return referring(replace(SEARCH, seen=0.1 if changes else 1.0, evidence=evidence))


def related(target: Element, text: str, relation: str, *others: Element, column: str | None = None) -> Candidate:
    page = (TITLE, SEARCH, EXPRESS, target, *others)
    made = example(target, text, elements=page, references=(SEARCH,))
    return replace(made, example=replace(made.example, relation=column or relation))


def bound(instruction: str) -> Candidate:
    """The direct example of a task that binds the word 'Copy', with an instruction that was rewritten."""
    task = Task(
        id="settings/0",
        family="settings",
        seed=0,
        instruction="Click on the 'Copy' button",
        bindings=(Binding(word="Copy", part="target", locator=COPY.locator),),
    )
    return replace(instructed(instruction), task=task)


def other_picture() -> Image:
    shot = example(CUT, "", elements=(CUT, COPY, SAVE)).example.image
    assert shot.sha256 != direct().example.image.sha256
    return shot


def moved(element: Element, dx: float, dy: float = 0.0) -> Candidate:
    """The label's box lies beside the element; point and everything else are right."""
    held = direct()
    assert held.example.target is not None and element.bbox is not None
    box = BBox(element.bbox.x + dx, element.bbox.y + dy, element.bbox.width, element.bbox.height)
    return replace(held, example=replace(held.example, target=replace(held.example.target, bbox=box)))


def narrow_reference(side: float) -> Candidate:
    """A row of an imported set that refers to a box of this height, in line with its target."""
    held = without_a_page(spatial())
    box = BBox(400, 100, 320, side)
    reference = replace(held.example.references[0], bbox=box)
    return replace(held, example=replace(held.example, references=(reference,)), step=None)


NOTHING = Image(sha256="", width=0, height=0, format="", phash="")


def cut_off() -> Image:
    """A picture of which the record is whole and the file is not."""
    whole = direct().example.image
    assert whole.data is not None
    return replace(whole, data=whole.data[:60] + whole.data[-20:], phash="")


DRAG = Action(type="drag", point=COPY.point, end=Point(400, 300), element=COPY.id)
TYPE = Action(type="type", text="blue", element=SEARCH.id)
HALF_SEEN = replace(COPY, seen=0.4, hit=0.4)
BESIDE = element(20, "button", "Copy", 40, 400, 96, 32)
TWIN = element(21, "button", "Go", 280, 100, 80, 32)
FAR_TWIN = element(22, "button", "Go", 280, 420, 80, 32)
STRAY = element(23, "button", "Go", 264, 118, 96, 32)  # shares 14 of 32 px with the row of Search: half is 16

ROWS = (
    Row("action_failed", "action_failed", lambda: acting(direct().example.action, error="no such element"),
        lambda: after(1.0, error="no such element")),
    Row("action_unsupported", "action_unsupported", lambda: acting(replace(DRAG, end=None)), lambda: acting(DRAG)),
    Row("not_an_input", "not_an_input", lambda: noted("not_an_input: an assertion of a test"),
        lambda: noted("a font did not load")),
    Row("script_triggered", "script_triggered", lambda: noted("script_triggered: userTriggered is false"),
        lambda: noted("script: three were blocked")),
    Row("multi_action_step", "multi_action_step", lambda: after(0.1, same_picture=True),
        lambda: after(0.5, same_picture=True)),
    Row("coordinates_out_of_range", "coordinates_out_of_range", lambda: acting(replace(DRAG, end=Point(2000, 300))),
        lambda: acting(replace(DRAG, end=Point(1279, 719)))),
    Row("instruction_missing", "instruction_missing", lambda: instructed(" \n"), lambda: instructed("5")),
    Row("history_gap", "history_gap", lambda: after(1.0, index=3), lambda: after(1.0)),
    Row("time_not_monotonic", "time_not_monotonic", backwards, lambda: after(0.3)),
    Row("duplicate_event", "duplicate_event",
        lambda: after(0.01, same_picture=True, action=direct().example.action, target=COPY, effect=Effect(kind="none")),
        lambda: after(0.3, same_picture=True, action=direct().example.action, target=COPY, effect=Effect(kind="none"))),
    Row("screenshot_missing", "screenshot_missing",
        lambda: observed(replace(direct(), example=replace(direct().example, image=NOTHING)), screenshot=None),
        direct),
    Row("screenshot_undecodable", "screenshot_undecodable", lambda: pictured(direct(), cut_off()), direct),
    Row("screenshot_size_mismatch", "screenshot_size_mismatch",
        lambda: pictured(direct(), direct().example.image, stated=Size(1920, 1080)), direct),
    Row("screenshot_scale_unknown", "screenshot_scale_unknown",
        lambda: replace(direct(), example=replace(direct().example, viewport_height=600)),
        lambda: replace(direct(), example=replace(direct().example, viewport_width=1600, viewport_height=900))),
    Row("screenshot_after_action", "screenshot_after_action", lambda: observed(direct(), time=BROWSER_TIME + 0.1),
        lambda: observed(direct(), time=BROWSER_TIME)),
    Row("screenshot_stale", "screenshot_stale",
        lambda: pictured(direct(), example(SAVE, "", elements=(SAVE,)).example.image),
        lambda: pictured(direct(), example(SAVE, "", elements=(SAVE, COPY)).example.image)),
    Row("no_effect", "no_effect", lambda: acting(direct().example.action, effect=Effect(kind="none", similarity=1.0)),
        lambda: acting(direct().example.action, effect=Effect(kind="late", similarity=0.9))),
    Row("target_missing", "target_missing",
        lambda: acting(Action(type="click", point=Point(600, 400)),
                       replace(direct(), example=replace(direct().example, target=None)), target=None),
        lambda: acting(Action(type="press", keys=("Enter",)),
                       replace(direct(), example=replace(direct().example, target=None)), target=None)),
    Row("target_stale", "target_stale",
        lambda: acting(direct().example.action, error="target_stale: it was replaced"), direct, ("action_failed",)),
    Row("target_offscreen", "target_offscreen", lambda: seen_as(evidence=measured(in_viewport=0.3)),
        lambda: seen_as(evidence=measured(in_viewport=0.4), seen=0.4)),
    Row("target_too_small", "target_too_small", lambda: seen_as(evidence=measured(rects=(BBox(200, 116, 2, 2),))),
        lambda: seen_as(evidence=measured(rects=(BBox(198, 114, 4, 4),)))),
    Row("target_hidden", "target_hidden", lambda: seen_as(evidence=measured(opacity=0.05)),
        lambda: seen_as(evidence=measured(opacity=0.3))),
    Row("target_clipped", "target_clipped", lambda: seen_as(evidence=measured(clipped=0.7), seen=0.3), lambda:
        seen_as(evidence=measured(clipped=0.6), seen=0.4)),
    Row("target_occluded", "target_occluded", lambda: seen_as(evidence=measured(covered=0.7), seen=0.3),
        lambda: seen_as(evidence=measured(covered=0.6), seen=0.4)),
    Row("target_disabled", "target_disabled", lambda: seen_as(states=States(disabled=True)),
        lambda: seen_as(states=States(readonly=True))),
    Row("target_not_interactive", "target_not_interactive", lambda: seen_as(interactive=False),
        lambda: seen_as(interactive=False, acts_on=CUT.id)),
    Row("point_outside_target", "point_outside_target", lambda: at(direct(), Point(260, 116)),
        lambda: at(direct(), Point(247.5, 131.5))),
    Row("box", "box_missing", lambda: boxed(None), lambda: boxed(COPY.bbox)),
    Row("box", "box_degenerate", lambda: boxed(BBox(152, 100, 96, 0)), lambda: boxed(BBox(152, 100, 96, 6))),
    Row("box", "box_not_tight", lambda: painted("Canvas"), lambda: painted("img")),
    Row("box", "box_covers_page", lambda: boxed(BBox(0, 0, 1280, 700)), lambda: boxed(BBox(0, 0, 1280, 600))),
    Row("box", "coordinates_out_of_range", lambda: boxed(BBox(1200, 100, 150, 40)),
        lambda: boxed(BBox(1200, 100, 82, 40))),
    Row("stale", "target_stale", lambda: moved(COPY, 8), lambda: moved(COPY, 1)),
    Row("stale", "target_missing", lambda: observed(direct(), elements=tuple(e for e in PAGE if e is not COPY)),
        lambda: observed(direct(), elements=tuple(e for e in PAGE if e is not CUT))),
    Row("stale", "screenshot_stale",
        lambda: replace(direct(), example=replace(direct().example, image=other_picture())), direct),
    Row("reference", "reference_missing",
        lambda: without(SEARCH),
        lambda: without(LINK)),
    Row("reference", "reference_hidden", lambda: reference_as(rendered=False),
        lambda: referring(replace(SEARCH, evidence=replace(SEARCH.evidence, opacity=0.5)))),
    Row("reference", "reference_offscreen", lambda: reference_as(in_viewport=0.1),
        lambda: referring(replace(SEARCH, seen=0.5, evidence=replace(SEARCH.evidence, in_viewport=0.5)))),
    Row("reference", "reference_clipped", lambda: reference_as(clipped=0.9),
        lambda: referring(replace(SEARCH, seen=0.4, evidence=replace(SEARCH.evidence, clipped=0.6)))),
    Row("reference", "reference_occluded", lambda: reference_as(covered=0.9),
        lambda: referring(replace(SEARCH, seen=0.4, evidence=replace(SEARCH.evidence, covered=0.6)))),
    Row("reference", "reference_too_small",
        lambda: narrow_reference(2), lambda: narrow_reference(6)),
    Row("reference", "reference_ambiguous", lambda: referring(SEARCH, element(30, "textbox", "search", 400, 300, 320, 32)),
        lambda: referring(SEARCH, element(30, "textbox", "Search in", 400, 300, 320, 32))),
    Row("reference", "coordinates_out_of_range", lambda: narrow_reference(float("nan")), lambda: narrow_reference(16)),
    Row("relation", "relation_false", lambda: related(PASTE, "Click on the button right of 'Search'", "right_of"),
        lambda: related(PASTE, "Click on the button left of 'Search'", "left_of")),
    Row("relation", "relation_false",
        lambda: related(PASTE, "Click on the button left of 'Search'", "left_of", column="above"),
        lambda: related(PASTE, "Click on the nearest button left of 'Search'", "left_of", column="nearest")),
    Row("relation", "relation_ambiguous",
        lambda: related(PASTE, "Click on the button left of 'Search'", "left_of", CUT),
        lambda: related(PASTE, "Click on the nearest button left of 'Search'", "left_of", CUT)),
    Row("relation", "relation_marginal",
        lambda: related(CUT, "Click on the button left of 'Search'", "left_of", STRAY),
        lambda: related(CUT, "Click on the button left of 'Search'", "left_of", FAR_TWIN)),
    Row("relation", "relation_unmatched",
        lambda: replace(related(PASTE, "Click on the button left of 'Send'", "left_of"),
                        example=replace(related(PASTE, "Click on the button left of 'Send'", "left_of").example,
                                        references=())),
        lambda: replace(related(PASTE, "Click on the button left of 'Search'", "left_of"),
                        example=replace(related(PASTE, "Click on the button left of 'Search'", "left_of").example,
                                        references=()))),
    Row("ambiguous", "target_ambiguous",
        lambda: example(COPY, "Click on the 'Copy' button", elements=(*PAGE, replace(BESIDE, name="copy ", text="COPY"))),
        lambda: example(COPY, "Click on the 'Copy' button", elements=(*PAGE, replace(BESIDE, role="link")))),
    Row("instruction_mismatch", "instruction_mismatch", lambda: instructed("Click on the 'Send' button"),
        lambda: instructed("Click on the 'COPY' button.")),
    Row("instruction_mismatch", "instruction_mismatch", lambda: bound("Now press it"),
        lambda: bound("Now press COPY")),
    Row("instruction_mismatch", "instruction_mismatch", lambda: instructed("Click on the Paste button"),
        lambda: instructed("Click on the copying button")),
    Row("instruction_mismatch", "instruction_mismatch",
        lambda: instructed("Click on the green one", provenance(words=["blue one"])),
        lambda: instructed("Click on the BLUE one.", provenance(words=["blue one"]))),
    Row("infeasible", "answer_exists", lambda: hopeless("Click on the 'Copy' button"),
        lambda: hopeless("Click on the 'Copy all' button")),
    Row("infeasible", "answer_exists", lambda: hopeless("Click on the button left of 'Copy'", COPY),
        lambda: hopeless("Click on the checkbox right of 'Copy'", COPY)),
    Row("convention", "convention_unknown", lambda: noted("convention_unknown: {}"), lambda: noted("convention: px")),
    Row("convention", "convention_contradicted", lambda: noted("convention_contradicted: {}"), lambda: noted("")),
    Row("files", "missing_file", lambda: noted('missing_file: {"name": "img/a.png"}'), lambda: noted("missing: a font")),
    Row("files", "path_outside_set", lambda: noted("path_outside_set: {}"), lambda: noted("path: img/a.png")),
    Row("files", "screenshot_undecodable", lambda: noted("screenshot_undecodable: {}"), lambda: noted("screenshot: png")),
    Row("files", "screenshot_size_mismatch", lambda: noted("screenshot_size_mismatch: {}"), lambda: noted("size: 9x9")),
    Row("benchmark_leak", "benchmark_leak", lambda: provenance(dataset="osunlp/Mind2Web", split="test_domain"),
        lambda: provenance(dataset="osunlp/Mind2Web", split="train")),
    Row("licence_restricted", "licence_restricted", lambda: provenance(licence="CC-BY-NC-SA-4.0"),
        lambda: provenance(licence="CC-BY-4.0")),
    Row("sensitive_value", "sensitive_value",
        lambda: instructed("Click on the 'Copy' button, then pay with 4111 1111 1111 1111"),
        lambda: instructed("Click on the 'Copy' button, then quote order 4111 1111 1111 1112")),
    Row("task_failed", "task_failed", lambda: failed(paid=0.02), lambda: failed(paid=0.1)),
    Row("difficulty", "too_easy", lambda: provenance(rollouts={"hits": 8, "n": 8}),
        lambda: provenance(rollouts={"hits": 4, "n": 8})),
)  # fmt: skip

#: Judges a row by the others of its build: its verdict names what has to be unique.
OF_OTHERS = ("duplicate",)


def against(candidate: Candidate) -> list[tuple[str, str | None]]:
    return [(one.gate, one.reason) for one in judging.judge(candidate) if one.keep != "yes"]


def name(row: Row) -> str:
    return f"{row.gate}-{row.reason}"


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_fault_is_caught_by_this_gate_alone(row: Row) -> None:
    found = [one for one in against(row.fault()) if one[0] not in row.also]
    assert found == [(row.gate, row.reason)]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_what_is_nearly_a_fault_passes_all_gates(row: Row) -> None:
    assert against(row.near()) == []


def test_every_gate_has_a_row() -> None:
    missing = set(gates.names()) - {row.gate for row in ROWS} - set(OF_OTHERS)
    assert not missing, f"plant a fault and a near-fault for {', '.join(sorted(missing))} in ROWS"


def test_duplicates_are_named_and_near_duplicates_are_not() -> None:
    gate = gates["duplicate"]
    again = replace(direct(), example=replace(direct().example, id="other/0"))
    assert gate(direct()).unique == gate(again).unique
    assert gate(instructed("Click on the copy button")).unique != gate(direct()).unique


def test_the_good_examples_are_good() -> None:
    for candidate in (direct(), spatial(), without_a_page(direct()), without_a_page(spatial())):
        assert against(candidate) == []


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_evidence_is_json_and_reasons_are_known(row: Row) -> None:
    from cuadata.reasons import REASONS

    for verdict in judging.judge(row.fault()):
        json.loads(verdict.evidence)
        assert verdict.reason is None or verdict.reason in REASONS
