"""`cuadata generate`: datasets about pages, whose truth is measured on the rendered page."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def generate() -> None:
    """Datasets about generated pages and real ones, whose truth is measured on the rendered page."""


@app.command()
def spatial(
    n: int = typer.Option(1000, help="rows of `grounding`"),
    out: Path = typer.Option(Path("data/spatial"), help="the dataset's folder"),
    seed: int = typer.Option(0, help="seed; the same seed gives the same bytes"),
    workers: int = typer.Option(
        2, help="processes, each with a browser and at least 400 rows; the bytes do not depend on it"
    ),
    infeasible: float = typer.Option(0.1, help="share of rows whose target is removed or covered"),
    pairs: float = typer.Option(0.1, help="rows of `pairs`, perturbed pictures, for one row of `grounding`"),
    elements: bool = typer.Option(
        False,
        "--elements",
        help="rows keep the page's elements, for models that are told of them: formats qwen35 and axtree",
    ),
    force: bool = typer.Option(False, help="replace the dataset's folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Shapes and controls in spatial relations, with minimal pairs. An interrupted run goes on where it was."""
    from cuadata.generating import spatial as core
    from cuadata.reporting import printing, printing_datasets

    with printing_datasets.progress() as progress:
        summary = core.generate(
            n, out, seed=seed, workers=workers, infeasible=infeasible, pairs=pairs, elements=elements, force=force,
            progress=progress,
        )  # fmt: skip
    printing.table(
        f"{summary['rows']['grounding']:,} rows from {summary['pages']:,} pages",
        ["predictor", "points above chance", "95 %"],
        [
            [
                one["predictor"],
                f"{100 * one['above_chance']:+.1f}",
                f"{100 * one['low']:+.1f} to {100 * one['high']:+.1f}",
            ]
            for one in summary["trivial_predictors"]
        ],
    )
    for note in summary["notes"]:
        printing.say(note)
    printing.say(f"dataset: {out}")
    if json:
        printing.data(summary)


@app.command()
def relations(
    page: list[str] = typer.Option(
        ..., help="address, HTML or MHTML file, recording or folder of them; may be repeated"
    ),
    out: Path = typer.Option(Path("data/relations"), help="the dataset's folder"),
    seed: int = typer.Option(0, help="seed of what is asked"),
    viewport: str = typer.Option("1280x720", help="WIDTHxHEIGHT in CSS px; recordings have their own"),
    views: int = typer.Option(3, help="how far a page is scrolled, one viewport each"),
    places: int = typer.Option(8, help="questions by place on one view, at most"),
    root: Path | None = typer.Option(
        None, help="folder above the HTML files, served with them: scripts and styles of it"
    ),
    force: bool = typer.Option(False, help="replace the dataset's folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Spatial, ordinal and appearance instructions for real elements of real pages, with minimal pairs where there are any."""
    from cuadata.generating import real_pages
    from cuadata.judging import observing
    from cuadata.reporting import printing, printing_datasets

    with printing_datasets.progress() as progress:
        summary = real_pages.generate(
            page, out, seed=seed, viewport=observing.size(viewport), views=views, places=places, root=root,
            force=force, progress=progress,
        )  # fmt: skip
    counted = [
        ("perspective", "perspectives"),
        ("relation", "relations"),
        ("pair", "pair_kinds"),
        ("rejected", "rejected"),
    ]
    printing.table(
        f"{summary['rows']['grounding']:,} rows from {len(summary['pages']):,} pages",
        ["what", "rows"],
        [[f"{what}: {name}", f"{count:,}"] for what, key in counted for name, count in summary[key].items()],
    )
    for note in summary["notes"]:
        printing.say(note)
    printing.say(f"dataset: {out}")
    if json:
        printing.data(summary)
