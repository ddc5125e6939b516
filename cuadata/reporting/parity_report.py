"""What `cuadata parity` prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

from cuadata import parity
from cuadata.errors import CallError, DataError
from cuadata.registry import formats
from cuadata.reporting import printing
from cuadata.speaking.prompts import LABELS


def show(train: Path, live: Path | None, *, inject: str = "", form: str = "", as_json: bool = False) -> None:
    """Compare the two sides. DataError (exit 1) where they differ, after the differences are printed."""
    kinds = [kind.strip() for kind in inject.split(",") if kind.strip()]
    if live is None and not kinds:
        raise CallError("nothing to compare: give RUN, or --inject KINDS to ask before a run")
    unknown = sorted(set(kinds) - set(LABELS))
    if unknown:
        raise CallError(f"no lines are of kind {', '.join(unknown)}; there are: {', '.join(LABELS)}")
    family = formats[form] if form else None
    rows = [parity.skeleton(row, family, place=place) for place, row in parity.read(train)]
    if kinds:
        parity.refuse_new_lines(rows, kinds)
    if live is None:
        printing.say(f"{len(rows)} training rows have lines of kind {', '.join(kinds)}")
        return
    logged = [(place, parity.skeleton(row, family, place=place)) for place, row in parity.read(live)]
    found = parity.compare(rows, logged)
    if as_json:
        differences = [{"field": d.field, "train": d.train, "live": d.live, "place": d.place} for d in found]
        printing.data({"train": len(rows), "live": len(logged), "same": not found, "differences": differences})
    if found:
        raise DataError(
            f"{found[0]}" + (f"\n{len(found) - 1} more: {', '.join(d.field for d in found[1:])}" if found[1:] else "")
        )
    printing.say(f"{len(logged)} live prompts are asked as the {len(rows)} training rows were")
