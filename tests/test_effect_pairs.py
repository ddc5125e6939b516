"""The labelled pairs: real pages, real input, answers from the DOM. Thresholds were frozen on the development half."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuadata import effects
from cuadata.effects import Thresholds
from cuadata.proving import effect_pairs
from cuadata.proving.effect_pairs import Pair
from cuadata.seeing.ambient import moving
from cuadata.seeing.pixels import change

FOLDER = Path(__file__).parent / "effect_pairs"


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(effect_pairs.read(FOLDER / "labels.jsonl"))


def test_the_set_is_what_it_says(pairs: list[Pair]) -> None:
    assert len(pairs) >= 200 and len({pair.id for pair in pairs}) == len(pairs)
    sites = {"dev": {"miniwob", "todomvc"}, "test": {"sb-admin-2", "gauntlet"}}
    for half, names in sites.items():
        assert {pair.site for pair in pairs if pair.half == half} == names
        answers = [pair.effect for pair in pairs if pair.half == half]
        assert len(answers) >= 100 and 0.25 < sum(answers) / len(answers) < 0.75
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    assert size < 6_000_000


def test_at_most_two_errors_in_two_hundred(pairs: list[Pair]) -> None:
    wrong = {half: [] for half in ("dev", "test")}  # type: dict[str, list[str]]
    for pair in pairs:
        effect = pair.measured()
        if effect.happened is not pair.effect:
            wrong[pair.half].append(f"{pair.id}: {effect.kind}, {effect.reason}")
    for half, errors in wrong.items():
        count = sum(pair.half == half for pair in pairs)
        assert len(errors) <= count / 100, errors


def stored(pixels: Any, quality: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality)
    return out.getvalue()


def test_storing_a_picture_as_jpeg_makes_no_effect_and_hides_few(pairs: list[Pair]) -> None:
    """A codec's noise is never an effect; of the effects, a glyph in a badge and a pale ring may drown in it."""
    made: list[tuple[str, int, str]] = []
    hidden: list[tuple[str, int, str]] = []
    chosen = pairs[::9]
    for number, pair in enumerate(chosen):
        before, after = pair.picture(pair.before), pair.picture(pair.after)
        frames = [pair.picture(name) for name in pair.ambient]
        lossless = effects.compare(before, after, frames).happened
        quality = (55, 75, 90)[number % 3]
        coded = stored(after, quality)
        png = io.BytesIO()
        Image.fromarray(before).save(png, "PNG", compress_level=1)
        decoded = np.asarray(Image.open(io.BytesIO(coded)).convert("RGB"))
        for how, seen in (
            ("JPEG", effects.compare(png.getvalue(), coded, frames)),
            ("decoded", effects.compare(before, decoded, frames)),
        ):
            if seen.happened is not lossless:
                (hidden if lossless else made).append((pair.id, quality, how))
    assert not made, made
    assert len(hidden) <= 0.05 * 2 * len(chosen), hidden


def test_the_values_are_those_of_the_full_picture(pairs: list[Pair]) -> None:
    from skimage.metrics import structural_similarity

    for pair in pairs[::40]:
        before, after = pair.picture(pair.before), pair.picture(pair.after)
        ambient = moving(before, [pair.picture(name) for name in pair.ambient], levels=Thresholds().levels)
        seen = change(before, after, ambient)
        steady = after if ambient is None else np.where(ambient.mask[:, :, None], before, after)
        values = structural_similarity(before, steady, channel_axis=2, full=True)[1]
        assert seen.similarity == pytest.approx(min(1.0, float(values.min())), abs=1e-6)
