"""What stood at an input that came soon after another, and in documents that other elements than frames hold."""

from __future__ import annotations

import time
from pathlib import Path

import people
import pytest

from cuadata.types import Point

pytestmark = pytest.mark.browser

SLIDERS = """<!doctype html><input type=range id=own min=0 max=10 value=5>
<div id=made role=slider tabindex=0 aria-label=Made aria-valuenow=5 style="width:90px;height:30px;background:tan"
onkeydown="this.setAttribute('aria-valuenow', +this.getAttribute('aria-valuenow') + 1)"></div>"""


@pytest.mark.parametrize("id", ["own", "made"])
def test_a_slider_says_its_value_at_each_of_two_keys_in_a_row(tmp_path: Path, id: str) -> None:
    def act(hands: people.Hands) -> None:
        hands.run(hands.page.focus(f"#{id}"))
        hands.session.ready()
        for _ in range(4):
            hands.press("ArrowRight")
            time.sleep(0.05)

    held = people.played(SLIDERS, tmp_path / "out", act)
    values = [s.target.states.value for s in held.steps if s.target is not None]
    assert values == ["5", "6", "7", "8"]


@pytest.mark.parametrize(
    "holder", ["<object id=holder data=inner.html type=text/html", "<embed id=holder src=inner.html type=text/html"]
)
def test_a_click_in_the_document_of_an_object_has_its_target_and_its_point(tmp_path: Path, holder: str) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "inner.html").write_text(
        "<!doctype html><button id=in style='position:absolute;left:20px;top:20px;width:100px;height:30px'>Inside</button>"
    )
    style = "position:absolute;left:50px;top:100px;width:300px;height:200px;border:5px solid;padding:7px"
    (site / "page.html").write_text(f'<!doctype html><p>Before</p>{holder} style="{style}"></object>')
    held = people.played(site / "page.html", tmp_path / "out", lambda hands: hands.click(102, 147))
    (step,) = held.steps
    assert people.told(held.steps) == [("click", "#holder #in")]
    assert step.action.point == Point(102, 147) and step.target is not None and step.target.name == "Inside"
