"""A YAML file makes a task of any page; its terms are bound to a page that nobody here made."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata import environment
from cuadata.commands.env import app
from cuadata.episodes import registration, taskfile
from cuadata.errors import CallError, DataError
from cuadata.playing import playing
from cuadata.reporting import play_tables
from cuadata.types import Condition

PAGE = """<!doctype html><title>Plans</title><h1>Plans</h1>
<div role="radiogroup" aria-label="Plan">
  <button role="radio" aria-checked="false" data-state="unchecked" id="y">Yearly</button>
  <button role="radio" aria-checked="false" data-state="unchecked" id="m">Monthly</button>
</div>
<button id="s">Submit</button>
<script>
  for (const b of document.querySelectorAll("[role=radio]")) b.onclick = () => document.querySelectorAll("[role=radio]")
    .forEach((o) => { o.ariaChecked = String(o === b); o.dataset.state = o === b ? "checked" : "unchecked"; });
  document.getElementById("s").onclick = () => {
    if (document.getElementById("y").ariaChecked === "true") document.body.innerHTML = "<h1>Thank you</h1>";
  };
</script>"""
FILE = """
page: page.html
instruction: Choose the yearly plan and submit.
viewport: [800, 600]
terms:
  - {name: chosen, value: 0.1, when: [{role: radio, name: Yearly, state: checked, value: true}]}
  - {name: sent, value: 1.0, when: [{role: heading, name: Thank you, later: true}]}
