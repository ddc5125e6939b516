"""From the types to everything that describes data: Hugging Face Features, Arrow, JSON Schema, rows and JSON, and back.

The dataclasses of `cuadata.types` and `cuadata.rows` are the only definition. Any other dataclass of str, int, float,
bool, bytes, Literal, tuples, nested dataclasses and `T | None` works as well.
"""

from __future__ import annotations

import functools
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, TypeVar

import msgspec

from cuadata import rows
from cuadata import types as nouns
from cuadata.types import SCHEMA_VERSION, Image

T = TypeVar("T")
_ARROW = {str: "string", int: "int64", float: "float64", bool: "bool", bytes: "binary"}
_JSON = {str: "string", int: "integer", float: "number", bool: "boolean", bytes: "string"}
#: The types that have a file in schemas/.
PUBLISHED = (
    "Trajectory",
    "Task",
    "Example",
    "Verdict",
    "Chunk",
    "Grounding",
    "Pair",
    "Transition",
    "Recovery",
    "Mixed",
    "Rejected",
)


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a dataclass as its annotation describes it."""

    name: str
    hint: Any  # bare type, without Annotated and without None
    note: str
    optional: bool
    required: bool


@functools.cache
def columns(kind: type) -> tuple[Column, ...]:
    """The fields of a dataclass, in order. TypeError where a hint has no form in Arrow."""
    if not is_dataclass(kind):
        raise TypeError(f"{kind!r} is no dataclass; rows are dataclasses such as cuadata.rows.Example")
    hints = typing.get_type_hints(kind, include_extras=True)
    found = []
    for field in fields(kind):
        bare, note, optional = _split(hints[field.name])
        required = field.default is MISSING and field.default_factory is MISSING
        found.append(Column(field.name, bare, note, optional, required))
    return tuple(found)


@functools.cache
def pictures(kind: type) -> tuple[str, ...]:
    """Names of the fields of a dataclass that are pictures, in order."""
    return tuple(column.name for column in columns(kind) if column.hint is Image)


def _split(hint: Any) -> tuple[Any, str, bool]:
    """A hint as bare type, note, and whether it may be None."""
    note, optional = "", False
    while True:
        origin = typing.get_origin(hint)
        if origin is typing.Annotated:
            hint, *notes = typing.get_args(hint)
            note = note or next((n for n in notes if isinstance(n, str)), "")
        elif origin in (typing.Union, types.UnionType):
            bare = [a for a in typing.get_args(hint) if a is not type(None)]
            if len(bare) != 1:
                raise TypeError(f"{hint} has no column type; only `T | None` unions have one")
            hint, optional = bare[0], True
        else:
            return hint, note, optional


def features(kind: type) -> Any:
    """`datasets.Features` of a dataclass; its `.arrow_schema` is the Arrow schema with the Hub's metadata."""
    from datasets import Features

    return Features({c.name: _feature(c.hint) for c in columns(kind)})


def _feature(hint: Any) -> Any:
    from datasets import Image as ImageFeature
    from datasets import List, Value

    bare, _, _ = _split(hint)
    if bare is Image:
        return ImageFeature()
    if is_dataclass(bare):
        return {c.name: _feature(c.hint) for c in columns(typing.cast(type, bare))}
    origin = typing.get_origin(bare)
    if origin in (tuple, list):
        return List(_feature(typing.get_args(bare)[0]))
    return Value(_value_type(bare))


def arrow_schema(kind: type) -> Any:
    """The `pyarrow.Schema` of a dataclass, with the metadata that lets `datasets` restore pictures.

    It equals `features(kind).arrow_schema`, held by a test, without the second and the 100 MB that `datasets` takes.
    """
    import pyarrow as pa

    fields = [pa.field(c.name, _arrow(c.hint)) for c in columns(kind)]
    told = {"info": {"features": {c.name: _described(c.hint) for c in columns(kind)}}}
    return pa.schema(fields, metadata={"huggingface": json.dumps(told)})


