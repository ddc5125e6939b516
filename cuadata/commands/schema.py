"""`cuadata schema`: the JSON Schemas, printed from the types."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from cuadata.errors import CallError

app = typer.Typer(add_completion=False)


@app.command()
def schema(
    name: str = typer.Argument("", help="trajectory, task, example, verdict, ...; empty: all names"),
    write: Path | None = typer.Option(None, help="write every schema into this folder, as NAME.schema.json"),
    fill: list[Path] = typer.Option([], help="write the tables of fields in this Markdown file anew"),
) -> None:
    """Print the JSON Schema of one type, or write them all."""
    from cuadata.schema import published

    found = published()
    if fill:
        from cuadata import reference

        for page in fill:
            page.write_text(reference.fill(page.read_text()))
        typer.echo(f"filled {', '.join(map(str, fill))}", err=True)
    elif write is not None:
        write.mkdir(parents=True, exist_ok=True)
        for stem, body in found.items():
            (write / f"{stem}.schema.json").write_text(json.dumps(body, indent=2) + "\n")
        typer.echo(f"wrote {len(found)} schemas into {write}", err=True)
    elif not name:
        typer.echo("\n".join(found))
    elif name not in found:
        raise CallError(f"no schema is called '{name}'; there are: {', '.join(found)}")
    else:
        typer.echo(json.dumps(found[name], indent=2))
