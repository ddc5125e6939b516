"""The Gymnasium environments on real pages: rewards, ends, plans, isolation, and what happens when the browser dies."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from cuadata import browser, environment, registry
from cuadata.episodes import registration
from cuadata.errors import CallError, DataError
from cuadata.playing import environment_check
from cuadata.types import Action, Condition, Element, Locator, Move, Point, Size, Task, Term

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    with closing(environment.make("modal", screenshot=False)) as made:
        yield made


def solve(env: Any, task: Task | None = None, *, seed: int = 0) -> list[float]:
    """The rewards of a task's solution, a step each."""
    env.reset(seed=seed, options=None if task is None else {"task": task})
    policy = registry.policies["oracle"]()
    policy.reset(env.episode.task, 0)
    rewards = []
    while env.episode.ended == "running":
        choice = policy.act(env.episode.observation, env.episode.prompt())
        assert choice.action is not None, choice.failure
        _, reward, _, _, info = env.step(choice.action)
        assert info["error"] is None
        rewards.append(round(reward, 6))
    return rewards


def plain(body: str, **fields: Any) -> Task:
    made = Task(id="t/0", family="t", seed=0, instruction="Do it.", html=f"<title>T</title><body>{body}</body>")
    return replace(made, **{"viewport": Size(800, 600), **fields})


def named(env: Any, name: str) -> Element:
    elements: tuple[Element, ...] = env.episode.observation.elements
    return next(e for e in elements if e.name == name and e.acts_on is None)


@pytest.mark.parametrize("markup", ["radix", "native", "aria", "label", "shadow"])
def test_the_reference_run_of_the_modal(env: Any, markup: str) -> None:
    task = registration.task("modal", 4, markup=markup)
    assert solve(env, task) == [0, 0, 0, 0.1, 1.0]
    assert (env.episode.exact, env.episode.ended, env.episode.raw) == (True, "success", pytest.approx(1.1))


def test_a_wrong_radio_pays_two_hundredths_and_no_success(env: Any) -> None:
    assert solve(env, registration.task("modal", 4, path="wrong_radio")) == [0, 0, 0, 0.02, 0, 0]
    assert (env.episode.exact, env.episode.default, env.episode.ended) == (False, True, "failure")


@pytest.mark.parametrize("reveal", ["scroll_box", "scroll_page", "hover", "wait", "click", "slide", "drag"])
def test_a_code_can_be_earned_in_every_way(env: Any, reveal: str) -> None:
    rewards = solve(env, registration.task("code_entry", 2, reveal=reveal))
    assert [r for r in rewards if r] == [0.1, 0.1, 1.0] and env.episode.exact


@pytest.mark.parametrize(("seed", "arrival"), [(2, "stacked"), (1, "chained")])
def test_overlays_are_paid_one_by_one(env: Any, seed: int, arrival: str) -> None:
    task = registration.task("overlays", seed, arrival=arrival, count=3)
    rewards = solve(env, task)
    assert rewards[:3] == [0.1, 0.1, 0.1] and rewards[-1] == 1.0 and env.episode.exact


def test_a_room_of_the_gauntlet_and_its_skills_alone(env: Any) -> None:
    make: Any = registry.families["gauntlet"]
    rewards = solve(env, make(3, rooms=1))
    assert env.episode.exact and sum(rewards) == pytest.approx(0.3 + 0.1 + 1 + 0.2 + 1 + 1)
    rewards = solve(env, make(3, rooms=1, start="modal", until="modal"))
    assert env.episode.exact and rewards[-1] == pytest.approx(2.0)
    assert solve(env, make(3, rooms=1, start="code"))[-1] == pytest.approx(2.0)


