"""Policies over fixed seeds: played for real, resumed, voted, reported; commands from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuadata import registry
from cuadata.contracts import Choice, Prompt
from cuadata.errors import CallError, DataError
from cuadata.playing import playing, policy_runs, voting_policy
from cuadata.scores import compare_runs, runs
from cuadata.types import Action, Observation, Point, Size, Task

HERE = Observation(screenshot=None, viewport=Size(800, 600))


class Scripted:
    """Chooses from a list, again and again from its start at each episode."""

    name = "scripted"

    def __init__(self, *choices: Choice) -> None:
        self.choices = choices
        self.turn = 0

    def reset(self, task: Task, seed: int) -> None:
        """Begin with the first choice."""
        self.turn = 0

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The next choice."""
        self.turn += 1
        return self.choices[(self.turn - 1) % len(self.choices)]


def click(x: float, y: float, **more: object) -> Choice:
    return Choice(action=Action(type="click", point=Point(x, y)), output=f"{x} {y}", **more)  # type: ignore[arg-type]


UNREAD = Choice(action=None, output="hm", failure="no_action: hm")


def test_a_vote_takes_the_commonest_type_and_the_busiest_region() -> None:
    typed = Choice(action=Action(type="type", text="a"))
    found = voting_policy.agreed([click(100, 100), typed, click(110, 100), click(500, 500), UNREAD], HERE)
    assert found.action is not None
    assert found.action.point == Point(105, 100)
    assert found.output == "100 100"
    assert voting_policy.agreed([typed, typed, click(1, 1)], HERE).action == typed.action
    assert voting_policy.agreed([UNREAD, UNREAD], HERE) is UNREAD
    by_id = [Choice(action=Action(type="click", element=n)) for n in (3, 4, 4)]
    assert voting_policy.agreed(by_id, HERE).action == Action(type="click", element=4)


def test_a_voting_policy_asks_so_many_times() -> None:
    inner = Scripted(click(10, 10), click(10, 10), click(300, 300))
    policy = voting_policy.Voting(inner, 3)
    policy.reset(Task(id="t/1", family="t", seed=1, instruction="x"), 1)
    chosen = policy.act(HERE, None)  # type: ignore[arg-type]
    assert (chosen.action and chosen.action.point, inner.turn) == (Point(10, 10), 3)
    with pytest.raises(ValueError, match="cannot vote"):
        voting_policy.Voting(inner, 0)


def test_options_are_json_where_they_can_be() -> None:
    assert policy_runs.options(["n=3", "name=a b", 'tags=["x"]', "on=true", "empty="]) == {
        "n": 3,
        "name": "a b",
        "tags": ["x"],
        "on": True,
        "empty": "",
    }
    for wrong in ("x", "=1", "a-b=1"):
        with pytest.raises(CallError, match="name=value"):
            policy_runs.options([wrong])


@pytest.mark.parametrize(
    ("family", "policy", "more"),
    [
        ("modal", "", {}),
        ("no_such_family", "oracle", {}),
        ("modal", "no_such_policy", {}),
        ("modal", "oracle", {"samples": 0}),
        ("modal", "oracle", {"vote": 0}),
    ],
)
def test_a_wrong_call_is_refused_before_any_browser_starts(family: str, policy: str, more: dict[str, int]) -> None:
    with pytest.raises(CallError):
        policy_runs.plan(family, policy, "0:2", **more)  # type: ignore[arg-type]


def test_runs_of_other_policies_pair_up_by_their_items() -> None:
    one = policy_runs.plan("modal", "oracle", "0:3")
    assert one.run().items == replace(one, policy="other", name="x").run().items
    assert one.run().items != replace(one, samples=2).run().items
    assert [policy_runs.id_of(one, *t) for t in one.tries()] == ["modal/0", "modal/1", "modal/2"]
    twice = replace(one, samples=2, seeds=(4,))
    assert [policy_runs.id_of(twice, *t) for t in twice.tries()] == ["modal/4/0", "modal/4/1"]


