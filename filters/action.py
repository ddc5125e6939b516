"""Gates on the action and its place in the trajectory: one real input that worked, in order, with its history whole."""

from __future__ import annotations

import math
from itertools import pairwise
from urllib.parse import urldefrag

from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, nothing_told, rejected, told
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.speaking import keys
from cuadata.splitting.recovery import WITHOUT_INPUT, happened, same_action
from cuadata.splitting.sequence import in_order, input_before, steps_before
from cuadata.types import Action, Point, Step, Trajectory

#: Shortest drag, CSS px; below it a press that slipped is a click.
SHORTEST_DRAG = 4.0
_POINTER = frozenset({"click", "double_click", "right_click", "hover", "drag"})


@gates.add
def action_failed(candidate: Candidate) -> Verdict:
    """The action went through: its step has no error."""
    error = candidate.step.error if candidate.step is not None else None
    if error is not None:
        return rejected("action_failed", "action_failed", error=error)
    return kept("action_failed")


@gates.add
def coordinates_out_of_range(candidate: Candidate) -> Verdict:
    """Every point of the action is a pair of numbers inside the viewport, and the target's box is of finite numbers."""
    gate = "coordinates_out_of_range"
    example = candidate.example
    for name, point in (("point", example.action.point), ("end", example.action.end)):
        if point is not None and not _inside(point, example.viewport_width, example.viewport_height):
            viewport = [example.viewport_width, example.viewport_height]
            return rejected(gate, "coordinates_out_of_range", which=name, point=point, viewport=viewport)
    box = example.target.bbox if example.target is not None else None
    if box is not None and not all(map(math.isfinite, (box.x, box.y, box.width, box.height))):
        return rejected(gate, "coordinates_out_of_range", which="target", box=box)
    return kept(gate)


@gates.add
def action_unsupported(candidate: Candidate, *, kinds: tuple[str, ...] = ()) -> Verdict:
    """The action is complete, so that it could be carried out, and of no kind in `kinds`, which the dataset leaves out."""
    gate = "action_unsupported"
    action = candidate.example.action
    if action.type in kinds:
        return rejected(gate, "action_unsupported", type=action.type)
    lacks = _lacks(action)
    if lacks:
        return rejected(gate, "action_unsupported", type=action.type, lacks=lacks)
    return kept(gate)


@gates.add
def not_an_input(candidate: Candidate) -> Verdict:
    """Somebody did something: a wait counts only if the page changed meanwhile.

    A source that knows better says so in the notes of the observation: `not_an_input: assertion of a test`.
    """
    gate = "not_an_input"
    note = told(candidate, "not_an_input")
    if note is not None:
        return rejected(gate, "not_an_input", type=candidate.example.action.type, note=note)
    if candidate.example.action.type == "wait" and not _changed(candidate.step):
        return rejected(gate, "not_an_input", type="wait", effect=candidate.example.effect)
    return kept(gate)


@gates.add
def script_triggered(candidate: Candidate) -> Verdict:
    """A person or a model did it: no navigation to where the page already is, no page that was switched to by itself.

    A source that knows better says so in the notes of the observation: `script_triggered: userTriggered is false`.
    """
    gate = "script_triggered"
    note = told(candidate, "script_triggered")
    if note is not None:
        return rejected(gate, "script_triggered", note=note)
    action, observation = candidate.example.action, candidate.observation
    if action.type != "navigate" or not action.url or observation is None or input_before(candidate) is None:
        return kept(gate)
    if urldefrag(action.url).url == urldefrag(observation.url).url:
        return rejected(gate, "script_triggered", url=action.url, why="the page was there already")
    return kept(gate)


@gates.add
def multi_action_step(candidate: Candidate) -> Verdict:
    """One picture, one action: only the first of several actions on one picture, unless the earlier ones moved nothing."""
    gate = "multi_action_step"
    earlier, observation = input_before(candidate), candidate.observation
    if earlier is None or observation is None:
        return kept(gate)
    one, other = earlier.observation.screenshot, observation.screenshot
    if one is None or other is None or one.sha256 != other.sha256 or happened(earlier) is False:
        return kept(gate)
    if observation.time and observation.time > earlier.time:
        return kept(gate, picture_time=observation.time, action_before=earlier.time)
    return rejected(
        gate,
        "multi_action_step",
        picture=other.sha256,
        step_before=earlier.index,
        picture_time=observation.time or None,
    )


@gates.add
def instruction_missing(candidate: Candidate) -> Verdict:
    """There is an instruction, with at least one letter or digit in it."""
    if not any(character.isalnum() for character in candidate.example.instruction):
        return rejected("instruction_missing", "instruction_missing", instruction=candidate.example.instruction)
    return kept("instruction_missing")