def test_gymnasium_accepts_it() -> None:
    with closing(gymnasium.make("cuadata/modal-v0", seed=3, max_steps=4, disable_env_checker=True)) as made:
        check_env(made.unwrapped, skip_render_check=True)
        observation, info = made.reset()
        assert observation["screenshot"].shape == (720, 1280, 3) and observation["screenshot"].std() > 5
        assert info["seed"] != 3, "the first episode was the seed's, and check_env took it"
    with closing(environment.make("overlays", seed=5, screenshot=False, render_mode="rgb_array")) as made:
        _, info = made.reset()
        assert (info["seed"], info["task"]) == (5, "overlays/5")
        assert made.render() is None


def test_text_is_read_through_the_format_and_a_plan_goes_one_call_a_turn(env: Any) -> None:
    task = plain(
        "<p><button onclick=\"this.nextElementSibling.disabled=false\">One</button>"
        "<button disabled onclick=\"document.body.append(Object.assign(document.createElement('h1'),{textContent:'Two'}))\">"
        "Two</button></p>",
        terms=(Term(name="two", value=1.0, when=(Condition(role="heading", name="Two"),)),),
        success=(Condition(role="heading", name="Two"),),
    )  # fmt: skip
    observation, _ = env.reset(options={"task": task})
    one, two = named(env, "One").id, named(env, "Two").id
    assert (
        f"[{one}] button 'One'" in observation["axtree"] and f"[{two}] button 'Two', disabled" in observation["axtree"]
    )
    observation, reward, terminated, _, info = env.step(f"click({one})\nclick({two})\nclick({one})")
    assert (reward, terminated, info["turns"]) == (1.0, True, 2)
    assert info["rewards"] == {"two": 1.0} and info["effect"] == "local"
    assert len(env.episode.steps) == 2
    with pytest.raises(CallError, match="the episode is over; call reset"):
        env.step("click(1)")


def test_an_option_of_a_closed_list_is_told_and_a_click_on_it_chooses_it(env: Any) -> None:
    menu = "<select aria-label=Pet><option>Dog<optgroup label=Wild><option>Fox<option disabled>Wolf</optgroup></select>"
    hidden = "<select style='display:none'><option>Ghost</select>"
    chosen = Condition(role="combobox", name="Pet", state="value", value="Fox")
    task = plain(f"{menu}{hidden}", terms=(Term(name="fox", value=1.0, when=(chosen,)),), success=(chosen,))
    observation, _ = env.reset(options={"task": task})
    fox, wolf = named(env, "Fox").id, named(env, "Wolf").id
    assert f"[{fox}] option 'Fox'" in observation["axtree"] and "Ghost" not in observation["axtree"]
    *_, info = env.step(f"click({wolf})")
    assert info["error"].startswith("action_failed: there is no such option")
    _, reward, _, _, info = env.step(f"click({fox})")
    step = env.episode.steps[-1]
    assert (reward, info["exact_success"], step.action.type, step.target.role) == (1.0, True, "select", "combobox")


def test_what_cannot_be_read_does_nothing_and_counts(env: Any) -> None:
    env.max_steps = 2
    try:
        env.reset(options={"task": plain("<button>One</button>")})
        before = env.episode.observation
        _, reward, terminated, truncated, info = env.step("I am not sure.")
        assert (reward, terminated, truncated, info["turns"]) == (0.0, False, False, 1)
        assert info["failure"] and env.episode.observation is before
        _, _, terminated, truncated, info = env.step("click(99)")
        assert (terminated, truncated, info["ended"]) == (False, True, "budget")
    finally:
        env.max_steps = None


def test_an_element_that_is_gone_is_refused_and_never_its_neighbour(env: Any, cases: Path) -> None:
    html = (cases / "browser/B14-stale-reference-after-insert/page.html").read_text()
    env.reset(options={"task": plain("", html=html)})
    beta = named(env, "Beta")
    loop, page = env._loop, env.stage.page
    loop.run(page.evaluate("mutate()"), 5)
    env.step(Action(type="click", element=beta.id))
    assert loop.run(page.evaluate("document.body.dataset.last ?? null"), 5) in ("Beta", None)
    env.reset(options={"task": plain("<button id=b onclick='document.title=1'>One</button><button>Two</button>")})
    one, page = named(env, "One"), env.stage.page
    loop.run(page.evaluate("document.getElementById('b').remove()"), 5)
    *_, info = env.step(Action(type="click", element=one.id))
    assert info["error"].startswith("target_stale") and loop.run(page.title(), 5) == "T"


