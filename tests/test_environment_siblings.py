"""Siblings of the cases on stale references, dialogs, pop-ups that close themselves, long runs and rewards farmed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from cuadata import browser
from cuadata.browsing import engine
from cuadata.browsing.frames import send
from cuadata.episodes import terms
from cuadata.types import Action, Condition, Element, Point, Size, Term

pytestmark = pytest.mark.browser
SAYS = 'onclick="document.body.dataset.last = this.textContent"'
ROWS = "".join(f"<p><button {SAYS}>{name}</button></p>" for name in ("Alpha", "Beta", "Gamma"))


def named(elements: Sequence[Element], name: str) -> Element:
    return next(e for e in elements if e.name == name and e.interactive)


# --- B14: a remembered reference ------------------------------------------------------------------------------------------

CHANGES = {
    "sorted the other way round": "() => document.body.append(...[...document.querySelectorAll('p')].reverse())",
    "written anew with another row before": (
        "() => { document.body.innerHTML = '<p><button>New</button></p>' + document.body.innerHTML }"
    ),
    "each node replaced by a copy, the first two exchanged": """() => {
        const copies = [...document.querySelectorAll('p')].map((p) => p.cloneNode(true));
        document.body.replaceChildren(copies[1], copies[0], copies[2]); }""",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_remembered_row_is_reached_or_refused(change: str) -> None:
    with browser.open(ROWS, viewport=Size(640, 400)) as page:
        seen = page.observe()
        page.evaluate(CHANGES[change])
        step = page.act(Action(type="click", element=named(seen.elements, "Beta").id), observation=seen)
        last = page.evaluate("document.body.dataset.last ?? null")
    refused = step.error is not None and step.error.startswith("target_stale")
    assert (last, refused) in ((None, True), ("Beta", False)), (last, step.error)


# --- B16: dialogs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What a click asks, and what must be told: type, message and answer of each dialog, and what the page received."""

    script: str
    told: tuple[tuple[str, str, bool | None], ...]
    received: object


DIALOGS = {
    "a prompt that is answered": Asked(
        "document.title = prompt('Name?', 'nobody')", (("prompt", "Name?", True),), "Ann"
    ),
    "two in a row": Asked(
        "document.title = confirm('Sure?'); alert('Done')", (("confirm", "Sure?", True), ("alert", "Done", True)), "true"
    ),
    "one that comes after the click": Asked(
        "setTimeout(() => { document.title = confirm('Late?') }, 200)", (("confirm", "Late?", True),), "true"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALOGS)
def test_every_dialog_is_answered_and_told_as_the_page_received_it(name: str) -> None:
    asked = DIALOGS[name]
    with browser.open(f'<button onclick="{asked.script}">Go</button>', answer="Ann") as page:
        seen = page.observe()
        step = page.act(Action(type="click", element=named(seen.elements, "Go").id), observation=seen)
        title = page.title
    assert step.after is not None and step.after.screenshot is not None
    assert tuple((d.type, d.message, d.accepted) for d in step.after.dialogs) == asked.told
    assert title == asked.received
    assert step.effect is not None and step.effect.happened


# --- B27: a page that closes itself -----------------------------------------------------------------------------------------

POPS = {
    "after it led its opener on": "opener.document.title = 'Led'; window.close()",
    "a moment after the click": "setTimeout(() => window.close(), 150)",
}


@pytest.mark.parametrize("way", POPS)
def test_what_closes_itself_leaves_its_opener_in_use(way: str, tmp_path: Path) -> None:
    (tmp_path / "pop.html").write_text(f'<title>Pop</title><button id=ok onclick="{POPS[way]}">OK</button>')
    (tmp_path / "page.html").write_text(
        "<title>Opener</title><button onclick=\"window.open('pop.html')\">Ask</button>"
        "<button onclick=\"document.title = 'Next done'\">Next</button>"
    )
    with browser.open(tmp_path / "page.html", viewport=Size(800, 600)) as page:
        steps = []
        for name in ("Ask", "OK", "Next"):
            seen = page.observe()
            steps.append(page.act(Action(type="click", element=named(seen.elements, name).id), observation=seen))
        assert page.title == "Next done" and len(page.pages) == 1
    assert [(s.error, s.effect is not None and s.effect.happened) for s in steps] == [(None, True)] * 3
    assert any("page closed" in phrase for phrase in steps[1].effect.state)  # type: ignore[union-attr]


# --- B30: a long run --------------------------------------------------------------------------------------------------------


def test_a_page_that_grows_with_every_click_tells_each() -> None:
    """Each click leaves a row, a listener and a frame; the twentieth is told as the first."""
    grow = (
        "const row = document.createElement('p'); row.textContent = 'Row ' + ++n; row.onclick = () => {};"
        "document.body.append(row, Object.assign(document.createElement('iframe'), {srcdoc: '<p>' + n, height: 20}))"
    )
    with browser.open(f'<script>let n = 0</script><button onclick="{grow}">Add</button>') as page:
        for number in range(1, 21):
            step = page.act(Action(type="click", point=Point(30, 20)))
            assert step.error is None and step.effect is not None, step.error
            assert any(f"Row {number}'" in phrase for phrase in step.effect.state), (number, step.effect.state)


REWRITE = """() => {
    document.body.replaceChildren(...Array.from({length: 20}, () => Object.assign(document.createElement('MADE'), {onclick() {}})))
}"""


@pytest.mark.parametrize("made", ["button", "div"])
def test_what_a_page_throws_away_is_let_go(made: str) -> None:
    """A page that writes itself anew 20 times holds no more nodes than after the first, whatever was looked at."""
    held = []
    with browser.open("<title>Rewritten</title>") as page:
        loop, tab = engine.engine()[0], page.twin.tab
        for _ in range(20):
            page.evaluate(REWRITE.replace("MADE", made))
            page.observe(screenshot=False)
            assert tab.session is not None
            loop.run(send(tab.session, "HeapProfiler.collectGarbage", 20), 30)
            held.append(loop.run(send(tab.session, "Memory.getDOMCounters"), 30)["nodes"])
    assert held[-1] < held[0] + 20, held


# --- B105: nothing is earned twice ------------------------------------------------------------------------------------------


def test_what_is_ticked_again_or_drawn_anew_earns_nothing() -> None:
    """Ticked, unticked, ticked, and the form drawn anew with the tick: a half at the end, and the first alone paid once."""
    html = "<div id=form><label><input type=checkbox id=box> News</label></div>"
    ticked = Condition(role="checkbox", name="News", state="checked", value="true")
    held = (
        Term(name="first", value=1.0, when=(ticked,)),
        Term(name="kept", value=0.5, kind="potential", when=(ticked,)),
    )
    again = "() => { form.innerHTML = '<label><input type=checkbox id=box checked> News</label>' }"
    with browser.open(html) as page:
        ledger = terms.Ledger.open(held, page.observe())
        earned = []
        for _ in range(3):
            page.act(Action(type="click", element=named(page.observe().elements, "News").id))
            earned.append(sum(r.value for r in ledger.pay(page.observe())))
        page.evaluate(again)
        earned.append(sum(r.value for r in ledger.pay(page.observe())))
    assert earned == [1.5, -0.5, 0.5, 0.0], json.dumps(earned)
