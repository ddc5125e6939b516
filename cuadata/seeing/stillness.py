"""When a page came to rest after an action, and whether the effect came later than anybody waited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated

from cuadata.seeing.comparison import compare
from cuadata.seeing.pictures import Picture
from cuadata.seeing.pixels import Thresholds
from cuadata.types import Effect, Observation, Point

#: Frames of a page: seconds since the action, and the picture; oldest first.
Frames = Sequence[tuple[float, Picture]]


@dataclass(frozen=True, slots=True)
class Settled:
    """The first moment from which on nothing changed any more."""

    index: Annotated[int, "position of the frame, from 0"]
    time: Annotated[float, "seconds since the action"]
    still: Annotated[bool, "a later frame shows the same; False: the last frame still differed from the one before"]


def settle(frames: Frames, ambient: Sequence[Picture] = (), *, thresholds: Thresholds | None = None) -> Settled:
    """When the page came to rest: the first frame that all later ones equal, what moves by itself left out.

    ValueError for no frames, or times that do not rise.
    """
    if not frames:
        raise ValueError("there are no frames to settle; wanted at least one (seconds, picture)")
    times = [time for time, _ in frames]
    if any(later <= earlier for earlier, later in pairwise(times)):
        raise ValueError(f"the times of the frames do not rise: {times}")
    index = len(frames) - 1
    while index > 0:
        effect = compare(frames[index - 1][1], frames[-1][1], ambient, thresholds=thresholds)
        if effect.happened is not False:
            break
        index -= 1
    return Settled(index, frames[index][0], still=index < len(frames) - 1 or len(frames) == 1)


def follow(
    before: Picture,
    frames: Frames,
    ambient: Sequence[Picture] = (),
    point: Point | None = None,
    *,
    wait: float = 1.0,
    state_before: Observation | None = None,
    state_after: Observation | None = None,
    ambient_states: Sequence[Observation] = (),
    thresholds: Thresholds | None = None,
) -> tuple[Effect, Settled]:
    """The effect of an action from frames taken after it, and when and with which frame the page came to rest.

    The picture after is the settled frame. The effect is `late` where nothing had changed up to `wait` seconds after the
    action, by which time most observers have looked. `settled` on the effect is None where the page never stood still.
    """
    rest = settle(frames, ambient, thresholds=thresholds)
    effect = compare(
        before,
        frames[rest.index][1],
        ambient,
        point,
        state_before=state_before,
        state_after=state_after,
        ambient_states=ambient_states,
        thresholds=thresholds,
    )
    effect = replace(effect, settled=rest.time if rest.still else None)
    if effect.kind in ("local", "global"):
        first = _first_change(before, frames, ambient, thresholds)
        if first is not None and first > wait:
            late = f"first seen {first:.2f} s after the action, later than {wait:g} s; {effect.reason}"
            effect = replace(effect, kind="late", reason=late)
    return effect, rest


def _first_change(
    before: Picture, frames: Frames, ambient: Sequence[Picture], thresholds: Thresholds | None
) -> float | None:
    """Seconds until the first frame that differs from the picture before; None where none does."""
    for time, picture in frames:
        if compare(before, picture, ambient, thresholds=thresholds).happened:
            return time
    return None
