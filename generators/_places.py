"""Where shapes stand: in lines, anywhere, one in another, one over the edge of another, at the rim of the page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, NamedTuple

from cuadata.types import Size

#: Shapes of these forms hold others: what is drawn in their middle lies in the form, not only in its box.
HOSTS: Final = ("square", "circle")
#: Clear of the tenth of the page that counts as its edge, by more than the margin of the relation.
_CLEAR: Final = 0.13


#: Share of shapes anywhere that stand in the row or column of another one.
_LINED: Final = 0.6


class Spot(NamedTuple):
    """Left, top and size of one shape, CSS px."""

    x: float
    y: float
    size: float
    raised: bool = False  #: drawn over another one
    host: bool = False  #: others are drawn in it


def spots(rng: Random, layout: str, count: int, side: float, view: Size) -> list[Spot]:
    """A spot for each shape, in mixed order; sizes differ a little, so that one is the largest."""
    sizes = [side * rng.uniform(0.8, 1.3) for _ in range(count)]
    free: Callable[[Random, Sequence[float], Size], list[Spot]] | None = _FREE.get(layout)
    made = free(rng, sizes, view) if free else _lined(rng, layout, sizes, side, view)
    rng.shuffle(made)
    return made


def _lined(rng: Random, layout: str, sizes: Sequence[float], side: float, view: Size) -> list[Spot]:
    count, step = len(sizes), side * rng.uniform(1.6, 2.6)
    if layout == "ring":
        radius = min(max(count * step / (2 * math.pi), side * 2), min(view.width, view.height) / 2 - side)
        turn = rng.uniform(0, 2 * math.pi)
        at = [
            (radius * math.cos(turn + 2 * math.pi * n / count), radius * math.sin(turn + 2 * math.pi * n / count))
            for n in range(count)
        ]
    else:
        longest = int((view.width if layout == "row" else view.height) / (side * 1.35)) - 1
        across = {"row": count, "column": 1, "grid": rng.choice([c for c in (2, 3, 4, 5) if c < count])}[layout]
        step = min(step, (view.width if layout == "row" else view.height) / (min(count, longest + 1) + 1))
        step = max(step, side * 1.35)
        at = [(n % across * step, n // across * step) for n in range(count)]
    return _put(rng, at, sizes, view)


def _put(rng: Random, at: Sequence[tuple[float, float]], sizes: Sequence[float], view: Size) -> list[Spot]:
    """All moved to a place of the viewport where they fit together; what sticks out is scaled down."""
    left, top = min(x for x, _ in at), min(y for _, y in at)
    big = max(sizes)
    wide, tall = max(x for x, _ in at) - left + big, max(y for _, y in at) - top + big
    fit = min(1.0, (view.width - 20) / wide, (view.height - 20) / tall)
    x0, y0 = rng.uniform(10, view.width - 10 - wide * fit), rng.uniform(10, view.height - 10 - tall * fit)
    return [
        Spot(x0 + ((x - left) + (big - own) / 2) * fit, y0 + ((y - top) + (big - own) / 2) * fit, own * fit)
        for (x, y), own in zip(at, sizes, strict=True)
    ]


def _scattered(rng: Random, sizes: Sequence[float], view: Size) -> list[Spot]:
    placed: list[Spot] = []
    for size in sizes:
        placed.append(_anywhere(rng, size, placed, (10, 10, view.width - 10, view.height - 10)))
    return placed


def _anywhere(
    rng: Random, size: float, placed: Sequence[Spot], area: tuple[float, float, float, float], apart: float = 0.2
) -> Spot:
    """A free spot in an area (left, top, right, bottom), a share of its size apart; halved where there is no room."""
    left, top, right, bottom = area
    spot = Spot(left, top, size)
    for attempt in range(2000):
        own = spot.size / 2 if attempt % 200 == 199 else spot.size
        spot = Spot(rng.uniform(left, max(left, right - own)), rng.uniform(top, max(top, bottom - own)), own)
        spot = _in_line(rng, spot, placed, area)
        near = own * apart
        if all(
            spot.x > p.x + p.size + near or p.x > spot.x + own + near or spot.y > p.y + p.size + near
            or p.y > spot.y + own + near for p in placed
        ):  # fmt: skip
            break
    return spot


def _in_line(rng: Random, spot: Spot, placed: Sequence[Spot], area: tuple[float, float, float, float]) -> Spot:
    """The spot, often moved into the row or the column of another one.

    Shapes that stand anywhere are rarely in line, and one that is gives itself away: with others on the other sides of a
    reference it does not.
    """
    if not placed or rng.random() > _LINED:
        return spot
    other, (left, top, right, bottom) = rng.choice(placed), area
    x, y = (at + (other.size - spot.size) / 2 for at in (other.x, other.y))
    moved = spot._replace(x=x) if rng.random() < 0.5 else spot._replace(y=y)
    inside = left <= moved.x <= right - spot.size and top <= moved.y <= bottom - spot.size
    return moved if inside else spot


def _nested(rng: Random, sizes: Sequence[float], view: Size) -> list[Spot]:
    """A third of them large, each with one of the others in it; what is left stands beside."""
    area = (10.0, 10.0, view.width - 10.0, view.height - 10.0)
    held: list[Spot] = []
    for size in sizes[: max(2, len(sizes) // 3)]:
        host = _anywhere(rng, size * rng.uniform(2.2, 2.8), held, area)
        held.append(host._replace(host=True))
    inner = []
    for host, size in zip(held, sizes[len(held) :], strict=False):
        own = min(size, host.size * rng.uniform(0.36, 0.46))
        x, y = (at + (host.size - own) / 2 + host.size * rng.uniform(-0.06, 0.06) for at in (host.x, host.y))
        inner.append(Spot(x, y, own, raised=True))
    for size in sizes[2 * len(held) :]:
        held.append(_anywhere(rng, size, held, area))
    return held + inner


def _overlapping(rng: Random, sizes: Sequence[float], view: Size) -> list[Spot]:
    """A third of them over the edge of another one, whole forms and not only their boxes; what is left stands beside."""
    area = (10.0, 10.0, view.width - 10.0, view.height - 10.0)
    rooms: list[Spot] = []
    made: list[Spot] = []
    pairs = max(2, len(sizes) // 3)
    for one in range(pairs):
        size = (sizes[one] + sizes[pairs + one]) / 2
        room = _anywhere(rng, size * 1.6, rooms, area, apart=0.15)
        rooms.append(room)
        own, shift = room.size / 1.6, room.size / 1.6 * rng.uniform(0.5, 0.6)
        dx, dy = (shift, 0.0) if rng.random() < 0.5 else (0.0, shift)
        made += [Spot(room.x, room.y, own), Spot(room.x + dx, room.y + dy, own * rng.uniform(0.9, 1.0), raised=True)]
    for size in sizes[2 * pairs :]:
        rooms.append(_anywhere(rng, size, rooms, area, apart=0.15))
        made.append(rooms[-1])
    return made


def _rim(rng: Random, sizes: Sequence[float], view: Size) -> list[Spot]:
    """A third of them at corners and edges of the page in turn, each at one of its own, the others clear of them."""
    placed: list[Spot] = []
    wide, tall = view.width, view.height
    corners, edges = rng.sample(((0, 0), (0, 2), (2, 0), (2, 2)), 4), rng.sample(((0, 1), (1, 0), (1, 2), (2, 1)), 4)
    around = itertools.chain(*zip(corners, edges, strict=True))
    for size, (across, down) in zip(sizes[: max(2, len(sizes) // 3)], around, strict=False):
        own = min(size, 0.09 * tall - 6)
        ranges = [
            ((4, 0.1 * far - 4), (_CLEAR * far + own, (1 - _CLEAR) * far - own), (0.9 * far + 4, far - 4))[at]
            for at, far in ((across, wide), (down, tall))
        ]
        placed.append(_anywhere(rng, own, placed, (ranges[0][0], ranges[1][0], ranges[0][1], ranges[1][1])))
    inner = (_CLEAR * wide, _CLEAR * tall, (1 - _CLEAR) * wide, (1 - _CLEAR) * tall)
    for size in sizes[len(placed) :]:
        placed.append(_anywhere(rng, size, placed, inner))
    return placed


_FREE: Final[dict[str, Callable[[Random, Sequence[float], Size], list[Spot]]]] = {
    "scatter": _scattered, "nested": _nested, "overlap": _overlapping, "rim": _rim,
}  # fmt: skip