@pytest.fixture
def stubborn() -> Iterator[str]:
    """A policy that clicks the middle of the page, whatever it sees, then mumbles, then calls it done."""
    name = "stubborn_in_tests"

    def made(**options: object) -> Scripted:
        return Scripted(click(640, 700), UNREAD, Choice(action=Action(type="done"), output="done"))

    made.__name__ = name
    registry.policies.add(made)
    yield name
    registry.policies._found.pop(name)


@pytest.mark.browser
def test_policies_are_played_reported_and_resumed(tmp_path: Path, stubborn: str) -> None:
    out = tmp_path / "run"
    plan = policy_runs.plan("overlays", stubborn, "0:2", max_steps=6, workers=2, set=["count=2"])
    counted: list[None] = []
    _, result = policy_runs.evaluate(plan, out, trivial=False, progress=lambda: counted.append(None))
    assert result["n"] == len(counted) == 2
    assert result["exact"]["hits"] == 0
    assert (result["valid_output"]["hits"], result["valid_output"]["n"]) == (4, 6)
    assert result["failures"]["premature_submission"]["episodes"] == 2
    assert result["failures"]["parse_failure"]["episodes"] == 2
    assert result["ordering"]["n"] == 2
    assert result["by_axis"]["count"]["2"]["n"] == 2
    assert "headless" in result["browser"] or "chrom" in result["browser"]
    held = runs.episodes(out)
    assert [e.id for e in held] == ["overlays/0", "overlays/1"]
    assert all(e.turns[0].error_px is not None for e in held)
    lines = (out / runs.EPISODES).read_bytes().splitlines(keepends=True)
    (out / runs.EPISODES).write_bytes(lines[0] + lines[1][:40])
    again = policy_runs.evaluate(plan, out, trivial=False, progress=lambda: counted.append(None))
    assert len(counted) == 3
    assert again[1]["failures"] == result["failures"]


@pytest.mark.browser
def test_a_run_logs_what_its_model_is_asked(tmp_path: Path, stubborn: str) -> None:
    plan = policy_runs.plan("overlays", stubborn, "0:2", max_steps=3, option=["format=qwen25vl"])
    policy_runs.evaluate(plan, tmp_path / "run", trivial=False)
    asked = [json.loads(line) for line in (tmp_path / "run" / runs.PROMPTS).read_text().splitlines()]
    assert {one["format"] for one in asked} == {"qwen25vl"}
    assert [len(one["history"]) for one in asked[:2]] == [0, 1]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    same = _cuadata("parity", tmp_path / "train.jsonl", tmp_path / "run", "--json")
    assert (same.returncode, json.loads(same.stdout)["same"]) == (0, True), same.stderr
    told = policy_runs.plan("overlays", stubborn, "0:2", no_effect_lines=True, option=["format=qwen25vl"])
    assert policy_runs.check_lines(plan, None) is None
    assert "--trained-on" in (policy_runs.check_lines(told, None) or "")
    with pytest.raises(DataError, match="never had: no_effect"):
        policy_runs.check_lines(told, tmp_path / "train.jsonl")
    with_lines = {**asked[0], "context": [{"kind": "no_effect", "text": "No effect: click."}]}
    (tmp_path / "lines.jsonl").write_text(json.dumps(with_lines))
    assert "as its training rows were" in (policy_runs.check_lines(told, tmp_path / "lines.jsonl") or "")


@pytest.mark.browser
def test_recorded_rollouts_are_evaluated_as_they_would_be_live(tmp_path: Path) -> None:
    pytest.importorskip("miniwob")
    family, seeds = "miniwob-click-checkboxes", range(2)
    playing.play(playing.Plan(family=family, policy="submit_only", seeds=seeds), tmp_path / "rollouts")
    _, recorded = policy_runs.evaluate_recorded(tmp_path / "rollouts", tmp_path / "recorded")
    plan = policy_runs.plan(family, "submit_only", "0:2")
    _, live = policy_runs.evaluate(plan, tmp_path / "live", trivial=False)
    for name in ("exact", "default", "by_size", "failures", "short_by", "lengths", "items"):
        assert recorded[name] == live[name], name
    assert compare_runs.compare(tmp_path / "live", tmp_path / "recorded", samples=100)["exact"]["difference"] == 0
    with pytest.raises(DataError, match="no rollouts"):
        policy_runs.evaluate_recorded(tmp_path)


