"""Calls of an environment that cannot be right are refused in words, at once; a closed one stays closed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest

from cuadata import environment
from cuadata.browsing import browser_find, engine, wire
from cuadata.browsing.loop import shared
from cuadata.episodes import miniwob, registration
from cuadata.errors import CallError, DataError
from cuadata.playing import environment_vector
from cuadata.types import Action, Condition, Point, Size, Task, Term

make: Any = environment.make
vector: Any = environment_vector.make
WRONG = [
    ({"max_steps": 0}, "max_steps: wanted a whole number of 1 or more"),
    ({"max_steps": -3}, "max_steps: wanted a whole number of 1 or more, .* got -3"),
    ({"max_steps": "3"}, "max_steps: wanted a whole number"),
    ({"max_steps": 1.5}, "max_steps: wanted a whole number"),
    ({"elements": -1}, "elements: wanted the number of rows"),
    ({"viewport": Size(0, 600)}, "viewport: wanted a width and a height of 1 CSS px"),
    ({"device_pixel_ratio": 0.0}, "device_pixel_ratio: wanted 0.1 to 10"),
    ({"device_pixel_ratio": float("nan")}, "device_pixel_ratio: wanted 0.1 to 10"),
    ({"stage_options": {"time_limit": 3}}, "stage_options: there is no time_limit; only MiniWoB"),
]


@pytest.mark.parametrize(("options", "words"), WRONG, ids=str)
@pytest.mark.parametrize("made", [make, lambda family, **options: vector(family, 2, **options)], ids=["one", "many"])
def test_options_that_cannot_be_are_refused_when_it_is_made(
    made: Callable[..., Any], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(CallError, match=words):
        made("modal", **options)


def test_what_only_one_page_takes_is_refused_as_well() -> None:
    with pytest.raises(CallError, match="render_mode: there is rgb_array"):
        make("modal", render_mode="human")
    with pytest.raises(CallError, match="stage_options: there is no limit; there are: time_limit, mode"):
        make("miniwob-click-test", stage_options={"limit": 3})


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    with closing(make("modal", screenshot=False)) as made:
        yield made


@pytest.mark.browser
@pytest.mark.parametrize("action", [None, 3, {"type": "click", "element": 1}, b"click", np.str_, [Action(type="wait")]])
def test_an_action_that_is_none_is_refused_and_costs_nothing(env: Any, action: object) -> None:
    env.reset(seed=1)
    with pytest.raises(CallError, match="wanted a text, as a model writes it, or an Action, got"):
        env.step(action)
    assert env.episode.turns == 0 and env.episode.ended == "running"


@pytest.mark.browser
@pytest.mark.parametrize(
    "action",
    [
        Action(type="click", point=Point(float("nan"), 1)),
        Action(type="click", point=Point(-1e9, 1e300)),
        Action(type="drag", point=Point(1, 1), end=Point(float("inf"), 1)),
        Action(type="scroll", scroll_y=float("nan"), scroll_unit="px"),
        Action(type="wait", seconds=float("inf")),
    ],
    ids=lambda action: f"{action.type}-{action.point}",
)
def test_numbers_that_no_page_can_be_given_are_refused_and_cost_nothing(env: Any, action: Action) -> None:
    """Such an action ended the episode as one whose browser broke down, or held the page for 15 s."""
    env.reset(seed=3)
    with pytest.raises(CallError, match="a number of the action is none"):
        env.step(action)
    assert env.episode.turns == 0 and env.episode.ended == "running"


@pytest.mark.browser
def test_a_task_that_is_none_is_refused(env: Any) -> None:
    with pytest.raises(CallError, match=r"options=\{'task': ...\}: wanted a Task, got str"):
        env.reset(options={"task": "modal/3"})


@pytest.mark.browser
def test_a_closed_environment_plays_no_more() -> None:
    env = make("modal", screenshot=False)
    env.reset(seed=1)
    env.close()
    env.close()
    with pytest.raises(CallError, match="no episode has begun; call reset"):
        env.step(Action(type="wait", seconds=0.0))
    assert env.reset(seed=2)[1]["task"] == "modal/2"
    env.close()


@pytest.mark.browser
def test_many_pages_refuse_what_one_refuses_and_stay_closed() -> None:
    envs = vector("modal", 2, browsers=1, screenshot=False)
    with pytest.raises(CallError, match="seed: wanted a whole number of 0 or more, got -1"):
        envs.reset(seed=-1)
    envs.reset(seed=4)
    with pytest.raises(CallError, match="wanted a text"):
        envs.step(["", None])
    assert [e.turns for e in envs.episodes] == [0, 0]
    envs.close()
    with pytest.raises(CallError, match="no episodes have begun"):
        envs.step(["", ""])
    with pytest.raises(CallError, match="the environment is closed; make another"):
        envs.reset(seed=4)


@pytest.mark.browser
def test_a_page_that_does_not_open_is_told_when_all_pages_have_ended_their_work() -> None:
    shown = Condition(role="heading", name="Here")
    here = Task(
        id="t/0", family="t", seed=0, instruction="Look.", html="<h1>Here</h1>", terms=(Term(name="a", value=1.0, when=(shown,)),)
    )  # fmt: skip
    gone = Task(id="t/1", family="t", seed=1, instruction="Look.", url="http://127.0.0.1:9/")
    with closing(vector("modal", 3, browsers=1, screenshot=False)) as envs:
        with pytest.raises(DataError, match="the page did not open"):
            envs.reset(options={"tasks": [gone, here, here]})
        assert [e is None for e in envs.episodes] == [True, False, False]


@pytest.mark.browser
@pytest.mark.parametrize("family", ["modal", "miniwob-click-test"])
def test_browsers_that_are_gone_when_a_page_opens_are_tried_anew(family: str) -> None:
    """Three in a row die between their start and their first page."""
    given = []

    async def give() -> Any:
        held = await engine.engine()[1].browser(
            browser_find.find(headed=False), headed=False, fresh=True, arguments=miniwob.ARGUMENTS
        )
        given.append(held)
        if len(given) < 4:
            await held.close()
        return held

    task = registration.task(family, 3)
    stage = environment.stage_of(task, screenshot=False, browser=give)
    begun, seen = shared().run(stage.begin(task), 60)
    assert (begun.seed, len(given)) == (3, 4) and seen.elements
    shared().run(stage.close(), 30)
    shared().run(given[-1].close(), 30)


@pytest.mark.browser
def test_browsers_that_go_while_a_page_begins_are_tried_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in a row die when their page is spoken to; what is told then is the end of the wire and not of the browser."""
    given, real = [], wire.opened

    async def opened(browser: Any, session: Any) -> Any:
        line = await real(browser, session)
        given.append(browser)
        if len(given) < 3:
            await browser.close()
        return line

    monkeypatch.setattr(wire, "opened", opened)
    with closing(vector("miniwob-click-test", 1, screenshot=False, effect=False)) as envs:
        observed, _ = envs.reset(seed=3)
    assert len(given) == 3 and "button" in observed["axtree"][0]