success: [{role: heading, name: Thank you, later: true}]
"""


#: Faults of terms: a change of the file, and what must be said.
TERMS_WRONG = [
    (("state: checked", "state: chosen"), "chosen: 'chosen' is no state"),
    (("name: sent", "name: chosen"), "two terms are named 'chosen'"),
    (("value: 0.1", "value: 0.1, kind: onec"), r"terms\[0\]: Term.kind: 'onec' is not one of once, potential"),
    (("{role: radio, name: Yearly, state: checked, value: true}", ""), "chosen: it has no condition"),
    (("role: radio,", "role: radio, role: checkbox,"), r"said twice: role \(line 6\)"),
    (("role: radio,", "role: radio, url: page,"), "one of the three; this one asks for an element and a url"),
    (("later: true", "later: 'no'"), "condition 0: later: wanted true or false, got 'no'"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "task.yaml").write_text(FILE)
    return tmp_path / "task.yaml"


def test_a_file_is_a_task(file: Path) -> None:
    task = taskfile.read(file)
    assert (task.id, task.html, task.viewport.width) == ("task/0", PAGE, 800)
    assert [(t.name, t.value, t.kind) for t in task.terms] == [("chosen", 0.1, "once"), ("sent", 1.0, "once")]
    assert task.terms[0].when == (Condition(role="radio", name="Yearly", state="checked", value="true"),)
    assert registration.task(str(file), 0) == task


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("instruction:", "instructions:"), "no key is named instructions"),
        (("page: page.html", "page: none.html"), "there is no file"),
        (("value: 0.1", "value: much"), r"terms\[0\]: Term.value: wanted float, got 'much'"),
        (("state: checked", "state: chosen"), "'chosen' is no state"),
        (("{role: heading, name: Thank you, later: true}]}", "{role: dialog, present: false}]}"), "empty page"),
        (("[{role: radio", "{role: radio"), "it is no YAML"),
        (("role: radio", "rolle: radio"), "no field is named 'rolle'"),
        (("page: page.html", "page: file:///etc/hostname"), "no address of http or https"),
        (("page: page.html", "page:"), "needs a page and an instruction"),
        (("instruction: Choose the yearly plan and submit.", "instruction:"), "needs a page and an instruction"),
        (("[800, 600]", "[800]"), r"viewport: wanted \[width, height\] in CSS px, got \[800\]"),
        (("[800, 600]", "[800, high]"), "viewport: wanted a number from 1 to 1000000, got 'high'"),
        (("[800, 600]", "[800, -1]"), "viewport: wanted a number from 1"),
        (("viewport: [800, 600]", "device_pixel_ratio: .nan"), "device_pixel_ratio: wanted a number from 0.1"),
        (("viewport: [800, 600]", "seed: null"), "seed: wanted a number from 0 to 1000000, got None"),
        (("viewport: [800, 600]", "page: other.html"), "said twice: page"),
        (("value: 0.1", "value: .nan"), r"terms\[0\]: Term.value: wanted a finite number"),
        *TERMS_WRONG,
    ],
)
def test_a_file_that_is_wrong_says_where(file: Path, change: tuple[str, str], words: str) -> None:
    file.write_text(FILE.replace(*change, 1))
    with pytest.raises(DataError, match=words):
        taskfile.read(file)


@pytest.mark.parametrize(("change", "words"), TERMS_WRONG)
def test_terms_are_read_as_strictly_where_they_are_bound_to_a_page(
    file: Path, change: tuple[str, str], words: str
) -> None:
    file.write_text(FILE.replace(*change, 1))
    with pytest.raises(DataError, match=words):
        taskfile.read_terms(file)


def test_a_page_that_is_no_text_says_so(file: Path) -> None:
    (file.parent / "page.html").write_bytes(b"<h1>caf\xe9</h1>")
    with pytest.raises(DataError, match="page.html is no text in UTF-8"):
        taskfile.read(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="cannot be read: No such file"):
        taskfile.read(tmp_path / "no.yaml")


@pytest.mark.browser
def test_terms_are_bound_to_a_page_and_a_dead_one_exits_1(file: Path) -> None:
    run = CliRunner().invoke
    page = str(file.parent / "page.html")
    done = run(app, ["check", "--url", page, "--terms", str(file), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["conditions"][0]["nodes"] == [{"role": "radio", "name": "Yearly", "css": "#y"}]
    assert [c["later"] for c in told["conditions"]] == [False, True, True]
    file.write_text(FILE.replace("role: radio", "role: checkbox"))
    with pytest.raises(DataError, match="chosen: nothing on the page is checkbox 'Yearly' with checked=true"):
        run(app, ["check", "--url", page, "--terms", str(file)], catch_exceptions=False)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("{role: button, name: Submit, state: pressed}", "tells no state 'pressed'; say `later: true` where it will"),
        ("{script: 'document.('}", "does not run on the page: .*SyntaxError"),
        ("{script: 'document.querySelector(\"p\").title'}", "does not run on the page: .*TypeError"),
    ],
)
def test_a_state_or_a_script_that_the_page_does_not_have_is_dead_unless_it_comes_later(
    file: Path, when: str, words: str
) -> None:
    term = "{role: radio, name: Yearly, state: checked, value: true}"
    page = file.parent / "page.html"
    file.write_text(FILE.replace(term, when))
    bound, standing = taskfile.bind_page(str(page), file)
    assert [b.term for b in bound if b.dead] == ["chosen"] and not standing
    assert re.search(words, play_tables.unbound(bound)[0])
    file.write_text(FILE.replace(term, when.replace("}", ", later: true}")))
    assert not play_tables.unbound(taskfile.bind_page(str(page), file)[0])


@pytest.mark.browser
def test_what_holds_on_the_page_as_it_is_is_warned_of(file: Path) -> None:
    text = FILE.replace("state: checked, value: true", "state: checked, value: false")
    file.write_text(
        text.replace("[{role: heading, name: Thank you, later: true}]\n", "[{role: heading, name: Plans}]\n")
    )
    page = str(file.parent / "page.html")
    assert taskfile.bind_page(page, file)[1] == ("chosen", "success")
    done = CliRunner().invoke(app, ["check", "--url", page, "--terms", str(file), "--json"])
    assert done.exit_code == 0 and "chosen: it holds on the page as it is, so that it never pays" in done.stderr
    assert "success: the task is won on the page as it is" in json.loads(done.stdout)["warnings"][1]


@pytest.mark.browser
def test_a_recording_is_the_solution_and_the_file_a_family(file: Path, tmp_path: Path) -> None:
    from cuadata import recorder
    from cuadata.types import Action, Outcome

    task = taskfile.read(file)
    with recorder.start(task, tmp_path / "by-hand", instruction=task.instruction, source="person") as recorded:
        for name in ("Yearly", "Submit"):
            target = next(e for e in recorded.observe().elements if e.name == name)
            assert recorded.do(Action(type="click", element=target.id)).error is None
        recorded.close(Outcome(ended="success", success=True))
    file.write_text(FILE + "solution: by-hand\n")
    make: Any = environment.make
    with closing(make(str(file), screenshot=False)) as env:
        env.reset(seed=0)
        assert [m.locator.css for m in env.episode.task.solution if m.locator] == ["#y", "#s"]
    (line,) = playing.play(
        playing.Plan(family=str(file), policy="oracle", seeds=[0], workers=1, screenshot=False), tmp_path / "out"
    )
    assert line.exact and line.fired == ("chosen", "sent")
