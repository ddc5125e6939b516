"""Why episodes fail, by rules on what was recorded; runs on disk; tables and reports made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cuadata.cli import app
from cuadata.errors import CallError, DataError
from cuadata.playing import turns
from cuadata.scores import compare_runs, failures, runs, tables
from cuadata.scores.failures import FAILURES, Ending, Failure, Turn
from cuadata.types import (
    Action,
    ActionType,
    Axis,
    BBox,
    Binding,
    Condition,
    Effect,
    Element,
    Ended,
    Locator,
    Move,
    Observation,
    Point,
    Size,
    States,
    Step,
    Task,
)

LOST = Ending(ended="failure", success=False)
BUDGET = Ending(ended="budget", success=False)


def click(
    x: float = 10, y: float = 10, *, type: ActionType = "click", effect: bool | None = True, **more: object
) -> Turn:
    return Turn(action=Action(type=type, point=Point(x, y)), effect=effect, **more)  # type: ignore[arg-type]


USELESS = click(effect=False)
UNREAD = Turn(action=None, output="hm", failure="no_action: hm")
UNDER = click(overlay=True, on_overlay=False, covered=True)


@pytest.mark.parametrize(
    ("played", "ending", "wanted"),
    [
        ([click()], replace(LOST, success=True), ()),
        ([click()], LOST, ("other",)),
        ([], BUDGET, ("no_executable_action", "budget_exhausted")),
        ([UNREAD] * 2, BUDGET, ("no_executable_action", "budget_exhausted", "parse_failure")),
        ([click(), UNREAD], LOST, ("parse_failure",)),
        ([click(error="target_stale")] * 3, BUDGET, ("no_executable_action", "budget_exhausted")),
        ([click(), *[USELESS] * 3], BUDGET, ("budget_exhausted", "repeated_click_loop")),
        ([click(), *[USELESS] * 2], BUDGET, ("budget_exhausted",)),
        ([USELESS] * 3 + [click(300)], BUDGET, ("budget_exhausted",)),
        ([click(effect=None)] * 5, BUDGET, ("budget_exhausted",)),
        ([click()], replace(LOST, missing=2), ("premature_submission",)),
        ([click()], replace(LOST, missing=0, extra=1), ("unrequested_selection",)),
        ([click()], replace(LOST, missing=1, extra=1), ("unrequested_selection", "premature_submission")),
        ([click()], replace(BUDGET, missing=2), ("budget_exhausted",)),
        ([UNDER], LOST, ("acted_under_overlay",)),
        ([replace(UNDER, covered=False, effect=True)], LOST, ("other",)),
        ([replace(UNDER, covered=False, effect=False)], LOST, ("acted_under_overlay",)),
        ([replace(UNDER, on_overlay=True)], LOST, ("other",)),
        ([replace(UNDER, action=Action(type="type", text="x"))], LOST, ("typed_before_dismissal",)),
        ([Turn(action=Action(type="infeasible"))], LOST, ("gave_up",)),
        ([click()], Ending(ended="error", success=None), ("environment_error",)),
    ],
)
def test_each_rule_and_its_neighbour(played: Sequence[Turn], ending: Ending, wanted: tuple[Failure, ...]) -> None:
    assert failures.failures(played, ending) == wanted


turn_lists = st.lists(st.sampled_from([click(), USELESS, UNREAD, UNDER, click(50, effect=False)]), max_size=8)


@given(turn_lists, st.sampled_from(["failure", "budget", "error"]), st.integers(0, 3))
def test_a_failed_episode_has_a_failure_and_a_won_one_none(played: list[Turn], ended: Ended, missing: int) -> None:
    ending = Ending(ended=ended, success=False, missing=missing)
    shown = failures.failures(played, ending)
    assert shown
    assert list(shown) == sorted(shown, key=FAILURES.index)
    assert failures.failures(played, replace(ending, success=True)) == ()
    assert 0 <= failures.loop(played) <= failures.longest_loop(played) <= len(played)
    assert (failures.short(ending) is not None) == ("premature_submission" in shown)


def test_every_failure_has_its_sentence() -> None:
    assert set(failures.MEANING) == set(FAILURES)


def test_clicks_a_hair_apart_are_one_try() -> None:
    one = Action(type="click", point=Point(10, 10))
    assert failures.same(one, replace(one, point=Point(12, 9)))
    assert not failures.same(one, replace(one, point=Point(14, 10)))
    assert not failures.same(one, replace(one, type="double_click"))
    assert not failures.same(one, replace(one, point=None, element=3))
    assert not failures.same(one, None)


def test_ordering_looks_at_the_first_deed_under_an_overlay() -> None:
    first = click(overlay=True, on_overlay=True)
    wait = Turn(action=Action(type="wait", seconds=1), overlay=True)
    episodes = [[first], [UNDER], [wait, first], [replace(UNREAD, overlay=True), first], [click()], []]
    found = failures.ordering(episodes)
    assert (found.hits, found.n) == (2, 4)


def element(id: int, role: str, name: str, *, css: str = "", checked: bool | None = None, **more: object) -> Element:
    states = States() if checked is None else States(checked="true" if checked else "false")
    fields = {"bbox": BBox(10 * id, 10, 8, 8), "hit": 1.0, "seen": 1.0, "states": states, **more}
    return Element(id=id, role=role, name=name, locator=Locator(css=css or f"#e{id}"), **fields)  # type: ignore[arg-type]


def page(*elements: Element) -> Observation:
    return Observation(screenshot=None, viewport=Size(800, 600), elements=elements)


def task(**fields: object) -> Task:
    base = {"id": "boxes/1", "family": "boxes", "seed": 1, "instruction": "Select red, dark red and click Submit."}
    return Task(**{**base, **fields})  # type: ignore[arg-type]


def test_selections_by_the_names_in_the_instruction() -> None:
    boxes = [
        element(1, "checkbox", "red", checked=True),
        element(2, "checkbox", "dark red", checked=False),
        element(3, "checkbox", "blue", checked=True),
        element(4, "checkbox", "re", checked=False),
        element(5, "button", "Submit"),
    ]
    assert turns.selections(task(), page(*boxes)) == turns.Selections(requested=2, missing=1, extra=1)
    assert turns.selections(task(), page(boxes[-1])) is None
    nothing = task(instruction="Select nothing and click Submit.")
    assert turns.selections(nothing, page(*boxes)) == turns.Selections(requested=0, missing=0, extra=2)


def test_selections_by_the_conditions_of_success() -> None:
    wanted = task(success=(Condition(role="radio", name="Two", state="checked", value="true"),))
    held = [element(1, "radio", "One", checked=True), element(2, "radio", "Two", checked=False)]
    assert turns.selections(wanted, page(*held)) == turns.Selections(requested=1, missing=1, extra=1)
    held = [element(1, "radio", "One", checked=False), element(2, "radio", "Two", checked=True)]
    assert turns.selections(wanted, page(*held)) == turns.Selections(requested=1, missing=0, extra=0)
    unwanted = task(success=(Condition(role="checkbox", name="News", state="checked", value="false"),))
    assert turns.selections(unwanted, page(element(1, "checkbox", "News", checked=True))) == turns.Selections(
        requested=0, missing=0, extra=1
    )
    assert turns.selections(task(success=(Condition(role="heading", name="Done"),)), page(*held)) is None


GO = Locator(css="#go")
BOUND = task(
    bindings=(Binding(word="Go", part="target", locator=GO),),
    solution=(Move(action=Action(type="click"), locator=GO),),
    success=(Condition(role="heading", name="Gone"),),
)
COOKIES = element(1, "dialog", "We use cookies", bbox=BBox(0, 0, 400, 300))
CLOSE = element(2, "button", "Close", dialog=1, bbox=BBox(10, 10, 40, 20))
TARGET = element(3, "button", "Go", css="#go", bbox=BBox(100, 100, 50, 20), hit=0.0)
COVERED = page(COOKIES, CLOSE, TARGET)


def step(action: Action, observation: Observation = COVERED, **more: object) -> Step:
    return Step(index=0, time=1, observation=observation, action=action, **more)  # type: ignore[arg-type]


def test_a_turn_says_what_stood_and_where_the_input_went() -> None:
    stray = turns.strays(BOUND, [COVERED])
    assert len(stray) == 1
    assert turns.strays(task(), [COVERED]) == set()
    nothing = Effect(kind="none")
    under = turns.turn(step(Action(type="click", element=3), effect=nothing, target=TARGET), BOUND, stray)
    assert (under.overlay, under.on_overlay, under.covered, under.effect) == (True, False, True, False)
    assert under.target == "button Go"
    away = turns.turn(step(Action(type="click", element=2), target=CLOSE), BOUND, stray)
    assert (away.on_overlay, away.covered, away.effect) == (True, False, None)
    assert turns.turn(step(Action(type="press", keys=("Escape",))), BOUND, stray).on_overlay is True
    assert turns.turn(step(Action(type="scroll", scroll_y=100)), BOUND, stray).on_overlay is None
    free = turns.turn(step(Action(type="click", element=3), page(TARGET), target=TARGET), BOUND, stray)
    assert (free.overlay, free.on_overlay) == (False, None)
    assert turns.misread("hm", "no_action", COVERED, stray).overlay


def test_the_modal_that_holds_the_task_is_no_overlay() -> None:
    modal = page(element(1, "dialog", "Pick one"), replace(TARGET, dialog=1))
    assert turns.strays(BOUND, [modal]) == set()


def test_click_error_is_measured_where_aim_was_taken() -> None:
    aimed = Action(type="click", point=Point(153, 124))
    assert turns.click_error(aimed, COVERED, BOUND) == 5
    assert turns.click_error(replace(aimed, point=Point(120, 110)), COVERED, BOUND) == 0
    assert turns.click_error(replace(aimed, element=3), COVERED, BOUND) is None
    assert turns.click_error(aimed, page(CLOSE), BOUND) is None
    assert turns.click_error(aimed, COVERED, None) is None


def test_an_episode_is_judged_by_the_page_it_submitted() -> None:
    submit, box = element(5, "button", "Submit"), element(1, "checkbox", "red", checked=False)
    before, after = page(box, submit), page(element(1, "checkbox", "red", checked=True))
    by_button = step(Action(type="click", element=5), before, target=submit, after=after)
    by_box = step(Action(type="click", element=1), before, target=box, after=after)
    assert turns.last_page([by_button]) is before
    assert turns.last_page([by_box]) is after
    assert turns.last_page([]) is None


def episode(
    seed: int, *, success: bool, size: int = 2, played: Sequence[Turn] = (click(),), **more: object
) -> runs.Episode:
    ending = Ending(ended="success" if success else "failure", success=success, missing=0 if success else 1)
    fields = {"default": True, "axes": (Axis("theme", "dark" if seed % 2 else "light"),), **more}
    return runs.episode(
        turns=played,
        ending=ending,
        id=f"boxes/{seed}",
        family="boxes",
        seed=seed,
        instruction="Select",
        size=size,
        **fields,
    )


RUN = runs.Run(name="model", kind="episodes", what="boxes", items="x", count=4)


def test_a_run_is_appended_mended_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    runs.begin(folder, RUN)
    first, second = episode(1, success=True), episode(2, success=False)
    runs.append(folder, first)
    with (folder / runs.EPISODES).open("ab") as file:
        file.write(b'{"id":"boxes/2","fam')
    assert runs.episodes(folder) == (first,)
    runs.begin(folder, RUN)
    runs.append(folder, second)
    runs.append(folder, first)
    assert runs.episodes(folder) == (first, second)
    with pytest.raises(CallError, match="another run"):
        runs.begin(folder, replace(RUN, name="other"))
    runs.begin(folder, replace(RUN, name="other"), force=True)
    assert runs.episodes(folder) == ()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(CallError, match="holds no run"):
        runs.begin(tmp_path / "full", RUN)


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--samples", "99999999999999")])
def test_a_comparison_takes_no_number_that_it_cannot_use(tmp_path: Path, words: tuple[str, str]) -> None:
    done = CliRunner().invoke(app, ["compare", str(tmp_path), str(tmp_path), *words])
    assert done.exit_code == 2 and words[0] in done.output


@pytest.mark.parametrize("held", ["", "[1]", "{}", "null"])
def test_a_broken_header_names_its_file(tmp_path: Path, held: str) -> None:
    (tmp_path / runs.RUN).write_text(held)
    for call in (lambda: runs.header(tmp_path), lambda: runs.begin(tmp_path, RUN)):
        with pytest.raises(DataError, match=runs.RUN):
            call()


def test_a_broken_line_inside_a_run_is_an_error(tmp_path: Path) -> None:
    runs.begin(tmp_path / "run", RUN)
    (tmp_path / "run" / runs.EPISODES).write_text('{"id": 1}\n' + "{}\n")
    with pytest.raises(DataError, match="episodes.jsonl:1"):
        runs.episodes(tmp_path / "run")


@pytest.mark.parametrize(
    ("text", "wanted"), [("3:6", [3, 4, 5]), ("7", [7]), ("0:1", [0]), ("test", list(runs.TEST_SEEDS))]
)
def test_seeds_are_written_as_a_half_open_range(text: str, wanted: list[int]) -> None:
    assert list(runs.seeds(text)) == wanted


@pytest.mark.parametrize("text", ["", "a", "5:5", "6:3", "-1", "1:2:3", "0:99999999999999999999", "9007199254740992"])
def test_seeds_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(CallError):
        runs.seeds(text)


def test_tables_hold_both_criteria_by_size_and_axis_beside_trivial_policies() -> None:
    held = [episode(1, success=True), episode(2, success=False, size=3), episode(3, success=True, played=[click()] * 4)]
    found = tables.summary(held, {"nothing": [replace(e, success=False, default=False) for e in held]})
    assert (found["exact"]["hits"], found["default"]["hits"], found["n"]) == (2, 3, 3)
    assert list(found["by_size"]) == ["2", "3"]
    assert found["by_axis"]["theme"]["light"]["exact"]["rate"] == 0
    assert found["failures"] == {"premature_submission": {"episodes": 1, "first": 1}}
    assert found["short_by"] == {"1": 1}
    assert found["lengths"]["counts"] == {"1": 2, "4": 1}
    assert found["lengths"]["successes"]["median"] == 2.5
    assert found["trivial"]["nothing"]["exact"]["rate"] == 0
    assert json.loads(json.dumps(found))["n"] == 3
    empty = tables.summary([])
    assert empty["exact"]["rate"] is None


def test_an_episode_that_broke_down_is_no_success_and_is_said() -> None:
    broken = replace(episode(1, success=False), success=None, ended="error")
    found = tables.summary([broken, episode(2, success=True)])
    assert (found["exact"]["hits"], found["exact"]["n"]) == (1, 2)
    assert (found["unjudged"], found["broken_down"]) == (1, 1)


def test_runs_of_episodes_are_compared_by_both_criteria(tmp_path: Path) -> None:
    for name, wins in (("a", 10), ("b", 30)):
        runs.begin(tmp_path / name, replace(RUN, name=name))
        for seed in range(40):
            runs.append(tmp_path / name, episode(seed, success=seed < wins, default=True))
    found = compare_runs.compare(tmp_path / "a", tmp_path / "b", samples=500)
    assert found["exact"]["difference"] == 0.5
    assert found["exact"]["mcnemar"]["p"] < 0.001
    assert "gains 50.0 points" in found["exact"]["verdict"]
    assert found["default"]["difference"] == 0
    assert found["same_test_set"]
    assert [w.partition(": ")[2].partition(";")[0] for w in found["warnings"]] == [
        "default"
    ]  # an interval without a width
    back = compare_runs.compare(tmp_path / "b", tmp_path / "a", samples=500)
    assert "loses 50.0 points" in back["exact"]["verdict"]
    runs.begin(tmp_path / "empty", RUN)
    with pytest.raises(DataError, match="no episode"):
        compare_runs.compare(tmp_path / "a", tmp_path / "empty")
