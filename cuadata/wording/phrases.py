"""How instructions state a spatial relation: read from text, and written in several phrasings that read back the same.

Only what stands outside of quotes counts: 'Click on "Scroll right"' states no relation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Annotated, Final, cast

import msgspec

from cuadata.relations import Qualifiers, Side
from cuadata.types import Relation, Size
from cuadata.wording.descriptions import ANYTHING, ROLES, Noun, normal


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """One relation that an instruction states."""

    relation: Relation
    references: Annotated[tuple[Noun, ...], "what the target is related to"] = ()
    nearest: Annotated[bool, "of those that fit, the nearest"] = False
    position: Annotated[int | None, "place in a row, column or list, from 1, or from -1 backwards"] = None
    sides: Annotated[tuple[Side, ...], "edges that are named"] = ()
    beside: Annotated[bool, "said as 'next to' or 'beside': the nearest, whichever side a column names"] = False

    def qualifiers(self, viewport: Size | None = None) -> Qualifiers:
        """What narrows the relation, as `cuadata.relations` takes it."""
        return Qualifiers(position=self.position, sides=self.sides, nearest=self.nearest, viewport=viewport)


class Phrase(msgspec.Struct, frozen=True, kw_only=True):
    """What an instruction says: a thing, and where it is."""

    target: Annotated[Noun, "the thing that is meant"]
    stated: Annotated[tuple[Stated, ...], "all of them have to hold; empty where none is stated"] = ()
    references: Annotated[tuple[Noun, ...], "those of all relations, in the order of the text"] = ()

    @property
    def relation(self) -> Relation | None:
        """The first relation; None where none is stated."""
        return self.stated[0].relation if self.stated else None


#: Templates of every relation; {target} and {references[n]} stand for nouns, {side} and {nth} for words.
PHRASINGS: Final[dict[Relation, tuple[str, ...]]] = {
    "above": ("{0} above {1}", "{0} directly above {1}", "{0} over {1}"),
    "below": ("{0} below {1}", "{0} directly below {1}", "{0} under {1}", "{0} underneath {1}"),
    "left_of": ("{0} to the left of {1}", "{0} left of {1}", "{0} on the left of {1}"),
    "right_of": ("{0} to the right of {1}", "{0} right of {1}", "{0} on the right of {1}"),
    "inside": ("{0} inside {1}", "{0} within {1}"),
    "contains": ("{0} that contains {1}", "{0} containing {1}", "{0} around {1}"),
    "between": ("{0} between {1} and {2}",),
    "nearest": ("{0} nearest to {1}", "{0} closest to {1}"),
    "same_row": ("{0} in the same row as {1}", "{0} on the same line as {1}"),
    "same_column": ("{0} in the same column as {1}",),
    "overlapping": ("{0} that overlaps {1}", "{0} overlapping {1}"),
    "nth_in_row": ("{0} in the row", "{0} in the row of {1}"),
    "nth_in_column": ("{0} in the column", "{0} in the column of {1}"),
    "nth_in_list": ("{0} in the list", "{0} in the list {1}"),
    "at_edge": ("{0} at the {side} edge of the page", "{0} on the {side} edge of the screen"),
    "at_corner": ("{0} in the {side} corner of the page", "{0} at the {side} corner of the screen"),
}

_NTH: Final = {
    word: place
    for place, words in enumerate(
        ("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th", "seventh 7th", "eighth 8th",
         "ninth 9th", "tenth 10th", "eleventh 11th", "twelfth 12th"), 1)
    for word in words.split()
} | {"last": -1, "second-to-last": -2, "third-to-last": -3, "fourth-to-last": -4, "fifth-to-last": -5}  # fmt: skip
#: Further ways to count from the end; each becomes one of the words above.
_FROM_THE_END: Final = (
    (
        re.compile(r"\b(?:next[- ]to[- ]last|last but one|penultimate|second[- ](?:to[- ]|from[- ](?:the )?)?last)\b"),
        "second-to-last",
    ),
    (re.compile(r"\b(?:last but two|third[- ](?:to[- ]|from[- ](?:the )?)?last)\b"), "third-to-last"),
    (re.compile(r"\bfourth[- ](?:to[- ]|from[- ](?:the )?)?last\b"), "fourth-to-last"),
    (re.compile(r"\bfifth[- ](?:to[- ]|from[- ](?:the )?)?last\b"), "fifth-to-last"),
)

_PAGES = r"(?:page|screen|window|viewport|picture|screenshot)"
_PAGE = rf"(?: of (?:the )?{_PAGES})?"
_ENDS = r"(?:top|bottom|upper|lower)"
_SIDE = r"(?:top|bottom|left|right|upper|lower)"
#: The wordings of every relation; where two begin at one place the earlier one here wins.
_WORDINGS: Final[dict[Relation, str]] = {
    "at_corner": (
        rf"(?:in|at) the {_SIDE}[- ]{_SIDE}(?:[- ]hand)? corner{_PAGE}(?: of)?"
        rf"|(?:in|at|on) the {_ENDS}[- ](?:left|right)(?:[- ]hand)?(?: side)?(?: of (?:the )?{_PAGES}|(?=[\s,.;]*$))"
    ),
    "at_edge": rf"(?:at|on|along|by) the {_SIDE} (?:edge|border|margin){_PAGE}(?: of)?",
    "same_row": r"(?:in|on) the same (?:row|line) (?:as|with)",
    "same_column": r"in the same column (?:as|with)",
    "nth_in_row": (
        r"(?:from the (?:left|right) )?(?:in|of) the row(?: (?:of|with|containing))?|from the (?:left|right)(?=\s*(?:$|[,.;]|and\b))"
    ),
    "nth_in_column": (
        r"(?:from the (?:top|bottom) )?(?:in|of) the column(?: (?:of|with|containing))?|from the (?:top|bottom)(?=\s*(?:$|[,.;]|and\b))"
    ),
    "nth_in_list": r"(?:in|of) the list(?: (?:of|with|containing))?",
    "left_of": r"(?:(?:to|on|at) the )?left(?:[- ]hand)?(?: side)? of|to the left|left(?= \0)",
    "right_of": r"(?:(?:to|on|at) the )?right(?:[- ]hand)?(?: side)? of|to the right|right(?= \0)",
    "above": r"above|(?<!hover )over(?= (?:the|\0))",
    "below": r"below|beneath|underneath|under",
    "between": r"between",
    "inside": r"inside(?: of)?|within|contained in",
    "contains": r"(?:that|which) contains|containing|around",
    "nearest": r"(?:nearest|closest)(?: to)?|(?:right |directly |immediately )?(?:next|adjacent) to|beside",
    "overlapping": r"(?:that|which) overlaps|overlapping(?: with)?",
}
_STATED = re.compile(
    r"\b(?:" + "|".join(f"(?P<{name}>{wording})" for name, wording in _WORDINGS.items()) + r")(?=[\s,;.]|$)"
)
#: Every wording holds one of these words: a text without any states nothing, and most do.
_HINTS: Final = frozenset([
    "corner", "edge", "border", "margin", "row", "line", "column", "list", "left", "left-hand", "right",
    "right-hand", "above", "over", "below", "beneath", "underneath", "under", "between", "inside", "within",
    "contained", "contains", "containing", "around", "nearest", "closest", "next", "adjacent", "beside", "top",
    "bottom", "upper", "lower", "top-left", "top-right", "bottom-left", "bottom-right", "overlaps",
    "overlapping",
])  # fmt: skip
#: Words between the target and the relation that say nothing of either.
_FILLERS: Final = frozenset([
    "that", "which", "is", "are", "located", "placed", "positioned", "directly", "just", "immediately",
    "right", "standing", "lying",
])  # fmt: skip
#: The mark comes first, so that the search goes from mark to mark; before it stands nothing, a blank or a bracket.
_QUOTES = re.compile(r"['\"‘’“”](?<![^\s(].)(?=\S)(.*?\S)['\"‘’“”](?=$|[\s,.;:)!?])", re.DOTALL)
_JOINT = re.compile(r"(?:,| and| but)+(?: (?:also|is|directly|just))*\s*$")
_ARTICLES: Final = frozenset(("the", "a", "an"))
#: What people say around a request, which names nothing: at its beginning, and at its end.
_POLITE = re.compile(
    r"^\W*(?:(?:please|kindly|okay|ok|hey|now),? |(?:could|can|would|will) you (?:please |kindly )?|let's |go (?:ahead )?and |"
    r"i (?:mean|want|need|would like|am looking for) (?:you to |to )?)+|(?:,? please|, (?:thanks|thank you))+(?=[\s.!?]*$)"
)
_VERB = re.compile(
    r"\W*(?:(?:double|right)[- ])?(?:click|tap|press|select|choose|pick|check|tick|hover|move|type|enter|fill|"
    r"find|locate|point|open|toggle|drag|write|put|uncheck|go)\b(?: \0\d+\0(?= (?:on|onto|in|into|at|from)\b))?"
    r"(?: (?:on|onto|over|at|to|in|into|out|with|from)\b)*"
)


class _Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A noun phrase whose quotes are still open."""

    noun: Annotated[Noun, "all of it but what the quotes hold"]
    quotes: Annotated[tuple[int, ...], "which of the instruction's quotes it holds, in order"] = ()

    def filled(self, quoted: Sequence[str]) -> Noun:
        """The noun with its quotes: the first is its name."""
        noun, quotes = self.noun, self.quotes
        if not quotes:
            return noun
        first, rest = quoted[quotes[0]], noun.rest
        words = f"{first} {noun.words}" if noun.words else first
        if len(quotes) > 1:
            others = [quoted[place] for place in quotes[1:]]
            rest = " ".join([rest, *map(normal, others)]).strip()
            words = " ".join([first, *others, noun.words]).rstrip()
        return Noun(roles=noun.roles, name=normal(first), exact=True, rest=rest, words=words)


