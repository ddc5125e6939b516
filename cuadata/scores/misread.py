"""Answers that were read in the wrong form: another model's grammar, or numbers that count in another frame.

Either gives a figure near 0 that looks like a bad model. So where much cannot be read, or little hits, a sample is read
again by every other format and in every other frame, and what fits plainly better is named. It is a hint for a person: no
figure changes by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, get_args

from cuadata import registry
from cuadata.contracts import Format
from cuadata.geometry import Frame, FrameKind
from cuadata.scores import grounding, predictions
from cuadata.scores.grounding import Scored
from cuadata.scores.predictions import Answered, Reading
from cuadata.speaking import grid

#: Answers that are read again, spread evenly over the file.
SAMPLE: Final = 60
#: From this share on answers that cannot be read are looked into, and where fewer than that hit, frames are.
_MANY_UNREAD, _FEW_HIT = 0.05, 0.5
#: What reads, or hits, more than this share of the sample beyond what was chosen does so plainly.
_PLAINLY = 0.2
#: From this share on it is nearly all of them.
_NEARLY_ALL = 0.9
#: So many points have to be there before where they lie says anything.
_ENOUGH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a format fits a sample of answers."""

    name: Annotated[str, "the format"]
    read: Annotated[int, "answers in which it reads a place, or that there is none"]
    own: Annotated[int, "those that it would have written alike"]
    hits: Annotated[int, "those that are right"]


