"""Names from data as a terminal may be shown them: pages and files of others do not write on it."""

from __future__ import annotations

import unicodedata

#: Marks that turn the direction of all that follows on a line, so that a name may read as another.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plainly(text: str, *, lines: bool = False) -> str:
    r"""A text with its control characters and marks of direction written out: `\x1b`, `\u202e`.

    `lines`: line ends and tabs stay.
    """
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    return "".join(c if c in kept or not _acts(c) else c.encode("unicode_escape").decode() for c in text)


def _acts(character: str) -> bool:
    return character in _TURNS or unicodedata.category(character) == "Cc"
