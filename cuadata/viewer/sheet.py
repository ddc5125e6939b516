"""A picture sheet of recovery rows: each shows the page, the tries that failed, what helped, and why, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cuadata import dataset, image, text
from cuadata.proving.drawing import POINT, TARGET
from cuadata.rows import Recovery
from cuadata.types import Action, BBox, Point

if TYPE_CHECKING:
    from PIL import Image as Pillow

NAME: Final = "sheet.png"
_WIDTH, _HEIGHT, _ACROSS, _MARGIN, _LINE = 800, 450, 2, 28, 22
_WORDS = 6
_CAUSES: Final = {
    "missed": "The click fell {distance:.0f} px beside {target}.",
    "covered": "The click fell on what covers {target}.",
    "fake": "{target} only looks like the way out.",
    "disabled": "{target} was disabled.",
    "off_screen": "{target} was out of sight.",
    "too_early": "It was too early: {target} needs time.",
    "taken_back": "It did something that nobody asked for.",
}


def write(folder: Path, count: int = 30) -> Path:
    """Write `sheet.png` into a dataset with recovery rows: `count` of them, the causes in turn."""
    from PIL import Image as Pillow

    rows = chosen([row for row in dataset.read(folder, "recovery")], count)
    high = _HEIGHT + _WORDS * _LINE + _MARGIN
    down = -(-len(rows) // _ACROSS)
    sheet = Pillow.new("RGB", (_ACROSS * (_WIDTH + _MARGIN) + _MARGIN, down * high + _MARGIN), "white")
    for number, row in enumerate(rows):
        left = _MARGIN + number % _ACROSS * (_WIDTH + _MARGIN)
        sheet.paste(cell(row, number + 1), (left, _MARGIN + number // _ACROSS * high))
    path = folder / NAME
    sheet.save(path, "PNG", optimize=True)
    return path


def chosen(rows: list[Recovery], count: int) -> list[Recovery]:
    """That many rows, the causes in turn, spread over each cause's rows."""
    causes = sorted({row.cause for row in rows})
    by_cause = {cause: [row for row in rows if row.cause == cause] for cause in causes}
    each = -(-count // max(len(causes), 1))
    spread = {cause: held[:: max(1, len(held) // each)][:each] for cause, held in by_cause.items()}
    found = [spread[cause][n] for n in range(each) for cause in causes if n < len(spread[cause])]
    return found[:count]


def cell(row: Recovery, number: int) -> Pillow.Image:
    """One row: its picture with the marks on it, and the story below."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    canvas = Pillow.new("RGB", (_WIDTH, _HEIGHT + _WORDS * _LINE), "white")
    shot = Pillow.fromarray(image.rgb(image.read(row.image)))
    scale = min(_WIDTH / shot.width, _HEIGHT / shot.height)
    canvas.paste(shot.resize((round(shot.width * scale), round(shot.height * scale)), Pillow.Resampling.LANCZOS))
    draw = ImageDraw.Draw(canvas)
    factor = scale * row.image_width / row.viewport_width
    if row.target is not None and row.target.bbox is not None:
        _frame(draw, row.target.bbox, factor, POINT)
    for place, tries in _tries(row).items():
        _cross(draw, place, factor, tries, ImageFont.load_default(20))
    if row.action.point is not None:
        _ring(draw, row.action.point, factor)
    font, bold = ImageFont.load_default(15), ImageFont.load_default(17)
    for line, words in enumerate(story(row, number)):
        colour = TARGET if words.startswith("Tried") else POINT if words.startswith("Helped") else (20, 20, 20)
        face = font if line else bold
        draw.text((2, _HEIGHT + 4 + line * _LINE), _fit(draw, words, face), fill=colour, font=face)
    return canvas


def story(row: Recovery, number: int) -> list[str]:
    """What happened, in lines."""
    target = "it" if row.failed_target is None else text.name(row.failed_target)
    why = _CAUSES.get(row.cause, "Why is not known.").format(distance=row.miss_distance or 0, target=_short(target))
    tried: list[str] = list(row.history[-len(row.failed) :])
    return [
        f"{number}. {row.cause.replace('_', ' ')}: {why[:1].upper()}{why[1:]}",
        f"Task: {row.instruction}",
        *(f"Tried ({n}): {_short(words)}, and nothing changed." for n, words in enumerate(tried, start=1)),
        f"Helped: {_short(text.describe(row.action, row.target))}.",
    ]


def _short(words: str) -> str:
    return words if len(words) <= 70 else words[:67].rstrip() + "..."


def _fit(draw: Any, words: str, font: Any) -> str:
    """The words, cut where they would leave the cell."""
    printed = words.encode("latin-1", "replace").decode("latin-1")
    while draw.textlength(printed, font=font) > _WIDTH - 4:
        printed = printed[:-4].rstrip() + "..."
    return printed


def _tries(row: Recovery) -> dict[tuple[float, float], list[int]]:
    """Places of the failed tries -> their numbers."""
    found: dict[tuple[float, float], list[int]] = {}
    for number, action in enumerate(row.failed, start=1):
        point = _point(action)
        if point is not None:
            found.setdefault((point.x, point.y), []).append(number)
    return found


def _point(action: Action) -> Point | None:
    return action.point


def _frame(draw: Any, box: BBox, factor: float, colour: tuple[int, int, int]) -> None:
    edges = (box.x - 2, box.y - 2, box.right + 2, box.bottom + 2)
    draw.rectangle(tuple(edge * factor for edge in edges), outline=colour, width=3)


def _ring(draw: Any, point: Point, factor: float) -> None:
    x, y = point.x * factor, point.y * factor
    draw.ellipse((x - 10, y - 10, x + 10, y + 10), outline=POINT, width=3)


def _cross(draw: Any, place: tuple[float, float], factor: float, tries: list[int], font: Any) -> None:
    x, y = place[0] * factor, place[1] * factor
    for width, colour in ((7, (255, 255, 255)), (4, TARGET)):
        draw.line((x - 9, y - 9, x + 9, y + 9), fill=colour, width=width)
        draw.line((x - 9, y + 9, x + 9, y - 9), fill=colour, width=width)
    words = ",".join(map(str, tries))
    draw.text((x + 12, y - 12), words, fill=TARGET, font=font, stroke_width=3, stroke_fill="white")
