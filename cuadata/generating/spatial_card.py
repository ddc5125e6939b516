"""What a dataset of generated pages says of itself: axes and their balance, coverage, trivial predictors, examples."""

from __future__ import annotations

import inspect
import io
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from cuadata import image
from cuadata.generating import spatial_balance, spatial_blocks, spatial_plan
from cuadata.generating.spatial_balance import Seen
from cuadata.proving import drawing
from cuadata.registry import families
from cuadata.rows import Grounding
from cuadata.types import BBox, Size

GRID: Final = "examples.png"
_ACROSS: Final = 4


class Found:
    """What finished blocks hold, read once, block by block."""

    def __init__(self, folder: Path, numbers: Sequence[int]) -> None:
        self.counts, self.rows, self.browsers = Counter[str](), Counter[str](), set[str]()
        self.axes: dict[str, Counter[str]] = {}
        #: Perspectives in which one element of one picture is asked for, in alphabetical order -> such elements.
        self.phrasings = Counter[str]()
        self.trivial = spatial_balance.Table()
        self._pages: dict[str, set[tuple[tuple[str, str], ...]]] = {name: set() for name in spatial_blocks.AXES}
        self._examples: dict[str, Grounding] = {}
        for number in numbers:
            block = spatial_blocks.read(folder, number)
            self.counts.update(block.counts)
            self.rows.update(grounding=len(block.grounding), pairs=len(block.pairs), rejected=len(block.rejected))
            self.browsers.add(block.browser)
            asked: dict[object, set[str]] = {}
            for row in block.grounding:
                self._take(row)
                if row.target is not None:
                    asked.setdefault((row.image.sha256, row.target.locator), set()).add(row.perspective or "")
            self.phrasings.update(" + ".join(sorted(ways)) for ways in asked.values())
            for one in block.pairs:
                self.axes.setdefault("perturbation", Counter())[one.kind] += 1

    def _take(self, row: Grounding) -> None:
        values = axes_of(row)
        named = spatial_blocks.AXES.get(row.site, {})
        self._pages.setdefault(row.site, set()).add(tuple((name, values[name]) for name in named))
        values |= {"perspective": row.perspective, "stage": str(row.stage)}
        values |= {"pair_kind": row.pair_kind or "none", "action": row.action.type}
        for name, value in values.items():
            self.axes.setdefault(name, Counter())[value] += 1
        if row.relation is None or row.target is None:
            return
        seen = seen_of(row)
        if seen is not None:
            self.trivial.add(seen)
        layout = "-".join(row.template.split("-")[:2])
        self._examples.setdefault(layout, row)

    def examples(self) -> list[Grounding]:
        """One row with a relation of each layout, at most 24, in order of the layouts."""
        return [self._examples[name] for name in sorted(self._examples)][:24]

    def summary(self, asked: int) -> dict[str, Any]:
        """Rows, pages, balance of the axes, coverage of pairs of values, trivial predictors, and what fell short."""
        counts = self.counts
        return {
            "rows": dict(self.rows),
            "pages": counts["pages"],
            "renders": counts["renders"],
            "browsers": sorted(self.browsers),
            "came_to_nothing": {
                k: v for k, v in sorted(counts.items()) if k not in ("pages", "renders", "short") and v
            },
            "axes": {name: dict(self.axes[name].most_common()) for name in sorted(self.axes)},
            "phrasings_of_one_target": dict(self.phrasings.most_common()),
            "coverage": {
                name: spatial_plan.coverage(axes, map(dict, self._pages[name]))
                for name, axes in spatial_blocks.AXES.items()
            },
            "trivial_predictors": self.trivial.rows(),
            "notes": _notes(asked, counts),
        }


def axes_of(row: Grounding) -> dict[str, str]:
    """Axis -> value."""
    return dict(one.split("=", 1) for one in row.axes)


def seen_of(row: Grounding) -> Seen | None:
    """A row as trivial predictors see it; None for rows without a relation or a target."""
    if row.relation is None or row.target is None:
        return None
    boxes = tuple(one.bbox for one in row.candidates if one.bbox is not None)
    references = tuple(one.bbox for one in row.references if one.bbox is not None)
    if row.target.bbox not in boxes:
        return None
    return Seen(
        boxes=boxes,
        names=tuple(one.name or one.text for one in row.candidates),
        references=references,
        reference_names=tuple(one.name or one.text for one in row.references),
        viewport=Size(row.viewport_width, row.viewport_height),
        answer=boxes.index(row.target.bbox),
    )


def _notes(asked: int, counts: Counter[str]) -> list[str]:
    if not counts["short"]:
        return []
    return [f"{counts['short']} of {asked} rows could not be made within {spatial_blocks.MOST_PAGES} pages a block"]


