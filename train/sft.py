"""Supervised fine-tuning with LoRA on the splits that cuadata emits.

Phase 1 trains single actions; phase 1.5 goes on with the same adapter and recovery rows mixed in; phase 2 trains chunks.
The loss is on the answer alone. A row that would not fit whole is left out and counted, never cut: a cut picture or a
cut answer trains on nothing without a word. Coordinates are written in the frame that the model's own processor makes.
Left out: packing, full fine-tuning, quantised bases; a small LoRA on one GPU needs none of them.

    cuadata train sft --data data/demo --base Qwen/Qwen2.5-VL-3B-Instruct --format qwen25vl --out runs/phase1
    cuadata train sft --data data/demo --base ... --adapter runs/phase1 --mix actions:0.95,recovery:0.05 --out runs/phase15
    accelerate launch -m cuadata.train.sft --data ...
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from cuadata import registry, training
from cuadata.answering import hits
from cuadata.errors import CallError, DataError
from cuadata.guard import compare
from cuadata.rows import CONFIGS

app = typer.Typer(add_completion=False)


def mixture(text: str) -> dict[str, float]:
    """`actions:0.95,recovery:0.05` as shares by config. CallError where it does not read so."""
    try:
        shares = {name.strip(): float(share) for name, share in (part.split(":") for part in text.split(","))}
    except ValueError as error:
        raise CallError(
            f"--mix '{text}' does not read as NAME:SHARE,NAME:SHARE, such as actions:0.95,recovery:0.05"
        ) from error
    unknown = set(shares) - set(CONFIGS)
    if unknown or min(shares.values()) < 0 or sum(shares.values()) <= 0:
        raise CallError(f"--mix '{text}': shares are above 0 and configs are of {', '.join(CONFIGS)}")
    return shares


def mixed(data: Path, mix: dict[str, float], split: str, size: int, seed: int) -> list[Any]:
    """`size` rows (0: as many as the largest share allows once), drawn by share; the same for a seed."""
    import random

    pools = {config: training.examples(data, config, split) for config in mix}
    whole = sum(mix.values())
    size = size or max(len(rows) for rows in pools.values())
    chance, drawn = random.Random(seed), []
    for config, share in sorted(mix.items()):
        count, pool = round(size * share / whole), pools[config]
        while count > 0 and pool:  # a small config is gone through again rather than left short
            drawn += chance.sample(pool, min(count, len(pool)))
            count -= min(count, len(pool))
    chance.shuffle(drawn)
    return drawn


def training_set(rows: list[dict[str, Any]], vision: bool) -> Any:
    """Prompt and completion rows as a `datasets.Dataset`, picture bytes embedded."""
    from datasets import Dataset, Features, Image, Json, List

    features = {"prompt": List(Json()), "completion": List(Json())}
    if vision:
        features["images"] = List(Image())
    return Dataset.from_list([{name: row[name] for name in features} for row in rows], features=Features(features))


@app.command()
def sft(
    base: str = typer.Option(..., help="base model: a Hub id or a folder"),
    out: Path = typer.Option(..., help="where the adapter, log and record go"),
    data: Path = typer.Option(..., help="a dataset folder, or a .jsonl of prompt and completion messages"),
    format: str = typer.Option("json", help="model family; see `cuadata list formats`"),
    mix: str = typer.Option("actions:1", help="configs and their shares, such as actions:0.95,recovery:0.05"),
    split: str = typer.Option("train", help="split to train on"),
    adapter: str = typer.Option("", help="adapter to go on with (the same weights, not a new one on top)"),
    replay: Path | None = typer.Option(
        None, help="a second dataset of plain grounding rows, to keep what the base can do"
    ),
    replay_share: float = typer.Option(0.2, help="share of replayed rows"),
    size: int = typer.Option(0, help="rows to train on; 0: all"),
    steps: int = typer.Option(0, help="optimiser steps; 0: one pass"),
    batch: int = typer.Option(8, help="rows a step and device"),
    accumulate: int = typer.Option(1, help="batches a step"),
    lr: float = typer.Option(1e-4, help="learning rate"),
    rank: int = typer.Option(16, help="LoRA rank"),
    lora_targets: str = typer.Option("all-linear", help="layers that get LoRA: all-linear, or names by comma"),
    train_vision: bool = typer.Option(False, help="put LoRA on the seeing parts too"),
    max_tokens: int = typer.Option(4096, help="longer rows are left out whole"),
    max_pixels: int = typer.Option(0, help="most pixels of the processed picture; 0: the processor's own"),
    bf16: bool = typer.Option(True, help="compute in bfloat16"),
    guard: Path | None = typer.Option(None, help="direct-grounding dataset that must not get significantly worse"),
    seed: int = typer.Option(0, help="seed of order and initialisation"),
    resume: bool = typer.Option(False, help="go on from the last checkpoint in OUT"),
) -> None:
    """Fine-tune a LoRA on single actions, on recoveries mixed in, or on chunks."""
    from trl import SFTConfig, SFTTrainer

    options = dict(locals())
    loaded = training.load(base, adapter=adapter or None, max_pixels=max_pixels)
    rows = _rows(data, format, mix, split, size, seed, loaded)
    if replay is not None:
        share = replay_share / (1 - replay_share)
        rows += _rows(replay, format, "grounding:1", "train", round(len(rows) * share), seed, loaded)
    rows, dropped = training.with_answers_only(rows, loaded, max_tokens)
    if not rows:
        raise DataError(f"no row is left: {dropped} are longer than --max-tokens {max_tokens}", place=str(data))
    typer.echo(f"{len(rows)} rows to train on, {dropped} left out as longer than {max_tokens} tokens", err=True)
    arguments = SFTConfig(
        output_dir=str(out), max_length=None, completion_only_loss=True, per_device_train_batch_size=batch,
        gradient_accumulation_steps=accumulate, learning_rate=lr, lr_scheduler_type="cosine", warmup_steps=0.05,
        max_steps=steps or -1, num_train_epochs=1, bf16=bf16, use_cpu=not _cuda(), gradient_checkpointing=False,
        dataloader_pin_memory=_cuda(), logging_steps=1, save_strategy="steps", save_steps=200, save_total_limit=2,
        report_to="none", seed=seed, data_seed=seed,
    )  # fmt: skip
    trainer = SFTTrainer(
        model=loaded.model,
        args=arguments,
        train_dataset=training_set(rows, loaded.vision),
        processing_class=loaded.processor,
        peft_config=None
        if adapter
        else training.lora(lora_targets, rank=rank, alpha=2 * rank, train_vision=train_vision),
        callbacks=[training.journal(out / "log.jsonl")],
    )
    held = training.examples(guard, "grounding", "test") if guard else []
    before = hits(held, registry.formats[format], replace(loaded, model=trainer.model)) if held else []
    try:
        trainer.train(resume_from_checkpoint=True if resume else None)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: the adapter as it is now is kept in {out}", err=True)
    training.save(trainer, loaded, out)
    training.record(out, command="train sft", options=options, data=data, loaded=loaded)
    if held:
        drop = compare(before, hits(held, registry.formats[format], replace(loaded, model=trainer.model)))
        typer.echo(str(drop), err=True)
        if drop.significant:
            raise DataError(f"training cost grounding; {drop}", place=str(out))


def _rows(
    data: Path, form: str, mix: str, split: str, size: int, seed: int, loaded: training.Loaded
) -> list[dict[str, Any]]:
    if data.suffix == ".jsonl":
        return list(training.text_rows(data))[: size or None]
    drawn = mixed(data, mixture(mix), split, size, seed)
    return [training.answer_row(example, registry.formats[form], loaded.processor) for example in drawn]


def _cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


if __name__ == "__main__":
    app()
