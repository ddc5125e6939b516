"""What `cuadata parity` prints, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cuadata import parity
from cuadata.errors import CallError, DataError
from cuadata.parity import Skeleton
from cuadata.registry import formats
from cuadata.reporting import printing
from cuadata.speaking.prompts import LABELS

#: What may be unknown of a prompt, and the columns that tell it.
TOLD_BY: Final = {
    "format": "`format`",
    "text": "`instruction`, which is taken out of it",
    "sizes": "`image_width` and `image_height`",
    "frame": "`frame`",
}


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
    unknown_of = not_compared(rows, [one for _, one in logged])
    if as_json:
        differences = [{"field": d.field, "train": d.train, "live": d.live, "place": d.place} for d in found]
        counts = {"train": len(rows), "live": len(logged), "same": not found, "not_compared": unknown_of}
        printing.data({**counts, "differences": differences})
    printing.warn(
        [
            f"the {field} of {count} of {len(logged)} live prompts was not compared: a side lacks {TOLD_BY[field]}"
            for field, count in unknown_of.items()
        ]
    )
    if found:
        raise DataError(
            f"{found[0]}" + (f"\n{len(found) - 1} more: {', '.join(d.field for d in found[1:])}" if found[1:] else "")
        )
    printing.say(f"{len(logged)} live prompts are asked as the {len(rows)} training rows were")


def not_compared(train: Sequence[Skeleton], live: Sequence[Skeleton]) -> dict[str, int]:
    """Field -> live prompts that it was not compared of, since they or all the training prompts do not say it."""
    found = {}
    for field in TOLD_BY:
        known = any(_told(one, field) for one in train)
        open_ = sum(not (known and _told(one, field)) for one in live)
        pictureless = field == "sizes" and not any(one.pictures for one in (*train, *live))
        if open_ and not pictureless:
            found[field] = open_
    return found


def _told(one: Skeleton, field: str) -> bool:
    return getattr(one, field) not in (None, ())
