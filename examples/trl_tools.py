"""Multi-turn GRPO with TRL: the model acts on a live page by tools, one call a turn.

    python examples/trl_tools.py --model Qwen/Qwen3-0.6B --family miniwob-click-checkboxes --steps 20

The chat template must know tools (Qwen2.5, Qwen3). Rewards are the page's exact criterion.
"""

from __future__ import annotations

import os

import typer

from cuadata.playing import trl_environment


def main(
    model: str = typer.Option(..., help="a Hub id or folder"),
    family: str = typer.Option("miniwob-click-checkboxes", help="page family, or miniwob-TASK"),
    out: str = typer.Option("runs/trl_tools", help="where the model goes"),
    steps: int = typer.Option(20, help="optimiser steps"),
    group: int = typer.Option(4, help="rollouts a task"),
    tasks: int = typer.Option(200, help="seeds to draw from"),
    new_tokens: int = typer.Option(512, help="longest rollout, tool answers included"),
) -> None:
    """Train, and save what was learned."""
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    ask = "Use the tools to do what is asked on the page. The numbers in brackets name its elements."
    rows = Dataset.from_list([{"prompt": [{"role": "user", "content": ask}], "seed": seed} for seed in range(tasks)])
    cuda = torch.cuda.is_available()
    trainer = GRPOTrainer(
        model=model,
        environment_factory=trl_environment.tools(family, reward="exact"),
        train_dataset=rows,
        args=GRPOConfig(
            output_dir=out,
            max_steps=steps,
            per_device_train_batch_size=group,
            num_generations=group,
            max_completion_length=new_tokens,
            report_to="none",
            use_cpu=not cuda,
            bf16=cuda,
            logging_steps=1,
        ),
    )
    trainer.train()
    trainer.save_model(out)


if __name__ == "__main__":
    typer.run(main)
