"""A small head that points by patches: which part of the picture does the instruction mean?

    cuadata generate spatial --n 600 --out data/spatial
    python examples/patch_head.py data/spatial

Coordinates as text are one way to point; another is to score every patch of the picture and take the best, with all patches
that the target covers as right (GUI-Actor, arXiv 2506.03143: an attention head trained on patch labels). Here the whole model
is that head: a few convolutions for the patches, a bag of words for the instruction, their product as the score. It has
0.4 million weights, trains on a CPU in minutes, and shows what the labels are worth, not what a large model would reach.

A hit is a best patch whose middle lies in the target's box. It is compared on the test split with a random patch, by the
Wilson interval, and with a random one of the elements that the row names as candidates.
"""

from __future__ import annotations

import io
import itertools
import math
import random
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cuadata.learning import training_rows
from cuadata.statistics import intervals

PATCH = 28  # image px, as in Qwen's vision models
PIXELS = 7  # px that a patch is shrunk to
WORDS = 2048  # places of the hashed bag of words

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True)
class Item:
    """A row as tensors."""

    pixels: Annotated[Any, "(3, PIXELS * rows, PIXELS * columns), 0 to 1"]
    words: Annotated[list[int], "hashed words and pairs of words"]
    right: Annotated[Any, "(rows, columns) bool: the target covers at least half of the patch, or most of its own area"]
    box: Annotated[tuple[float, float, float, float], "left, top, right, bottom of the target, in patches"]
    candidates: Annotated[int, "elements that could be meant"]


def item(example: Any) -> Item:
    """One row of `grounding`."""
    import numpy as np
    import torch
    from PIL import Image

    ratio = example.image_width / example.viewport_width / PATCH  # patches for one CSS px
    across, down = math.ceil(example.image_width / PATCH), math.ceil(example.image_height / PATCH)
    with Image.open(io.BytesIO(example.image.data)) as opened:
        held = Image.new("RGB", (across * PATCH, down * PATCH))
        held.paste(opened.convert("RGB"))
    small = np.asarray(held.resize((across * PIXELS, down * PIXELS), Image.Resampling.BOX), dtype=np.float32) / 255
    box = example.target.bbox
    left, top, right, bottom = (v * ratio for v in (box.x, box.y, box.right, box.bottom))
    wide = np.clip(np.minimum(right, np.arange(across) + 1) - np.maximum(left, np.arange(across)), 0, 1)
    tall = np.clip(np.minimum(bottom, np.arange(down) + 1) - np.maximum(top, np.arange(down)), 0, 1)
    shared = torch.from_numpy(np.outer(tall, wide).astype(np.float32))
    return Item(
        torch.from_numpy(small).permute(2, 0, 1), hashed(example.instruction), shared >= 0.5 * shared.max(),
        (left, top, right, bottom), max(len(example.candidates), 1),
    )  # fmt: skip


def hashed(text: str) -> list[int]:
    """Words and pairs of neighbours, each as a place of the bag; the same in every run."""
    words = re.findall(r"\w+", text.lower())
    return [zlib.crc32(part.encode()) % WORDS for part in (*words, *map(" ".join, itertools.pairwise(words)))]


def build(width: int = 64) -> Any:
    """The head."""
    from torch import nn

    class Head(nn.Module):
        """Scores (rows * columns) of one picture under one instruction."""

        def __init__(self) -> None:
            super().__init__()
            self.words = nn.EmbeddingBag(WORDS, 2 * width, mode="mean")
            self.patches = nn.Sequential(
                nn.Conv2d(5, width, 3, padding=1), nn.GELU(), nn.Conv2d(width, width, PIXELS, stride=PIXELS), nn.GELU(),
                nn.Conv2d(width, width, 3, padding=1), nn.GELU(), nn.Conv2d(width, width, 3, padding=2, dilation=2),
            )  # fmt: skip
            self.out = nn.Sequential(nn.GELU(), nn.Conv2d(width, 1, 1))

        def forward(self, pixels: Any, words: Any) -> Any:
            import torch

            tall, wide = pixels.shape[-2:]
            y, x = torch.linspace(0, 1, tall), torch.linspace(0, 1, wide)
            place = torch.stack([y[:, None].expand(tall, wide), x[None].expand(tall, wide)])
            scale, shift = self.words(words[None])[0].chunk(2)
            seen = self.patches(torch.cat([pixels, place])[None])
            return self.out(seen * (1 + scale[:, None, None]) + shift[:, None, None])[0, 0]

    return Head()


def train(items: list[Item], *, epochs: int, seed: int, lr: float = 2e-3) -> Any:
    """Cross entropy between the softmax over patches and an even share on the right ones."""
    import torch

    torch.manual_seed(seed)
    head, chance = build(), random.Random(seed)
    optimiser = torch.optim.AdamW(head.parameters(), lr=lr)
    order = list(range(len(items)))
    for epoch in range(epochs):
        chance.shuffle(order)
        total = 0.0
        for place, at in enumerate(order, 1):
            one = items[at]
            odds = torch.log_softmax(head(one.pixels, torch.tensor(one.words)).flatten(), 0)
            loss = -odds[one.right.flatten()].mean()
            (loss / 8).backward()
            total += float(loss.detach())
            if place % 8 == 0 or place == len(order):
                optimiser.step()
                optimiser.zero_grad()
        typer.echo(f"epoch {epoch + 1}: loss {total / len(items):.3f}", err=True)
    return head


def judge(head: Any, items: list[Item]) -> dict[str, Any]:
    """Hits with their interval, and what two kinds of chance would hit."""
    import torch

    hits, patches, elements = 0, 0.0, 0.0
    for one in items:
        with torch.no_grad():
            scores = head(one.pixels, torch.tensor(one.words))
        down, across = divmod(int(scores.argmax()), scores.shape[1])
        left, top, right, bottom = one.box
        hits += left <= across + 0.5 < right and top <= down + 0.5 < bottom
        inside = sum(left <= x + 0.5 < right for x in range(scores.shape[1]))
        patches += inside * sum(top <= y + 0.5 < bottom for y in range(scores.shape[0])) / scores.numel()
        elements += 1 / one.candidates
    low, high = intervals.wilson(hits, len(items)) or (0.0, 1.0)
    return {
        "n": len(items), "hits": hits, "rate": hits / len(items), "interval": (low, high),
        "random_patch": patches / len(items), "random_candidate": elements / len(items),
    }  # fmt: skip


@app.command()
def main(
    data: Path = typer.Argument(help="dataset folder with the config grounding"),
    epochs: int = typer.Option(10, min=1, help="times through the training split"),
    seed: int = typer.Option(0, help="seed"),
) -> None:
    """Train the head on the training split and judge it on the test split."""
    sets = {}
    for split in ("train", "test"):
        rows = training_rows.examples(data, "grounding", split)
        sets[split] = [item(row) for row in rows if row.target is not None and row.target.bbox is not None]
    found = judge(train(sets["train"], epochs=epochs, seed=seed), sets["test"])
    low, high = found["interval"]
    typer.echo(f"{found['hits']} of {found['n']} hit: {found['rate']:.1%} (95 %: {low:.1%} to {high:.1%})")
    typer.echo(f"a random patch: {found['random_patch']:.1%}; a random candidate: {found['random_candidate']:.1%}")
    typer.echo(f"beats a random patch: {'yes' if low > found['random_patch'] else 'no'}")


if __name__ == "__main__":
    app()