class _Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What an instruction states, whatever its quotes hold: many instructions differ in these alone."""

    target: _Shape
    stated: tuple[tuple[Stated, tuple[_Shape, ...]], ...] = ()


#: What stands in the place of an instruction's first quote.
_HOLE: Final = f"\0{0}\0"


@functools.lru_cache(maxsize=4096)
def read(instruction: str) -> Phrase:
    """What an instruction says of where its target is; `relation` is None where it states nothing of the kind.

    "the button left of 'A' and below 'B'" states two relations, which both have to hold.
    """
    parts = _QUOTES.split(instruction[:4000].replace("\0", " "))
    quoted = parts[1::2]
    if len(quoted) == 1:
        draft = _draft(f"{parts[0]}{_HOLE}{parts[2]}")
    else:
        for place in range(len(quoted)):
            parts[2 * place + 1] = f"\0{place}\0"
        draft = _draft("".join(parts))
    target = draft.target.filled(quoted)
    if not draft.stated:
        return Phrase(target=target)
    stated = tuple([_stated_of(*one, quoted) for one in draft.stated])
    if len(stated) == 1:
        return Phrase(target=target, stated=stated, references=stated[0].references)
    return Phrase(target=target, stated=stated, references=tuple([noun for one in stated for noun in one.references]))


def _stated_of(stated: Stated, shapes: Sequence[_Shape], quoted: Sequence[str]) -> Stated:
    nouns = [shape.filled(quoted) for shape in shapes]
    return Stated(
        relation=stated.relation,
        references=tuple([noun for noun in nouns if not noun.empty]),
        nearest=stated.nearest,
        position=stated.position,
        sides=stated.sides,
        beside=stated.beside,
    )


@functools.lru_cache(maxsize=4096)
def _draft(text: str) -> _Draft:
    """What a text states in whose place of quotes stand their numbers."""
    text = _POLITE.sub("", " ".join(text.lower().split()))
    if "last" in text or "penultimate" in text:
        for said, word in _FROM_THE_END:
            text = said.sub(word, text)
    relation, start, end, words = _stated(text)
    target, nearest, position = _target(text[:start])
    stated: list[tuple[Stated, tuple[_Shape, ...]]] = []
    while relation is not None:
        text = text[end:]
        following = _further(text)
        own = text if following is None else text[: following[0]]
        stated.append(_one(relation, own, words, nearest, position))
        nearest, position = False, None
        relation, end, words = following[1:] if following is not None else (None, 0, "")
    return _Draft(target=target, stated=tuple(stated))


def _one(
    relation: Relation, text: str, words: str, nearest: bool, position: int | None
) -> tuple[Stated, tuple[_Shape, ...]]:
    """A relation without its references, and these."""
    parts = text.split(" and ", 1) if relation == "between" else [text]
    stated = Stated(
        relation=relation,
        nearest=nearest and relation != "nearest",
        position=_counted(position, words) if relation.startswith("nth_") else None,
        sides=_sides(words) if relation in ("at_edge", "at_corner") else (),
        beside=relation == "nearest" and words.endswith(("next to", "adjacent to", "beside")),
    )
    return stated, tuple(_noun(part.split()) for part in parts)


def _counted(position: int | None, words: str) -> int | None:
    """A place from the beginning, where it was counted from the right or the bottom."""
    return -position if position is not None and re.search(r"from the (?:right|bottom)", words) else position


def _further(text: str) -> tuple[int, Relation, int, str] | None:
    """Where a reference ends and a second relation begins: its start, name, end and words."""
    if _HINTS.isdisjoint(text.split()):
        return None
    for found in _STATED.finditer(text):
        joint = _JOINT.search(text[: found.start()])
        if joint is not None and found.lastgroup not in ("nearest", None) and not found.lastgroup.startswith("nth_"):
            return joint.start(), cast(Relation, found.lastgroup), found.end(), found[0]
    return None


_NO_MARKS: Final = str.maketrans(",;.", "   ")


def _stated(text: str) -> tuple[Relation | None, int, int, str]:
    """The relation that the text states, where its words begin and end, and the words.

    'The nearest button left of Search' states left of, 'the nearest button to Search' states nearest.
    """
    near: re.Match[str] | None = None
    if _HINTS.isdisjoint(text.translate(_NO_MARKS).split()):
        return None, len(text), len(text), ""
    for found in _STATED.finditer(text):
        name, before = cast(Relation, found.lastgroup), text[: found.start()]
        if (
            name == "nearest"
            and not found[0].endswith((" to", "beside"))
            and before.rstrip().endswith(("the", "a", "an"))
        ):
            near = near or found
        elif not name.startswith("nth_") or _ordinal(before) is not None:
            return name, found.start(), found.end(), found[0]
    if near is None:
        return None, len(text), len(text), ""
    to = text.find(" to ", near.end())
    return ("nearest", to, to + 3, "to") if to > 0 else (None, len(text), len(text), "")


_SIDES: Final[dict[str, Side]] = {
    "top": "top",
    "upper": "top",
    "bottom": "bottom",
    "lower": "bottom",
    "left": "left",
    "right": "right",
}


def _sides(words: str) -> tuple[Side, ...]:
    return tuple(_SIDES[word] for word in words.replace("-", " ").split() if word in _SIDES)


def _ordinal(text: str) -> int | None:
    return next((_NTH[word] for word in reversed(text.split()) if word in _NTH), None)


def _target(text: str) -> tuple[_Shape, bool, int | None]:
    """The thing before the relation, whether the nearest is meant, and its place."""
    verb = _VERB.match(text)
    words = text[verb.end() :].split() if verb is not None else text.split()
    while words and words[-1] in _FILLERS:
        words.pop()
    nearest = "nearest" in words or "closest" in words
    position = next((_NTH[word] for word in reversed(words) if word in _NTH), None)
    if not nearest and position is None:
        return _noun(words), nearest, position
    shape = _noun([word for word in words if word not in _NTH and word not in ("nearest", "closest")])
    if not shape.quotes and shape.noun.name:
        named = msgspec.structs.replace(shape.noun, whole=_noun(words).noun.name)
        shape = msgspec.structs.replace(shape, noun=named)
    return shape, nearest, position


def _noun(words: Sequence[str]) -> _Shape:
    """A noun phrase: quotes are its name, words of a role its role, and what is left names it where nothing else does."""
    quotes: list[int] = []
    others: list[str] = []
    for word in words:
        if "\0" in word:
            quotes.append(int(word[word.index("\0") + 1 : word.rindex("\0")]))
        elif (word not in _ARTICLES or len(words) == 1) and word.strip(".,;!"):
            others.append(word.strip(".,;:!?") or word)
    roles, left = _role(others)
    rest = normal(" ".join(left)) if left else ""
    said = " ".join(others)
    if not quotes:
        return _Shape(noun=Noun(roles=roles, name=rest, words=said))
    return _Shape(noun=Noun(roles=roles, rest=rest, words=said), quotes=tuple(quotes))


def _role(words: Sequence[str]) -> tuple[frozenset[str], list[str]]:
    """The role that the last words say, or the first ones, and the words that are left."""
    for length in (2, 1):
        if len(words) >= length:
            last, first = " ".join(words[-length:]), " ".join(words[:length])
            if last in ROLES:
                return ROLES[last], list(words[:-length])
            if first in ROLES:
                return ROLES[first], list(words[length:])
    if words and words[-1] in ANYTHING:
        return frozenset(), list(words[:-1])
    return frozenset(), list(words)


def write(
    relation: Relation,
    target: str,
    references: Sequence[str] = (),
    *,
    phrasing: int = 0,
    position: int | None = None,
    sides: Sequence[Side] = (),
    nearest: bool = False,
) -> str:
    """A noun phrase that states a relation: "the nearest button to the left of 'Search'".

    `target` is a noun without its article ("button", "'Save' button"), each reference a whole one ("'Search'", "the
    'Search' button"). `phrasing` counts through `PHRASINGS`; those that need as many references as are given take part.
    ValueError where no phrasing does.
    """
    templates = [text for text in PHRASINGS[relation] if _wants(text) == len(references)]
    if not templates:
        raise ValueError(f"no phrasing of {relation} takes {len(references)} references")
    place = "" if position is None else next(word for word, at in _NTH.items() if at == position) + " "
    head = f"the {'nearest ' if nearest else ''}{place}{target}"
    side = "-".join(sorted(sides, key=("top", "bottom", "left", "right").index))
    return templates[phrasing % len(templates)].format(head, *references, side=side)


def _wants(template: str) -> int:
    return sum(f"{{{place}}}" in template for place in (1, 2))
