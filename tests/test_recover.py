"""Making recovery data: ways to fail, the policy that fails, and rows that were all played in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import build_trajectories as made
import pytest
from typer.testing import CliRunner

from cuadata import dataset, environment, recording, registry, split
from cuadata.cli import app
from cuadata.errors import CallError
from cuadata.geometry import contains, distance
from cuadata.playing import playing
from cuadata.recovering import mishaps, recover, ways_out
from cuadata.recovering.mishaps import Moment
from cuadata.rows import ContextLine, Recovery
from cuadata.speaking import prompts
from cuadata.types import Action, BBox, Condition, Element, Locator, Move, Observation, Task
from cuadata.viewer import sheet

FIRST = made.checkout().steps[0].observation


def moment(observation: Observation, right: Action, seed: int = 0, **more: Any) -> Moment:
    return Moment(observation=observation, right=right, rng=Random(seed), **more)


def test_a_missed_click_falls_5_to_40_px_beside_its_target_on_nothing() -> None:
    right = Action(type="click", element=made.CLOSE.id)
    box = made.CLOSE.bbox
    assert box is not None
    tried = [mishaps.missed(moment(FIRST, right, seed)) for seed in range(200)]
    points = [action.point for action in tried if action is not None and action.point is not None]
    distances = [distance(box, point) for point in points]
    assert len(points) > 150 and 5 <= min(distances) < 8 and 36 < max(distances) <= 40
    live = [e for e in FIRST.elements if e.interactive and e.bbox is not None]
    assert not any(contains(e.bbox, p) for e in live for p in points if e.bbox is not None)


@pytest.mark.parametrize(
    ("way", "right"),
    [
        ("missed", Action(type="scroll", scroll_y=300.0, scroll_unit="px")),
        ("covered", Action(type="click", element=made.SUBMIT.id)),
        ("fake", Action(type="click", element=made.ACCEPT.id)),
        ("disabled", Action(type="click", element=made.SUBMIT.id)),
        ("off_screen", Action(type="click", element=made.SUBMIT.id)),
        ("too_early", Action(type="wait", seconds=1.0)),
        ("taken_back", Action(type="click", element=made.EXPRESS.id)),
    ],
)
def test_a_page_that_offers_no_way_to_fail_gives_none(way: str, right: Action) -> None:
    assert mishaps.possible(moment(FIRST, right), [way]) == {}
    assert mishaps.possible(moment(FIRST, Action(type="done")), tuple(mishaps.WAYS)) == {}


def test_ways_and_numbers_that_are_none_are_said() -> None:
    with pytest.raises(CallError, match=r"no way to fail is called \['trip'\]; there are: missed"):
        registry.policies["stumble"]("missed,trip")
    with pytest.raises(CallError, match="share lies between 0 and 1"):
        registry.policies["stumble"](share=2.0)
    for settings, said in (
        (recover.Settings(causes=("trip",)), "no cause is called trip"),
        (recover.Settings(n=3), "3 rows are too few"),
    ):
        with pytest.raises(CallError, match=said):
            recover.make(settings, Path("data/none"), Path("runs/none"))


def test_a_row_asks_what_the_live_prompt_asked() -> None:
    """Two ways to one prompt: the page's, as the policy had it, and the row's, cut from the record of the same episode."""
    form = registry.formats["qwen25vl"]
    policy = registry.policies["stumble"](("missed", "disabled"), share=1.0)
    env = environment.make(
        "gauntlet", 2, screenshot=True, no_effect_lines=True, rooms=1, start="modal", until="modal", guarded=True
    )
    asked = []
    try:
        env.reset(seed=2)
        episode = env.episode
        assert episode is not None
        policy.reset(episode.task, 0)
        while episode.ended == "running":
            prompt = episode.prompt()
            asked.append(form.prompt(prompt))
            for _ in playing.played(episode, policy.act(episode.observation, prompt)):
                pass
        trajectory = episode.trajectory("t", "stumble")
    finally:
        env.close()
    assert trajectory.outcome.success
    rows = [candidate.example for candidate in split.recoveries(trajectory)]
    assert len(rows) >= 3 and {row.cause for row in rows if isinstance(row, Recovery)} >= {"missed", "disabled"}
    for row in rows:
        assert form.prompt(prompts.of_example(row)) == asked[row.step_index]
        assert "No effect: " in str(asked[row.step_index])


def test_the_command_makes_verified_rows_in_equal_parts(tmp_path: Path) -> None:
    words = ["recover", "--n", "4", "--causes", "missed,too_early", "--workers", "2", "--sheet", "2", "--json"]
    out, runs = tmp_path / "set", tmp_path / "runs"
    done = CliRunner().invoke(app, [*words, "--out", str(out), "--recordings", str(runs)])
    assert done.exit_code == 0, done.stderr
    rows: list[Recovery] = list(dataset.read(out, "recovery"))
    assert sorted(row.cause for row in rows) == ["missed", "missed", "too_early", "too_early"]
    held = {t.id: t for folder in recording.find(runs) for t in [recording.read(folder, pictures=False)]}
    for row in rows:
        steps = held[row.trajectory_id].steps
        tries = steps[row.step_index - len(row.failed) : row.step_index]
        assert [step.action for step in tries] == list(row.failed) and 1 <= len(tries) <= 3
        assert all(step.effect is not None and step.effect.happened is False for step in tries)
        helped = steps[row.step_index]
        assert helped.effect is not None and helped.effect.happened and helped.action == row.action
        assert row.context and held[row.trajectory_id].outcome.success
    assert all(5 <= (row.miss_distance or 0) <= 40 for row in rows if row.cause == "missed")
    assert (out / sheet.NAME).stat().st_size > 20_000
    said = sheet.story(rows[0], 1)
    assert said[0].startswith("1. missed: The click fell") and said[-1].startswith("Helped: ")


def test_another_helper_is_asked_where_nothing_changed() -> None:
    """A helper that names the right element in its own way; the solution goes on behind it."""
    policy = registry.policies["stumble"](("missed",), share=1.0, most=1, helper="submit_only")
    task = made.checkout_task()
    page = made.checkout().steps[3].observation  # no overlay; the solution's first elements are gone
    policy.reset(replace(task, solution=task.solution[4:]), 0)
    first = policy.act(page, prompts.of_observation(page, task.instruction))
    assert first.action is not None and first.action.element is None
    told = prompts.of_observation(page, task.instruction, context=(ContextLine("no_effect", "No effect: x"),))
    helped = policy.act(page, told)
    assert helped.action == Action(type="click", element=made.SUBMIT.id)
    assert policy.act(page, prompts.of_observation(page, task.instruction)).action == Action(type="done")


_BLOCKED = """<!doctype html><title>Blocked</title><style>body{margin:0;height:2400px}
#go{position:absolute;top:1500px;left:200px;width:120px;height:40px}
#over{position:fixed;inset:auto 0 0 0;height:500px;background:#fff4d0}</style>
<h1 id=done>Not yet</h1><div id=over role=dialog aria-label=Cookies><p>We use cookies.</p>
<button id=close>Close</button> <button id=accept onclick="over.remove();setTimeout(()=>{
  document.body.insertAdjacentHTML('beforeend',`<button id=go onclick=&quot;done.textContent='Gone'&quot;>Go</button>`)},900)">Accept</button></div>
