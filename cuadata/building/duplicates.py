"""Exact duplicates: the same pixels, instruction and action, whatever the file's name, compression or alpha channel."""

from __future__ import annotations

import hashlib
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
    action, picture, target = example.action, example.image, example.target
    done = _of_the_action(action)
    # Clicks and their like hold nothing but None and empty tuples here: their text is at hand.
    said = (_BARE_TEXTS.get(action.type) if done == _BARE else None) or f"{(action.type, *done)}"
    point, end, box = action.point, action.end, target.bbox if target is not None else None
    try:
        at = "" if point is None else f"{round(point.x)} {round(point.y)}"
        to = "" if end is None else f"{round(end.x)} {round(end.y)}"
        of = "" if box is None else f"{round(box.x)} {round(box.y)} {round(box.width)} {round(box.height)}"
    except (ValueError, OverflowError):  # what is no number stays what it is, for a gate to reject
        at, to, of = _as_they_are(point, end, box)
    whole = f"{picture.width}x{picture.height} {picture.phash}\n{' '.join(example.instruction.split())}\n{said}\n{at}\n{to}\n{of}"
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _as_they_are(point: Point | None, end: Point | None, box: BBox | None) -> tuple[str, str, str]:
    """The places of an action and the box of its target in whole CSS px, also where they are no finite numbers."""
    # `z` makes 0 of -0, as rounding does.
    return (
        "" if point is None else f"{point.x:z.0f} {point.y:z.0f}",
        "" if end is None else f"{end.x:z.0f} {end.y:z.0f}",
        "" if box is None else f"{box.x:z.0f} {box.y:z.0f} {box.width:z.0f} {box.height:z.0f}",
    )


#: Everything that an action is, but for its type, for where, and for its element's number.
_of_the_action: Final = operator.attrgetter(
    *(one.name for one in fields(Action) if one.name not in ("type", "element", "point", "end"))
)
#: The same of an action that is nothing but its type, and as text by type.
_BARE: Final = _of_the_action(Action(type="click"))
_BARE_TEXTS: Final = {kind: f"{(kind, *_BARE)}" for kind in get_args(ActionType)}


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
