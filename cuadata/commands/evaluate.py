"""`cuadata evaluate`: score logged answers against a gold set, or a policy in an environment."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def evaluate(
    what: str = typer.Argument(help="a predictions file (JSON lines) with --gold, or a family's name with --policy"),
    gold: str = typer.Option("", help="NAME:PATH of the gold set, as in gui_perturbed:../gui_perturbed"),
    format: str = typer.Option("", help="the model family's format: gta1, qwen25vl, ... (`cuadata list formats`)"),
    tolerance: float = typer.Option(0.0, help="slack around a target box, CSS px; stands in the result"),
    vote: int | None = typer.Option(None, help="join so many samples of a question into one answer by region voting"),
    frame: str | None = typer.Option(None, help="frame of the logged numbers: px, resized, unit, thousand, 999"),
    kind: str | None = typer.Option(None, help="kind of instruction that was asked, where the file does not say"),
    name: str | None = typer.Option(None, help="what tables call the run; the file's or the policy's name otherwise"),
    out: Path | None = typer.Option(None, help="write the run, its result, pictures and report into this folder"),
    force: bool = typer.Option(False, help="overwrite the folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Score logged answers against a gold set, or a policy in an environment."""
    from cuadata import evaluation, printing
    from cuadata.viewer import evaluation as report

    run, rows, result = evaluation.answers(
        Path(what), gold, format, tolerance=tolerance, vote=vote, frame=frame, kind=kind, name=name
    )
    if out is not None:
        evaluation.save(out, run, rows, result, force=force)
        printing.say(f"report: {report.write(out)}")
    printing.answers(result)
    if json:
        printing.data(result)
