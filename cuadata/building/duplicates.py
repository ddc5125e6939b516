"""Exact duplicates: the same pixels, instruction and action, whatever the file's name, compression or alpha channel."""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, get_args

from cuadata import image
from cuadata.rows import Example
from cuadata.types import Action, ActionType, BBox, Image, Point


def key(example: Example) -> str:
    """What duplicates of an example have in common, as a hash that is cheap: no picture is decoded for it.

    It is made of the picture's size and perceptual hash, the instruction with white space folded, the action and the
    target's box in whole CSS px. Element ids are left out: they are numbers of one observation. Examples with equal keys
    are duplicates if their pictures show the same pixels, see `same_pixels`.
    """
    action, picture = example.action, example.image
    done = _of_the_action(action)
    # Clicks and their like hold nothing but None and empty tuples here: their text is at hand.
    said = (_BARE_TEXTS.get(done[0]) if done[1:] == _BARE else None) or f"{done}"
    box = example.target.bbox if example.target is not None else None
    whole = (
        f"{picture.width}x{picture.height} {picture.phash}\n{' '.join(example.instruction.split())}\n"
        f"{said} {_whole(action.point)} {_whole(action.end)}\n{'' if box is None else _whole_box(box)}"
    )
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


#: Everything that an action is, but for where, and for its element's number.
_of_the_action: Final = operator.attrgetter(
    *(one.name for one in fields(Action) if one.name not in ("element", "point", "end"))
)
#: The same of an action that is nothing but its type: without the type, and as text by type.
_BARE: Final = _of_the_action(Action(type="click"))[1:]
_BARE_TEXTS: Final = {kind: f"{(kind, *_BARE)}" for kind in get_args(ActionType)}


def _whole(point: Point | None) -> tuple[float, float] | None:
    return None if point is None else (_rounded(point.x), _rounded(point.y))


def _whole_box(box: BBox) -> tuple[float, float, float, float]:
    return _rounded(box.x), _rounded(box.y), _rounded(box.width), _rounded(box.height)


def _rounded(number: float) -> float:
    """What is no number stays what it is, for a gate to reject."""
    return float(round(number)) if math.isfinite(number) else number


def same_pixels(pictures: Sequence[Any]) -> list[list[int]]:
    """Groups of pictures (Image, bytes, path or `{bytes, path}`) that decode to the same pixels, in order of appearance.

    A picture is decoded only where another one could equal it: other bytes, but the same size and perceptual hash.
    """
    held = [image.from_any(p, f"picture {i}") for i, p in enumerate(pictures)]
    shas: dict[tuple[int, int, str], set[str]] = {}
    for one in held:
        shas.setdefault(_coarse(one), set()).add(one.sha256)
    pixels: dict[str, str] = {}
    groups: dict[str, list[int]] = {}
    for place, one in enumerate(held):
        if one.sha256 not in pixels:
            alone = len(shas[_coarse(one)]) == 1
            pixels[one.sha256] = one.sha256 if alone else image.pixel_hash(image.rgb(image.read(one)))
        groups.setdefault(pixels[one.sha256], []).append(place)
    return list(groups.values())


def _coarse(picture: Image) -> tuple[int, int, str]:
    return picture.width, picture.height, picture.phash


def row_groups(
    rows: Iterable[Mapping[str, Any]], *, picture: str = "image", same: Sequence[str] = ("instruction", "action")
) -> list[list[int]]:
    """Groups of rows that duplicate each other, by the pixels of `picture` and the columns `same`; each row in one group."""
    held = list(rows)
    of_picture: dict[int, int] = {}
    for number, group in enumerate(same_pixels([row[picture] for row in held])):
        of_picture.update(dict.fromkeys(group, number))
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, row in enumerate(held):
        groups.setdefault((of_picture[place], *(repr(row.get(c)) for c in same)), []).append(place)
    return list(groups.values())