@pytest.mark.browser
def test_trivial_policies_stand_in_every_table(tmp_path: Path) -> None:
    pytest.importorskip("miniwob")
    out = tmp_path / "run"
    plan = policy_runs.plan("miniwob-click-checkboxes", "submit_only", "0:3", workers=2)
    _, result = policy_runs.evaluate(plan, out)
    assert result["trivial"]["oracle"]["exact"]["rate"] == 1
    assert result["trivial"]["nothing"]["exact"]["rate"] == 0
    assert result["by_size"]
    assert set(result["by_size"]) == set(result["trivial"]["all_boxes"]["by_size"])
    assert sum(result["short_by"].values()) == result["failures"]["premature_submission"]["episodes"]
    report = _report(out)
    for words in ("premature submission", "trivial: oracle", "Exact success by number of things requested"):
        assert words in report
    for picture in ("success.png", "failures.png", "lengths.png"):
        assert (out / picture).read_bytes().startswith(b"\x89PNG"), picture
        assert f'src="{picture}"' in report


def _report(folder: Path) -> str:
    import importlib

    path: Path = importlib.import_module("cuadata.viewer.evaluation").write(folder)
    return path.read_text()


def _cuadata(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "cuadata.cli", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


HEAD = "task_id,step_index,split,variant,direct_instruction,relational_instruction,target_bbox_xywh,reference_text,"
STEPS = f"""{HEAD}recorded_relation,reference_bbox_xywh
t1,0,s,original,Click on 'A',Click on the button above 'B',"[100, 100, 40, 20]",B,[],"[100, 200, 40, 20]"
t1,0,s,style,Click on 'A',Click on the button above 'B',"[100, 100, 40, 20]",B,[],"[100, 200, 40, 20]"
"""


def test_the_commands_from_end_to_end(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(STEPS)
    for name, texts in {"a": ["(110,110)", "(110,210)"], "b": ["(110,110)", "(111,111)"]}.items():
        rows = [
            {"task_id": "t1", "step_index": 0, "variant": variant, "instruction": "Click on the button above 'B'"}
            for variant in ("original", "style")
        ]
        lines = [json.dumps({**row, "raw_prediction": text}) for row, text in zip(rows, texts, strict=True)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        words = ("--gold", f"gui_perturbed:{tmp_path}", "--format", "gta1", "--out", tmp_path / f"run-{name}", "--json")
        done = _cuadata("evaluate", tmp_path / f"{name}.jsonl", "--tolerance", 0, *words)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert set(result["by_variant"]["style"]) >= {"n", "accuracy", "interval", "parse_failures", "misses"}
        assert "trivial: oracle" in done.stderr
        report = (tmp_path / f"run-{name}" / "report.html").read_text()
        assert report.count("<img") >= 2
    done = _cuadata(
        "compare", tmp_path / "run-a", tmp_path / "run-b", "--samples", 200, "--json", "--out", tmp_path / "c"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["exact"]["difference"] == 0.5
    assert (tmp_path / "c" / "differences.png").is_file()
    refused = _cuadata("compare", tmp_path / "run-a", tmp_path / "run-b", "--out", tmp_path / "c")
    assert refused.returncode == 2
    assert "--force" in refused.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("evaluate", "nothing.jsonl", "--gold", "gui_perturbed:/nowhere", "--format", "gta1"), 2),
        (("evaluate", "modal"), 2),
        (("evaluate", "modal", "--policy", "oracle", "--seeds", "5:2"), 2),
        (("compare", "nowhere", "nowhere"), 1),
        (("select", "x.jsonl", "--gold", "gui_perturbed", "--format", "gta1", "--out", "o"), 2),
    ],
)
def test_exit_codes(words: tuple[str, ...], code: int) -> None:
    done = _cuadata(*words)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
