"""One choice built in every way that pages build it: the term waits, one click on what a model is shown fires it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from cuadata import environment, registry
from cuadata.types import Action, Condition, Size, Task, Term

pytestmark = pytest.mark.browser
INTERNALS = """<x-radio>Yearly</x-radio><script>customElements.define("x-radio", class extends HTMLElement {
    constructor() { super(); this.i = this.attachInternals(); this.i.role = "radio"; this.i.ariaChecked = "false";
        this.onclick = () => { this.i.ariaChecked = "true"; }; } })</script>"""
SHADOW = """<div id=h></div><script>
    h.attachShadow({mode: "MODE"}).innerHTML = "<label><input type=radio>Yearly</label>"</script>"""
PROXY = "<span style='display:inline-block;width:16px;height:16px;border:1px solid'></span>"
WIDGETS = {
    "native": "<label><input type=radio>Yearly</label>",
    "data-state alone": """<button role=radio data-state=unchecked onclick="this.dataset.state='checked'">Yearly</button>""",
    "a label that is the radio": "<label role=radio aria-checked=false onclick=\"this.ariaChecked='true'\">Yearly</label>",
    "an input without opacity": f"<label><input type=radio style='opacity:0;position:absolute'>{PROXY}Yearly</label>",
    "an input far outside": f"<label><input type=radio style='position:absolute;left:-9999px'>{PROXY}Yearly</label>",
    "an input that is not displayed": f"<label><input type=radio style='display:none'>{PROXY}Yearly</label>",
    "an input that is hidden, its label elsewhere": "<input id=y type=radio hidden><p><label for=y>Yearly</label>",
    "an input that is invisible": "<input id=y type=radio style='visibility:hidden'><label for=y>Yearly</label>",
    "an open shadow root": SHADOW.replace("MODE", "open"),
    "a closed shadow root": SHADOW.replace("MODE", "closed"),
    "a frame that may do nothing": "<iframe sandbox srcdoc='<label><input type=radio>Yearly</label>'></iframe>",
    "internals of a custom element": INTERNALS,
    "a shape of a drawing": (
        "<svg><circle cx=20 cy=20 r=10 role=radio aria-checked=false aria-label=Yearly "
        "onclick=\"this.ariaChecked='true'\" /></svg>"
    ),
}
CHOSEN = Condition(role="radio", name="Yearly", state="checked", value="true")


def asked(html: str) -> Task:
    return Task(
        id="t/0", family="t", seed=0, instruction="Choose the yearly plan.", html=f"<!doctype html><body>{html}",
        viewport=Size(400, 300), terms=(Term(name="chosen", value=0.1, when=(CHOSEN,)),), success=(CHOSEN,),
    )  # fmt: skip


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    with closing(environment.make("modal", screenshot=False)) as made:
        yield made


@pytest.mark.parametrize("built", WIDGETS)
def test_a_choice_fires_its_term_however_it_is_built(env: Any, built: str) -> None:
    told, info = env.reset(options={"task": asked(WIDGETS[built])})
    assert not info["exact_success"]
    (line,) = [line for line in told["axtree"].splitlines() if "Yearly" in line and "radio" in line]
    step = env.step(Action(type="click", element=int(line[1 : line.index("]")])))
    assert (step[4]["rewards"], step[4]["exact_success"]) == ({"chosen": 0.1}, True), step[4]


@pytest.mark.parametrize("built", [name for name in WIDGETS if name.startswith("an input")])
def test_all_boxes_ticks_a_box_that_is_hidden_behind_its_label(env: Any, built: str) -> None:
    env.reset(options={"task": asked(WIDGETS[built])})
    policy = registry.policies["all_boxes"]()
    policy.reset(env.episode.task, 0)
    choice = policy.act(env.episode.observation, env.episode.prompt())
    assert env.step(choice.action)[4]["exact_success"], choice.action
