"""A code that is given out once it is earned (by scrolling, hovering, waiting, clicking, dragging), then typed and sent."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal

from cuadata.types import Action, Binding, Condition, Locator, Move, Phase, Term

from ._draw import Draw
from ._words import code as draw_code

Reveal = Literal["scroll_box", "scroll_page", "hover", "wait", "click", "slide", "drag"]
REVEALS: tuple[Reveal, ...] = ("scroll_box", "scroll_page", "hover", "wait", "click", "slide", "drag")
PAGE_SCROLL = 500  # CSS px of one scroll of the page; two reach the end of a page of fixed height
DELAY = 2.0  # seconds that a code takes after it was asked for

#: Reveal -> what the panel says, what its control is called, and what stands in the code's place until then.
WORDS: dict[Reveal, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "scroll_box": (("Read the conditions to the end. The code stands below them.",), ("",), "…"),
    "scroll_page": (
        ("The code appears here once you have reached the end of the page.",),
        ("",),
        "Not at the end yet.",
    ),
    "hover": (
        ("Hold the pointer over the field to see your code.",),
        ("Hold the pointer here", "Hover to reveal"),
        "Nothing to see yet.",
    ),
    "wait": (
        ("Ask for a code and wait until it arrives.",),
        ("Send me a code", "Request code"),
        "No code was asked for yet.",
    ),
    "click": (("Your code is ready.",), ("Show code", "Reveal code"), "••••••"),
    "slide": (("Move the slider to the right end to see your code.",), ("",), "Slide to unlock."),
    "drag": (("Drag the ticket onto the free place to see your code.",), ("",), "No ticket yet."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The panel as its template draws it."""

    id: str
    code: str
    reveal: Reveal
    title: str
    text: str
    label: str
    waiting: str
    travel: int
    delay: int
    field: str
    field_label: str
    submit: str
    guarded: bool

    @property
    def hidden(self) -> str:
        """The code as it stands in the page, where no person reads it."""
        return base64.b64encode(self.code.encode()).decode()

    @property
    def shown(self) -> Condition:
        """The code stands on the page."""
        return Condition(role="heading", name=f"Code: {self.code}")

    @property
    def typed(self) -> Condition:
        """The field holds the code."""
        return Condition(role="textbox", name=self.field_label, state="value", value=self.code)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The words of an instruction that names the field and the submit control."""
        return (
            Binding(word=self.field_label, part="target", locator=Locator(css=f"#{self.id}-field")),
            Binding(word=self.submit, part="control", locator=Locator(css=f"#{self.id}-submit")),
        )


def code(
    draw: Draw, *, name: str = "c", reveal: Reveal | None = None, guarded: bool = False, delay: float = DELAY
) -> Code:
    """Draw a code and how it is earned; `guarded` keeps the submit control disabled until something is typed.

    `delay` is how long a code takes that was asked for, seconds.
    """
    rng = draw.rng(f"code-{name}")
    how: Reveal = draw.axis(f"{name}-reveal", REVEALS, reveal)
    texts, labels, waiting = WORDS[how]
    return Code(
        id=name,
        code=draw_code(rng),
        reveal=how,
        title=rng.choice(("Your access code", "One code to go on", "Confirm with a code")),
        text=rng.choice(texts),
        label=rng.choice(labels),
        waiting=waiting,
        travel=rng.choice((260, 540, 560, 600)),
        delay=int(delay * 1000),
        field=draw.axis(f"{name}-field", ("label", "placeholder"), None),
        field_label=rng.choice(("Access code", "Enter code", "Code from above")),
        submit=rng.choice(("Submit code", "Continue", "Unlock", "Send")),
        guarded=guarded,
    )


def earn(c: Code) -> tuple[Move, ...]:
    """What makes the code appear."""
    if c.reveal == "scroll_box":
        down = Action(type="scroll", scroll_y=300.0, scroll_unit="px")
        return (Move(action=down, locator=Locator(css=f"#{c.id}-box"), phase="act"),) * -(-c.travel // 300)
    if c.reveal == "scroll_page":
        down = Action(type="scroll", scroll_y=float(PAGE_SCROLL), scroll_unit="px")
        return (Move(action=down, phase="act"),) * 2
    if c.reveal == "hover":
        return (Move(action=Action(type="hover"), locator=Locator(css=f"#{c.id}-spot"), phase="act"),)
    if c.reveal in ("slide", "drag"):
        tile, slot = Locator(css=f"#{c.id}-tile"), Locator(css=f"#{c.id}-slot")
        return (Move(action=Action(type="drag"), locator=tile, end=slot, phase="act"),)
    asked = click(c, "ask", "act")
    return (
        (asked, Move(action=Action(type="wait", seconds=c.delay / 1000 + 0.5), phase="act"))
        if c.reveal == "wait"
        else (asked,)
    )


def click(c: Code, part: str, phase: Phase) -> Move:
    """A click on a part of the panel."""
    return Move(action=Action(type="click"), locator=Locator(css=f"#{c.id}-{part}"), phase=phase)


def enter(c: Code, text: str) -> tuple[Move, ...]:
    """Type something into the field and submit it."""
    typed = Move(action=Action(type="type", text=text), locator=Locator(css=f"#{c.id}-field"), phase="enter")
    return (typed, click(c, "submit", "enter"))


def terms(
    c: Code, *, revealed: float, typed: float, anchor: tuple[Condition, ...] = (), prefix: str = ""
) -> tuple[Term, ...]:
    """The code stands on the page; the field holds it."""
    return (
        Term(name=f"{prefix}revealed", value=revealed, when=(*anchor, c.shown)),
        Term(name=f"{prefix}typed", value=typed, when=(*anchor, c.typed)),
    )
