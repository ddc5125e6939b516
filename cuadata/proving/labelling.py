"""Label the steps of recordings: effects that were not measured yet, and each step's role in failing and recovering.

The labels stand in the recording itself, in `steps.jsonl`, which is replaced as a whole; pictures and elements stay as
they are. An effect that the recorder measured is kept: it saw what moves by itself, which the stored pictures do not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from cuadata import effects
from cuadata.errors import DataError
from cuadata.recordings import recording_files, recording_lock
from cuadata.recordings.recording_files import Line
from cuadata.recordings.recording_reader import find, read
from cuadata.schema import from_json, to_json
from cuadata.splitting import recovery
from cuadata.types import Effect, Step, StepLabel, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One recording with its labels."""

    path: Annotated[Path, "folder of the recording"]
    trajectory: Annotated[Trajectory, "with effects and labels"]
    written: Annotated[bool, "the folder was changed"]

    @property
    def labels(self) -> tuple[StepLabel | None, ...]:
        """The label of each step."""
        return tuple(step.label for step in self.trajectory.steps)


def label(trajectory: Trajectory, *, again: bool = False, thresholds: effects.Thresholds | None = None) -> Trajectory:
    """The trajectory with an effect and a label on every step; `again` measures effects anew that are there already."""
    steps = trajectory.steps
    measured = tuple(
        replace(step, effect=_effect(steps, number, thresholds)) if again or step.effect is None else step
        for number, step in enumerate(steps)
    )
    named = effects.label(measured)
    return replace(trajectory, steps=tuple(replace(step, label=one) for step, one in zip(measured, named, strict=True)))


def _effect(steps: Sequence[Step], number: int, thresholds: effects.Thresholds | None) -> Effect | None:
    """The effect of a step, from what stood before it and after it; None where nothing of afterwards is known."""
    step, after = steps[number], recovery.after_of(steps, number)
    if after is None:
        return step.effect
    return effects.compare(
        step.observation.screenshot,
        after.screenshot,
        point=step.action.point,
        state_before=step.observation,
        state_after=after,
        thresholds=thresholds,
    )


def label_all(
    places: Iterable[Path],
    *,
    write: bool = True,
    again: bool = False,
    thresholds: effects.Thresholds | None = None,
) -> Iterator[Labelled]:
    """Label every recording below the given folders, one at a time. DataError where there is none, or one is damaged."""
    for place in places:
        found = find(place)
        if not found:
            raise DataError("there is no recording in this folder", place=str(place))
        for path in found:
            trajectory = label(read(path), again=again, thresholds=thresholds)
            yield Labelled(path=path, trajectory=trajectory, written=write and rewrite(path, trajectory.steps))


def rewrite(folder: Path, steps: Sequence[Step]) -> bool:
    """Put the effects and labels of these steps into a recording; whether anything had to be written.

    DataError where a living process records into it, or where its steps are not these.
    """
    path = folder / recording_files.STEPS
    recording_lock.take(folder, take_over=True)
    try:
        raw = path.read_bytes().split(b"\n")
        lines = [from_json(text, Line) for text in raw[: len(steps)]]
        if [line.step.index for line in lines] != [step.index for step in steps]:
            raise DataError("its steps are not those that were labelled", place=str(folder))
        new = [
            replace(line, step=replace(line.step, effect=step.effect, label=step.label))
            for line, step in zip(lines, steps, strict=True)
        ]
        if new == lines:
            return False
        # What is left of a line in flight stays, so that reading goes on to say that it was lost.
        torn = b"\n".join(raw[len(steps) :])
        recording_files.write_whole(path, b"".join(to_json(line) + b"\n" for line in new) + torn)
        recording_files.sync_folder(folder)
    except OSError as error:
        raise recording_files.said(error, str(folder), "the labels cannot be stored") from error
    finally:
        recording_lock.release(folder)
    return True


def statistics(labelled: Iterable[Labelled]) -> recovery.Statistics:
    """Figures over labelled recordings."""
    return recovery.statistics((one.trajectory.steps, one.labels) for one in labelled)
