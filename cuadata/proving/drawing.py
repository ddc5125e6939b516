"""A row as a picture that a person can judge: the screenshot with target, point, references, rivals and the reason on it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

from cuadata import image
from cuadata.types import BBox, Point, Size

#: Colours that stay apart for most kinds of colour-blindness (Okabe and Ito, "Color universal design", 2008).
TARGET: Final = (213, 94, 0)
REFERENCE: Final = (0, 114, 178)
RIVAL: Final = (204, 121, 167)
POINT: Final = (0, 158, 115)
_PLAIN: Final = (60, 60, 60)
_BAR: Final = 22


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
    """A PNG with everything drawn on it, and `words` in lines below; boxes and points are CSS px of the viewport.

    Orange is the target, blue the references, pink the rivals, green the point of the action. Without a picture, or with
    one that does not decode, the boxes stand on a plain ground of the viewport's size.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    ground = _ground(picture, viewport)
    across, down = ground.width / max(viewport.width, 1), ground.height / max(viewport.height, 1)
    canvas = Pillow.new("RGB", (ground.width, ground.height + _BAR * len(words)), "white")
    canvas.paste(ground)
    draw = ImageDraw.Draw(canvas)
    for boxes, colour in ((rivals, RIVAL), (references, REFERENCE), ((target,) if target else (), TARGET)):
        for box in boxes:
            _outline(draw, box, across, down, colour)
    if point is not None and _drawable(point.x, point.y):
        x, y = point.x * across, point.y * down
        draw.line((x - 9, y, x + 9, y), fill=POINT, width=2)
        draw.line((x, y - 9, x, y + 9), fill=POINT, width=2)
        draw.ellipse((x - 5, y - 5, x + 5, y + 5), outline=POINT, width=2)
    for line, text in enumerate(words):
        draw.text((6, ground.height + 5 + line * _BAR), _printable(text), fill=_PLAIN)
    out = io.BytesIO()
    canvas.save(out, "PNG")
    return out.getvalue()


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
    draw.rectangle((left - 2, top - 2, right + 1, bottom + 1), outline=colour, width=2)


def _printable(text: str) -> str:
    """One line that the built-in font can draw: what it has no sign for is written as an escape, and long lines are cut."""
    seen = " ".join(text.split())[:240]
    return seen.encode("latin-1", "backslashreplace").decode("latin-1")
