"""In which convention boxes and points of an imported set are written, decided only where it can be.

A convention is an order and a unit: `xyxy_px` (corners in px of the picture), `xywh_unit` (fractions of its sides),
`xyxy_thousandths` (0 to 1000 over each side), `xy_px` (a point). The same numbers may fit several. Nothing is guessed for
one row: a whole file is looked at, and where two conventions fit all of it, the answer is that it cannot be known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from cuadata.types import BBox, Size

#: What the four numbers of a box, or the two of a point, are.
ORDERS: Final = {
    "xyxy": "left, top, right, bottom",
    "xywh": "left, top, width, height",
    "yxyx": "top, left, bottom, right",
    "yxhw": "top, left, height, width",
    "cxcywh": "middle across, middle down, width, height",
    "xy": "a point",
    "yx": "a point, the row first",
}
#: What they count in: how much the whole side of a picture is, None for its px.
UNITS: Final[dict[str, float | None]] = {
    "unit": 1.0, "px": None, "thousandths": 1000.0, "999": 999.0, "percent": 100.0,
}  # fmt: skip
#: Other words for an order, for a unit, and for both at once, as sets and their tools use them.
_ORDER_WORDS: Final = {
    "ltrb": "xyxy", "x1y1x2y2": "xyxy", "tlbr": "xyxy", "corners": "xyxy", "ltwh": "xywh", "tlwh": "xywh",
    "xcycwh": "cxcywh", "y1x1y2x2": "yxyx",
}  # fmt: skip
_UNIT_WORDS: Final = {
    "pixel": "px", "pixels": "px", "abs": "px", "absolute": "px", "norm": "unit", "normalized": "unit", "normalised": "unit",
    "rel": "unit", "relative": "unit", "fraction": "unit", "fractions": "unit", "01": "unit", "1000": "thousandths",
    "permille": "thousandths", "100": "percent", "percentage": "percent",
}  # fmt: skip
_WHOLE_WORDS: Final = {"coco": "xywh_px", "voc": "xyxy_px", "pascalvoc": "xyxy_px", "yolo": "cxcywh_unit"}
#: Those that a file of boxes without a word may be in; of the rare orders a file has to say so.
BOXES: Final = tuple(f"{order}_{unit}" for order in ("xyxy", "xywh") for unit in ("unit", "px", "thousandths"))
POINTS: Final = ("xy_unit", "xy_px", "xy_thousandths")
#: Rounding may put an edge this far outside of the picture, image px.
SLACK: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The convention of a file, or why it cannot be known."""

    convention: Annotated[str | None, "None where it is not known"]
    reason: Annotated[str | None, "convention_unknown or convention_contradicted; None where it is known"] = None
    misfits: Annotated[dict[str, int], "rows that each convention cannot hold"]
    first: Annotated[dict[str, int | None], "position of the first row that it cannot hold; None where it holds all"]


def of_word(word: str) -> tuple[str, ...]:
    """The conventions that a set's own word for its boxes leaves open: one, several where it names an order or a unit
    alone, none where it is unknown. `XYXY_normalized` is xyxy_unit, `coco` xywh_px, `ltrb` an order in any unit.
    """
    if known(word):
        return (word,)
    parts = [part for part in re.split(r"[^a-z0-9]+", word.lower()) if part]
    whole = "".join(parts)
    if whole in _WHOLE_WORDS:
        return (_WHOLE_WORDS[whole],)
    orders = [found for part in parts if (found := _ORDER_WORDS.get(part, part)) in ORDERS]
    units = [found for part in parts if (found := _UNIT_WORDS.get(part, part)) in UNITS]
    if not parts or len(orders) > 1 or len(units) > 1 or len(orders) + len(units) != len(parts):
        return ()
    return tuple(
        f"{order}_{unit}" for order in orders or ("xyxy", "xywh") for unit in units or ("unit", "px", "thousandths")
    )


def known(convention: str) -> bool:
    """Whether a convention is an order and a unit of this file."""
    order, _, unit = convention.partition("_")
    return order in ORDERS and unit in UNITS


