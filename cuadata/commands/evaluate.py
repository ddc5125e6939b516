"""`cuadata evaluate`: score logged answers against a gold set, or a policy in an environment."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

app = typer.Typer(add_completion=False)


#: Options of logged answers, and of played episodes; what the other way of scoring would let be is refused.
_OF_ANSWERS = ("format", "tolerance", "frame", "kind", "unanswered")
_OF_EPISODES = ("policy", "option", "set", "seeds", "samples", "max_steps", "no_effect_lines", "trained_on")


class Unanswered(StrEnum):
    """What becomes of questions without an answer."""

    skip = "skip"
    wrong = "wrong"
    refuse = "refuse"


@app.command()
def evaluate(
    context: typer.Context,
    what: str = typer.Argument(help="predictions file with --gold, family with --policy, or a folder of rollouts"),
    gold: str = typer.Option(
        "",
        help="gold set as NAME:PATH, as in gui_perturbed:../gui_perturbed, or dataset:PATH:SPLIT, as in dataset:out:test",
    ),
    format: str = typer.Option("", help="with --gold: the model family's format (`cuadata list formats`)"),
    tolerance: float = typer.Option(0.0, help="with --gold: slack around a target box, CSS px; stands in the result"),
    frame: str | None = typer.Option(None, help="with --gold: frame of the numbers: px, resized, unit, thousand, 999"),
    kind: str | None = typer.Option(None, help="with --gold: kind of instruction, where the file does not say"),
    unanswered: Unanswered = typer.Option(
        Unanswered.skip,
        help="with --gold: questions without an answer are counted beside the accuracy, scored as wrong, or refused",
    ),
    policy: str = typer.Option("", help="policy to play (`cuadata list policies`)"),
    option: list[str] = typer.Option([], help="NAME=VALUE for the policy; may be repeated"),
    set: list[str] = typer.Option([], help="NAME=VALUE for the family: an axis, the value of a term; may be repeated"),
    seeds: str = typer.Option("test", help="A:B for A to B - 1, one seed, or test: the fixed test set"),
    samples: int = typer.Option(1, help="with --policy: episodes a seed"),
    max_steps: int | None = typer.Option(None, min=1, help="with --policy: steps an episode; the task's own otherwise"),
    no_effect_lines: bool = typer.Option(
        False, "--no-effect-lines", help="with --policy: tell it when its last action changed nothing"
    ),
    trained_on: Path | None = typer.Option(
        None, help="rows that the model was trained on: a run that injects lines which they never had is refused"
    ),
    workers: int = typer.Option(1, help="with --policy: pages played at one time"),
    trivial: bool = typer.Option(True, help="with --policy: play trivial policies on the same seeds"),
    vote: int | None = typer.Option(None, help="join so many samples into one answer by region voting"),
    name: str | None = typer.Option(None, help="what tables call the run; the file's or the policy's name otherwise"),
    out: Path | None = typer.Option(None, help="folder for the run, its result, pictures and report; resumes"),
    force: bool = typer.Option(False, help="overwrite the folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Score logged answers against a gold set, or a policy in an environment."""
    from cuadata.reporting import printing
    from cuadata.scores import evaluation
    from cuadata.viewer import evaluation as report

    recorded = not gold and not policy and Path(what).is_dir()
    if gold:
        _refuse(context, _OF_EPISODES, "--gold scores logged answers")
    elif recorded:
        _refuse(context, (*_OF_ANSWERS, *_OF_EPISODES, "vote", "name"), f"'{what}' was played already")
    elif policy:
        _refuse(context, _OF_ANSWERS, "--policy plays a family")
    if gold:
        run, rows, result = evaluation.answers(
            Path(what), gold, format, tolerance=tolerance, vote=vote, frame=frame, kind=kind, name=name,
            unanswered=unanswered.value,
        )  # fmt: skip
        if out is not None:
            evaluation.save(out, run, rows, result, force=force, reads=[what, evaluation.asked(gold).path])
    elif recorded:
        from cuadata.playing import policy_runs

        _, result = policy_runs.evaluate_recorded(Path(what), out, force=force)
    else:
        from cuadata.playing import policy_runs  # brings environments and their browser with it

        plan = policy_runs.plan(
            what, policy, seeds, name=name, samples=samples, vote=vote, option=option, set=set, max_steps=max_steps,
            no_effect_lines=no_effect_lines, workers=workers,
        )  # fmt: skip
        if (said := policy_runs.check_lines(plan, trained_on)) is not None:
            printing.say(said)
        with printing.progress(policy_runs.length(plan, trivial=trivial)) as step:
            _, result = policy_runs.evaluate(plan, out, force=force, trivial=trivial, progress=step)
    if out is not None:
        printing.say(f"report: {report.write(out)}")
    printing.result(result)
    if json:
        printing.data(result)


def _refuse(context: typer.Context, names: tuple[str, ...], why: str) -> None:
    """CallError for options that were given and would change nothing: a reader would take the figures to be of them."""
    from cuadata.errors import CallError

    standard = {one.name: one.default for one in context.command.params}
    given = [name for name in names if (context.params[name] or None) != (standard[name] or None)]
    if given:
        told = ", ".join("--" + name.replace("_", "-") for name in given)
        raise CallError(f"{why}, where {told} would change nothing; leave out what is of the other way of scoring")
