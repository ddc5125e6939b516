"""Files of sets that somebody else made: records in any line ends, pictures found by their exact names, nothing outside.

What cannot be used comes back as a `Problem` with its reason, so that it is counted and never silently left out. A
problem's evidence holds no absolute path: those name people and machines.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from cuadata import image, text_files
from cuadata.errors import DataError
from cuadata.types import Image, Size

#: A record longer than this is no record, characters.
LONGEST: Final = 64 * 1024 * 1024
_ABSOLUTE = re.compile(r"^(?:[A-Za-z]:|/|\\|file:|~)", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
_DEVICES: Final = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something of a set cannot be used."""

    reason: Annotated[str, "a word of `cuadata.reasons`"]
    evidence: Annotated[dict[str, Any], "what was found; no absolute path"] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """As it stands in the notes of an observation: the reason, then what was found."""
        return f"{self.reason}: {json.dumps(self.evidence, ensure_ascii=True)}"


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every record of a JSON Lines file or of a JSON list, with its place (file:line, or file#position).

    A byte-order mark, CRLF, blank lines and UTF-16 are read as they are meant. DataError, with the place, for text that is
    neither, and for a record that is no object.
    """
    text = _text(path)
    if text.lstrip()[:1] == "[":
        yield from _listed(text, path)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"{path.name}:{number}"
            yield place, _object(_parsed(line, place), place)


def _text(path: Path) -> str:
    data = path.read_bytes()
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start} is no {encoding[:6]} text; save the file as UTF-8", place=path.name
        ) from error


def _parsed(text: str, place: str) -> Any:
    if len(text) > LONGEST:
        raise DataError(f"a record of {len(text)} characters; at most {LONGEST} are read", place=place)
    try:
        return text_files.json_value(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is no JSON: {error}", place=place) from error


def _listed(text: str, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    held = _parsed(text, path.name)
    for number, record in enumerate(held):
        place = f"{path.name}#{number}"
        yield place, _object(record, place)


def _object(record: Any, place: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"wanted an object, got {record!r:.60}", place=place)
    return record


def find(folder: Path, name: Any) -> Path | Problem:
    """A file of a set by the name that a record gives it.

    Backslashes are separators. An absolute name, a drive, `..` or a link that leads out of the folder is
    path_outside_set; a name that no file has exactly, letter case included, is missing_file. Composed and decomposed
    letters are one name: archives made elsewhere change them.
    """
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        return Problem(reason="missing_file", evidence={"name": _shown(name)})
    if name.lower().startswith(("http:", "https:", "data:")):
        return Problem(
            reason="missing_file", evidence={"name": _shown(name), "why": "an address, not a file of the set"}
        )
    if _ABSOLUTE.match(name):
        return Problem(reason="path_outside_set", evidence={"name": _shown(name), "why": "an absolute path"})
    found = folder
    for part in PurePosixPath(name.replace("\\", "/")).parts:
        if part == "..":
            return Problem(reason="path_outside_set", evidence={"name": _shown(name), "why": "it leads upwards"})
        step = _exact(found, part)
        if isinstance(step, Problem):
            return step
        found = step
    if not found.resolve().is_relative_to(folder.resolve()):
        return Problem(reason="path_outside_set", evidence={"name": _shown(name), "why": "a link that leads out"})
    return found if found.is_file() else Problem(reason="missing_file", evidence={"name": _shown(name)})


def _exact(folder: Path, part: str) -> Path | Problem:
    """The entry of a folder with exactly this name, on file systems that fold case too."""
    try:
        names = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    except OSError:
        names = []
    if part in names:
        return folder / part
    composed = unicodedata.normalize("NFC", part)
    same = [one for one in names if unicodedata.normalize("NFC", one) == composed]
    if len(same) == 1:
        return folder / same[0]
    near = [one for one in names if one.casefold() == part.casefold()]
    return Problem(reason="missing_file", evidence={"name": part, **({"there_is": near[0]} if near else {})})


def _shown(name: Any) -> str:
    """A name for evidence: relative names whole, of absolute ones the last part only."""
    if not isinstance(name, str):
        return repr(name)[:60]
    if _ABSOLUTE.match(name) or ".." in name:
        return re.split(r"[\\/]", name)[-1][:200]
    return name[:200]


def picture(folder: Path, name: Any, stated: Size | None = None) -> Image | Problem:
    """A picture of a set, checked: it is there under this exact name, decodes, and has the size that its record states."""
    path = find(folder, name)
    if isinstance(path, Problem):
        return path
    try:
        found = image.from_file(path)
    except image.BadImage as error:
        return Problem(reason="screenshot_undecodable", evidence={"name": _shown(name), "why": str(error)})
    except OSError as error:
        return Problem(reason="missing_file", evidence={"name": _shown(name), "why": error.strerror or "unreadable"})
    if stated is not None and (found.width, found.height) != (stated.width, stated.height):
        sizes: dict[str, Any] = {"stated": [stated.width, stated.height], "picture": [found.width, found.height]}
        if (found.height, found.width) == (stated.width, stated.height) and image.is_turned(path.read_bytes()):
            sizes["turned"] = "the picture says that it lies on its side: its boxes have to be those of the upright one"
        return Problem(reason="screenshot_size_mismatch", evidence={"name": _shown(name), **sizes})
    return found


def safe_name(name: str) -> str:
    """A relative name that every file system takes: no < > : " | ? * or backslash, no device, no dot or blank at an end.

    Separators become `/`; what leads out of a folder is left out. Two names may become one: it is the caller's to see.
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if parts and re.fullmatch(r"[A-Za-z]:", parts[0]):
        parts = parts[1:]
    return "/".join(map(_safe_part, parts)) or "_"


def _safe_part(part: str) -> str:
    cleaned = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", part)).rstrip(". ").lstrip(" ") or "_"
    return f"_{cleaned}" if cleaned.split(".")[0].lower() in _DEVICES else cleaned
