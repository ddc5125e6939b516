"""A row as a picture that a person can judge: the screenshot with target, point, references, rivals and the reason on it."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cuadata import image
from cuadata.types import BBox, Point, Size

#: Colours that stay apart for most kinds of colour-blindness (Okabe and Ito, "Color universal design", 2008).
TARGET: Final = (213, 94, 0)
REFERENCE: Final = (0, 114, 178)
RIVAL: Final = (204, 121, 167)
POINT: Final = (0, 158, 115)
_PLAIN: Final = (60, 60, 60)
#: Around what is drawn, so that it is seen on a ground of its own colour.
_HALO: Final = (255, 255, 255)
#: Height of a line of words, and of its letters, image px.
_BAR: Final = 22
_LETTERS: Final = 15
#: A text takes at most so many lines.
_MOST_LINES: Final = 3


def marked(
    picture: bytes | None,
    viewport: Size,
    *,
    target: BBox | None = None,
    point: Point | None = None,
    references: Sequence[BBox] = (),
    rivals: Sequence[BBox] = (),
    words: Sequence[str] = (),
) -> bytes:
    """A PNG with everything drawn on it, below it `words` in lines under a legend; boxes are CSS px of the viewport.

    Orange is the target, blue the references, pink the rivals, green the point of the action. Without a picture, or with
    one that does not decode, the boxes stand on a plain ground of the viewport's size.
    """
    from PIL import ImageDraw

    ground = _ground(picture, viewport)
    across, down = ground.width / max(viewport.width, 1), ground.height / max(viewport.height, 1)
    draw = ImageDraw.Draw(ground)
    for boxes, colour in ((rivals, RIVAL), (references, REFERENCE), ((target,) if target else (), TARGET)):
        for box in boxes:
            _outline(draw, box, across, down, colour)
    if point is not None and _drawable(point.x, point.y):
        x, y = point.x * across, point.y * down
        for colour, width in ((_HALO, 6), (POINT, 2)):
            draw.line((x - 9, y, x + 9, y), fill=colour, width=width)
            draw.line((x, y - 9, x, y + 9), fill=colour, width=width)
    if words:
        meant = (
            (TARGET, "target", target),
            (REFERENCE, "reference", references),
            (RIVAL, "other", rivals),
            (POINT, "point", point),
        )
        ground = _captioned(ground, [(colour, name) for colour, name, held in meant if held], words)
    out = io.BytesIO()
    ground.save(out, "PNG")
    return out.getvalue()


def _captioned(ground: Any, legend: Sequence[tuple[tuple[int, int, int], str]], words: Sequence[str]) -> Any:
    """The picture with its legend and its words below."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default(_LETTERS)
    lines = [line for text in words for line in _wrapped(_printable(text), ground.width - 12, font.getlength)]
    canvas = Pillow.new("RGB", (ground.width, ground.height + _BAR * (1 + len(lines))), "white")
    canvas.paste(ground)
    draw, top, left = ImageDraw.Draw(canvas), ground.height + 2, 6.0
    for colour, name in legend:
        draw.rectangle((left, top + 3, left + 12, top + 15), outline=colour, width=3)
        draw.text((left + 18, top), name, fill=_PLAIN, font=font)
        left += 42 + font.getlength(name)
    for number, line in enumerate(lines, 1):
        draw.text((6, top + number * _BAR), line, fill=_PLAIN, font=font)
    return canvas


def _ground(picture: bytes | None, viewport: Size) -> Any:
    from PIL import Image as Pillow

    if picture is not None:
        try:
            return Pillow.fromarray(image.rgb(picture))
        except image.BadImage:
            pass
    return Pillow.new("RGB", (min(max(viewport.width, 1), 4096), min(max(viewport.height, 1), 4096)), (238, 238, 238))


def _drawable(*numbers: float) -> bool:
    """False for NaN, infinities and what is so far away that no picture holds it."""
    return all(abs(number) < 1e6 for number in numbers)


def _outline(draw: Any, box: BBox, across: float, down: float, colour: tuple[int, int, int]) -> None:
    if not _drawable(box.x, box.y, box.width, box.height):
        return
    left, right = sorted((box.x * across, box.right * across))
    top, bottom = sorted((box.y * down, box.bottom * down))
    draw.rectangle((left - 4, top - 4, right + 3, bottom + 3), outline=_HALO, width=2)
    draw.rectangle((left - 2, top - 2, right + 1, bottom + 1), outline=colour, width=2)


def _printable(text: str) -> str:
    """Text that the built-in font can draw: what it has no sign for is written as an escape."""
    return " ".join(text.split())[:2000].encode("latin-1", "backslashreplace").decode("latin-1")


def _wrapped(text: str, width: float, length: Callable[[str], float]) -> list[str]:
    """A text in lines of this width, image px; what is left after a few of them is cut, and so are words without a blank."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if length(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1] + " ..."] if len(lines) > _MOST_LINES else lines


def told(evidence: Mapping[str, Any]) -> str:
    """The evidence of a verdict in words, as a person reads it beside the picture."""
    return "; ".join(f"{name.replace('_', ' ')}: {_told(value)}" for name, value in evidence.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping) and "role" in value:
        box = value.get("bbox")
        at = f" at x {box[0]}, y {box[1]}, {box[2]} x {box[3]} px" if isinstance(box, list) and len(box) == 4 else ""
        return f"{value['role'] or 'element'} '{value.get('name') or ''}'{at}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_told(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_told, value)) or "none"
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
