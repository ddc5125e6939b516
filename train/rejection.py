"""Rejection-sampling fine-tuning (RFT, arXiv 2308.01825): keep what a verifier accepts, train on it, repeat.

Each round draws several answers a task at a temperature, plays them in the environment, keeps the accepted ones, drops
those that do the same as another (the same actions on the same elements), keeps at most a few a task, and fine-tunes the
same adapter on them. What the kept set is made of is printed beside what the tasks are made of: a model that only solves
trivial tasks collects trivial rows, and the table says so. Left out: pooling over several models.

    cuadata train rejection --base models/smollm2 --rows data/tasks.jsonl --format axtree --rounds 3 --out runs/rft
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from cuadata import registry, training
from cuadata.answering import end_ids
from cuadata.contracts import Format, ParseFailure, View
from cuadata.errors import DataError
from cuadata.rollouts import Terms
from cuadata.sampling import Sampler
from cuadata.types import Size

app = typer.Typer(add_completion=False)


def signature(text: str, form: Format, view: View) -> tuple[tuple[object, ...], ...] | None:
    """What an answer does: type, element and text of each action; None where it cannot be read."""
    try:
        actions = form.read_all(text, view)
    except ParseFailure:
        return None
    return tuple((a.type, a.element, a.point, a.text, a.value, a.keys) for a in actions)


def accepted(
    rows: Sequence[Mapping[str, Any]], texts: Sequence[str], terms: Sequence[Terms], form: Format, *, criterion: str, cap: int
) -> list[dict[str, Any]]:  # fmt: skip
    """Accepted answers as training rows: no two of a task that do the same, at most `cap` a task, in order."""
    view = View(image=Size(1, 1), viewport=Size(1, 1))  # answers by element id need no picture
    seen: set[tuple[Any, Any]] = set()
    taken: Counter[Any] = Counter()
    kept = []
    for row, text, paid in zip(rows, texts, terms, strict=True):
        what = signature(text, form, view)
        if paid.get(criterion, 0.0) < 1.0 or what is None or (row["id"], what) in seen or taken[row["id"]] >= cap:
            continue
        seen.add((row["id"], what))
        taken[row["id"]] += 1
        kept.append({
            "id": row["id"], "prompt": row["prompt"], "completion": [{"role": "assistant", "content": text}],
            "criterion": criterion, "exact": paid.get("exact", 0.0) >= 1.0, "actions": len(what), "size": row.get("size"),
            "terms": dict(paid),
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


def sample(
    loaded: training.Loaded, rows: Sequence[dict[str, Any]], *, samples: int, temperature: float, new_tokens: int, batch: int, seed: int
) -> tuple[list[dict[str, Any]], list[str]]:  # fmt: skip
    """`samples` answers a task: the rows repeated, and their texts, in the same order."""
    words = loaded.tokenizer
    sampler = Sampler(loaded.model, end_ids=end_ids(loaded), pad_id=words.pad_token_id, context=2048)
    repeated = [row for row in rows for _ in range(samples)]
    texts: list[str] = []
    for start in range(0, len(repeated), batch):
        part = repeated[start : start + batch]
        drawn = sampler.draw(
            [row["prompt_ids"] for row in part], new_tokens=new_tokens, temperature=temperature, seed=seed + start
        )
        texts += [words.decode(one.ids, skip_special_tokens=True) for one in drawn]
    return repeated, texts


@app.command()
def rejection(
    base: str = typer.Option(..., help="base model: a Hub id or a folder"),
    rows: Path = typer.Option(..., help="task rows (.jsonl with id, prompt, family, seed)"),
    out: Path = typer.Option(..., help="where rows, adapters and reports go, one folder a round"),
    format: str = typer.Option("axtree", help="model family; see `cuadata list formats`"),
    adapter: str = typer.Option("", help="adapter to begin with"),
    rounds: int = typer.Option(1, help="how often to sample and train"),
    samples: int = typer.Option(8, help="answers a task"),
    temperature: float = typer.Option(1.0, help="sampling temperature"),
    criterion: str = typer.Option("exact", help="reward term that must be 1 for an answer to be kept"),
    cap: int = typer.Option(4, help="most answers kept a task"),
    new_tokens: int = typer.Option(64, help="longest answer"),
    batch: int = typer.Option(256, help="answers drawn at once"),
    steps: int = typer.Option(100, help="optimiser steps a round"),
    lr: float = typer.Option(2e-4, help="learning rate"),
    seed: int = typer.Option(0, help="seed"),
) -> None:
    """Collect the model's own successes and train on them, round after round."""
    from cuadata.plans import scorer

    options = dict(locals())
    for number in range(rounds):
        folder = out / f"round{number}"
        folder.mkdir(parents=True, exist_ok=True)
        loaded = training.load(base, adapter=adapter or None)
        tasks = training.task_rows(rows, loaded)
        repeated, texts = sample(
            loaded, tasks, samples=samples, temperature=temperature, new_tokens=new_tokens, batch=batch, seed=seed + 1000 * number
        )  # fmt: skip
        with scorer(format) as score:
            terms = score(repeated, texts)
        kept = accepted(repeated, texts, terms, registry.formats[format], criterion=criterion, cap=cap)
        report = makeup(tasks, kept)
        typer.echo(f"round {number}: {table(report)}", err=True)
        (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
        if not kept:
            raise DataError(
                f"none of {len(texts)} answers was accepted by '{criterion}'; begin with an adapter that was shown a few "
                "demonstrations, or raise --samples", place=str(folder)
            )  # fmt: skip
        training.record(folder, command="train rejection", options=options, data=rows, loaded=loaded)
        del loaded
        words = [
            "--base",
            base,
            "--data",
            str(folder / "rows.jsonl"),
            "--out",
            str(folder / "adapter"),
            "--steps",
            str(steps),
        ]
        words += ["--lr", str(lr), "--seed", str(seed), *(["--adapter", adapter] if adapter else [])]
        subprocess.run([sys.executable, "-m", "cuadata.train.sft", *words], check=True)
        adapter = str(folder / "adapter")


if __name__ == "__main__":
    app()
