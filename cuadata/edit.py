"""Folders of recordings edited by id: delete, keep, merge, renumber, annotate. A wrong id changes nothing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from cuadata.building import folders
from cuadata.errors import CallError, DataError
from cuadata.recording import resume
from cuadata.recordings import recording_files, recording_lock
from cuadata.recordings.recording_files import Header, Line
from cuadata.recordings.recording_reader import find, read, read_header
from cuadata.schema import from_json, to_json
from cuadata.types import Outcome, Step

#: Fields of a step that are said about it afterwards; what was observed and done is never changed.
ANNOTATIONS = ("phase", "thought", "effect", "label", "rewards")
_NUMBERED = re.compile(r"(.*?)(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What is in a folder of recordings."""

    ids: Annotated[tuple[str, ...], "in order of their numbers where they have some, else of the alphabet"]
    missing: Annotated[tuple[str, ...], "ids that a gap in the numbers leaves out"] = ()
    problems: Annotated[tuple[str, ...], "one sentence each"] = ()


def index(folder: str | Path) -> dict[str, Path]:
    """Id -> recording. DataError where two have one id, or a header cannot be read."""
    found: dict[str, Path] = {}
    for path in find(folder):
        id = read_header(path).id
        if id in found:
            raise DataError(f"its id '{id}' is also that of {found[id]}", place=str(path))
        found[id] = path
    return found


def pick(folder: str | Path, id: str) -> Path:
    """The recording of this id, never one that merely stands in its place. DataError where there is none."""
    return _all_there(folder, index(folder), [id])[0]


def survey(folder: str | Path, *, stated: int | None = None) -> Survey:
    """The ids in a folder, gaps in their numbers, and whether there are as many as somebody `stated`."""
    ids = sorted(index(folder), key=_order)
    numbers: dict[str, list[int]] = {}
    for id in ids:
        stem, number = _number(id)
        if number is not None:
            numbers.setdefault(stem, []).append(number)
    missing = [
        f"{stem}{n}" for stem, held in numbers.items() for n in range(max(held)) if n not in held and min(held) == 0
    ]
    problems = [f"the numbers leave out {', '.join(missing[:20])}"] if missing else []
    if stated is not None and stated != len(ids):
        problems.append(f"{stated} recordings are stated, {len(ids)} are there")
    return Survey(ids=tuple(ids), missing=tuple(missing), problems=tuple(problems))


def delete(folder: str | Path, ids: Collection[str]) -> list[Path]:
    """Delete recordings; which they were. DataError, with nothing deleted, where an id is missing or one is recorded into."""
    paths = _all_there(folder, index(folder), ids)
    for path in paths:
        _nobody_records(path)
    for path in paths:
        # Renamed first: a recording is there whole or not at all, also where removing its files is interrupted.
        gone = path.with_name(f".{path.name}.{os.getpid()}.deleted")
        os.replace(path, gone)
        shutil.rmtree(gone)
    return paths


def keep(folder: str | Path, ids: Collection[str]) -> list[Path]:
    """Delete all recordings but these; which were deleted. CallError where `ids` is empty; DataError as in `delete`."""
    if not ids:
        raise CallError("no id is given, so that nothing would be left; name what to keep")
    held = index(folder)
    _all_there(folder, held, ids)
    return delete(folder, [id for id in held if id not in set(ids)])


def merge(sources: Sequence[str | Path], out: str | Path, *, force: bool = False) -> dict[str, str]:
    """Copy the recordings of several folders into a new one, in order; `source/id` -> the id there.

    An id that is taken already gets the next number that no recording of any source has. The sources stay as they are.
    DataError where `out` exists and not `force`, or a source cannot be read, CallError where `force` would delete a source;
    then nothing is written.
    """
    target = Path(out)
    if len({Path(source).resolve() for source in sources}) < len(sources):
        raise CallError("a source is named twice; its recordings would be there twice")
    if target.exists() and not force:
        raise DataError("it exists already; name a new folder, or use force to replace it", place=str(target))
    if target.exists():
        folders.spare(target, sources, recordings=False)
    held = [(str(source), id, path) for source in sources for id, path in _sorted(index(source))]
    for _, _, path in held:
        _nobody_records(path)
    renamed = _unique([id for _, id, _ in held])
    half = target.with_name(f".{target.name}.{os.getpid()}.half")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    try:
        for (source, id, path), new in zip(held, renamed, strict=True):
            _copy(path, half / _folder_name(new, half), new, f"merged from {source}, where its id was '{id}'")
        if target.exists():
            shutil.rmtree(target)
        os.replace(half, target)
    except BaseException as error:
        shutil.rmtree(half, ignore_errors=True)
        if isinstance(error, OSError):
            raise recording_files.said(error, str(target), "the recordings cannot be merged") from error
        raise
    return {f"{source}/{id}": new for (source, id, _), new in zip(held, renamed, strict=True)}


def renumber(folder: str | Path) -> dict[str, str]:
    """Close the gaps in numbered ids, each stem for itself: 0, 1, 4, 5 become 0, 1, 2, 3; old id -> new one.

    Ids without a number stay. Safe to interrupt: every new number is free when it is given.
    """
    held = index(folder)
    for path in held.values():
        _nobody_records(path)
    counts: dict[str, int] = {}
    mapping: dict[str, str] = {}
    for id in sorted(held, key=_order):
        stem, number = _number(id)
        if number is None:
            mapping[id] = id
            continue
        mapping[id] = f"{stem}{counts.get(stem, 0)}"
        counts[stem] = counts.get(stem, 0) + 1
    for id, new in mapping.items():
        if new != id:
            _rename(held[id], new, ())
    return mapping


