"""The tasks of MiniWoB++, whose pages come with the PyPI package `miniwob`."""

from __future__ import annotations

from cuadata.episodes.miniwob import SCHEME, viewport_of
from cuadata.episodes.registration import MINIWOB, miniwob_tasks
from cuadata.errors import CallError
from cuadata.registry import families
from cuadata.types import Axis, Task


@families.add
def miniwob(seed: int, *, name: str = "click-checkboxes") -> Task:
    """A task of MiniWoB++ by name and seed; its page makes the instruction and keeps the score (raw, 1 is exact)."""
    known = miniwob_tasks()
    if known and name not in known:
        raise CallError(f"MiniWoB++ has no task '{name}'; there are: {', '.join(known)}")
    return Task(
        id=f"{MINIWOB}{name}/{seed}",
        family=f"{MINIWOB}{name}",
        seed=seed,
        instruction="",
        url=f"{SCHEME}{name}",
        html=None,
        viewport=viewport_of(name),
        axes=(Axis("task", name),),
        template=f"{MINIWOB}{name}",
    )