def to_px(numbers: Sequence[float], convention: str, size: Size) -> BBox:
    """A box, or a point as a box without area, in image px of a picture of this size; not clipped.

    ValueError for a convention that there is not, and for a wrong number of numbers.
    """
    order, unit = _parts(convention)
    wanted = len(order) if order != "cxcywh" else 4
    if len(numbers) != wanted:
        raise ValueError(f"{convention} has {wanted} numbers, got {len(numbers)}")
    if order in ("yx", "yxyx", "yxhw"):
        numbers = [numbers[place ^ 1] for place in range(len(numbers))]
        order = {"yx": "xy", "yxyx": "xyxy", "yxhw": "xywh"}[order]
    across = 1.0 if unit is None else size.width / unit
    down = 1.0 if unit is None else size.height / unit
    x, y = numbers[0] * across, numbers[1] * down
    if order == "xy":
        return BBox(x, y, 0.0, 0.0)
    third, fourth = numbers[2] * across, numbers[3] * down
    if order == "xyxy":
        return BBox(x, y, third - x, fourth - y)
    return BBox(x, y, third, fourth) if order == "xywh" else BBox(x - third / 2, y - fourth / 2, third, fourth)


def _parts(convention: str) -> tuple[str, float | None]:
    if not known(convention):
        raise ValueError(f"'{convention}' is no convention; it is one of {', '.join(ORDERS)} and _ and one of "
                         f"{', '.join(UNITS)}: {BOXES[0]}")  # fmt: skip
    order, _, unit = convention.partition("_")
    return order, UNITS[unit]


def holds(numbers: Sequence[float], convention: str, size: Size, *, min_side: float = 1.0) -> bool:
    """Whether these numbers can be in this convention: finite, on the picture, and at least `min_side` image px a side."""
    try:
        box = to_px(numbers, convention, size)
    except (ValueError, TypeError):
        return False
    point = convention.startswith(("xy_", "yx_"))
    if not all(map(math.isfinite, (box.x, box.y, box.width, box.height))):
        return False
    if not point and (box.width < min_side or box.height < min_side):
        return False
    inside = box.x >= -SLACK and box.y >= -SLACK
    return inside and box.right <= size.width + SLACK and box.bottom <= size.height + SLACK


def decide(
    rows: Sequence[Sequence[float]],
    sizes: Sequence[Size],
    *,
    declared: str | None = None,
    consider: Sequence[str] | None = None,
    min_side: float = 1.0,
    max_misfits: float = 0.0,
) -> Decision:
    """The convention of a file of boxes or points, each on a picture of its own size.

    A declared one is believed unless a row cannot be in it. Otherwise each of `consider` is tried on every row (boxes or
    points by the first row where it is None), and the answer is the only one that holds them all. `max_misfits`: share of
    rows that may be broken in themselves. ValueError for lists of different length, or a convention that there is not.
    """
    if len(rows) != len(sizes):
        raise ValueError(f"{len(rows)} rows and {len(sizes)} picture sizes; each row needs its own")
    tried = _tried(rows, declared, consider)
    misfits: dict[str, int] = {}
    first: dict[str, int | None] = {}
    for convention in tried:
        broken = [
            place
            for place, (row, size) in enumerate(zip(rows, sizes, strict=True))
            if not holds(row, convention, size, min_side=min_side)
        ]
        misfits[convention], first[convention] = len(broken), next(iter(broken), None)
    allowed = max_misfits * len(rows)
    fitting = [one for one in tried if misfits[one] <= allowed and not _too_small_to_be(one, rows)]
    found = fitting[0] if len(fitting) == 1 and rows else None
    reason = None if found else "convention_contradicted" if declared is not None else "convention_unknown"
    return Decision(convention=found, reason=reason, misfits=misfits, first=first)


def _tried(rows: Sequence[Sequence[float]], declared: str | None, consider: Sequence[str] | None) -> tuple[str, ...]:
    if declared is not None:
        _parts(declared)
        return (declared,)
    points = bool(rows) and len(rows[0]) == 2
    tried = tuple(consider) if consider is not None else POINTS if points else BOXES
    for convention in tried:
        _parts(convention)
    return tried


def _too_small_to_be(convention: str, rows: Sequence[Sequence[float]]) -> bool:
    """Whether points would all lie in the picture's first px: a file of (0.4, 0.7) and the like is in fractions."""
    if not convention.startswith(("xy_", "yx_")) or convention.endswith("_unit"):
        return False
    return all(number <= 1 for row in rows for number in row)
