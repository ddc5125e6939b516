"""A script that types secrets: every byte of its recording is searched, and what is printed of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import page_cases
import pytest
from test_person_secrets import HINT, HOSTILE, PASSWORD, check_pictures, forms, written
from typer.testing import CliRunner

from cuadata import image, recorder, recording, registry, replay
from cuadata.cli import app
from cuadata.types import Action, Locator, Move, Task, Trajectory

pytestmark = pytest.mark.browser

LOGIN = """<!doctype html><meta charset=utf-8><title>Log in</title><style>body{margin:8px;font:16px monospace}input{width:240px;height:30px}</style>
<input id=user aria-label=User><input id=pw type=password aria-label=Password>
<button id=show onclick="pw.type='text'">Show</button><button id=go onclick="document.title='in'">Log in</button>
<input id=card aria-label="Card number"><p id=codes>Code <input maxlength=1 aria-label=a><input maxlength=1 aria-label=b><input maxlength=1 aria-label=c><input maxlength=1 aria-label=d></p>
<script>document.querySelectorAll('#codes input').forEach((e, n, all) => e.addEventListener('input', () => all[n + 1]?.focus()))</script>"""


def play(page: str | Path, code: str, tmp_path: Path, name: str = "script.py", **options: Any) -> Trajectory:
    script = tmp_path / name
    script.write_text(code)
    options.setdefault("instruction", "Log in")
    return recording.read(recorder.record(page, tmp_path / "out", script=script, **options))


def check(tmp_path: Path, *secrets: str) -> bytes:
    """Every byte of the recording holds none of the secrets, in no spelling; the bytes."""
    data = written(tmp_path / "out")
    for secret in secrets:
        for form in forms(secret):
            assert form.lower() not in data.lower(), form
    return data


WAYS = {
    "fill": "page.fill('#pw', SECRET)",
    "type": "page.type('#pw', SECRET)",
    "locator": "page.get_by_label('Password').press_sequentially(SECRET)",
    "keyboard.type": "page.click('#pw')\npage.keyboard.type(SECRET)",
    "insert_text": "page.click('#pw')\npage.keyboard.insert_text(SECRET)",
    "tab": "page.click('#user')\npage.keyboard.press('Tab')\npage.keyboard.type(SECRET + '\\n')",
    "key by key": "page.click('#pw')\nfor key in SECRET:\n    page.keyboard.press(key)",
    "locator.press": "for key in SECRET:\n    page.locator('#pw').press(key)",
    "evaluate": "page.evaluate('s => { pw.value = s }', SECRET)",
    "shown before": "page.click('#show')\npage.fill('#pw', SECRET)",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_script_types_into_a_password_field_is_never_stored(tmp_path: Path, way: str) -> None:
    code = f"SECRET = {PASSWORD!r}\npage.fill('#user', 'ann')\n{WAYS[way]}\npage.click('#show')\npage.click('#go')\n"
    held = play(LOGIN, code, tmp_path)
    assert held.outcome.success is True, held.outcome.reason
    data = check(tmp_path, PASSWORD)
    assert b'"ann"' in data, "what is no secret stays"
    typed = [s for s in held.steps if s.action.type == "type" and (s.action.text or "").find("masked-password-1") >= 0]
    assert typed or way == "evaluate", [s.action for s in held.steps]
    assert not any(s.action.type == "press" and len(s.action.keys[-1]) == 1 for s in held.steps)
    for step in held.steps[-2:]:
        field = next(e for e in step.observation.elements if e.locator.css == "#pw")
        assert field.bbox is not None and step.observation.screenshot is not None
        box = field.bbox
        pixels = image.rgb(image.read(step.observation.screenshot))
        assert not pixels[int(box.y) + 2 : int(box.bottom) - 2, int(box.x) + 2 : int(box.right) - 2].any(), "black"
        assert field.states.value == "masked-password-1"


def test_cards_and_codes_of_a_script_are_masked_with_their_own_kind(tmp_path: Path) -> None:
    code = (
        "page.fill('#card', '4111 1111 1111 1111')\npage.locator('#codes input').first.click()\npage.keyboard.type('4829')\n"
        "page.click('#go')\n"
    )
    held = play(LOGIN, code, tmp_path)
    check(tmp_path, "4111 1111 1111 1111", "4111111111111111")
    texts = [s.action.text for s in held.steps if s.action.type == "type"]
    assert texts == ["0000000000000001", "000001"]
    said = json.dumps([s.effect.state for s in held.steps if s.effect is not None])
    assert not re.search("'[4829]'|4829", said), said
    for step in held.steps[-1:]:
        assert not any(e.states.value in {*"4829"} for e in step.observation.elements)


def test_a_hostile_page_gets_no_password_of_a_script_into_the_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = (
        f"page.click('#pw')\npage.keyboard.type({PASSWORD!r})\npage.keyboard.press('Tab')\npage.keyboard.type('!')\n"
        "page.click('#go')\npage.wait_for_timeout(500)\npage.think('typed ' + page.url)\n"
    )
    held = play(HOSTILE, code, tmp_path)
    assert held.outcome.success is True, held.outcome.reason
    data = check(tmp_path, PASSWORD) + "".join(capfd.readouterr()).encode()
    assert b"masked-password-1" in data
    for form in forms(PASSWORD):
        assert form.lower() not in data.lower(), form
    check_pictures(held)


def test_the_cases_page_played_by_a_script(cases: Path, tmp_path: Path) -> None:
    folder = cases / "recorder" / "B41-secrets-never-stored"
    expect = page_cases.case(folder)["expect"]
    lines = []
    for verb in page_cases.case(folder)["do"]:
        kind = verb["do"]
        if kind == "click":
            lines.append(f"page.mouse.click({verb['at'][0]}, {verb['at'][1]})")
        elif kind == "type":
            lines.append(f"page.keyboard.type({verb['text']!r})")
        elif kind == "press":
            keys = verb["keys"] if isinstance(verb["keys"], str) else "+".join(verb["keys"])
            lines.append(f"page.keyboard.press({keys!r})")
    lines.append(f"assert page.evaluate({expect['probe']['js']!r}) == {expect['probe']['equals']!r}")
    held = play(folder / page_cases.case(folder)["load"]["page"], "\n".join(lines), tmp_path)
    assert held.outcome.success is True, held.outcome.reason
    data = written(tmp_path / "out")
    for text in expect["must_not_occur"]:
        assert text.encode() not in data, text


def test_tokens_in_the_addresses_of_a_script_are_masked(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    page = tmp_path / "site" / "page.html"
    page.write_text(LOGIN)
    code = (
        "page.click('#go')\nhere = page.url\n"
        "page.goto(here + '?ticket=Quince-Plum-77&access_token=Medlar.Sloe.99#id_token=Bullace.Damson')\npage.click('#go')\n"
    )
    held = play(page, code, tmp_path)
    assert held.outcome.success is True, held.outcome.reason
    data = check(tmp_path, "Quince-Plum-77", "Medlar.Sloe.99", "Bullace.Damson")
    assert b"?ticket=masked-token-1" in data
    (played,) = [one for one in replay.replay(tmp_path / "out", page) if one.index == 1]
    assert not played.holds and "address held a secret" in played.reason and "masked-" not in played.what


@pytest.mark.parametrize(
    ("name", "script"),
    [
        (
            "flow.json",
            {
                "title": "Log in",
                "steps": [
                    {"type": "change", "value": "ann", "selectors": [["#user"]]},
                    {"type": "change", "value": PASSWORD, "selectors": [["aria/Password"], ["#pw"]]},
                    {"type": "click", "selectors": [["#show"]]},
                    {"type": "change", "value": PASSWORD, "selectors": [["#gone"]]},
                ],
            },
        ),
        (
            "flow.side",
            {
                "url": "http://nowhere.invalid",
                "tests": [
                    {
                        "name": "Log in",
                        "commands": [
                            {"command": "store", "target": PASSWORD, "value": "pw"},
                            {"command": "type", "target": "id=user", "value": "ann"},
                            {"command": "type", "target": "id=pw", "value": "${pw}"},
                            {"command": "sendKeys", "target": "id=pw", "value": PASSWORD},
                            {"command": "click", "target": "id=show", "value": ""},
                            {"command": "type", "target": "id=gone", "value": "${pw}"},
                        ],
                    }
                ],
            },
        ),
    ],
)
def test_scripts_of_other_tools_are_masked_too(tmp_path: Path, name: str, script: Any) -> None:
    held = play(LOGIN, json.dumps(script), tmp_path, name)
    data = check(tmp_path, PASSWORD)
    assert held.outcome.ended == "failure" and "#gone" in (held.steps[-1].error or "") or "gone" in str(held.steps[-1])
    assert b'"ann"' in data and b"masked-password-1" in data


def test_what_was_to_be_typed_into_a_field_that_is_not_there_is_not_stored(tmp_path: Path) -> None:
    script = {"title": "x", "steps": [{"type": "change", "value": PASSWORD, "selectors": [["#gone"]]}]}
    held = play("<!doctype html><p>Nothing", json.dumps(script), tmp_path, "flow.json")
    check(tmp_path, PASSWORD)
    assert held.steps[0].error == "target_missing: nothing is found by #gone"


SITE = """<!doctype html><meta charset=utf-8><title>x</title><form id=f action=page.html><input id=pw name=pw type=password></form>
<button id=b>Go</button><iframe src=inner.html id=fr></iframe><iframe src=inner.html id=closed sandbox=allow-scripts></iframe>
<a id=new href=inner.html target=_blank>open</a><script>document.body.append(location.search)</script>"""
INNER = """<!doctype html><input id=pw type=password><p id=o></p><script>
pw.addEventListener('input', () => { o.textContent = document.title = pw.value })</script>"""


def test_secrets_in_frames_in_new_pages_and_sent_at_once(tmp_path: Path) -> None:
    """A form that is filled and sent in one call shows what it held in the next address."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text(SITE)
    (site / "inner.html").write_text(INNER)
    secrets = ("Quibble&Zest-91", "Harrow&Gloam-82", "Spindle&Wren-73", "Mistle&Thrum-64")
    code = (
        f"one, two, three, four = {secrets!r}\npage.click('#b')\n"
        "page.evaluate('s => { pw.value = s; f.submit() }', one)\npage.wait_for_timeout(500)\npage.click('#b')\n"
        "page.frame_locator('#fr').locator('#pw').fill(two)\npage.frame_locator('#closed').locator('#pw').fill(three)\n"
        "page.click('#new')\npage.wait_for_timeout(300)\npage.fill('#pw', four)\npage.click('#pw')\n"
    )
    held = play(site / "page.html", code, tmp_path)
    assert held.outcome.success is True, held.outcome.reason
    data = check(tmp_path, *secrets)
    assert b"?pw=masked-password-1" in data
    assert [s.action.text for s in held.steps if s.action.type == "type"] == [f"masked-password-{n}" for n in (1, 2, 3)]


