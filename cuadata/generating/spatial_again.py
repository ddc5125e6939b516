"""Perturbations by rendering again: the page zoomed, restyled, translated, partly hidden, measured anew, or no pair at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cuadata.generating import spatial_pairs, spatial_render, spatial_rows
from cuadata.generating.spatial_blocks import AXES
from cuadata.generating.spatial_render import Page
from cuadata.generating.spatial_scene import Question
from cuadata.judging.gating import Chosen
from cuadata.rows import Grounding, Pair
from cuadata.splitting import examples
from cuadata.types import BBox, Size


class Change(NamedTuple):
    """How a page is rendered another way."""

    options: Mapping[str, Any] = MappingProxyType({})
    viewport: Size | None = None
    ratio: float = 1.0


Plan = Callable[[Page, Grounding, Random], "Change | None"]


def _resized(page: Page, share: float) -> Size:
    view = page.look.observation.viewport
    return Size(round(view.width * share), round(view.height * share))


def _other(axis: str) -> Plan:
    """Another value of an axis; None where the page's family does not have it."""

    def change(page: Page, row: Grounding, rng: Random) -> Change | None:
        values = AXES[page.task.family].get(axis, ())
        left = [one for one in values if one != page.options[axis]]
        return Change({axis: rng.choice(left)}) if left else None

    return change


def _font(page: Page, row: Grounding, rng: Random) -> Change | None:
    return Change({"font": "serif"}) if page.task.family == "widgets" else None


def _overlay(page: Page, row: Grounding, rng: Random) -> Change | None:
    """A notice at an edge or a corner of the page, that leaves target and references as they are."""
    view = page.look.observation.viewport
    held = [t.bbox for t in (row.target, *row.references) if t is not None and t.bbox is not None]
    sizes = [(view.width, 64), (340, 110), (260, 200)]
    spots = [
        (x, y, wide, tall)
        for wide, tall in sizes
        for x in {0, (view.width - wide) // 2, view.width - wide}
        for y in (0, (view.height - tall) // 2, view.height - tall)
        if not any(_touch(BBox(x, y, wide, tall), one) for one in held)
    ]
    return Change({"overlay": rng.choice(sorted(spots))}) if spots else None


def _touch(one: BBox, other: BBox, room: float = 8.0) -> bool:
    return (
        one.x < other.right + room
        and other.x < one.right + room
        and one.y < other.bottom + room
        and other.y < one.bottom + room
    )


#: Name -> what changes. Zoom is a smaller viewport at a higher pixel ratio, as browsers do it.
RENDERED: Final[dict[str, Plan]] = {
    "zoom": lambda page, row, rng: Change(viewport=_resized(page, 1 / 1.25), ratio=1.25),
    "viewport": lambda page, row, rng: Change(viewport=_resized(page, 1.2)),
    "pixel_ratio": lambda page, row, rng: Change(ratio=2.0),
    "text_size": lambda page, row, rng: Change({"scale": 1.25}),
    "theme": _other("theme"),
    "density": _other("density"),
    "language": _other("language"),
    "font": _font,
    "overlay": _overlay,
}


def rendered(
    page: Page, row: Grounding, question: Question | None, rng: Random, gates: Sequence[Chosen]
) -> Pair | None:
    """A row's page rendered another way and measured again; None where the row is not true there.

    `question`: what the row asks by place; None for a row by name, look or use. In another language the names that an
    instruction speaks of are others: the pair's `transform` then holds the instruction in the names of that page.
    """
    if row.target is None or (row.relation is not None and question is None):
        return None
    kind = rng.choice(sorted(RENDERED))
    change = RENDERED[kind](page, row, rng)
    if change is None or (kind == "language" and question is None):
        return None
    changed = spatial_render.again(page, kind, change.options, viewport=change.viewport, ratio=change.ratio)
    found = _asked_there(changed, row, question, kind, rng)
    if found is None or spatial_rows.judged(found, changed, gates) is not None:
        return None
    seen = changed.look.observation
    transform = {
        "kind": kind, "viewport": [seen.viewport.width, seen.viewport.height], "ratio": seen.device_pixel_ratio,
        "unit": "CSS px", **change.options,
    }  # fmt: skip
    if found.instruction != row.instruction:
        transform["instruction"] = found.instruction
    return spatial_pairs.pair(row, found.image, found.target, kind, transform)


def _asked_there(changed: Page, row: Grounding, question: Question | None, kind: str, rng: Random) -> Grounding | None:
    """The row as it stands on the page that was rendered another way; None where it has another answer there."""
    assert row.target is not None
    references: list[Any] = []
    if question is not None:
        scene, held = changed.scene, changed.scene.again(question)
        again = scene.question(question.kind, question.thing, question.stated, held) if held else None
        if again is None or again.target.locator != question.target.locator:
            return None
        if kind == "language":
            return replace(spatial_rows.asked(changed, again, rng), id=row.id)
        references = list(again.all_references)
    target = next((e for e in changed.scene.targets if e.locator == row.target.locator), None)
    shot, seen = changed.look.observation.screenshot, changed.look.observation
    if target is None or shot is None:
        return None
    return replace(
        row, target=examples.target_row(target), references=tuple(map(examples.target_row, references)),
        image=shot, image_width=shot.width, image_height=shot.height,
        viewport_width=seen.viewport.width, viewport_height=seen.viewport.height,
        device_pixel_ratio=seen.device_pixel_ratio, action=replace(row.action, point=target.point),
    )  # fmt: skip
