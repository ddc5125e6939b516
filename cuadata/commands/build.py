"""`cuadata build`: from recordings, and what people have already, to a dataset."""

from __future__ import annotations

import json as json_text
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from cuadata.errors import CallError, DataError

if TYPE_CHECKING:
    from cuadata.proving import measured

app = typer.Typer(add_completion=False)
#: Where a source's data lies where nobody says.
_USUAL = {"recordings": "recordings"}


class WithSources(TyperCommand):
    """Reads `--source NAME [PATH]`, an option whose second value may be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        read: list[str] = []
        left = list(args)
        while left:
            word = left.pop(0)
            if word == "--source" and left:
                word = f"--source={left.pop(0)}"
            if word.startswith("--source=") and left and not left[0].startswith("-"):
                word = f"{word}\n{left.pop(0)}"
            read.append(word)
        parsed: list[str] = super().parse_args(ctx, read)
        return parsed


@app.command(cls=WithSources)
def build(
    source: list[str] = typer.Option(
        [],
        metavar="NAME [PATH]",
        help="what to build from, also as annotated:convention=xywh_px; may be given several times",
    ),
    out: Path | None = typer.Option(None, help="the dataset's folder; default data/ and the name of the first input"),
    gates: str = typer.Option("", help="only these, as NAME,NAME:threshold=value; default all (`cuadata list gates`)"),
    without: str = typer.Option("", help="leave these gates out"),
    allow: list[str] = typer.Option(
        [], metavar="KIND", help="a kind of sensitive value that stays, on pages whose data is made up: password, email"
    ),
    configs: str = typer.Option("", help="configs to write; default all that can be made"),
    mix: str = typer.Option("", help="also write a mixture by weight: actions:0.95,recovery:0.05"),
    splits: str = typer.Option("train=0.9,test=0.1", help="share of each split"),
    keep_together: str = typer.Option(
        "site,template,seed_block", help="columns whose equal values never part in splits"
    ),
    seed: int = typer.Option(0, help="seed of the splits"),
    history: int = typer.Option(5, help="how many earlier actions an example tells"),
    elements: bool = typer.Option(
        False, "--elements", help="rows keep the page's elements, for models that read it: formats axtree and qwen35"
    ),
    keep_unsure: bool = typer.Option(False, help="keep what a gate is not sure of"),
    keep_failed: bool = typer.Option(
        False, help="keep steps of trajectories that failed their task: leave out the gate task_failed"
    ),
    keep_going: bool = typer.Option(False, help="leave out what cannot be read, instead of stopping"),
    thumbnails: int = typer.Option(200, help="rejected rows of a reason that have a picture"),
    title: str = typer.Option("", help="name on the card"),
    licence: str = typer.Option("", help="licence on the card, in the Hub's words: cc-by-4.0"),
    consent: str = typer.Option("", help="a sentence for the card: what the people who were recorded agreed to"),
    gate_recall: Path | None = typer.Option(
        None,
        help="what `cuadata verify DATA --inject --json` printed, for the card; default what the package was measured at",
    ),
    workers: int = typer.Option(2, help="processes; the bytes do not depend on it"),
    report: bool = typer.Option(False, "--report", help="write a page with pictures into the dataset's folder"),
    force: bool = typer.Option(False, help="replace the dataset's folder"),
    json: bool = typer.Option(False, "--json", help="print one summary object"),
) -> None:
    """Make a dataset of single-action examples: read, split, judge, write. An interrupted build goes on where it was."""
    from cuadata import build as core
    from cuadata.building import mixing
    from cuadata.reporting import printing, printing_datasets
    from cuadata.viewer import report as page

    sources = [_source(one) for one in source or ["recordings"]]
    folder = out or Path("data") / Path(sources[0][1]).resolve().name
    with printing_datasets.progress() as progress:
        done = core.build(
            sources,
            folder,
            gates=_gates(_words(gates) if gates else None, allow),
            without=[*_words(without), *(["task_failed"] if keep_failed else [])],
            configs=_words(configs) if configs else core.MADE,
            mix=mixing.read(mix),
            fractions=_fractions(splits),
            keep_together=_words(keep_together),
            seed=seed,
            history=history,
            elements=elements,
            keep_unsure=keep_unsure,
            keep_going=keep_going,
            thumbnails=thumbnails,
            title=title,
            licence=licence,
            consent=consent,
            gate_recall=_recall(gate_recall),
            workers=workers,
            force=force,
            finish=(page.write,) if report else (),
            progress=progress,
        )
    summary = done.summary() | ({"report": str(folder / page.PAGE)} if report else {})
    printing_datasets.build(summary)
    if report:
        printing.say(f"report: {folder / page.PAGE}")
    if json:
        printing.data(summary)
    if "actions" in summary["configs"] and not done.examples:
        raise DataError("no step became an example of `actions`; the table and `rejected` say why", place=str(folder))


def _gates(asked: list[str] | None, allow: list[str]) -> list[str] | None:
    """The gates asked for, None for all, with the kinds that `sensitive_value` lets pass."""
    from cuadata import privacy, registry

    if wrong := sorted(set(allow) - set(privacy.KINDS)):
        raise CallError(f"--allow {wrong[0]} is no kind of sensitive value; there are: {', '.join(privacy.KINDS)}")
    if asked is not None and not asked:
        raise CallError(
            "--gates names no gate; give NAME or NAME:threshold=value, or leave it out for all (`cuadata list gates`)"
        )
    if not allow:
        return asked
    gate = "sensitive_value"
    told = f"{gate}:allow={json_text.dumps(sorted(set(allow)))}"
    return [told if one == gate else one for one in asked or registry.gates.names()]


def _recall(path: Path | None) -> measured.Table | None:
    """What was measured of each gate, read from the summary of `cuadata verify --inject --json`; None for None."""
    from cuadata.proving import measured

    if path is None:
        return None
    try:
        told = json_text.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CallError(f"--gate-recall {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"no JSON: {error}; wanted what `cuadata verify DATA --inject --json` prints", place=str(path)
        ) from error
    held = told.get("gate_recall") if isinstance(told, dict) else None
    if not isinstance(held, dict) or not all(isinstance(one, dict) and "recall" in one for one in held.values()):
        raise DataError(
            "no `gate_recall` in it; wanted what `cuadata verify DATA --inject --json` prints", place=str(path)
        )
    source = f"The table of recall is from {path.name}, which `cuadata verify --inject --json` printed for {told.get('what')}."
    return measured.Table(source=source, gates=held)


def _source(text: str) -> tuple[str, str]:
    name, _, path = text.partition("\n")
    if not path and name not in _USUAL:
        raise CallError(f"--source {name} needs the path of its data: --source {name} PATH")
    return name, path or _USUAL[name]


def _words(text: str) -> list[str]:
    """Words between commas; a list in brackets is one word."""
    return [word.strip() for word in re.split(r",(?![^\[]*\])", text) if word.strip()]


def _fractions(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for word in _words(text):
        name, _, share = word.partition("=")
        try:
            found[name.strip()] = float(share)
        except ValueError as error:
            raise CallError(f"--splits '{word}' is no share; wanted NAME=SHARE, such as train=0.9,test=0.1") from error
    return found
