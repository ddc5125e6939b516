"""Whether a model is asked at inference as it was in training: prompt skeletons of both sides, and their first difference.

A skeleton is a prompt without what varies by nature: the instruction, the words of history and injected lines. What is
left has to be the same on both sides, or to have been seen in training: system text, roles, the frame of the text, number
and size of pictures, length of the history, kinds of injected lines, coordinate frame.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import dataset, schema
from cuadata.contracts import Format, Message, Prompt, View
from cuadata.errors import CallError, DataError
from cuadata.learning import chat
from cuadata.rows import ContextLine, Listed
from cuadata.scores.runs import PROMPTS
from cuadata.speaking import prompts
from cuadata.speaking.grid import finite
from cuadata.types import Element, Image, Size

#: Columns that a dataset row is rendered from; the picture itself is never loaded.
COLUMNS: Final = (
    "instruction",
    "history",
    "context",
    "image_width",
    "image_height",
    "viewport_width",
    "viewport_height",
    "elements",
)
#: What is compared, in the order in which differences are told.
FIELDS: Final = ("format", "system", "roles", "text", "pictures", "sizes", "history", "injected", "frame")


#: No picture has a longer side, px.
_LONGEST_SIDE: Final = 1_000_000
#: A picture's size in a system text varies with the picture; `sizes` and `frame` compare it.
_SIZE: Final = re.compile(r"\b\d{2,5}x\d{2,5}\b(?<!1000x1000)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """One prompt without what varies by nature."""

    format: Annotated[str | None, "model family; None where the log does not say"]
    system: Annotated[str, "system text"]
    roles: Annotated[tuple[str, ...], "roles of the turns"]
    text: Annotated[str | None, "text of the user's turns, with marks for what varies; None where it is not known"]
    pictures: Annotated[int, "picture marks"]
    sizes: Annotated[tuple[Size, ...], "sizes of the pictures, image px; empty where the log does not say"]
    history: Annotated[int, "lines of history"]
    injected: Annotated[tuple[str, ...], "kinds of injected lines"]
    frame: Annotated[str | None, "how coordinates count; None where the log does not say"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing in which the live prompts are not as the training prompts were."""

    field: Annotated[str, "what differs: a field of Skeleton"]
    train: Annotated[str, "what training shows"]
    live: Annotated[str, "what the run shows"]
    place: Annotated[str, "the first live prompt that differs"]

    def __str__(self) -> str:
        return f"{self.place}: {self.field} differs\n  training: {self.train}\n  live:     {self.live}"


def entry(prompt: Prompt, form: Format) -> dict[str, Any]:
    """A prompt as a line of a live log: its messages, and what they were made from."""
    view = prompt.view
    return {
        "format": form.name,
        "messages": form.prompt(prompt),
        "instruction": prompt.instruction,
        "history": list(prompt.history),
        "context": [{"kind": line.kind, "text": line.text} for line in prompt.context],
        "elements": [prompts.element_line(element) for element in view.elements],
        "image_width": view.image.width,
        "image_height": view.image.height,
        "viewport_width": view.viewport.width,
        "viewport_height": view.viewport.height,
        "frame": frame_of(form, view),
    }


def append(log: Path, prompt: Prompt, form: Format) -> None:
    """Add a prompt to a live log, as one line, in one write: several pages may be asked about at one time."""
    line = json.dumps(entry(prompt, form), ensure_ascii=False).encode() + b"\n"
    with log.open("ab", buffering=0) as file:
        file.write(line)


def frame_of(form: Format, view: View) -> str | None:
    """The frame of a format on a view: its kind, or the size of the resized picture; None for a format without one."""
    grid_of = getattr(form, "grid", None)
    if grid_of is None:
        return None
    grid = grid_of(view)
    return f"{grid.kind}" if grid.kind != "resized" else f"resized ({grid.extent[0]:g}x{grid.extent[1]:g})"


