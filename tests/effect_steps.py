"""Pages, pictures and steps for the tests of effects, made on the spot."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw

from cuadata.image import from_bytes
from cuadata.types import Action, BBox, Effect, Element, Image, Locator, Observation, Point, Size, States, Step

Array = NDArray[np.uint8]


def page(width: int = 640, height: int = 400) -> Pillow.Image:
    """A page with a heading, lines of text, boxes and a button."""
    picture = Pillow.new("RGB", (width, height), (246, 247, 249))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, width, 40), fill=(34, 51, 68))
    draw.text((16, 12), "Orders", fill="white")
    for line in range(6):
        draw.text((20, 60 + 22 * line), f"Order {1000 + 37 * line} was sent to Kiel on day {line}", fill=(30, 30, 30))
    for line in range(4):
        draw.rectangle((20, 220 + 24 * line, 33, 233 + 24 * line), outline=(90, 90, 90), fill="white")
        draw.text((42, 221 + 24 * line), f"Option {line}", fill=(30, 30, 30))
    draw.rectangle((20, 330, 120, 360), fill=(0, 102, 204))
    draw.text((46, 338), "Send", fill="white")
    return picture


def drawn(base: Pillow.Image, draw: Any) -> Pillow.Image:
    """A copy of a picture with something drawn on it; `draw` takes an ImageDraw."""
    copy = base.copy()
    draw(ImageDraw.Draw(copy))
    return copy


def encoded(picture: Pillow.Image, kind: str = "PNG", **options: Any) -> bytes:
    """A picture's bytes."""
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def array(picture: Pillow.Image) -> Array:
    """A picture's levels, (height, width, 3)."""
    return np.asarray(picture.convert("RGB"))


def element(id: int, role: str, name: str, bbox: BBox | None = None, **states: Any) -> Element:
    """An element that is found again by its locator."""
    place = bbox or BBox(20, 20 * id, 100, 18)
    return Element(
        id=id,
        role=role,
        name=name,
        bbox=place,
        states=States(**states),
        locator=Locator(css=f"#e{id}"),
        interactive=True,
    )


def observation(*elements: Element, picture: Image | None = None, **more: Any) -> Observation:
    """What stood, with these elements."""
    more.setdefault("viewport", Size(640, 400))
    return Observation(screenshot=picture, elements=elements, url=more.pop("url", "http://localhost/"), **more)


def described(picture: Pillow.Image) -> Image:
    """A picture as a recording holds it."""
    return from_bytes(encoded(picture), phash=False)


def step(index: int, action: Action, effect: str | None, before: Observation, after: Observation | None = None) -> Step:
    """A step whose effect is of that kind."""
    measured = None if effect is None else Effect(kind=effect)  # type: ignore[arg-type]
    return Step(index=index, time=float(index), observation=before, action=action, after=after, effect=measured)


def click(x: float, y: float, element: int | None = None) -> Action:
    """A click."""
    return Action(type="click", point=Point(x, y), element=element)
