"""`cuadata parity`: whether a model is asked as it was trained."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def parity(
    data: Path | None = typer.Argument(None, help="training rows: JSON lines, or a dataset folder"),
    run: Path | None = typer.Argument(None, help="live prompts: the folder of an evaluation run, or JSON lines"),
    train: Path | None = typer.Option(None, help="the same as DATA"),
    live: Path | None = typer.Option(None, help="the same as RUN"),
    inject: str = typer.Option(
        "", help="kinds of lines that a run is going to inject, by comma, to ask before it starts"
    ),
    format: str = typer.Option("", help="model family that turns dataset rows into prompts"),
    as_json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Compare training prompts with live prompts and show the first difference; exit 1 where they differ."""
    from cuadata.errors import CallError
    from cuadata.reporting import parity_report

    rows = data or train
    if rows is None:
        raise CallError("nothing to compare: give DATA, the training rows, and RUN, an evaluation's folder")
    parity_report.show(rows, run or live, inject=inject, form=format, as_json=as_json)
