"""Scripts of three kinds are read, played on a real page and recorded, one step an action."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cuadata import recorder, recording
from cuadata.errors import CallError, DataError
from cuadata.scripting import script_steps
from cuadata.scripting.script_steps import Way
from cuadata.types import Trajectory

PAGE = """<!doctype html><meta charset="utf-8"><title>Order</title>
<style>body{margin:20px;font:16px sans-serif} #far{margin-top:1500px}</style>
<label>Name <input id="name"></label>
<label><input id="gift" type="checkbox"> Gift wrap</label>
<select id="size"><option value="s">Small</option><option value="l">Large</option></select>
<a href="#more"><span id="word">More</span></a>
<iframe srcdoc="<button onclick='parent.document.body.dataset.framed=1'>Inside</button>"></iframe>
<div id="far"><button id="send" onclick="document.body.dataset.sent=document.getElementById('name').value">Send</button></div>
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "order.html"
    path.write_text(PAGE)
    return path


def done(trajectory: Trajectory) -> list[tuple[str, str | None]]:
    return [(s.action.type, (s.target.name or s.target.text) if s.target else None) for s in trajectory.steps]


def play(page: Path, script: Path, out: Path, **options: Any) -> Trajectory:
    return recording.read(recorder.record(page, out, script=script, **options))


