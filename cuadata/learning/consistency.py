"""The transformed-pair loss: what a model says of a picture, and of the same picture under a known map, must agree.

For a pair of pictures x and T(x), one prompt, and answers y and y' whose coordinates T maps onto each other:

    L = L_SFT + weight * mean over pairs of [ CE(y' | T(x)) + |T(c(x)) - c(T(x))|_1 ]

A model that answers in tokens has no coordinate to differentiate; it has a distribution over each digit. c is the
coordinate that it expects under teacher forcing: with p_i(d) its probability of digit d at place i of the number, given the
right digits before, c = sum_i 10^(e_i) sum_d d p_i(d) / sum_d p_i(d), in shares of the picture's sides. So the second term
moves probability between digits by how far they are apart, which cross entropy does not know. It is zero for a model
that is certain and right, and for one that is certain and wrong by the same map, which the first term rules out.

Consistency under transformations as a loss: Laine and Aila, arXiv 1610.02242 (the pi-model), there on class probabilities;
the expectation over digits and its use on coordinates are this project's.
"""

from __future__ import annotations

import json
import random
import re
import typing
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from cuadata.errors import CallError, DataError
from cuadata.learning import training_rows
from cuadata.rows import Pair
from cuadata.types import Point

if typing.TYPE_CHECKING:
    import torch

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Side:
    """One picture of a pair with its answer."""

    row: Annotated[dict[str, Any], "prompt, completion and images, as for training"]
    written: Annotated[tuple[str, str], "the two numbers that the answer says"]
    extent: Annotated[tuple[float, float], "what the sides of the picture count in those numbers"]


@dataclass(frozen=True, slots=True)
class Mapped:
    """Both sides of a pair, and the map between them in shares of the sides: f' = scale f + shift, across and down."""

    first: Side
    second: Side
    scale: tuple[float, float]
    shift: tuple[float, float]


def mapped(pairs: Sequence[Pair], form: Any, processor: Any) -> tuple[list[Mapped], int]:
    """Pairs that a map of the picture joins, and how many are none: rendered again, without a target, without a point."""
    found, left = [], 0
    for pair in pairs:
        affine = json.loads(pair.transform).get("affine")
        if affine is None or pair.transformed_target is None or pair.action.point is None:
            left += 1
            continue
        found.append(_mapped(pair, affine, form, processor))
    return found, left


def _mapped(pair: Pair, affine: Sequence[float], form: Any, processor: Any) -> Mapped:
    a, b, c, d, e, f = affine
    if b or d:
        raise DataError(f"its map {list(affine)} turns the picture; maps of sides alone are wanted", place=pair.id)
    point, ratio = pair.action.point, pair.image_width / pair.viewport_width
    assert point is not None
    wide, tall = pair.transformed.width, pair.transformed.height
    there = Point(a * point.x * ratio + c, e * point.y * ratio + f)
    other = replace(
        pair, image=pair.transformed, image_width=wide, image_height=tall, viewport_width=wide, viewport_height=tall,
        action=replace(pair.action, point=there),
    )  # fmt: skip
    scale = a * pair.image_width / wide, e * pair.image_height / tall
    return Mapped(_side(pair, form, processor), _side(other, form, processor), scale, (c / wide, f / tall))


def _side(example: Pair, form: Any, processor: Any) -> Side:
    row = training_rows.answer_row(example, form, processor)
    grid = form.grid(training_rows.view_of(example, processor))
    across, down = grid.write(example.action.point)
    numbers = _NUMBER.findall(row["completion"][0]["content"])
    at = [
        i for i in range(len(numbers) - 1) if (float(numbers[i]), float(numbers[i + 1])) == (float(across), float(down))
    ]
    if not at:
        raise CallError(f"the format '{form.name}' does not say a point by two numbers, which the pair loss compares")
    return Side(row, (numbers[at[-1]], numbers[at[-1] + 1]), grid.extent)


