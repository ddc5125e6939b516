"""Group-relative policy optimisation (GRPO, arXiv 2402.03300) on rewards that a browser or a box decides.

Text models answer a task's page in one plan; the plan is played in the environment and its named reward terms, weighted on
the command line, are the reward. Groups without spread are drawn again from other tasks (see cuadata.learning.rollouts). Completions
come from cuadata.learning.sampling, since plain `generate` spends its time launching kernels. Vision models go through TRL's own
generation and the pure rewards of `cuadata list rewards`; RLOO (arXiv 2402.14740) likewise, on tasks too; their groups without
spread are drawn again as well (cuadata.learning.resampling).
A guard stops the run when KL, loss or gradient leave their band, and the last good adapter is kept.
Left out: trust regions beyond clipping, value models, several GPUs for one model's generation.

    cuadata train grpo --base models/smollm2 --adapter runs/sft --rows data/tasks.jsonl --terms exact:1 --out runs/grpo
    cuadata train grpo --base Qwen/Qwen2.5-VL-3B-Instruct --data data/spatial --format gta1 --terms gaussian_point:1 --out runs/rl
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from cuadata import cli
from cuadata.errors import CallError, DataError
from cuadata.learning import (
    callbacks,
    grounding_rows,
    plan_rewards,
    presets,
    resampling,
    reward_adapter,
    starting,
    step_times,
    training,
    training_rows,
)
from cuadata.learning.answering import end_ids
from cuadata.learning.rollouts import Groups, Scorer, paid, rollout
from cuadata.learning.sampling import Sampler

app = typer.Typer(add_completion=False)
#: Rewards that need no label: what is trained on them adapts to the test inputs, and says so.
TEST_TIME = {"region_consistency"}


def train_text(
    loaded: training.Loaded, rows: list[dict[str, Any]], scorer: Scorer, arguments: Any, *, terms: Mapping[str, float],
    peft: Any, context: int, rounds: int, watchers: Sequence[Any], checkpoint: str | None = None,
) -> Any:  # fmt: skip
    """GRPO on a text model; returns the trainer, trained."""
    import torch
    from datasets import Dataset
    from trl import GRPOTrainer

    draw: Callable[..., Any]
    trainer = GRPOTrainer(
        model=loaded.model,
        reward_funcs=[paid],
        args=arguments,
        train_dataset=Dataset.from_list([{"prompt": row["prompt"]} for row in rows]),
        processing_class=loaded.processor,
        peft_config=peft,
        rollout_func=lambda prompts, trainer: draw(prompts, trainer),
    )
    sampler = Sampler(
        trainer.model, end_ids=end_ids(loaded), pad_id=loaded.tokenizer.pad_token_id, context=context,
        dtype=torch.bfloat16 if arguments.bf16 else None,
    )  # fmt: skip
    groups = Groups(
        sampler, loaded.tokenizer, scorer, weights=terms, pool=rows, new_tokens=arguments.max_completion_length,
        temperature=arguments.temperature, rounds=rounds, seed=arguments.seed,
    )  # fmt: skip
    draw = rollout(groups, rows, arguments.num_generations)
    keep = callbacks.Keep("groups", groups.state, groups.restore, checkpoint)
    trainer.add_callback(callbacks.attached(*watchers, keep))
    trainer.train(resume_from_checkpoint=checkpoint)
    return trainer


def train_generated(
    loaded: training.Loaded, rows: Any, rewards: Sequence[Any], arguments: Any, *, peft: Any, rounds: int,
    watchers: Sequence[Any], checkpoint: str | None = None,
) -> Any:  # fmt: skip
    """GRPO or RLOO with TRL's own generation, on a vision or a text model; returns the trainer, trained."""
    import trl

    kind = trl.RLOOTrainer if isinstance(arguments, trl.RLOOConfig) else trl.GRPOTrainer
    trainer = resampling.trainer_class(kind, rounds)(
        model=loaded.model,
        reward_funcs=list(rewards),
        args=arguments,
        train_dataset=rows,
        processing_class=loaded.processor,
        peft_config=peft,
    )
    choice = trainer.choice = resampling.Choice(rows, arguments.seed + trainer.accelerator.process_index)
    keep = callbacks.Keep("choice", choice.state, choice.restore, checkpoint)
    trainer.add_callback(callbacks.attached(*watchers, keep))
    trainer.train(resume_from_checkpoint=checkpoint)
    return trainer


