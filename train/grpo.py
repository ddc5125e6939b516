"""Group-relative policy optimisation (GRPO, arXiv 2402.03300) on rewards that a browser or a box decides.

Text models answer a task's page in one plan; the plan is played in the environment and its named reward terms, weighted on
the command line, are the reward. Groups without spread are drawn again from other tasks (see cuadata.rollouts). Completions
come from a static cache and a CUDA graph a token, since plain `generate` spends its time launching kernels. Vision models
go through TRL's own generation and the pure rewards of `cuadata list rewards`; RLOO (arXiv 2402.14740) likewise.
A guard stops the run when KL, loss or reward leave their band, and the last good adapter is kept.
Left out: trust regions beyond clipping, value models, several GPUs for generation.

    cuadata train grpo --base models/smollm2 --adapter runs/sft --rows data/tasks.jsonl --terms exact:1 --out runs/grpo
    cuadata train grpo --base Qwen/Qwen2.5-VL-3B-Instruct --data data/spatial --format gta1 --terms gaussian_point:1 --out runs/rl
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from cuadata import registry, training
from cuadata.answering import end_ids
from cuadata.errors import CallError, DataError
from cuadata.rollouts import Groups, Scorer
from cuadata.sampling import Sampler

app = typer.Typer(add_completion=False)


def weights(text: str) -> dict[str, float]:
    """`raw:1,exact:1,ended:0.1` as weights by term."""
    try:
        return {name.strip(): float(weight) for name, weight in (part.split(":") for part in text.split(","))}
    except ValueError as error:
        raise CallError(
            f"--terms '{text}' does not read as NAME:WEIGHT,NAME:WEIGHT, such as exact:1,ended:0.1"
        ) from error


def band_guard(out: Path, *, max_kl: float, max_loss: float, patience: int) -> Any:
    """A callback that keeps the last adapter inside the band and stops the run after `patience` steps outside."""
    from transformers import TrainerCallback

    class Band(TrainerCallback):  # type: ignore[misc]
        """Watches KL to the reference, loss and their finiteness."""

        outside = 0
        stopped = ""

        def on_log(
            self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **held: Any
        ) -> None:
            logs = logs or {}
            kl, loss = float(logs.get("kl", 0.0)), float(logs.get("loss", 0.0))
            good = abs(kl) <= max_kl and abs(loss) <= max_loss  # NaN compares false
            self.outside = 0 if good else self.outside + 1
            model = held.get("model")
            if (
                good
                and model is not None
                and "loss" in logs
                and state.is_world_process_zero
                and state.global_step % 10 == 0
            ):
                model.save_pretrained(str(out / "last_good"))
            if self.outside >= patience:
                self.stopped = (
                    f"step {state.global_step}: KL {kl:.3g} (band {max_kl}), loss {loss:.3g} (band {max_loss})"
                )
                control.should_training_stop = True

    return Band()


def rollout(
    groups: Groups, tokenizer: Any, by_prompt: Mapping[str, Mapping[str, Any]], size: int
) -> Callable[..., Any]:
    """TRL's `rollout_func`: groups with spread, their tokens and log-probabilities, and the rewards already paid."""

    def draw(prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        rows = [by_prompt[json.dumps(prompts[start])] for start in range(0, len(prompts), size)]
        drawn = groups.draw(rows, size)
        flat = [(group, place) for group in drawn for place in range(size)]
        _log(trainer, groups, drawn)
        return {
            "prompt_ids": [list(group.row["prompt_ids"]) for group, _ in flat],
            "completion_ids": [list(group.samples[place].ids) for group, place in flat],
            "logprobs": [list(group.samples[place].logprobs) for group, place in flat],
            "paid": [group.rewards[place] for group, place in flat],
        }

    return draw


def _log(trainer: Any, groups: Groups, drawn: Sequence[Any]) -> None:
    tally, metrics = groups.tally, trainer._metrics["train"]
    names = sorted({name for group in drawn for terms in group.terms for name in terms})
    every = [terms for group in drawn for terms in group.terms]
    for name in names:
        metrics[f"terms/{name}"].append(sum(terms.get(name, 0.0) for terms in every) / len(every))
    metrics["groups/flat_share"].append(tally.flat / max(tally.groups, 1))
    metrics["groups/drawn_again"].append(float(tally.drawn_again))
    metrics["groups/flat_left"].append(sum(not group.spread for group in drawn) / len(drawn))
    for part, seconds in tally.seconds.items():
        metrics[f"seconds/{part}"].append(seconds)
    tally.seconds.clear()
    tally.groups = tally.flat = tally.drawn_again = 0


def paid(completions: Sequence[Any], paid: Sequence[float], **_: Any) -> list[float]:
    """The rewards that the rollout already computed."""
    return [float(value) for value in paid]


def train_text(
    loaded: training.Loaded, rows: list[dict[str, Any]], scorer: Scorer, arguments: Any, out: Path, *,
    terms: Mapping[str, float], peft: Any, context: int, rounds: int, guard: Any,
) -> Any:  # fmt: skip
    """GRPO on a text model; returns the trainer, trained."""
    from datasets import Dataset
    from trl import GRPOTrainer

    by_prompt = {json.dumps(row["prompt"]): row for row in rows}
    draw: Callable[..., Any]
    trainer = GRPOTrainer(
        model=loaded.model,
        reward_funcs=[paid],
        args=arguments,
        train_dataset=Dataset.from_list([{"prompt": row["prompt"]} for row in rows]),
        processing_class=loaded.processor,
        peft_config=peft,
        rollout_func=lambda prompts, trainer: draw(prompts, trainer),
        callbacks=[training.journal(out / "log.jsonl"), guard],
    )
    sampler = Sampler(trainer.model, end_ids=end_ids(loaded), pad_id=loaded.tokenizer.pad_token_id, context=context)
    groups = Groups(
        sampler, loaded.tokenizer, scorer, weights=terms, pool=rows, new_tokens=arguments.max_completion_length,
        temperature=arguments.temperature, rounds=rounds, seed=arguments.seed,
    )  # fmt: skip
    draw = rollout(groups, loaded.tokenizer, by_prompt, arguments.num_generations)
    trainer.train()
    return trainer


def train_vision(
    loaded: training.Loaded, rows: Any, form: str, arguments: Any, out: Path, *, terms: Mapping[str, float], peft: Any,
    algorithm: str, guard: Any,
) -> Any:  # fmt: skip
    """GRPO or RLOO on a vision model with the pure rewards; returns the trainer, trained."""
    import trl

    from cuadata.reward_adapter import trl_adapter

    kind = trl.GRPOTrainer if algorithm == "grpo" else trl.RLOOTrainer
    arguments.reward_weights = list(terms.values())
    trainer = kind(
        model=loaded.model,
        reward_funcs=[trl_adapter(name, form) for name in terms],
        args=arguments,
        train_dataset=rows,
        processing_class=loaded.processor,
        peft_config=peft,
        callbacks=[training.journal(out / "log.jsonl"), guard],
    )
    trainer.train()
    return trainer


def settings(algorithm: str, out: Path, **options: Any) -> Any:
    """TRL's configuration with the defaults that bite set aside."""
    import torch
    import trl

    cuda = torch.cuda.is_available()
    held = dict(
        output_dir=str(out), report_to="none", use_cpu=not cuda, dataloader_pin_memory=cuda, logging_steps=1,
        gradient_checkpointing=False, save_strategy="no", remove_unused_columns=False, **options,
    )  # fmt: skip
    if algorithm == "rloo":
        held = {k: v for k, v in held.items() if k not in ("loss_type", "scale_rewards", "epsilon_high")}
        return trl.RLOOConfig(**held)
    return trl.GRPOConfig(**held)


@app.command()
def grpo(
    base: str = typer.Option(..., help="base model: a Hub id or a folder"),
    out: Path = typer.Option(..., help="where the adapter, log and record go"),
    rows: Path | None = typer.Option(None, help="task rows (.jsonl with prompt, family, seed) for text models"),
    data: Path | None = typer.Option(None, help="a dataset folder for vision models"),
    format: str = typer.Option("axtree", help="model family; see `cuadata list formats`"),
    adapter: str = typer.Option("", help="adapter to go on with; the KL is to it"),
    algorithm: str = typer.Option("grpo", help="grpo or rloo"),
    terms: str = typer.Option("exact:1", help="reward terms and weights, such as raw:1,exact:1,ended:0.1"),
    steps: int = typer.Option(100, help="optimiser steps"),
    prompts: int = typer.Option(32, help="tasks a step"),
    group: int = typer.Option(16, help="completions a task"),
    microbatch: int = typer.Option(0, help="completions a forward pass; 0: all of a step"),
    lr: float = typer.Option(2e-5, help="learning rate"),
    beta: float = typer.Option(0.0, help="weight of the KL to the reference"),
    epsilon_high: float = typer.Option(0.28, help="upper clip of the ratio"),
    temperature: float = typer.Option(1.0, help="sampling temperature"),
    new_tokens: int = typer.Option(64, help="longest answer"),
    context: int = typer.Option(1024, help="longest prompt and answer together"),
    rounds: int = typer.Option(2, help="how often groups without spread are drawn again"),
    rank: int = typer.Option(16, help="LoRA rank, where no adapter is given"),
    max_kl: float = typer.Option(10.0, help="band of the divergence guard"),
    max_loss: float = typer.Option(10.0, help="band of the divergence guard"),
    bf16: bool = typer.Option(True, help="compute in bfloat16"),
    seed: int = typer.Option(0, help="seed"),
) -> None:
    """Reinforce what the environment or the box rewards."""
    options, began = dict(locals()), time.perf_counter()
    loaded = training.load(base, adapter=adapter or None)
    each = microbatch or prompts * group
    arguments = settings(
        algorithm, out, max_steps=steps, per_device_train_batch_size=each, num_generations=group,
        gradient_accumulation_steps=prompts * group // each, learning_rate=lr, beta=beta, temperature=temperature,
        epsilon_high=epsilon_high, max_completion_length=new_tokens, loss_type="dapo", scale_rewards="group", bf16=bf16,
        lr_scheduler_type="constant_with_warmup", warmup_steps=5, seed=seed,
    )  # fmt: skip
    guard = band_guard(out, max_kl=max_kl, max_loss=max_loss, patience=3)
    peft = None if adapter else training.lora("all-linear", rank=rank, alpha=2 * rank, train_vision=False)
    share = weights(terms)
    if rows is not None:
        from cuadata.plans import scorer

        with scorer(format) as score:
            trainer = train_text(
                loaded, training.task_rows(rows, loaded), score, arguments, out, terms=share, peft=peft, context=context,
                rounds=rounds, guard=guard,
            )  # fmt: skip
    elif data is not None:
        from cuadata.grounding_rows import prompts_with_columns

        table = prompts_with_columns(training.examples(data, "grounding", "train"), registry.formats[format], loaded)
        trainer = train_vision(
            loaded, table, format, arguments, out, terms=share, peft=peft, algorithm=algorithm, guard=guard
        )
    else:
        raise CallError("give task rows (--rows) or a dataset (--data)")
    training.save(trainer, loaded, out)
    training.record(out, command="train grpo", options=options, data=rows or data, loaded=loaded)
    typer.echo(f"{steps} steps in {time.perf_counter() - began:.0f} s, adapter in {out}", err=True)
    if guard.stopped:
        if (out / "last_good").is_dir():
            shutil.copytree(out / "last_good", out, dirs_exist_ok=True)
        raise DataError(
            f"the run diverged and was stopped at {guard.stopped}; the last good adapter is kept", place=str(out)
        )


if __name__ == "__main__":
    app()
