"""Groups without spread drawn again where TRL generates by itself: vision models, and RLOO.

TRL counts such groups and trains on them all the same (`frac_reward_zero_std`). Here a batch is generated and rewarded first,
its flat groups are replaced by groups of other rows for up to `rounds` rounds (dynamic sampling as in DAPO, arXiv 2503.14476),
and what stands then goes through TRL's own step, whose generation is answered with what is already drawn. Its rewards are
asked for once more, so a reward must be a function of its row and answer. Text models under GRPO have cuadata.learning.rollouts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """One process's rows, a group after another, with what was generated for them."""

    rows: Annotated[list[Row], "a row a completion: groups of equal rows"]
    drawn: Annotated[tuple[Any, ...], "what TRL's `_generate` answered: lists of a value a row, None, or other"]
    spread: Annotated[list[bool], "whether the rewards of a group differ, a value a group"]
    settled: Annotated[bool, "whether every group of every process has spread"]


def replaced(batch: Batch, fresh: Batch) -> Batch:
    """The batch with its flat groups replaced by those groups of `fresh` that have spread, as far as they go."""
    size = len(batch.rows) // len(batch.spread)
    good = iter([place for place, spread in enumerate(fresh.spread) if spread])
    sources = [(batch, place) if spread else (fresh, next(good, -1)) for place, spread in enumerate(batch.spread)]
    taken = [(batch, at) if place < 0 else (source, place) for at, (source, place) in enumerate(sources)]

    def joined(part: Any) -> list[Any]:
        return [value for source, place in taken for value in part(source)[place * size : (place + 1) * size]]

    drawn = tuple(
        joined(lambda source, at=at: source.drawn[at]) if _by_row(value, batch) and _by_row(fresh.drawn[at], fresh) else value
        for at, value in enumerate(batch.drawn)
    )  # fmt: skip
    spread = [source.spread[place] for source, place in taken]
    return Batch(joined(lambda source: source.rows), drawn, spread, batch.settled)


def _by_row(value: Any, batch: Batch) -> bool:
    return isinstance(value, list) and len(value) == len(batch.rows)


class Choice:
    """Chooses rows to try instead: those whose last group had spread or that were never tried first, ties at random."""

    def __init__(self, rows: Any, seed: int) -> None:
        self.rows = rows
        self._ids: list[Any] = list(rows["id"]) if hasattr(rows, "column_names") else [row["id"] for row in rows]
        self._spread: dict[Any, bool] = {}
        self._chance = random.Random(seed)

    def note(self, batch: Batch) -> None:
        """Remember how the groups of a batch came out."""
        size = len(batch.rows) // len(batch.spread)
        self._spread |= {row["id"]: spread for row, spread in zip(batch.rows[::size], batch.spread, strict=True)}

    def others(self, batch: Batch) -> list[Row]:
        """As many rows as the batch has, in groups, none of them in it."""
        size, taken = len(batch.rows) // len(batch.spread), {row["id"] for row in batch.rows}
        free = [place for place, one in enumerate(self._ids) if one not in taken]
        self._chance.shuffle(free)
        free.sort(key=lambda place: not self._spread.get(self._ids[place], True))
        places = (free * (len(batch.spread) // max(len(free), 1) + 1))[: len(batch.spread)]
        return [row for row in (self.rows[place] for place in places) for _ in range(size)]

    def state(self) -> Any:
        """What a checkpoint keeps."""
        return {"spread": list(self._spread.items()), "random": self._chance.getstate()}

    def restore(self, state: Any) -> None:
        """Take up what `state` gave, after a way through JSON."""
        self._spread = dict(state["spread"])
        version, inner, gauss = state["random"]
        self._chance.setstate((version, tuple(inner), gauss))


def trainer_class(kind: Any, rounds: int) -> Any:
    """TRL's GRPOTrainer or RLOOTrainer, drawing flat groups again; `choice` is set once the trainer stands."""

    class Resampling(kind):  # type: ignore[misc]
        choice: Choice
        _answered: tuple[Any, ...] | None = None

        def _generate(self, prompts: list[Any]) -> Any:
            held, self._answered = self._answered, None
            return super()._generate(prompts) if held is None else held

        def _generate_and_score_completions(self, inputs: list[Row]) -> Any:
            if self.model.training:
                batch = self._with_spread(inputs)
                inputs, self._answered = list(batch.rows), batch.drawn
            return super()._generate_and_score_completions(inputs)

        def _with_spread(self, inputs: list[Row]) -> Batch:
            batch = self._once(inputs)
            groups, flat, again = len(batch.spread), batch.spread.count(False), 0
            # Whether to go on is decided on all processes' groups, since they generate and gather together.
            for _ in range(rounds):
                if batch.settled or len(self.choice.rows) <= groups * self.accelerator.num_processes:
                    break
                fresh = self._once(self.choice.others(batch))
                again, flat, groups = (
                    again + len(fresh.spread),
                    flat + fresh.spread.count(False),
                    groups + len(fresh.spread),
                )
                batch = replaced(batch, fresh)
                batch = Batch(batch.rows, batch.drawn, batch.spread, _everywhere(self.accelerator, all(batch.spread)))
            _tell(self._metrics["train"], batch, groups=groups, flat=flat, again=again)
            return batch

        def _once(self, rows: list[Row]) -> Batch:
            from trl.data_utils import prepare_multimodal_messages

            prompts = [row["prompt"] for row in rows]
            if rows[0].get("images") is not None:
                prompts = [prepare_multimodal_messages(row["prompt"], images=row["images"]) for row in rows]
            drawn = super()._generate(prompts)
            ids, completions = drawn[1], drawn[2 if len(drawn) == 3 else 3]  # RLOO answers three values, GRPO eight
            paid = self._calculate_rewards(rows, prompts, completions, ids)
            start = self.accelerator.process_index * len(rows)
            weights = self.reward_weights.to(paid.device)
            rewards = (paid * weights).nansum(1)[start : start + len(rows)].view(-1, self.num_generations)
            spread = [bool(one) for one in rewards.max(1).values - rewards.min(1).values > 1e-9]
            batch = Batch(list(rows), drawn, spread, _everywhere(self.accelerator, all(spread)))
            self.choice.note(batch)
            return batch

    return Resampling


def _everywhere(accelerator: Any, here: bool) -> bool:
    """Whether something holds on every process."""
    import torch

    return bool(accelerator.gather(torch.tensor([here], device=accelerator.device)).all())


def _tell(metrics: Any, batch: Batch, *, groups: int, flat: int, again: int) -> None:
    """The same three figures that cuadata.learning.rollouts logs."""
    metrics["groups/flat_share"].append(flat / groups)
    metrics["groups/drawn_again"].append(float(again))
    metrics["groups/flat_left"].append(batch.spread.count(False) / len(batch.spread))
