"""`cuadata record`: a person or a script acting on a page, recorded; and a recording acted again."""

from __future__ import annotations

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Any

import typer

from cuadata.errors import CallError
from cuadata.reporting.showing import plainly

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
    headed: bool | None = typer.Option(
        None, "--headed/--headless", help="show the browser; a person is shown it by default"
    ),
    profile: Path | None = typer.Option(None, help="a browser profile to run in; default a fresh one, without logins"),
    time_limit: float | None = typer.Option(
        None, help="seconds after which a script is ended, its steps kept; default none"
    ),
    replay: Path | None = typer.Option(None, help="a recording to act again, on PAGE or where it began"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Record a person or a script acting on a real page; act a recording again.

    The exit code is 1 where a script fails, is ended or cannot be stored, and where a step of a replay does not hold. The
    recording is kept all the same, with the steps before.
    """
    from cuadata import recorder
    from cuadata.judging import observing

    if replay is not None and script is not None:
        raise CallError("--script is played and recorded, --replay acts a recording again; give one of them")
    if replay is not None:
        _replay(replay, _page(page) if page else None, bool(headed), json)
        return
    if script is None:
        if not page:
            raise CallError("give the address to begin at, or --script FILE, or --replay RECORDING")
        _person(_page(page), out, instruction, headed is not False, profile, viewport, dpr, root, json)
        return
    folder = out or recorder.folder_name(script.stem, Path("recordings"))
    options: dict[str, Any] = {"test": test} if test else {}
    if viewport:
        options["viewport"] = observing.size(viewport)
    if time_limit is not None:
        options["seconds"] = time_limit
    recorder.record(
        _page(page), folder, script=script, instruction=instruction, device_pixel_ratio=dpr,
        root=root, headed=bool(headed), **options,
    )  # fmt: skip
    if _sum_up(folder, json) != "success":
        raise typer.Exit(1)


def _sum_up(folder: Path, json: bool) -> str:
    """Say what a recording holds; how it ended."""
    from cuadata import recorder

    summary = recorder.summary(folder)
    if json:
        typer.echo(dumps(summary))
    why = f" ({summary['reason']})" if summary["reason"] else ""
    words = f"{summary['steps']} steps, {summary['failed']} failed, ended in {summary['ended']}{why}: {folder}"
    typer.echo(plainly(words), err=True)
    return str(summary["ended"])


def _person(
    page: str | Path, out: Path | None, instruction: str, headed: bool, profile: Path | None, viewport: str, dpr: float,
    root: Path | None, json: bool,
) -> None:  # fmt: skip
    from cuadata import recorder
    from cuadata.judging import observing
    from cuadata.people import person, person_terminal

    name = page.stem if isinstance(page, Path) else page.split("://")[-1].split("?")[0].split("#")[0]
    folder = out or recorder.folder_name(name, Path("recordings"))
    size = observing.size(viewport) if viewport else None
    with person.start(
        page, folder, instruction=instruction, headed=headed, profile=profile, viewport=size, device_pixel_ratio=dpr, root=root
    ) as session:  # fmt: skip
        person_terminal.attend(session, str(folder), say=lambda words: typer.echo(plainly(words, lines=True), err=True))
    _sum_up(folder, json)


def _replay(recording: Path, page: str | Path | None, headed: bool, json: bool) -> None:
    from cuadata import replay

    played = replay.replay(recording, page, headed=headed)
    holding = sum(one.holds for one in played)
    if json:
        typer.echo(dumps({"steps": len(played), "hold": holding, "played": [asdict(one) for one in played]}))
    else:
        for one in played:
            words = "holds" if one.holds else one.reason
            typer.echo(plainly(f"{one.index:>4}  {one.what}  [{one.way}]  {words}"))
    typer.echo(f"{holding} of {len(played)} steps still hold: {recording}", err=True)
    if holding < len(played):
        raise typer.Exit(1)


def _page(text: str) -> str | Path:
    return Path(text) if text and "://" not in text and not text.lstrip().startswith("<") else text
