"""`cuadata verify`: whether published labels still hold, and what the gates catch."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    dataset: Path | None = typer.Argument(None, help="folder of a dataset"),
    recordings: Path | None = typer.Option(None, help="the recordings that it was built from, for their evidence"),
    family: str = typer.Option("", help="verify the pages of a family instead; see `cuadata list families`"),
    seeds: str = typer.Option("0:20", help="with --family: seeds, A:B without B"),
    render: bool = typer.Option(True, help="render pages again where a row names its family and seed"),
    inject: bool = typer.Option(False, "--inject", help="put known faults into good labels and count what is caught"),
    each: int | None = typer.Option(
        None, min=1, help="with --inject: at most so many changed pages a label, drawn at random"
    ),
    limit: int | None = typer.Option(None, min=1, help="at most so many rows of each config"),
    out: Path | None = typer.Option(None, help="folder for the failures, as pictures"),
    as_json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Prove that each label still holds, by recorded evidence or on the page rendered again."""
    from cuadata.reporting import verify_report

    verify_report.show(
        dataset,
        recordings=recordings,
        family=family,
        seeds=seeds,
        render=render,
        inject=inject,
        each=each,
        limit=limit,
        out=out,
        as_json=as_json,
    )
