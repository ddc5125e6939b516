"""What the gates of this version were seen to catch: a table that ships with the package, for the cards of builds.

It is what `cuadata verify --inject --json` printed for rows that were generated for it with a seed of their own, which nobody
had seen before. It says what the gates do with known faults on generated pages, not what they do with the pages of a build:
who measures those gives `--gate-recall`. `cuadata verify DATA --inject --json > FILE`, then `python -m
cuadata.proving.measured FILE "COMMANDS"` writes the table anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import __version__
from cuadata.judging.gating import Chosen

NAME: Final = "measured.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What was measured of gates, and where that is from."""

    source: Annotated[str, "where it was measured, in a sentence for the card"]
    gates: Annotated[Mapping[str, Any], "by gate: recall and false_rejects in words, n"]


def shipped(chosen: Iterable[Chosen]) -> Table:
    """The table of the package, for those of these gates whose thresholds are the ones that were measured."""
    held = json.loads(resources.files("cuadata.proving").joinpath(NAME).read_text(encoding="utf-8"))
    usual = {one.name for one in chosen if not one.options}
    source = (
        f"The table of recall comes with the package: gates of cuadata {held['version']} with their usual thresholds, on "
        f"{held['rows']} generated rows that are not of this dataset (`{held['command']}`)."
    )
    return Table(source=source, gates={name: one for name, one in held["gates"].items() if name in usual})


def write(verified: Mapping[str, Any], command: str, path: Path) -> None:
    """Write the table from what `cuadata verify --inject --json` printed; `command` made rows and figures."""
    held = {
        "version": __version__,
        "command": command,
        "rows": verified["injected"]["examples"],
        "recall": verified["injected"]["recall"],
        "false_rejects": verified["injected"]["false_rejects"],
        "gates": verified["gate_recall"],
    }
    path.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], Path(__file__).with_name(NAME))
