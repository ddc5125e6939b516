"""Further siblings of the recorder's cases, each written down before it was played: lists that stand open, and what a page swaps."""

from __future__ import annotations

import time
from pathlib import Path

import people
import pytest

from cuadata import split
from cuadata.judging import gating, judging
from cuadata.types import Step

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset=utf-8><style>body{margin:0;font:14px sans-serif}.p{position:absolute;left:10px}</style>
<select id=open aria-label=Colour class=p size=4 style="top:10px;width:100px;height:76px"><option>Red<option>Blue<option>Green<option>Grey</select>
<select id=many aria-label=Number class=p multiple size=4 style="left:150px;top:10px;width:100px;height:76px"><option>One<option>Two<option>Three</select>
<x-list class=p id=host style="top:100px;width:200px;height:60px"></x-list>
<div id=swap class=p style="top:170px"><button id=x style="width:90px;height:30px" aria-label=First
  onmousedown="swap.innerHTML = '<button id=y style=width:90px;height:30px>Second</button>'">First</button></div>
<svg id=v class=p style="top:220px" width=100 height=60><circle id=c cx=30 cy=30 r=20 fill=teal onclick="this.setAttribute('fill', 'red')"/></svg>
<div id=a class=p draggable=true style="top:300px;width:80px;height:40px;background:#9cf">drag me</div>
<div id=b class=p style="left:200px;top:300px;width:120px;height:60px;background:#eee" ondragover="event.preventDefault()"
  ondrop="this.textContent = 'got it'">drop here</div>
<input id=i class=p aria-label=From style="top:380px;width:120px"><input id=j class=p aria-label=To style="left:150px;top:380px;width:120px">
<script>customElements.define('x-list', class extends HTMLElement { connectedCallback() {
  const root = this.attachShadow({mode: 'closed'});
  root.innerHTML = '<ul style="margin:0;padding:0;list-style:none"><li style="height:24px">Kiel</li><li style="height:24px">Bonn</li></ul>';
  root.firstChild.addEventListener('pointerdown', (e) => { document.title = e.target.textContent; root.firstChild.remove() }) } });
</script>"""


def told(step: Step) -> tuple[str, str, str]:
    """What was done, on what, and with which text or keys."""
    where = people.way(step.target.locator) if step.target is not None else ""
    return step.action.type, where, step.action.text or "+".join(step.action.keys)


def test_lists_that_stand_open_and_things_that_a_page_swaps_are_one_step_each(tmp_path: Path) -> None:
    def act(hands: people.Hands) -> None:
        for x, y in ((40, 38), (180, 56), (40, 136), (50, 185), (40, 250)):
            hands.click(x, y)
            time.sleep(0.8)
        hands._drag({"from": (40, 320), "to": (250, 330), "steps": 8})
        time.sleep(0.5)
        hands.click(60, 390)
        hands.type("copy me")
        hands.press("Control+a")
        hands.press("Control+c")
        hands.click(200, 390)
        hands.press("Control+v")

    held = people.played(PAGE, tmp_path / "out", act)
    assert [told(step) for step in held.steps] == [
        ("select", "#open", "Blue"),
        ("select", "#many", "Three"),
        ("click", "#host :host > ul:nth-child(1) > li:nth-child(2)", ""),
        ("click", "#x", ""),
        ("click", "#c", ""),
        ("drag", "#a", ""),
        ("click", "#i", ""),
        ("type", "#i", "copy me"),
        ("press", "#i", "Control+a"),
        ("press", "#i", "Control+c"),
        ("click", "#j", ""),
        ("type", "#j", "copy me"),
    ]
    kept = {
        one.step.index
        for one in split.examples(held)
        if one.step is not None and judging.against(gating.judge(one, gating.choose(without=["difficulty"]))) is None
    }
    assert set(range(5)) <= kept, "also what has gone by mouseup, and the item of a list in a closed root"
