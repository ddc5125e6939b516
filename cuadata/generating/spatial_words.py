"""How one element is spoken of: by its name, by its place, by its look, by its use; and the thought that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from cuadata.types import Element
from cuadata.wording import phrases
from cuadata.wording.phrases import Stated

#: Role -> what people call such a control.
NOUNS: Final = {
    "button": "button", "link": "link", "checkbox": "checkbox", "radio": "radio button", "switch": "switch",
    "textbox": "text field", "combobox": "dropdown", "slider": "slider", "menuitem": "menu item",
    "treeitem": "list item", "heading": "heading", "group": "card", "tab": "tab", "searchbox": "search box",
}  # fmt: skip
_ORDERS: Final = ("Click {0}.", "Click on {0}.", "Select {0}.", "Please click {0}.", "Press {0}.", "Choose {0}.")
#: Without an imperative: what is wanted is left to the reader.
_IMPLICIT: Final = ("{0}, please.", "I mean {0}.", "{0}")
#: By what it is for, in words that follow a "to".
_USES: Final = (
    "Click what you would use to {0}.", "Select what lets you {0}.", "Click on what is there to {0}.", "I want to {0}.",
)  # fmt: skip


def title(element: Element) -> str:
    """What an element is called, as it is seen: without glyphs of icon fonts and other characters that nobody could say."""
    name = element.name or element.text
    return name if name.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in name).split())


def noun(element: Element, look: str | None) -> str:
    """The class of an element: a shape's form, a control's kind."""
    if look and look == element.name:
        return look.rsplit(" ", 1)[-1]
    return NOUNS.get(element.role, "")


def named(element: Element, look: str | None, rng: Random) -> str:
    """A whole noun phrase that names an element: "the red circle", "the 'Save' button", "'Save'"."""
    if look and look == element.name:
        return f"the {look}"
    kind = NOUNS.get(element.role, "")
    called = title(element)
    return f"the '{called}' {kind}" if kind and rng.random() < 0.5 else f"'{called}'"


def phrased(relations: Sequence[Stated], thing: str, references: Sequence[Sequence[str]], rng: Random) -> str:
    """A noun phrase that states one relation or several of a thing, in one of the phrasings that read back.

    "Directly" is left out: a relation says nothing of what stands between.
    """
    text = ""
    for one, held in zip(relations, references, strict=True):
        written = phrases.write(
            one.relation, thing if not text else "", held, phrasing=rng.randrange(4), position=one.position,
            sides=one.sides, nearest=one.nearest,
        ).replace(" directly ", " ")  # fmt: skip
        text = written if not text else f"{text} and {written.removeprefix('the ').strip()}"
    return text


def order(thing: str, rng: Random, *, implicit: float = 0.15) -> tuple[str, str]:
    """The instruction for a noun phrase, and whether it is explicit or implicit."""
    if rng.random() < implicit:
        text = rng.choice(_IMPLICIT).format(thing)
        return text[0].upper() + text[1:], "implicit"
    return rng.choice(_ORDERS).format(thing), "explicit"


def used(use: str, rng: Random) -> str:
    """The instruction that says what an element is for."""
    return rng.choice(_USES).format(use)


def words(relation: Stated) -> str:
    """A relation in words, without its nouns: "nearest to", "to the left of"."""
    if relation.relation == "between":
        return "between"
    known = phrases.PHRASINGS[relation.relation]
    text = known[-1] if "that" in known[0] else known[0]
    return (
        text.replace("{0}", "")
        .replace("{1}", "")
        .replace("{2}", "")
        .replace("{side}", " ".join(relation.sides))
        .strip()
    )


def thought(perspective: str, relations: Sequence[Stated], references: Sequence[Sequence[str]], target: str) -> str:
    """Perspective, reference and relation in one or two sentences."""
    if not relations:
        how = {"direct": "names the element", "appearance": "says how it looks", "function": "says what it is for"}
        return f"The instruction {how[perspective]}. It is {target}."
    return (
        f"The instruction gives a place: {place(relations, references)}."
        f" Of all that could be meant only {target} is there."
    )


def place(relations: Sequence[Stated], references: Sequence[Sequence[str]]) -> str:
    """Where something is, in words: "above the red square, and to the left of 'Save'"."""
    told = zip(relations, references, strict=True)
    return ", and ".join(f"{words(one)} {' and '.join(held)}".strip() for one, held in told)
