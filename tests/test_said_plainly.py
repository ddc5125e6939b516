"""What commands print: whole sentences, one thing in the singular, tables in order, and no figure that means nothing."""

from __future__ import annotations

from typing import Any, cast

import build_trajectories as made
import pytest
from typer.testing import CliRunner

from cuadata import registry, split
from cuadata.cli import app
from cuadata.errors import CallError
from cuadata.judging import gating
from cuadata.judging.observing import Observed
from cuadata.playing import playing
from cuadata.proving import measuring
from cuadata.proving.inject import Fault
from cuadata.publishing import hub_remote
from cuadata.recovering import recover
from cuadata.reporting import observing_table, play_tables, verify_report
from cuadata.rows import Candidate, Verdict


def _candidate() -> Candidate:
    """A good example, with its page."""
    return next(iter(split.examples(made.checkout())))


def listed(kind: str) -> dict[str, str]:
    shown = CliRunner().invoke(app, ["list", kind])
    assert shown.exit_code == 0, shown.output
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.stdout.splitlines() if line.strip()}


@pytest.mark.parametrize("kind", [kind for kind in registry.ALL if kind != "formats"])
def test_a_list_gives_whole_sentences(kind: str) -> None:
    for name, words in listed(kind).items():
        assert words.partition(" [")[0].rstrip("]").endswith((".", ")")), f"{name}: {words}"


def test_gates_are_listed_with_their_thresholds() -> None:
    gates = listed("gates")
    assert gates["point_outside_target"].endswith("[slack=0.5]")
    assert gates["box"].endswith("[max_outside=0.1, max_cover=0.9]")
    assert gates["sensitive_value"].endswith("[allow=[]]")
    assert "[" not in gates["action_failed"]
    assert gates["target_disabled"].startswith("The target is enabled")
    for name, words in gates.items():
        assert all(f"{option}=" in words for option in gating.defaults(name)), name


def played(*steps: int) -> list[playing.Played]:
    return [
        playing.Played(
            name=f"{n}", seed=n, sample=0, ended="success", exact=True, default=True, raw=1.0, steps=number, thinking=0.001,
            acting=1.0,
        )
        for n, number in enumerate(steps)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "options", "words"),
    [
        ("oracle", {}, "no model"),
        ("random", {}, "no model"),
        ("stumble", {}, "no model"),
        ("stumble", {"helper": "anthropic"}, "99.9"),
        ("openai", {}, "99.9"),
    ],
)
def test_one_episode_is_one_and_a_share_of_no_model_is_none(
    policy: str, options: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = playing.Plan(family="modal", policy=policy, seeds=range(1), policy_options=options)
    play_tables.rollout(playing.summary(plan, played(3), 2.0))
    said = capsys.readouterr().err
    assert f"{policy} on modal, 1 episode\n" in said
    share = next(line for line in said.splitlines() if line.startswith("browser's share"))
    assert share.split("%")[1].strip() == words
    play_tables.rollout(playing.summary(plan, played(3, 4), 2.0))
    assert "2 episodes" in capsys.readouterr().err


def test_faults_are_in_order_from_the_weakest(capsys: pytest.CaptureFixture[str]) -> None:
    meter = measuring.Meter(gating.choose(["box"]))
    candidate = _candidate()
    for kind, severity, wrong in (
        ("target_moved", "16 px", True), ("hidden", "transparent", True), ("target_moved", "2 px", False),
        ("odd", "10 %", True), ("target_moved", "8 px", True), ("odd", "9 %", True), ("target_moved", "8 px", None),
    ):  # fmt: skip
        meter.fault(Fault(kind=kind, severity=severity, wrong=wrong, candidate=candidate))
    found = meter.result()
    order = [(cell.kind, cell.severity, cell.wrong) for cell in found.cells]
    assert order == [
        ("hidden", "transparent", True), ("odd", "9 %", True), ("odd", "10 %", True), ("target_moved", "2 px", False),
        ("target_moved", "8 px", True), ("target_moved", "8 px", None), ("target_moved", "16 px", True),
    ]  # fmt: skip
    verify_report._injected(found)
    said = capsys.readouterr().err
    assert said.index("hidden") < said.index("9 %") < said.index("10 %") < said.index("2 px") < said.index("16 px")


def test_a_table_of_elements_breaks_no_line_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = _candidate()
    page = candidate.observation
    assert page is not None
    observing_table.show(Observed(observation=page))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(page.elements) + len(page.notes)
    assert all(
        line.split()[0] == str(e.id) for line, e in zip(lines[-len(page.elements) :], page.elements, strict=True)
    )
    assert max(map(len, lines)) < 1000, "and none is filled with blanks"


@pytest.mark.parametrize("said", [None, True, "yes"])
def test_a_gate_that_returns_no_verdict_is_named(monkeypatch: pytest.MonkeyPatch, said: Any) -> None:
    def forgetful(candidate: Candidate) -> Verdict:
        """Forgets to return what it found."""
        return cast(Verdict, said)

    monkeypatch.setitem(registry.gates._found, "forgetful", forgetful)
    candidate = _candidate()
    with pytest.raises(TypeError, match=rf"gate forgetful returned {said!r}, wanted a Verdict") as caught:
        gating.judge(candidate, gating.choose(["box", "forgetful", "action_failed"]))
    assert caught.value.__notes__ == [f"on example {candidate.example.id}"]


def test_what_never_left_is_not_called_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    remote = hub_remote.Remote("somebody/some", limits=hub_remote.Limits(tries=1))

    def broken(*args: Any, **options: Any) -> Any:
        raise ConnectionError("there is no network")

    monkeypatch.setattr(remote.api, "repo_info", broken)
    monkeypatch.setattr(remote.api, "create_commit", broken)
    with pytest.raises(hub_remote.RemoteError, match="nothing was uploaded, run the same command again"):
        remote.state()
    with pytest.raises(hub_remote.RemoteError, match="what was uploaded is kept, run the same command again"):
        remote.commit([], message="a", parent="b")


@pytest.mark.parametrize("causes", ["", " , ,"])
def test_no_cause_is_not_every_cause(causes: str) -> None:
    done = CliRunner().invoke(app, ["recover", "gauntlet", "--causes", causes])
    assert isinstance(done.exception, CallError) and "no cause is named; give some of: missed, " in str(done.exception)


def test_the_default_causes_are_all_of_them() -> None:
    help_text = CliRunner().invoke(app, ["recover", "--help"], env={"COLUMNS": "300"}).stdout
    assert f"[default: {','.join(recover.CAUSES)}]" in help_text
