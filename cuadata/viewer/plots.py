"""Pictures of an evaluation: rates with their intervals, misses, flips, failures, lengths; one PNG each.

Every rate is drawn with its Wilson interval and the number of items behind it, and trivial policies stand in the same axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Okabe and Ito's colours, told apart by colour-blind readers: blue, vermilion, green, orange, sky, purple, yellow, grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#8A8A8A")
GREY, INK = "#8A8A8A", "#222222"
_STYLE: Any = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#B0B0B0",
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.dpi": 110,
    "savefig.bbox": "tight",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One rate in a plot: its label, value, ends of its interval and number of items."""

    label: str
    value: float
    low: float
    high: float
    n: int
    muted: bool = False


def row(label: str, rate: Mapping[str, Any], *, muted: bool = False) -> Row | None:
    """A row from a rate as results hold it; None for a rate of nothing."""
    value = rate.get("accuracy", rate.get("rate"))
    if value is None or rate.get("interval") is None:
        return None
    low, high = rate["interval"]
    return Row(label, value, low, high, rate["n"], muted)


def rates(path: Path, title: str, groups: Mapping[str, Sequence[Row | None]], *, xlabel: str = "share right") -> bool:
    """Rates as dots with intervals, one line a row and one colour a group. False where there is nothing to draw."""
    held = {name: [r for r in rows if r is not None] for name, rows in groups.items()}
    labels = list(dict.fromkeys(r.label for rows in held.values() for r in rows))
    if not labels:
        return False
    return _drawn(path, (7.2, 0.7 + 0.36 * len(labels)), lambda axes: _rates(axes, title, held, labels, xlabel))


def _rates(axes: Any, title: str, held: Mapping[str, Sequence[Row]], labels: Sequence[str], xlabel: str) -> None:
    shift = {name: 0.2 * (i - (len(held) - 1) / 2) for i, name in enumerate(held)}
    for colour, (name, rows) in zip(COLOURS, held.items(), strict=False):
        for one in rows:
            y = labels.index(one.label) + shift[name]
            shade = GREY if one.muted else colour
            axes.plot([one.low, one.high], [y, y], color=shade, lw=2, solid_capstyle="round", alpha=0.65)
            axes.plot([one.value], [y], "o", color=shade, ms=6)
    if len(held) > 1:
        for colour, name in zip(COLOURS, held, strict=False):
            axes.plot([], [], "o", color=colour, label=name)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(held), borderaxespad=0, handletextpad=0.1)
    counts = {r.label: r.n for rows in held.values() for r in rows}
    axes.set_yticks(range(len(labels)), [f"{label}  (n = {counts[label]:,})" for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(xlabel)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.set_title(title, pad=22 if len(held) > 1 else 8)


def stacks(path: Path, title: str, bars: Mapping[str, Mapping[str, float]], *, xlabel: str) -> bool:
    """Shares that add up to one, as one bar a line, each part named in the legend; parts that are nowhere are left out."""
    parts = [p for p in dict.fromkeys(k for bar in bars.values() for k in bar) if any(b.get(p) for b in bars.values())]
    if not parts:
        return False
    return _drawn(path, (7.2, 0.9 + 0.42 * len(bars)), lambda axes: _stacks(axes, title, bars, parts, xlabel))


def _stacks(axes: Any, title: str, bars: Mapping[str, Mapping[str, float]], parts: Sequence[str], xlabel: str) -> None:
    left = [0.0] * len(bars)
    for colour, part in zip(COLOURS, parts, strict=False):
        widths = [bar.get(part, 0.0) for bar in bars.values()]
        axes.barh(range(len(bars)), widths, left=left, height=0.62, color=colour, label=part, edgecolor="white", lw=0.8)
        for y, (start, width) in enumerate(zip(left, widths, strict=True)):
            if width >= 0.06:
                axes.text(
                    start + width / 2, y, f"{100 * width:.0f}", ha="center", va="center", color="white", fontsize=9
                )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(bars)), list(bars))
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel(xlabel)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    axes.tick_params(axis="y", length=0)
    lines = math.ceil(len(parts) / 5)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(5, len(parts)), columnspacing=1.2, borderaxespad=0.2)
    axes.set_title(title, pad=6 + 16 * lines)


