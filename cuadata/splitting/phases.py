"""Phases of a trajectory, found from evidence: what an input went to, what vanished, what was typed and sent.

`dismiss` is an input to an overlay that is not the task's own; `reason` the one thought where the last dismissal gives way
to the task, if anybody thought there; `enter` typing and the key or click that submits it; `act` everything else.
"""

from __future__ import annotations

from urllib.parse import urldefrag

from cuadata.splitting import overlays
from cuadata.splitting.overlays import Key
from cuadata.splitting.recovery import WITHOUT_INPUT, after_of
from cuadata.splitting.thoughts import is_thought, said
from cuadata.types import Element, Observation, Phase, Step, Trajectory

_POINTER = frozenset({"click", "double_click", "right_click", "hover", "drag", "scroll"})
_ENTRIES = frozenset({"type", "select", "upload"})
_TEXT_ROLES = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
_EDITING = frozenset({"Backspace", "Delete"})
#: Roles besides buttons that submit what was typed just before: a link dressed as a button, a suggestion, a picture.
_SUBMITTING = frozenset({"link", "image", "generic", "menuitem", "option"})
_TOGGLES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option", "slider"})


def phases(trajectory: Trajectory) -> tuple[Phase | None, ...]:
    """The phase of every step, in order. None for a recorded thought that is not the one reason of the trajectory.

    With a Task whose controls are bound, an input to any other overlay is a dismissal. Without one, an overlay is
    dismissed by the inputs to it when it vanishes and no value that was given in it is kept.
    """
    steps = trajectory.steps
    dismissed = _dismissed(trajectory)
    found: list[Phase | None] = []
    entry = _Entry()
    for i, step in enumerate(steps):
        if step.action.type == "reason":
            found.append(None)
        elif dismissed[i]:
            found.append("dismiss")
        else:
            found.append("enter" if entry.takes(step, after_of(steps, i)) else "act")
    at = reason_at(steps, found)
    if at is not None and steps[at].action.type == "reason":
        found[at] = "reason"
    return tuple(found)


def reason_at(steps: tuple[Step, ...], found: list[Phase | None] | tuple[Phase | None, ...]) -> int | None:
    """Where the trajectory's one reason stands: the position of the step whose picture it shares.

    That is a recorded thought between the last dismissal and the first input of the task after it, the last of several, or
    that first input itself where its step says what was thought. None where nobody said anything: a reason without words
    would put two answers to one prompt, and one of them would say nothing.
    """
    inputs = [i for i, step in enumerate(steps) if step.action.type not in WITHOUT_INPUT]
    ours = [i for i in inputs if found[i] in ("act", "enter")]
    if not ours:
        return None
    gave_way = [i for i in inputs if found[i] == "dismiss" and i < ours[-1]]
    start = next(i for i in ours if not gave_way or i > gave_way[-1])
    first = gave_way[-1] + 1 if gave_way else 0
    thoughts = [i for i in range(first, start) if is_thought(steps[i])]
    if thoughts:
        return thoughts[-1]
    return start if said(steps[start].thought) else None


def _dismissed(trajectory: Trajectory) -> list[bool]:
    """For every step whether it is a dismissal."""
    steps, task = trajectory.steps, trajectory.task
    if task is not None and overlays.binds(task):
        views = [step.observation for step in steps] + [step.after for step in steps[-1:] if step.after is not None]
        own = overlays.bound_overlays(task, views)
        spoken = any(move.action.type == "dialog" for move in task.solution)
        found = [_dismisses(steps, i, own, spoken) for i in range(len(steps))]
    else:
        found = _vanished_for_nothing(steps)
    _waits_follow(steps, found)
    return found


def _dismisses(steps: tuple[Step, ...], i: int, own: set[Key], spoken: bool) -> bool:
    """Whether an input goes to an overlay that the task does not bind, or makes one go away."""
    step = steps[i]
    if step.action.type == "dialog":
        return not spoken
    if step.action.type in WITHOUT_INPUT or step.action.type == "wait":
        return False
    around = overlays.around(step)
    if around:
        laid_over = [o for o in around if o.role not in overlays.POPUPS]
        ours = any(overlays.key(o) in own for o in around)
        return not ours and bool(laid_over) and _is_in_the_way(laid_over[0], steps, i)
    later = after_of(steps, i)
    if later is None or not _hits_nothing(step):
        return False
    gone = _gone(step.observation, later)
    return bool(gone) and not any(name in own for name in gone)