@pytest.mark.browser
def test_a_forked_child_is_told_and_leaves_the_page_to_its_parent(env: Any) -> None:
    env.reset(seed=1)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs ends by this signal
        code = 1
        try:
            env.step("done()")
        except CallError as error:
            code = 0 if "in another process" in str(error) else 2
        env.close()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert env.step("no call")[4]["failure"] == "the answer calls for no action"


@pytest.mark.browser
@pytest.mark.parametrize("mode", [None, "sync", "async"])
def test_gymnasium_makes_many_of_it(mode: str | None) -> None:
    apart = {"vector_kwargs": {"shared_memory": False}} if mode == "async" else {}
    with closing(gymnasium.make_vec("cuadata/modal-v0", 2, vectorization_mode=mode, screenshot=False, **apart)) as envs:
        if mode is None:
            assert isinstance(envs.unwrapped, environment_vector.BrowserVectorEnv)
        seen, infos = envs.reset(seed=3)
        assert list(infos["task"]) == ["modal/3", "modal/4"]
        assert all("dialog" in text for text in seen["axtree"])
        told = envs.step(("no call", "pas d'appel 👍"))[4]
    assert list(told["failure"]) == ["the answer calls for no action"] * 2


def test_memory_that_would_hold_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.make_vec("cuadata/modal-v0", 2, vectorization_mode="async", screenshot=False)
