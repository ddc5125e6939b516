"""Checks a generated row by a route that shares no code with the generator: Playwright's locators, Chromium's hit test, and
the relations of `docs/relations.md` written down once more on the boxes that Playwright gives.

Only the page's HTML comes from the family, made again from the row's provenance.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cuadata.registry import families
from cuadata.rows import Grounding, Target
from cuadata.types import Size, Task

Box = dict[str, float]
#: CSS px by which two ways of measuring one box may differ.
NEAR = 0.5
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
_WORDS = {
    "above": "above", "over": "above", "below": "below", "under": "below", "underneath": "below", "beneath": "below",
    "left": "left_of", "right": "right_of",
}  # fmt: skip


def task_of(row: Grounding) -> Task:
    """The page of a row, made again."""
    told = json.loads(row.provenance)
    family, seed = told["task"].split("/")
    make: Any = families[family]
    made: Task = make(int(seed), **{**told["options"], "viewport": Size(*told["options"]["viewport"])})
    return made


def show(page: Any, row: Grounding) -> None:
    """Load the page of a row as any program would."""
    page.set_viewport_size({"width": row.viewport_width, "height": row.viewport_height})
    # A second time with the fonts there: the text of a list that was laid out before its font came may stay a pixel off.
    for _ in range(2):
        page.set_content(task_of(row).html or "")
        page.evaluate("() => Promise.all([...document.fonts].map((f) => f.load()))")


def faults(page: Any, row: Grounding, boxes: dict[str, tuple[Box | None, bool]]) -> Iterator[str]:
    """What is wrong with a row whose page is shown; nothing where all is right.

    `boxes` holds what was measured of the shown page already: box, and whether a click reaches it.
    """
    for one in (row.target, *row.references, *row.candidates):
        if one is not None and one.locator is not None:
            if one.locator.css not in boxes:
                found = _measured(page, one)
                boxes[one.locator.css] = found, found is not None and _hit(page, found, one)
            yield from _box(one, boxes[one.locator.css][0])
    references = [boxes[one.locator.css][0] for one in row.references if one.locator is not None]
    held = [(one, *boxes[one.locator.css]) for one in row.candidates if one.locator is not None]
    if row.target is not None and row.target.locator is not None:
        yield from _target(page, row, row.target)
    elif row.action.type != "infeasible" or not row.action.text or row.pair_kind not in ("removed", "covered"):
        yield f"no target, yet {row.action.type} with cause {row.action.text!r} in a pair of kind {row.pair_kind}"
    if row.relation is not None:
        seen = [(one, at) for one, at, hit in held if at is not None and hit]
        fits = _fitting(row, seen, [_there(one) for one in references])
        wanted = [] if row.target is None else [row.target.name]
        if fits != wanted:
            yield f"{row.relation}: {fits} fit, not {wanted}"


def _fitting(row: Grounding, seen: Sequence[tuple[Target, Box]], references: Sequence[Box]) -> list[str]:
    """Names of all that answer a row's relation, or all the relations that its instruction states."""
    assert row.relation is not None
    if row.relation.startswith("nth_"):
        return _counted(row, seen, references[0] if references else None)
    page = {"x": 0.0, "y": 0.0, "width": float(row.viewport_width), "height": float(row.viewport_height)}
    if "relation=composed" in row.axes:
        said = _directions(row.instruction)
        assert len(said) == len(references), f"{row.instruction!r} says {said} of {len(references)} references"
        both = list(zip(said, references, strict=True))
        return [one.name for one, at in seen if all(RELATIONS[name](at, [held], "") for name, held in both)]
    holds = RELATIONS.get(row.relation, _any)
    found = [(one, at) for one, at in seen if holds(at, [*references, page], row.instruction)]
    if row.relation == "nearest" or "nearest " in row.instruction:
        found = sorted(found, key=lambda one: distance(one[1], references[0]))[:1]
    return [one.name for one, _ in found]


def _directions(text: str) -> list[str]:
    """The directions that an instruction states, in its order; what stands in quotes is a name and states none."""
    plain = re.sub(r"'[^']*'", "", text.lower())
    return [_WORDS[word] for word in re.findall(rf"\b({'|'.join(_WORDS)})\b", plain)]


def _counted(row: Grounding, seen: Sequence[tuple[Target, Box]], reference: Box | None) -> list[str]:
    """Who has the place that an instruction counts to; nobody where what is counted forms no single row or column."""
    places = [number for word, number in _ORDINALS.items() if re.search(rf"\b{word}\b", row.instruction.lower())]
    assert len(places) == 1, f"{row.instruction!r} counts to {places}"
    line = {"nth_in_row": _row, "nth_in_column": _column}.get(row.relation or "")
    held = [one for one in seen if line is None or reference is None or line(one[1], reference)]
    held.sort(key=lambda one: (one[1]["x"],) if line is _row else (one[1]["y"], one[1]["x"]))
    if line is not None and not all(line(one[1], other[1]) for one, other in itertools.pairwise(held)):
        return []
    place = places[0] - 1 if places[0] > 0 else len(held) - 1
    return [held[place][0].name] if place < len(held) else []


def _any(t: Box, held: Sequence[Box], text: str) -> bool:
    return True


def _there(box: Box | None) -> Box:
    assert box is not None, "a reference is not on the page"
    return box


