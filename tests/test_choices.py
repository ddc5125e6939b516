"""The text of a drop-down is its choice, and of what holds it what a person reads there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuadata import browser, environment, text
from cuadata.types import Action, Size

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>t</title>
<select id=own><option>Red<option selected>Green</select>
<label id=label>Colour <select><option>Red<option>Green</select></label>
<table><tr><td id=cell>Size <select><optgroup label=G><option>S<option>M</optgroup></select></td></tr></table>
<fieldset id=form><legend>Ship</legend><select multiple size=3><option selected>A<option selected>B<option>C</select></fieldset>
<div id=two role=group tabindex=0>Pay <select><option>A<option>B</select> or <select><option>A<option>B</select> now</div>
<a id=upper href=# style="text-transform:uppercase">go <select><option>one<option>two</select></a>
<p id=none role=group>Empty <select></select> one</p>
"""


def test_the_text_of_a_drop_down_is_its_choice(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    with browser.open(tmp_path / "page.html", viewport=Size(800, 600)) as page:
        seen = page.observe()
    told = {e.locator.css.rpartition("#")[2]: e.text for e in seen.elements if e.locator.css.startswith("#")}
    held = {name: told[name] for name in ("own", "label", "cell", "form", "two", "none")}
    assert held == {
        "own": "Green", "label": "Colour Red", "cell": "Size S", "form": "Ship A, B", "two": "Pay A or A now",
        "none": "Empty one",
    }  # fmt: skip
    assert told["upper"].lower() == "go one"
    (own,) = (e for e in seen.elements if e.locator.css == "#own")
    assert text.describe(Action(type="select", text="Red"), own) == "select 'Red' in combobox 'Green'"
    assert [e.text for e in seen.elements if e.tag == "option"][:2] == ["Red", "Green"], "options keep their own"


def test_miniwob_reads_them_the_same_way() -> None:
    env = environment.make("miniwob-choose-list", 0)
    try:
        env.reset(seed=0)
        elements = env.unwrapped.episode.observation.elements
    finally:
        env.close()
    (listed,) = (e for e in elements if e.tag == "select")
    options = [e.text for e in elements if e.tag == "option"]
    assert listed.text == listed.states.value == options[0] and len(options) > 2
    assert not any("".join(options) in e.text for e in elements)
