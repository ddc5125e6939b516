"""A fault planted for every gate on actions, pictures and order, and its reason."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_trajectories import (
    CLOSE,
    EXPRESS,
    FORM,
    NAME,
    START,
    SUBMIT,
    VIEWPORT,
    Page,
    checkout,
    click,
    element,
    play,
    save,
)

from cuadata import image, recording, split
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.types import Action, BBox, Effect, Image, Observation, Outcome, Point, Size, Step, Trajectory

MINE = (
    "action_failed",
    "action_unsupported",
    "coordinates_out_of_range",
    "duplicate_event",
    "history_gap",
    "instruction_missing",
    "multi_action_step",
    "not_an_input",
    "screenshot_after_action",
    "screenshot_missing",
    "screenshot_scale_unknown",
    "screenshot_size_mismatch",
    "screenshot_stale",
    "screenshot_undecodable",
    "script_triggered",
    "time_not_monotonic",
)


def candidates(made: Trajectory) -> list[Candidate]:
    """The candidates of the steps, without the one reason."""
    return [c for c in split.examples(made) if c.example.phase != "reason"]


def verdicts(candidate: Candidate) -> dict[str, Verdict]:
    """What every gate of these two files says."""
    found = {name: gates[name](candidate) for name in MINE}
    for name, verdict in found.items():
        assert verdict.gate == name and isinstance(json.loads(verdict.evidence), dict)
        assert (verdict.keep == "yes") == (verdict.reason is None)
    return found


def against(candidate: Candidate) -> dict[str, str | None]:
    """Gate -> reason, of those that do not keep."""
    return {name: verdict.reason for name, verdict in verdicts(candidate).items() if verdict.keep != "yes"}


def test_good_examples_pass_every_gate(tmp_path: Path) -> None:
    for made in (checkout(), checkout(task=False), recording.read(save(checkout(), tmp_path))):
        for candidate in split.examples(made):
            assert against(candidate) == {}


def changed(number: int, change: Callable[[Step], Step], made: Trajectory | None = None) -> Trajectory:
    """The checkout with one step changed."""
    held = made or checkout()
    return replace(held, steps=tuple(change(s) if i == number else s for i, s in enumerate(held.steps)))


def reasons(number: int, change: Callable[[Step], Step]) -> dict[str, str | None]:
    """What is against this step once it is changed."""
    return against(candidates(changed(number, change))[number])


def seen(step: Step, **fields: Any) -> Step:
    return replace(step, observation=replace(step.observation, **fields))


def shot(step: Step, **fields: Any) -> Step:
    picture = step.observation.screenshot
    assert picture is not None
    return seen(step, screenshot=replace(picture, **fields))


def act(step: Step, **fields: Any) -> Step:
    return replace(step, action=replace(step.action, **fields))


def encoded(size: tuple[int, int], colour: str = "white") -> Image:
    from PIL import Image as Pillow

    out = io.BytesIO()
    Pillow.new("RGB", size, colour).save(out, "PNG")
    return image.from_bytes(out.getvalue())


@pytest.mark.parametrize(
    ("change", "gate", "reason"),
    [
        (lambda s: replace(s, error="target_stale: it is gone"), "action_failed", "action_failed"),
        (lambda s: act(s, point=Point(640, 10)), "coordinates_out_of_range", "coordinates_out_of_range"),
        (lambda s: act(s, point=Point(-0.5, 10)), "coordinates_out_of_range", "coordinates_out_of_range"),
        (lambda s: act(s, point=Point(float("nan"), 10)), "coordinates_out_of_range", "coordinates_out_of_range"),
        (lambda s: act(s, type="drag", end=Point(10, 999)), "coordinates_out_of_range", "coordinates_out_of_range"),
        (
            lambda s: replace(s, target=replace(EXPRESS, bbox=BBox(0, 0, float("inf"), 9))),
            "coordinates_out_of_range",
            "coordinates_out_of_range",
        ),
        (lambda s: act(s, point=None, element=None), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="drag"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="drag", end=Point(52, 101)), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="type"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="press"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="press", keys=("ctrl", "a")), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="scroll", scroll_y=30), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="scroll", scroll_y=0, scroll_unit="px"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="select"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="upload"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="navigate"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="switch_page"), "action_unsupported", "action_unsupported"),
        (lambda s: act(s, type="dialog"), "action_unsupported", "action_unsupported"),
        (
            lambda s: replace(act(s, type="wait", seconds=1), effect=Effect(kind="none")),
            "not_an_input",
            "not_an_input",
        ),
        (lambda s: seen(s, notes=("not_an_input: an assertion of a test",)), "not_an_input", "not_an_input"),
        (
            lambda s: act(s, type="navigate", url="https://shop.test/checkout#top"),
            "script_triggered",
            "script_triggered",
        ),
        (
            lambda s: seen(s, notes=("script_triggered: userTriggered is false",)),
            "script_triggered",
            "script_triggered",
        ),
        (lambda s: seen(s, time=s.time + 0.01), "screenshot_after_action", "screenshot_after_action"),
        (lambda s: seen(s, screenshot=None, notes=("the page crashed",)), "screenshot_missing", "screenshot_missing"),
        (lambda s: shot(s, data=None, path=None), "screenshot_missing", "screenshot_missing"),
        (lambda s: shot(s, data=None, path="/nowhere/a.png"), "screenshot_missing", "missing_file"),
        (lambda s: shot(s, data=cut(s)), "screenshot_undecodable", "screenshot_undecodable"),
        (lambda s: shot(s, data=hole(s), phash=""), "screenshot_undecodable", "screenshot_undecodable"),
        (lambda s: shot(s, data=b"GIF89a", phash=""), "screenshot_undecodable", "screenshot_undecodable"),
        (lambda s: shot(s, width=1280, height=720), "screenshot_size_mismatch", "screenshot_size_mismatch"),
        (lambda s: seen(s, viewport=Size(640, 400)), "screenshot_scale_unknown", "screenshot_scale_unknown"),
        (lambda s: seen(s, viewport=Size(0, 0)), "screenshot_scale_unknown", "screenshot_scale_unknown"),
        (lambda s: seen(s, time=START + 0.5), "screenshot_stale", "screenshot_stale"),
        (lambda s: seen(s, screenshot=encoded((640, 360))), "screenshot_stale", "screenshot_stale"),
    ],
)
def test_a_fault_is_named(change: Callable[[Step], Step], gate: str, reason: str) -> None:
    found = reasons(2, change)
    assert found.get(gate) == reason, found


def cut(step: Step) -> bytes:
    picture = step.observation.screenshot
    assert picture is not None and picture.data is not None
    return picture.data[: len(picture.data) // 2]


def hole(step: Step) -> bytes:
    picture = step.observation.screenshot
    assert picture is not None and picture.data is not None
    return picture.data[:60] + bytes(40) + picture.data[100:]


def test_a_wait_for_something_that_came_is_an_action() -> None:
    waited = Effect(kind="late")
    assert reasons(2, lambda s: replace(act(s, type="wait", seconds=1), effect=waited)) == {}
    assert reasons(2, lambda s: replace(act(s, type="wait", seconds=1), effect=None)) == {}  # another picture came
    still = reasons(2, lambda s: replace(act(s, type="wait", seconds=1), effect=None, after=s.observation))
    assert still == {"not_an_input": "not_an_input"}


def test_going_somewhere_else_is_an_action() -> None:
    assert reasons(2, lambda s: act(s, type="navigate", url="https://shop.test/help")) == {}
    first = changed(0, lambda s: act(s, type="navigate", url="https://shop.test/checkout"))
    assert "script_triggered" not in against(candidates(first)[0])


@pytest.mark.parametrize("words", ["", "   ", "…", "\n\t-"])
def test_an_instruction_has_words(words: str) -> None:
    made = replace(checkout(), instruction=words)
    assert against(candidates(made)[0]) == {"instruction_missing": "instruction_missing"}
    assert against(candidates(replace(checkout(), instruction="点击"))[0]) == {}


def without_times(made: Trajectory) -> Trajectory:
    """As some sources have it: nothing says when."""
    return replace(
        made,
        steps=tuple(replace(s, time=0.0, after=None, observation=replace(s.observation, time=0.0)) for s in made.steps),
    )


def test_only_the_first_action_may_ride_on_a_picture() -> None:
    made = checkout()
    on_one = changed(3, lambda s: replace(s, observation=made.steps[2].observation))
    for form in (on_one, without_times(on_one)):
        found = candidates(form)
        assert [against(c).get("multi_action_step") for c in found] == [None, None, None, "multi_action_step", None]
    still = changed(2, lambda s: replace(s, effect=Effect(kind="none")), on_one)
    assert "multi_action_step" not in against(candidates(still)[3])  # the click moved nothing
    same_again = play([Page(FORM), Page(FORM), Page(FORM)], [click(CLOSE), click(SUBMIT)])
    assert "multi_action_step" not in against(candidates(same_again)[1])  # a new picture that looks the same


def test_a_picture_from_before_the_last_action_is_stale() -> None:
    made = checkout()
    older = changed(3, lambda s: replace(s, observation=made.steps[1].observation))
    assert against(candidates(older)[3])["screenshot_stale"] == "screenshot_stale"


def test_targets_that_may_be_blank() -> None:
    canvas = element(5, "img", "board", (300, 100, 100, 100), tag="canvas")
    blank = element(6, "button", "Cell", (300, 100, 100, 100), tag="td")
    for target, wanted in ((canvas, {}), (blank, {"screenshot_stale": "screenshot_stale"})):
        made = play([Page((*FORM, target)), Page(FORM)], [click(target)])
        white = seen(made.steps[0], screenshot=encoded((640, 360)))
        assert against(candidates(replace(made, steps=(white,)))[0]) == wanted
    made = play([Page(FORM), Page(FORM)], [Action(type="scroll", scroll_y=9, scroll_unit="px", element=NAME.id)])
    white = replace(seen(made.steps[0], screenshot=encoded((640, 360))), effect=None)
    assert against(candidates(replace(made, steps=(white,)))[0]) == {}  # one may scroll over nothing


def test_pixels_are_asked_where_nobody_measured_and_believed_where_somebody_did() -> None:
    measured = replace(EXPRESS, evidence=replace(EXPRESS.evidence, spread=200.0))
    white = encoded((640, 360))
    assert reasons(2, lambda s: seen(replace(s, target=measured), screenshot=white)) == {}
    faint = replace(EXPRESS, evidence=replace(EXPRESS.evidence, spread=7.0))
    assert reasons(2, lambda s: replace(s, target=faint)) == {"screenshot_stale": "screenshot_stale"}


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0, 3.0])
def test_every_pixel_ratio_fits(ratio: float) -> None:
    viewport = Size(1279, 719)
    size = (round(1279 * ratio), round(719 * ratio))
    found = reasons(2, lambda s: replace(seen(s, screenshot=encoded(size), viewport=viewport), target=None))
    assert found == {}


def test_a_picture_scaled_down_as_a_whole_still_fits() -> None:
    small = encoded((800, 446))
    found = reasons(2, lambda s: replace(seen(s, screenshot=small, viewport=Size(1280, 713)), target=None))
    assert found == {}
    page = encoded((1280, 7412))
    found = reasons(2, lambda s: replace(seen(s, screenshot=page, viewport=Size(1280, 720)), target=None))
    assert found == {"screenshot_scale_unknown": "screenshot_scale_unknown"}


def test_gaps_in_a_history() -> None:
    made = checkout()
    lost = replace(made, steps=(*made.steps[:1], *made.steps[2:]))
    assert [against(c).get("history_gap") for c in candidates(lost)] == [None, *["history_gap"] * 3]
    begun_late = replace(made, steps=made.steps[2:])
    assert [against(c).get("history_gap") for c in candidates(begun_late)] == ["history_gap"] * 3
    many = play([Page(FORM)] * 10, [click(SUBMIT)] * 9)
    holed = replace(many, steps=(many.steps[0], *many.steps[2:]))
    found = [gates["history_gap"](c).reason for c in candidates(holed)]
    assert found == [
        None,
        *["history_gap"] * 5,
        None,
        None,
    ]  # once five whole actions are told, the gap is out of sight
    evidence = json.loads(gates["history_gap"](candidates(holed)[1]).evidence)
    assert evidence["missing"] == [1, 1]


def test_a_number_that_stands_twice_is_judged_where_it_stands() -> None:
    """Two recordings ran into each other, and the clock does not tell: the second one's steps have the first one's numbers."""
    made = checkout()
    steps = (*made.steps, *(replace(s, time=s.time + 100) for s in made.steps))
    found = [gates["history_gap"](c) for c in candidates(replace(made, steps=steps))]
    assert [verdict.reason for verdict in found] == [None] * len(made.steps) + ["history_gap"] * len(made.steps)
    assert json.loads(found[-1].evidence) == {"again": made.steps[-1].index}


def test_thoughts_are_no_gap_and_count_as_no_action() -> None:
    think = Action(type="reason", text="hm")
    made = play([Page(FORM)] * 8, [click(SUBMIT), think, *[click(SUBMIT)] * 5])
    assert all("history_gap" not in against(c) for c in candidates(made))


def test_a_step_of_no_place_in_a_trajectory_without_steps_gets_its_verdicts() -> None:
    candidate = candidates(checkout())[0]
    assert candidate.step is not None and candidate.trajectory is not None
    lost = replace(
        candidate, step=replace(candidate.step, index=-1), trajectory=replace(candidate.trajectory, steps=())
    )
    assert against(lost) == {}


def test_echoes_of_one_input() -> None:
    echo = changed(
        3,
        lambda s: replace(
            checkout().steps[2],
            index=3,
            time=START + 2.01,
            observation=replace(checkout().steps[2].observation, time=0),
        ),
    )
    assert against(candidates(echo)[3])["duplicate_event"] == "duplicate_event"
    again = changed(3, lambda s: replace(checkout().steps[2], index=3, time=START + 2.4))
    assert "duplicate_event" not in against(candidates(again)[3])
    other = changed(3, lambda s: replace(s, time=START + 2.01))
    assert "duplicate_event" not in against(candidates(other)[3])


def timed(times: list[float]) -> Trajectory:
    made = play([Page(FORM)] * (len(times) + 1), [click(SUBMIT)] * len(times))
    steps = (
        replace(s, time=START + t, observation=replace(s.observation, time=START + t - 0.1), after=None)
        for s, t in zip(made.steps, times, strict=True)
    )
    return replace(made, steps=tuple(steps))


def test_case_time_goes_backwards(cases: Path) -> None:
    folder = cases / "store" / "B78-time-goes-backwards"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    for name, want in expected.items():
        times = [json.loads(line)["time"] for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        found = [gates["time_not_monotonic"](c) for c in candidates(timed(times))]
        at = [i for i, verdict in enumerate(found) if verdict.keep == "no"]
        if want["verdict"] == "keep":
            assert at == []
        else:
            assert at == list(range(want["at_step"], len(times)))
            assert json.loads(found[at[-1]].evidence)["at_step"] == want["at_step"]


def test_gates_say_what_they_could_not_check() -> None:
    bare = replace(candidates(checkout())[0], observation=None, step=None, trajectory=None, task=None)
    assert against(bare) == {}
    told = {name for name, verdict in verdicts(bare).items() if "not_checked" in verdict.evidence}
    assert {"history_gap", "time_not_monotonic", "screenshot_after_action", "screenshot_stale"} <= told


def from_case(folder: Path, name: str, *, times: bool = True) -> Trajectory:
    """A record of case B29 as a trajectory; without times only the pictures can tell."""
    steps = []
    for line in (folder / name).read_text().splitlines():
        row = json.loads(line)
        shot = image.from_file(folder / row["image"], phash=False)
        x, y, width, height = row["target_bbox_css"]
        box = BBox(x, y, width, height)
        observation = Observation(
            screenshot=shot, viewport=Size(shot.width, shot.height), time=row["image_time"] if times else 0.0
        )
        target = element(1, "button", f"Target {row['step']}", (x, y, width, height))
        steps.append(
            Step(
                index=row["step"],
                time=row["action_time"],
                observation=observation,
                action=Action(type=row["action"], point=Point(*row["point_css"])),
                target=replace(target, bbox=box),
            )
        )
    return Trajectory(id=name, instruction="Click the button", source="case", steps=tuple(steps))


@pytest.mark.parametrize("times", [True, False])
def test_case_observation_after_action(cases: Path, tmp_path: Path, times: bool) -> None:
    folder = cases / "capture" / "B29-observation-after-action"
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    misaligned = {"screenshot_after_action", "screenshot_stale"}
    for name, want in expected.items():
        made = from_case(folder, name, times=times)
        for form in (made, recording.read(save(made, tmp_path))):
            found = [against(c) for c in candidates(form)]
            assert len(found) == 3
            bad = [i for i, one in enumerate(found) if one]
            assert bad == want.get("bad_steps", [])
            assert all(set(found[i]) <= misaligned for i in bad)
            if bad and times:
                assert all(set(found[i]) == misaligned for i in bad)  # by the clock and by the pixels


def test_case_with_clocks_that_lie(cases: Path) -> None:
    """A sibling of B29: the shifted pictures carry the times of the right ones, so that only the pixels can tell."""
    folder = cases / "capture" / "B29-observation-after-action"
    right, shifted = (from_case(folder, f"{name}.jsonl") for name in ("aligned", "shifted"))
    lying = replace(
        shifted,
        steps=tuple(
            replace(s, observation=replace(s.observation, time=r.observation.time))
            for s, r in zip(shifted.steps, right.steps, strict=True)
        ),
    )
    assert [set(against(c)) for c in candidates(lying)] == [{"screenshot_stale"}] * 3


def test_a_record_shifted_the_other_way(cases: Path) -> None:
    """A sibling of B29: every picture is one step too old."""
    folder = cases / "capture" / "B29-observation-after-action"
    right = from_case(folder, "aligned.jsonl")
    old = [right.steps[0].observation, *(s.observation for s in right.steps[:-1])]
    late = replace(right, steps=tuple(replace(s, observation=o) for s, o in zip(right.steps, old, strict=True)))
    found = [set(against(c)) for c in candidates(late)]
    assert (
        found[0] == set() and found[1] >= {"screenshot_stale", "multi_action_step"} and found[2] == {"screenshot_stale"}
    )


def test_of_outcomes_only_the_gate_on_them_speaks() -> None:
    failed = replace(checkout(), outcome=Outcome(ended="failure", success=False))
    assert all(set(against(c)) <= {"task_failed"} for c in candidates(failed))
    assert VIEWPORT == Size(640, 360)