def _arrow(hint: Any) -> Any:
    """The Arrow type of a hint."""
    import pyarrow as pa

    bare, _, _ = _split(hint)
    if bare is Image:
        return pa.struct({"bytes": pa.binary(), "path": pa.string()})
    if is_dataclass(bare):
        return pa.struct({c.name: _arrow(c.hint) for c in columns(typing.cast(type, bare))})
    if typing.get_origin(bare) in (tuple, list):
        return pa.list_(_arrow(typing.get_args(bare)[0]))
    return pa.type_for_alias(_value_type(bare))


def _described(hint: Any) -> dict[str, Any]:
    """A hint as the Hub writes its feature down."""
    bare, _, _ = _split(hint)
    if bare is Image:
        return {"_type": "Image"}
    if is_dataclass(bare):
        return {c.name: _described(c.hint) for c in columns(typing.cast(type, bare))}
    if typing.get_origin(bare) in (tuple, list):
        return {"feature": _described(typing.get_args(bare)[0]), "_type": "List"}
    return {"dtype": _value_type(bare), "_type": "Value"}


def _value_type(bare: Any) -> str:
    """The name of a plain value's type, the same for Arrow and the Hub."""
    if typing.get_origin(bare) is typing.Literal:
        return "string"
    if bare in _ARROW:
        return _ARROW[bare]
    raise TypeError(
        f"{bare!r} has no column type; there are: str, int, float, bool, bytes, Literal, tuples, dataclasses"
    )


def json_schema(kind: type) -> dict[str, Any]:
    """JSON Schema 2020-12 of a dataclass; notes become descriptions, fields with a default are not required."""
    definitions: dict[str, Any] = {}
    body = _json_object(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"cuadata/{kind.__name__.lower()}/{SCHEMA_VERSION}",
        "title": kind.__name__,
        **body,
        "$defs": dict(sorted(definitions.items())),
    }


def _json_object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for column in columns(kind):
        form = _json_form(column.hint, definitions)
        if column.optional:
            form = {"anyOf": [form, {"type": "null"}]}
        properties[column.name] = {**form, "description": column.note} if column.note else form
    return {
        "description": " ".join((kind.__doc__ or "").split("\n\n")[0].split()),
        "type": "object",
        "properties": properties,
        "required": [c.name for c in columns(kind) if c.required],
        "additionalProperties": False,
    }


