"""Options for models of 3, 7 and 8 billion weights, and what a LoRA run on them needs of a GPU's memory, worked out.

The figures are a formula's (docs/training.md), not measurements: no model of these sizes has been trained with this code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cuadata.errors import CallError

#: Option -> value, over a trainer's own defaults; what is said on the command line counts more.
PRESETS: dict[str, dict[str, Any]] = {
    "3b": {
        "dtype": "bfloat16",
        "checkpointing": True,
        "batch": 4,
        "accumulate": 4,
        "rank": 16,
        "max_pixels": 1_003_520,
    },
    "7b": {
        "dtype": "bfloat16",
        "checkpointing": True,
        "batch": 2,
        "accumulate": 8,
        "rank": 16,
        "max_pixels": 1_003_520,
    },
    "8b": {
        "dtype": "bfloat16",
        "checkpointing": True,
        "batch": 2,
        "accumulate": 8,
        "rank": 16,
        "max_pixels": 1_048_576,
    },
}
HELP = f"defaults for a model size: {', '.join(PRESETS)}"


def apply(context: typer.Context, name: str) -> str:
    """Make a preset's values the defaults of the command's other options; for an eager option."""
    if name and name not in PRESETS:
        raise CallError(f"no preset is named '{name}'; there are: {', '.join(PRESETS)}")
    if name:
        context.default_map = {**(context.default_map or {}), **PRESETS[name]}
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A vision-language model, as far as its memory goes."""

    weights: Annotated[int, "all parameters"]
    layers: Annotated[int, "layers of the language model"]
    hidden: Annotated[int, "its width"]
    inner: Annotated[int, "width of its feed-forward part"]
    heads: Annotated[int, "query heads"]
    kv: Annotated[int, "key and value heads"]
    head: Annotated[int, "width of a head"]
    vocabulary: Annotated[int, "rows of the output matrix"]

    def lora(self, rank: int) -> int:
        """Weights of LoRA on the seven linear layers of every language layer: rank * (in + out) each."""
        wide, narrow = self.heads * self.head, self.kv * self.head
        sides = 2 * (self.hidden + wide) + 2 * (self.hidden + narrow) + 3 * (self.hidden + self.inner)
        return self.layers * rank * sides


#: Read off the released configurations; `weights` counted on the model classes of transformers built from them on the meta
#: device.
SHAPES: dict[str, tuple[str, Shape]] = {
    "3b": (
        "Qwen2.5-VL-3B",
        Shape(weights=3_754_622_976, layers=36, hidden=2048, inner=11008, heads=16, kv=2, head=128, vocabulary=151936),
    ),
    "7b": (
        "Qwen2.5-VL-7B",
        Shape(weights=8_292_166_656, layers=28, hidden=3584, inner=18944, heads=28, kv=4, head=128, vocabulary=152064),
    ),
    "8b": (
        "Qwen3-VL-8B",
        Shape(weights=8_767_123_696, layers=36, hidden=4096, inner=12288, heads=32, kv=8, head=128, vocabulary=151936),
    ),
}
#: Cards that the table is for, GiB.
CARDS = (24, 48, 80)
#: What a CUDA context, the allocator's gaps and the vision tower's passing activations are taken to need, GiB: an allowance.
ALLOWANCE = 2.5


def fitting(shape: Shape, card: int, *, rank: int, tokens: int, checkpointing: bool = True) -> int:
    """The largest batch of rows of `tokens` tokens that fits a card; 0: none does."""
    batch = 0
    while batch < 256 and total(shape, rank=rank, batch=batch + 1, tokens=tokens, checkpointing=checkpointing) <= card:
        batch += 1
    return batch


def total(shape: Shape, **how: Any) -> float:
    """All parts and the allowance, GiB."""
    return sum(gigabytes(shape, **how).values()) + ALLOWANCE


def table(*, rank: int = 16, tokens: int = 1600) -> list[dict[str, Any]]:
    """A row a model: what a batch of one needs by part, and the largest batch that fits each card; all worked out."""
    return [
        {
            "preset": name,
            "model": model,
            **{part: round(size, 1) for part, size in gigabytes(shape, rank=rank, batch=1, tokens=tokens).items()},
            "batch 1": round(total(shape, rank=rank, batch=1, tokens=tokens), 1),
            **{f"{card} GB": fitting(shape, card, rank=rank, tokens=tokens) for card in CARDS},
            "figures": "worked out",
        }
        for name, (model, shape) in SHAPES.items()
    ]


def gigabytes(shape: Shape, *, rank: int, batch: int, tokens: int, checkpointing: bool = True) -> dict[str, float]:
    """Memory of a LoRA step by part, in GiB, the base in bfloat16.

    weights 2 N; adapter 16 A (float32 weight, gradient and Adam's two moments); activations, with checkpointing
    2 L T H for the kept layer inputs and one layer's own, without it every layer's own; head, A V (2 + 4 + 4) for the
    logits of the A answer tokens, at most 64 a row, their float32 copy and its gradient (TRL computes the head at the
    answers alone). One layer's own: T (2 (6 H + 2 (Q + 2 K) + 4 F) + 4 (4 H + Q + F)), the second part LoRA's inputs in
    float32. T = batch * tokens, Q and K the widths of queries and keys, F that of the feed-forward part.
    """
    t, gib = batch * tokens, 2.0**30
    wide, narrow = shape.heads * shape.head, shape.kv * shape.head
    layer = t * (
        2 * (6 * shape.hidden + 2 * (wide + 2 * narrow) + 4 * shape.inner) + 4 * (4 * shape.hidden + wide + shape.inner)
    )
    kept = 2 * shape.layers * t * shape.hidden + layer if checkpointing else shape.layers * layer
    return {
        "weights": 2 * shape.weights / gib,
        "adapter": 16 * shape.lora(rank) / gib,
        "activations": kept / gib,
        "head": batch * min(tokens, 64) * shape.vocabulary * 10 / gib,
    }
