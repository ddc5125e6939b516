"""A choice in a scrolling, fixed dialog: its eleven options, where the right one lies, and how far one has to scroll."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from cuadata.types import Action, Binding, Condition, Locator, Move, Phase, Term

from ._draw import Draw
from ._words import BADGES, SUBJECTS, Subject, paragraph

Markup = Literal["radix", "native", "aria", "label", "shadow"]
MARKUPS: tuple[Markup, ...] = ("radix", "native", "aria", "label", "shadow")
OPTIONS = 11
WINDOW = 420  # CSS px of the dialog that scroll
END = 88  # CSS px of the row that holds the submit control
SCROLL = 300  # CSS px of one scroll
#: Scrolls until the right option and the end are in sight -> heights that a row may have, CSS px.
ROWS: dict[int, tuple[int, ...]] = {1: (48,), 2: (56, 64), 3: (64, 72, 80, 88), 4: (96, 104, 112)}


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `name` is what it is called on the page, with its badge; `value` is what is saved."""

    id: str
    value: str
    name: str
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Modal:
    """A dialog as its template draws it; heights in CSS px."""

    id: str
    title: str
    label: str
    intro: str
    intro_height: int
    options: tuple[Option, ...]
    right: Option
    wrong: Option
    row: int
    window: int
    scrolls: int
    markup: Markup
    submit: str
    submit_at: str
    closable: bool
    refuses: bool
    wanted: bool
    guarded: bool

    def at(self, css: str) -> Locator:
        """The way to a part of the dialog, through its shadow root where it has one."""
        return Locator(shadow=(f"#{self.id}-host",) if self.markup == "shadow" else (), css=css)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The words of an instruction that names the option and the submit control."""
        return (
            Binding(word=self.right.value, part="target", locator=self.at(f"#{self.right.id}")),
            Binding(word=self.submit, part="control", locator=self.at(f"#{self.id}-submit")),
        )

    @property
    def chosen(self) -> Condition:
        """The right option is selected, whatever the radio is made of."""
        return Condition(role="radio", name=self.right.name, state="checked", value="true")

    @property
    def saved(self) -> tuple[Condition, ...]:
        """The right option is what the page shows as saved, and the dialog is gone."""
        shown = Condition(role="heading", name=f"{self.label}: {self.right.value}")
        return (shown, Condition(role="dialog", name=self.title, present=False))


def modal(
    draw: Draw,
    *,
    name: str = "m",
    markup: Markup | None = None,
    scrolls: int | None = 3,
    submit_at: str | None = None,
    wrong_choice: str | None = None,
    wanted: bool = False,
    guarded: bool = False,
) -> Modal:
    """Draw a dialog; `scrolls` of 300 px each bring the right option and the end into sight, None draws 1 to 4.

    `wanted` makes the dialog itself say which option is meant, for tasks whose instruction does not name it; `guarded`
    keeps its submit control disabled until an option is chosen.
    """
    rng = draw.rng(f"modal-{name}")
    subject = rng.choice(SUBJECTS)
    far = draw.axis(f"{name}-scrolls", tuple(ROWS), scrolls)
    place = draw.axis(f"{name}-submit", ("end", "foot"), submit_at)
    row = rng.choice(ROWS[far])
    rows = OPTIONS * row + (END if place == "end" else 0)
    # The content is so high that the last scroll, and none before it, reaches the end.
    travel = rng.randint(max(SCROLL * (far - 1) + 80, rows + 60 - WINDOW), SCROLL * far)
    intro = travel + WINDOW - rows
    bottom = WINDOW - (END if place == "end" else 0)
    seen = [i for i in range(OPTIONS) if 8 <= intro + row * i - travel and intro + row * (i + 1) - travel <= bottom]
    right = rng.choice(seen)
    options = _options(rng, subject, name, plain=right)
    return Modal(
        id=name,
        title=subject.title,
        label=subject.label,
        intro=paragraph(rng, max(1, intro // 50)),
        intro_height=intro,
        options=options,
        right=options[right],
        wrong=options[rng.choice([i for i in seen if i != right])],
        row=row,
        window=WINDOW,
        scrolls=far,
        markup=draw.axis(f"{name}-markup", MARKUPS, markup),
        submit=rng.choice(("Submit", "Submit & continue", "Save choice", "Confirm")),
        submit_at=place,
        closable=rng.random() < 0.5,
        refuses=draw.axis(f"{name}-wrong-choice", ("refused", "saved"), wrong_choice) == "refused",
        wanted=wanted,
        guarded=guarded,
    )


def _options(rng: Random, subject: Subject, name: str, plain: int) -> tuple[Option, ...]:
    """Eleven options; one to three that are not meant carry a badge that praises them."""
    values = rng.sample(subject.options, OPTIONS)
    praised = rng.sample([i for i in range(OPTIONS) if i != plain], rng.randint(1, 3))
    badges = dict(zip(praised, rng.sample(BADGES, len(praised)), strict=True))
    return tuple(
        Option(f"{name}-{i}", value, f"{value} – {badges[i]}" if i in badges else value, rng.choice(subject.remarks))
        for i, value in enumerate(values)
    )


def scroll(m: Modal) -> Move:
    """One scroll of 300 px inside the dialog."""
    action = Action(type="scroll", scroll_y=float(SCROLL), scroll_unit="px")
    return Move(action=action, locator=m.at(f"#{m.id}-scroller"), phase="act")


def click(m: Modal, element: str, phase: Phase = "act") -> Move:
    """A click on a part of the dialog."""
    return Move(action=Action(type="click"), locator=m.at(f"#{element}"), phase=phase)


def choose(m: Modal, option: Option) -> tuple[Move, ...]:
    """Scroll down, choose this option, submit."""
    return (*(scroll(m),) * m.scrolls, click(m, option.id), click(m, f"{m.id}-submit"))


def terms(
    m: Modal, *, wrong: float, right: float, submitted: float, anchor: tuple[Condition, ...] = (), prefix: str = ""
) -> tuple[Term, ...]:
    """Any other radio, the right radio, and the right one saved with the dialog gone."""
    some = Condition(role="radio", state="checked", value="true")
    not_right = Condition(role="radio", name=m.right.name, state="checked", value="true", present=False)
    return (
        Term(name=f"{prefix}wrong_radio", value=wrong, when=(*anchor, some, not_right)),
        Term(name=f"{prefix}right_radio", value=right, when=(*anchor, m.chosen)),
        Term(name=f"{prefix}submitted", value=submitted, when=(*anchor, *m.saved)),
    )
