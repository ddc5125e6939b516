"""Gates on the picture: it is there, decodes, fits its viewport, and shows the moment before the action."""

from __future__ import annotations

from cuadata import image
from cuadata.judging.judging import kept, rejected
from cuadata.recordings import ink
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.seeing import pictures
from cuadata.splitting.sequence import input_before
from cuadata.types import Image, Observation, Size, Step

#: Actions whose target a person has to see at the place where they act.
_AIMED = frozenset({"click", "double_click", "right_click", "hover", "drag", "type", "select"})
#: Elements that may well be empty where somebody acts on them.
_EMPTY_GROUND = frozenset({"canvas", "body", "html", "iframe", "video", "svg", "embed", "object"})


@gates.add
def screenshot_missing(candidate: Candidate) -> Verdict:
    """The step has a picture, and the file that holds it is there."""
    gate = "screenshot_missing"
    shot = candidate.example.image
    if not shot.sha256 or (candidate.observation is not None and candidate.observation.screenshot is None):
        notes = () if candidate.observation is None else candidate.observation.notes
        return rejected(gate, "screenshot_missing", notes=notes)
    if shot.data is None and shot.path is None:
        return rejected(gate, "screenshot_missing", picture=shot.sha256, why="neither bytes nor a path")
    if shot.data is None and _bytes(shot) is None:
        return rejected(gate, "missing_file", path=shot.path)
    return kept(gate)


@gates.add
def screenshot_undecodable(candidate: Candidate) -> Verdict:
    """The picture's bytes decode. A perceptual hash proves that they did when they were recorded; others are tried."""
    gate = "screenshot_undecodable"
    shot = candidate.example.image
    data = _bytes(shot)
    if data is None:
        return kept(gate, not_checked="there is no picture")
    try:
        image.header(data)
        if not shot.phash:
            pictures.load(data)
    except (image.BadImage, OSError) as error:
        return rejected(gate, "screenshot_undecodable", why=error, bytes=len(data))
    return kept(gate)


@gates.add
def screenshot_size_mismatch(candidate: Candidate) -> Verdict:
    """The picture is of the size that its record and its row state, read from its own bytes."""
    gate = "screenshot_size_mismatch"
    shot, example = candidate.example.image, candidate.example
    found = _size(shot)
    if found is None:
        return kept(gate, not_checked="there is no picture that can be read")
    stated = {(shot.width, shot.height), (example.image_width, example.image_height)}
    if stated != {(found.width, found.height)}:
        return rejected(gate, "screenshot_size_mismatch", picture=[found.width, found.height], stated=sorted(stated))
    return kept(gate)


@gates.add
def screenshot_scale_unknown(candidate: Candidate, *, slack: float = 1.0) -> Verdict:
    """The picture shows the whole viewport at one scale on both axes, within `slack` image px, so that boxes fall right."""
    gate = "screenshot_scale_unknown"
    example = candidate.example
    if not example.image.sha256:
        return kept(gate, not_checked="there is no picture")
    wide, tall = example.viewport_width, example.viewport_height
    sizes = {"picture": [example.image_width, example.image_height], "viewport": [wide, tall]}
    if min(wide, tall, example.image_width, example.image_height) < 1:
        return rejected(gate, "screenshot_scale_unknown", sizes=sizes)
    across, down = example.image_width / wide, example.image_height / tall
    # One scale must explain both sides up to rounding: each may be off by the slack at that scale.
    if abs(across * tall - example.image_height) > slack and abs(down * wide - example.image_width) > slack:
        return rejected(gate, "screenshot_scale_unknown", across=across, down=down, sizes=sizes)
    return kept(gate, scale=across)


@gates.add
def screenshot_after_action(candidate: Candidate, *, slack: float = 0.0) -> Verdict:
    """The picture was taken before the action began, by its time; `slack` is what the clocks may differ by, seconds."""
    gate = "screenshot_after_action"
    step, observation = candidate.step, candidate.observation
    if step is None or observation is None or not observation.time:
        return kept(gate, not_checked="the time of the picture or of the action is not known")
    late = observation.time - step.time
    if late > slack:
        return rejected(
            gate, "screenshot_after_action", picture_time=observation.time, action_time=step.time, late_by=late
        )
    return kept(gate)


@gates.add
def screenshot_stale(candidate: Candidate, *, ink_levels: float = 8.0) -> Verdict:
    """The picture is of the moment of the action: newer than the action before it, and showing something at the target.

    A target whose place in the picture is of one colour, up to `ink_levels` of 255 in any channel, is not in this picture:
    it was taken before the target came or after it went. Elements that may be empty, such as a canvas, are let through.
    """
    gate = "screenshot_stale"
    step, observation = candidate.step, candidate.observation
    if step is None or observation is None or observation.screenshot is None:
        return kept(gate, not_checked="there is no picture")
    earlier = input_before(candidate)
    if earlier is not None and observation.time and earlier.time > observation.time and not _same(earlier, observation):
        return rejected(
            gate,
            "screenshot_stale",
            picture_time=observation.time,
            action_before=earlier.time,
            step_before=earlier.index,
        )
    levels = _levels(step, observation)
    if levels is None:
        return kept(gate, not_checked="no target with a box that must show")
    if levels < ink_levels:
        return rejected(gate, "screenshot_stale", levels_at_target=levels, target=step.target)
    return kept(gate, levels_at_target=levels)


def _same(earlier: Step, observation: Observation) -> bool:
    """Whether both actions ride on one picture, which the gate multi_action_step judges."""
    one, other = earlier.observation.screenshot, observation.screenshot
    return one is not None and other is not None and one.sha256 == other.sha256


def _levels(step: Step, observation: Observation) -> float | None:
    """How much there is to see at the target, 0-255; None where nothing has to be seen, or the picture cannot be read."""
    target = step.target
    if target is None or target.bbox is None or step.action.type not in _AIMED or target.tag in _EMPTY_GROUND:
        return None
    if target.evidence.spread is not None:
        return target.evidence.spread
    if not observation.elements and not target.evidence.rects:
        return None  # an imported box: nobody measured the page that it stands on
    data = _bytes(observation.screenshot)
    if data is None or min(observation.viewport.width, observation.viewport.height) < 1:
        return None
    try:
        return ink.spread(pictures.load(data), target.bbox, observation.viewport)
    except (image.BadImage, OSError):
        return None


def _bytes(shot: Image | None) -> bytes | None:
    """The picture's bytes as they are, right or wrong; None where there are none."""
    if shot is None:
        return None
    if shot.data is not None:
        return shot.data
    try:
        with open(shot.path or "", "rb") as file:
            return file.read()
    except OSError:
        return None


def _size(shot: Image) -> Size | None:
    data = _bytes(shot)
    if data is None:
        return None
    try:
        _, width, height = image.header(data)
    except image.BadImage:
        return None
    return Size(width, height)