def counts(path: Path, title: str, bars: Mapping[str, float], *, xlabel: str) -> bool:
    """Counts by name, as horizontal bars with their number."""
    if not bars:
        return False
    return _drawn(path, (7.2, 0.8 + 0.36 * len(bars)), lambda axes: _counts(axes, title, bars, xlabel))


def _counts(axes: Any, title: str, bars: Mapping[str, float], xlabel: str) -> None:
    axes.barh(range(len(bars)), list(bars.values()), height=0.62, color=COLOURS[0])
    for y, value in enumerate(bars.values()):
        axes.text(value, y, f" {value:g}", va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(bars)), list(bars))
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, max(bars.values()) * 1.1 or 1)
    axes.set_xlabel(xlabel)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_title(title, pad=8)


def flips(path: Path, title: str, bars: Mapping[str, tuple[int, int]]) -> bool:
    """Items broken (left) and fixed (right) under each variant: the churn that a net change hides."""
    if not bars:
        return False
    return _drawn(path, (7.2, 1.0 + 0.42 * len(bars)), lambda axes: _flips(axes, title, bars))


def _flips(axes: Any, title: str, bars: Mapping[str, tuple[int, int]]) -> None:
    widest = max(max(pair) for pair in bars.values()) or 1
    for y, (broken, fixed) in enumerate(bars.values()):
        axes.barh(y, -broken, height=0.62, color=COLOURS[1])
        axes.barh(y, fixed, height=0.62, color=COLOURS[2])
        axes.text(-broken - widest * 0.02, y, f"{broken}", ha="right", va="center", fontsize=9)
        axes.text(fixed + widest * 0.02, y, f"{fixed}", ha="left", va="center", fontsize=9)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_yticks(range(len(bars)), list(bars))
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(-widest * 1.2, widest * 1.2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    axes.set_xlabel("items that went wrong (left) and items that came right (right)")
    axes.tick_params(axis="y", length=0)
    axes.set_title(title, pad=8)


def histogram(path: Path, title: str, values: Sequence[float], *, xlabel: str, log: bool = False) -> bool:
    """How values spread; `log` draws them on a scale of powers of ten, with values below 1 in its first bin."""
    if not values:
        return False
    return _drawn(path, (7.2, 2.6), lambda axes: _histogram(axes, title, values, xlabel, log))


def _histogram(axes: Any, title: str, values: Sequence[float], xlabel: str, log: bool) -> None:
    import numpy as np

    if log:
        held: Any = np.maximum(values, 1.0)
        bins: Any = np.geomspace(1, max(10.0, float(held.max())), 32)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        held = np.asarray(values)
        top = int(held.max()) + 1
        bins = np.arange(int(held.min()), top + 1, max(1, top // 40)) - 0.5
        axes.xaxis.get_major_locator().set_params(integer=True)
        if top - int(held.min()) <= 12:  # a locator puts broken numbers on so short an axis
            axes.set_xticks(range(int(held.min()), top))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.hist(held, bins=bins, color=COLOURS[0], edgecolor="white", lw=0.6)
    below = " (below 1 in the first bin)" if log and min(values) < 1 else ""
    axes.set_xlabel(xlabel + below)
    axes.set_ylabel("count")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_title(title, pad=8)


def differences(path: Path, title: str, lines: Mapping[str, tuple[float, float, float, bool]]) -> bool:
    """Differences in points with their intervals; filled where the paired test finds one."""
    if not lines:
        return False
    return _drawn(path, (7.2, 0.8 + 0.4 * len(lines)), lambda axes: _differences(axes, title, lines))


def _differences(axes: Any, title: str, lines: Mapping[str, tuple[float, float, float, bool]]) -> None:
    for y, (value, low, high, found) in enumerate(lines.values()):
        colour = COLOURS[0] if found else GREY
        axes.plot([100 * low, 100 * high], [y, y], color=colour, lw=2, solid_capstyle="round")
        axes.plot([100 * value], [y], "o", color=colour, mfc=colour if found else "white", ms=7)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_yticks(range(len(lines)), list(lines))
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel("second run minus first, percentage points")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_title(title, pad=8)


def _drawn(path: Path, size: tuple[float, float], draw: Callable[[Any], None]) -> bool:
    """One figure without a window and without global state, so that drawing is safe beside other threads."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        draw(figure.add_subplot())
        figure.savefig(path, format="png", metadata={"Software": None})
    return True
