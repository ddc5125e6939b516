"""`cuadata list`: what plug-ins there are."""

from __future__ import annotations

import inspect
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
    """The first paragraph of a docstring, on one line, and a gate's thresholds with their defaults."""
    words = " ".join(inspect.cleandoc(thing.__doc__ or "").partition("\n\n")[0].split())
    return f"{words} [{told}]" if (told := _thresholds(thing)) else words


def _thresholds(thing: object) -> str:
    """What can be set where a gate is named, as `cuadata build --gates NAME:threshold=value` takes it."""
    from cuadata import registry
    from cuadata.judging import gating

    name = getattr(thing, "__name__", "")
    if name not in registry.gates or registry.gates[name] is not thing:
        return ""
    return ", ".join(f"{key}={_plain(value)}" for key, value in gating.defaults(name).items())


def _plain(value: object) -> str:
    """A default as it is written on the command line: numbers short, lists in brackets."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"[{','.join(map(str, value))}]" if isinstance(value, (tuple, list, frozenset)) else str(value)