def settings(algorithm: str, out: Path, **options: Any) -> Any:
    """TRL's configuration with the defaults that bite set aside."""
    import trl

    kinds = {"grpo": trl.GRPOConfig, "rloo": trl.RLOOConfig}
    if algorithm not in kinds:
        raise CallError(f"there is no algorithm '{algorithm}'; there are: grpo, rloo")
    cuda = training.cuda()
    held: dict[str, Any] = dict(
        output_dir=str(out), report_to="none", use_cpu=not cuda, dataloader_pin_memory=cuda, logging_steps=1,
        save_strategy="steps", save_total_limit=2, remove_unused_columns=False, **options,
    )  # fmt: skip
    known = kinds[algorithm].__dataclass_fields__
    return kinds[algorithm](**{name: value for name, value in held.items() if name in known})


def shares(prompts: int, group: int, microbatch: int) -> tuple[int, int]:
    """Completions a forward pass and process, and passes a step. CallError where groups would be torn apart."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    each = microbatch or prompts * group // world
    if group < 2 or prompts % world or each % group and group % each or prompts * group % (each * world):
        raise CallError(
            f"{prompts} tasks of {group} completions do not divide into passes of {each} on {world} processes"
        )
    return each, prompts * group // (each * world)


def weights(terms: str) -> dict[str, float]:
    """Reward terms and their weights. CallError where nothing would be learnt from them, or nothing but overflow."""
    share = training.named_numbers(terms, "--terms", "exact:1,ended:0.1")
    if not any(share.values()) or max(map(abs, share.values())) > 1e6:
        raise CallError(f"--terms '{terms}': one weight at least is not 0, and none is beyond a million")
    return share


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
    preset: str = typer.Option("", help=presets.HELP, callback=presets.apply, is_eager=True),
    steps: int = typer.Option(100, min=1, help="optimiser steps"),
    prompts: int = typer.Option(32, min=1, help="tasks a step, over all processes"),
    group: int = typer.Option(16, min=2, help="completions a task"),
    microbatch: int = typer.Option(0, min=0, help="completions a forward pass and process; 0: all of a step"),
    lr: float = typer.Option(2e-5, min=0, help="learning rate"),
    beta: float = typer.Option(0.0, min=0, help="weight of the KL to the reference"),
    epsilon_high: float = typer.Option(0.28, min=0, help="upper clip of the ratio"),
    temperature: float = typer.Option(1.0, min=0.01, help="sampling temperature"),
    new_tokens: int = typer.Option(64, min=1, help="longest answer"),
    context: int = typer.Option(1024, min=2, help="longest prompt and answer together"),
    rounds: int = typer.Option(2, min=0, help="how often groups without spread are drawn again"),
    rank: int = typer.Option(16, min=1, help="LoRA rank, where no adapter is given"),
    max_pixels: int = typer.Option(0, min=0, help="most pixels of the processed picture; 0: the processor's own"),
    dtype: str = typer.Option("float32", help="dtype of the frozen base: float32 or bfloat16"),
    checkpointing: bool = typer.Option(False, help="compute activations again instead of keeping them"),
    max_kl: float = typer.Option(10.0, min=0, help="band of the divergence guard"),
    max_loss: float = typer.Option(10.0, min=0, help="band of the divergence guard"),
    bf16: bool = typer.Option(True, help="compute in bfloat16"),
    save_steps: int = typer.Option(10, min=1, help="steps between checkpoints"),
    seed: int = typer.Option(0, min=0, max=2**32 - 1, help="seed"),
    resume: bool = typer.Option(False, help="go on from the last checkpoint in OUT, where there is one"),
    force: bool = typer.Option(False, help="replace the run in OUT"),
) -> None:
    """Reinforce what the environment or the box rewards."""
    options, began = dict(locals()), time.perf_counter()
    from transformers import set_seed

    source = training_rows.either(rows, data)
    training_rows.form(format)
    share = weights(terms)
    each, passes = shares(prompts, group, microbatch)
    arguments = settings(
        algorithm, out, max_steps=steps, per_device_train_batch_size=each, num_generations=group,
        gradient_accumulation_steps=passes, learning_rate=lr, beta=beta, temperature=temperature, bf16=bf16,
        epsilon_high=epsilon_high, max_completion_length=new_tokens, loss_type="dapo", scale_rewards="group",
        lr_scheduler_type="constant_with_warmup", warmup_steps=5, seed=seed, save_steps=save_steps,
        gradient_checkpointing=checkpointing, reward_weights=list(share.values()),
    )  # fmt: skip
    keeps = "groups" if data is None and algorithm == "grpo" else "choice"
    checkpoint = starting.begin(out, resume=resume, force=force, reads=[source, base, adapter], keeps=keeps)
    stop, guard = callbacks.Interrupt(), callbacks.Band(out, max_kl=max_kl, max_loss=max_loss)
    set_seed(seed)
    loaded = training.load(base, adapter=adapter or None, dtype=dtype, max_pixels=max_pixels)
    if loaded.vision != (data is not None):
        raise CallError(f"{base} is a {'vision' if loaded.vision else 'text'} model; see --rows and --data")
    common: dict[str, Any] = {
        "peft": None if adapter else training.lora("all-linear", rank=rank, alpha=2 * rank, freeze_vision=loaded.vision),
        "watchers": [callbacks.Journal(out / "log.jsonl"), guard, stop],
        "checkpoint": checkpoint,
    }  # fmt: skip
    rewards: list[Any] = []
    if data is not None:
        rewards = [reward_adapter.trl_adapter(name, format) for name in share]
        table = grounding_rows.table(grounding_rows.judged(data, format, loaded, rewards))
    else:
        table = training_rows.task_rows(source, loaded, longest=context - new_tokens)
        plan_rewards.check(share, ended=algorithm == "grpo")
    if len(table) < prompts:
        raise CallError(
            f"{source} has {len(table)} tasks, fewer than the --prompts {prompts} of a step; lower --prompts"
        )
    starting.same(out, checkpoint, options=options, data=source, base=loaded.base_sha256)
    with starting.writing(out):
        if data is not None:
            trainer = train_generated(loaded, table, rewards, arguments, rounds=rounds, **common)
        else:
            trainer = _on_tasks(loaded, table, format, arguments, share, context, rounds, common)
        if guard.stopped:
            kept = guard.restore(out)
            raise DataError(f"the run diverged and was stopped at {guard.stopped}; {kept}", place=str(out))
        training.save(trainer, loaded, out)
    if training.main_process():
        typer.echo(f"{time.perf_counter() - began:.0f} s in all. {step_times.table(out / 'log.jsonl')}", err=True)
    stop.leave(trainer.state.global_step)
    test_time = bool(TEST_TIME & set(share))
    training.record(out, command="train grpo", options=options, data=source, loaded=loaded, test_time=test_time)


def _on_tasks(
    loaded: training.Loaded, tasks: list[dict[str, Any]], form: str, arguments: Any, share: Mapping[str, float], context: int, rounds: int, common: Mapping[str, Any]
) -> Any:  # fmt: skip
    from datasets import Dataset

    from cuadata.playing.plans import scorer

    with scorer(form) as score:
        if arguments.__class__.__name__ == "GRPOConfig":
            arguments.reward_weights = None  # the rollout has weighed the terms
            return train_text(loaded, tasks, score, arguments, terms=share, context=context, rounds=rounds, **common)
        table = Dataset.from_list([{"prompt": row["prompt"], "id": row["id"]} for row in tasks])
        paying = plan_rewards.functions(score, tasks, share)
        return train_generated(loaded, table, paying, arguments, rounds=rounds, **common)


if __name__ == "__main__":
    cli.main(app)