def annotate(path: str | Path, changes: Mapping[int, Mapping[str, Any]]) -> int:
    """Say something about steps of a recording: index -> {phase, thought, effect, label, rewards}; how many changed.

    The whole file is replaced at once. DataError where an index is missing; CallError for another field.
    """
    place = Path(path)
    wrong = sorted({name for change in changes.values() for name in change} - set(ANNOTATIONS))
    if wrong:
        raise CallError(f"{', '.join(wrong)} cannot be changed afterwards; there are: {', '.join(ANNOTATIONS)}")
    recording_lock.take(place)
    try:
        steps = read(place, pictures=False).steps
        missing = sorted(set(changes) - {step.index for step in steps})
        if missing:
            raise DataError(f"there is no step {', '.join(map(str, missing))}", place=str(place))
        file = place / recording_files.STEPS
        texts = file.read_bytes().split(b"\n")
        lines, rest = [from_json(text, Line) for text in texts[: len(steps)]], texts[len(steps) :]
        changed = [replace(line, step=_changed(line.step, changes.get(line.step.index, {}))) for line in lines]
        if changed != lines:
            recording_files.write_whole(file, b"\n".join([*map(to_json, changed), *rest]))
        return sum(one != other for one, other in zip(lines, changed, strict=True))
    except OSError as error:
        raise recording_files.said(error, str(place), "the steps cannot be annotated") from error
    finally:
        recording_lock.release(place)


def close_interrupted(folder: str | Path) -> list[Path]:
    """End every recording that a dead process left open, as interrupted; which they were. Torn lines are cut off."""
    closed = []
    for path in find(folder):
        held = recording_lock.holder(path)
        if held is not None and recording_lock.lives(held) is not False:
            continue
        if not (path / recording_files.OUTCOME).exists():
            resume(path, take_over=True).close(
                Outcome(ended="interrupted", reason=f"left open by {held}" if held else None)
            )
            closed.append(path)
    return closed


def _changed(step: Step, change: Mapping[str, Any]) -> Step:
    changed = replace(step, **change)
    from_json(to_json(changed), Step)  # ValueError that names the field, before anything is written
    return changed


def _all_there(folder: str | Path, held: Mapping[str, Path], ids: Iterable[str]) -> list[Path]:
    wanted = list(dict.fromkeys(ids))
    missing = [id for id in wanted if id not in held]
    if missing:
        there = sorted(held, key=_order)
        some = ", ".join(there[:10]) + (f" and {len(there) - 10} more" if len(there) > 10 else "")
        raise DataError(
            f"no recording has the id {', '.join(map(repr, missing))}; there are: {some}", place=str(folder)
        )
    return [held[id] for id in wanted]


def _nobody_records(path: Path) -> None:
    held = recording_lock.holder(path)
    if held is not None and recording_lock.lives(held) is not False:
        raise DataError(f"{held} is recording into it", place=str(path))


def _copy(path: Path, target: Path, id: str, note: str) -> None:
    shutil.copytree(path, target, ignore=shutil.ignore_patterns(f"{recording_lock.NAME}*", "*.half"))
    _write_header(target, id, (note,))


def _rename(path: Path, id: str, notes: tuple[str, ...]) -> None:
    """Give a recording another id, and its folder the name of the id where it had that of the old one."""
    was_named_so = path.name == _safe(read_header(path).id)
    _write_header(path, id, notes)
    target = path.with_name(_safe(id))
    if was_named_so and not target.exists():
        os.replace(path, target)


def _write_header(path: Path, id: str, notes: tuple[str, ...]) -> None:
    header = read_header(path)
    given = {field.name: getattr(header, field.name) for field in fields(Header)}
    changed = Header(**{**given, "id": id, "notes": (*header.notes, *notes)})
    recording_files.write_whole(path / recording_files.HEADER, to_json(changed))


def _unique(ids: Sequence[str]) -> list[str]:
    """The ids in order, those that were there before replaced by the next free number of their stem."""
    highest: dict[str, int] = {}
    for id in ids:
        stem, number = _number(id)
        highest[stem] = max(highest.get(stem, -1), -1 if number is None else number)
    taken: set[str] = set()
    given = []
    for id in ids:
        new = id
        while new in taken:
            stem, number = _number(id)
            stem = stem if number is not None else f"{id}-"
            highest[stem] = max(highest.get(stem, -1) + 1, 2 if number is None else 0)
            new = f"{stem}{highest[stem]}"
        taken.add(new)
        given.append(new)
    return given


def _number(id: str) -> tuple[str, int | None]:
    """An id as its stem and the number at its end; a number with leading zeros belongs to the stem."""
    match = _NUMBERED.fullmatch(id)
    if match is None or (match[2].startswith("0") and match[2] != "0"):
        return id, None
    return match[1], int(match[2])


def _order(id: str) -> tuple[str, int, str]:
    stem, number = _number(id)
    return stem, -1 if number is None else number, id


def _sorted(held: Mapping[str, Path]) -> list[tuple[str, Path]]:
    return sorted(held.items(), key=lambda item: _order(item[0]))


def _folder_name(id: str, parent: Path) -> str:
    """A name for a recording's folder that is not taken: two ids may differ only in what a folder cannot be named."""
    name = _safe(id)
    number = 2
    while (parent / name).exists():
        name, number = f"{_safe(id)}-{number}", number + 1
    return name


def _safe(id: str) -> str:
    """An id as a folder's name."""
    name = re.sub(r"[^\w.-]+", "-", id).strip(".-")[:80]
    return name or "recording"
