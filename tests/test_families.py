"""The page families as pure functions: what a seed fixes, what an option changes, and that every task can be right."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from cuadata import registry
from cuadata.episodes import registration, terms
from cuadata.errors import CallError
from cuadata.playing import environment_check
from cuadata.schema import from_json, to_json
from cuadata.types import Task

OWN = ("overlays", "modal", "code_entry", "gauntlet")


@pytest.mark.parametrize("family", OWN)
def test_a_seed_gives_the_same_task_and_another_seed_another(family: str) -> None:
    make: Any = registry.families[family]
    for seed in range(12):
        task = make(seed)
        assert task == make(seed)
        assert (task.id, task.family, task.seed) == (f"{family}/{seed}", family, seed)
        assert from_json(to_json(task), Task) == task
        terms.check(task)
        assert task.solution and task.success and task.axes and task.template
    assert len({make(seed).html for seed in range(12)}) == 12


@pytest.mark.parametrize("family", OWN)
def test_elements_of_the_solution_are_on_the_page_once(family: str) -> None:
    for seed in range(12):
        task = registry.families[family](seed)
        assert task.html is not None
        for move in task.solution:
            for locator in (move.locator, move.end):
                for css in () if locator is None else (*locator.shadow, locator.css):
                    assert len(re.findall(rf'id="{css[1:]}"', task.html)) == 1, (seed, css)
        for binding in task.bindings:
            assert f'id="{binding.locator.css[1:]}"' in task.html


@pytest.mark.parametrize("family", OWN)
def test_no_page_asks_the_network_for_anything(family: str) -> None:
    for seed in range(4):
        html = registry.families[family](seed).html or ""
        assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|https?://", html)


@pytest.mark.parametrize("family", OWN)
def test_every_wrong_path_is_another_way_through_the_same_page(family: str) -> None:
    make: Any = registry.families[family]
    paths = environment_check.wrong_paths(family)
    assert len(paths) >= 4
    for path in paths:
        task, wrong = make(3), make(3, path=path)
        assert wrong.solution != task.solution
        assert replace(wrong, solution=()) == replace(task, solution=())


def test_fixing_one_axis_leaves_all_others() -> None:
    make: Any = registry.families["modal"]
    plain, other = make(5, markup="radix"), make(5, markup="shadow")
    assert [a for a in plain.axes if a.name != "m-markup"] == [a for a in other.axes if a.name != "m-markup"]
    assert plain.instruction == other.instruction and plain.terms == other.terms
    with pytest.raises(CallError, match="markup='table' is not known; there are: radix"):
        make(5, markup="table")


def test_values_of_the_terms_are_options() -> None:
    paid = {t.name: t.value for t in registration.task("modal", 1, wrong=0.5, right=2.0, submitted=7.0).terms}
    assert paid == {"wrong_radio": 0.5, "right_radio": 2.0, "submitted": 7.0}


def test_a_modal_has_eleven_options_and_the_asked_for_number_of_scrolls() -> None:
    for scrolls in (1, 2, 3, 4):
        for seed in range(8):
            task = registration.task("modal", seed, scrolls=scrolls)
            assert (task.html or "").count('class="radio') == 11
            assert [m.action.type for m in task.solution] == ["scroll"] * scrolls + ["click", "click"]


def test_the_gauntlet_has_thirty_steps_and_about_fifty_actions() -> None:
    make: Any = registry.families["gauntlet"]
    lengths = []
    for seed in range(20):
        task = make(seed)
        steps = [t for t in task.terms if re.fullmatch(r"room\d_(overlay_\d|submitted|revealed|accepted)", t.name)]
        assert len(steps) == 30
        lengths.append(len(task.solution))
    assert 45 <= sum(lengths) / len(lengths) <= 60
    assert {m.phase for m in make(0).solution} == {"dismiss", "act", "enter"}


def test_a_skill_alone_is_the_whole_with_a_start_and_an_end() -> None:
    make: Any = registry.families["gauntlet"]
    alone = make(7, rooms=1, start="modal", until="modal")
    assert {m.phase for m in alone.solution} == {"act"}
    assert [t.name for t in alone.terms] == ["room1_wrong_radio", "room1_right_radio", "room1_submitted", "finished"]
    whole = make(7)
    assert [m.locator for m in alone.solution] == [m.locator for m in whole.solution[3 : 3 + len(alone.solution)]]
    code = make(7, rooms=1, start="code")
    assert [t.name for t in code.terms] == ["room1_revealed", "room1_typed", "room1_accepted", "finished"]
    shown = make(7, rooms=1, start="code", until="code")
    assert [t.name for t in shown.terms] == ["room1_revealed", "finished"]
    assert shown.solution == code.solution[: len(shown.solution)] and len(code.solution) - len(shown.solution) == 2


def test_every_family_and_every_miniwob_task_has_a_name() -> None:
    names = registration.names()
    assert set(OWN) <= set(names)
    assert len(registration.miniwob_tasks()) >= 100
    assert "miniwob-click-checkboxes" in names and "miniwob-flight.AA" in names
    task = registration.task("miniwob-click-test", 7)
    assert (task.id, task.url, task.seed) == ("miniwob-click-test/7", "miniwob:click-test", 7)
    with pytest.raises(CallError, match="no task 'click-nothing'"):
        registration.task("miniwob-click-nothing", 0)
    with pytest.raises(CallError, match="family modal: .*colour"):
        registration.task("modal", 0, colour="red")
