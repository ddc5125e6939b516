"""What a description means: one normal form for all text, and which elements answer.

An instruction says 'Save ', a page shows SAVE and its accessibility tree says "save": for a person that is one name. Every
text goes through the same normal form before it is compared, whichever side it comes from.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

import msgspec

from cuadata.types import Element, Observation

#: What people call elements, and the accessibility roles that they mean by it.
ROLES: Final[dict[str, frozenset[str]]] = {
    word: frozenset(roles.split())
    for words, roles in (
        ("button|btn", "button"),
        ("link|hyperlink", "link"),
        ("checkbox|check box|tick box|tickbox", "checkbox menuitemcheckbox"),
        ("radio|radio button|radio box", "radio menuitemradio"),
        (
            "textbox|text box|text field|textfield|text area|textarea|input|input box|inputbox|input field|field|box",
            "textbox searchbox spinbutton combobox",
        ),
        ("searchbox|search box|search field|search bar", "searchbox textbox combobox"),
        (
            "combobox|combo box|dropdown|drop-down|dropdown menu|dropdown list|dropdown button|select|select box",
            "combobox listbox button",
        ),
        ("tab", "tab"),
        ("image|img|picture|photo|logo", "img image figure graphics-document graphics-symbol"),
        ("icon", "img image graphics-symbol button link"),
        ("heading|headline", "heading"),
        ("slider", "slider"),
        ("switch|toggle|toggle button", "switch checkbox button"),
        ("option", "option menuitem menuitemradio radio"),
        ("menu item", "menuitem menuitemcheckbox menuitemradio"),
        ("list item", "listitem option treeitem"),
        ("row", "row"),
        ("cell", "cell gridcell rowheader columnheader"),
        ("dialog|pop-up|popup", "dialog alertdialog"),
        ("card|group", "group article"),
    )
    for word in words.split("|")
}
#: Words that say nothing of the role.
ANYTHING: Final = frozenset(
    [
        "element",
        "item",
        "thing",
        "control",
        "widget",
        "text",
        "label",
        "span",
        "div",
        "li",
        "p",
        "generic",
        "svg",
        "one",
        "area",
    ]
)

_EDGES: Final = " \t\n\r.,:;!?…*'\"‘’“”`´«»()[]{}<>|/\\-–—_·•"


#: Characters that look alike to a person: dashes and hyphens, quotes, and what picks a picture for a character.
_ALIKE: Final = {
    **dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"),
    **dict.fromkeys([0x2018, 0x2019, 0x201A, 0x201B, 0x2032, 0x02BC], "'"),
    **dict.fromkeys([0x201C, 0x201D, 0x201E, 0x201F, 0x2033], '"'),
    **dict.fromkeys(range(0xFE00, 0xFE10), None),
}


@functools.lru_cache(maxsize=65536)
def _normal(text: str) -> str:
    if text.isascii() and text.isprintable():
        whole = " ".join(text.lower().split())
        if whole and whole[0].isalnum() and whole[-1].isalnum():
            return whole
    else:
        folded = unicodedata.normalize("NFKC", text).casefold().translate(_ALIKE)
        if not folded.isprintable():
            folded = "".join(c if c.isprintable() else " " for c in folded if unicodedata.category(c) != "Cf")
        whole = " ".join(folded.split())
    # A name that is all punctuation, such as "+", is its own name, and so is an icon of a font.
    return " ".join(whole.strip(_EDGES).split()) or whole or "".join(c for c in text if unicodedata.category(c) == "Co")


def normal(text: str, *, limit: int = 512) -> str:
    """A text as it is compared: NFKC, case folded, dashes and quotes alike, blanks single, no punctuation at its ends.

    Characters that are not seen (format and control characters, among them those that turn the writing direction) are
    left out. Only the first `limit` characters count: nobody reads a name of a megabyte, and none may cost a second.
    """
    return _normal(text) if len(text) <= limit else _normal(text[:limit])


# What is made for every instruction anew is msgspec's: a frozen dataclass takes five times as long to make.
class Noun(msgspec.Struct, frozen=True, kw_only=True):
    """A thing as an instruction names it: "the 'Save' button"."""

    roles: Annotated[frozenset[str], "accessibility roles that it may have; empty: any"] = frozenset()
    name: Annotated[str, "its name in normal form; empty where it goes by its role alone"] = ""
    exact: Annotated[bool, "the name stood in quotes; else some of the words of a name are enough"] = False
    whole: Annotated[str, "the name with the words of place that may belong to it: 'First Name' is no first one"] = ""
    rest: Annotated[str, "further words, in normal form, that neither name it nor say its role"] = ""
    words: Annotated[str, "as it stands in the instruction"] = ""

    @property
    def empty(self) -> bool:
        """Whether it says nothing at all."""
        return not (self.roles or self.name or self.rest)


def spoken(element: Element) -> tuple[str, ...]:
    """Every text that a person could call an element by, in normal form: name, visible text, visible attributes."""
    name = normal(element.name)
    text = name if element.text == element.name else normal(element.text)
    texts = (name,) if text == name else (name, text)
    if not element.attributes:
        return texts
    return texts + tuple([normal(one.value) for one in element.attributes if one.name != "type"])


def answers(noun: Noun, element: Element) -> bool:
    """Whether a description fits an element: its role, and a text of it that is the name or holds its words."""
    if noun.roles and element.role not in noun.roles:
        return False
    if not noun.name or noun.name == normal(element.name):
        return True
    said = spoken(element)
    if noun.name in said or (noun.whole and noun.whole in said):
        return True
    return not noun.exact and _holds_words(noun, element)


def _holds_words(noun: Noun, element: Element) -> bool:
    wanted = noun.name.split()
    return any(all(word in text.split() for word in wanted) for text in spoken(element))


#: Any role.
ANY: Final[frozenset[str]] = frozenset()
#: One role as a set.
_alone = functools.cache(lambda role: frozenset((role,)))


def _by_text(elements: Iterable[Element]) -> dict[str, list[Element]]:
    """Elements by every text, in normal form, that they could be called by."""
    found: dict[str, list[Element]] = {}
    for one in elements:
        name = one.name
        plain = one.text == name and not one.attributes
        for said in (normal(name),) if plain else spoken(one):
            if said in found:
                found[said].append(one)
            else:
                found[said] = [one]
    return found


def _plain(elements: Iterable[Element]) -> str:
    """Every text that elements could be called by, lowered, a line each; empty where some are not of ASCII in single blanks."""
    lines: list[str] = []
    for one in elements:
        lines.append(one.name)
        if one.text != one.name:
            lines.append(one.text)
        if one.attributes:
            lines += [held.value for held in one.attributes if held.name != "type"]
    whole = "\n".join(lines)
    if not whole.isascii() or "  " in whole or whole.encode().translate(None, _PRINTED) != b"\n" * (len(lines) - 1):
        return ""
    return whole.lower()


#: What ASCII prints.
_PRINTED: Final = bytes(range(32, 127))


class Index:
    """Elements by what they are called, for questions about who else is meant; texts are gone through when first asked."""

    __slots__ = ("_of_roles", "_plain", "_texts", "elements")

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements
        self._plain: str | None = None
        self._texts: dict[frozenset[str], dict[str, list[Element]]] = {}
        self._of_roles: dict[frozenset[str], list[Element]] = {}

    def having(self, roles: frozenset[str]) -> list[Element]:
        """Elements of these roles, of any where none is named; gone through when first asked."""
        found = self._of_roles.get(roles)
        if found is None:
            found = self._of_roles[roles] = [one for one in self.elements if not roles or one.role in roles]
        return found

    def called(self, text: str, roles: frozenset[str] = ANY) -> list[Element]:
        """Elements that have this text, in normal form, as name, visible text or visible attribute, of these roles.

        What stands in none of the texts is looked for no further. Where a page has been gone through for elements of any role, that answers for each; else only those of the roles are.
        """
        texts = self._texts.get(ANY)
        if texts is not None and roles:
            return [one for one in texts.get(text, ()) if one.role in roles]
        texts = self._texts.get(roles)
        if texts is None:
            plain = self._texts_in_plain()
            if plain and text not in plain:
                return []
            texts = self._texts[roles] = _by_text(self.having(roles))
        return texts.get(text, [])

    def matching(self, noun: Noun) -> list[Element]:
        """Elements that a description fits; where some are called exactly so, 'Search' does not mean 'Search history'."""
        if not noun.name:
            return self.having(noun.roles)
        for name in filter(None, (noun.whole, noun.name)):
            exactly = self.called(name, noun.roles)
            if exactly or noun.exact:
                return exactly
        return [one for one in self.elements if answers(noun, one)]

    def means_only(self, noun: Noun, element: Element) -> bool:
        """Whether a glance shows that a name in quotes means this one of the elements alone; false says nothing.

        A text of plain ASCII has its normal form as a part: where a name stands once in all texts together, one is called so.
        """
        if not (noun.exact and noun.name) or noun.whole or (noun.roles and element.role not in noun.roles):
            return False
        if element.seen < GLIMPSE or element.bbox is None or normal(element.name) != noun.name:
            return False
        return self._texts_in_plain().count(noun.name) == 1

    def _texts_in_plain(self) -> str:
        if self._plain is None:
            self._plain = _plain(self.elements)
        return self._plain

    def like(self, element: Element) -> list[Element]:
        """Elements that a description of this one by role, name and text would fit as well, itself among them.

        Where both have a name or a text, one of the one's has to be one of the other's: a button named "Save changes"
        that shows "Save" is called either way. Without any text the visible attributes decide.
        """
        role, mine = element.role, _called(element)
        if not mine:
            shown = _shown(element)
            return [one for one in self.elements if one.role == role and not _called(one) and _shown(one) == shown]
        roles = _alone(role)
        found = {one.id: one for text in mine for one in self.called(text, roles)}
        return [one for one in found.values() if not mine.isdisjoint(_called(one))]


#: Parts of a page that are called by what stands at their head, or by the control that opens them.
REGIONS: Final = frozenset(
    [
        "tabpanel",
        "region",
        "group",
        "form",
        "dialog",
        "alertdialog",
        "list",
        "table",
        "grid",
        "navigation",
        "main",
        "banner",
        "contentinfo",
        "complementary",
        "article",
        "toolbar",
        "menu",
        "menubar",
        "tablist",
        "tree",
        "treegrid",
        "listbox",
        "radiogroup",
        "figure",
        "search",
    ]
)


def matching(noun: Noun, elements: Iterable[Element]) -> list[Element]:
    """Elements that a description fits, as `Index.matching`, for a single question."""
    return Index(tuple(elements)).matching(noun)


def _called(element: Element) -> set[str]:
    return {text for text in (normal(element.name), normal(element.text)) if text}


def _shown(element: Element) -> list[tuple[str, str]]:
    return sorted((one.name, normal(one.value)) for one in element.attributes)


#: Share of an element that is enough to mislead.
GLIMPSE: Final = 0.1


def seen(page: Observation, *, min_seen: float = GLIMPSE) -> list[Element]:
    """Elements that a person could see enough of to be misled: at least a tenth."""
    return [one for one in page.elements if one.seen >= min_seen and one.bbox is not None]


def distinct(matches: Sequence[Element], page: Observation, keep: int | None = None) -> list[Element]:
    """Matches that are things of their own.

    A label and its control are one thing, and so are an element and what lies inside it: clicking the one is clicking the
    other. Of each such pair the element with the id `keep` stays, else the control of a label, else the outer or first one.
    """
    nested = any(one.parent is not None for one in matches)
    if len(matches) < 2 or not (nested or any(one.acts_on is not None for one in matches)):
        return list(matches) if matches and matches[0].id == keep else sorted(matches, key=lambda one: one.id != keep)
    parents = {one.id: one.parent for one in page.elements} if nested else {}
    found: list[Element] = []
    ids: set[int] = set()
    controls: set[int] = set()
    around: set[int] = set()
    for one in sorted(matches, key=lambda one: (one.id != keep, one.acts_on is not None)):
        above = _above(one, parents)
        stands_for = {one.id, one.acts_on} - {None}
        if one.id in around or not ids.isdisjoint(above) or not stands_for.isdisjoint(controls) or one.acts_on in ids:
            continue
        found.append(one)
        ids.add(one.id)
        around.update(above)
        if one.acts_on is not None:
            controls.add(one.acts_on)
    return found


def _above(element: Element, parents: dict[int, int | None]) -> list[int]:
    """Ids of the observed ancestors; stops where a page's tree runs in a circle."""
    passed: list[int] = []
    above = element.parent
    while above is not None and above not in passed:
        passed.append(above)
        above = parents.get(above)
    return passed
