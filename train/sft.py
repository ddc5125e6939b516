"""Supervised fine-tuning with LoRA on the splits that cuadata emits.

Phase 1 trains single actions; phase 1.5 goes on with the same adapter and recoveries mixed in; phase 2 trains chunks.
The loss is on the answer alone. A row that would not fit whole is left out and counted, never cut: a cut picture or a
cut answer trains on nothing without a word. Coordinates are written in the frame that the model's own processor makes.
Ctrl-C saves a checkpoint, and --resume goes on from it to the same weights. Left out: packing, full fine-tuning,
quantised bases; a small LoRA on one GPU needs none of them.

    cuadata train sft --data data/demo --base Qwen/Qwen2.5-VL-3B-Instruct --format qwen25vl --preset 3b --out runs/phase1
    cuadata train sft --data data/demo --base ... --phase 1.5 --adapter runs/phase1 --out runs/phase15
    accelerate launch -m cuadata.train.sft --data ...
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from cuadata import cli, registry
from cuadata.errors import CallError, DataError
from cuadata.learning import callbacks, consistency, presets, starting, training, training_rows
from cuadata.learning.answering import hits
from cuadata.rows import CONFIGS
from cuadata.statistics import paired

app = typer.Typer(add_completion=False)
#: What a phase trains on, as configs and their shares.
PHASES = {"1": "actions:1", "1.5": "actions:0.8,recovery:0.2", "2": "chunks:1"}


def mixture(text: str) -> dict[str, float]:
    """`actions:0.8,recovery:0.2` as shares by config. CallError where it does not read so."""
    shares = training.named_numbers(text, "--mix", "actions:0.8,recovery:0.2")
    if set(shares) - set(CONFIGS) or min(shares.values()) < 0 or sum(shares.values()) <= 0:
        raise CallError(f"--mix '{text}': shares are above 0 and configs are of {', '.join(CONFIGS)}")
    return shares


def mixed(data: Path, mix: dict[str, float], split: str, size: int, seed: int) -> list[Any]:
    """`size` rows (0: as many as the largest share's config has), drawn by share; the same for a seed."""
    pools = {config: training_rows.examples(data, config, split) for config, share in mix.items() if share}
    whole, largest = sum(mix.values()), max(mix, key=lambda config: mix[config])
    size = size or round(len(pools[largest]) * whole / mix[largest])
    chance, drawn = random.Random(seed), []
    for config, pool in sorted(pools.items()):
        count = round(size * mix[config] / whole)
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


def read_rows(
    data: Path, form: str, mix: str, split: str, size: int, seed: int, loaded: training.Loaded
) -> list[dict[str, Any]]:
    """Rows to train on from a dataset folder or a file of messages; what cannot be said is counted on stderr."""
    if data.suffix == ".jsonl":
        rows = list(training_rows.message_rows(data, vision=loaded.vision))[: size or None]
        if not rows:
            raise DataError("holds no row; wanted JSON lines of prompt and completion", place=str(data))
        return rows
    for_model(data, form, loaded)
    drawn = mixed(data, mixture(mix), split, size, seed)
    rows, unsaid = training_rows.answer_rows(drawn, registry.formats[form], loaded.processor)
    for words, count in Counter(unsaid).most_common(5):
        typer.echo(f"{count} rows left out: {words}", err=True)
    if not rows:
        why = f"of {len(drawn)} none can be said in '{form}'" if drawn else f"its {split} split has none"
        raise DataError(f"no row to train on: {why}", place=str(data))
    return rows


def for_model(data: Path, form: str, loaded: training.Loaded) -> None:
    """CallError where a model that takes no pictures is given a dataset of them."""
    if not loaded.vision and not getattr(registry.formats[form], "lists_elements", False):
        raise CallError(
            f"{data} is a dataset of pictures, and the base model takes none; give a .jsonl of messages, or --format axtree "
            "and a dataset whose rows keep the page: `cuadata build --elements`"
        )


def pair_loss(data: Path, form: str, loaded: training.Loaded, seed: int) -> consistency.PairLoss:
    """The transformed-pair loss over the dataset's `pairs`."""
    if data.suffix == ".jsonl":
        raise CallError("--consistency-weight needs a dataset folder with the config `pairs`")
    rows = training_rows.examples(data, "pairs", "train")
    pairs, left = consistency.mapped(rows, registry.formats[form], loaded.processor)
    if not pairs:
        raise DataError(f"none of its {left} pairs has a map of the picture and a point", place=f"{data}/pairs")
    typer.echo(f"{len(pairs)} pairs for the consistency loss, {left} without a map left out", err=True)
    return consistency.PairLoss(pairs, loaded.tokenizer, seed=seed)


@app.command()
def sft(
    base: str = typer.Option(..., help="base model: a Hub id or a folder"),
    out: Path = typer.Option(..., help="where the adapter, log and record go"),
    data: Path = typer.Option(..., help="a dataset folder, or a .jsonl of prompt and completion messages"),
    format: str = typer.Option("json", help="model family; see `cuadata list formats`"),
    phase: str = typer.Option("1", help="1 single actions; 1.5 with recoveries, goes on with --adapter; 2 chunks"),
    mix: str = typer.Option("", help="configs and shares instead of the phase's: actions:0.8,recovery:0.2"),
    split: str = typer.Option("train", help="split to train on"),
    adapter: str = typer.Option("", help="adapter to go on with (the same weights, not a new one on top)"),
    replay: Path | None = typer.Option(None, help="dataset of grounding rows replayed to keep what the base can do"),
    replay_share: float = typer.Option(0.2, min=0, max=0.99, help="share of replayed rows"),
    consistency_weight: float = typer.Option(0.0, min=0, help="weight of the transformed-pair loss; 0: without"),
    preset: str = typer.Option("", help=presets.HELP, callback=presets.apply, is_eager=True),
    size: int = typer.Option(0, min=0, help="rows to train on; 0: all"),
    steps: int = typer.Option(0, min=0, help="optimiser steps; 0: one pass"),
    batch: int = typer.Option(8, min=1, help="rows a step and device"),
    accumulate: int = typer.Option(1, min=1, help="batches a step"),
    lr: float = typer.Option(1e-4, min=0, help="learning rate"),
    rank: int = typer.Option(16, min=1, help="LoRA rank"),
    lora_targets: str = typer.Option("all-linear", help="layers that get LoRA: all-linear, or names by comma"),
    train_vision: bool = typer.Option(False, help="put LoRA on the seeing parts too"),
    max_tokens: int = typer.Option(4096, min=1, help="longer rows are left out whole"),
    max_pixels: int = typer.Option(0, min=0, help="most pixels of the processed picture; 0: the processor's own"),
    dtype: str = typer.Option("float32", help="dtype of the frozen base: float32 or bfloat16"),
    checkpointing: bool = typer.Option(False, help="compute activations again instead of keeping them"),
    bf16: bool = typer.Option(True, help="compute in bfloat16"),
    guard: Path | None = typer.Option(None, help="direct-grounding dataset that must not get significantly worse"),
    save_steps: int = typer.Option(200, min=1, help="steps between checkpoints"),
    seed: int = typer.Option(0, min=0, max=2**32 - 1, help="seed of order and initialisation"),
    resume: bool = typer.Option(False, help="go on from the last checkpoint in OUT, where there is one"),
    force: bool = typer.Option(False, help="replace the run in OUT"),
) -> None:
    """Fine-tune a LoRA on single actions, on recoveries mixed in, or on chunks."""
    options = dict(locals())
    from transformers import set_seed
    from trl import SFTConfig, SFTTrainer

    if phase not in PHASES or (phase == "1.5" and not adapter):
        raise CallError("phases are 1, 1.5 and 2, and 1.5 goes on with the --adapter of phase 1")
    training_rows.form(format)  # a wrong name fails here, not behind the model
    mixture(mix or PHASES[phase])
    for path, what in ((data, "--data"), (replay, "--replay"), (guard, "--guard")):
        if path is not None:
            training_rows.given(path, what)
    checkpoint = starting.begin(out, resume=resume, force=force, reads=[data, replay, guard, base, adapter])
    stop, band = callbacks.Interrupt(), callbacks.Band(out, max_kl=math.inf, max_loss=math.inf)
    set_seed(seed)
    loaded = training.load(base, adapter=adapter or None, dtype=dtype, max_pixels=max_pixels)
    rows = read_rows(data, format, mix or PHASES[phase], split, size, seed, loaded)
    held = guard_rows(guard, format, loaded) if guard and training.main_process() else []
    if replay is not None:
        count = round(len(rows) * replay_share / (1 - replay_share))
        rows += read_rows(replay, format, "grounding:1", "train", count, seed, loaded) if count else []
    rows, dropped = training_rows.with_answers_only(rows, loaded, max_tokens)
    if not rows:
        raise DataError(f"no row is left: {dropped} are longer than --max-tokens {max_tokens}", place=str(data))
    typer.echo(f"{len(rows)} rows to train on, {dropped} left out as longer than {max_tokens} tokens", err=True)
    cuda = training.cuda()
    arguments = SFTConfig(
        output_dir=str(out), max_length=None, completion_only_loss=True, per_device_train_batch_size=batch,
        gradient_accumulation_steps=accumulate, learning_rate=lr, lr_scheduler_type="cosine", warmup_steps=0.05,
        max_steps=steps or -1, num_train_epochs=1, bf16=bf16, use_cpu=not cuda, gradient_checkpointing=checkpointing,
        dataloader_pin_memory=cuda, logging_steps=1, save_strategy="steps", save_steps=save_steps, save_total_limit=2,
        report_to="none", seed=seed, data_seed=seed,
    )  # fmt: skip
    kind: Any = SFTTrainer
    if consistency_weight:
        kind = consistency.trainer_class(kind, pair_loss(data, format, loaded, seed), consistency_weight)
    frozen = loaded.vision and not train_vision
    peft = None
    if not adapter:
        peft = training.lora(lora_targets, rank=rank, alpha=2 * rank, freeze_vision=frozen, model=loaded.model)
    starting.same(out, checkpoint, options=options, data=data, base=loaded.base_sha256)
    trainer = kind(
        model=loaded.model,
        args=arguments,
        train_dataset=training_set(rows, loaded.vision),
        processing_class=loaded.processor,
        peft_config=peft,
        callbacks=[callbacks.attached(callbacks.Journal(out / "log.jsonl"), band, stop)],
    )
    trained = replace(loaded, model=trainer.model)
    before = guarded(out, held, format, trained, checkpoint)
    with starting.writing(out):
        trainer.train(resume_from_checkpoint=checkpoint)
        if band.stopped:
            raise DataError(f"the run diverged at {band.stopped}; {band.restore(out)}; lower --lr", place=str(out))
        training.save(trainer, loaded, out)
    stop.leave(trainer.state.global_step)
    training.record(out, command="train sft", options=options, data=data, loaded=loaded)
    if held:
        compared(out, before, hits(held, registry.formats[format], trained))


def compared(out: Path, before: list[bool], after: list[bool]) -> None:
    """Write down what the guard found. DataError where significantly more was lost than won."""
    test = paired.mcnemar(before, after)
    told = f"direct grounding {sum(before)}/{test.n} before, {sum(after)}/{test.n} after, p = {test.p:.3g}"
    typer.echo(told, err=True)
    training.note(out, guard={"before": sum(before), "after": sum(after), "n": test.n, "p": test.p})
    if test.only_first > test.only_second and test.p < 0.05:
        raise DataError(f"training cost grounding: {told}", place=str(out))


def guard_rows(guard: Path, form: str, loaded: training.Loaded) -> list[Any]:
    """The held-out rows of a guard that the model can be asked. DataError where there is none."""
    for_model(guard, form, loaded)
    held = [one for one in training_rows.examples(guard, "grounding", "test") if one.target and one.target.bbox]
    said = {row["id"] for row in training_rows.answer_rows(held, registry.formats[form], loaded.processor)[0]}
    if not said:
        raise DataError(
            f"none of its {len(held)} test rows with a target can be said in '{form}', so that nothing is guarded",
            place=str(guard),
        )
    return [example for example in held if example.id in said]


def guarded(out: Path, held: list[Any], form: str, loaded: training.Loaded, checkpoint: str | None) -> list[bool]:
    """Hits before training; those of the first start where a run goes on from a checkpoint."""
    import json

    path = out / "guard_before.json"
    if held and not (checkpoint and path.exists()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(hits(held, registry.formats[form], loaded)))
    return list(json.loads(path.read_text())) if held else []


if __name__ == "__main__":
    cli.main(app)