def read(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and row of every line of a JSON lines file, of the prompts of an evaluation run's folder, or of every row of a
    dataset folder, pictures left out.

    CallError where nothing is at `path`; DataError for a line that is no JSON object, and for a folder without Parquet files.
    """
    if not path.exists():
        raise CallError(
            f"'{path}' is not there; give JSON lines, a dataset's folder or the folder of an evaluation run"
        )
    if (path / PROMPTS).is_file():
        path = path / PROMPTS
    if path.is_dir():
        yield from _parquet(path)
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    row = json.loads(line.decode("utf-8-sig"))
                except (ValueError, RecursionError) as error:
                    told = {RecursionError: "is no JSON: nested too deep", UnicodeDecodeError: f"is no UTF-8: {error}"}
                    raise DataError(told.get(type(error), f"is no JSON: {error}"), place=f"{path}:{number}") from error
                if not isinstance(row, dict):
                    raise DataError("wanted a JSON object", place=f"{path}:{number}")
                yield f"{path.name}:{number}", row


def _parquet(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    files = sorted(folder.glob("actions/train-*.parquet")) or sorted(folder.rglob("train-*.parquet"))
    if not files:
        raise DataError(
            f"holds neither train-*.parquet nor {PROMPTS}; give a dataset, an evaluation run of a model, or JSON lines",
            place=str(folder),
        )
    for file in files:
        with dataset.opened(file) as shard:
            known = [name for name in (*COLUMNS, "prompt", "messages") if name in shard.schema_arrow.names]
            rows = (row for batch in shard.iter_batches(columns=known) for row in batch.to_pylist())
            yield from ((f"{file.name}:{at}", row) for at, row in enumerate(rows))


def skeleton(row: Mapping[str, Any], form: Format | None = None, *, place: str = "") -> Skeleton:
    """The skeleton of a row: of its messages where it has some, else of what a format makes of its columns.

    CallError for a dataset row without a format; DataError, which names `place`, for a row that is neither, and for a
    column that is not what its name says: left out, it would pass for one that agrees.
    """
    try:
        return _skeleton(row, form)
    except CallError:
        raise
    except ValueError as error:
        raise DataError(str(error), place=place) from error


def _skeleton(row: Mapping[str, Any], form: Format | None) -> Skeleton:
    _check(row)
    if "messages" in row or "prompt" in row:
        return _logged(row)
    if "instruction" not in row:
        raise DataError("a row needs `messages`, or the columns of a dataset: instruction, history, context, sizes")
    if form is None:
        raise CallError("dataset rows become prompts by a format; say which with --format")
    made = entry(_prompt(row), form)
    return _logged(made)


def _check(row: Mapping[str, Any]) -> None:
    """ValueError for a column that is not what its name says; null stands for one that is not there."""
    for name in ("instruction", "format", "frame"):
        if not isinstance(row.get(name), str | None):
            raise ValueError(f"`{name}` is {row[name]!r:.60}; a text is wanted")
    for name in ("image_width", "image_height", "viewport_width", "viewport_height"):
        side = row.get(name)
        if side is not None and not (isinstance(side, int | float) and 1 <= side <= _LONGEST_SIDE):
            raise ValueError(f"`{name}` is {side!r:.60}; a number of px from 1 to {_LONGEST_SIDE} is wanted")
    for name, kind, words in (
        ("history", str, "texts, one an action"),
        ("context", Mapping, "objects with kind and text"),
        ("elements", str | Mapping, "lines or objects, one an element"),
    ):
        held = row.get(name)
        if held is not None and not (isinstance(held, list | tuple) and all(isinstance(one, kind) for one in held)):
            raise ValueError(f"`{name}` is {held!r:.60}; a list of {words} is wanted")
    for line in row.get("context") or ():
        if not (isinstance(line.get("kind"), str) and isinstance(line.get("text"), str)):
            raise ValueError(f"`context` holds {line!r:.60}; `kind` and `text`, both texts, are wanted")


def _turns(row: Mapping[str, Any]) -> list[Message]:
    """The turns of a logged prompt. ValueError where they are none."""
    turns = row.get("messages", row.get("prompt"))
    if isinstance(turns, str):
        try:
            turns = json.loads(turns)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"`messages` is a text and no JSON: {error}") from error
    if not isinstance(turns, list | tuple) or not turns:
        raise ValueError("`messages` is a list of turns, each with role and content")
    for turn in turns:
        content = turn.get("content") if isinstance(turn, Mapping) else 0
        parts = content if isinstance(content, list | tuple) else ()
        fits = isinstance(content, str | list | tuple | None) and all(isinstance(part, Mapping) for part in parts)
        if not fits or not isinstance(turn.get("role"), str):
            raise ValueError(
                f"`messages` holds {turn!r:.60}; turns with a role and a content, a text or a list of parts, are wanted"
            )
    return list(turns)


def _prompt(row: Mapping[str, Any]) -> Prompt:
    image, viewport = _size(row, "image"), _size(row, "viewport")
    if image is None:
        raise DataError("a row needs image_width and image_height")
    context = tuple(ContextLine(line["kind"], line["text"]) for line in row.get("context") or ())
    view = View(image=image, viewport=viewport or image, elements=_elements(row.get("elements")))
    # A stand-in that is never opened: only whether there is a picture shows in the messages.
    picture = Image(sha256="", width=image.width, height=image.height, format="png", phash="")
    return Prompt(
        instruction=str(row["instruction"]),
        view=view,
        image=picture,
        history=tuple(row.get("history") or ()),
        context=context,
    )


def _elements(held: Any) -> tuple[Element, ...]:
    """The elements of a dataset row; none where the row has no such column."""
    return prompts.of_list(schema.from_stored(one, Listed) for one in held or ())


def _size(row: Mapping[str, Any], of: str) -> Size | None:
    sides = [finite(row.get(f"{of}_{side}")) for side in ("width", "height")]
    return Size(int(sides[0]), int(sides[1])) if sides[0] is not None and sides[1] is not None else None


def _logged(row: Mapping[str, Any]) -> Skeleton:
    turns = _turns(row)
    asked = [t for t in turns if t.get("role") != "assistant"] if "completion" not in row else list(turns)
    system = "\n".join(_text(t) for t in asked if t.get("role") == "system")
    user = "\n".join(_text(t) for t in asked if t.get("role") != "system")
    history, context = row.get("history") or (), row.get("context") or ()
    size = _size(row, "image")
    marks = sum(chat.check_pictures([t], 0, roles=(str(t.get("role")),)).rendered for t in asked)
    return Skeleton(
        format=row.get("format"),
        system=_SIZE.sub("<size>", system),
        roles=tuple(str(t.get("role")) for t in asked),
        text=_blank(user, row) if "instruction" in row else None,
        pictures=marks,
        sizes=(size,) if size is not None and marks else (),
        history=len(history) if "history" in row else prompts.history_length(user),
        injected=tuple(sorted({line["kind"] for line in context})) if "context" in row else prompts.injected(user),
        frame=row.get("frame"),
    )


def _text(turn: Message) -> str:
    content = turn.get("content")
    if isinstance(content, str):
        return content
    return "".join(
        str(part.get("text", "")) if part.get("type") == "text" else "\n<picture>\n"
        for part in content or ()
        if isinstance(part, Mapping)
    )


def _blank(text: str, row: Mapping[str, Any]) -> str:
    """A user's text with its instruction, history, injected lines and elements taken out."""
    varying = [*(row.get("elements") or ()), *(prompts.one_line(str(line)) for line in row.get("history") or ())]
    for line in row.get("context") or ():
        varying.append(prompts.context_line(ContextLine(line["kind"], line["text"])))
    lines = [line for line in text.split("\n") if line.removeprefix("- ") not in varying and line not in varying]
    kept = _without_instruction("\n".join(lines), str(row["instruction"]))
    # Whether there was a history at all, and lines under it, is told by `history` and `injected`.
    kept = kept.replace(prompts.NO_HISTORY, prompts.HISTORY)
    return "\n".join(line for line in kept.split("\n") if line.strip())


def _without_instruction(text: str, instruction: str) -> str:
    """A text with a mark for its instruction; a short one, such as a letter, only where it is announced."""
    announced = f"Instruction: {instruction}"
    if announced in text:
        return text.replace(announced, "Instruction: <instruction>", 1)
    return text.replace(instruction, "<instruction>", 1) if len(instruction) > 3 else text


def compare(train: Iterable[Skeleton], live: Iterable[tuple[str, Skeleton]]) -> tuple[Difference, ...]:
    """What the live prompts show that training never did, one difference a field, in the order of FIELDS.

    History may be shorter than in training, but not longer, and not always empty where training had some. DataError where
    either side has no prompt.
    """
    seen, held = list(train), list(live)
    if not seen or not held:
        raise DataError(f"there are no {'training' if not seen else 'live'} prompts to compare")
    found = (_difference(field, seen, held) for field in FIELDS)
    return tuple(difference for difference in found if difference is not None)


def _difference(field: str, train: Sequence[Skeleton], live: Sequence[tuple[str, Skeleton]]) -> Difference | None:
    if field == "history":
        return _history(train, live)
    if field == "injected":
        return _injected(train, live)
    known = {value for s in train if (value := getattr(s, field)) not in (None, ())}
    for place, skeleton in live:
        value = getattr(skeleton, field)
        if known and value not in (None, ()) and value not in known:
            nearest = _nearest(str(value), [str(v) for v in known]) if isinstance(value, str) else None
            shown = _apart(nearest, value) if nearest is not None else (_listed(known), _words(value))
            return Difference(field=field, train=shown[0], live=shown[1], place=place)
    return None


def _history(train: Sequence[Skeleton], live: Sequence[tuple[str, Skeleton]]) -> Difference | None:
    longest = max(s.history for s in train)
    most = max(s.history for _, s in live)
    told = f"up to {longest} lines of history"
    for place, skeleton in live:
        if skeleton.history > longest:
            return Difference(field="history", train=told, live=f"{skeleton.history} lines", place=place)
    if longest and not most and len(live) > 1:
        return Difference(field="history", train=told, live="never any", place=live[1][0])
    return None


def _injected(train: Sequence[Skeleton], live: Sequence[tuple[str, Skeleton]]) -> Difference | None:
    known = {kind for s in train for kind in s.injected}
    for place, skeleton in live:
        if new := sorted(set(skeleton.injected) - known):
            told = ", ".join(sorted(known)) or "none"
            return Difference(field="injected", train=f"lines of kind: {told}", live=", ".join(new), place=place)
    return None


def refuse_new_lines(train: Iterable[Skeleton], kinds: Iterable[str], run: str = "the run") -> None:
    """Before a run starts: DataError that names the kinds of lines that it will inject and the data never had."""
    known = {kind for s in train for kind in s.injected}
    if new := sorted(set(kinds) - known):
        told = ", ".join(sorted(known)) or "none"
        raise DataError(
            f"{run} injects lines that its training data never had: {', '.join(new)} (the data has: {told}). Train on rows "
            "with such lines, or run without them"
        )


def digest(text: str) -> str:
    """A short name for a text, to tell two of them apart in words."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _nearest(text: str, others: Sequence[str]) -> str | None:
    return max(others, key=lambda other: _shared(text, other), default=None)


def _shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _apart(train: str, live: str, around: int = 40) -> tuple[str, str]:
    """Both texts from shortly before the character in which they first differ."""
    at = max(0, _shared(train, live) - around // 2)
    return tuple(f"{text[at : at + around]!r} ({len(text)} characters, {digest(text)})" for text in (train, live))  # type: ignore[return-value]


def _listed(values: Iterable[Any]) -> str:
    words = sorted(map(_words, values))
    return " or ".join(words[:5]) + (f" or {len(words) - 5} more" if len(words) > 5 else "")


def _words(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{v.width}x{v.height}" if isinstance(v, Size) else str(v) for v in value) or "none"
    return str(value)
