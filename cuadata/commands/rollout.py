"""`cuadata rollout`: play a policy over many tasks and record every episode."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


@app.command()
def rollout(
    family: str = typer.Argument("", help="page family, or miniwob-TASK (`cuadata list families`)"),
    policy: str = typer.Option("oracle", help="policy to play (`cuadata list policies`)"),
    n: int = typer.Option(10, min=1, help="tasks: the seeds from 0 on"),
    seeds: str = typer.Option("", help="instead of --n: A:B for A to B - 1, or one seed"),
    samples: int = typer.Option(1, min=1, help="episodes a task"),
    out: Path = typer.Option(..., help="folder of the recordings; interrupted work resumes"),
    temperature: float | None = typer.Option(None, min=0, help="sampling temperature, for policies that sample"),
    option: list[str] = typer.Option([], help="NAME=VALUE for the policy; may be repeated"),
    set: list[str] = typer.Option([], help="NAME=VALUE for the family: an axis, the value of a term; may be repeated"),
    max_steps: int | None = typer.Option(
        None, min=1, help="steps an episode; twice the solution, at least 30, otherwise"
    ),
    workers: int = typer.Option(2, min=1, help="pages played at one time"),
    browsers: int = typer.Option(1, min=1, help="browsers that the pages share"),
    screenshot: bool = typer.Option(True, help="record pictures"),
    no_effect_lines: bool = typer.Option(
        False, "--no-effect-lines", help="tell the policy when its last action changed nothing"
    ),
    curriculum: str = typer.Option("", help="instead of FAMILY: skills by comma, as in modal,code_entry,gauntlet"),
    promote: float = typer.Option(0.8, min=0, max=1, help="with --curriculum: exact success that promotes"),
    force: bool = typer.Option(False, help="overwrite the folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Play a policy over many tasks and record every episode, failures too."""
    from cuadata.playing import curricula, playing, policy_runs
    from cuadata.reporting import play_tables, printing
    from cuadata.scores import runs

    skills = curricula.skills(curriculum or family)
    plan = playing.Plan(
        family=skills[0].family, policy=policy, seeds=runs.seeds(seeds) if seeds else range(n), samples=samples,
        policy_options=policy_runs.options(option) | ({} if temperature is None else {"temperature": temperature}),
        family_options=policy_runs.options(set), max_steps=max_steps, workers=workers, browsers=browsers,
        screenshot=screenshot, no_effect_lines=no_effect_lines,
    )  # fmt: skip
    with printing.progress(len(skills) * len(plan.seeds) * samples) as step:
        result = curricula.play(plan, skills, out, promote=promote, force=force, progress=step)
    for one in result.get("rounds", [result]):
        play_tables.rollout(one)
    if json:
        printing.data(result)
