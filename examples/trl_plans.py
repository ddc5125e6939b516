"""One-shot GRPO with TRL: the model reads the page once and answers with a whole plan; a plain function scores it.

    python examples/trl_plans.py --model Qwen/Qwen3-0.6B --family miniwob-click-checkboxes --steps 20

`cuadata train grpo` does the same faster; this is the smallest form that TRL itself runs.
"""

from __future__ import annotations

import typer

from cuadata.playing import plans, trl_environment


def main(
    model: str = typer.Option(..., help="a Hub id or folder"),
    family: str = typer.Option("miniwob-click-checkboxes", help="page family, or miniwob-TASK"),
    out: str = typer.Option("runs/trl_plans", help="where the model goes"),
    format: str = typer.Option("axtree", help="how the page reads and how answers are written"),
    steps: int = typer.Option(20, help="optimiser steps"),
    group: int = typer.Option(8, help="answers a task"),
    tasks: int = typer.Option(200, help="seeds to draw from"),
    new_tokens: int = typer.Option(64, help="longest answer"),
) -> None:
    """Train, and save what was learned."""
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    cuda = torch.cuda.is_available()
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=trl_environment.plan_reward(format, reward="exact"),
        train_dataset=Dataset.from_list(plans.task_rows(family, range(tasks), format)),
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