def test_a_dialog_is_answered_and_told(env: Any, cases: Path) -> None:
    html = (cases / "browser/B16-alert-dialog/page.html").read_text()
    env.reset(options={"task": plain("", html=html)})
    env.step(Action(type="click", point=Point(110, 60)))
    (dialog,) = env.episode.observation.dialogs
    assert (dialog.type, dialog.message) == ("confirm", "Delete 3 files?")
    told = env._loop.run(env.stage.page.evaluate("document.body.dataset.answer"), 5)
    assert told == str(dialog.accepted).lower()


def test_a_pop_up_that_closes_itself_leaves_the_opener(cases: Path) -> None:
    with browser.open(cases / "capture/B27-popup-closes-itself/page.html", viewport=Size(800, 600)) as page:
        first = page.act(Action(type="click", point=Point(110, 55)))
        second = page.act(Action(type="click", point=Point(70, 35)), observation=first.after)
        third = page.act(Action(type="click", point=Point(110, 115)), observation=second.after)
    assert [s.observation.title for s in (first, second, third)] == ["Opener", "Pop", "Opener"]
    assert third.after is not None and third.after.title == "Next done"


ROWS = "".join(f"<p><button onclick=\"document.title='{n}'\">{n}</button></p>" for n in ("Alpha", "Beta", "Gamma"))
RECYCLE = """() => [...document.querySelectorAll('button')].forEach((e, i) => {
  const name = ['New', 'Alpha', 'Beta'][i]; e.textContent = name; e.onclick = () => document.title = name; })"""


def test_a_row_whose_node_stands_for_another_now_is_refused(env: Any) -> None:
    """As in virtual lists, whose nodes stay while their contents move on."""
    env.reset(options={"task": plain(ROWS)})
    beta = named(env, "Beta")
    env._loop.run(env.stage.page.evaluate(RECYCLE), 5)
    *_, info = env.step(Action(type="click", element=beta.id))
    assert info["error"].startswith("target_stale") and env.episode.observation.title == "T"
    toggle = "<button onclick=\"this.textContent = this.textContent === 'Show' ? 'Hide' : 'Show'\">Show</button>"
    env.reset(options={"task": plain(toggle)})
    shown = named(env, "Show")
    env._loop.run(env.stage.page.evaluate("() => document.querySelector('button').click()"), 5)
    *_, info = env.step(Action(type="click", element=shown.id))
    assert info["error"] is None and named(env, "Show").id == shown.id


MOVES = f"""<div id=list>{"<button></button>" * 3}</div><script>let first = 0; const draw = () => [...list.children].forEach(
  (b, i) => {{ b.textContent = "Row " + (i + first); }}); draw(); document.title = "";
  list.onclick = (e) => {{ document.title += e.target.textContent + ";"; first++; draw(); }}</script>"""


def test_an_id_of_a_plan_is_refused_where_it_stands_for_another_row_by_then(env: Any) -> None:
    env.reset(options={"task": plain(MOVES)})
    ids = [named(env, f"Row {i}").id for i in (0, 2)]
    *_, info = env.step(f"click({ids[0]})\nclick({ids[1]})")
    assert (info["turns"], env.episode.observation.title) == (2, "Row 0;") and info["error"].startswith("target_stale")
    *_, info = env.step(f"click({ids[1]})")
    assert (info["error"], env.episode.observation.title) == (None, "Row 0;Row 3;"), (
        "what it shows now is what was chosen"
    )
    toggle = "<button onclick=\"this.textContent = this.textContent === 'Show' ? 'Hide' : 'Show'\">Show</button>"
    env.reset(options={"task": plain(toggle * 2)})
    *_, info = env.step("\n".join([f"click({named(env, 'Show').id})"] * 2))
    assert info["error"] is None and [e.name for e in env.episode.observation.elements if e.interactive] == ["Show"] * 2


