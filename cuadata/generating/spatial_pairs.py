"""Perturbations of the picture alone, by a known affine, so that the truth is mapped exactly; and the row of any pair."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import fields
from random import Random
from typing import Any, Final

from cuadata import image
from cuadata.rows import Grounding, Pair, Target
from cuadata.types import BBox, Image, Point

#: Relations that the picture's edges take part in, or that count what may be cut off.
_OF_THE_PAGE: Final = frozenset(("at_corner", "at_edge", "nth_in_row", "nth_in_column", "nth_in_list"))
Affine = tuple[float, float, float, float, float, float]


def pictures(row: Grounding, rng: Random) -> Pair | None:
    """A row under one change of the picture alone; None where none is sure to keep the truth.

    `transform` holds the affine [a, b, c, d, e, f] in image px: x' = a x + b y + c, y' = d x + e y + f. There is no mirror
    image: text and the words left and right would turn false.
    """
    from PIL import Image as Pillow

    kinds = [name for name in _CHANGES if row.relation not in _OF_THE_PAGE or name not in ("crop", "pad")]
    if row.target is None or row.target.bbox is None:
        return None
    kind = rng.choice(kinds)
    with Pillow.open(io.BytesIO(image.read(row.image))) as opened:
        changed, affine, told = _CHANGES[kind](opened.convert("RGB"), row, rng)
    out = io.BytesIO()
    changed.save(out, "PNG")
    transform = {"kind": kind, "affine": [round(one, 6) for one in affine], "unit": "image px", **told}
    return pair(row, image.from_bytes(out.getvalue(), phash=False), mapped(row.target, affine, row), kind, transform)


def pair(row: Grounding, picture: Image, target: Target | None, kind: str, transform: dict[str, Any]) -> Pair:
    """The row of a picture and its change."""
    shared = {one.name: getattr(row, one.name) for one in fields(Pair) if hasattr(row, one.name)}
    return Pair(**shared, transformed=picture, transformed_target=target, transform=json.dumps(transform), kind=kind)


def mapped(target: Target, affine: Affine, row: Grounding) -> Target:
    """A target in the changed picture, in its image px; the affine turns nothing."""
    a, _, c, _, e, f = affine
    k = row.image_width / row.viewport_width
    box, point = target.bbox, target.point
    return Target(
        role=target.role,
        name=target.name,
        text=target.text,
        bbox=BBox(box.x * k * a + c, box.y * k * e + f, box.width * k * a, box.height * k * e) if box else None,
        point=Point(point.x * k * a + c, point.y * k * e + f) if point else None,
        seen=target.seen,
        hit=target.hit,
        locator=target.locator,
    )


_STILL: Final[Affine] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
Changed = tuple[Any, Affine, dict[str, Any]]


def _crop(picture: Any, row: Grounding, rng: Random) -> Changed:
    """Some of the picture, with target and references whole in it."""
    k = row.image_width / row.viewport_width
    whole = [t.bbox for t in (row.target, *row.references) if t is not None and t.bbox is not None]
    left = int(rng.uniform(0.3, 1) * max(0.0, min(b.x for b in whole) * k - 2))
    top = int(rng.uniform(0.3, 1) * max(0.0, min(b.y for b in whole) * k - 2))
    right = min(picture.width, int(max(b.right for b in whole) * k + 2 + rng.uniform(0, 200)))
    bottom = min(picture.height, int(max(b.bottom for b in whole) * k + 2 + rng.uniform(0, 200)))
    return (
        picture.crop((left, top, right, bottom)),
        (1.0, 0.0, -left, 0.0, 1.0, -top),
        {"box": [left, top, right, bottom]},
    )


def _scale(picture: Any, row: Grounding, rng: Random) -> Changed:
    from PIL import Image as Pillow

    share = rng.choice((0.5, 0.75, 1.5))
    size = (round(picture.width * share), round(picture.height * share))
    affine = (size[0] / picture.width, 0.0, 0.0, 0.0, size[1] / picture.height, 0.0)
    return picture.resize(size, Pillow.Resampling.LANCZOS), affine, {"share": share}


def _pad(picture: Any, row: Grounding, rng: Random) -> Changed:
    from PIL import Image as Pillow

    left, top, right, bottom = (rng.randint(0, 120) for _ in range(4))
    ground = Pillow.new("RGB", (picture.width + left + right, picture.height + top + bottom), (128, 128, 128))
    ground.paste(picture, (left, top))
    return ground, (1.0, 0.0, left, 0.0, 1.0, top), {"left": left, "top": top, "right": right, "bottom": bottom}


def _blur(picture: Any, row: Grounding, rng: Random) -> Changed:
    from PIL import ImageFilter

    return picture.filter(ImageFilter.GaussianBlur(1.0)), _STILL, {"radius": 1.0}


def _jpeg(picture: Any, row: Grounding, rng: Random) -> Changed:
    from PIL import Image as Pillow

    out, quality = io.BytesIO(), rng.choice((40, 60, 80))
    picture.save(out, "JPEG", quality=quality)
    return Pillow.open(io.BytesIO(out.getvalue())), _STILL, {"quality": quality}


def _contrast(picture: Any, row: Grounding, rng: Random) -> Changed:
    from PIL import ImageEnhance

    share = rng.choice((0.6, 1.4))
    return ImageEnhance.Contrast(picture).enhance(share), _STILL, {"share": share}


def _noise(picture: Any, row: Grounding, rng: Random) -> Changed:
    import numpy as np
    from PIL import Image as Pillow

    seed = rng.randrange(2**32)
    noise = np.random.default_rng(seed).normal(0, 8, (picture.height, picture.width, 3))
    pixels = np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8)
    return Pillow.fromarray(pixels), _STILL, {"sigma": 8, "seed": seed}


_CHANGES: Final[dict[str, Callable[[Any, Grounding, Random], Changed]]] = {
    "crop": _crop, "scale": _scale, "pad": _pad, "blur": _blur, "jpeg": _jpeg, "contrast": _contrast, "noise": _noise,
}  # fmt: skip
