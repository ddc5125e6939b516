"""`cuadata publish`: a dataset onto a Hub."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def publish(
    data: Path = typer.Argument(help="the dataset's folder, as `cuadata build` made it"),
    repo: str = typer.Argument(metavar="USER/NAME", help="the repository, made where there is none"),
    public: bool | None = typer.Option(
        None, "--public/--private", help="visible to all; private where nothing is said"
    ),
    version: str = typer.Option("", help="tag of this version, such as v1.0; by default made from the data's hash"),
    allow: list[str] = typer.Option(
        [], metavar="KIND", help="a kind of finding that may go out; may be given several times"
    ),
    force: bool = typer.Option(False, help="replace what is published of the same configs and splits"),
    redact: Path | None = typer.Option(None, metavar="OUT", help="write a redacted copy to OUT first and publish that"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Check a dataset, upload it, open it again and compare. Private unless --public; an interrupted one goes on."""
    from cuadata import hub
    from cuadata.publishing import redaction
    from cuadata.reporting import printing, printing_datasets

    if redact is not None:
        counts = redaction.redact(data, redact, force=force)
        printing.say(f"redacted: {', '.join(f'{name} {count}' for name, count in counts.items()) or 'nothing found'}")
    with printing_datasets.progress() as progress:
        done = hub.publish(
            redact or data,
            repo,
            private=None if public is None else not public,
            force=force,
            allow=allow,
            version=version,
            progress=progress,
        )
    printing_datasets.published(done.summary())
    if json:
        printing.data(done.summary())
