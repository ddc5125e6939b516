"""Labelled pairs: pictures and states before and after an action whose effect is known.

A line of `labels.jsonl` holds `id`, `effect` (true or false), `before` and `after`; and, where there are any, `class`,
`site`, `half`, `ambient` (pictures), `frames` ([seconds, picture] after the action, for late effects), `point` ([x, y],
CSS px), `state_before`, `state_after`, `state_still`. A picture is a file under `pictures/` beside the labels;
`NAME@X,Y` is a patch whose corner is laid on the picture before at that place, `NAME@X,Y@BASE` one laid on the file BASE.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cuadata import effects, text_files
from cuadata.errors import DataError
from cuadata.image import BadImage
from cuadata.schema import from_json
from cuadata.seeing import pictures
from cuadata.types import Effect, Observation, Point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PICTURES = "pictures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One labelled pair; its pictures are read when they are asked for."""

    id: Annotated[str, "unique in its set"]
    effect: Annotated[bool, "whether the action did something"]
    kind: Annotated[str, "class that recall is told by: tick, clock, ..."]
    site: Annotated[str, "where the page is from"]
    half: Annotated[str, "dev: thresholds were chosen on it; test: they were not; empty: not said"]
    before: Annotated[str, "picture"]
    after: Annotated[str, "picture"]
    ambient: Annotated[tuple[str, ...], "pictures taken without acting, oldest first"]
    frames: Annotated[tuple[tuple[float, str], ...], "seconds after the action, picture; empty where one was enough"]
    point: Annotated[Point | None, "where the pointer pressed, CSS px"]
    still: Annotated[Observation | None, "state some time before the action"]
    state_before: Annotated[Observation | None, "state right before the action"]
    state_after: Annotated[Observation | None, "state after it"]
    folder: Annotated[Path, "where the labels lie"]

    def picture(self, name: str) -> NDArray[np.uint8]:
        """A picture of the pair, (height, width, 3). DataError where it cannot be read."""
        file, *rest = name.split("@")
        if any(Path(part).name != part for part in (file, *rest)):
            raise DataError(f"picture {name} leads out of the folder of pictures", place=self.id)
        try:
            pixels = pictures.load(self.folder / PICTURES / file)
            if not rest:
                return pixels
            left, top = (int(number) for number in rest[0].split(","))
            whole = self.picture(rest[1] if len(rest) > 1 else self.before).copy()
            whole[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
        except (BadImage, OSError, ValueError) as error:
            raise DataError(f"picture {name}: {error}", place=self.id) from error
        return whole

    def measured(self, thresholds: effects.Thresholds | None = None) -> Effect:
        """The effect as the product measures it."""
        given: dict[str, Any] = {
            "ambient": [self.picture(name) for name in self.ambient],
            "point": self.point,
            "state_before": self.state_before,
            "state_after": self.state_after,
            "ambient_states": [] if self.still is None else [self.still],
            "thresholds": thresholds,
        }
        if self.frames:
            frames = [(seconds, self.picture(name)) for seconds, name in self.frames]
            return effects.follow(self.picture(self.before), frames, **given)[0]
        return effects.compare(self.picture(self.before), self.picture(self.after), **given)


def read(labels: Path) -> Iterator[Pair]:
    """The pairs of a labels file, in order. DataError names the line that is none."""
    try:
        text = labels.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the labels cannot be read: {error}", place=str(labels)) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{labels}, line {number}"
        try:
            yield _pair(text_files.json_value(line), labels.parent)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"no label: {error!r}; wanted id, effect, before, after", place=place) from error


def _pair(line: dict[str, Any], folder: Path) -> Pair:
    if not isinstance(line["effect"], bool):
        raise TypeError(f"effect is {line['effect']!r}, wanted true or false")
    point = line.get("point")
    return Pair(
        id=str(line["id"]),
        effect=line["effect"],
        kind=line.get("class", ""),
        site=line.get("site", ""),
        half=line.get("half", ""),
        before=line["before"],
        after=line["after"],
        ambient=tuple(line.get("ambient", ())),
        frames=tuple((float(seconds), name) for seconds, name in line.get("frames", ())),
        point=None if point is None else Point(*map(float, point)),
        still=_state(line.get("state_still")),
        state_before=_state(line.get("state_before")),
        state_after=_state(line.get("state_after")),
        folder=folder,
    )


def _state(held: dict[str, Any] | None) -> Observation | None:
    return None if held is None else from_json(json.dumps({"screenshot": None, **held}).encode(), Observation)