def _is_in_the_way(overlay: Element, steps: tuple[Step, ...], i: int) -> bool:
    """A dialog by role, or something laid over the page that goes away sooner or later; a bar that stays is no overlay."""
    return overlay.role in overlays.DIALOGS or _vanishes_at(overlays.key(overlay), steps, i) is not None


def _hits_nothing(step: Step) -> bool:
    """Escape, or a pointer on what takes no input of its own, such as the veil beside a dialog."""
    if step.action.type == "press":
        return "Escape" in step.action.keys
    target = overlays.target_of(step)
    return step.action.type in _POINTER and step.action.type != "scroll" and (target is None or not target.interactive)


def _gone(before: Observation, later: Observation) -> set[Key]:
    held = {name for name, e in overlays.open_overlays(before).items() if e.role not in overlays.POPUPS}
    return held - set(overlays.open_overlays(later))


def _vanishes_at(name: Key, steps: tuple[Step, ...], i: int) -> int | None:
    """The first step from i on after which the overlay is gone from this page; None where it stays or nobody looked.

    What went because another page was opened was not dismissed.
    """
    address = urldefrag(steps[i].observation.url).url
    for k in range(i, len(steps)):
        later = after_of(steps, k)
        if later is not None and urldefrag(later.url).url != address:
            return None
        if later is not None and name not in overlays.open_overlays(later):
            return k
    return None


def _vanished_for_nothing(steps: tuple[Step, ...]) -> list[bool]:
    """Dismissals without a task: all inputs to an overlay, from the first on, until it vanishes with no value kept."""
    found = [False] * len(steps)
    judged: set[tuple[Key, int]] = set()  # an overlay until it vanishes is judged once, from the first input to it
    for i, step in enumerate(steps):
        if step.action.type in WITHOUT_INPUT:
            continue
        if step.action.type == "dialog":
            found[i] = not step.action.accept or any(d.type == "alert" for d in step.observation.dialogs)
            continue
        for name in _overlays_of(steps, i):
            end = _vanishes_at(name, steps, i)
            if end is None or (name, end) in judged:
                continue
            judged.add((name, end))
            if not _called_up(name, steps, i) and not _kept(name, steps, i, end):
                for k in range(i, end + 1):
                    found[k] = found[k] or k == i or name in map(overlays.key, overlays.around(steps[k]))
    if all(done or step.action.type in (*WITHOUT_INPUT, "wait") for done, step in zip(found, steps, strict=True)):
        return [False] * len(steps)  # nothing is left that the dismissals could have given way to: they are the task
    return found


def _overlays_of(steps: tuple[Step, ...], i: int) -> list[Key]:
    """The overlays that an input went to, or made go away by going to nothing."""
    names = [overlays.key(o) for o in overlays.around(steps[i])]
    later = after_of(steps, i)
    if names or later is None or not _hits_nothing(steps[i]):
        return names
    return sorted(_gone(steps[i].observation, later), key=repr)


def _called_up(name: Key, steps: tuple[Step, ...], i: int) -> bool:
    """Whether the actor opened the overlay to use it: a pop-up by role, or what a control of the page unfolded."""
    overlay = overlays.open_overlays(steps[i].observation).get(name)
    if overlay is None or overlay.role in overlays.POPUPS:
        return True
    for k in range(i - 1, -1, -1):
        if name not in overlays.open_overlays(steps[k].observation):
            opener = overlays.target_of(steps[k])
            if opener is None or overlays.around(steps[k]):
                return False
            return overlay.role not in overlays.DIALOGS or opener.states.expanded is not None
    return False


