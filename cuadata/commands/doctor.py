"""`cuadata doctor`: which browser is used, whether it works, and how to get one."""

from __future__ import annotations

import json as text

import typer

app = typer.Typer(add_completion=False)


@app.command()
def doctor(
    install: bool = typer.Option(False, "--install", help="install a Chromium where there is none"),
    json: bool = typer.Option(False, "--json", help="print one JSON object"),
) -> None:
    """Say which browser was found and whether it works; install one where there is none."""
    from cuadata.browsing import browser_find, browser_install

    found = browser_install.install(lambda line: typer.echo(line, err=True)) if install else browser_find.find()
    works = browser_install.starts(found)
    if json:
        told = {"path": str(found.path), "kind": found.kind, "version": found.version, "how": found.how, "works": works}
        typer.echo(text.dumps(told))
    else:
        typer.echo(f"{found.kind} {found.version} at {found.path}, named by {found.how}; it works: {works}", err=True)
