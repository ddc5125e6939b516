"""`cuadata list`: what plug-ins there are."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from cuadata.errors import CallError

app = typer.Typer(add_completion=False)


@app.command()
def list_(
    kind: str = typer.Argument(
        "all", help="sources, gold, families, gates, formats, policies, rewards, reasons or all"
    ),
) -> None:
    """List sources, gold sets, gates, families, formats, policies, rewards or reasons, each with its sentence."""
    from cuadata import reasons, registry

    kinds = [*registry.ALL, "reasons"] if kind == "all" else [kind]
    for one in kinds:
        if kind == "all":
            typer.echo(f"\n{one}" if one != kinds[0] else one)
        for name, sentence in _lines(one, reasons.REASONS, registry.ALL):
            typer.echo(f"  {name:28} {sentence}")


def _lines(kind: str, words: dict[str, str], tables: Mapping[str, object]) -> list[tuple[str, str]]:
    from cuadata.registry import Registry

    if kind == "reasons":
        return list(words.items())
    table = tables.get(kind)
    if not isinstance(table, Registry):
        raise CallError(f"nothing is called '{kind}'; there are: {', '.join([*tables, 'reasons'])}")
    return [(name, _sentence(table[name])) for name in table.names()]


def _sentence(thing: object) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]
