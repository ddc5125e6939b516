"""`cuadata env`: prove an environment's rewards alive, or score the trivial policies on it."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.command()
def check(
    family: str = typer.Argument("", help="page family, or miniwob-TASK; a task file (.yaml) as well"),
    seeds: str = typer.Option("0:2", help="A:B for A to B - 1, or one seed"),
    set: list[str] = typer.Option([], help="NAME=VALUE for the family; may be repeated"),
    url: str = typer.Option("", help="instead of a family: an address or HTML file to bind --terms to"),
    terms: Path | None = typer.Option(None, help="with --url: YAML file of terms"),
    workers: int = typer.Option(2, min=1, help="pages played at one time"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Play the solution, wrong paths, loops, random actions and every markup; fail where a reward is dead or farmed."""
    from cuadata.episodes import taskfile
    from cuadata.errors import CallError, DataError
    from cuadata.playing import environment_check, policy_runs
    from cuadata.reporting import play_tables, printing
    from cuadata.scores import runs

    if bool(url) != (terms is not None):
        raise CallError("--url and --terms, the file that says what to look for, go together")
    if url and terms:
        if family:
            raise CallError(f"give a family or --url, not both: got '{family}' and {url}")
        bound, standing = taskfile.bind_page(url, terms)
        play_tables.bound(bound)
        problems, warnings = play_tables.unbound(bound), play_tables.standing(standing)
        printing.warn(warnings)
        told = play_tables.bound_plain(bound, problems, warnings)
    else:
        if not family:
            raise CallError("name a page family, or --url and --terms; `cuadata list families` names the families")
        held = runs.seeds(seeds)
        with printing.progress(environment_check.length(family, held)) as step:
            report = environment_check.check(family, held, workers=workers, progress=step, **policy_runs.options(set))
        play_tables.report(report)
        problems, told = list(report.problems), report.plain()
    if json:
        printing.data(told)
    if problems:
        raise DataError("\n".join(problems))


@app.command()
def baseline(
    family: str = typer.Argument(help="page family, or miniwob-TASK"),
    seeds: str = typer.Option("0:100", help="A:B for A to B - 1, or test: the fixed test set"),
    policy: list[str] = typer.Option([], help="policy to play instead of the trivial five; may be repeated"),
    set: list[str] = typer.Option([], help="NAME=VALUE for the family; may be repeated"),
    max_steps: int | None = typer.Option(None, min=1, help="steps an episode"),
    workers: int = typer.Option(2, min=1, help="pages played at one time"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Score nothing, submit_only, all_boxes, random and oracle on the same seeds, with Wilson intervals."""
    from cuadata.playing import baselines, policy_runs
    from cuadata.reporting import play_tables, printing
    from cuadata.scores import runs

    names, held = policy or baselines.POLICIES, runs.seeds(seeds)
    with printing.progress(len(names) * len(held)) as step:
        result = baselines.baseline(
            family, held, policies=names, max_steps=max_steps, workers=workers, progress=step,
            **policy_runs.options(set),
        )  # fmt: skip
    play_tables.baseline(result)
    if json:
        printing.data(result)
