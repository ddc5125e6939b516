"""`cuadata parity`: whether a model is asked as it was trained."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def parity(
    train: Path = typer.Option(..., help="training rows: JSON lines, or a dataset folder"),
    live: Path | None = typer.Option(None, help="log of live prompts, JSON lines"),
    inject: str = typer.Option(
        "", help="kinds of lines that a run is going to inject, by comma, to ask before it starts"
    ),
    format: str = typer.Option("", help="model family that turns dataset rows into prompts"),
    as_json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Compare training prompts with live prompts and show the first difference; exit 1 where they differ."""
    from cuadata import parity_report

    parity_report.show(train, live, inject=inject, form=format, as_json=as_json)
