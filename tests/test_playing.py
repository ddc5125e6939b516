"""Rollouts on disk: one recording an episode, failures kept, resumed, none lost or doubled; curricula on top."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata import recording, registry, schema
from cuadata.commands.env import app as env_app
from cuadata.commands.rollout import app as rollout_app
from cuadata.contracts import Choice, Prompt
from cuadata.errors import CallError
from cuadata.playing import curricula, playing
from cuadata.playing.playing import Plan
from cuadata.types import Action, Observation, Task

pytestmark = pytest.mark.browser


def quick(**fields: Any) -> Plan:
    made = {"family": "miniwob-click-checkboxes", "policy": "oracle", "seeds": range(4), "screenshot": False}
    return Plan(**{**made, **fields})


def test_every_episode_is_a_recording_with_its_rewards(tmp_path: Path) -> None:
    plan = Plan(family="code_entry", policy="oracle", seeds=[2], family_options={"reveal": "click"}, workers=1)
    (line,) = playing.play(plan, tmp_path / "out")
    assert (line.exact, line.default, line.ended, line.steps) == (True, True, "success", 3)
    assert line.fired == ("revealed", "typed", "accepted")
    held = recording.read(tmp_path / "out" / line.name)
    assert held.task is not None and held.task.id == "code_entry/2" and held.source == "oracle"
    assert [[r.name for r in s.rewards] for s in held.steps] == [["revealed"], ["typed"], ["accepted"]]
    assert held.outcome.success is True and held.outcome.raw == pytest.approx(1.2)
    assert all(s.observation.screenshot is not None and s.effect is not None for s in held.steps)
    told = playing.summary(plan, [line], 2.0)
    assert told["exact"]["hits"] == 1 and told["terms"] == {"revealed": 1, "typed": 1, "accepted": 1}


def test_rollouts_resume_grow_and_refuse_another_plan(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = playing.play(quick(samples=2, seeds=range(2)), out)
    assert [(p.seed, p.sample) for p in first] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    stamps = {p.name: (out / p.name / "outcome.json").stat().st_mtime_ns for p in first}
    counted: list[None] = []
    more = playing.play(quick(samples=2, seeds=range(3)), out, progress=lambda: counted.append(None))
    assert len(more) == 6 and len(counted) == 2 and more[:4] == first
    assert all((out / name / "outcome.json").stat().st_mtime_ns == stamp for name, stamp in stamps.items())
    with pytest.raises(CallError, match="rollouts of another plan"):
        playing.play(quick(policy="submit_only"), out)
    assert len(playing.play(quick(policy="submit_only", seeds=range(1)), out, force=True)) == 1
    assert len(recording.find(out)) == 1


class Deaf:
    """A policy whose first answer cannot be read, and whose second submits."""

    name = "deaf"

    def reset(self, task: Task, seed: int) -> None:
        self.turn = 0

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        self.turn += 1
        if self.turn == 1:
            return Choice(action=None, output="Well...", failure="no call in it", logprob=-3.5)
        button = next(e for e in observation.elements if e.role == "button")
        return Choice(action=Action(type="click", element=button.id), output="click it", logprob=-0.5)


def test_failures_and_unreadable_answers_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.policies._found, "deaf", Deaf)
    (line,) = playing.play(quick(policy="deaf", seeds=[5]), tmp_path / "out")
    assert (line.exact, line.ended, line.steps) == (False, "failure", 2)
    held = recording.read(tmp_path / "out" / line.name)
    assert [(s.output, s.logprob, s.error) for s in held.steps] == [
        ("Well...", -3.5, "parse_failure: no call in it"),
        ("click it", -0.5, None),
    ]
    assert held.outcome.success is False and held.steps[1].target is not None


def test_a_torn_process_leaves_marked_episodes_and_none_is_lost_or_doubled(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "from cuadata.playing import playing; from pathlib import Path; import sys\n"
        "playing.play(playing.Plan(family='miniwob-click-checkboxes', policy='oracle', seeds=range(400), "
        "screenshot=False, workers=2), Path(sys.argv[1]))"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(out)], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while sum(1 for _ in playing.lines(out)) < 5 and time.monotonic() < end:
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    unfinished = [f for f in recording.find(out) if not (f / "outcome.json").exists()]
    held = playing.play(quick(seeds=range(10)), out)
    assert [p.seed for p in held] == list(range(10)) and all(p.exact for p in held)
    for folder in unfinished:
        assert recording.read(folder, pictures=False).outcome.ended == "interrupted"
    names = [line.name for line in playing.lines(out)]
    assert len(names) == len(set(names)) and {f.name for f in recording.find(out)} == set(names)


def test_a_browser_that_is_killed_costs_a_retry_and_no_episode(tmp_path: Path) -> None:
    from test_environment import children

    killed: list[int] = []

    def kill() -> None:
        if len(killed) < 2:
            for process in children("ComputedAccessibilityInfo"):
                killed.append(process)
                os.kill(process, signal.SIGKILL)

    held = playing.play(quick(seeds=range(12), workers=2, retries=3), tmp_path / "out", progress=kill)
    assert killed and [p.seed for p in held] == list(range(12)) and all(p.exact for p in held)
    broken = [line for line in playing.lines(tmp_path / "out") if line.ended == "error"]
    assert all((tmp_path / "out" / line.name / "outcome.json").exists() for line in broken)


class Shy:
    """Solves modals and gives up on anything else."""

    name = "shy"

    def __init__(self) -> None:
        self.inner = registry.policies["oracle"]()

    def reset(self, task: Task, seed: int) -> None:
        self.able = "checkboxes" in task.family or "link" in task.family
        self.inner.reset(task, seed)

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        return self.inner.act(observation, prompt) if self.able else Choice(action=Action(type="infeasible"))


def test_a_curriculum_promotes_scores_earlier_skills_again_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.policies._found, "shy", Shy)
    held = curricula.skills("miniwob-click-checkboxes,miniwob-click-link,miniwob-click-test,miniwob-click-tab")
    told = curricula.play(quick(policy="shy", seeds=range(3)), held, tmp_path / "out", promote=0.9)
    assert [r["skill"] for r in told["rounds"]] == [s.name for s in held[:3]] and told["passed"] == 2
    assert [r["passed"] for r in told["rounds"]] == [True, True, False]
    (again,) = told["rounds"][1]["again"]
    assert again["skill"] == held[0].name and again["exact"]["rate"] == 1.0
    seeds = {
        line.seed for line in playing.lines(tmp_path / "out/2-miniwob-click-link-again/1-miniwob-click-checkboxes")
    }
    assert seeds.isdisjoint(range(3))


def test_a_trainer_is_promoted_by_a_full_window_and_reviews_what_it_knew() -> None:
    first, last = curricula.skills("modal,gauntlet:start=modal:until=modal:rooms=1")
    assert last.options == {"start": "modal", "until": "modal", "rooms": 1}
    plan = curricula.Curriculum([first, last], promote=0.75, window=4, review=0.5, seed=1)
    assert [plan.tell(first, won) for won in (True, True, False)] == [False] * 3
    assert plan.next()[0] is first and plan.tell(first, True) and plan.current == 1
    drawn = [plan.next()[0] for _ in range(40)]
    assert 8 <= drawn.count(first) <= 32
    plan.tell(last, True)
    assert plan.rates() == {"modal": 0.75, last.name: 1.0}
    with pytest.raises(CallError, match="no family is named 'modall'"):
        curricula.skills("modall")


def test_the_commands(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    run = CliRunner().invoke
    done = run(rollout_app, ["miniwob-click-test", "--n", "2", "--out", out, "--no-screenshot", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["episodes"] == 2 and told["exact"]["rate"] == 1.0 and told["browser_share"] > 0.5
    done = run(env_app, ["baseline", "miniwob-click-test", "--seeds", "0:3", "--policy", "nothing", "--json"])
    assert json.loads(done.stdout)["policies"]["nothing"]["exact"]["hits"] == 0
    done = run(env_app, ["check", "miniwob-click-test", "--seeds", "1", "--json"])
    assert done.exit_code == 0 and json.loads(done.stdout)["passes"], done.output


def test_lines_are_read_back(tmp_path: Path) -> None:
    line = playing.Played(
        name="seed1-sample0", seed=1, sample=0, ended="success", exact=True, default=True, raw=1.0, steps=2
    )
    (tmp_path / playing.EPISODES).write_bytes(schema.to_json(line) + b"\n" + schema.to_json(line)[:20])
    assert list(playing.lines(tmp_path)) == [line]
