"""What a build is made from: the pieces of its sources, and their hashes."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata.errors import CallError, DataError
from cuadata.registry import sources
from cuadata.types import Trajectory

#: Files below this folder are named by their own sha256, which reading them checks.
_NAMED_BY_HASH = "blobs"
_NO_DATA = frozenset({"lock", ".DS_Store"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a source that is read by itself."""

    number: Annotated[int, "place among all pieces of the build"]
    source: Annotated[str, "name in the registry, with its options: see `reader`"]
    path: Annotated[str, "what the source is called with"]
    name: Annotated[str, "how the card, the manifest and messages name it: without the folders above the input"]
    alone: Annotated[bool, "whether it holds one trajectory, so that its name says which"] = False


def parts(asked: Sequence[tuple[str, Path | str]]) -> list[Part]:
    """The pieces of all sources, in the order of the sources and of what they find. CallError and DataError in words."""
    if not asked:
        raise CallError("no source is named; give one, such as recordings")
    found: list[Part] = []
    for source, given in asked:
        reader(source)
        path = Path(given)
        if not path.exists():
            raise CallError(f"{path} is not there; give the path of what source {source} is to read")
        find = getattr(sources[_name_of(source)], "parts", None)
        pieces = [Path(p) for p in find(path)] if find is not None else [path]
        if not pieces:
            raise DataError(f"source {source} finds nothing in it", place=str(path))
        for piece in pieces:
            name = _name(path, piece)
            found.append(Part(number=len(found), source=source, path=str(piece), name=name, alone=find is not None))
    return found


def reader(asked: str) -> Callable[[Path], Iterator[Trajectory]]:
    """The source that is asked for as NAME or NAME:option=value; the values are texts, as in annotated:convention=xywh_px.

    CallError for a source and an option that there are not.
    """
    name = _name_of(asked)
    if name not in sources:
        raise CallError(f"no source is named '{name}'; there are: {', '.join(sources.names()) or 'none'}")
    source: Any = sources[name]
    known = [p.name for p in inspect.signature(source).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
    options: dict[str, str] = {}
    for setting in asked.split(":")[1:]:
        option, _, value = setting.partition("=")
        if option not in known:
            raise CallError(f"source {name} has no option '{option}'; there are: {', '.join(known) or 'none'}")
        options[option] = value
    return functools.partial(source, **options)


def _name_of(asked: str) -> str:
    return asked.partition(":")[0]


def _name(path: Path, piece: Path) -> str:
    """The input's own name and the way down from it: the same wherever the input lies."""
    whole = Path(os.path.abspath(path))
    below = os.path.relpath(os.path.abspath(piece), whole)
    return whole.name if below == "." else f"{whole.name}/{Path(below).as_posix()}"


def sha256(path: Path) -> str:
    """Hash of a file, or of all files of a folder with their names. Blobs are left out: what names them is hashed."""
    if path.is_file():
        return _hash_file(path)
    held = hashlib.sha256()
    for folder, below, files in os.walk(path):
        below[:] = sorted(name for name in below if name != _NAMED_BY_HASH)
        for name in sorted(set(files) - _NO_DATA):
            file = Path(folder, name)
            held.update(f"{file.relative_to(path).as_posix()} {_hash_file(file)}\n".encode())
    return held.hexdigest()


def _hash_file(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise DataError("it is no regular file; a pipe or a device never ends", place=str(path))
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def code_hash(source: str) -> str:
    """Hash of the file that reads a source."""
    file = inspect.getsourcefile(inspect.unwrap(sources[_name_of(source)]))
    return _hash_file(Path(file)) if file else ""
