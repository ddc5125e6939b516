"""`cuadata observe`: what stands on a page, and why an element is kept or rejected."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def observe(
    page: str = typer.Argument(help="an address, or an HTML file, which is served over http from this machine"),
    viewport: str = typer.Option("1280x720", help="WIDTHxHEIGHT in CSS px"),
    dpr: float = typer.Option(1.0, min=0.25, max=8, help="device pixel ratio: image px for one CSS px"),
    select: list[str] = typer.Option([], help="CSS selector of elements to judge, through frames and shadow roots"),
    scroll: tuple[float, float] = typer.Option((0.0, 0.0), help="scroll to X Y in CSS px first"),
    screenshot: Path | None = typer.Option(None, help="write the picture into this new file"),
    root: Path | None = typer.Option(None, help="folder to serve, for an HTML file that names files above its own"),
    json: bool = typer.Option(False, "--json", help="print one JSON object"),
    force: bool = typer.Option(False, help="overwrite the picture's file"),
) -> None:
    """Observe a page once; say what the gates think of a click on each selected element."""
    from cuadata.judging import observing
    from cuadata.reporting import observing_table

    found = observing.observe(
        page,
        viewport=observing.size(viewport),
        device_pixel_ratio=dpr,
        selectors=tuple(select),
        scroll=scroll,
        root=root,
    )
    if screenshot is not None:
        observing_table.save(found.observation, screenshot, force=force)
    if json:
        typer.echo(found.as_json())
    else:
        observing_table.show(found)
