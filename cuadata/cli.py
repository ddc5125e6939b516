"""The command line: one function a command in `cuadata/commands/`, whose signature is its command line.

Data goes to files or stdout, words to stderr. Exit code 0: done; 1: the data is bad; 2: the call is wrong.
"""

from __future__ import annotations

import importlib
import io
import math
import sys
from typing import Any

import typer
from typer.core import TyperGroup

#: Command -> the module that holds it as `app`, and its line in the help. Listing them imports none of the modules.
COMMANDS: dict[str, tuple[str, str]] = {
    "audit": ("cuadata.commands.audit", "Score gates against what people said of the rows."),
    "build": ("cuadata.commands.build", "Make a dataset of single-action examples from recordings and other sources."),
    "compare": ("cuadata.commands.compare", "Compare two runs: paired tests, and what the sample could have shown."),
    "doctor": ("cuadata.commands.doctor", "Say which browser is used and whether it works; install one."),
    "edit": ("cuadata.commands.edit", "Delete, keep, merge, renumber, migrate recordings; repair data files."),
    "effects": ("cuadata.commands.effects", "Say what an action changed, or label the steps of recordings."),
    "evaluate": (
        "cuadata.commands.evaluate",
        "Score logged answers against a gold set, or a policy in an environment.",
    ),
    "export": ("cuadata.commands.export", "Write a dataset in the form that another trainer reads."),
    "generate": (
        "cuadata.commands.generate",
        "Make datasets about generated or real pages: spatial relations, minimal pairs.",
    ),
    "list": ("cuadata.commands.list", "List sources, gates, families, formats, policies, rewards or reasons."),
    "observe": ("cuadata.commands.observe", "Observe a page; say why an element is kept or rejected."),
    "parity": ("cuadata.commands.parity", "Compare training prompts with live prompts and show the first difference."),
    "plan": ("cuadata.commands.plan", "Work out what a run will cost before it starts: group sizes."),
    "publish": ("cuadata.commands.publish", "Check a dataset, put it on a Hub, open it again and compare."),
    "rewards": ("cuadata.commands.rewards", "Score rewards offline on logged answers, next to a random one."),
    "env": ("cuadata.commands.env", "Prove an environment's rewards alive, or score the trivial policies on it."),
    "record": ("cuadata.commands.record", "Record a person or a script acting on a real page; act a recording again."),
    "recover": ("cuadata.commands.recover", "Make examples of failing and recovering, each played and measured."),
    "rollout": ("cuadata.commands.rollout", "Play a policy over many tasks and record every episode."),
    "select": ("cuadata.commands.select", "Choose what to train on by a model's own rollouts."),
    "schema": ("cuadata.commands.schema", "Print the JSON Schema of a type, or write them all."),
    "stats": ("cuadata.commands.stats", "What is in a dataset: rows, bytes, and how often each kind occurs."),
    "train": ("cuadata.commands.train", "Train a LoRA by SFT, rejection sampling or GRPO; merge it; put it on a Hub."),
    "verify": ("cuadata.commands.verify", "Prove that published labels still hold; measure what the gates catch."),
}


class LazyGroup(TyperGroup):
    """Imports a command's module when it is called, so that the help answers at once."""

    listing = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listing = True  # the help asks for every command, only to name it
        try:
            super().format_help(ctx, formatter)
        finally:
            self.listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, line = COMMANDS[cmd_name]
        app: typer.Typer = _named(line) if self.listing else importlib.import_module(module).app
        command = typer.main.get_command(app)
        command.name = cmd_name
        _finite(command)
        return command


def _finite(command: Any) -> None:
    """Refuse nan and infinity in every option: no comparison with a bound catches nan, and no work means either."""
    for one in getattr(command, "commands", {}).values():
        _finite(one)
    for option in command.params:
        option.callback = option.callback or _check_finite


def _check_finite(_: Any, option: Any, value: Any) -> Any:
    for one in value if isinstance(value, list | tuple) else (value,):
        if isinstance(one, float) and not math.isfinite(one):
            raise typer.BadParameter(f"{one} is no finite number", param_hint=option.opts[0])
    return value


def _named(line: str) -> typer.Typer:
    app = typer.Typer(add_completion=False)

    @app.command(help=line)
    def listed() -> None:
        """Stands in the list of commands."""

    return app


app = typer.Typer(
    cls=LazyGroup,
    name="cuadata",
    help="Provably valid single-action examples from browser recordings; datasets and small models made of them.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def cuadata(version: bool = typer.Option(False, "--version", help="Print the version and leave.")) -> None:
    """Provably valid single-action examples from browser recordings; datasets and small models made of them."""
    if version:
        from cuadata import __version__

        typer.echo(__version__)
        raise typer.Exit


#: Module -> the extra that installs it.
_EXTRAS = {
    **dict.fromkeys(("torch", "torchvision", "transformers", "trl", "peft", "accelerate"), "train"),
    "matplotlib": "plot",
    "miniwob": "miniwob",
    "gguf": "gguf",
    "rapidocr_onnxruntime": "ocr",
}


def _tell(why: object) -> None:
    """Why a command ends, on stderr."""
    from cuadata.reporting.showing import plainly

    typer.echo(plainly(f"cuadata: {why}", lines=True), err=True)


def main(program: typer.Typer = app) -> None:
    """Run a command; a user's mistake is one sentence on stderr, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of any script, half surrogate pairs too, on any terminal
            stream.reconfigure(errors="replace")
    try:
        program()
    except (RecursionError, UnicodeDecodeError) as error:
        why = (
            "JSON is nested too deep to be read" if isinstance(error, RecursionError) else f"text is no UTF-8: {error}"
        )
        _tell(f"{why}; mend the file")
        sys.exit(1)
    except ModuleNotFoundError as error:
        name = (error.name or "").split(".")[0]
        if name not in _EXTRAS:
            raise
        typer.echo(
            f"cuadata: {name} is not installed; pip install 'cuadata[{_EXTRAS[name]}]', or -e '.[{_EXTRAS[name]}]' in a clone",
            err=True,
        )
        sys.exit(2)
    except (ValueError, KeyError, FileNotFoundError, FileExistsError, NotADirectoryError, PermissionError) as error:
        words = error.args[0] if isinstance(error, KeyError) and error.args else error
        _tell(words)
        sys.exit(getattr(error, "exit_code", 2))
    except OSError as error:
        _tell(error)
        sys.exit(1)


if __name__ == "__main__":
    main()
