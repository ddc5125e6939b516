"""`cuadata rewards`: rewards judged before they are trained on."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def rewards() -> None:
    """Judge rewards before training on them."""


@app.command()
def score(
    predictions: Path = typer.Argument(help="logged answers, JSON lines"),
    reward: str = typer.Option(..., help="rewards by comma; see `cuadata list rewards`"),
    format: str = typer.Option(..., help="model family that reads the answers; see `cuadata list formats`"),
    gold: str = typer.Option(
        "", help="NAME:PATH of the gold set; without one the lines hold target and sizes themselves"
    ),
    frame: str | None = typer.Option(None, help="frame of the logged numbers: px, resized, unit, thousand, 999"),
    kind: str | None = typer.Option(None, help="kind of instruction that was asked, where the file does not say"),
    seed: int = typer.Option(0, help="seed of the random reward"),
    as_json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Score rewards offline: distribution and spread per group, next to a random reward."""
    from cuadata.scores import reward_scores

    reward_scores.show(predictions, reward, format, gold=gold, frame=frame, kind=kind, seed=seed, as_json=as_json)
