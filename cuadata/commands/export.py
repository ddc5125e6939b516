"""`cuadata export`: a dataset in another trainer's form."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def export(
    data: Path = typer.Argument(help="the dataset's folder"),
    to: str = typer.Option(..., help="aguvis, agentnet, llava, qwen or trl"),
    out: Path = typer.Option(..., help="folder to write: one file a split, and images/"),
    config: str = typer.Option("actions", help="config of the dataset"),
    format: str = typer.Option(
        "", help="model family of the answers (`cuadata list formats`); by default the form's own"
    ),
    keep_failed: bool = typer.Option(False, help="also write steps of trajectories that failed their task"),
    force: bool = typer.Option(False, help="replace the folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Write the rows in the form that another trainer reads, pictures as files."""
    from cuadata import export as core
    from cuadata.reporting import printing

    done = asdict(core.export(data, to, out, config=config, format=format, keep_failed=keep_failed, force=force))
    for split, count in done["records"].items():
        printing.say(f"{split}: {count:,} records")
    for action, count in done["left_out"].items():
        printing.say(f"left out: {count:,} of {action}, which {done['format']} has no word for")
    if done["failed"]:
        printing.say(f"left out: {done['failed']:,} steps of trajectories that failed their task (--keep-failed)")
    printing.say(f"{done['to']}, answers of {done['format']}: {done['out']}")
    if json:
        printing.data(done)