def test_a_pop_up_that_goes_by_itself_before_it_is_looked_at(env: Any) -> None:
    pop = "const w = open('about:blank', '', 'width=300,height=200'); setTimeout(() => w.close(), {})"
    buttons = "".join(f'<button onclick="{pop.format(ms)}">{ms}</button>' for ms in (0, 30, 100, 300))
    env.reset(options={"task": plain(f"{buttons}<button onclick=\"document.title='Next'\">Next</button>")})
    for name in ("0", "30", "100", "300"):
        env.step(Action(type="click", element=named(env, name).id))
        assert env.episode.ended == "running", env.episode.reason
        if env.episode.observation.title != "T":
            env.step(Action(type="wait", seconds=0.5))
        assert env.episode.observation.title == "T"
    env.step(Action(type="click", element=named(env, "Next").id))
    assert env.episode.observation.title == "Next"


def test_nothing_of_one_episode_reaches_the_next(env: Any) -> None:
    leave = "<script>localStorage.a=1;sessionStorage.b=2;document.cookie='c=3'</script><h1>One</h1>"
    env.reset(options={"task": plain(leave)})
    env.reset(options={"task": plain("<h1>Two</h1>")})
    held = "[localStorage.a, sessionStorage.b, document.cookie, history.length].join()"
    assert env._loop.run(env.stage.page.evaluate(held), 5) == ",,,1"
    env.step(Action(type="back"))
    assert named(env, "Two")


def test_a_browser_that_dies_ends_the_episode_and_not_the_run() -> None:
    with closing(environment.make("code_entry", screenshot=False, reveal="click")) as made:
        made.reset(seed=1)
        for process in children("--user-data-dir"):
            os.kill(process, signal.SIGKILL)
        *_, terminated, truncated, info = made.step(Action(type="hover", point=Point(5, 5)))
        assert (terminated, truncated, info["ended"]) == (False, True, "error") and info["reason"]
        assert solve(made, seed=1)[-1] == 1.0


def children(word: str) -> list[int]:
    """Processes of this one, at any depth, whose command line holds a word."""
    found, level = [], [os.getpid()]
    while level:
        told = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", ",".join(map(str, level))], capture_output=True, text=True, check=False
        )
        level = [int(line) for line in told.stdout.split()]
        found += level
    lines = {p: Path(f"/proc/{p}/cmdline").read_text() for p in found if Path(f"/proc/{p}/cmdline").exists()}
    return [p for p, line in lines.items() if word in line and "--type=" not in line]


def test_a_page_that_does_not_open_is_bad_data(env: Any) -> None:
    with pytest.raises(DataError, match="t/0: the page did not open"):
        env.reset(options={"task": plain("", html=None, url="http://127.0.0.1:9/nothing")})


def test_potential_terms_take_back_what_is_undone(env: Any) -> None:
    ticked = Condition(role="checkbox", name="A", state="checked", value="true")
    task = plain(
        "<label><input type=checkbox>A</label>",
        terms=(Term(name="a", value=0.5, kind="potential", when=(ticked,)),),
        solution=(Move(action=Action(type="click"), locator=Locator(css="input")),) * 5,
    )
    env.reset(options={"task": task})
    paid = [env.step(Action(type="click", element=named(env, "A").id))[1] for _ in range(5)]
    assert paid == [0.5, -0.5, 0.5, -0.5, 0.5]


def test_the_check_passes_what_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment_check, "MARKUPS", ("markup",))
    report = environment_check.check("modal", [6])
    assert report.problems == ()
    fired = report.fired()
    assert fired["submitted"].keys() >= {"solution", "markup=shadow", "every_action_thrice"}
    assert set(fired["wrong_radio"]) <= {"wrong_radio", "repeat_click", "back_and_forth", "random"}


