"""`cuadata recover`: make examples of failing and recovering, each played and measured."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def recover(
    family: str = typer.Argument("gauntlet", help="page family, or a task file whose solution is a recording"),
    n: int = typer.Option(500, min=1, help="rows of `recovery`, in equal parts by cause"),
    out: Path = typer.Option(Path("data/recovery"), help="the dataset's folder"),
    recordings: Path = typer.Option(Path("runs/recovery"), help="where the attempts are recorded; they are resumed"),
    causes: str = typer.Option("missed,covered,fake,disabled,off_screen,too_early", help="kinds of mishap, by comma"),
    seed: int = typer.Option(0, min=0, help="first seed"),
    helper: str = typer.Option("oracle", help="policy that is asked for the way out: oracle, anthropic, openai"),
    option: list[str] = typer.Option([], help="NAME=VALUE for the helper, such as max_cost=5; may be repeated"),
    workers: int = typer.Option(4, min=1, help="pages played at one time"),
    browsers: int = typer.Option(2, min=1, help="browsers that the pages share"),
    sheet: int = typer.Option(30, min=0, help="examples on the picture sheet; 0: none"),
    force: bool = typer.Option(False, help="replace the dataset's folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Make examples of failing and recovering: tries that fail on purpose, and what then helped, all of it measured."""
    from cuadata.playing import policy_runs
    from cuadata.recovering import recover as core
    from cuadata.reporting import printing
    from cuadata.viewer import sheet as pictures

    settings = core.Settings(
        family=family,
        n=n,
        causes=tuple(word.strip() for word in causes.split(",") if word.strip()),
        first_seed=seed,
        helper=helper,
        helper_options=policy_runs.options(option),
        workers=workers,
        browsers=browsers,
    )
    made = core.make(
        settings,
        out,
        recordings,
        force=force,
        finish=(lambda folder: pictures.write(folder, sheet),) if sheet else (),
        progress=lambda drill, rows: printing.say(f"{drill}: {rows} rows"),
    )
    summary = made.summary()
    printing.table(
        f"{summary['rows']} recoveries in {summary['seconds']:.0f} s",
        ["cause", "rows", "tries 1 / 2 / 3", "attempts", "failures seen", "refused"],
        [
            [
                cause,
                str(held["rows"]),
                " / ".join(str(held["tries"].get(count, 0)) for count in (1, 2, 3)),
                str(held["episodes"]),
                str(held["failures"]),
                "; ".join(f"{why}: {count}" for why, count in held["refused"].items()) or "-",
            ]
            for cause, held in summary["causes"].items()
        ],
    )
    printing.say(f"dataset: {out}" + (f", sheet: {out / pictures.NAME}" if sheet else ""))
    if json:
        printing.data(summary)
