"""Secrets and personal data in the rows of a dataset: where they stand and of which kind, never what they are."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any

from cuadata import privacy
from cuadata.rows import Example
from cuadata.types import Image

#: Columns that only name things of the build itself.
_NAMES = frozenset(("id", "trajectory_id", "split_group", "pair_id", "sha256", "phash", "colours", "seed_block"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitive:
    """A secret or personal datum in a row."""

    kind: Annotated[privacy.Kind, "what it is"]
    place: Annotated[str, "column, as target.name"]
    text: Annotated[str, "the thing itself: never to be shown or written"] = field(repr=False)


def in_example(example: Example) -> list[Sensitive]:
    """What is found in an example; its picture is not looked at."""
    return list(in_row(_plain(example)))


def in_row(row: Mapping[str, Any]) -> Iterator[Sensitive]:
    """What is found in a row as Parquet holds it; what is typed into a secret's field comes first."""
    typed = typed_secret(row)
    if typed:
        yield Sensitive(kind="password", place="action.text", text=typed)
    for place, text in strings(row):
        if typed and place == "action.text":
            continue
        for found in privacy.find(text):
            yield Sensitive(kind=found.kind, place=place, text=found.text)


def strings(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a row with its column, as `target.name`, but for those that only name things of the build."""
    if isinstance(value, str):
        if not names_only(place.rpartition(".")[2]):
            yield place, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from strings(one, f"{place}.{name}" if place else str(name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from strings(one, place)


def names_only(column: str) -> bool:
    """Whether a column only names things of the build itself."""
    return column in _NAMES


def typed_secret(row: Mapping[str, Any]) -> str | None:
    """What an action types into a field for a secret; None where it types none, or only a mask.

    Pages that were made from a seed have made-up secrets: their rows name the block of seeds.
    """
    action, target = row.get("action"), row.get("target")
    if not isinstance(action, Mapping) or not isinstance(target, Mapping) or action.get("type") != "type":
        return None
    text: str = action.get("text") or ""
    if not text or row.get("seed_block") or privacy.is_masked(text):
        return None
    locator = target.get("locator")
    words = [target.get("name"), target.get("text"), locator.get("css") if isinstance(locator, Mapping) else None]
    return text if privacy.asks_for_secret(*words) else None


def _plain(value: Any) -> Any:
    """A dataclass as dicts and lists, without its pictures."""
    if is_dataclass(value) and not isinstance(value, type):
        held = ((name, getattr(value, name)) for name in _field_names(type(value)))
        return {name: _plain(one) for name, one in held if not isinstance(one, Image)}
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


@functools.cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))