def _kept(name: Key, steps: tuple[Step, ...], first: int, last: int) -> bool:
    """Whether something given in the overlay outlives it: typed, chosen, shown elsewhere, or another page opened."""
    for step in steps[first : last + 1]:
        inside = name in map(overlays.key, overlays.around(step))
        target = overlays.target_of(step)
        if inside and (step.action.type in _ENTRIES or (target is not None and target.role in _TOGGLES)):
            return True
    later = after_of(steps, last)
    before = steps[first].observation
    if later is None:
        return False
    if urldefrag(before.url).url != urldefrag(later.url).url:
        return True
    old, new = _values(before, name), _values(later, name)
    return any(new[place] != value for place, value in old.items() if place in new)


def _values(observation: Observation, without: Key) -> dict[Key, object]:
    """States that hold a value, of all elements outside one overlay."""
    by_id = overlays.elements_by_id(observation)
    found: dict[Key, object] = {}
    for e in observation.elements:
        if without not in map(overlays.key, overlays.chain(e, by_id)):
            found[overlays.key(e)] = (e.states.value, e.states.checked, e.states.selected, e.states.pressed)
    return found


def _waits_follow(steps: tuple[Step, ...], found: list[bool]) -> None:
    """A wait before a dismissal waits for what is dismissed."""
    for i in range(len(steps) - 2, -1, -1):
        if steps[i].action.type == "wait":
            found[i] = found[i + 1]


class _Entry:
    """Follows what was typed until it is submitted."""

    def __init__(self) -> None:
        self._fields: dict[Key, str | None] = {}  # field -> its value once typed
        self._just_typed = False
        self._dialog: int | None = None

    def takes(self, step: Step, later: Observation | None) -> bool:
        """Whether this step is part of entering text: typing it, mending it, submitting it."""
        target = overlays.target_of(step)
        if step.action.type == "type" or self._edits(step, target):
            self._note(target, later)
            return True
        if step.action.type in ("wait", "scroll", "hover", "reason"):
            return False
        submits = bool(self._fields or self._just_typed) and self._submits(step, target, later)
        self._just_typed = False
        if submits:
            self._fields.clear()
        return submits

    def _note(self, target: Element | None, later: Observation | None) -> None:
        self._just_typed = True
        self._dialog = None if target is None else target.dialog
        if target is not None:
            self._fields[overlays.key(target)] = _value(later, overlays.key(target))

    def _edits(self, step: Step, target: Element | None) -> bool:
        if step.action.type != "press" or target is None or target.role not in _TEXT_ROLES:
            return False
        others = [key for key in step.action.keys if key not in ("Control", "Meta", "Shift")]
        held = "Control" in step.action.keys or "Meta" in step.action.keys
        return any(key in _EDITING or len(key) == 1 for key in others) and (not held or others[0] in "acvxzy")

    def _submits(self, step: Step, target: Element | None, later: Observation | None) -> bool:
        if step.action.type == "press":
            return "Enter" in step.action.keys
        if step.action.type not in ("click", "double_click") or target is None:
            return False
        if target.role != "button" and not (self._just_typed and target.role in _SUBMITTING):
            return False
        if self._consumed(step, later):
            return True
        # A wrong code may leave everything in place. What then tells is a button, pressed at once, in the same box.
        beside = self._just_typed and target.role == "button" and target.dialog == self._dialog
        return beside and not _opens(step, target, later)

    def _consumed(self, step: Step, later: Observation | None) -> bool:
        """Whether what was typed is gone from its field, or the field from the page."""
        if later is None:
            return False
        if urldefrag(step.observation.url).url != urldefrag(later.url).url:
            return True
        there = {overlays.key(e): e.states.value for e in later.elements if overlays.is_there(e)}
        return any(name not in there or there[name] != value for name, value in self._fields.items())


def _value(observation: Observation | None, name: Key) -> str | None:
    if observation is None:
        return None
    return next((e.states.value for e in observation.elements if overlays.key(e) == name), None)


def _opens(step: Step, target: Element, later: Observation | None) -> bool:
    """Whether a click unfolded something: an overlay that was not there, or the control's own disclosure."""
    if target.states.expanded is not None:
        return True
    return later is not None and bool(
        set(overlays.open_overlays(later)) - set(overlays.open_overlays(step.observation))
    )
