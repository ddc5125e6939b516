"""What a row of `pairs` says beside its own label: that the truth is the one that it gives under the change that it states.

A change of the picture alone is made again and held against the changed picture, and its affine against the target. A page
that was rendered another way gives a row of its own, which is judged as any other on the page rendered that way.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from cuadata import image
from cuadata.errors import DataError
from cuadata.judging.judging import kept, rejected
from cuadata.rows import Candidate, Example, Pair, Target, Verdict
from cuadata.splitting import examples
from cuadata.types import BBox, Point

_NAME: Final = "pair"
#: Image px: `transform` is written with six digits.
SLACK: Final = 0.05
#: Levels of 255 by which the mean of 8x8 px may differ from the change made again: other builds of a codec round otherwise.
LEVELS: Final = 12.0
#: What `transform` says beside the options of the page's family.
_OF_THE_PAIR: Final = ("kind", "viewport", "ratio", "unit", "instruction")


def stated(row: Pair) -> Mapping[str, Any]:
    """The change that a row states. DataError where it states none."""
    try:
        held = json.loads(row.transform)
    except ValueError:
        held = None
    if not isinstance(held, dict) or "kind" not in held:
        raise DataError("its `transform` names no change", place=f"pairs: row {row.id}")
    return held


def of_the_picture(row: Pair) -> Verdict:
    """Whether a change of the picture alone, one with an affine, is in the changed picture, and the target where it says."""
    change, target, moved = stated(row), row.target, row.transformed_target
    evidence = {"transform": dict(change), "target": target, "transformed": moved}
    if change["kind"] != row.kind or target is None or moved is None:
        return rejected(_NAME, "pair_false", evidence, why="it has no target, or another kind than its change")
    if (moved.role, moved.name, moved.text) != (target.role, target.name, target.text):
        return rejected(_NAME, "pair_false", evidence, why="another element")
    try:
        wanted = _mapped(target, change["affine"], row.image_width / row.viewport_width)
        if not _same(wanted, moved):
            return rejected(_NAME, "pair_false", evidence, why="the target lies elsewhere", wanted=wanted)
        off = _off(row, change)
    except (ArithmeticError, LookupError, TypeError, ValueError, OSError) as error:
        return rejected(_NAME, "pair_false", evidence, why=f"the change cannot be made again: {error}")
    if off is None:
        return rejected(_NAME, "pair_false", evidence, why="the changed picture is of another size")
    if off > LEVELS:
        return rejected(_NAME, "pair_false", evidence, why="the changed picture shows something else", levels=off)
    return kept(_NAME, levels=off)


def _mapped(target: Target, affine: Sequence[float], scale: float) -> Target:
    """A target under x' = a x + b y + c and y' = d x + e y + f, in image px."""
    a, b, c, d, e, f = affine

    def place(x: float, y: float) -> tuple[float, float]:
        return a * x * scale + b * y * scale + c, d * x * scale + e * y * scale + f

    box, point = target.bbox, target.point
    corners = [place(box.x, box.y), place(box.right, box.bottom)] if box is not None else []
    return replace(
        target,
        bbox=BBox(*corners[0], corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]) if corners else None,
        point=Point(*place(point.x, point.y)) if point is not None else None,
    )


def _same(one: Target, other: Target) -> bool:
    return _near(one.bbox, other.bbox) and _near(one.point, other.point)


def _near(one: BBox | Point | None, other: BBox | Point | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(abs(getattr(one, f.name) - getattr(other, f.name)) <= SLACK for f in fields(one))


def _off(row: Pair, change: Mapping[str, Any]) -> float | None:
    """By how many levels a part of the changed picture differs at most from the change made again; None: in its size."""
    import numpy as np
    from PIL import Image as Pillow

    seen = image.rgb(image.read(row.transformed))
    with Pillow.open(io.BytesIO(image.read(row.image))) as opened:
        again = np.asarray(_CHANGES[row.kind](opened.convert("RGB"), change).convert("RGB"))
    if again.shape != seen.shape:
        return None
    return float(np.abs(_parts(again) - _parts(seen)).max())


def _parts(picture: Any) -> Any:
    """The means of squares of 8x8 px, in which noise evens out; what is left at the right and bottom makes squares of its own."""
    import numpy as np

    tall, wide = picture.shape[:2]
    filled = np.pad(picture.astype(np.float32), ((0, -tall % 8), (0, -wide % 8), (0, 0)), mode="edge")
    return filled.reshape(filled.shape[0] // 8, 8, filled.shape[1] // 8, 8, 3).mean(axis=(1, 3))


def _crop(picture: Any, change: Mapping[str, Any]) -> Any:
    return picture.crop(tuple(change["box"]))


def _scale(picture: Any, change: Mapping[str, Any]) -> Any:
    from PIL import Image as Pillow

    size = (round(picture.width * change["share"]), round(picture.height * change["share"]))
    return picture.resize(size, Pillow.Resampling.LANCZOS)


def _pad(picture: Any, change: Mapping[str, Any]) -> Any:
    from PIL import Image as Pillow

    size = (picture.width + change["left"] + change["right"], picture.height + change["top"] + change["bottom"])
    ground = Pillow.new("RGB", size, (128, 128, 128))
    ground.paste(picture, (change["left"], change["top"]))
    return ground


def _blur(picture: Any, change: Mapping[str, Any]) -> Any:
    from PIL import ImageFilter

    return picture.filter(ImageFilter.GaussianBlur(change["radius"]))


def _jpeg(picture: Any, change: Mapping[str, Any]) -> Any:
    from PIL import Image as Pillow

    out = io.BytesIO()
    picture.save(out, "JPEG", quality=change["quality"])
    return Pillow.open(io.BytesIO(out.getvalue()))


def _contrast(picture: Any, change: Mapping[str, Any]) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(picture).enhance(change["share"])


def _noise(picture: Any, change: Mapping[str, Any]) -> Any:
    import numpy as np
    from PIL import Image as Pillow

    noise = np.random.default_rng(change["seed"]).normal(0, change["sigma"], (picture.height, picture.width, 3))
    return Pillow.fromarray(np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8))


_CHANGES: Final[dict[str, Callable[[Any, Mapping[str, Any]], Any]]] = {
    "crop": _crop, "scale": _scale, "pad": _pad, "blur": _blur, "jpeg": _jpeg, "contrast": _contrast, "noise": _noise,
}  # fmt: skip


def elsewhere(row: Pair) -> Example:
    """The row of a page that was rendered another way, as it stands there; its references are still those of the page as it was."""
    change, target = stated(row), row.transformed_target
    said = change.get("instruction", row.instruction)
    held = {one.name: getattr(row, one.name) for one in fields(Example)}
    try:
        wide, tall = map(int, change.get("viewport", (row.viewport_width, row.viewport_height)))
        ratio = float(change.get("ratio", row.device_pixel_ratio))
        made = dict(json.loads(row.provenance))
        known = dict(made.get("options", {}))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"its `transform` or `provenance` cannot be read: {error}", place=f"pairs: row {row.id}"
        ) from error
    options = {name: value for name, value in change.items() if name not in _OF_THE_PAIR}
    made |= {"options": {**known, **options}, "variant": change["kind"]}
    if said != row.instruction:
        made.pop("words", None)  # they are those of the other language
    return replace(
        Example(**held), instruction=said, image=row.transformed, image_width=row.transformed.width,
        image_height=row.transformed.height, viewport_width=wide, viewport_height=tall,
        device_pixel_ratio=ratio, target=target,
        action=replace(row.action, point=target.point if target is not None else None), provenance=json.dumps(made),
    )  # fmt: skip


def with_references_of_its_page(candidate: Candidate) -> Candidate:
    """A candidate whose references are what the same elements are on its page; one that is not there stays as it was.

    Where the page is not known, neither is where they lie on it: then it has none.
    """
    example, page = candidate.example, candidate.observation
    if page is None:
        return replace(candidate, example=replace(example, references=()))
    found = {one.locator: one for one in page.elements}
    references = tuple(
        examples.target_row(found[one.locator]) if one.locator is not None and one.locator in found else one
        for one in example.references
    )
    return replace(candidate, example=replace(example, references=references))
