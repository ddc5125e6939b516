"""One prompt, several answers: rows of `actions` that a model sees the same of and is asked different things.

Some are alternatives, such as boxes that may be ticked in any order. The rest are contradictions: nothing in the prompt
tells them apart, and no model can learn both. A build counts them, so that either shows.
"""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import fields
from typing import Annotated, Final

import msgspec

from cuadata.rows import Example
from cuadata.types import Action

#: What an action says; an element's number is of one observation, and a point one of many where the target says where.
_SAID: Final = tuple(one.name for one in fields(Action) if one.name not in ("element", "point"))


class Key(msgspec.Struct, frozen=True):
    """What a row asks and what it answers, as hashes of 64 bits."""

    prompt: Annotated[int, "of the picture's bytes, the instruction, the history and the injected lines"]
    answer: Annotated[int, "of the action and its target; points of one target are one answer"]


def key(example: Example) -> Key:
    """The key of a row of `actions`."""
    folded = " ".join(example.instruction.split())
    prompt = (example.image.sha256, folded, example.history, tuple((c.kind, c.text) for c in example.context))
    place = example.target.locator if example.target is not None else None
    done = tuple(getattr(example.action, name) for name in _SAID)
    return Key(_hash(prompt), _hash((done, example.action.point if place is None else place)))


def _hash(value: object) -> int:
    return int.from_bytes(
        hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


class Answers:
    """Prompts and answers of all rows, 16 bytes a row."""

    def __init__(self) -> None:
        self._keys = array("Q")

    def add(self, one: Key) -> None:
        """Take a row."""
        self._keys.extend((one.prompt, one.answer))

    def counts(self) -> dict[str, int]:
        """`prompts` that differ, how many of them have `several_answers`, and the `rows` of those."""
        import numpy as np

        pairs = np.frombuffer(self._keys, np.uint64).reshape(-1, 2)
        prompts, rows = np.unique(pairs[:, 0], return_counts=True)
        answers = np.unique(np.unique(pairs, axis=0)[:, 0], return_counts=True)[1]
        several = answers > 1
        return {"prompts": len(prompts), "several_answers": int(several.sum()), "rows": int(rows[several].sum())}