class PairLoss:
    """The loss of a few pairs at a step; which ones is a pure function of seed, step and place in the step."""

    def __init__(self, pairs: Sequence[Mapped], tokenizer: Any, *, seed: int, each: int = 2) -> None:
        self.pairs, self.tokenizer, self.seed = list(pairs), tokenizer, seed
        self.each = min(each, len(self.pairs))
        digits = [tokenizer.encode(str(digit), add_special_tokens=False) for digit in range(10)]
        if any(len(ids) != 1 for ids in digits):
            raise CallError("the pair loss wants a tokenizer with one token a digit, and this one has not")
        self.digits = [ids[0] for ids in digits]

    def draw(self, *place: int) -> list[Mapped]:
        """The pairs of a step."""
        return random.Random(f"{self.seed}/{place}").sample(self.pairs, self.each)

    def rows(self, pairs: Sequence[Mapped]) -> list[dict[str, Any]]:
        """What the collator takes: both pictures of every pair, one behind the other."""
        return [
            {
                **side.row,
                "prompt": list(side.row["prompt"]),
                "completion": list(side.row["completion"]),
                "images": [training_rows.pillow(one["bytes"]) for one in side.row["images"]],
            }
            for pair in pairs
            for side in (pair.first, pair.second)
        ]

    def __call__(
        self, pairs: Sequence[Mapped], logits: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross entropy of the transformed answers, and the distance of the mapped coordinates in shares of the sides.

        `logits` (2 pairs, tokens, vocabulary) and `labels` (2 pairs, tokens), -100 outside of the answers.
        """
        import torch

        odds = torch.log_softmax(logits[:, :-1].float(), -1)
        wanted = labels[:, 1:]
        entropy = torch.nn.functional.nll_loss(odds[1::2].flatten(0, 1), wanted[1::2].flatten(), ignore_index=-100)
        apart = []
        for number, pair in enumerate(pairs):
            first = self._expected(pair.first, odds[2 * number], wanted[2 * number])
            second = self._expected(pair.second, odds[2 * number + 1], wanted[2 * number + 1])
            scale, shift = first.new_tensor(pair.scale), first.new_tensor(pair.shift)
            apart.append((scale * first + shift - second).abs().sum())
        return entropy, torch.stack(apart).mean()

    def _expected(self, side: Side, odds: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """The coordinates that the model expects of one answer, (2,), in shares of the picture's sides."""
        import torch

        places = (wanted != -100).nonzero()[:, 0]
        pieces = [self.tokenizer.decode([token]) for token in wanted[places].tolist()]
        starts = {sum(map(len, pieces[:i])): i for i in range(len(pieces))}
        text = "".join(pieces)
        between = re.escape(side.written[0]) + r"\D*?" + re.escape(side.written[1])
        match = [m for m in re.finditer(rf"(?<!\d){between}(?!\d)", text)][-1]
        values = torch.arange(10, dtype=odds.dtype, device=odds.device)
        found = []
        for start, number in ((match.start(), side.written[0]), (match.end() - len(side.written[1]), side.written[1])):
            whole, total = len(number.split(".")[0]), odds.new_zeros(())
            for offset, digit in enumerate(number):
                if digit == ".":
                    continue
                at = starts.get(start + offset)
                if at is None or pieces[at] != digit:
                    raise CallError("the pair loss wants a tokenizer with one token a digit, and this one has not")
                weight = 10.0 ** (whole - 1 - offset if offset < whole else whole - offset)
                share = torch.softmax(odds[places[at], self.digits], -1)
                total = total + weight * (share * values).sum()
            found.append(total)
        return torch.stack(found) / odds.new_tensor(side.extent)


def trainer_class(kind: Any, loss: PairLoss, weight: float) -> Any:
    """TRL's trainer with the pair loss added at every step."""

    class Consistent(kind):  # type: ignore[misc]
        """Adds weight * (cross entropy + distance) of the step's pairs."""

        part = 0  # of a step whose batches are accumulated

        def compute_loss(self, model: Any, inputs: Any, *args: Any, **named: Any) -> Any:
            plain = super().compute_loss(model, inputs, *args, **named)
            if not model.training:
                return plain
            pairs = loss.draw(self.state.global_step, self.part, self.args.process_index)
            self.part = (self.part + 1) % self.args.gradient_accumulation_steps
            batch = self._prepare_inputs(self.data_collator(loss.rows(pairs)))
            labels = batch.pop("labels")
            entropy, apart = loss(pairs, model(**batch, use_cache=False).logits, labels)
            for name, value in (("answers", entropy), ("distance", apart)):
                self._metrics["train"][f"consistency/{name}"].append(value.item())
            # The trainer's own loss is a sum over the accumulated batches already.
            return plain + weight * (entropy + apart) / self.args.gradient_accumulation_steps

    return Consistent