def section(told: dict[str, Any], asked: dict[str, Any]) -> str:
    """The card's part on the generator, in Markdown."""
    lines = ["", "## Generated pages", ""]
    lines.append(
        f"{told['rows']['grounding']:,} questions on {told['pages']:,} pages (`cuadata generate spatial --n {asked['n']} "
        f"--seed {asked['seed']} --infeasible {asked['infeasible']} --pairs {asked['pairs']}`), rendered by "
        f"{', '.join(told['browsers'])}. Every box is measured on the rendered page, every relation follows from the boxes."
    )
    lines += ["", f"![One example of each layout: target orange, references blue, rivals pink]({GRID})", ""]
    what = "Share of questions by place that each gets right, less chance (1 / candidates), in points, with the 95 % interval."
    lines += ["### Trivial predictors", "", what, ""]
    lines += ["| predictor | above chance | from | to |", "| --- | ---: | ---: | ---: |"]
    for one in told["trivial_predictors"]:
        values = " | ".join(f"{100 * one[key]:+.1f}" for key in ("above_chance", "low", "high"))
        lines.append(f"| {one['predictor']} | {values} |")
    lines += _shares(told)
    lines += ["", "### Axes", "", "| axis | rows |", "| --- | --- |"]
    for name, values in told["axes"].items():
        lines.append(f"| {name} | {', '.join(f'{value} {count:,}' for value, count in values.items())} |")
    lines += ["", "### Coverage", "", "| family | pairs of axis values | covered |", "| --- | ---: | ---: |"]
    for name, one in told["coverage"].items():
        lines.append(f"| {name} | {one['pairs']} | {one['covered']} |")
    lines += [f"- {note}" for note in told["notes"]]
    return "\n".join(lines) + "\n"


def _shares(told: dict[str, Any]) -> list[str]:
    """Shares of the phrasings, of the kinds of relation, and how often one target is asked for in several phrasings."""
    kinds = {kind: count for kind, count in told["axes"].get("relation", {}).items() if kind != "none"}
    lines = ["", "### Shares", ""]
    for what, of, counts in (
        ("phrasing", "rows", told["axes"]["perspective"]),
        ("relation", "rows by place", kinds),
        ("phrasings of one target", "targets", told["phrasings_of_one_target"]),
    ):
        every = sum(counts.values())
        lines += [f"| {what} | {of} | share |", "| --- | ---: | ---: |"]
        lines += [f"| {name} | {count:,} | {100 * count / every:.1f} % |" for name, count in counts.items()] + [""]
    return lines[:-1]


def picture_grid(rows: Sequence[Grounding], width: int = 480) -> bytes:
    """A PNG with the rows' pictures, target, references and rivals drawn on them, four in a row."""
    from PIL import Image as Pillow

    tiles = [_tile(row, width) for row in rows]
    tall = max((one.height for one in tiles), default=1)
    ground = Pillow.new("RGB", (width * _ACROSS, tall * max(1, -(-len(tiles) // _ACROSS))), "white")
    for place, tile in enumerate(tiles):
        ground.paste(tile, (place % _ACROSS * width, place // _ACROSS * tall))
    out = io.BytesIO()
    ground.save(out, "PNG")
    return out.getvalue()


def _tile(row: Grounding, width: int) -> Any:
    """One row's picture, cut to what the question speaks of, in a tile of 16:9."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    marked = drawing.marked(
        image.read(row.image),
        Size(row.viewport_width, row.viewport_height),
        target=row.target.bbox if row.target else None,
        references=[one.bbox for one in row.references if one.bbox is not None],
        rivals=[one.bbox for one in row.candidates if one.bbox is not None and one.bbox not in _meant(row)],
    )
    tall = round(width * 9 / 16)
    spoken = [one.bbox for one in row.candidates if one.bbox is not None] + _meant(row)
    left, top = min(one.x for one in spoken) - 24, min(one.y for one in spoken) - 24
    wide, high = max(one.right for one in spoken) + 24 - left, max(one.bottom for one in spoken) + 24 - top
    wide, high = max(wide, high * 16 / 9), max(high, wide * 9 / 16)
    with Pillow.open(io.BytesIO(marked)) as opened:
        left, top = (
            max(0, min(at, size - of)) for at, size, of in ((left, opened.width, wide), (top, opened.height, high))
        )
        part = Pillow.new("RGB", (round(wide), round(high)), "#e5e7eb")
        part.paste(opened.convert("RGB").crop((int(left), int(top), opened.width, opened.height)))
    tile = Pillow.new("RGB", (width, tall + 22), "white")
    tile.paste(part.resize((width, tall)), (0, 0))
    ImageDraw.Draw(tile).text((6, tall + 4), row.instruction, font=_font(), fill="black")
    return tile


@cache
def _font() -> Any:
    """The font of the pages themselves: instructions speak of names in their languages."""
    from PIL import ImageFont

    room = Path(inspect.getfile(families["widgets"])).parent
    return ImageFont.truetype(str(room / "dejavu.woff2"), 12)


def _meant(row: Grounding) -> list[BBox]:
    """Boxes of target and references."""
    held = [row.target, *row.references]
    return [one.bbox for one in held if one is not None and one.bbox is not None]
