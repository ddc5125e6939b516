"""Labels of failing and recovering, what helped after failures, and the figures of a stuck actor."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from effect_steps import click, described, drawn, element, observation, page, step

from cuadata import effects, recording
from cuadata.errors import DataError
from cuadata.image import from_file
from cuadata.proving import labelling
from cuadata.registry import gates
from cuadata.rows import Candidate, Example
from cuadata.splitting import recovery, rescues
from cuadata.types import (
    Action,
    BBox,
    Effect,
    Element,
    Evidence,
    Observation,
    Outcome,
    Point,
    Size,
    Step,
    StepLabel,
    Trajectory,
)

START = page(320, 240)
MENU = drawn(START, lambda d: d.rectangle((100, 40, 200, 160), fill="white", outline="black"))
DONE = drawn(START, lambda d: d.rectangle((20, 20, 300, 220), fill=(20, 120, 60)))
A, B, C = (observation(picture=described(one), viewport=Size(320, 240)) for one in (START, MENU, DONE))


def steps(*rows: tuple[Action, str | None, Observation, Observation]) -> tuple[Step, ...]:
    return tuple(step(n, action, effect, before, after) for n, (action, effect, before, after) in enumerate(rows))


def test_the_case_of_a_repeated_miss(cases: Path) -> None:
    folder = next((cases / "effect").glob("B54-*"))
    expect = json.loads((folder / "expected.json").read_text())["expect"]
    made = []
    for line in map(json.loads, (folder / "steps.jsonl").read_text().splitlines()):
        before, after = (
            observation(picture=from_file(folder / line[key], phash=False), viewport=Size(320, 240))
            for key in ("before", "after")
        )
        made.append(step(line["step"], click(*line["point_css"]), None, before, after))
    found = labelling.label(Trajectory(id="t", instruction="", source="script", steps=tuple(made)))
    assert [one.effect.happened for one in found.steps if one.effect] == expect["effects"]
    labels: list[StepLabel | None] = [one.label for one in found.steps]
    assert labels == expect["labels"]
    assert list(recovery.train_on(labels)) == expect["train_on"]
    assert list(recovery.keep_as_context(labels)) == expect["keep_as_context"]


def test_a_menu_that_is_opened_and_closed_is_a_detour() -> None:
    made = steps(
        (click(10, 10), "local", A, B),
        (Action(type="press", keys=("Escape",)), "local", B, A),
        (click(50, 50), "global", A, C),
    )
    assert effects.label(made) == ("detour", "recovery", "progress")


def test_a_long_detour_ends_where_it_is_taken_back() -> None:
    made = steps(
        (click(10, 10), "local", A, B),
        (click(11, 90), "none", B, B),
        (click(70, 90), "global", B, C),
        (Action(type="back"), "global", C, A),
        (click(50, 50), "local", A, B),
    )
    assert effects.label(made) == ("detour", "no_effect", "detour", "recovery", "progress")


def test_the_same_try_is_a_repeat_until_something_changes() -> None:
    made = steps(
        (click(10, 10), "none", A, A),
        (click(90, 10), "none", A, A),
        (click(12, 11), "none", A, A),  # within a hand's tremble of the first
        (click(50, 50), "local", A, B),
        (click(10, 10), "none", B, B),  # the page is another one now
        (Action(type="wait", seconds=1.0), "late", B, C),
    )
    expected = ("no_effect", "no_effect", "no_effect_repeat", "recovery", "no_effect", "recovery")
    assert effects.label(made) == expected


def test_the_same_element_is_the_same_try_wherever_it_is_hit() -> None:
    made = steps((click(10, 10, 3), "none", A, A), (click(60, 30, 3), "none", A, A), (click(10, 10, 4), "none", A, A))
    assert effects.label(made) == ("no_effect", "no_effect_repeat", "no_effect")


@pytest.mark.parametrize(
    "one, other, same",
    [
        (Action(type="type", text="a"), Action(type="type", text="a"), True),
        (Action(type="type", text="a"), Action(type="type", text="b"), False),
        (Action(type="press", keys=("Enter",)), Action(type="press", keys=("Tab",)), False),
        (Action(type="scroll", scroll_y=100.0), Action(type="scroll", scroll_y=100.0, scroll_x=0.0), True),
        (Action(type="scroll", scroll_y=100.0), Action(type="scroll", scroll_y=-100.0), False),
        (click(5, 5), Action(type="double_click", point=Point(5, 5)), False),
        (click(5, 5), Action(type="click"), False),
        (Action(type="drag", point=Point(0, 0), end=Point(9, 9)), Action(type="drag", point=Point(0, 0), end=Point(50, 9)), False),
    ],
)  # fmt: skip
def test_the_same_action(one: Action, other: Action, same: bool) -> None:
    assert recovery.same_action(one, other) is same
    assert recovery.same_action(other, one) is same


def test_unknown_effects_have_no_label_and_words_need_none() -> None:
    made = (
        step(0, click(1, 1), None, A),
        step(1, click(1, 1), "unknown", A, B),
        step(2, Action(type="reason", text="the button is grey"), None, B),
        replace(step(3, click(1, 1), None, B), error="target_stale: the element is gone"),
        step(4, Action(type="done"), None, B),
    )
    assert effects.label(made) == (None, None, "progress", "no_effect", "progress")


def test_a_look_is_no_detour() -> None:
    hover = Action(type="hover", point=Point(10, 10))
    assert effects.label(steps((hover, "local", A, B), (click(200, 200), "local", B, A)))[0] == "progress"


def test_coming_back_with_another_value_is_no_detour() -> None:
    box = BBox(20, 60, 100, 20)
    empty = replace(A, elements=(element(1, "textbox", "City", box, value=""),))
    filled = replace(A, elements=(element(1, "textbox", "City", box, value="Kiel"),))
    made = steps((click(10, 10), "local", empty, B), (click(50, 50), "local", B, filled))
    assert effects.label(made) == ("progress", "progress")
    made = steps((click(10, 10), "local", empty, B), (click(50, 50), "local", B, empty))
    assert effects.label(made) == ("detour", "recovery")


def test_coming_into_a_field_is_no_way_back() -> None:
    box = BBox(20, 60, 100, 20)
    away = replace(A, elements=(element(1, "textbox", "City", box, value=""),))
    inside = replace(A, elements=(element(1, "textbox", "City", box, value="", focused=True),), focused=1)
    assert effects.label(steps((click(1, 1), "local", away, B), (click(60, 70), "local", B, inside)))[0] == "progress"


def test_focus_left_on_what_was_closed_is_a_way_back() -> None:
    ring = described(drawn(START, lambda d: d.rectangle((9, 9, 61, 31), outline="black")))
    button = BBox(10, 10, 50, 20)
    away = replace(A, elements=(element(1, "button", "Menu", button),))
    back = replace(A, screenshot=ring, elements=(element(1, "button", "Menu", button, focused=True),), focused=1)
    assert effects.label(steps((click(20, 20), "local", away, B), (click(20, 20), "local", B, back))) == (
        "detour",
        "recovery",
    )


def test_figures_of_a_stuck_actor() -> None:
    stuck = steps(
        (click(10, 10), "none", A, A),
        (click(10, 10), "none", A, A),
        (click(10, 10), "none", A, A),
        (click(50, 50), "local", A, B),
        (click(70, 50), "none", B, B),
    )
    fluent = steps((click(1, 1), "local", A, B), (click(2, 40), "global", B, C))
    figures = recovery.statistics((one, effects.label(one)) for one in (stuck, fluent))
    assert (figures.trajectories, figures.steps) == (2, 7)
    assert (figures.no_effect, figures.no_effect_repeat, figures.recovery, figures.progress) == (4, 2, 1, 2)
    assert (figures.longest_run, figures.longest_stuck) == (3, 3)
    assert figures.changed_course == pytest.approx(1 / 3)
    assert figures.tries == (3,) and figures.median_tries == 3 and figures.unrecovered == 1
    gave_up = steps((click(10, 10), "none", A, A), (Action(type="done"), "none", A, A))
    given = recovery.statistics([(gave_up, effects.label(gave_up))])
    assert (given.unrecovered, given.tries) == (1, ())  # to say that it is done recovers from nothing
    nothing = recovery.statistics([])
    assert nothing.changed_course is None and nothing.median_tries is None and nothing.longest_run == 0


# --- what helped -------------------------------------------------------------------------------------------------------


def aimed(number: int, action: Action, effect: str, target: Element | None, *seen: Element) -> Step:
    view = observation(*seen, viewport=Size(320, 240))
    return replace(step(number, action, effect, view), target=target)


SEND = replace(element(1, "button", "Send", BBox(20, 100, 80, 24)), hit=1.0, evidence=Evidence(in_viewport=1.0))
FAKE = replace(element(2, "button", "Close", BBox(150, 100, 80, 24)), hit=1.0, evidence=Evidence(in_viewport=1.0))
FAR_BELOW = replace(SEND, bbox=BBox(20, 900, 80, 24))


@pytest.mark.parametrize(
    "cause, missed, first, second",
    [
        ("missed", 15.0, aimed(0, click(115, 110), "none", None, SEND), aimed(1, click(60, 112), "local", SEND, SEND)),
        ("too_early", None, aimed(0, click(60, 112), "none", SEND, SEND), aimed(1, click(60, 112), "local", SEND, SEND)),
        (
            "disabled",
            None,
            aimed(0, click(60, 112), "none", element(1, "button", "Send", disabled=True), SEND),
            aimed(1, click(200, 112), "local", FAKE, SEND, FAKE),
        ),
        (
            "covered",
            None,
            aimed(0, click(60, 112), "none", replace(SEND, hit=0.0), SEND),
            aimed(1, click(300, 20), "local", element(5, "button", "Accept", BBox(280, 10, 30, 20)), SEND),
        ),
        ("fake", None, aimed(0, click(190, 112), "none", FAKE, FAKE, SEND), aimed(1, click(60, 112), "local", SEND, SEND)),
        (
            "off_screen",
            None,
            aimed(0, click(60, 230), "none", None, FAR_BELOW),
            aimed(1, click(60, 112), "local", SEND, SEND),
        ),
        (
            "off_screen",
            None,
            aimed(0, click(60, 230), "none", None, SEND),
            aimed(1, Action(type="scroll", scroll_y=300.0, scroll_unit="px"), "global", None, SEND),
        ),
        ("", None, aimed(0, click(300, 230), "none", None), aimed(1, click(60, 112), "local", SEND, SEND)),
    ],
)  # fmt: skip
def test_why_a_try_failed(cause: str, missed: float | None, first: Step, second: Step) -> None:
    found = list(rescues.rescues((first, second), ("no_effect", "recovery")))
    assert [(one.cause, one.miss_distance, one.failed, one.helped) for one in found] == [(cause, missed, (0,), 1)]


def test_the_last_three_tries_are_told() -> None:
    made = steps(*[(click(10 * n, 10), "none", A, A) for n in range(5)], (click(200, 200), "local", A, B))
    found = list(rescues.rescues(made, effects.label(made)))
    assert [one.failed for one in found] == [(2, 3, 4)]


# --- in recordings -----------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    with recording.create(folder, id="one", instruction="send it", source="script", viewport=Size(320, 240)) as writer:
        made = steps(
            (click(10, 10), None, A, A),
            (click(10, 10), None, A, A),
            (click(50, 50), None, A, C),
        )
        for one in made:
            writer.add(one)
        writer.close(Outcome(ended="success", success=True))
    return folder


def test_labels_live_in_the_recording(recorded: Path) -> None:
    held = recording.read(recorded)
    [one] = labelling.label_all([recorded.parent])
    assert one.written and one.labels == ("no_effect", "no_effect_repeat", "recovery")
    again = recording.read(recorded)
    assert tuple(step.label for step in again.steps) == one.labels
    assert [step.effect.kind for step in again.steps if step.effect] == ["none", "none", "global"]
    bare = [replace(step, effect=None, label=None) for step in again.steps]
    assert bare == list(held.steps)
    [twice] = labelling.label_all([recorded])
    assert not twice.written


def test_an_effect_that_the_recorder_measured_is_kept(recorded: Path) -> None:
    seen = Effect(kind="ambient", similarity=0.2, reason="a spinner")
    held = recording.read(recorded)
    labelling.rewrite(recorded, [replace(step, effect=seen) for step in held.steps])
    [one] = labelling.label_all([recorded], write=False)
    assert [step.effect for step in one.trajectory.steps] == [seen] * 3
    [measured] = labelling.label_all([recorded], write=False, again=True)
    assert measured.labels[-1] == "recovery"


def test_a_torn_line_stays_a_torn_line(recorded: Path) -> None:
    path = recorded / "steps.jsonl"
    path.write_bytes(path.read_bytes() + b'{"step":{"ind')
    list(labelling.label_all([recorded]))
    again = recording.read(recorded)
    assert len(again.steps) == 3 and any("torn" in note for note in again.notes)


def test_a_recording_that_is_being_written_is_left_alone(recorded: Path, tmp_path: Path) -> None:
    with recording.create(tmp_path / "two", id="two", instruction="", source="script") as writer:
        writer.add(step(0, click(1, 1), None, A, A))
        with pytest.raises(DataError, match="process"):
            list(labelling.label_all([tmp_path / "two"]))


# --- the gate ----------------------------------------------------------------------------------------------------------


def candidate(one: Step | None) -> Candidate:
    picture = A.screenshot
    assert picture is not None
    example = Example(
        id="t/0", trajectory_id="t", step_index=0, image=picture, image_width=320, image_height=240, viewport_width=320,
        viewport_height=240, device_pixel_ratio=1.0, instruction="send it", action=click(1, 1),
    )  # fmt: skip
    return Candidate(example=example, step=one)


@pytest.mark.parametrize(
    "effect, keep",
    [("local", "yes"), ("global", "yes"), ("late", "yes"), ("none", "no"), ("ambient", "no"), ("unknown", "unsure"), (None, "yes")],
)  # fmt: skip
def test_the_gate_speaks_of_actions_alone(effect: str | None, keep: str) -> None:
    verdict = gates["no_effect"](candidate(step(0, click(1, 1), effect, A)))
    assert verdict.keep == keep
    if keep != "yes":
        assert verdict.reason == "no_effect" and verdict.configs == ("actions",)


def test_the_gate_on_errors_detours_and_words() -> None:
    gate = gates["no_effect"]
    failed = replace(step(0, click(1, 1), None, A), error="target_stale")
    assert gate(candidate(failed)).keep == "no"
    taken_back = replace(step(0, click(1, 1), "local", A), label="detour")
    assert gate(candidate(taken_back)).reason == "taken_back"
    assert gate(candidate(taken_back), detours=False).keep == "yes"  # type: ignore[call-arg]
    assert gate(candidate(step(0, Action(type="done"), "none", A))).keep == "yes"
    assert gate(candidate(None)).keep == "yes"
