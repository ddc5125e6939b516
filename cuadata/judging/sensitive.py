"""Secrets and personal data in the rows of a dataset: where they stand and of which kind, never what they are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cuadata import privacy
from cuadata.rows import Example
from cuadata.types import Image

#: Columns that only name things of the build itself.
_NAMES = frozenset(("id", "trajectory_id", "split_group", "pair_id", "sha256", "phash", "colours", "seed_block"))
#: Kinds that show by the word or the field beside them alone: on a page that was made from a seed they are made up too.
_BY_WORD = ("password", "one_time_code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitive:
    """A secret or personal datum in a row."""

    kind: Annotated[privacy.Kind, "what it is"]
    place: Annotated[str, "column, as target.name"]
    text: Annotated[str, "the thing itself: never to be shown or written"] = field(repr=False)


def in_example(example: Example) -> list[Sensitive]:
    """What is found in an example; its picture is not looked at."""
    if example.action.type == "type" and _types_a_secret(example):
        return list(in_row(_plain(example)))
    try:
        new = _all_texts(example) - _clean
        together = "\n".join(new)
    except (AttributeError, TypeError):  # it has no target, say, or something else stands where a text should
        new = {text for _, text in _texts(example, "")} - _clean
        together = "\n".join(new)
    if privacy.surely_none(together):
        _remember(new, len(together))
        return []
    made_up = _made_up(example.seed_block)
    return [
        Sensitive(kind=found.kind, place=place, text=found.text)
        for place, text in _texts(example, "")
        if text not in _clean
        for found in _found(text)
        if found.kind not in made_up
    ]


def _types_a_secret(example: Example) -> bool:
    """Whether its action types a text into a field for a secret; see `typed_secret`."""
    action, target = example.action, example.target
    if target is None:
        return False
    way = {"css": target.locator.css} if target.locator is not None else None
    named = {"name": target.name, "text": target.text, "locator": way}
    row = {"action": {"type": action.type, "text": action.text}, "target": named, "seed_block": example.seed_block}
    return typed_secret(row) is not None


def _all_texts(record: Any) -> set[str]:
    """The texts of `_texts`, without their columns. AttributeError or TypeError for a record with gaps in it."""
    kind: Any = type(record)
    texts, others = _readers(kind)
    found = {*texts(record)}
    for held in others(record):
        if held:
            for one in held:
                if isinstance(one, str):
                    found.add(one)
                else:
                    found |= _all_texts(one)
    found.discard(None)
    return found


_Values = Callable[[Any], Iterable[Any]]


@functools.cache
def _readers(kind: type) -> tuple[_Values, _Values]:
    """What takes from a record of this type all single texts, those of the records in it among them, and all tuples."""
    paths = list(_paths(kind))
    return _values([path for path, text in paths if text]), _values([path for path, text in paths if not text])


def _paths(kind: type, before: str = "") -> Iterator[tuple[str, bool]]:
    """The way to each value of `_text_fields`, and whether it is one text or None."""
    hints = get_type_hints(kind)
    for name in _text_fields(kind):
        held = {*(get_args(hints[name]) or [hints[name]])} - {type(None)}
        only = held.pop() if len(held) == 1 else None
        if isinstance(only, type) and is_dataclass(only):
            yield from _paths(only, f"{before}{name}.")
        else:
            yield f"{before}{name}", only is str


def _values(paths: Sequence[str]) -> _Values:
    if len(paths) > 1:
        return operator.attrgetter(*paths)
    return lambda record: [operator.attrgetter(path)(record) for path in paths]


def _made_up(seed_block: str | None) -> tuple[str, ...]:
    """Kinds that are not looked for: on a page that was made from a seed, passwords and codes are made up too."""
    return _BY_WORD if seed_block else ()


#: Addresses, selectors and names stand in row after row: texts in which nothing is found are remembered, while they are few.
_clean: set[str] = set()
#: How many texts are remembered, and how long those of one row may be together, characters.
_MOST_CLEAN, _LONGEST_CLEAN = 16384, 4096


def _remember(texts: Collection[str], length: int) -> None:
    if length > _LONGEST_CLEAN:
        return
    if len(_clean) > _MOST_CLEAN:
        _clean.clear()
    _clean.update(texts)


def _found(text: str) -> tuple[privacy.Finding, ...]:
    if privacy.surely_none(text):
        _remember([text], len(text))
        return ()
    return privacy.find(text)


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """As `strings`, of a record and without making dicts of it."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, tuple):
        for one in value:
            yield from _texts(one, place)
    elif value is not None:
        for name in _text_fields(type(value)):
            held = getattr(value, name)
            if held:
                yield from _texts(held, f"{place}.{name}" if place else name)


_fields_with_text: dict[type, tuple[str, ...]] = {Image: ()}


def _text_fields(kind: type) -> tuple[str, ...]:
    """Fields of a record that can hold text of the page or of a person; none for what is no record."""
    found = _fields_with_text.get(kind)
    if found is None:
        hints = get_type_hints(kind) if is_dataclass(kind) else {}
        found = tuple(name for name, hint in hints.items() if not names_only(name) and _holds_text(hint))
        _fields_with_text[kind] = found
    return found


def _holds_text(hint: Any) -> bool:
    if isinstance(hint, type) and is_dataclass(hint):
        return bool(_text_fields(hint))
    return hint is str or (get_origin(hint) is not Literal and any(map(_holds_text, get_args(hint))))


def in_row(row: Mapping[str, Any]) -> Iterator[Sensitive]:
    """What is found in a row as Parquet holds it; what is typed into a secret's field comes first.

    Of pages that were made from a seed, whose rows name the block of seeds, passwords and codes are not looked for.
    """
    typed = typed_secret(row)
    if typed:
        yield Sensitive(kind="password", place="action.text", text=typed)
    for place, text in strings(row):
        if typed and place == "action.text":
            continue
        for found in in_text(text, row):
            yield Sensitive(kind=found.kind, place=place, text=found.text)


def in_text(text: str, row: Mapping[str, Any]) -> Iterator[privacy.Finding]:
    """What is found in a text that a row shows outside of its columns: in its picture."""
    made_up = _made_up(row.get("seed_block"))
    return (one for one in privacy.find(text) if one.kind not in made_up)


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
