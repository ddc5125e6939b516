"""`cuadata record`: a script acting on a page, recorded."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Any

import typer

from cuadata.errors import CallError
from cuadata.types import Size

app = typer.Typer(add_completion=False)


@app.command()
def record(
    page: str = typer.Argument("", help="address or HTML file; empty: where the script begins"),
    script: Path | None = typer.Option(
        None, help="a .py with a `page`, a DevTools Recorder .json, a Selenium IDE .side"
    ),
    out: Path | None = typer.Option(None, help="folder of the recording; default recordings/NAME, a new one each time"),
    instruction: str = typer.Option("", help="what the script does, in the words of a person who asks for it"),
    test: str = typer.Option("", help="which test of a .side to play; default the first"),
    viewport: str = typer.Option("", help="CSS px, such as 1280x720; default the script's own, else that"),
    dpr: float = typer.Option(1.0, help="device pixel ratio"),
    root: Path | None = typer.Option(None, help="folder to serve, for an HTML file that names files above its own"),
    headed: bool = typer.Option(False, help="show the browser"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Record a script acting on a real page: one step an action, with what stood before and after."""
    from cuadata import recorder

    if script is None:
        raise CallError("give --script FILE; recording a person is not part of this release")
    folder = out or recorder.folder_name(script.stem, Path("recordings"))
    options: dict[str, Any] = {"test": test} if test else {}
    if viewport:
        options["viewport"] = _size(viewport)
    recorder.record(
        _page(page), folder, script=script, instruction=instruction, device_pixel_ratio=dpr,
        root=root, headed=headed, **options,
    )  # fmt: skip
    summary = recorder.summary(folder)
    if json:
        typer.echo(dumps(summary))
    typer.echo(f"{summary['steps']} steps, {summary['failed']} failed, ended in {summary['ended']}: {folder}", err=True)


def _page(text: str) -> str | Path:
    return Path(text) if text and "://" not in text and not text.lstrip().startswith("<") else text


def _size(text: str) -> Size:
    wide, _, tall = text.partition("x")
    if not (wide.isdigit() and tall.isdigit()):
        raise CallError(f"--viewport '{text}' is no size; wanted WIDTHxHEIGHT, such as 1280x720")
    return Size(int(wide), int(tall))
