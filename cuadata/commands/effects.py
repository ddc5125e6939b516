"""`cuadata effects`: what an action changed, from two pictures; or what every step of recordings did."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)
#: Image px for one CSS px that screens and zoom levels have; beyond them a point or box means nothing.
_RATIOS = (0.01, 100.0)


def _sensible(ratio: float) -> float:
    if not _RATIOS[0] <= ratio <= _RATIOS[1]:
        least, most = _RATIOS
        raise typer.BadParameter(f"no screen shows {ratio} px for one CSS px; from {least} to {most} is wanted: 1.5")
    return ratio


@app.command()
def effects(
    paths: list[Path] = typer.Argument(help="two pictures, before and after; or folders with recordings"),
    ambient: list[Path] = typer.Option([], help="a picture taken without acting, before the action; may be repeated"),
    point: str | None = typer.Option(None, help="where the pointer pressed, X,Y in CSS px"),
    ratio: float = typer.Option(1.0, callback=_sensible, help="image px for one CSS px of the two pictures"),
    calibrate: Path | None = typer.Option(None, help="labels (JSON lines): prints precision, recall and thresholds"),
    again: bool = typer.Option(False, help="measure effects anew that the recordings hold already"),
    dry_run: bool = typer.Option(False, "--dry-run", help="label without writing the labels into the recordings"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Say what an action changed, or label the steps of recordings: no effect, repeated, detour, recovery."""
    from cuadata.reporting import effect_report

    effect_report.run(
        paths, ambient=ambient, point=point, ratio=ratio, labels=calibrate, again=again, write=not dry_run, as_json=json
    )
