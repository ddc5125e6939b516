"""`cuadata train`: the trainers of `train/`, and what becomes of an adapter."""

from __future__ import annotations

import importlib
from pathlib import Path

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True)
for _name in ("sft", "rejection", "grpo"):
    app.registered_commands += importlib.import_module(f"cuadata.train.{_name}").app.registered_commands


@app.callback()
def train() -> None:
    """Train a LoRA on a dataset or in an environment; merge it; put it on a Hub. Each trainer is one file in `train/`."""


@app.command()
def merge(
    run: Path = typer.Argument(help="folder of a finished run"),
    out: Path = typer.Argument(help="where the whole model goes"),
    base: str = typer.Option("", help="base model, where it is not where the run found it"),
    dtype: str = typer.Option("bfloat16", help="dtype of the weights that are written"),
    force: bool = typer.Option(False, help="write into a folder that is not empty"),
) -> None:
    """Add an adapter to its base: a model that plain transformers loads."""
    from cuadata.learning import merging
    from cuadata.reporting import printing

    merging.save_merged(run, out, base=base, dtype=dtype, force=force)
    printing.say(f"model: {out}")


@app.command()
def push(
    run: Path = typer.Argument(help="folder of a finished run"),
    repo: str = typer.Argument(help="user/name on the Hub that HF_ENDPOINT names"),
    public: bool = typer.Option(False, help="make the repository public; it is private otherwise"),
    licence: str = typer.Option("", help="licence of the adapter, as the Hub names it: apache-2.0"),
    json: bool = typer.Option(False, "--json", help="print one summary object on stdout"),
) -> None:
    """Put an adapter on a Hub, with a model card made from the run."""
    from cuadata.learning import model_hub
    from cuadata.reporting import printing

    done = model_hub.push(run, repo, private=not public, licence=licence)
    printing.say(f"{done.url} ({done.visibility}), commit {done.commit[:12]}: {len(done.files)} files")
    if json:
        printing.data(done.summary())
