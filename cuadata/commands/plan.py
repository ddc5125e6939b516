"""`cuadata plan`: arithmetic before a run."""

from __future__ import annotations

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True)
#: No update has more groups or episodes at a time; beyond it figures no longer fit a float.
_MOST = 10**9


@app.callback()
def plan() -> None:
    """Work out what a run will cost before it starts."""


@app.command("group-size")
def group_size(
    pass_rate: float = typer.Option(..., help="share of episodes that succeed now, 0 to 1"),
    seconds_per_episode: float = typer.Option(..., help="wall time of one episode, seconds"),
    groups: int = typer.Option(8, max=_MOST, help="groups (prompts) an update"),
    parallel: int = typer.Option(1, max=_MOST, help="episodes that run at a time"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object on stdout"),
) -> None:
    """Groups without spread, useful groups and wall time per update for groups of 4 to 64."""
    from cuadata.reporting import group_tables

    group_tables.show(pass_rate, seconds_per_episode, groups_per_update=groups, parallel=parallel, as_json=as_json)


@app.command()
def memory(
    rank: int = typer.Option(16, min=1, help="LoRA rank"),
    tokens: int = typer.Option(1600, min=1, help="tokens of a row, its picture's included"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object on stdout"),
) -> None:
    """GPU memory of LoRA training by model size, worked out: by part, and the largest batch that fits a card."""
    from cuadata.learning import presets
    from cuadata.reporting import printing

    rows = presets.table(rank=rank, tokens=tokens)
    printing.table(
        f"GiB for rows of {tokens} tokens, LoRA rank {rank}, activations computed again; worked out, not measured",
        list(rows[0]), [[str(value) for value in row.values()] for row in rows],
    )  # fmt: skip
    if as_json:
        printing.data({"rank": rank, "tokens": tokens, "rows": rows})
