"""Equivariance: an answer moves with the picture."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from cuadata.errors import CallError
from cuadata.registry import rewards
from cuadata.scores import judged
from cuadata.speaking.grid import finite
from cuadata.types import Point


@rewards.add
def equivariance(answer: str, **columns: Any) -> float:
    """1 - ||T(p) - q|| / diagonal: p answered on the original picture, q on the transformed one, T the known change.

    Needs no label. `original` is p as [x, y] or {x, y}, image px of the original; `transform` is the affine map from image
    px of the original to image px of the transformed picture, [a, b, c, d, e, f] for x' = a x + b y + c, y' = d x + e y + f
    (or JSON text, or a mapping with `affine`). Consistency of views as in ReGUIDE (arXiv 2505.15259); the linear form is
    this project's. A map that mirrors is refused: it turns words round, and left and right with them.
    """
    read = judged.judge(answer, columns)
    if read.point is None:
        return 0.0
    a, b, c, d, e, f = affine(columns.get("transform"))
    start = _point(columns.get("original"))
    view = read.view
    x, y = (
        read.point.x * view.image.width / view.viewport.width,
        read.point.y * view.image.height / view.viewport.height,
    )
    off = math.hypot(a * start.x + b * start.y + c - x, d * start.x + e * start.y + f - y)
    return 1 - min(1.0, off / math.hypot(view.image.width, view.image.height))


def affine(value: Any) -> tuple[float, ...]:
    """The six numbers of an affine map. CallError where it is none, or where it mirrors."""
    held = json.loads(value) if isinstance(value, str) else value
    held = held.get("affine") if isinstance(held, Mapping) else held
    numbers = [finite(n) for n in held] if isinstance(held, (list, tuple)) else []
    if len(numbers) != 6 or None in numbers:
        raise CallError("this reward needs the column `transform`, an affine map [a, b, c, d, e, f] in image px")
    found = tuple(n for n in numbers if n is not None)
    if found[0] * found[4] - found[1] * found[3] <= 0:
        raise CallError("the transform mirrors the picture; text and the words left and right do not survive that")
    return found


def _point(value: Any) -> Point:
    pair = [value.get("x"), value.get("y")] if isinstance(value, Mapping) else value
    numbers = [finite(n) for n in pair] if isinstance(pair, (list, tuple)) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        raise CallError("this reward needs the column `original`, the point answered on the original picture, image px")
    return Point(numbers[0], numbers[1])
