"""`cuadata stats`: what is in a dataset."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def stats(
    folder: Path = typer.Argument(help="a dataset, as `cuadata build` makes it"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Rows, bytes, and how often each kind of action, phase, effect and reason occurs."""
    from cuadata import stats as core
    from cuadata.reporting import printing, printing_datasets

    found = core.stats(folder)
    printing_datasets.stats(found)
    if json:
        printing.data(found)
