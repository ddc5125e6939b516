"""`cuadata select`: what of a set is worth training on, by a model's own rollouts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


class By(StrEnum):
    """What the bounds are of."""

    hit_rate = "hit_rate"
    consistency = "consistency"


@app.command()
def select(
    predictions: Path = typer.Argument(help="predictions file with k samples of each question (JSON lines)"),
    gold: str = typer.Option(..., help="NAME:PATH of the set, as in dataset:out/ or dataset:out:train for a split"),
    format: str = typer.Option(..., help="the model family's format (`cuadata list formats`)"),
    out: Path = typer.Option(
        ..., help="folder for selected.jsonl, dropped.jsonl, select.json, and the kept rows of a dataset"
    ),
    keep: str = typer.Option("0.125:0.875", help="LOW:HIGH, hit rates (or consistencies) that are kept"),
    by: By = typer.Option(By.hit_rate, help="hit_rate, or consistency of the region vote where labels are not trusted"),
    samples: int | None = typer.Option(None, min=1, help="samples to use of each question; all there are otherwise"),
    tolerance: float = typer.Option(0.0, min=0.0, help="slack around a target box, CSS px"),
    second: Path | None = typer.Option(None, help="another model's predictions: what it hits is vouched for"),
    second_format: str = typer.Option("", help="format of the second model; the same otherwise"),
    trust_relation: bool = typer.Option(True, help="a relation that holds by geometry vouches for a label"),
    cap: int | None = typer.Option(
        None, min=1, help="most questions of near pictures, one role, relation and target size"
    ),
    limit: int | None = typer.Option(None, min=1, help="most questions in all, spread over those kinds"),
    seed: int = typer.Option(0, help="decides among alike questions"),
    force: bool = typer.Option(False, help="overwrite the folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Keep what a model hits sometimes; what it never hits only where another check vouches for the label."""
    from cuadata.reporting import printing
    from cuadata.scores import cautions, evaluation, misread, selection
    from cuadata.scores import predictions as answered

    low, high = selection.bounds(keep)
    limits = selection.Limits(
        low=low,
        high=high,
        by=by.value,
        cap=cap,
        limit=limit,
        seed=seed,
        tolerance=tolerance,
        samples=samples,
        trust_relation=trust_relation,
    )
    asked = evaluation.asked(gold)
    _, golds = evaluation.gold_set(gold)
    what, data = asked.name, asked.path
    chosen = selection.select(
        predictions, golds, format, limits, second=second, second_format=second_format,
        source=data if what == "dataset" else None,
    )  # fmt: skip
    matched = answered.match(answered.lines(predictions), golds)
    said = [*cautions.of_match(matched), *misread.of_samples(matched.answered, format)]
    result = {**selection.summary(chosen, limits), "warnings": said}
    files = selection.save(
        out, chosen, result, source=data if what == "dataset" else None, force=force,
        reads=[predictions, data, *([second] if second else [])],
    )  # fmt: skip
    if what == "dataset":
        printing.say(f"{len(files)} Parquet files of kept rows in {out / selection.ROWS}")
    printing.selection(result)
    printing.warn(said)
    if json:
        printing.data(result)
