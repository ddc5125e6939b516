"""Pages that draw as they are wanted: nothing that a page does by itself stands still, and the pictures are the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, cast

import numpy as np
import pytest

from cuadata import environment
from cuadata.browsing import browser_find, pacing
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import shared
from cuadata.episodes import miniwob_solutions
from cuadata.playing import environment_vector
from cuadata.types import Action, Point

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        browser_find.kind_of(browser_find.place()[0]) != "headless-shell",
        reason="only a headless shell draws as it is told",
    ),
]
#: Each sets `globalThis.told` when it is over.
BY_ITSELF = {
    "frames counted": "let n = 0; (function go() { if (++n < 20) requestAnimationFrame(go); else told = n; })()",
    "frames begun later": "setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => { told = 1; })), 700)",
    "a transition": """const e = document.querySelector('#query'); e.ontransitionend = () => { told = 1; };
      e.style.transition = 'margin-left 0.2s'; e.getBoundingClientRect(); e.style.marginLeft = '30px'""",
    "a transition begun later": """const e = document.querySelector('#query'); e.ontransitionend = () => { told = 1; };
      e.style.transition = 'margin-left 0.2s'; setTimeout(() => { e.style.marginLeft = '60px'; }, 700)""",
    "an animation": "document.body.animate([{opacity: 0.5}, {opacity: 1}], 200).onfinish = () => { told = 1; }",
    "a scroll event": """const e = document.createElement('div'); e.style = 'height:20px;overflow:auto';
      e.innerHTML = '<p style="height:400px">x</p>'; document.body.append(e); e.onscroll = () => { told = e.scrollTop; };
      e.scrollTop = 40""",
    "an observer": """new IntersectionObserver((seen) => { told = seen.length; }).observe(document.body)""",
    "a size": """new ResizeObserver((seen) => { told = seen.length; }).observe(document.querySelector('#query'))""",
}


def run(work: Any) -> Any:
    return shared().run(work, 60)


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    with closing(environment.make("miniwob-click-checkboxes", screenshot=False, effect=False)) as made:
        made.reset(seed=1)
        yield made


@pytest.mark.parametrize("what", BY_ITSELF)
def test_what_a_page_does_by_itself_goes_on_while_nobody_asks(env: Any, what: str) -> None:
    env.reset(seed=1)
    time.sleep(0.3)  # at rest
    run(env.stage._evaluate(f"globalThis.told = null; {{ {BY_ITSELF[what]} }} 0"))
    time.sleep(2.5)
    assert run(env.stage._evaluate("globalThis.told"))


def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Frames asked for since."""
    asked: list[float] = []
    frame = pacing.Pacer._frame

    async def noted(self: pacing.Pacer, *given: Any, **options: Any) -> Any:
        asked.append(time.monotonic())
        return await frame(self, *given, **options)

    monkeypatch.setattr(pacing.Pacer, "_frame", noted)
    return lambda: len(asked)


def test_a_page_in_use_or_at_rest_is_hardly_drawn_and_one_that_moves_sixty_times_a_second(
    env: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.reset(seed=1)
    time.sleep(0.5)
    frames = counted(monkeypatch)
    began = time.monotonic()
    for seed in range(20):
        env.reset(seed=seed)
    spent = time.monotonic() - began
    assert frames() <= 4 + spent / pacing.LATEST + spent / pacing.SOON / 4
    time.sleep(0.5)
    frames = counted(monkeypatch)
    time.sleep(2)
    assert 2 <= frames() <= 6
    run(env.stage._evaluate("(function go() { requestAnimationFrame(go); })(); 0"))
    time.sleep(0.2)
    frames = counted(monkeypatch)
    time.sleep(1)
    assert frames() >= 20  # 60 on a machine that is not busy


def pixels(task: str, ratio: float) -> list[Any]:
    """Pictures at the beginning and after every step of an oracle."""
    solve, held = miniwob_solutions.SOLVERS[task], []
    made: Any = environment.make(f"miniwob-{task}", effect=False, device_pixel_ratio=ratio)
    with closing(made) as env:
        for seed in (3, 4):
            held.append(env.reset(seed=seed)[0]["screenshot"])
            for turn in range(4):
                action = solve(env.episode.task.instruction, env.episode.observation.elements, turn)
                if action is None:
                    break
                observation, _, over, cut, _ = env.step(action)
                held.append(observation["screenshot"])
                if over or cut:
                    break
    return held


@pytest.mark.parametrize(("task", "ratio"), [("click-checkboxes", 1.0), ("click-tab", 1.0), ("login-user", 2.0)])
def test_a_picture_is_that_of_a_browser_that_draws_by_itself(
    task: str, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    paced = pixels(task, ratio)
    monkeypatch.setattr(pacing, "possible", lambda: False)
    free = pixels(task, ratio)
    assert len(paced) == len(free) > 2
    for one, other in zip(paced, free, strict=True):
        np.testing.assert_array_equal(one, other)


def test_input_that_waits_for_frames_has_them(env: Any) -> None:
    env.reset(seed=1)
    run(
        env.stage._evaluate(
            "globalThis.moves = 0; addEventListener('mousemove', (e) => { moves += e.isTrusted; }, true); 0"
        )
    )
    began = time.monotonic()
    assert run(env.stage._input(Action(type="drag", point=Point(20, 80), end=Point(120, 120)))) is None
    assert run(env.stage._evaluate("moves")) >= 10
    assert time.monotonic() - began < 5  # 13 moves; at rest each would wait for half a second


def test_a_script_without_end_holds_no_neighbour_up_for_good() -> None:
    with closing(environment_vector.make("miniwob-click-test", 2, browsers=1, effect=False)) as envs:
        envs.reset(seed=1)
        stages: Any = envs.stages
        hung, other = (stage._line for stage in stages)
        held = shared().start(hung.send("Runtime.evaluate", 30, expression="while (true) {}"))
        time.sleep(1)  # its next frame waits for the script
        asked = shared().start(stages[1]._shoot())
        time.sleep(1)
        assert other._ended is None
        run(stages[0].page.tab.free())
        assert isinstance(held.exception(30), FrameGone)
        assert asked.result(30).width == 332
        assert run(asyncio.wait_for(stages[0]._shoot(), 20)).width == 332


def test_an_input_meets_what_the_one_before_it_brought_into_view() -> None:
    """The click on the last option, half in view, scrolls the list with the next frame: the same points mean others then."""
    with closing(environment.make("miniwob-click-scroll-list", screenshot=False, effect=False)) as env:
        for _ in range(4):
            env.reset(seed=4)
            for x, y in ((16, 144), (69, 117), (69, 134), (49, 167)):
                *_, info = env.step(Action(type="click", point=Point(x, y)))
            assert (info["ended"], info["raw"]) == ("failure", -1)


def test_pages_whose_browser_ends_leave_no_task_behind() -> None:
    with closing(environment_vector.make("miniwob-click-test", 4, browsers=1, screenshot=False, effect=False)) as envs:
        envs.reset(seed=1)
        pacers = [stage._pacer for stage in cast(Any, envs.stages)]
        run(envs.browsers.close())
        time.sleep(2 * pacing.REST + 0.2)
        assert all(pacer._timer is None and (pacer._task is None or pacer._task.done()) for pacer in pacers)
