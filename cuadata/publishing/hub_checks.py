"""Whether a dataset may go out: secrets, licences, evaluation sets, splits that leak. What cannot be checked stops it too."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import dataset, privacy, schema, text_files
from cuadata.building import card, manifest
from cuadata.errors import CallError, DataError
from cuadata.judging import sensitive
from cuadata.judging.judging import against
from cuadata.publishing import hub_plan, ocr
from cuadata.registry import gates
from cuadata.rows import CONFIGS, Candidate, Example
from cuadata.types import Action, Image

#: Changes where the checks do: what passed earlier ones is checked again.
RULES: Final = "2"
#: Kinds of findings beside those of `privacy`.
KINDS: Final = {
    "benchmark_leak": "rows of a public evaluation set",
    "licence_restricted": "rows whose licence forbids to pass them on or to use them freely",
    "licence_missing": "a public dataset without a licence on its card",
    "split_leak": "splits that share a trajectory, a site, a template, a block of seeds or a near-duplicate picture",
}
#: Column of the rows that a word of the manifest's `kept_together` means.
_COLUMNS = {"trajectory": "trajectory_id"}
_BROKEN: Final = "its `splits` hold as `{}` not {}, but {!r}; build the dataset again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Findings of one kind in one place."""

    kind: Annotated[str, "a kind of `privacy.KINDS` or KINDS"]
    place: Annotated[str, "config/split and column"]
    count: Annotated[int, "how many"]
    first: Annotated[str, "id of the first row; empty where it is no row's"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the checks found."""

    problems: Annotated[tuple[Problem, ...], "what stops the publication"]
    allowed: Annotated[tuple[Problem, ...], "what was found and is allowed"] = ()
    unchecked: Annotated[tuple[str, ...], "what was not looked at, and why"] = ()

    def refuse(self) -> None:
        """DataError that lists what stops the publication; the secrets themselves are not repeated."""
        if not self.problems:
            return
        listed = "; ".join(
            f"{one.kind} ({_MEANS[one.kind]}): {one.count} in {one.place}{f', first {one.first}' if one.first else ''}"
            for one in self.problems[:8]
        )
        more = f"; and {len(self.problems) - 8} more" if len(self.problems) > 8 else ""
        raise DataError(
            f"nothing was uploaded: {listed}{more}. Remove the rows, redact them (--redact OUT), "
            "or say that a kind may go out: --allow KIND"
        )


_MEANS: Final[Mapping[str, str]] = {**privacy.KINDS, **KINDS}


def check(
    folder: Path,
    *,
    public: bool,
    allow: Collection[str] = (),
    progress: Callable[[str, int, int], None] = lambda what, done, of: None,
) -> Findings:
    """Look at every row of every config and at the card. CallError for a kind in `allow` that there is not.

    DataError where something that has to be checked cannot be read.
    """
    for kind in allow:
        if kind not in _MEANS:
            raise CallError(f"'{kind}' is no kind of finding; there are: {', '.join(_MEANS)}")
    counted: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    shared: dict[tuple[str, str, str], set[str]] = {}
    held = manifest.read(folder)
    together, leaks = _splits(held, folder)
    for config, split, row in _rows(folder, progress):
        for kind, place in [*_in_row(row), *_by_gates(row)]:
            key = kind, f"{config}/{split}, {place}"
            counted[key] += 1
            first.setdefault(key, str(row.get("id", "")))
        if config != "rejected":
            for name in together:
                if row.get(name) not in (None, ""):
                    shared.setdefault((config, name, row[name]), set()).add(split)
    found = [Problem(kind=kind, place=place, count=n, first=first[kind, place]) for (kind, place), n in counted.items()]
    found += _leaks(leaks, shared)
    found += _licence(folder, public=public)
    pictures, unchecked = _pictures(folder, progress)
    found += pictures
    return Findings(
        problems=tuple(one for one in found if one.kind not in allow),
        allowed=tuple(one for one in found if one.kind in allow),
        unchecked=unchecked,
    )


def _rows(folder: Path, progress: Callable[[str, int, int], None]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Config, split and row of every row, without the pictures."""
    listed = [
        (c, s, path) for c, held in dataset.configs(folder).items() for s, paths in held.items() for path in paths
    ]
    for number, (config, split, path) in enumerate(listed):
        progress("checking shards", number, len(listed))
        with dataset.opened(path) as file:
            _complete(config, file.schema_arrow.names, path)
            columns = [field.name for field in file.schema_arrow if not _holds_bytes(field.type)]
            for batch in file.iter_batches(batch_size=64, columns=columns):
                yield from ((config, split, row) for row in batch.to_pylist())
    progress("checking shards", len(listed), len(listed))


def _complete(config: str, names: Collection[str], path: Path) -> None:
    """DataError where rows of a config of ours lack columns: then they are others, and the checks would pass over them."""
    kind = CONFIGS.get(config)
    wanted = [c.name for c in schema.columns(kind) if c.required] if kind is not None else []
    if missing := [name for name in wanted if name not in names]:
        raise DataError(
            f"rows of '{config}' have no {', '.join(missing)}; build the dataset again, or give the config a name of its own",
            place=str(path),
        )


def _holds_bytes(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _holds_bytes(kind.value_type)
    return pa.types.is_binary(kind) or (
        pa.types.is_struct(kind) and any(pa.types.is_binary(kind.field(i).type) for i in range(kind.num_fields))
    )


def _in_row(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for found in sensitive.in_row(row):
        yield found.kind, found.place


def _by_gates(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the gates of the build say of a row's provenance and site, also where the build left them out."""
    if "provenance" not in row:
        return
    if row["provenance"] and not _is_object(row["provenance"]):
        raise DataError(
            "its provenance is no JSON object, so neither licence nor evaluation set can be checked; mend or remove the row",
            place=f"row {row.get('id')}",
        )
    candidate = Candidate(example=_bare(row))
    for name in ("benchmark_leak", "licence_restricted"):
        if against([gates[name](candidate)]) is not None:
            yield name, "provenance"


def _is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def _bare(row: Mapping[str, Any]) -> Example:
    """Of a row only what says where it is from."""
    return Example(
        id=str(row.get("id")),
        trajectory_id=str(row.get("trajectory_id")),
        step_index=0,
        image=Image(sha256="", width=0, height=0, format="", phash=""),
        image_width=0,
        image_height=0,
        viewport_width=0,
        viewport_height=0,
        device_pixel_ratio=1.0,
        instruction="",
        action=Action(type="wait"),
        site=row.get("site") or "",
        provenance=row.get("provenance") or "{}",
    )


def _splits(held: Mapping[str, Any], folder: Path) -> tuple[list[str], Mapping[str, int]]:
    """Columns that splits keep together, and the leaks that the build counted. DataError where a manifest holds others."""
    splits = held.get("splits")
    words, leaks = (splits.get(key) for key in ("kept_together", "leaks")) if isinstance(splits, dict) else (None, None)
    if not isinstance(words, list) or not all(isinstance(one, str) for one in words):
        raise DataError(_BROKEN.format("kept_together", "a list of names", words), place=str(folder / manifest.NAME))
    if not isinstance(leaks, dict) or not all(isinstance(one, int) for one in leaks.values()):
        raise DataError(_BROKEN.format("leaks", "a count for each name", leaks), place=str(folder / manifest.NAME))
    return [str(_COLUMNS.get(one, one)) for one in words if one not in ("near_picture", "same_picture")], leaks


def _leaks(leaks: Mapping[str, int], shared: Mapping[tuple[str, str, str], set[str]]) -> Iterator[Problem]:
    """What the build counted, and what the rows' own columns show now."""
    for name, count in leaks.items():
        if count:
            yield Problem(kind="split_leak", place=f"the build's report, {name}", count=count)
    across: Counter[tuple[str, str]] = Counter()
    for (config, name, _), names in shared.items():
        across[config, name] += len(names) > 1
    for (config, name), count in across.items():
        if count:
            yield Problem(kind="split_leak", place=f"{config}, {name}", count=count)


def _licence(folder: Path, *, public: bool) -> Iterator[Problem]:
    head = hub_plan.front_matter(text_files.read(folder / card.NAME))
    if public and not head.get("license"):
        yield Problem(kind="licence_missing", place=card.NAME, count=1)


def _pictures(folder: Path, progress: Callable[[str, int, int], None]) -> tuple[list[Problem], tuple[str, ...]]:
    """What OCR reads in every picture; that they were not read, where it is not installed."""
    if not ocr.installed():
        return [], ("text in pictures: OCR is not installed (pip install cuadata[ocr])",)
    found: list[Problem] = []
    listed = [(config, split) for config, held in dataset.configs(folder).items() for split in held]
    of = sum(_count(folder, *one) for one in listed)
    done = 0
    for config, split in listed:
        counted: Counter[str] = Counter()
        first: dict[str, str] = {}
        for row, text in _read(folder, config, split):
            for one in sensitive.in_text(text, row):
                counted[one.kind] += 1
                first.setdefault(one.kind, str(row.get("id", "")))
            done += 1
            progress("reading pictures", done, of)
        place = f"{config}/{split}, pictures"
        found += [Problem(kind=kind, place=place, count=n, first=first[kind]) for kind, n in counted.items()]
    return found, ()


def _count(folder: Path, config: str, split: str) -> int:
    total = 0
    for path in dataset.configs(folder)[config][split]:
        with dataset.opened(path) as file:
            total += file.metadata.num_rows
    return total


def _read(folder: Path, config: str, split: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each row, and what its pictures say; a picture that an earlier row has is not read again."""
    seen: set[str] = set()
    for row in dataset.open_rows(folder, config, split, batch=4):
        texts = []
        for picture in _encoded(list(row.values())):
            name = hashlib.sha256(picture).hexdigest()
            if name not in seen:
                seen.add(name)
                texts.append(ocr.text(ocr.read(picture)))
        yield row, "\n".join(texts)


def _encoded(value: Any) -> Iterator[bytes]:
    """The encoded pictures in a row, in lists too."""
    if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):
        yield value["bytes"]
    elif isinstance(value, list):
        for one in value:
            yield from _encoded(one)
