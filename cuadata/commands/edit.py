"""`cuadata edit`: recordings deleted, kept, merged, renumbered, migrated and closed; damaged data files set aside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Edit folders of recordings and data files.")

Folder = Annotated[Path, typer.Argument(help="folder that holds recordings")]
Ids = Annotated[list[str], typer.Argument(help="ids of recordings")]
Json = Annotated[bool, typer.Option("--json", help="print one summary object on stdout")]


@app.command("list")
def list_(folder: Folder = Path("recordings"), as_json: Json = False) -> None:
    """Say which recordings are there, and which numbers are missing."""
    from cuadata import edit

    found = edit.survey(folder)
    _say({"ids": found.ids, "missing": found.missing, "problems": found.problems}, as_json)


@app.command()
def delete(folder: Folder, ids: Ids, as_json: Json = False) -> None:
    """Delete recordings by id. A wrong id changes nothing."""
    from cuadata import edit

    _say({"deleted": [path.name for path in edit.delete(folder, ids)]}, as_json)


@app.command()
def keep(folder: Folder, ids: Ids, as_json: Json = False) -> None:
    """Delete all recordings but these. A wrong id changes nothing."""
    from cuadata import edit

    _say({"deleted": [path.name for path in edit.keep(folder, ids)]}, as_json)


@app.command()
def merge(
    out: Annotated[Path, typer.Argument(help="new folder")],
    sources: Annotated[list[Path], typer.Argument(help="folders that hold recordings, in order")],
    force: Annotated[bool, typer.Option(help="replace the folder where it exists")] = False,
    as_json: Json = False,
) -> None:
    """Copy the recordings of several folders into one; an id that is taken gets the next free number."""
    from cuadata import edit

    _say({"ids": edit.merge(sources, out, force=force)}, as_json)


@app.command()
def renumber(folder: Folder, as_json: Json = False) -> None:
    """Close the gaps in numbered ids."""
    from cuadata import edit

    _say({"ids": edit.renumber(folder)}, as_json)


@app.command()
def migrate(
    folder: Folder,
    assume: Annotated[int | None, typer.Option(help="version of recordings that do not state theirs")] = None,
    as_json: Json = False,
) -> None:
    """Bring older recordings to the version of this release, in place."""
    from cuadata import recording

    moved = [path for path in recording.find(folder) if recording.migrate(path, assume=assume)]
    _say({"migrated": [path.name for path in moved]}, as_json)


@app.command()
def close(folder: Folder, as_json: Json = False) -> None:
    """End the recordings that a dead process left open, as interrupted."""
    from cuadata import edit

    _say({"closed": [path.name for path in edit.close_interrupted(folder)]}, as_json)


@app.command()
def repair(
    folder: Annotated[Path, typer.Argument(help="folder that holds Parquet files")],
    key: Annotated[str, typer.Option(help="column that holds the ids of trajectories")] = "trajectory_id",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="change nothing, only say what was found")] = False,
    as_json: Json = False,
) -> None:
    """Set damaged Parquet files aside, so that they cost their own trajectories only."""
    import dataclasses

    from cuadata import repair as repairing

    found = dataclasses.asdict(repairing.repair(folder, key=key, dry_run=dry_run))
    _say({**found, "trajectories": len(found["trajectories"])}, as_json)


def _say(summary: dict[str, Any], as_json: bool) -> None:
    """The summary as one object on stdout, or in words on stderr."""
    from cuadata.reporting import printing

    if as_json:
        printing.data(summary)
        return
    for name, value in summary.items():
        held = [f"{old} -> {new}" for old, new in value.items()] if isinstance(value, dict) else value
        words = ", ".join(map(str, held)) or "none" if isinstance(held, (list, tuple)) else held
        printing.say(f"{name}: {words}")
