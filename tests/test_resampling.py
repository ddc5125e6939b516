"""Flat groups are drawn again where TRL generates by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cuadata.learning.resampling import Batch, Choice, replaced


def batch(ids: str, spread: list[bool]) -> Batch:
    """Groups of two rows, one letter each; the answers are named after the row and its place."""
    rows: list[Mapping[str, Any]] = [{"id": one} for one in ids for _ in range(2)]
    answers = [f"{row['id']}{at % 2}" for at, row in enumerate(rows)]
    return Batch(rows, (answers, None, {}), spread, all(spread))


def test_flat_groups_are_replaced_by_those_with_spread_rows_and_answers_together() -> None:
    held = replaced(batch("abc", [False, True, False]), batch("xyz", [False, True, False]))
    assert [row["id"] for row in held.rows] == ["y", "y", "b", "b", "c", "c"]
    assert held.drawn == (["y0", "y1", "b0", "b1", "c0", "c1"], None, {})
    assert held.spread == [True, True, False]


def test_rows_that_came_out_flat_are_tried_last_and_none_twice_in_a_batch() -> None:
    choice = Choice([{"id": one} for one in "abcdef"], seed=0)
    choice.note(batch("cd", [False, True]))
    drawn = [row["id"] for row in choice.others(batch("ab", [True, False]))[::2]]
    assert set(drawn) < {"d", "e", "f"} and len(set(drawn)) == 2
    again = Choice([{"id": one} for one in "abcdef"], seed=1)
    again.restore(json.loads(json.dumps(choice.state())))
    seen = batch("ab", [True, True])
    assert again.others(seen) == choice.others(seen)


@pytest.mark.train
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # of transformers and TRL about themselves
@pytest.mark.parametrize("algorithm", ["rloo", "grpo"])
def test_trl_trains_on_the_groups_drawn_again(tmp_path: Path, algorithm: str) -> None:
    """Rows named flat pay every answer alike; the others pay by length of the answer's text."""
    import tiny_models
    from datasets import Dataset

    from cuadata.learning import training
    from cuadata.train import grpo

    loaded = training.load(str(tiny_models.build("qwen2", tmp_path / "model")))
    names = [*(f"flat{n}" for n in range(4)), *(f"good{n}" for n in range(4))]
    rows = Dataset.from_list([{"id": one, "prompt": [{"role": "user", "content": f"click {one}"}]} for one in names])

    def length(completions: Any, id: Any, **_: Any) -> list[float]:
        return [
            0.0 if one.startswith("flat") else float(len(c[0]["content"]))
            for one, c in zip(id, completions, strict=True)
        ]

    arguments = grpo.settings(
        algorithm, tmp_path / "out", max_steps=3, per_device_train_batch_size=8, num_generations=4, bf16=False,
        max_completion_length=6, learning_rate=1e-3, save_steps=100, seed=0, gradient_checkpointing=False,
    )  # fmt: skip
    peft = training.lora("all-linear", rank=4, alpha=8)
    trainer = grpo.train_generated(loaded, rows, [length], arguments, peft=peft, rounds=3, watchers=[])
    logs = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert sum(entry["groups/drawn_again"] for entry in logs) > 0
    assert all(entry["groups/flat_left"] == 0 for entry in logs), logs
    assert all(entry["frac_reward_zero_std"] == 0 for entry in logs), logs