def test_words_of_a_script_that_fails_are_masked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, page = tmp_path / "script.py", tmp_path / "page.html"
    page.write_text(LOGIN)
    script.write_text(
        f"page.fill('#pw', {PASSWORD!r})\nraise RuntimeError('not logged in with ' + page.input_value('#pw'))\n"
    )
    call = ["record", str(page), "--script", str(script), "--out", str(tmp_path / "out"), "--instruction"]
    done = CliRunner().invoke(app, [*call, f"Log in with password {PASSWORD}"])
    assert "not logged in with masked-password-1" in str(done.exception)
    assert PASSWORD not in done.output + str(done.exception)
    check(tmp_path, PASSWORD)


def test_to_act_again_says_what_it_cannot_type(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    page = tmp_path / "site" / "page.html"
    page.write_text(LOGIN)
    code = (
        f"page.fill('#user', 'ann')\npage.fill('#pw', {PASSWORD!r})\npage.fill('#card', '4111111111111111')\n"
        f"page.click('#user')\npage.keyboard.press('Tab')\npage.keyboard.type({PASSWORD!r})\n"
    )
    play(page, code, tmp_path)
    done = CliRunner().invoke(app, ["record", str(page), "--replay", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "masked" not in done.output and PASSWORD not in done.output and "00000" not in done.output
    assert len(re.findall("what was typed is a secret and was not recorded", done.output)) == 3, done.output
    assert "type '(a secret)' into textbox 'Password'" in done.output
    assert "type 'ann' into textbox 'User'" in done.output


def test_a_task_of_ours_keeps_what_its_seed_made_up(tmp_path: Path) -> None:
    task = Task(
        id="login/1", family="login", seed=1, instruction=f"Log in with the password {PASSWORD}", html=LOGIN,
        solution=(
            Move(action=Action(type="type", text=PASSWORD), locator=Locator(css="#pw"), phase="enter"),
        ),
    )  # fmt: skip
    held = recording.read(recorder.record(task, tmp_path / "out", policy=registry.policies["oracle"]()))
    assert [s.action.text for s in held.steps if s.action.type == "type"] == [PASSWORD]
    assert held.instruction == task.instruction


@pytest.mark.parametrize("way", ["page.fill('#p', S)", "page.click('#p')\nfor key in S:\n    page.keyboard.press(key)"])
def test_a_recorder_that_is_killed_leaves_nothing_of_what_a_page_showed_before_it_was_typed(
    tmp_path: Path, way: str
) -> None:
    """The recording is copied after each of the steps: what a kill would leave."""
    code = (
        f"import shutil\nS = 'swordfish-77'\npage.click('#ok')\nshutil.copytree({str(tmp_path / 'out')!r}, "
        f"{str(tmp_path / 'unknown')!r})\n{way}\npage.mouse.click(300, 300)\nshutil.copytree({str(tmp_path / 'out')!r}, "
        f"{str(tmp_path / 'killed')!r})\n"
    )
    held = play(HINT, code, tmp_path)
    assert b"swordfish" in written(tmp_path / "unknown"), "nobody knows yet that it is one"
    assert b"swordfish" not in written(tmp_path / "killed") + written(tmp_path / "out")
    assert any("before it was known" in note for note in held.notes)
