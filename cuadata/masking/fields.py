"""Which fields of an observed page are for secrets, and where in its picture something shows that must not be shown.

`fields.js` knows it of one document, as part of what that measures; here it becomes ids and boxes of the whole page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from cuadata.browsing import compose, frames
from cuadata.browsing.measure import Measured
from cuadata.browsing.tab import Tab
from cuadata.types import BBox, Observation


@cache
def script() -> str:
    """What runs in every document."""
    return "\n".join((frames.script(), (Path(__file__).parent / "fields.js").read_text()))


@dataclass(slots=True, eq=False)
class Seen:
    """An observation with what must not be shown of it."""

    observation: Observation
    tab: Tab
    held: Annotated[list[Measured], "what every document said, as of the observation"] = field(repr=False)
    masks: Annotated[tuple[BBox, ...], "what is painted over in the picture, CSS px"] = ()
    kinds: Annotated[dict[int, str], "kind of secret by the id of the field that is for one"] = field(
        default_factory=dict
    )
    deeds: Annotated[dict[str, int], "changes of scripts to each document so far"] = field(default_factory=dict)


def with_masks(seen: Seen) -> Seen:
    """Work out which fields are for secrets, and what is painted over in the picture."""
    masks: list[BBox] = []
    for measured in seen.held:
        told = measured.told.get("secrets")
        if "deeds" in measured.told:
            seen.deeds[measured.frame.document] = measured.told["deeds"]
        place = place_of(seen.held, measured)
        if told is None or place is None:
            continue
        for serial, kind, filled, box in told["fields"]:
            id = seen.tab.number(measured.frame, serial)
            seen.kinds[id] = kind
            if filled:
                masks.append(place.box(box))
        masks += [place.box(box) for box in told["shown"]]
    seen.masks = tuple(dict.fromkeys(box for box in masks if box.area > 0))
    return seen


def place_of(held: Sequence[Measured], measured: Measured) -> compose.Place | None:
    """Where a document lies in the top-level viewport; None where the document around it was not told."""
    chain: list[tuple[dict[str, Any], Measured]] = []
    inner = measured
    while inner.frame.parent is not None:
        found = compose.holder(list(held), inner.frame)
        if found is None:
            return None
        chain.append((found[1], inner))
        inner = found[0]
    place = compose.Place()
    for row, one in reversed(chain):
        place = place.within(row, one.told)
    return place
