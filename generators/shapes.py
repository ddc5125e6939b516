"""Coloured shapes on an empty ground: the plainest page on which a spatial relation can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Final

from cuadata.registry import families
from cuadata.types import Size, Task

from ._draw import Draw
from ._places import HOSTS, Spot, spots
from ._scene import Place, pointing, scene, swapped

LAYOUTS: Final = ("grid", "row", "column", "scatter", "ring", "nested", "overlap", "rim")
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
    raised: bool


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
    overlay: Place | None = None,
) -> Task:
    """5 to 16 shapes, each of its own colour and form, as buttons in a grid, a row, a column, a ring, anywhere, one
    in another, one over the edge of another, or at the rim of the page.

    `layout`, `theme`, `count`, `size` (CSS px) and `forms` (how many share the page) fix axes that the seed would draw.
    `scale` enlarges the shapes. For minimal pairs: `swap` exchanges the places of two shapes, `without` leaves some out,
    `cover` paints over some; they are numbered from 0 in document order, and nothing else of the page changes. `overlay` lays a
    notice over the page: left, top, width and height in CSS px.
    """
    draw = Draw("shapes", seed)
    layout = draw.axis("layout", LAYOUTS, layout)
    theme = draw.axis("theme", tuple(THEMES), theme)
    number = draw.axis("count", COUNTS, count)
    side = draw.axis("size", SIZES, size) * scale
    kinds = draw.axis("forms", FORMS_A_PAGE, forms)
    ground, ink, strength = THEMES[theme]
    places = spots(draw.rng("places"), layout, number, side, viewport)
    looks = _looks(draw.rng("looks"), places, kinds)
    held = [
        Shape(
            id=f"e{n}", name=f"{colour} {form}", path=FORMS[form], fill=_mixed(COLOURS[colour], ground, strength),
            x=round(spot.x, 1), y=round(spot.y, 1), size=round(spot.size, 1), raised=spot.raised,
        )
        for n, ((colour, form), spot) in enumerate(zip(looks, swapped(places, swap), strict=True))
    ]  # fmt: skip
    shown = [one for n, one in enumerate(held) if n not in without]
    html = scene(
        "shapes.html.j2",
        title="Shapes",
        shapes=shown,
        covers=[held[n] for n in cover],
        ground=ground,
        ink=ink,
        overlay=overlay,
    )
    aim = draw.rng("target").choice(shown or held)
    return pointing(
        "shapes", seed, html, words=f"the {aim.name}", role="button", name=aim.name, id=aim.id, axes=draw.axes,
        viewport=viewport, template=f"shapes-{layout}-{theme}",
    )  # fmt: skip


def _looks(rng: Random, places: Sequence[Spot], kinds: int) -> list[tuple[str, str]]:
    """Colour and form of each shape, all different; those that others are drawn in have a form that holds them."""
    left = list(product(sorted(COLOURS), rng.sample(sorted(FORMS), kinds)))
    roomy = list(product(sorted(COLOURS), HOSTS))
    rng.shuffle(left)
    rng.shuffle(roomy)
    made = []
    for spot in places:
        made.append((roomy if spot.host else left).pop())
        left, roomy = ([one for one in some if one != made[-1]] for some in (left, roomy))
    return made


def _mixed(colour: tuple[int, int, int], ground: str, strength: float) -> str:
    under = tuple(int(ground[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c * strength + g * (1 - strength)):02x}" for c, g in zip(colour, under, strict=True))
