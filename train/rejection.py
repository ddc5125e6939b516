"""Rejection-sampling fine-tuning (RFT, arXiv 2308.01825): keep what a verifier accepts, train on it, repeat.

Each round draws several answers a task at a temperature, lets the verifier judge them, keeps the accepted ones, drops
those that do the same as another (the same actions on the same elements or px), keeps at most a few a task, and fine-tunes
the same adapter on them. A text model's answers are played in the environment; a vision model's are judged by a reward of
`cuadata list rewards`. What the kept set is made of is printed beside what the tasks are made of: a model that only solves
trivial tasks collects trivial rows, and the table says so. A finished round is not run again.
Left out: pooling over several models.

    cuadata train rejection --base models/smollm2 --rows data/tasks.jsonl --format axtree --rounds 3 --out runs/rft
    cuadata train rejection --base Qwen/Qwen2.5-VL-3B-Instruct --data data/spatial --format qwen25vl --out runs/rft
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from cuadata import cli
from cuadata.building import folders
from cuadata.contracts import Format, ParseFailure, View
from cuadata.errors import CallError, DataError
from cuadata.learning import grounding_rows, plan_rewards, reward_adapter, starting, training, training_rows
from cuadata.learning.answering import answer, end_ids
from cuadata.learning.rollouts import Terms
from cuadata.learning.sampling import Sampler
from cuadata.scores import judged
from cuadata.types import Size

app = typer.Typer(add_completion=False)


def signature(text: str, form: Format, view: View) -> tuple[tuple[object, ...], ...] | None:
    """What an answer does: type, element, place and text of each action; None where it cannot be read."""
    try:
        actions = form.read_all(text, view)
    except ParseFailure:
        return None
    return tuple((a.type, a.element, a.point, a.end, a.text, a.value, a.keys) for a in actions)


def accepted(
    rows: Sequence[Mapping[str, Any]], texts: Sequence[str], terms: Sequence[Terms], form: Format, *, criterion: str, cap: int
) -> list[dict[str, Any]]:  # fmt: skip
    """Accepted answers as training rows: no two of a task that do the same, at most `cap` a task, in order.

    CallError where the verifier has no term of that name.
    """
    if terms and criterion not in terms[0]:
        raise CallError(f"the verifier says nothing of '{criterion}'; it says: {', '.join(sorted(terms[0]))}")
    seen: set[tuple[Any, Any]] = set()
    taken: Counter[Any] = Counter()
    kept = []
    for row, text, paid in zip(rows, texts, terms, strict=True):
        # Answers by element number need no picture to be read.
        view = judged.view_of(row) if "image_size" in row else View(image=Size(1, 1), viewport=Size(1, 1))
        what = signature(text, form, view)
        if paid[criterion] < 1.0 or what is None or (row["id"], what) in seen or taken[row["id"]] >= cap:
            continue
        seen.add((row["id"], what))
        taken[row["id"]] += 1
        kept.append({
            "id": row["id"], "prompt": row["prompt"], "completion": [{"role": "assistant", "content": text}],
            "images": row.get("images", []), "criterion": criterion, "exact": paid.get("exact", paid[criterion]) >= 1.0,
            "actions": len(what), "size": row.get("size"), "terms": dict(paid),
        })  # fmt: skip
    return kept


def makeup(rows: Sequence[Mapping[str, Any]], kept: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the kept set is made of beside the natural distribution of the tasks."""
    natural = Counter(row.get("size") for row in rows)
    held = Counter(row.get("size") for row in kept)
    return {
        "tasks": len(rows),
        "kept": len(kept),
        "tasks_covered": len({row["id"] for row in kept}),
        "exact_share": sum(row["exact"] for row in kept) / max(len(kept), 1),
        "trivial_share": sum(row["actions"] <= 1 for row in kept) / max(len(kept), 1),
        "by_size": {
            str(size): {
                "natural": natural[size] / len(rows),
                "kept": held[size] / max(len(kept), 1),
                "rows": held[size],
            }
            for size in sorted(natural, key=str)
        },
    }


def table(report: Mapping[str, Any]) -> str:
    """The make-up as lines for a terminal."""
    lines = [
        (
            f"kept {report['kept']} answers to {report['tasks_covered']} of {report['tasks']} tasks: "
            f"{report['exact_share']:.0%} exact, {report['trivial_share']:.0%} of a single action"
        ),
        f"  {'size':>5} {'natural':>8} {'kept':>8} {'rows':>5}",
    ]
    lines += [
        f"  {size:>5} {share['natural']:>8.1%} {share['kept']:>8.1%} {share['rows']:>5}"
        for size, share in report["by_size"].items()
    ]
    return "\n".join(lines)


