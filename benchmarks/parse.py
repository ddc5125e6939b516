"""Model outputs read and scored a second, on one core.

    python benchmarks/parse.py [LOG.jsonl:FORMAT ...] [--outputs 10000] [--repeat 5]

Every output is read by its format into an action and its point tested against a box, as an evaluation does. Without logs,
the outputs are written by the formats themselves: 200 clicks each, with a sentence of prose before every second one. Logs
are JSON lines with `raw_prediction` or `output`; their numbers are px of a 1920x1080 picture.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

from cuadata import geometry
from cuadata.contracts import Format, ParseFailure, View
from cuadata.registry import formats
from cuadata.types import Action, BBox, Element, Point, Size

SCREEN = Size(1920, 1080)
BOX = BBox(480, 270, 960, 540)


def written(form: Format, view: View, number: int) -> list[str]:
    """Clicks as a family writes them, every second one behind a sentence."""
    draw = random.Random(0)
    texts = []
    for at in range(number):
        point = Point(draw.uniform(0, SCREEN.width - 1), draw.uniform(0, SCREEN.height - 1))
        text = form.write(Action(type="click", point=point, element=1 + at % 50), view)
        texts.append(text if at % 2 else f"Thought: the list is open, so its third entry comes next.\n{text}")
    return texts


def logged(file: Path) -> list[str]:
    """The texts of a log."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [str(row.get("raw_prediction", row.get("output"))) for row in rows]


def scored(texts: Sequence[str], form: Format, view: View) -> tuple[int, int]:
    """Read and score; hits and unread outputs."""
    hits = unread = 0
    for text in texts:
        try:
            point = form.read(text, view).point
        except ParseFailure:
            unread += 1
            continue
        hits += point is not None and geometry.contains(BOX, point)
    return hits, unread


def rate(texts: Sequence[str], form: Format, view: View, outputs: int, repeat: int) -> tuple[float, int, int]:
    """Outputs a second in the best of several runs, and of one pass over the texts the hits and unread outputs."""
    turns = [texts[at % len(texts)] for at in range(outputs)]
    best = float("inf")
    for _ in range(repeat):
        began = time.process_time()
        scored(turns, form, view)
        best = min(best, time.process_time() - began)
    return outputs / best, *scored(texts, form, view)


def main() -> None:
    """Print one line a format or log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", help="LOG.jsonl:FORMAT")
    parser.add_argument("--outputs", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    boxes = [BBox(20 + 30 * at, 30, 20, 20) for at in range(50)]
    elements = tuple(Element(id=at, role="button", name=f"b{at}", bbox=b, seen=1.0) for at, b in enumerate(boxes, 1))
    print(f"{'outputs':44} {'a second':>10} {'texts':>6} {'unread':>6}")
    for log in options.logs:
        path, _, name = log.rpartition(":")
        texts, view = logged(Path(path)), View(image=SCREEN, viewport=SCREEN, frame="px")
        speed, _, unread = rate(texts, formats[name], view, options.outputs, options.repeat)
        print(f"{Path(path).stem[:44]:44} {speed:10.0f} {len(texts):6} {unread:6}")
    for name in formats.names() if not options.logs else []:
        view = View(image=SCREEN, viewport=SCREEN, elements=elements)
        texts = written(formats[name], view, 200)
        speed, _, unread = rate(texts, formats[name], view, options.outputs, options.repeat)
        print(f"{name:44} {speed:10.0f} {len(texts):6} {unread:6}")


if __name__ == "__main__":
    main()
