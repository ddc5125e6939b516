"""What `cuadata effects` does and shows: one pair, recordings, or a labelled set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from cuadata import effects, text_files
from cuadata.errors import CallError, DataError
from cuadata.proving import calibration, effect_pairs, labelling
from cuadata.proving.calibration import Calibration, Judged
from cuadata.proving.labelling import Labelled
from cuadata.reporting import printing
from cuadata.seeing import pictures
from cuadata.seeing.comparison import look
from cuadata.splitting.recovery import Statistics, keep_as_context, train_on
from cuadata.statistics.intervals import Rate
from cuadata.types import Effect, Point


def run(
    paths: Sequence[Path],
    *,
    ambient: Sequence[Path],
    point: str | None,
    ratio: float,
    labels: Path | None,
    again: bool,
    write: bool,
    as_json: bool,
) -> None:
    """Do what the call asks for. CallError for a call that is none, DataError for pictures that cannot be compared."""
    missing = next((path for path in (*paths, *ambient) if not path.exists()), None)
    if missing is not None:
        raise CallError(f"'{missing}' is not there; wanted two pictures or folders with recordings")
    if all(path.is_file() for path in paths) and len(paths) == 2:
        if labels is not None:
            raise CallError("--calibrate goes with recordings or a folder of labelled pairs, not with two pictures")
        return one_pair(paths[0], paths[1], ambient, _point(point), ratio, as_json)
    if not all(path.is_dir() for path in paths):
        raise CallError(f"wanted two pictures or folders with recordings, got {', '.join(map(str, paths))}")
    if ambient or point is not None:
        raise CallError("--ambient and --point go with two pictures; recordings hold their own")
    if labels is not None:
        return calibrated(paths, labels, as_json)
    return recordings(paths, again=again, write=write, as_json=as_json)


def _point(text: str | None) -> Point | None:
    if text is None:
        return None
    try:
        x, y = (float(number) for number in text.split(","))
    except ValueError:
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        raise CallError(f"--point is '{text}', wanted two numbers: 120,340")
    return Point(x, y)


def one_pair(
    before: Path, after: Path, ambient: Sequence[Path], point: Point | None, ratio: float, as_json: bool
) -> None:
    """The effect between two pictures. DataError where one of them cannot be read, after the object was printed."""
    for frame in ambient:
        try:
            pictures.load(frame)
        except (OSError, ValueError) as error:
            raise DataError(f"{error}; leave out this --ambient, or take it again", place=str(frame)) from error
    _check_sizes(before, ambient, point, ratio)
    effect = effects.compare(before, after, ambient, point, device_pixel_ratio=ratio)
    if as_json:
        printing.data({"happened": effect.happened, **to_builtins(effect)})
    box = effect.region
    where = "" if box is None else f" at {box.x:g},{box.y:g}, {box.width:g} x {box.height:g} px"
    printing.say(f"{effect.kind}{where}: {effect.reason}")
    if effect.kind == "unknown" and not effect.size_changed:
        raise DataError(effect.reason, place=f"{before} and {after}")


def _check_sizes(before: Path, ambient: Sequence[Path], point: Point | None, ratio: float) -> None:
    """DataError for an ambient picture of another size, which would mask nothing; CallError for a point off the picture.

    A picture before that does not open is left to the verdict.
    """
    try:
        height, width = pictures.load(before).shape[:2]
    except (OSError, ValueError):
        return
    for frame in ambient:
        tall, wide = pictures.load(frame).shape[:2]
        if (wide, tall) != (width, height):
            raise DataError(
                f"it is {wide}x{tall} px, and the picture before the action {width}x{height} px; take it at the same size",
                place=str(frame),
            )
    if point is not None and not (0 <= point.x * ratio <= width and 0 <= point.y * ratio <= height):
        raise CallError(
            f"--point {point.x:g},{point.y:g} is off the picture, {width / ratio:g}x{height / ratio:g} CSS px at --ratio {ratio:g}; "
            "give CSS px of the viewport, or the --ratio of the pictures"
        )


def recordings(paths: Sequence[Path], *, again: bool, write: bool, as_json: bool) -> None:
    """Label recordings and show the table."""
    held: list[Labelled] = []
    for one in labelling.label_all(paths, again=again, write=write):
        held.append(one)
        printing.say(f"{one.path}: {_words(one)}")
    total = labelling.statistics(held)
    sources = sorted({one.trajectory.source for one in held})
    groups = {source: [one for one in held if one.trajectory.source == source] for source in sources}
    columns = {source or "?": labelling.statistics(group) for source, group in groups.items()}
    if len(columns) > 1:
        columns["all"] = total
    figures = {name: _figures(held) for name, held in columns.items()}
    rows = [[line, *(held[line] for held in figures.values())] for line in _figures(total)]
    printing.table("steps by who acted", ["", *figures], rows)
    if as_json:
        printing.data(
            {
                **to_builtins(total),
                "median_tries": total.median_tries,
                "recordings": [_summary(one) for one in held],
            }
        )


def _words(one: Labelled) -> str:
    names = [label or "unknown" for label in one.labels]
    return ", ".join(names) + ("" if one.written else " (nothing to write)")


def _summary(one: Labelled) -> dict[str, Any]:
    labels = one.labels
    return {
        "id": one.trajectory.id,
        "labels": list(labels),
        "effects": [step.effect.kind if step.effect else None for step in one.trajectory.steps],
        "train_on": list(train_on(labels)),
        "keep_as_context": list(keep_as_context(labels)),
        "written": one.written,
    }


def _figures(held: Statistics) -> dict[str, str]:
    course, tries = held.changed_course, held.median_tries
    return {
        "recordings": str(held.trajectories),
        "steps": str(held.steps),
        "no effect": str(held.no_effect),
        "of these repeated": str(held.no_effect_repeat),
        "detours": str(held.detour),
        "recoveries": str(held.recovery),
        "progress": str(held.progress),
        "effect not known": str(held.unknown),
        "longest run of one action": str(held.longest_run),
        "longest run without effect": str(held.longest_stuck),
        "no effect, then another action": "-" if course is None else f"{100 * course:.0f} %",
        "tries until recovery, median": "-" if tries is None else f"{tries:g}",
        "failures not recovered from": str(held.unrecovered),
    }


def calibrated(paths: Sequence[Path], labels: Path, as_json: bool) -> None:
    """Precision and recall on labelled pairs, or on the labelled steps of recordings, and proposed thresholds."""
    first = next((line for line in text_files.read(labels).split("\n") if line.strip()), "")
    if not first:
        raise DataError(
            "it holds no labels, a JSON object a line; docs/effects.md says what stands in one", place=str(labels)
        )
    actions = _of_steps(paths, labels) if '"recording"' in first else _of_pairs(labels)
    result = calibration.calibrate(actions)
    show(result)
    if as_json:
        printing.data(to_builtins(result))


def _of_pairs(labels: Path) -> list[Judged]:
    return [judged(pair) for pair in effect_pairs.read(labels)]


def judged(pair: effect_pairs.Pair) -> Judged:
    """What the product says of a labelled pair, with the signs that its thresholds decide by."""
    effect = pair.measured()
    ambient = [pair.picture(name) for name in pair.ambient]
    seen = look(pair.picture(pair.before), pair.picture(pair.after), ambient, effects.Thresholds())
    return _with_signs(pair.id, pair.effect, effect, seen, kind=pair.kind, half=pair.half)


def _with_signs(id: str, effect: bool, measured: Effect, seen: Any, *, kind: str = "", half: str = "") -> Judged:
    held = {} if seen.change is None else {
        "similarity": seen.change.similarity,
        "shift": seen.change.shift,
        "block": seen.change.block,
        "noise": seen.change.noise,
    }  # fmt: skip
    return Judged(id=id, effect=effect, kind=kind, half=half, measured=measured, **held)


def _of_steps(paths: Sequence[Path], labels: Path) -> list[Judged]:
    """Labels of steps: `recording` (its id), `step` (its index), `effect`, and perhaps `class`."""
    wanted: dict[tuple[str, int], dict[str, Any]] = {}
    for number, line in enumerate(text_files.read(labels).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            held = text_files.json_value(line)
            place = str(held["recording"]), int(held["step"])
            if place in wanted:
                raise ValueError(f"step {place[1]} of {place[0]} has a label already")
            wanted[place] = {"effect": bool(held["effect"]), **held}
        except (KeyError, TypeError, ValueError) as error:
            words = f"no label: {error!r}; wanted recording, step, effect"
            raise DataError(words, place=f"{labels}, line {number}") from error
    found = []
    for one in labelling.label_all(paths, write=False):
        for step in one.trajectory.steps:
            label = wanted.pop((one.trajectory.id, step.index), None)
            if label is not None:
                found.append(_judged_step(one, step.index, label))
    if wanted:
        raise DataError(f"no recording holds the labelled steps {sorted(wanted)[:3]}", place=str(labels))
    return found


def _judged_step(one: Labelled, index: int, label: dict[str, Any]) -> Judged:
    from cuadata.splitting.recovery import after_of

    steps = one.trajectory.steps
    number = next(n for n, step in enumerate(steps) if step.index == index)
    after = after_of(steps, number)
    seen = look(
        steps[number].observation.screenshot, None if after is None else after.screenshot, (), effects.Thresholds()
    )
    measured = steps[number].effect or Effect(kind="unknown", reason="nothing of afterwards is known")
    return _with_signs(f"{one.trajectory.id} {index}", label["effect"], measured, seen, kind=label.get("class", ""))


def show(result: Calibration) -> None:
    """The tables of a calibration, on stderr."""
    lines = {
        "effects measured that are labelled (precision)": result.precision,
        "labelled effects measured (recall)": result.recall,
        "actions without effect measured so": result.specificity,
        **{f"right, half {name}": held for name, held in result.by_half.items()},
    }
    printing.table(f"{result.n} labelled actions", ["", "n", "% [95 %]"], [_rate(n, r) for n, r in lines.items()])
    printing.table("right, by class", ["class", "n", "% [95 %]"], [_rate(n, r) for n, r in result.by_class.items()])
    for error in result.errors:
        printing.say(error)
    rows = [
        [one.name, f"{one.now:g}", f"{one.proposed:.3g}", f"{one.low:.3g} to {one.high:.3g}", str(one.errors)]
        for one in result.proposals
    ]
    printing.table("thresholds", ["", "now", "proposed", "span without more errors", "errors"], rows)


def _rate(name: str, held: Rate) -> list[str]:
    return [name, f"{held.hits}/{held.n}", printing.rate(to_builtins(held))]
