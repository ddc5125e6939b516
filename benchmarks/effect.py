"""Effect detection against scikit-image's SSIM of the full picture, on the labelled pairs, in one run.

    python benchmarks/effect.py [--labels tests/effect_pairs/labels.jsonl] [--repeat 3] [--match WORD] [--every N]

Both sides see the same decoded pictures, find what moves by itself in the same frames, and judge by the same thresholds.
`full` is `skimage.metrics.structural_similarity(channel_axis=2, full=True)` of the whole picture, its lowest value; `grey` is the same function on grey pictures with its defaults, which knows
no colour and no place, as the cheapest thing that others use. With decoding, each side decodes both PNGs as Chromium wrote
them, the product through its own cache, emptied before every pair. Memory is the largest that Python and numpy held.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.ndimage import uniform_filter
from skimage.metrics import structural_similarity

from cuadata.proving import effect_pairs
from cuadata.seeing import pictures
from cuadata.seeing.ambient import Ambient, moving
from cuadata.seeing.pixels import Thresholds, change

LIMITS = Thresholds()


def full(before: Any, after: Any) -> Any:
    """SSIM of every window of the full picture, in colour."""
    return structural_similarity(before, after, channel_axis=2, full=True)[1]


def verdict(before: Any, after: Any, values: Any) -> bool:
    """What the full maps say: SSIM and the difference of the window means, under the product's thresholds."""
    means = [uniform_filter(pixels.astype(np.float64), size=(7, 7, 1)) for pixels in (before, after)]
    shift = float(np.abs(means[1] - means[0]).max())
    return bool(values.min() < LIMITS.similarity or shift > LIMITS.shift)


def timed(call: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The least of several times, seconds of the processor, which other work does not lengthen; and what the call gave."""
    best, given = float("inf"), None
    for _ in range(repeat):
        began = time.process_time()
        given = call()
        best = min(best, time.process_time() - began)
    return best, given


def png(pixels: Any) -> bytes:
    """A PNG with little compression, as `optimizeForSpeed` gives."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=1)
    return out.getvalue()


def decode(data: bytes) -> Any:
    """A PNG as an array, as anybody would."""
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def fresh(before: bytes, after: bytes, ambient: Ambient | None) -> Any:
    """The product on encoded pictures that it has not seen."""
    pictures.forget()
    if before == after:
        return change(np.zeros((1, 1, 3), np.uint8), np.zeros((1, 1, 3), np.uint8))
    return change(pictures.load(before), pictures.load(after), ambient)


def measure(pair: effect_pairs.Pair, repeat: int) -> dict[str, Any]:
    """Times and values of one pair."""
    before, after = pair.picture(pair.before), np.ascontiguousarray(pair.picture(pair.after))
    ambient = moving(before, [pair.picture(name) for name in pair.ambient], levels=LIMITS.levels)
    ours, seen = timed(lambda: change(before, after, ambient, LIMITS), 3 * repeat)
    steady = after if ambient is None else np.where(ambient.mask[:, :, None], before, after)
    theirs, values = timed(lambda: full(before, steady), repeat)
    grey = [np.asarray(Image.fromarray(pixels).convert("L")) for pixels in (before, after)]
    plain, _ = timed(lambda: structural_similarity(*grey), repeat)
    one, other = png(before), png(after)
    ours_decoding, _ = timed(lambda: fresh(one, other, ambient), repeat)
    theirs_decoding, _ = timed(lambda: full(decode(one), decode(other)), repeat)
    return {
        "id": pair.id,
        "ours": ours,
        "full": theirs,
        "grey": plain,
        "ours_decoding": ours_decoding,
        "full_decoding": theirs_decoding,
        "difference": abs(seen.similarity - min(float(values.min()), 1.0)),
        "equal": seen.noise or seen.changed == verdict(before, steady, values),
    }


def memory(pairs: list[effect_pairs.Pair]) -> list[float]:
    """The largest memory while all pairs are judged, MB, in ten equal parts of the run."""
    tracemalloc.start()
    peaks = []
    for part in np.array_split(np.arange(len(pairs)), 10):
        tracemalloc.reset_peak()
        for number in part:
            pairs[number].measured()
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
    return peaks


def main() -> None:
    """Print a table in Markdown and one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--labels", type=Path, default=root / "tests" / "effect_pairs" / "labels.jsonl")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--match", default="")
    parser.add_argument("--every", type=int, default=1, help="only every so-manyth pair")
    given = parser.parse_args()
    pairs = [pair for pair in effect_pairs.read(given.labels) if given.match in pair.id][:: given.every]
    rows = [measure(pair, given.repeat) for pair in pairs]
    median = {name: statistics.median(row[name] for row in rows) for name in rows[0] if name not in ("id", "equal")}
    ratios = {
        "full, decoded": statistics.median(row["full"] / row["ours"] for row in rows),
        "grey, decoded": statistics.median(row["grey"] / row["ours"] for row in rows),
        "full, with decoding": statistics.median(row["full_decoding"] / row["ours_decoding"] for row in rows),
    }
    print(f"| {len(rows)} pairs of 1280x720 px | median ms | x ours, median of the pairs |\n|---|---|---|")
    print(f"| cuadata, decoded pictures | {1e3 * median['ours']:.2f} | 1 |")
    print(f"| scikit-image, colour, full map | {1e3 * median['full']:.1f} | {ratios['full, decoded']:.0f} |")
    print(f"| scikit-image, grey, default | {1e3 * median['grey']:.1f} | {ratios['grey, decoded']:.0f} |")
    print(f"| cuadata, PNG decoding included | {1e3 * median['ours_decoding']:.1f} | 1 |")
    with_decoding = ratios["full, with decoding"]
    print(
        f"| scikit-image, colour, PNG decoding included | {1e3 * median['full_decoding']:.1f} | {with_decoding:.1f} |"
    )
    print(f"\nlargest difference of the values: {max(row['difference'] for row in rows):.1e}")
    print(f"verdicts that differ: {[row['id'] for row in rows if not row['equal']]}")
    print(f"slowest pair: {1e3 * max(row['ours'] for row in rows):.0f} ms")
    peaks = memory(pairs)
    print("largest memory by tenth of the run, MB: " + " ".join(f"{peak:.0f}" for peak in peaks))
    print(json.dumps({"median_ms": {name: 1e3 * value for name, value in median.items()}, "ratios": ratios}))


if __name__ == "__main__":
    main()