@gates.add
def history_gap(candidate: Candidate, *, history: int = 5) -> Verdict:
    """No step is missing between this one and the `history` actions that are told with it, and none has its number."""
    gate = "history_gap"
    before, step = steps_before(candidate), candidate.step
    if before is None or step is None:
        return kept(gate, not_checked="it came without its trajectory")
    if any(earlier.index == step.index for earlier in before):
        return rejected(gate, "history_gap", again=step.index)
    told, following = 0, step.index
    for earlier in reversed(before):
        if told == history:
            return kept(gate)
        if earlier.index != following - 1:
            return rejected(gate, "history_gap", missing=[earlier.index + 1, following - 1], step=step.index)
        following = earlier.index
        told += earlier.action.type not in WITHOUT_INPUT
    if told < history and following > 0:
        return rejected(gate, "history_gap", missing=[0, following - 1], step=step.index)
    return kept(gate)


@gates.add
def time_not_monotonic(candidate: Candidate) -> Verdict:
    """Time never went back up to this step. From where it does, order and history are not to be trusted any more."""
    gate = "time_not_monotonic"
    before, step = steps_before(candidate), candidate.step
    if before is None or step is None:
        return kept(gate, not_checked="it came without its trajectory")
    for one, other in pairwise((*before, step)):
        if other.time < one.time:
            return rejected(gate, "time_not_monotonic", at_step=other.index, time=other.time, time_before=one.time)
    return kept(gate)


@gates.add
def duplicate_event(candidate: Candidate, *, within: float = 0.02) -> Verdict:
    """The input is no echo of the one before: the same action on the same picture, at most `within` seconds later."""
    gate = "duplicate_event"
    earlier, step = input_before(candidate), candidate.step
    if earlier is None or step is None or step.action.type in WITHOUT_INPUT:
        return kept(gate)
    one, other = earlier.observation.screenshot, step.observation.screenshot
    same_picture = one is not None and other is not None and one.sha256 == other.sha256
    if same_picture and same_action(earlier.action, step.action, near=1.0) and 0 <= step.time - earlier.time <= within:
        return rejected(gate, "duplicate_event", step_before=earlier.index, apart=step.time - earlier.time)
    return kept(gate)


@clears(
    *("action_failed", "action_unsupported", "not_an_input", "script_triggered", "multi_action_step", "history_gap"),
    *("coordinates_out_of_range", "instruction_missing", "time_not_monotonic", "duplicate_event"),
)
def done_in_turn(candidate: Candidate) -> bool:
    """A whole action of somebody, on a picture that the input before it did not have, in a trajectory without a gap."""
    example, step, whole = candidate.example, candidate.step, candidate.trajectory
    if step is None or step.error is not None or whole is None or not nothing_told(candidate):
        return False
    action, box = example.action, example.target.bbox if example.target is not None else None
    if action.type in ("wait", "navigate") or _lacks(action):
        return False
    wide, tall = example.viewport_width, example.viewport_height
    if action.point is not None and not _inside(action.point, wide, tall):
        return False
    if action.end is not None and not _inside(action.end, wide, tall):
        return False
    if box is not None and not math.isfinite(box.x + box.y + box.width + box.height):
        return False
    return any(map(str.isalnum, example.instruction)) and _follows(candidate, step, whole)


def _follows(candidate: Candidate, step: Step, whole: Trajectory) -> bool:
    """Whether a step stands in its place, later than the one before it, and on another picture than the input before it."""
    at, steps = step.index, whole.steps
    if not (0 <= at < len(steps) and in_order(whole) and step.observation is candidate.observation):
        return False
    if at == 0:
        return True
    earlier, shot = input_before(candidate), step.observation.screenshot
    before = earlier.observation.screenshot if earlier is not None else None
    return step.time >= steps[at - 1].time and (before is None or shot is None or before.sha256 != shot.sha256)


def _changed(step: Step | None) -> bool:
    """Whether the page changed during a step: by its measured effect, else by whether the picture is another one."""
    if step is None:
        return False
    known = happened(step)
    if known is not None or step.after is None:
        return bool(known)
    one, other = step.observation.screenshot, step.after.screenshot
    return one is not None and other is not None and one.sha256 != other.sha256


def _inside(point: Point, width: int, height: int) -> bool:
    return 0 <= point.x < width and 0 <= point.y < height  # false for NaN as well


def _lacks(action: Action) -> str:
    """What an action of this type cannot do without; empty where it is complete."""
    kind = action.type
    if kind in _POINTER and action.point is None and action.element is None:
        return "a point or an element"
    if kind == "drag":
        if action.end is None:
            return "an end"
        if action.point is not None and math.dist(_pair(action.point), _pair(action.end)) < SHORTEST_DRAG:
            return f"a way of at least {SHORTEST_DRAG:g} px"
    if kind in _POINTER:
        return ""
    if kind == "press" and (not action.keys or not all(map(keys.is_key, action.keys))):
        return "keys in the spelling of browsers"
    if kind == "scroll" and (not (action.scroll_x or action.scroll_y) or action.scroll_unit is None):
        return "an amount with its unit"
    needs = {
        "type": (action.text is not None, "a text"),
        "select": (action.text is not None or action.value is not None, "an option"),
        "upload": (bool(action.files), "files"),
        "navigate": (bool(action.url), "an address"),
        "switch_page": (action.page is not None, "a page"),
        "dialog": (action.accept is not None, "an answer"),
    }
    there, what = needs.get(kind, (True, ""))
    return "" if there else what


def _pair(point: Point) -> tuple[float, float]:
    return point.x, point.y
