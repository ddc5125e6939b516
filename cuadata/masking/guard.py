"""Keeps secrets out of the recording of a script: what it types into a field for them, and what the page makes of that."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata import privacy, recording
from cuadata.browsing.frames import FrameGone
from cuadata.browsing.loop import Stuck
from cuadata.browsing.measure import Measured
from cuadata.browsing.tab import Tab
from cuadata.browsing.voices import Voices
from cuadata.masking import fields
from cuadata.masking.cleaning import LIKE, Cleaner
from cuadata.masking.fields import Seen, with_masks
from cuadata.masking.secrets import Secrets
from cuadata.seeing.differences import differences, subject
from cuadata.types import Action, Effect, Observation, Outcome, Step

if TYPE_CHECKING:
    from playwright.async_api import Page as Tabbed

    from cuadata.browsing.page_session import AsyncPage

#: Modifiers that make a character no text.
_COMMANDS = frozenset(("Control", "Alt", "Meta"))
#: Said of a field for secrets whose value changed from one thing that is masked to another.
_CHANGED = "what stands in a field for a secret changed"


@cache
def script() -> str:
    """What runs in every document."""
    return "\n".join((fields.script(), (Path(__file__).parent / "watch.js").read_text()))


@dataclass(eq=False)
class Guard:
    """Watches the pages that a script acts on, and cleans its steps; `begin` runs on the browser's loop, the rest anywhere."""

    page: AsyncPage
    secrets: Secrets = field(default_factory=Secrets)
    instruction: str = ""
    _cleaner: Cleaner = field(init=False)
    _recent: deque[Seen] = field(default_factory=lambda: deque(maxlen=16))
    _kinds: dict[int, str] = field(default_factory=dict)
    _numbers: dict[tuple[str, int | None], int] = field(default_factory=dict)
    _voices: list[Voices] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._cleaner = Cleaner(self.secrets)

    async def begin(self, instruction: str) -> None:
        """Watch the page from now on, and those that it opens."""
        self.instruction = instruction
        self.page.observed = self._look
        for tab in list(self.page.windows.tabs):
            await self._attend(tab)
        self.page.context.on("page", self._on_page)

    def _on_page(self, page: Tabbed) -> None:
        with contextlib.suppress(Exception):
            tab = next(t for t in self.page.windows.tabs if t.page is page)
            self._voices[0].later(self._attend(tab))

    async def _attend(self, tab: Tab) -> None:
        voices = Voices(tab, script(), self._hear)
        self._voices.append(voices)
        with contextlib.suppress(FrameGone, Stuck, TimeoutError):
            await voices.begin()
            await voices.reach()

    def _hear(self, tab: Tab, frame_id: str, message: dict[str, Any]) -> None:
        if message["kind"] == "secret":
            self.secrets.learn(message["value"], message["of"])

    def _look(self, observation: Observation, tab: Tab, held: list[Measured]) -> None:
        seen = with_masks(Seen(observation, tab, list(held)))
        self._kinds.update(seen.kinds)
        self._recent.append(seen)
        # Ahead of the step, while its pictures are compared in another thread; done again where a secret is learned meanwhile.
        self._cleaner.observation(seen)

    # --- what is stored ---------------------------------------------------------------------------------------------

    def step(self, step: Step) -> Step:
        """A step as it may be stored. What was typed into a field for a secret is known from then on."""
        kind = self._kind(step)
        if kind is not None and step.action.type == "type" and step.action.text:
            self._learn(step.action.text, kind)
        seen = self._seen(step.observation)
        before = self._cleaner.observation(seen)
        after = None
        if step.after is not None:
            after = before if step.after is step.observation else self._cleaner.observation(self._seen(step.after))
        target = step.target
        if target is not None:
            target = next((e for e in before.elements if e.id == target.id), None) or self._cleaner.element(
                target, seen
            )
        action = step.action if kind is None else self._placeholder(step.action, kind, self._field(step))
        effect = step.effect and self._effect(step.effect, step, before, after)
        bare: Step = self.secrets.value(
            replace(step, observation=replace(before, elements=()), after=None, target=None, effect=None, action=action)
        )
        return replace(bare, observation=before, after=after, target=target, effect=effect)

    def stored(self, writer: recording.Writer, step: Step) -> None:
        """What is on the disk shows nothing of the secret that this step entered; see `Cleaner.stored`."""
        entered, text = self._kind(step) is not None, step.action.text or ""
        self._cleaner.stored(writer, entered=entered, whole=step.action.type == "type" and len(text) > 1)

    def text(self, text: str) -> str:
        """A text without secrets, for whoever shows it."""
        return self.secrets.text(text)

    def instructed(self) -> str:
        """The instruction without the secrets that are known, and those that it calls so."""
        return self.secrets.text(privacy.masked(self.instruction, ("password", "token", "api_key", "private_key")))

    def close(self, writer: recording.Writer, outcome: Outcome) -> None:
        """End a recording; what nobody knew to be a secret when it was written is masked now."""
        self._cleaner.close(writer, outcome)

    def _seen(self, observation: Observation) -> Seen:
        """What is known of an observation; of one that was put together from others, by its elements."""
        for held in reversed(self._recent):
            if held.observation is observation:
                return held
            if held.observation.elements is observation.elements:
                return Seen(observation, held.tab, held.held, held.masks, held.kinds)
        boxes = tuple(e.bbox for e in observation.elements if e.id in self._kinds and e.bbox is not None)
        return Seen(observation, self.page.windows.tabs[0], [], boxes, self._kinds)

    def _field(self, step: Step) -> int | None:
        """The element that keys go to, by id."""
        held = (step.action.element, step.target.id if step.target is not None else None, step.observation.focused)
        return next((id for id in held if id is not None), None)

    def _kind(self, step: Step) -> str | None:
        """The kind of secret that an action enters; None for others. Where nobody knows the field, typing may be one."""
        action = step.action
        if action.type == "press":
            if not _types(action):
                return None
        elif action.type != "type":
            return None
        field_id = self._field(step)
        if action.type == "type" and step.target is None and step.error is not None:
            return "password"
        return self._kinds.get(field_id) if field_id is not None else None

    def _learn(self, text: str, kind: str) -> None:
        # A line break is Enter in a field of one line, which keeps what stands before it.
        for part in text.split("\n"):
            self.secrets.learn(part, kind)  # type: ignore[arg-type]

    def _placeholder(self, action: Action, kind: str, into: int | None) -> Action:
        """The action with a placeholder of the same kind; a key that enters a character is typing like any other."""
        key = (kind, into)
        number = self._numbers.setdefault(key, 1 + sum(one[0] == kind for one in self._numbers))
        text = privacy.mask(kind, number, LIKE.get(kind, ""))  # type: ignore[arg-type]
        if action.type == "press":
            return replace(action, type="type", keys=(), text=text)
        return replace(action, text=text)

    def _effect(self, effect: Effect, step: Step, before: Observation, after: Observation | None) -> Effect:
        """What changed, without what it says of values in fields for secrets."""
        hidden: dict[str, str] = {}
        if effect.state and after is not None and step.after is not None:
            private = {subject(e) for o in (step.observation, step.after) for e in o.elements if e.id in self._kinds}
            # Nothing private was seen: what changed need not be found out again, twice.
            told = {(d.kind, d.subject): d.text for d in differences(before, after)} if private else {}
            for one in differences(step.observation, step.after) if private else ():
                if one.subject in private:
                    hidden[one.text] = told.get((one.kind, one.subject), _CHANGED)
        reason = effect.reason
        for text, instead in hidden.items():
            reason = reason.replace(text, instead)
        state = tuple(dict.fromkeys(hidden.get(text, text) for text in effect.state))
        clean: Effect = self.secrets.value(replace(effect, state=state, reason=reason))
        return clean


def _types(action: Action) -> bool:
    """Whether keys enter a character."""
    return (
        bool(action.keys)
        and not _COMMANDS & set(action.keys)
        and (len(action.keys[-1]) == 1 or action.keys[-1] == "Space")
    )