@pytest.mark.browser
def test_a_python_script_is_recorded(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "order.py"
    script.write_text(
        "INSTRUCTION = 'Order a large one for Ann'\n"
        "page.get_by_label('Name').fill('Ann')\n"
        "page.get_by_label('Gift wrap').check()\n"
        "page.get_by_label('Gift wrap').check()\n"
        "page.locator('#size').select_option(label='Large')\n"
        "page.think('the button is further down')\n"
        "page.get_by_role('button', name='Send').click()\n"
        "assert page.evaluate('document.body.dataset.sent') == 'Ann'\n"
    )
    held = play(page, script, tmp_path / "out")
    assert held.outcome.success is True, held.outcome.reason
    assert held.instruction == "Order a large one for Ann"
    assert [kind for kind, _ in done(held)] == ["type", "click", "select", "reason", "scroll", "click"]
    assert done(held)[-1] == ("click", "Send")
    for step in held.steps:
        assert step.observation.screenshot is not None
        assert step.observation.time <= step.time
        assert step.error is None


@pytest.mark.browser
def test_a_script_that_fails_is_kept_as_a_failure(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text("page.get_by_label('Name').fill('Ann')\nassert page.title() == 'Elsewhere', 'wrong page'\n")
    held = play(page, script, tmp_path / "out", instruction="Go elsewhere")
    assert held.outcome.ended == "failure"
    assert held.outcome.reason == "wrong page"
    assert len(held.steps) == 1


@pytest.mark.browser
def test_a_devtools_recording_is_played(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "flow.json"
    steps = [
        {"type": "setViewport", "width": 900, "height": 700, "deviceScaleFactor": 1},
        {"type": "navigate", "url": "http://nowhere.invalid/order.html"},
        {"type": "change", "value": "Ann", "selectors": [["aria/Name"], ["#name"]]},
        {"type": "keyDown", "key": "Tab"},
        {"type": "keyUp", "key": "Tab"},
        {"type": "click", "selectors": [["aria/Gift wrap"], ["#gift"]], "offsetX": 5, "offsetY": 5},
        {"type": "click", "frame": [0], "selectors": [['aria/Inside[role="button"]']], "offsetX": 9, "offsetY": 9},
        {"type": "waitForElement", "selectors": [["#send"]]},
        {"type": "click", "selectors": ["#send"], "offsetX": 5, "offsetY": 5},
    ]
    script.write_text(json.dumps({"title": "Order one", "steps": steps}))
    held = play(page, script, tmp_path / "out")
    assert held.outcome.success is True, held.outcome.reason
    assert [kind for kind, _ in done(held)] == ["type", "press", "click", "click", "scroll", "click"]
    assert done(held)[3] == ("click", "Inside")
    assert (held.steps[0].observation.viewport.width, held.steps[0].observation.viewport.height) == (900, 700)


@pytest.mark.browser
def test_a_selenium_project_is_played(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "order.side"
    commands = [
        ("open", "/order.html", ""), ("store", "Ann", "who"), ("type", "id=name", "${who}"), ("check", "id=gift", ""),
        ("check", "id=gift", ""), ("select", "id=size", "label=Large"), ("//click", "id=send", ""), ("selectFrame", "index=0", ""),
        ("click", "css=button", ""), ("selectFrame", "relative=parent", ""), ("click", "linkText=More", ""),
        ("assertText", "id=word", "More"),
    ]  # fmt: skip
    held_commands = [{"command": c, "target": t, "targets": [], "value": v} for c, t, v in commands]
    script.write_text(
        json.dumps({"url": "http://nowhere.invalid", "tests": [{"name": "order", "commands": held_commands}]})
    )
    held = play(page, script, tmp_path / "out")
    assert held.outcome.success is True, held.outcome.reason
    assert [kind for kind, _ in done(held)] == ["type", "click", "select", "click", "click"]
    assert done(held)[-1] == ("click", "More")


@pytest.mark.browser
def test_a_missing_target_is_a_failed_step_with_its_reason(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "flow.json"
    script.write_text(json.dumps({"title": "x", "steps": [{"type": "click", "selectors": [["#gone"]]}]}))
    held = play(page, script, tmp_path / "out")
    assert held.outcome.ended == "failure"
    assert held.steps[0].error == "target_missing: nothing is found by #gone"


def test_the_shared_scripts_read(cases: Path) -> None:
    samples = cases.parent / "samples"
    found = [*samples.glob("chrome_recorder/*.json"), *samples.glob("selenium_ide/*.side")]
    read = [script_steps.read(path) for path in found]
    assert all(script.title for script in read)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ('aria/Add[role="button"]', Way("aria", "Add", "button")),
        ("aria/Add item", Way("aria", "Add item", None)),
        ("xpath///*[@id='a']", Way("xpath", "//*[@id='a']")),
        ("pierce/#a", Way("css", "#a")),
        ("text/Add", Way("text", "Add")),
        ("#a > b", Way("css", "#a > b")),
    ],
)
def test_selectors_of_the_devtools_recorder(text: str, way: Way) -> None:
    assert script_steps._way(text) == way


def test_a_command_with_shift_is_written_as_everywhere(tmp_path: Path) -> None:
    script = tmp_path / "keys.json"
    steps = [{"type": "keyDown", "key": key} for key in ("Shift", "Control", "K")]
    script.write_text(json.dumps({"steps": steps}))
    (step,) = script_steps.read(script).steps
    assert step.action is not None and step.action.keys == ("Control", "Shift", "k")


def test_chords_are_one_press(tmp_path: Path) -> None:
    script = tmp_path / "keys.json"
    steps = [
        {"type": t, "key": k}
        for t, k in (("keyDown", "Control"), ("keyDown", "a"), ("keyUp", "a"), ("keyUp", "Control"))
    ]
    script.write_text(json.dumps({"steps": steps}))
    (step,) = script_steps.read(script).steps
    assert step.action is not None
    assert step.action.keys == ("Control", "a")


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("{", DataError, "is no JSON"),
        ("{}", CallError, "neither the `steps`"),
        ('{"steps": [{"type": "teleport"}]}', DataError, "step 0: its type 'teleport'"),
        ('{"tests": []}', DataError, "holds no test"),
        ('{"tests": [{"name": "t", "commands": [{"command": "if", "target": "x"}]}]}', DataError, "control flow"),
        (
            '{"tests": [{"name": "t", "commands": [{"command": "click", "target": "foo=x"}]}]}',
            DataError,
            "of no known kind",
        ),
    ],
)
def test_a_bad_script_says_what_is_wrong(tmp_path: Path, text: str, error: type[Exception], words: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(text)
    with pytest.raises(error, match=words):
        script_steps.read(script)


def test_an_instruction_is_asked_for(tmp_path: Path) -> None:
    script = tmp_path / "silent.py"
    script.write_text("pass\n")
    with pytest.raises(CallError, match="--instruction"):
        recorder.record("<p>x", tmp_path / "out", script=script)


@pytest.mark.browser
def test_two_recorders_called_for_one_folder(tmp_path: Path) -> None:
    """The second is refused while the first records, with who holds the folder, before it so much as looks for a browser."""
    script, done = tmp_path / "slow.py", tmp_path / "refused"
    script.write_text(
        "import pathlib, time\npage = globals()['page']\npage.get_by_role('button').click()\n"
        f"while not pathlib.Path({str(done)!r}).exists():\n    time.sleep(0.05)\npage.get_by_role('button').click()\n"
    )
    site, out = tmp_path / "page.html", tmp_path / "out"
    site.write_text("<!doctype html><button onclick='this.textContent += 1'>More</button>")
    call = [sys.executable, "-m", "cuadata.cli", "record", str(site), "--out", str(out), "--instruction", "Press"]
    no_browser = {**os.environ, "CUADATA_CHROMIUM": str(tmp_path / "none")}
    with subprocess.Popen([*call, "--script", str(script)], stderr=subprocess.PIPE, text=True) as first:
        try:
            while not (out / "steps.jsonl").exists() and first.poll() is None:
                time.sleep(0.05)
            for way in (["--script", str(script)], ["--headless"]):
                second = subprocess.run(
                    [*call, *way], capture_output=True, text=True, check=False, timeout=120, env=no_browser
                )
                assert second.returncode == 1
                assert f"process {first.pid}" in second.stderr and "begins in a folder of its own" in second.stderr
        finally:
            done.touch()
        _, said = first.communicate(timeout=120)
    assert first.returncode == 0, said
    held = recording.read(out)
    assert len(held.steps) == 2 and held.outcome.ended != "interrupted" and held.notes == ()
