"""Records as they may be stored: without secrets in their texts, and with pictures in which nothing shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cuadata import recording
from cuadata.errors import DiskError
from cuadata.masking.fields import Seen
from cuadata.masking.secrets import Secrets, blackened
from cuadata.types import Element, Observation, Outcome, Step

#: What stands for a number of this kind, by its usual length.
LIKE = {"one_time_code": "000000", "card_number": "0" * 16}


@dataclass(slots=True, eq=False)
class Cleaner:
    """Cleans the observations of one recording; what it has cleaned is remembered for as long as no secret was learned."""

    secrets: Secrets
    _clean: dict[int, tuple[Element, int, str | None, Element]] = field(default_factory=dict)
    _observed: list[tuple[Seen, int, Observation]] = field(default_factory=list)
    _entered: bool = False
    _again_masked: int = 0

    def observation(self, seen: Seen) -> Observation:
        """An observation as it may be stored."""
        for held, epoch, clean in self._observed:
            if held is seen and epoch == self.secrets.epoch:
                return clean
        given = seen.observation
        bare: Observation = self.secrets.value(replace(given, elements=(), screenshot=None))
        masks = (*seen.masks, *self.secrets.showing(given.elements))
        shot = given.screenshot and blackened(given.screenshot, masks, given.viewport)
        elements = tuple(self.element(e, seen) for e in given.elements)
        kept = {id(e) for e in given.elements}
        self._clean = {key: held for key, held in self._clean.items() if key in kept}
        made = replace(bare, elements=elements, screenshot=shot)
        self._observed = [*self._observed[-2:], (seen, self.secrets.epoch, made)]
        return made

    def element(self, element: Element, seen: Seen) -> Element:
        """An element of an observation as it may be stored."""
        kind = seen.kinds.get(element.id)
        held = self._clean.get(id(element))
        if held is not None and held[0] is element and held[1:3] == (self.secrets.epoch, kind):
            return held[3]
        clean = self.secrets.element(element, kind)
        self._clean[id(element)] = (element, self.secrets.epoch, kind, clean)
        return clean

    def close(
        self, writer: recording.Writer, outcome: Outcome, *, instruction: str | None = None, notes: Sequence[str] = ()
    ) -> None:
        """End a recording; what nobody knew to be a secret when it was written is masked now.

        DiskError where the disk does not take that: the recording has no outcome then, or still shows the secret.
        """
        told = list(notes)
        shown: DiskError | None = None
        try:
            self.mask_again(writer)
        except (DiskError, OSError) as error:
            words = f"its steps show a secret that was typed later, and cannot be masked ({error}); delete this folder"
            shown = DiskError(words, place=str(writer.path))
            told.append(words)
        if self._again_masked:
            told.append(
                f"{self._again_masked} steps showed a secret before it was known to be one; they were masked then"
            )
        clean = self.secrets.value(tuple(dict.fromkeys(told)))
        try:
            writer.close(self.secrets.value(outcome), instruction=instruction, notes=clean)
        finally:
            if shown is not None:
                raise shown

    def stored(self, writer: recording.Writer, *, entered: bool, whole: bool = True) -> None:
        """Call it when a step is on the disk: what shows a secret that was just entered is masked at once.

        A recorder that is killed leaves no such step then. `whole` is False for a part of a secret, a key or a digit, whose
        letters could be any word's: it is looked for when the entering has ended. DiskError where that cannot be written.
        """
        self._entered = self._entered or entered
        if self._entered and (whole or not entered):
            self._entered = False
            self.mask_again(writer)

    def mask_again(self, writer: recording.Writer) -> None:
        """Take secrets that were learned late out of what is on the disk.

        A page may show a secret before anybody types it: a password in a hint, a code in a mail.
        """
        if any(self.secrets.repeats(text) for text in writer.texts()):
            self._again_masked += writer.rewrite(self._again)

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
