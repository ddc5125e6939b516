"""Redacting a dataset: one map of secrets for all rows, so that picture, text and action still tell one story.

The same secret has the same mask wherever it stands. Boxes of elements that show one, fields that one was typed into, and,
where the `ocr` extra is installed, lines of text in the pictures that show one are blacked out; only those pictures are
encoded again. A secret that OCR finds in a picture is masked in texts too.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cuadata import dataset, privacy, text_files
from cuadata.building import card, folders, manifest
from cuadata.errors import CallError, DataError
from cuadata.judging import sensitive
from cuadata.publishing import ocr
from cuadata.publishing.ocr import Line
from cuadata.publishing.whole_folder import whole_folder
from cuadata.rows import CONFIGS
from cuadata.types import BBox

#: Kinds that are ordinary words elsewhere: they are masked in their own trajectory only.
_LOCAL = ("password", "one_time_code")
#: Picture columns, and whether CSS boxes of the row lie in them.
_PICTURES = {"image": True, "after": True, "thumbnail": True, "transformed": False}
Box = tuple[float, float, float, float]


@dataclass(slots=True)
class Redaction:
    """The map, and what is to be blacked out where."""

    masks: Annotated[dict[tuple[str, str], str], "(trajectory, or empty for all; secret) -> mask"] = field(
        default_factory=dict
    )
    fields: Annotated[dict[str, list[tuple[int, Box]]], "trajectory -> step that typed a secret, box it typed into"] = (
        field(default_factory=dict)
    )
    counts: Annotated[Counter[str], "distinct secrets by kind"] = field(default_factory=Counter)
    read: Annotated[Callable[[bytes], tuple[Line, ...]] | None, "reads a picture; None: pictures are not read"] = None
    shown: Annotated[dict[str, tuple[Line, ...]], "SHA-256 of a picture -> the text in it"] = field(
        default_factory=dict
    )

    def learn(self, row: Mapping[str, Any]) -> None:
        """Take the secrets of a row and of its pictures into the map."""
        trajectory = str(row.get("trajectory_id") or "")
        for picture in _pictures(row) if self.read is not None else ():
            for found in sensitive.in_text(ocr.text(self._lines(picture)), row):
                self._add(trajectory, found.kind, found.text)
        for one in sensitive.in_row(row):
            self._add(trajectory, one.kind, one.text)
            box = _box(row.get("target"))
            if one.place == "action.text" and box is not None:
                held = self.fields.setdefault(trajectory, [])
                if (row.get("step_index", 0), box) not in held:
                    held.append((row.get("step_index", 0), box))

    def _add(self, trajectory: str, kind: privacy.Kind, text: str) -> None:
        key = (trajectory if kind in _LOCAL else "", text)
        if key not in self.masks:
            self.counts[kind] += 1
            self.masks[key] = privacy.mask(kind, self.counts[kind], text)

    def _lines(self, picture: bytes) -> tuple[Line, ...]:
        """The text in a picture, read once."""
        if self.read is None:
            return ()
        name = hashlib.sha256(picture).hexdigest()
        if name not in self.shown:
            self.shown[name] = self.read(picture)
        return self.shown[name]

    def apply(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """The row without its secrets; None where a picture of it cannot be shown."""
        trajectory = str(row.get("trajectory_id") or "")
        known = {text: mask for (where, text), mask in self.masks.items() if where in ("", trajectory)}
        secrets = sorted(known, key=len, reverse=True)
        step = row.get("step_index", 0)
        boxes = list(_showing(row, secrets))
        later = self.fields.get(trajectory, ())
        clean: dict[str, Any] = {}
        for name, value in row.items():
            if name in _PICTURES and isinstance(value, Mapping) and value.get("bytes"):
                typed = [box for typed_at, box in later if typed_at < step or (typed_at == step and name == "after")]
                here = [*boxes, *typed]
                if here and not _PICTURES[name]:
                    return None
                lines = [line.bbox for line in ocr.showing(self._lines(value["bytes"]), secrets)]
                clean[name] = blackened(value, here, row, lines=lines) if here or lines else value
            else:
                clean[name] = _masked(value, name, secrets, known)
        return clean


def redact(folder: Path | str, out: Path | str, *, force: bool = False) -> dict[str, int]:
    """Write a dataset again without its secrets; how many distinct ones of each kind there were, and `rows_dropped`.

    CallError where `out` is there already, unless `force` replaces it, or where it holds the dataset itself.
    """
    folder, out = Path(folder), Path(out)
    folders.refuse(out, force=force, reads=[folder])
    held = manifest.read(folder)
    redaction = Redaction(read=ocr.read if ocr.installed() else None)
    for config, split in _splits(folder):
        for row in dataset.open_rows(folder, config, split):
            redaction.learn(row)
    dropped = 0
    files: list[dict[str, Any]] = []
    with whole_folder(out) as made:
        for config, split in _splits(folder):
            rows = _Clean(redaction, folder, config, split)
            paths = _write(rows, made)
            dropped += rows.dropped
            files += [_entry(path, made) for path in paths]
        counts = dict(sorted(redaction.counts.items())) | ({"rows_dropped": dropped} if dropped else {})
        manifest.write({**held, "files": files, "redacted": counts}, made)
        text = text_files.read(folder / card.NAME).rstrip()
        lines = (
            "\n".join(f"- {name.replace('_', ' ')}: {count}" for name, count in counts.items()) or "- nothing was found"
        )
        (made / card.NAME).write_text(
            f"{text}\n\n## Redacted\n\nMasked in texts and blacked out in pictures, distinct values:\n\n{lines}\n",
            encoding="utf-8",
        )
    return counts


class _Clean:
    """The clean rows of a split, once."""

    def __init__(self, redaction: Redaction, folder: Path, config: str, split: str) -> None:
        self.redaction, self.folder, self.config, self.split = redaction, folder, config, split
        self.dropped = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in dataset.open_rows(self.folder, self.config, self.split):
            clean = self.redaction.apply(row)
            if clean is None:
                self.dropped += 1
            else:
                yield clean


def _write(rows: _Clean, made: Path) -> list[Path]:
    """The shards of the clean rows. DataError that names config, split and row where the rows are none of ours."""
    place = f"{rows.folder}, {rows.config or 'the folder itself'}/{rows.split}"
    kind = CONFIGS.get(rows.config)
    if kind is None:
        raise DataError(
            f"config '{rows.config}' is none of cuadata's, so its columns are not known; take it out of the folder, or "
            "redact it yourself and publish without --redact",
            place=place,
        )
    try:
        return dataset.write(rows, kind, made / rows.config, name=rows.split, force=True)
    except (CallError, DataError):
        raise
    except ValueError as error:
        raise DataError(f"{error}; build the dataset again", place=place) from error


def blackened(
    picture: Mapping[str, Any], boxes: Sequence[Box], row: Mapping[str, Any], *, lines: Sequence[BBox] = ()
) -> dict[str, Any]:
    """A picture with boxes (x, y, width, height in CSS px of the row's viewport) painted black, in its own format.

    `lines` are painted too; their boxes are in image px.
    WebP stays without loss; JPEG is encoded at quality 95.
    """
    from PIL import Image, ImageDraw, ImageOps

    with Image.open(io.BytesIO(picture["bytes"])) as opened:
        kind = opened.format or "PNG"
        painted = ImageOps.exif_transpose(opened).convert("RGB")  # boxes lie on the upright picture
    scale = painted.width / (row.get("viewport_width") or painted.width)
    draw = ImageDraw.Draw(painted)
    scaled = [tuple(side * scale for side in box) for box in boxes]
    for x, y, width, height in [*scaled, *((line.x, line.y, line.width, line.height) for line in lines)]:
        left, top = int(x), int(y)
        draw.rectangle((left, top, max(left, int(x + width)), max(top, int(y + height))), fill="black")
    written = io.BytesIO()
    painted.save(written, kind, **({"quality": 95} if kind == "JPEG" else {"lossless": True} if kind == "WEBP" else {}))
    data = written.getvalue()
    return {"bytes": data, "path": f"{hashlib.sha256(data).hexdigest()}.{kind.lower()}"}


def _splits(folder: Path) -> list[tuple[str, str]]:
    return [(config, split) for config, held in dataset.configs(folder).items() for split in held]


def _entry(path: Path, folder: Path) -> dict[str, Any]:
    with dataset.opened(path) as file:
        rows = file.metadata.num_rows
    data = path.read_bytes()
    name = path.relative_to(folder).as_posix()
    return {"path": name, "rows": rows, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _pictures(row: Mapping[str, Any]) -> Iterator[bytes]:
    held = (row.get(name) for name in _PICTURES)
    return (one["bytes"] for one in held if isinstance(one, Mapping) and one.get("bytes"))


def _box(element: Any) -> Box | None:
    box = element.get("bbox") if isinstance(element, Mapping) else None
    return (box["x"], box["y"], box["width"], box["height"]) if isinstance(box, Mapping) else None


def _showing(value: Any, secrets: Sequence[str]) -> Iterator[Box]:
    """Boxes of the elements in a row whose name or text shows a secret."""
    if isinstance(value, Mapping):
        shown = f"{value.get('name') or ''}\n{value.get('text') or ''}"
        box = _box(value)
        if box is not None and any(secret in shown for secret in secrets):
            yield box
        for one in value.values():
            yield from _showing(one, secrets)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _showing(one, secrets)


def _masked(value: Any, name: str, secrets: Sequence[str], known: Mapping[str, str]) -> Any:
    """A value of a row with every secret in it masked, also as JSON text writes it."""
    if isinstance(value, str):
        if sensitive.names_only(name):
            return value
        for secret in secrets:
            for form in {secret, json.dumps(secret)[1:-1]}:
                value = value.replace(form, known[secret])
        return value
    if isinstance(value, Mapping):
        return {key: _masked(one, str(key), secrets, known) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked(one, name, secrets, known) for one in value]
    return value
