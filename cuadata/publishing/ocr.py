"""Text in pictures, where the `ocr` extra is installed: RapidOCR on ONNX Runtime, which carries its models."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cuadata.types import BBox


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a picture."""

    text: Annotated[str, "as it was read"]
    bbox: Annotated[BBox, "around it, image px"]


def installed() -> bool:
    """Whether pictures can be read."""
    return importlib.util.find_spec("rapidocr_onnxruntime") is not None


def read(picture: bytes) -> tuple[Line, ...]:
    """The lines of text in an encoded picture, from the top down."""
    from cuadata import image

    lines, _ = _engine()(image.rgb(picture)[:, :, ::-1])  # the engine takes BGR
    return tuple(Line(text, _around(corners)) for corners, text, _ in lines or ())


def text(lines: Iterable[Line]) -> str:
    """Lines as one text."""
    return "\n".join(line.text for line in lines)


def showing(lines: Sequence[Line], words: Iterable[str]) -> Iterator[Line]:
    """The lines that show any of the words or a part of one that runs on, whatever the spaces: engines read those as they like."""
    held = [(character, at) for at, line in enumerate(lines) for character in line.text if not character.isspace()]
    run = "".join(character for character, _ in held)
    found: set[int] = set()
    for word in filter(None, ("".join(one.split()) for one in words)):
        start = run.find(word)
        while start >= 0:
            found |= {at for _, at in held[start : start + len(word)]}
            start = run.find(word, start + 1)
    return (lines[at] for at in sorted(found))


def _around(corners: Sequence[Sequence[float]]) -> BBox:
    """The upright box around four corners."""
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return BBox(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))


@functools.cache
def _engine() -> Any:
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR()
