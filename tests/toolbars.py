"""A small family for the tests of verification: a card of named buttons in rows, and an instruction with a relation."""

from __future__ import annotations

import random

from cuadata.registry import families
from cuadata.types import Action, Binding, Locator, Move, Relation, Size, Task

WORDS = ("Open", "Edit", "Share", "Print", "Export", "Delete", "Rename", "Archive", "Undo", "Redo", "Filter", "Sort")
_STYLE = (
    "body{margin:0;font:14px sans-serif;background:#fff}"
    "button{position:absolute;width:110px;height:34px;margin:0;background:#e8eef8;color:#123;border:1px solid #678}"
)
_AWAY: dict[Relation, tuple[int, int]] = {"left_of": (-1, 0), "right_of": (1, 0), "above": (0, -1), "below": (0, 1)}


def toolbars(seed: int) -> Task:
    """Buttons in a cross: the reference in the middle and one on each side, which alone stands in that relation to it."""
    chance = random.Random(seed)
    names = chance.sample(WORDS, 5)
    left, top = chance.randint(180, 600), chance.randint(100, 380)
    across, down = chance.randint(125, 170), chance.randint(45, 110)
    html = [f"<button id=reference style='left:{left}px;top:{top}px'>{names[0]}</button>"]
    for place, (name, (dx, dy)) in enumerate(zip(names[1:], _AWAY.values(), strict=True)):
        x, y = left + dx * across, top + dy * down
        html.append(f"<button id=b{place} style='left:{x}px;top:{y}px'>{name}</button>")
    place = chance.randrange(4)
    relation = list(_AWAY)[place]
    said = relation.replace("_", " ") if relation in ("above", "below") else f"to the {relation.replace('_', ' ')}"
    spatial = chance.random() < 0.7
    goal = f"button {said} '{names[0]}'" if spatial else f"'{names[place + 1]}' button"
    target = Locator(css=f"#b{place}")
    bindings: tuple[Binding, ...] = (Binding(word="button", part="target", locator=target),)
    if spatial:
        bindings += (Binding(word=names[0], part="reference", locator=Locator(css="#reference")),)
    return Task(
        id=f"toolbars/{seed}",
        family="toolbars",
        seed=seed,
        instruction=f"Click on the {goal}",
        html=f"<!doctype html><html lang=en><head><title>Tools</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(html)}</body></html>",
        viewport=Size(900, 560),
        bindings=bindings,
        relation=relation if spatial else None,
        solution=(Move(action=Action(type="click"), locator=target),),
        template="toolbars",
    )


families.add(toolbars)
