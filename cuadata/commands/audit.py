"""`cuadata audit`: the gates against what people said."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def audit(
    what: str = typer.Argument(help="a dataset's folder with --reviews, or gui_perturbed"),
    path: Path | None = typer.Argument(None, help="with gui_perturbed: its folder, or its reviews.csv"),
    reviews: Path | None = typer.Option(
        None, help="JSON lines of people's verdicts: id and right, wrong_target, wrong_reference or ambiguous"
    ),
    as_json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Score gates against people: precision, recall and the confusion table."""
    from cuadata.reporting import audit_report

    audit_report.show(what, path, review_file=reviews, as_json=as_json)
