"""From gestures to the steps of a recording: with what stood before and after, what changed, and without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from cuadata import privacy, recording
from cuadata.browsing import aftermath
from cuadata.masking.cleaning import LIKE, Cleaner
from cuadata.masking.fields import Seen
from cuadata.masking.secrets import Secrets
from cuadata.people.heard import Gesture
from cuadata.people.person_moments import Moment, look_back, point_at, target_of
from cuadata.types import Action, Effect, Element, Observation, Outcome, Point, Size, Step


@dataclass(slots=True, eq=False)
class Draft:
    """A gesture that is over and not written yet."""

    gesture: Gesture
    after: Annotated[Seen | None, "what stood once the page had settled"] = None
    thought: str | None = None


@dataclass(slots=True, eq=False)
class Steps:
    """Writes the steps of one recording."""

    writer: recording.Writer
    secrets: Secrets
    drafts: list[Draft] = field(default_factory=list)
    last: Annotated[Step | None, "the step that was written last"] = None
    _numbers: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _cleaner: Cleaner = field(init=False)

    def __post_init__(self) -> None:
        self._cleaner = Cleaner(self.secrets)

    def add(self, gesture: Gesture, thought: str | None) -> None:
        """A gesture is over."""
        self.drafts.append(Draft(gesture, thought=thought))

    def drop(self) -> bool:
        """Forget the last step, written or not; whether there was one."""
        if self.drafts:
            self.drafts.pop()
            return True
        if len(self.writer) and self.last is not None:
            self.writer.drop_last()
            self.last = None
            return True
        return False

    def __len__(self) -> int:
        return len(self.writer) + len(self.drafts)

    def prepare(self, draft: Draft) -> Seen:
        """What stood before a draft, put together where it has to be; on the loop, since it reads what looks leave."""
        moment: Moment = draft.gesture.begin.before
        seen = look_back(moment)
        if seen is None:
            size = moment.tab.page.viewport_size or {"width": 1280, "height": 720}
            note = "nothing could be measured before this input"
            seen = Seen(
                Observation(
                    screenshot=None, viewport=Size(size["width"], size["height"]), url=moment.tab.page.url, time=moment.time, notes=(note,)
                ),
                moment.tab,
                [],
            )  # fmt: skip
            moment.seen = seen
        return seen

    def write(self, draft: Draft, seen: Seen) -> Step:
        """Put a step on the disk; in a thread, since pictures are decoded, compared and encoded."""
        gesture, moment = draft.gesture, draft.gesture.begin.before
        target = target_of(seen, moment, gesture.begin.data.get("chain", ()))
        before = self._cleaner.observation(seen)
        after = self._cleaner.observation(draft.after) if draft.after is not None else None
        if gesture.type == "dialog":
            before = replace(before, dialogs=self.secrets.value(gesture.begin.data["dialogs"]))
        if gesture.corrected:
            words = f"typed_with_correction: {gesture.corrected} characters were typed and taken back"
            before = replace(before, notes=(*before.notes, words))
        number = self._number(gesture)
        action = action_of(gesture, seen, moment, target, number)
        action = self.secrets.value(action)
        if target is not None:
            target = next((e for e in before.elements if e.id == target.id), None) or self._cleaner.element(
                target, seen
            )
        began = max(gesture.begin.time, before.time + 1e-6, self.last.time if self.last is not None else 0.0)
        step = Step(
            index=len(self.writer), time=began, observation=before, action=action, target=target, after=after,
            thought=self.secrets.text(draft.thought) if draft.thought else None,
            effect=self._effect(seen, draft.after, before, after, action) if draft.after is not None and after is not None else None,
        )  # fmt: skip
        self.writer.add(step)
        self.last = step
        self._cleaner.stored(self.writer, entered=gesture.secret is not None, whole=gesture.secret != "one_time_code")
        return step

    @staticmethod
    def _effect(seen: Seen, later: Seen, before: Observation, after: Observation, action: Action) -> Effect:
        """What changed; where nobody can see it, what the page's scripts wrote into the document."""
        found = aftermath.effect_between(before, after, action)
        if (
            found.kind == "none"
            and seen.deeds
            and later.deeds
            and seen.deeds != later.deeds
            and seen.deeds.keys() <= later.deeds.keys()
        ):
            words = "the page's scripts wrote into the document where it does not show"
            return replace(found, kind="local", state=(words,), reason=words)
        return found

    def close(self, outcome: Outcome, instruction: str | None, notes: Sequence[str]) -> None:
        """End the recording; see `Cleaner.close`."""
        if outcome.ended == "discarded":
            self.writer.drop_all()
        self._cleaner.close(self.writer, outcome, instruction=instruction, notes=notes)

    def _number(self, gesture: Gesture) -> int:
        """Which secret of its kind a field is for: 1 for the first."""
        if gesture.secret is None:
            return 1
        key = (gesture.secret, *gesture.begin.place)
        same = sum(one[0] == gesture.secret for one in self._numbers)
        return self._numbers.setdefault(key, same + 1)


def action_of(gesture: Gesture, seen: Seen, moment: Moment, target: Element | None, number: int) -> Action:
    """The action of a gesture; what was typed into a field for a secret becomes a placeholder of the same kind."""
    kind = gesture.type
    element = target.id if target is not None and any(e.id == target.id for e in seen.observation.elements) else None
    text = gesture.text
    if kind == "type":
        text = "".join(gesture.typed)
        if gesture.secret is not None:
            text = privacy.mask(gesture.secret, number, LIKE.get(gesture.secret, ""))  # type: ignore[arg-type]
    elif kind == "select" and text is None:
        text = gesture.value
    pointed = kind in ("click", "double_click", "right_click", "hover", "drag", "scroll")
    point = point_at(seen, moment, gesture.point) if pointed else None
    end = _end_of(gesture, seen, moment) if kind == "drag" else None
    scroll = kind == "scroll"
    return Action(
        type=kind,
        point=point,
        end=end,
        element=element if kind not in ("navigate", "back", "forward", "reload", "switch_page", "dialog") else None,
        text=text,
        value=gesture.value,
        keys=gesture.keys,
        modifiers=gesture.modifiers,
        scroll_x=gesture.right if scroll else None,
        scroll_y=gesture.down if scroll else None,
        scroll_unit=gesture.unit if scroll else None,  # type: ignore[arg-type]
        files=gesture.files,
        url=gesture.url,
        page=gesture.page,
        accept=gesture.accept,
    )


def _end_of(gesture: Gesture, seen: Seen, moment: Moment) -> Point | None:
    """Where a drag ended. A drop tells a place in the view of its process, which is the top-level one unless a frame has its own."""
    frame = moment.frame or (moment.tab.frames.held(moment.frame_id) if moment.tab.frames is not None else None)
    if gesture.dropped and frame is not None and frame.session is moment.tab.session:
        return gesture.end
    return point_at(seen, moment, gesture.end)
