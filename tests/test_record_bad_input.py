"""`cuadata record` with scripts and recordings that are wrong: a clear error with its place, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuadata import browser, recording, replay
from cuadata.commands import record
from cuadata.errors import CallError, DataError
from cuadata.scripting import script_page, script_steps
from cuadata.types import Size

PAGE = "<!doctype html><title>t</title><button id=b style='width:90px;height:30px' onclick='this.textContent += 1'>Go</button><input id=i>"


def commands(*held: Any) -> dict[str, Any]:
    return {"tests": [{"name": "a", "commands": list(held)}]}


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({"steps": [5]}, "step 0: a JSON object was wanted, not 5"),
        ({"steps": [None]}, "step 0: a JSON object was wanted, not None"),
        ({"steps": [{"type": "setViewport"}]}, "step 0: it lacks 'width'"),
        ({"steps": [{"type": "setViewport", "width": "a", "height": 1}]}, "step 0: it does not read: .*'a'"),
        ({"steps": [{"type": "navigate"}]}, "step 0: it lacks 'url'"),
        ({"steps": [{"type": "click", "selectors": 5}]}, "step 0: it does not read"),
        ({"steps": [{"type": "click", "selectors": [[5]]}]}, "step 0: it does not read"),
        ({"steps": [{"type": "click", "selectors": [["#b"]], "frame": ["x"]}]}, "step 0: it does not read: .*'x'"),
        ({"steps": [{"type": "scroll", "x": "a"}]}, "step 0: it does not read: .*'a'"),
        ({"tests": [5]}, "test 0: a JSON object was wanted, not 5"),
        ({"tests": [{"name": "a", "commands": 5}]}, "test 'a': its `commands` are no list but 5"),
        (commands(5), "command 0: a JSON object was wanted, not 5"),
        (commands({"command": "click", "target": "id=b", "targets": [5]}), "command 0: it does not read"),
        (commands({"command": "selectFrame", "target": "index=x"}), "command 0: it does not read: .*'x'"),
        (
            commands({"command": "sendKeys", "target": "id=i", "value": "${KEY_BLORB}"}),
            "command 0: .*'BLORB' is no key",
        ),
    ],
)
def test_a_script_of_another_make_is_told_with_its_place(tmp_path: Path, held: Any, words: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(held))
    with pytest.raises(DataError, match=rf"script\.json, (test .a., )?{words}"):
        script_steps.read(script)


def test_nothing_is_typed_where_a_script_gives_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [{"type": "change", "selectors": [["#i"]], "value": None}]}))
    (step,) = script_steps.read(script).steps
    assert step.action is not None and step.action.text == ""


def test_to_play_a_script_and_to_act_again_are_two_things(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="give one of them"):
        record.record(page="", script=tmp_path / "a.py", replay=tmp_path / "b")


@pytest.mark.parametrize(
    ("ratio", "size"), [(0.0, None), (-1.0, None), (1000.0, None), (1.0, Size(-5, 0)), (1.0, Size(10**8, 10))]
)
def test_no_browser_is_asked_for_sizes_that_cannot_be(ratio: float, size: Size | None) -> None:
    with pytest.raises(CallError, match="cannot be .*; wanted"):
        browser.open("<p>", device_pixel_ratio=ratio, viewport=size)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("page.frobnicate()", "AttributeError: .*frobnicate"),
        ("import nowhere_to_be_found", "ModuleNotFoundError: .*nowhere_to_be_found"),
        ("page.close(); page.click('#b')", "ValueError: every page .* is closed"),
    ],
)
def test_a_script_that_fails_is_told_and_its_steps_stay(tmp_path: Path, code: str, words: str) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(f"page.click('#b')\n{code}\n")
    with pytest.raises(
        DataError, match=rf"script\.py, line 2: the script failed: {words}.*the 1 steps before it are in .*out"
    ):
        script_page.run(script, out, address=PAGE, instruction="Press it")
    held = recording.read(out)
    assert [s.action.type for s in held.steps] == ["click"]
    assert held.outcome.ended == "error" and held.outcome.reason


@pytest.mark.browser
@pytest.mark.parametrize(("code", "ended"), [("0", "success"), ("3", "failure")])
def test_a_script_that_leaves_by_itself_ends_its_recording(tmp_path: Path, code: str, ended: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import sys\npage.click('#b')\nsys.exit({code})\n")
    held = recording.read(script_page.run(script, tmp_path / "out", address=PAGE, instruction="Press it"))
    assert (held.outcome.ended, len(held.steps)) == (ended, 1)


@pytest.mark.browser
def test_an_edited_recording_is_acted_again_as_far_as_it_goes(tmp_path: Path) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text("page.click('#b')\npage.fill('#i', 'tea')\n")
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    script_page.run(script, out, address=page, instruction="Press it")
    steps = out / "steps.jsonl"
    whole = steps.read_text()
    steps.write_text(whole.replace('"css":"#b"', '"css":"###[["'))
    assert [one.holds for one in replay.replay(out, page)] == [False, True]
    steps.write_text(whole.replace('"url":"http', '"url":"file'))
    with pytest.raises(CallError, match="no address to be opened again; give the page"):
        replay.replay(out)
