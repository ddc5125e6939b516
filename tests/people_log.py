"""A page that keeps its own log of every input, and a person who acts on it at random: the recording must say the same."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import people

from cuadata import recording
from cuadata.types import Step

PAGE = """<!doctype html><meta charset=utf-8><style>body{margin:0;font:14px sans-serif}.a{position:absolute;width:110px;height:28px}
.a:hover{background:#ffd}</style><div id=board></div><script>
const log = window.log = [];
for (let i = 0; i < 12; i++) {
  const button = document.createElement('button');
  button.className = 'a'; button.textContent = 'B' + i; button.id = 'b' + i;
  button.style.cssText = `left:${10 + 130 * (i % 4)}px;top:${10 + 40 * (i >> 2)}px`;
  button.onclick = (e) => { if (e.isTrusted) log.push(['click', button.id]); button.textContent = 'B' + i + ' ' + log.length };
  button.oncontextmenu = (e) => { e.preventDefault(); log.push(['right_click', button.id]) };
  board.append(button);
}
for (let i = 0; i < 3; i++) {
  const field = document.createElement('input');
  field.className = 'a'; field.id = 'f' + i; field.style.cssText = `left:${10 + 130 * i}px;top:150px`;
  field.onmousedown = () => log.push(['click', field.id]);
  field.oninput = (e) => {
    const last = log[log.length - 1];
    if (last[0] === 'type' && last[1] === field.id) last[2] += e.data;
    else log.push(['type', field.id, e.data]);
  };
  board.append(field);
}
addEventListener('keydown', (e) => { if (e.key === 'F2' || e.key === 'Escape') log.push(['press', e.key]) });
</script>"""


def moves(hands: people.Hands, dice: random.Random) -> list[Callable[[], int]]:
    """One random action; how many inputs it takes."""

    async def click(x: float, y: float, button: str) -> None:
        await hands.page.mouse.move(x, y)
        await hands.page.mouse.click(x, y, button=button, delay=dice.uniform(15, 50))

    def button() -> int:
        i = dice.randrange(12)
        right = dice.random() < 0.2
        hands.run(click(65 + 130 * (i % 4), 24 + 40 * (i >> 2), "right" if right else "left"))
        return 1

    def field() -> int:
        hands.run(click(dice.choice((65, 195, 325)), 164, "left"))
        text = "".join(dice.choices("abcde", k=dice.randint(2, 5)))
        hands.type(text, pause=dice.uniform(5, 25))
        return 1 + len(text)

    def key() -> int:
        hands.press(dice.choice(("F2", "Escape")))
        return 1

    return [button, button, button, field, key]


def compare(inputs: int, out: Path, seed: int, watch: Callable[[int], None] = lambda n: None) -> dict[str, Any]:
    """Act `inputs` inputs; what the page logged and what the recording says, in order; the sum that both are held to."""
    dice = random.Random(seed)
    with people.recording_of(PAGE, out) as (session, hands):
        sent = done = 0
        choices = moves(hands, dice)
        while sent < inputs:
            sent += dice.choice(choices)()
            done += 1
            time.sleep(dice.uniform(0.02, 0.2))
            if done % 50 == 0:
                watch(sent)
        logged = session.page.evaluate("log")
        session.settle(60)
        session.end("success")
    steps = recording.read(out, pictures=False).steps
    return {"sent": sent, "logged": logged, "told": [said(step) for step in steps]}


def said(step: Step) -> list[str]:
    """A step as the page would log it."""
    if step.action.type == "press":
        return ["press", *step.action.keys]
    where = step.target.locator.css[1:] if step.target is not None else ""
    return [step.action.type, where, *([step.action.text] if step.action.text else [])]