def hints(
    answered: Sequence[Answered], rows: Sequence[Scored], format: str, *, tolerance: float, frame: str | None
) -> list[str]:
    """What a person should look at before believing the figures; empty where nothing points to a wrong format or frame.

    `rows` are the scores of `answered`, one by one.
    """
    step = max(1, -(-len(answered) // SAMPLE))
    sample = answered[::step]
    return [
        *_of_frames(sample, rows, format, tolerance=tolerance, frame=frame),
        *_of_formats(sample, rows, format, tolerance=tolerance, frame=frame),
    ]


def of_samples(answered: Sequence[Answered], format: str, *, frame: str | None = None) -> list[str]:
    """The same for questions that have several texts each, by the first of them."""
    step = max(1, -(-len(answered) // (4 * SAMPLE)))
    firsts = [replace(one, texts=one.texts[:1]) for one in answered[::step] if one.texts]
    rows = [grounding.score(one, registry.formats[format], frame=frame) for one in firsts]
    found = hints(firsts, rows, format, tolerance=0.0, frame=frame) if firsts else []
    return [f"in a sample of {len(firsts)} questions, {words}" for words in found] if step > 1 else found


def _of_formats(
    sample: Sequence[Answered], rows: Sequence[Scored], format: str, *, tolerance: float, frame: str | None
) -> Iterator[str]:
    unread = Counter(predictions.kind_of(r.failure) for r in rows if r.failure)
    count = unread.total()
    if not count or count < _MANY_UNREAD * len(rows):
        return
    others = {name: registry.formats[name] for name in registry.formats if name != format}
    chosen = fit(sample, registry.formats[format], tolerance=tolerance, frame=frame)
    fits = [
        fit(sample, other, tolerance=tolerance, frame=frame)
        for other in others.values()
        if not getattr(other, "lists_elements", False) or all(one.gold.elements for one in sample)
    ]
    best = max(fits, key=lambda one: (one.read, one.own, one.hits), default=chosen)
    kinds = ", ".join(f"{kind} {number}" for kind, number in unread.most_common())
    told = f"{count} of {len(rows)} answers could not be read as '{format}' ({kinds})"
    if best.read - chosen.read > _PLAINLY * len(sample) or best.read > 2 * chosen.read:
        alike = [f"'{f.name}'" for f in fits if f != best and (f.read, f.own) == (best.read, best.own)]
        also = f", as {'does' if len(alike) == 1 else 'do'} {', '.join(alike)}" if alike else ""
        yield (
            f"{told}; '{best.name}' reads {best.read} of a sample of {len(sample)}{also}, and '{format}' {chosen.read}: "
            f"is --format {best.name} meant?"
        )
    elif count >= _NEARLY_ALL * len(rows):
        first = next(one.texts[0] for one, row in zip(sample, rows, strict=False) if one.texts)
        yield f"{told}, and no other format reads plainly more; the first answer is {first!r:.80}"


def fit(sample: Sequence[Answered], format: Format, *, tolerance: float = 0.0, frame: str | None = None) -> Fit:
    """How a format fits the first text of each answer."""
    read = own = hits = 0
    for one in sample:
        view = predictions.view(one.gold, frame)
        text = one.texts[0]
        reading = predictions.read(text, format, view)
        if reading.point is not None or (reading.action is not None and reading.action.type == "infeasible"):
            read += 1
            own += _wrote(format, reading, view, text)
            hits += predictions.right(reading, one.gold, tolerance)
    return Fit(name=format.name, read=read, own=own, hits=hits)


def _wrote(format: Format, reading: Reading, view: Any, text: str) -> bool:
    """Whether the format would have written the text so: then it is in its own grammar, not just a readable one."""
    try:
        return reading.action is not None and format.write(reading.action, view).split() == text.split()
    except ValueError:
        return False


def _of_frames(
    sample: Sequence[Answered], rows: Sequence[Scored], format: str, *, tolerance: float, frame: str | None
) -> Iterator[str]:
    reader = registry.formats[format]
    own = getattr(reader, "frame", None)
    if not isinstance(own, Frame) or getattr(reader, "lists_elements", False):
        return
    if sum(r.success for r in rows) >= _FEW_HIT * len(rows):
        return
    used = frame or sample[0].gold.frame or own.kind
    chosen = fit(sample, reader, tolerance=tolerance, frame=used)
    fits = {kind: fit(sample, reader, tolerance=tolerance, frame=kind) for kind in get_args(FrameKind) if kind != used}
    best = max(fits, key=lambda kind: (fits[kind].hits, kind == own.kind))
    if fits[best].hits - chosen.hits > _PLAINLY * len(sample):
        yield (
            f"{chosen.hits} of {len(sample)} sampled answers hit with their numbers read as {said(used)}, and "
            f"{fits[best].hits} read as {said(best)}: is --frame {best} meant?"
        )
        return
    yield from _where(rows, sample, own, used)


def _where(rows: Sequence[Scored], sample: Sequence[Answered], own: Frame, used: str) -> Iterator[str]:
    """Where the numbers lie says that they count in another way, though no frame hits."""
    outside = [r for r in rows if r.failure is not None and r.failure.startswith("coordinates_out_of_range")]
    if len(outside) >= _NEARLY_ALL * len(rows):
        yield (
            f"{len(outside)} of {len(rows)} answers point off the picture, with their numbers read as {said(used)}; the "
            f"first: {(outside[0].failure or '').partition(': ')[2]}; --frame says how they count"
        )
        return
    points = [r.point for r in rows if r.point is not None]
    view = predictions.view(sample[0].gold, used)
    extent = grid.of(view, own).extent
    across, down = extent[0] / view.viewport.width, extent[1] / view.viewport.height
    if used not in ("px", "resized") or len(points) < _ENOUGH:
        return
    boxes = [one.gold.target for one in sample if one.gold.target is not None]
    highest = max(max(p.x * across, p.y * down) for p in points)
    for end, kind in ((1, "unit"), (1000, "thousand")):
        beyond = sum(box.center.x * across > end or box.center.y * down > end for box in boxes)
        if highest <= end and beyond > _PLAINLY * len(boxes):
            yield (
                f"no number of any point is above {end}, though {beyond} of {len(boxes)} sampled targets lie beyond, with "
                f"the numbers read as {said(used)}: is --frame {kind} meant?"
            )
            return


def said(frame: str) -> str:
    """A frame in words."""
    return {
        "px": "px of the picture",
        "resized": "px of the resized picture",
        "unit": "fractions of a side",
        "thousand": "thousandths of a side",
    }.get(frame, f"steps of {frame} to a side")