def _json_form(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    bare, _, optional = _split(hint)
    if optional:
        return {"anyOf": [_json_form(bare, definitions), {"type": "null"}]}
    if is_dataclass(bare):
        name = typing.cast(type, bare).__name__
        if name not in definitions:
            definitions[name] = {}  # holds the place, so that a type may hold itself
            definitions[name] = _json_object(typing.cast(type, bare), definitions)
        return {"$ref": f"#/$defs/{name}"}
    origin = typing.get_origin(bare)
    if origin in (tuple, list):
        return {"type": "array", "items": _json_form(typing.get_args(bare)[0], definitions)}
    if origin is typing.Literal:
        return {"enum": list(typing.get_args(bare))}
    if bare in _JSON:
        extra = {"contentEncoding": "base64"} if bare is bytes else {}
        return {"type": _JSON[bare], **extra}
    raise TypeError(f"{bare!r} has no JSON form")


def published() -> dict[str, dict[str, Any]]:
    """Every schema that stands in schemas/, by file stem."""
    found = {**vars(nouns), **vars(rows)}
    return {name.lower(): json_schema(found[name]) for name in PUBLISHED}


def to_json(value: Any) -> bytes:
    """A dataclass as one line of JSON, fields in declared order. NaN and infinities are refused: ValueError.

    Half of a surrogate pair, which scripts leave where they cut an emoji, is no text: it becomes U+FFFD.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended(msgspec.to_builtins(value)))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mended(key): _mended(held) for key, held in value.items()}
    return [_mended(held) for held in value] if isinstance(value, list | tuple) else value


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def from_json(line: bytes | str, kind: type[T]) -> T:
    """A dataclass from JSON. ValueError that names the place: `Expected float, got str - at $.bbox.x`."""
    try:
        return typing.cast(T, _decoder(typing.cast(Any, kind)).decode(line))
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        choices = _choices(kind, str(error)) if "Invalid enum value" in str(error) else ()
        wanted = f"; wanted one of {', '.join(map(str, choices))}" if choices else ""
        raise ValueError(f"no {getattr(kind, '__name__', kind)}: {error}{wanted}") from error


def _choices(kind: Any, words: str) -> tuple[Any, ...]:
    """What may stand at the place that an error names as `$.step.action.type`; none where that is no plain path."""
    for name in words.rpartition("`$")[2].rstrip("`").split(".")[1:]:
        if not is_dataclass(kind):
            return ()
        column = next((c for c in columns(typing.cast(Any, kind)) if c.name == name.partition("[")[0]), None)
        kind = None if column is None else typing.get_args(column.hint)[0] if "[" in name else column.hint
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


def to_row(value: Any) -> dict[str, Any]:
    """A dataclass as plain dicts and lists, as Arrow takes it; pictures become `{bytes, path}`.

    Pictures on disk are read and checked against their sha256: ValueError where they are others, OSError where they are
    not there.
    """
    return {c.name: _plain(getattr(value, c.name)) for c in columns(typing.cast(Any, type(value)))}


def _plain(value: Any) -> Any:
    if isinstance(value, Image):
        from cuadata import image

        data = image.read(value)
        return {"bytes": data, "path": f"{value.sha256}.{value.format}"}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if is_dataclass(value):
        return to_row(value)
    return value


def from_row(row: Mapping[str, Any], kind: type[T]) -> T:
    """A dataclass from a row of dicts and lists; missing fields take their defaults, whole numbers become floats.

    A picture may be `{bytes, path}` as in Parquet, plain bytes, or a path. ValueError that names the field otherwise.
    """
    return typing.cast(T, _build(row, kind, kind.__name__))


def from_stored(row: Mapping[str, Any], kind: type[T]) -> T:
    """A dataclass from a row that stood in a file, which may be anybody's: as `from_row`, but pictures are bytes."""
    return typing.cast(T, _build(row, kind, kind.__name__, stored=True))


def _build(value: Any, hint: Any, place: str, *, stored: bool = False) -> Any:
    bare, _, optional = _split(hint)
    if value is None:
        if optional:
            return None
        raise ValueError(f"{place}: wanted {_say(bare)}, got nothing")
    if bare is Image:
        from cuadata import image

        return image.from_any(value, place, files=not stored)
    if is_dataclass(bare):
        return _build_object(value, typing.cast(type, bare), place, stored)
    origin = typing.get_origin(bare)
    if origin in (tuple, list):
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise ValueError(f"{place}: wanted a list, got {value!r:.80}")
        inner = typing.get_args(bare)[0]
        built = (_build(v, inner, f"{place}[{i}]", stored=stored) for i, v in enumerate(value))
        return tuple(built) if origin is tuple else list(built)
    if origin is typing.Literal:
        if value not in typing.get_args(bare):
            raise ValueError(f"{place}: {value!r:.80} is not one of {', '.join(map(str, typing.get_args(bare)))}")
        return value
    return _scalar(value, bare, place)


def _build_object(value: Any, kind: type, place: str, stored: bool) -> Any:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"{place}: wanted {kind.__name__}, got {value!r:.80}")
    known = {c.name: c for c in columns(kind)}
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise ValueError(f"{place}: no field is named {', '.join(map(repr, unknown))}; there are: {', '.join(known)}")
    given: dict[str, Any] = {}
    for name, column in known.items():
        if name not in value or (value[name] is None and not column.optional and not column.required):
            if column.required and not column.optional:
                raise ValueError(f"{place}.{name} is missing")
            if column.required:
                given[name] = None
            continue
        given[name] = (
            None
            if value[name] is None and column.optional
            else _build(value[name], column.hint, f"{place}.{name}", stored=stored)
        )
    return kind(**given)


def _scalar(value: Any, bare: Any, place: str) -> Any:
    if bare is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # numpy scalars
        value = typing.cast(Any, value).item()
    if type(value) is not bare:
        raise ValueError(f"{place}: wanted {_say(bare)}, got {value!r:.80}")
    return value


def _say(bare: Any) -> str:
    return getattr(bare, "__name__", str(bare))