<p style="position:absolute;top:1480px">Here it comes.</p>"""


def test_an_oracle_that_recovers_clears_the_way_by_itself() -> None:
    """Its solution is one click; the button is not there yet, far below, and what brings it stands beside a fake."""
    click = Action(type="click")
    task = Task(
        id="blocked/0", family="blocked", seed=0, instruction="Press Go.", html=_BLOCKED,
        solution=(Move(action=click, locator=Locator(css="#accept")), Move(action=click, locator=Locator(css="#go"))),
        success=(Condition(role="heading", name="Gone"),),
    )  # fmt: skip
    done = []
    env = environment.make("modal", 0, screenshot=True)
    try:
        env.reset(options={"task": task})
        episode = env.episode
        assert episode is not None
        policy = registry.policies["oracle"](recover=True)
        policy.reset(task, 0)
        while episode.ended == "running":
            for _ in playing.played(episode, policy.act(episode.observation, episode.prompt())):
                done.append(episode.steps[-1].action.type)
    finally:
        env.close()
    assert episode.exact, episode.reason
    assert done[0] == "click" and done[-1] == "click" and {"wait", "scroll"} <= set(done) and len(done) <= 8


def covered(*controls: Element) -> Observation:
    over = made.element(10, "dialog", "Cookies", (0, 0, 640, 300), css="#over", seen=1.0)
    evidence = replace(made.SUBMIT.evidence, covered=1.0, covered_by="#over")
    under = replace(made.SUBMIT, point=None, hit=0.0, evidence=evidence)
    return made.observe(made.Page((under, over, *controls)), made.START)


def test_the_way_out_of_what_covers() -> None:
    def button(id: int, name: str) -> Element:
        return made.element(id, "button", name, (20.0 + 90 * id, 20, 80, 30), dialog=10, parent=10)

    claim, close, dismiss = button(1, "Claim my prize"), button(2, "Close"), button(4, "Dismiss")
    seen = covered(claim, close, dismiss)
    under = seen.elements[0]
    assert ways_out.way_out(seen, under) == Action(type="click", element=4)
    assert ways_out.way_out(seen, under, tried={dismiss.locator}) == Action(type="click", element=2)
    assert ways_out.way_out(seen, under, known=(claim.locator,)) == Action(type="click", element=1)
    assert ways_out.way_out(covered(claim), under) == Action(type="press", keys=("Escape",))
    assert ways_out.way_out(seen, None) == Action(type="wait", seconds=1.0)
    assert ways_out.way_out(seen, made.with_state(made.SUBMIT, disabled=True)) == Action(type="wait", seconds=1.0)
    assert ways_out.way_out(seen, made.SUBMIT) is None
    below = replace(made.SUBMIT, bbox=BBox(40, 900, 120, 36), evidence=replace(made.SUBMIT.evidence, in_viewport=0.0))
    assert ways_out.way_out(seen, below) == Action(type="scroll", scroll_y=738.0, scroll_unit="px")


def test_what_the_pointer_paints_on_its_arrival_is_no_effect_of_a_press() -> None:
    """A native button has a style of its own under the pointer; a press that does nothing else did nothing."""
    html = "<!doctype html><title>t</title><button id=dead>Close</button> <button id=live onclick='title=live.textContent=`Gone`'>Go</button>"
    task = Task(id="t/0", family="t", seed=0, instruction="x", html=html)
    env = environment.make("modal", 0, screenshot=True)
    try:
        env.reset(options={"task": task})
        assert env.episode is not None
        ids = {e.locator.css: e.id for e in env.episode.observation.elements}
        effects = [
            env.step(Action(type="click", element=ids[css]))[-1]["effect"] for css in ("#dead", "#dead", "#live")
        ]
    finally:
        env.close()
    assert effects == ["none", "none", "local"]
