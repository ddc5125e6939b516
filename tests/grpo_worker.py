"""One of two processes that train a bandit on a text model with groups drawn here; started by torchrun in a test.

torchrun --nproc_per_node 2 tests/grpo_worker.py MODEL ROWS OUT
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cuadata.learning import callbacks, training, training_rows


def main(base: str, path: str, out: Path) -> None:
    """Two steps of two groups each, one a process; the scorer holds that a group is of one task."""
    grpo = importlib.import_module("cuadata.train.grpo")
    loaded = training.load(base)
    rows = training_rows.task_rows(Path(path), loaded)
    each, passes = grpo.shares(2, 4, 0)
    assert (each, passes) == (4, 1)

    def lower(rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[dict[str, float]]:
        assert len({row["id"] for row in rows}) == 1, "a process draws whole groups"
        return [{"exact": float(answer[:1].islower())} for answer in answers]

    arguments = grpo.settings(
        "grpo", out, max_steps=2, per_device_train_batch_size=each, num_generations=4, learning_rate=1e-2, beta=0.0,
        max_completion_length=3, bf16=False, gradient_checkpointing=False,
    )  # fmt: skip
    peft = training.lora("all-linear", rank=4, alpha=8)
    watchers = [callbacks.Journal(out / "log.jsonl"), callbacks.Interrupt()]
    trainer = grpo.train_text(
        loaded, rows, lower, arguments, terms={"exact": 1.0}, peft=peft, context=256, rounds=0, watchers=watchers
    )
    training.save(trainer, loaded, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
