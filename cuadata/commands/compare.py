"""`cuadata compare`: the second run against the first, paired."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    first: Path = typer.Argument(help="folder of the first run, as `cuadata evaluate --out` writes it"),
    second: Path = typer.Argument(help="folder of the second run"),
    samples: int = typer.Option(10_000, min=100, max=1_000_000, help="resamples of the clustered bootstrap"),
    seed: int = typer.Option(0, min=0, help="seed of the bootstrap"),
    out: Path | None = typer.Option(None, help="write the result, a picture and a report into this folder"),
    force: bool = typer.Option(False, help="overwrite the folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Compare two runs: McNemar's test, a clustered test and bootstrap, the smallest difference that could have shown."""
    from cuadata.reporting import printing
    from cuadata.scores import compare_runs
    from cuadata.viewer import evaluation as report

    result = compare_runs.compare(first, second, samples=samples, seed=seed)
    if out is not None:
        compare_runs.save(out, result, force=force, reads=[first, second])
        printing.say(f"report: {report.write_comparison(out, result)}")
    printing.comparison(result)
    if json:
        printing.data(result)
