"""Coloured shapes on an empty ground: the plainest page on which a spatial relation can be asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Final

from cuadata.registry import families
from cuadata.types import Size, Task

from ._draw import Draw
from ._scene import pointing, scene, swapped

LAYOUTS: Final = ("grid", "row", "column", "scatter", "ring")
COUNTS: Final = (5, 8, 12, 16)
SIZES: Final = (18, 30, 48, 72)
#: How many forms share the page: with few of them every form has many rivals.
FORMS_A_PAGE: Final = (2, 3, 4)
#: Theme -> ground, ink, and how much of a colour is left: the rest is the ground's.
THEMES: Final[dict[str, tuple[str, str, float]]] = {
    "light": ("#ffffff", "#111827", 1.0),
    "dark": ("#111827", "#ffffff", 1.0),
    "paper": ("#f3ece1", "#3a2d20", 0.85),
    "faint": ("#ffffff", "#374151", 0.55),
}
COLOURS: Final = {
    "red": (214, 40, 40), "blue": (37, 99, 235), "green": (22, 140, 60), "orange": (245, 130, 20),
    "purple": (126, 58, 190), "pink": (240, 110, 180), "brown": (125, 80, 40), "teal": (15, 150, 150),
}  # fmt: skip
FORMS: Final = {
    "circle": "M50 2a48 48 0 1 0 .01 0Z",
    "square": "M4 4H96V96H4Z",
    "triangle": "M50 4L97 96H3Z",
    "diamond": "M50 2L98 50L50 98L2 50Z",
    "star": "M50 3L62 38H98L69 60L80 96L50 74L20 96L31 60L2 38H38Z",
    "hexagon": "M27 8H73L98 50L73 92H27L2 50Z",
    "cross": "M35 4H65V35H96V65H65V96H35V65H4V35H35Z",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One shape: its look, and its place in CSS px."""

    id: str
    name: str
    path: str
    fill: str
    x: float
    y: float
    size: float


@families.add
def shapes(
    seed: int,
    *,
    layout: str | None = None,
    theme: str | None = None,
    count: int | None = None,
    size: int | None = None,
    forms: int | None = None,
    viewport: Size = Size(1280, 720),
    scale: float = 1.0,
    swap: tuple[int, int] | None = None,
    without: Sequence[int] = (),
    cover: Sequence[int] = (),
) -> Task:
    """5 to 16 shapes, each of its own colour and form, as buttons in a grid, a row, a column, a ring or anywhere.

    `layout`, `theme`, `count`, `size` (CSS px) and `forms` (how many share the page) fix axes that the seed would draw.
    `scale` enlarges the shapes. For minimal pairs: `swap` exchanges the places of two shapes, `without` leaves some out,
    `cover` paints over some; they are numbered from 0 in document order, and nothing else of the page changes.
    """
    draw = Draw("shapes", seed)
    layout = draw.axis("layout", LAYOUTS, layout)
    theme = draw.axis("theme", tuple(THEMES), theme)
    number = draw.axis("count", COUNTS, count)
    side = draw.axis("size", SIZES, size) * scale
    kinds = draw.axis("forms", FORMS_A_PAGE, forms)
    ground, ink, strength = THEMES[theme]
    places = swapped(_places(draw.rng("places"), layout, number, side, viewport), swap)
    looks = _looks(draw.rng("looks"), number, kinds)
    held = [
        Shape(
            id=f"e{n}", name=f"{colour} {form}", path=FORMS[form], fill=_mixed(COLOURS[colour], ground, strength),
            x=round(x, 1), y=round(y, 1), size=round(own, 1),
        )
        for n, ((colour, form), (x, y, own)) in enumerate(zip(looks, places, strict=True))
    ]  # fmt: skip
    shown = [one for n, one in enumerate(held) if n not in without]
    html = scene(
        "shapes.html.j2", title="Shapes", shapes=shown, covers=[held[n] for n in cover], ground=ground, ink=ink
    )
    aim = draw.rng("target").choice(shown or held)
    return pointing(
        "shapes", seed, html, words=f"the {aim.name}", role="button", name=aim.name, id=aim.id, axes=draw.axes,
        viewport=viewport, template=f"shapes-{layout}-{theme}",
    )  # fmt: skip


def _looks(rng: Random, count: int, kinds: int) -> list[tuple[str, str]]:
    forms = rng.sample(sorted(FORMS), kinds)
    return rng.sample(list(product(sorted(COLOURS), forms)), count)


def _mixed(colour: tuple[int, int, int], ground: str, strength: float) -> str:
    under = tuple(int(ground[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c * strength + g * (1 - strength)):02x}" for c, g in zip(colour, under, strict=True))


def _places(rng: Random, layout: str, count: int, side: float, view: Size) -> list[tuple[float, float, float]]:
    """Left, top and size of each shape; sizes differ a little, so that one is the largest."""
    sizes = [side * rng.uniform(0.8, 1.3) for _ in range(count)]
    step = side * rng.uniform(1.6, 2.6)
    if layout == "scatter":
        return _scattered(rng, sizes, view)
    if layout == "ring":
        radius = min(max(count * step / (2 * math.pi), side * 2), min(view.width, view.height) / 2 - side)
        turn = rng.uniform(0, 2 * math.pi)
        spots = [
            (radius * math.cos(turn + 2 * math.pi * n / count), radius * math.sin(turn + 2 * math.pi * n / count))
            for n in range(count)
        ]
    else:
        longest = int((view.width if layout == "row" else view.height) / (side * 1.35)) - 1
        across = {"row": count, "column": 1, "grid": rng.choice([c for c in (2, 3, 4, 5) if c < count])}[layout]
        step = min(step, (view.width if layout == "row" else view.height) / (min(count, longest + 1) + 1))
        step = max(step, side * 1.35)
        spots = [(n % across * step, n // across * step) for n in range(count)]
    return _put(rng, spots, sizes, view)


def _put(
    rng: Random, spots: Sequence[tuple[float, float]], sizes: Sequence[float], view: Size
) -> list[tuple[float, float, float]]:
    """The spots moved to a place of the viewport where all of them fit, in mixed order; what sticks out is scaled down."""
    left, top = min(x for x, _ in spots), min(y for _, y in spots)
    big = max(sizes)
    wide, tall = max(x for x, _ in spots) - left + big, max(y for _, y in spots) - top + big
    fit = min(1.0, (view.width - 20) / wide, (view.height - 20) / tall)
    x0, y0 = rng.uniform(10, view.width - 10 - wide * fit), rng.uniform(10, view.height - 10 - tall * fit)
    placed = [
        (x0 + ((x - left) + (big - own) / 2) * fit, y0 + ((y - top) + (big - own) / 2) * fit, own * fit)
        for (x, y), own in zip(spots, sizes, strict=True)
    ]
    rng.shuffle(placed)
    return placed


def _scattered(rng: Random, sizes: Sequence[float], view: Size) -> list[tuple[float, float, float]]:
    """Anywhere, at least a fifth of a size apart; a shape that finds no room in 200 tries is halved until it does."""
    placed: list[tuple[float, float, float]] = []
    for size in sizes:
        own, x, y = size, 10.0, 10.0
        for attempt in range(2000):
            own = own / 2 if attempt % 200 == 199 else own
            x, y = rng.uniform(10, view.width - own - 10), rng.uniform(10, view.height - own - 10)
            if all(
                x > px + ps + own / 5 or px > x + own * 1.2 or y > py + ps + own / 5 or py > y + own * 1.2
                for px, py, ps in placed
            ):
                break
        placed.append((x, y, own))
    return placed
