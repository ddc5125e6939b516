"""Draws `docs/relations.svg` from the definitions themselves: python docs/draw_relations.py

In each panel the reference stands still and a target of the size shown is put everywhere; its middle is green where the
relation holds, and amber where it fails by less than the margin that a runner-up needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cuadata import geometry, relations
from cuadata.types import BBox, Relation

PAGE = BBox(0, 0, 240, 160)
TARGET = (48.0, 20.0)
REFERENCE = BBox(90, 68, 60, 24)
OTHER = BBox(18, 116, 60, 24)
STEP = 4
COLUMNS = 4
HOLDS, NEARLY, BLUE, ORANGE, GREY = "#9bd4b4", "#f6d58a", "#0072b2", "#d55e00", "#777777"

#: Relation, references, boxes of the same description that stand still, qualifiers, size of the target, what is shown.
Panel = tuple[Relation, Sequence[BBox], Sequence[BBox], dict[str, Any], tuple[float, float], str]
ROW = [BBox(14 + 58 * place, 70, 44, 20) for place in range(4)]
COLUMN = [BBox(98, 14 + 36 * place, 44, 20) for place in range(4)]
GRID = [BBox(24 + 70 * column, 24 + 44 * row, 48, 20) for row in range(3) for column in range(3)]
PANELS: tuple[Panel, ...] = (
    ("above", [REFERENCE], [], {}, TARGET, "above"),
    ("below", [REFERENCE], [], {}, TARGET, "below"),
    ("left_of", [REFERENCE], [], {}, TARGET, "left of"),
    ("right_of", [REFERENCE], [], {}, TARGET, "right of"),
    ("inside", [BBox(50, 30, 140, 100)], [], {}, TARGET, "inside"),
    ("contains", [BBox(104, 72, 32, 16)], [], {}, (110, 60), "contains"),
    ("between", [BBox(14, 68, 48, 24), BBox(178, 68, 48, 24)], [], {}, TARGET, "between"),
    ("overlapping", [REFERENCE], [], {}, TARGET, "overlapping"),
    ("nearest", [REFERENCE], [OTHER], {}, TARGET, "nearest, against the grey one"),
    (
        "left_of",
        [BBox(170, 68, 60, 24)],
        [BBox(56, 70, 48, 20)],
        {"nearest": True},
        TARGET,
        "nearest left of, against the grey one",
    ),
    ("same_row", [REFERENCE], [], {}, TARGET, "in the same row"),
    ("same_column", [REFERENCE], [], {}, TARGET, "in the same column"),
    ("at_edge", [], [], {"viewport": PAGE}, TARGET, "at an edge of the page"),
    ("at_corner", [], [], {"viewport": PAGE, "sides": ("top", "right")}, TARGET, "in the top-right corner"),
    ("nth_in_row", [], ROW, {"position": 3}, (0, 0), "third in the row"),
    ("nth_in_column", [], COLUMN, {"position": 3}, (0, 0), "third in the column"),
    ("nth_in_list", [], GRID, {"position": 5}, (0, 0), "fifth in the list"),
)


def draw() -> str:
    """The whole drawing."""
    lines = -(-len(PANELS) // COLUMNS)
    width, height = COLUMNS * 264 + 16, lines * 208 + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, panel in enumerate(PANELS):
        x, y = place % COLUMNS * 264 + 16, place // COLUMNS * 208 + 34
        parts += [f'<g transform="translate({x} {y})">', *_panel(panel), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel) -> Iterator[str]:
    relation, references, others, qualifiers, size, title = panel
    yield f'<text x="0" y="-8" fill="#222222">{title}</text>'
    yield f'<rect width="{PAGE.width:g}" height="{PAGE.height:g}" fill="#fafafa" stroke="#cccccc"/>'
    if relation.startswith("nth_"):
        fits = relations.fits(relation, others, references, **qualifiers)
        for box, fit in zip(others, fits, strict=True):
            yield _box(box, ORANGE if fit.holds else GREY, HOLDS if fit.holds else "none")
        return
    yield from _field(relation, references, others, qualifiers, size)
    for box in references:
        yield _box(box, BLUE, "none")
    for box in others:
        yield _box(box, GREY, "none")
    example = _example(relation, references, others, qualifiers, size)
    if example is not None:
        yield _box(example, ORANGE, "none")


def _at(x: float, y: float, size: tuple[float, float]) -> BBox:
    return BBox(x - size[0] / 2, y - size[1] / 2, *size)


def _margin(
    relation: Relation, references: Sequence[BBox], others: Sequence[BBox], qualifiers: dict[str, Any], box: BBox
) -> float:
    return relations.margins(relation, [box, *others], references, **qualifiers)[0]


def _field(
    relation: Relation,
    references: Sequence[BBox],
    others: Sequence[BBox],
    qualifiers: dict[str, Any],
    size: tuple[float, float],
) -> Iterator[str]:
    """Runs of equal colour along each line."""
    for y in range(STEP // 2, int(PAGE.height), STEP):
        start, held = 0, ""
        for x in range(STEP // 2, int(PAGE.width) + STEP, STEP):
            colour = ""
            if x < PAGE.width:
                margin = _margin(relation, references, others, qualifiers, _at(x, y, size))
                colour = HOLDS if margin >= 0 else NEARLY if margin > -relations.MARGIN else ""
            if colour != held:
                if held:
                    left, top = start - STEP // 2, y - STEP // 2
                    yield f'<rect x="{left}" y="{top}" width="{x - start}" height="{STEP}" fill="{held}"/>'
                start, held = x, colour


def _example(
    relation: Relation,
    references: Sequence[BBox],
    others: Sequence[BBox],
    qualifiers: dict[str, Any],
    size: tuple[float, float],
) -> BBox | None:
    """A place on the page where the relation holds best."""
    places = (
        _at(x, y, size)
        for y in range(int(size[1] / 2) + 4, int(PAGE.height - size[1] / 2), STEP)
        for x in range(int(size[0] / 2) + 4, int(PAGE.width - size[0] / 2), STEP)
    )
    free = (box for box in places if not any(geometry.intersection(box, other) for other in others))
    found = [(_margin(relation, references, others, qualifiers, box), box) for box in free]
    best = max(margin for margin, _ in found)
    fitting = [box for margin, box in found if margin >= best - 1e-9]
    return fitting[len(fitting) // 2] if best >= 0 else None


def _box(box: BBox, stroke: str, fill: str) -> str:
    place = f'x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="2"/>'


if __name__ == "__main__":
    (Path(__file__).parent / "relations.svg").write_text(draw())
