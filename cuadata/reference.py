"""Tables of fields for the docs, written from the types, so that docs and types cannot say different things."""

from __future__ import annotations

import re
import typing
from dataclasses import is_dataclass

from cuadata import rows, types
from cuadata.errors import DataError
from cuadata.recordings import recording_files, recording_lock
from cuadata.schema import columns

_BLOCK = re.compile(r"<!-- fields of (\w+)(?: beyond (\w+))? -->\n.*?<!-- end -->", re.DOTALL)
_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", bytes: "bytes"}


def kinds() -> dict[str, type]:
    """Every record that can be written about, by its name."""
    found: dict[str, type] = {}
    for module in (types, rows, recording_files, recording_lock):
        found |= {name: kind for name, kind in vars(module).items() if isinstance(kind, type) and is_dataclass(kind)}
    return found


def table(kind: type, beyond: type | None = None) -> str:
    """The fields of a record as a Markdown table: name, form, and the note that says unit or meaning.

    `beyond`: leave out the fields that this record has too.
    """
    lines = ["| field | form | meaning |", "|---|---|---|"]
    known = set() if beyond is None else {column.name for column in columns(beyond)}
    for column in columns(kind):
        if column.name in known:
            continue
        form = _form(column.hint) + (" or null" if column.optional else "")
        must = "" if not column.required else " (always there)"
        note = column.note.replace("|", "\\|")
        lines.append(f"| `{column.name}` | {form} | {note}{must} |")
    return "\n".join(lines)


def fill(text: str) -> str:
    """A Markdown text with the table between `<!-- fields of NAME -->` and `<!-- end -->` written anew.

    `<!-- fields of NAME beyond OTHER -->` leaves out the fields that OTHER has too. DataError where a name is none of a record's.
    """
    known = kinds()

    def one(match: re.Match[str]) -> str:
        for name in filter(None, match.groups()):
            if name not in known:
                raise DataError(f"no record is named {name}; there are: {', '.join(sorted(known))}")
        head = match[0].partition("\n")[0]
        return f"{head}\n{table(known[match[1]], known.get(match[2] or ''))}\n<!-- end -->"

    return _BLOCK.sub(one, text)


def _form(hint: typing.Any) -> str:
    """A type in words."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(f"`{value}`" for value in typing.get_args(hint))
    if origin in (tuple, list):
        return f"list of {_form(typing.get_args(hint)[0])}"
    return _PLAIN.get(hint) or f"[{hint.__name__}](#{hint.__name__.lower()})"