def _measured(page: Any, one: Target) -> Box | None:
    assert one.locator is not None
    found: Box | None = page.locator(one.locator.css).bounding_box()
    return found


def _box(one: Target, found: Box | None) -> Iterator[str]:
    if (
        found is None
        or one.bbox is None
        or any(abs(found[side] - getattr(one.bbox, side)) > NEAR for side in ("x", "y", "width", "height"))
    ):
        yield f"{one.name}: box {found}, row says {one.bbox}"


def _target(page: Any, row: Grounding, target: Target) -> Iterator[str]:
    point, css = row.action.point, target.locator.css if target.locator else ""
    if point is None:
        yield "no point"
        return
    on = page.evaluate("([x, y]) => document.elementFromPoint(x, y)?.closest('[id]')?.id", [point.x, point.y])
    if f"#{on}" != css:
        yield f"the click lands on #{on}, not on {css}"
    role: Any = target.role
    count = page.get_by_role(role, name=target.name, exact=True).count()
    if count != 1:
        yield f"{count} elements are a {role} named {target.name!r}"


def _hit(page: Any, box: Box, one: Target) -> bool:
    """Whether a click somewhere on the box would reach the element."""
    assert one.locator is not None
    spots = [
        (box["x"] + box["width"] * a, box["y"] + box["height"] * b) for a in (0.1, 0.5, 0.9) for b in (0.1, 0.5, 0.9)
    ]
    return bool(
        page.evaluate(
            "([id, spots]) => spots.filter(([x, y]) => document.elementFromPoint(x, y)?.closest('[id]')?.id === id).length > 2",
            [one.locator.css[1:], spots],
        )
    )


# The relations once more, from docs/relations.md ----------------------------------------------------------------------


def _span(a: float, b: float, c: float, d: float) -> float:
    """Shared length of [a, a+b] and [c, c+d], as a share of the shorter."""
    return (min(a + b, c + d) - max(a, c)) / min(b, d)


def _above(t: Box, r: Box) -> bool:
    return t["y"] + t["height"] <= r["y"] + NEAR and _span(t["x"], t["width"], r["x"], r["width"]) >= 0.49


def _left(t: Box, r: Box) -> bool:
    return t["x"] + t["width"] <= r["x"] + NEAR and _span(t["y"], t["height"], r["y"], r["height"]) >= 0.49


def _inside(t: Box, r: Box) -> bool:
    across = r["x"] - NEAR <= t["x"] and t["x"] + t["width"] <= r["x"] + r["width"] + NEAR
    return across and r["y"] - NEAR <= t["y"] and t["y"] + t["height"] <= r["y"] + r["height"] + NEAR and t != r


def _overlap(t: Box, r: Box) -> bool:
    wide, tall = _span(t["x"], t["width"], r["x"], r["width"]), _span(t["y"], t["height"], r["y"], r["height"])
    return wide > 0 and tall > 0 and not _inside(t, r) and not _inside(r, t)


def _line(at: float, extent: float, other: float, size: float) -> bool:
    apart = min(abs(at - other), abs(at + extent / 2 - other - size / 2), abs(at + extent - other - size))
    return apart <= min(extent, size) / 2 + NEAR and max(extent, size) <= 3 * min(extent, size)


def _row(t: Box, r: Box) -> bool:
    return _line(t["y"], t["height"], r["y"], r["height"]) and _span(t["x"], t["width"], r["x"], r["width"]) <= 0.01


def _column(t: Box, r: Box) -> bool:
    return _line(t["x"], t["width"], r["x"], r["width"]) and _span(t["y"], t["height"], r["y"], r["height"]) <= 0.01


def _at(t: Box, page: Box, text: str) -> bool:
    far = {
        "left": t["x"] / page["width"],
        "right": 1 - (t["x"] + t["width"]) / page["width"],
        "top": t["y"] / page["height"],
        "bottom": 1 - (t["y"] + t["height"]) / page["height"],
    }
    return all(far[side] <= 0.1 for side in far if f"{side} " in text or f"{side}-" in text)


def _between(t: Box, a: Box, b: Box) -> bool:
    return any(_above(p, t) and _above(t, q) or _left(p, t) and _left(t, q) for p, q in ((a, b), (b, a)))


RELATIONS: dict[str, Callable[[Box, Sequence[Box], str], bool]] = {
    "above": lambda t, held, text: _above(t, held[0]),
    "below": lambda t, held, text: _above(held[0], t),
    "left_of": lambda t, held, text: _left(t, held[0]),
    "right_of": lambda t, held, text: _left(held[0], t),
    "inside": lambda t, held, text: _inside(t, held[0]),
    "contains": lambda t, held, text: _inside(held[0], t),
    "overlapping": lambda t, held, text: _overlap(t, held[0]),
    "same_row": lambda t, held, text: _row(t, held[0]),
    "same_column": lambda t, held, text: _column(t, held[0]),
    "between": lambda t, held, text: _between(t, held[0], held[1]),
    "at_edge": lambda t, held, text: _at(t, held[-1], text),
    "at_corner": lambda t, held, text: _at(t, held[-1], text),
}


def distance(t: Box, r: Box) -> float:
    """Shortest distance of two boxes, CSS px."""
    across = max(r["x"] - t["x"] - t["width"], t["x"] - r["x"] - r["width"], 0.0)
    return math.hypot(across, max(r["y"] - t["y"] - t["height"], t["y"] - r["y"] - r["height"], 0.0))