def test_a_check_plays_its_pages_at_one_time_and_tells_them_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = environment_check.check("shapes", [0, 1])
    together, play, waiting = threading.Barrier(2), environment_check.play, queue.SimpleQueue[int]()
    for number in range(2):
        waiting.put(number)

    def both(*job: Any) -> environment_check.Run:
        """The first two wait for one another: one page at a time would never get beyond them."""
        with contextlib.suppress(queue.Empty):
            waiting.get_nowait()
            together.wait(60)
        return play(*job)

    monkeypatch.setattr(environment_check, "play", both)
    assert environment_check.check("shapes", [0, 1], workers=2).runs == alone.runs
    with pytest.raises(CallError, match="got 0"):
        environment_check.check("shapes", [0], workers=0)


def test_clicking_everything_earns_nothing_where_one_element_is_asked_for() -> None:
    task = registration.task("shapes", 0)
    wrong = "e1" if task.solution[0].locator != Locator(css="#e1") else "e2"
    made: Any
    with closing(environment.make("shapes", screenshot=False)) as made:
        made.reset(options={"task": task})
        first = next(e for e in made.episode.observation.elements if e.locator == Locator(css=f"#{wrong}"))
        _, reward, terminated, truncated, info = made.step(f"click({first.id})")
        assert (reward, terminated, truncated, info["ended"]) == (0.0, False, True, "budget")
        assert solve(made, task) == [1.0]
    assert environment_check.check("shapes", [0]).problems == ()


def test_every_room_of_the_gauntlet_takes_a_wrong_choice_for_one(env: Any) -> None:
    make: Any = registry.families["gauntlet"]
    task = make(0, rooms=2, path="wrong_radio")
    solve(env, task)
    paid = [r.name for s in env.episode.steps for r in s.rewards]
    assert {"room1_wrong_radio", "room2_wrong_radio"} < set(paid) and not env.episode.exact
    assert "room2_submitted" not in paid and "finished" not in paid


class Planted:
    """A family with a fault in its rewards; the fault is an option, so that one page serves all."""

    name = "planted"
    __name__ = "planted"

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def __call__(self, seed: int, *, path: Any = "solution") -> Task:
        saved = Condition(role="heading", name="Saved")
        chosen = Condition(role="radio", name="B", state="checked", value="true")
        wanted = (
            (Condition(role="textbox", name="B", state="checked", value="true"),) if self.fault == "dead" else (chosen,)
        )
        last = (Condition(role="button", name="Save"),) if self.fault == "wrong_path" else (saved, chosen)
        button = "" if self.fault == "unsolvable" else "onclick=\"document.querySelector('h1').textContent='Saved'\""
        radios = "".join(f"<label><input type=radio name=r id={n}>{n}</label>" for n in "AB")
        clicks = {"solution": "#B", "wrong": "#A"}[path]
        return plain(
            f"<h1>Not yet</h1>{radios}<button id=s {button}>Save</button>",
            id=f"planted/{seed}",
            family="planted",
            terms=(Term(name="chosen", value=0.1, when=wanted), Term(name="saved", value=1.0, when=last)),
            success=(Condition(role="button", name="Save"),) if self.fault == "won" else (saved, chosen),
            solution=tuple(Move(action=Action(type="click"), locator=Locator(css=c)) for c in (clicks, "#s")),
        )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("dead", "the term 'chosen' never fired on any path: it is dead"),
        ("unsolvable", "seed 0, solution: the solution does not reach success"),
        ("wrong_path", "the term 'saved' never fired"),
        ("won", "seed 0, solution: success stands on the page before anything is done"),
    ],
)
def test_the_check_refuses_a_planted_fault(fault: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.families._found, "planted", Planted(fault))
    monkeypatch.setattr(registration, "known", lambda name: name == "planted")
    monkeypatch.setattr(environment_check, "wrong_paths", lambda family: ("wrong",))
    report = environment_check.check("planted", [0], random_steps=2)
    assert any(words in problem for problem in report.problems), report.problems
    assert not report.plain()["passes"] and json.dumps(report.plain())
