"""From gestures to the steps of a recording: with what stood before and after, what changed, and without secrets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from cuadata import privacy, recording
from cuadata.browsing import aftermath
from cuadata.people.heard import Gesture
from cuadata.people.masking import Secrets, blackened
from cuadata.people.person_moments import Moment, Seen, look_back, point_at, target_of
from cuadata.types import Action, Effect, Element, Observation, Point, Size, Step

#: What stands for a number of this kind, by its usual length.
_LIKE = {"one_time_code": "000000", "card_number": "0" * 16}


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
    _clean: dict[int, tuple[Element, int, str | None, Element]] = field(default_factory=dict)
    _observed: list[tuple[Seen, int, Observation]] = field(default_factory=list)

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
        before = self.observation(seen)
        after = self.observation(draft.after) if draft.after is not None else None
        if gesture.type == "dialog":
            before = replace(before, dialogs=self.secrets.value(gesture.begin.data["dialogs"]))
        if gesture.corrected:
            words = f"typed_with_correction: {gesture.corrected} characters were typed and taken back"
            before = replace(before, notes=(*before.notes, words))
        number = self._number(gesture)
        action = action_of(gesture, seen, moment, target, number)
        action = self.secrets.value(action)
        if target is not None:
            target = next((e for e in before.elements if e.id == target.id), None) or self._element(target, seen)
        began = max(gesture.begin.time, before.time + 1e-6, self.last.time if self.last is not None else 0.0)
        step = Step(
            index=len(self.writer), time=began, observation=before, action=action, target=target, after=after,
            thought=self.secrets.text(draft.thought) if draft.thought else None,
            effect=self._effect(seen, draft.after, before, after, action) if draft.after is not None and after is not None else None,
        )  # fmt: skip
        self.writer.add(step)
        self.last = step
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

    def observation(self, seen: Seen) -> Observation:
        """An observation as it may be stored."""
        for held, epoch, clean in self._observed:
            if held is seen and epoch == self.secrets.epoch:
                return clean
        given = seen.observation
        bare: Observation = self.secrets.value(replace(given, elements=(), screenshot=None))
        masks = (*seen.masks, *self.secrets.showing(given.elements))
        shot = given.screenshot and blackened(given.screenshot, masks, given.viewport)
        elements = tuple(self._element(e, seen) for e in given.elements)
        kept = {id(e) for e in given.elements}
        self._clean = {key: held for key, held in self._clean.items() if key in kept}
        made = replace(bare, elements=elements, screenshot=shot)
        self._observed = [*self._observed[-2:], (seen, self.secrets.epoch, made)]
        return made

    def mask_again(self) -> int:
        """Take secrets that were learned late out of the steps that are on the disk; how many steps that changed.

        A page may show a secret before anybody types it: a password in a hint, a code in a mail.
        """
        if not any(self.secrets.repeats(text) for text in self.writer.texts()):
            return 0
        return self.writer.rewrite(self._again)

    def _again(self, record: Any) -> Any:
        """A stored record without the secrets that are known by now, also in the pictures of its observations."""
        clean = self.secrets.value(record)
        if not isinstance(record, Step) or clean is record:
            return clean
        after = None if record.after is None or clean.after is None else self._painted(record.after, clean.after)
        return replace(clean, observation=self._painted(record.observation, clean.observation), after=after)

    def _painted(self, held: Observation, clean: Observation) -> Observation:
        boxes = self.secrets.showing(held.elements)
        if not boxes or clean.screenshot is None:
            return clean
        return replace(clean, screenshot=blackened(clean.screenshot, boxes, clean.viewport))

    def _element(self, element: Element, seen: Seen) -> Element:
        kind = seen.kinds.get(element.id)
        held = self._clean.get(id(element))
        if held is not None and held[0] is element and held[1:3] == (self.secrets.epoch, kind):
            return held[3]
        clean = self.secrets.element(element, kind)
        self._clean[id(element)] = (element, self.secrets.epoch, kind, clean)
        return clean

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
            text = privacy.mask(gesture.secret, number, _LIKE.get(gesture.secret, ""))  # type: ignore[arg-type]
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
