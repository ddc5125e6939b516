"""What is drawn over a picture to show an action: boxes, points and arrows as SVG, in CSS px of the viewport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

#: Actions that are drawn at their point.
_AT_POINT = frozenset({"click", "double_click", "right_click", "hover", "drag", "scroll", "select", "type"})


def svg(
    width: int,
    height: int,
    action: Mapping[str, Any],
    target: Mapping[str, Any] | None,
    references: Sequence[Mapping[str, Any]] = (),
) -> Markup:
    """An SVG that lies over the picture, whatever size it is shown at. Rows are dicts as Parquet gives them back."""
    parts = [_box(one.get("bbox"), "reference") for one in references]
    if target is not None:
        parts.append(_box(target.get("bbox"), "target"))
    point = action.get("point") or (target or {}).get("point")
    size = max(width, height, 1) / 70
    if point and action["type"] in _AT_POINT:
        if action.get("end"):
            parts.append(_arrow(point, action["end"], size))
        if action["type"] == "scroll":
            parts.append(_arrow(point, _scrolled(point, action, min(width, height) / 4), size))
        parts.append(_point(point))
    elif action["type"] == "scroll":
        middle = {"x": width / 2, "y": height / 2}
        parts.append(_arrow(middle, _scrolled(middle, action, min(width, height) / 4), size))
    return Markup('<svg viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        max(width, 1), max(height, 1), Markup("").join(parts)
    )


def _box(box: Mapping[str, float] | None, what: str) -> Markup:
    if box is None:
        return Markup("")
    shape = 'x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"'.format(
        box["x"] - 2, box["y"] - 2, max(box["width"], 0) + 4, max(box["height"], 0) + 4
    )
    return Markup(f'<rect class="halo" {shape}/><rect class="{escape(what)}" {shape}/>')


def _point(point: Mapping[str, float]) -> Markup:
    """A dot that is as large on a small picture as on a large one: the round cap of a line of no length."""
    path = f"M{point['x']:.1f} {point['y']:.1f}h.01"
    return Markup(f'<path class="ring" d="{path}"/><path class="point" d="{path}"/>')


def _arrow(start: Mapping[str, float], end: Mapping[str, float], size: float) -> Markup:
    """A line with a head, drawn as three strokes."""
    dx, dy = end["x"] - start["x"], end["y"] - start["y"]
    length = max((dx * dx + dy * dy) ** 0.5, 1e-6)
    ux, uy = dx / length * size, dy / length * size
    tip = (end["x"], end["y"])
    left, right = (tip[0] - ux - uy * 0.7, tip[1] - uy + ux * 0.7), (tip[0] - ux + uy * 0.7, tip[1] - uy - ux * 0.7)
    path = f"M{start['x']:.1f} {start['y']:.1f}L{tip[0]:.1f} {tip[1]:.1f}"
    path += f"M{left[0]:.1f} {left[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}L{right[0]:.1f} {right[1]:.1f}"
    return Markup(f'<path class="halo" d="{path}"/><path class="arrow" d="{path}"/>')


def _scrolled(start: Mapping[str, float], action: Mapping[str, Any], length: float) -> dict[str, float]:
    across, down = action.get("scroll_x") or 0.0, action.get("scroll_y") or 0.0
    size = max((across * across + down * down) ** 0.5, 1e-6)
    return {"x": start["x"] + across / size * length, "y": start["y"] + down / size * length}