def by_reward(name: str, reward: reward_adapter.TRLReward) -> Callable[..., list[Terms]]:
    """A verifier out of a pure reward: one term, by the columns of the rows."""

    def score(rows: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[Terms]:
        columns = {key: [row[key] for row in rows] for key in rows[0] if key not in ("prompt", "images")}
        return [{name: value} for value in reward([row["prompt"] for row in rows], list(texts), **columns)]

    return score


def write_rows(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Rows as JSON lines, their pictures as files beside them, each once."""
    import hashlib

    lines = []
    for row in rows:
        names = [f"pictures/{hashlib.sha256(one['bytes']).hexdigest()[:16]}" for one in row["images"]]
        for name, one in zip(names, row["images"], strict=True):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(one["bytes"])
        lines.append(json.dumps({**row, "images": names}) + "\n")
    folders.put(
        folder / "rows.jsonl", "".join(lines)
    )  # whole or not at all: where it stands, the round is not drawn again
    return folder / "rows.jsonl"


def collect(
    loaded: training.Loaded, tasks: list[dict[str, Any]], score: Callable[..., Any], *, samples: int, batch: int, new_tokens: int, temperature: float
) -> tuple[list[dict[str, Any]], list[str], list[Terms]]:  # fmt: skip
    """`samples` answers a task: the rows repeated, their texts and terms, in the same order."""
    sampler = None
    if not loaded.vision:
        words = loaded.tokenizer
        sampler = Sampler(loaded.model, end_ids=end_ids(loaded), pad_id=words.pad_token_id, context=2048)
    repeated = [row for row in tasks for _ in range(samples)]
    texts: list[str] = []
    for start in range(0, len(repeated), batch):
        part = repeated[start : start + batch]
        texts += answer(part, loaded, new_tokens, temperature=temperature, sampler=sampler)
    return repeated, texts, list(score(repeated, texts))


@app.command()
def rejection(
    base: str = typer.Option(..., help="base model: a Hub id or a folder"),
    out: Path = typer.Option(..., help="where rows, adapters and reports go, one folder a round"),
    rows: Path | None = typer.Option(None, help="task rows (.jsonl with prompt, family, seed) for text models"),
    data: Path | None = typer.Option(None, help="a dataset folder for vision models"),
    format: str = typer.Option("axtree", help="model family; see `cuadata list formats`"),
    adapter: str = typer.Option("", help="adapter to begin with"),
    rounds: int = typer.Option(1, min=1, help="how often to sample and train"),
    samples: int = typer.Option(8, min=1, help="answers a task"),
    temperature: float = typer.Option(1.0, min=0.01, help="sampling temperature"),
    criterion: str = typer.Option(
        "", help="term that must be 1 to be kept; by default exact, with --data point_in_box"
    ),
    cap: int = typer.Option(4, min=1, help="most answers kept a task"),
    new_tokens: int = typer.Option(64, min=1, help="longest answer"),
    batch: int = typer.Option(256, min=1, help="answers drawn at once"),
    steps: int = typer.Option(100, min=1, help="optimiser steps a round"),
    train_batch: int = typer.Option(8, min=1, help="rows an optimiser step"),
    lr: float = typer.Option(2e-4, min=0, help="learning rate"),
    bf16: bool = typer.Option(True, help="compute in bfloat16"),
    seed: int = typer.Option(0, min=0, max=2**31, help="seed"),
) -> None:
    """Collect the model's own successes and train on them, round after round."""
    options = dict(locals())
    from transformers import set_seed

    starting.one_process("rejection")
    source, form = training_rows.either(rows, data), training_rows.form(format)
    criterion = criterion or ("exact" if rows is not None else "point_in_box")
    if rows is not None:
        plan_rewards.check([criterion], ended=False)
    begun = starting.rounds(
        out, options={k: v for k, v in options.items() if k not in ("rounds", "batch")}, data=source
    )
    for number in range(rounds):
        folder = out / f"round{number}"
        if not (folder / "rows.jsonl").exists():
            set_seed(seed + 1000 * number)
            loaded = training.load(base, adapter=adapter or None)
            drawn = _draw(
                loaded, rows, data, format, criterion, samples=samples, batch=batch, new_tokens=new_tokens, temperature=temperature
            )  # fmt: skip
            kept = accepted(*drawn, form, criterion=criterion, cap=cap)
            folder.mkdir(parents=True, exist_ok=True)
            report = makeup(list({row["id"]: row for row in drawn[0]}.values()), kept)
            typer.echo(f"round {number}: {table(report)}", err=True)
            (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
            if not kept:
                raise DataError(
                    f"none of {len(drawn[1])} answers was accepted by '{criterion}'; begin with an adapter that was shown a "
                    "few demonstrations, or raise --samples", place=str(folder)
                )  # fmt: skip
            starting.put(out, begun)
            training.record(folder, command="train rejection", options=options, data=source, loaded=loaded)
            write_rows(folder, kept)
            del loaded
        words: list[Any] = ["--base", base, "--data", folder / "rows.jsonl", "--out", folder / "adapter"]
        words += ["--steps", steps, "--lr", lr]
        words += ["--seed", seed, "--batch", train_batch, "--resume", *(["--adapter", adapter] if adapter else [])]
        words += [] if bf16 else ["--no-bf16"]
        if not (folder / "adapter" / "run.json").exists():
            starting.child([sys.executable, "-m", "cuadata.train.sft", *map(str, words)])
        adapter = str(folder / "adapter")


def _draw(
    loaded: training.Loaded, rows: Path | None, data: Path | None, form: str, criterion: str, **how: Any
) -> tuple[list[dict[str, Any]], list[str], list[Terms]]:
    if loaded.vision != (data is not None):
        raise CallError(f"the base is a {'vision' if loaded.vision else 'text'} model; see --rows and --data")
    if rows is not None:
        from cuadata.playing.plans import scorer

        with scorer(form) as score:
            return collect(loaded, training_rows.task_rows(rows, loaded), score, **how)
    assert data is not None
    reward = reward_adapter.trl_adapter(criterion, form)
    tasks = grounding_rows.judged(data, form, loaded, [reward])
    return collect(loaded, tasks, by_reward(criterion, reward), **how)


if __name__ == "__main__":
    cli.main(app)
