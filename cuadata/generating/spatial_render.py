"""Pages of the families, rendered by the browser of this process: the page itself, and the same page another way."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from cuadata.generating.spatial_look import Look, Looker
from cuadata.generating.spatial_scene import Scene
from cuadata.registry import families
from cuadata.types import Size, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page on its way to rows."""

    task: Task
    look: Look
    scene: Scene
    browser: str
    options: Annotated[Mapping[str, Any], "what its family was asked for"] = field(default_factory=dict)
    variant: Annotated[str, "what was changed of the page for a minimal pair; empty: nothing"] = ""
    source: Annotated[str, "generated, or what page it was observed on"] = "generated"


#: Pages that were rendered, by process.
_shown: Counter[int] = Counter()
_lookers: dict[int, dict[tuple[Size, float], Looker]] = {}


#: Pages that a process keeps open, each with a renderer of its own: the block's viewport and some for perturbations.
_OPEN: Final = 4


def _held() -> dict[tuple[Size, float], Looker]:
    """What looks at pages in this process, one a viewport and ratio."""
    return _lookers.setdefault(os.getpid(), {})


def close() -> None:
    """Give back the pages of this process."""
    for looker in _held().values():
        looker.close()
    _held().clear()


def _looker(shape: tuple[Size, float]) -> Looker:
    """What looks at pages of a viewport and ratio; the one that was used longest ago is given back for a new one."""
    held = _held()
    held[shape] = held.pop(shape) if shape in held else Looker()
    while len(held) > _OPEN:
        held.pop(next(iter(held))).close()
    return held[shape]


def count() -> int:
    """How many pages this process has rendered."""
    return _shown[os.getpid()]


def show(
    family: str, seed: int, options: Mapping[str, Any], *, variant: str = "", viewport: Size | None = None,
    ratio: float = 1.0,
) -> Page:  # fmt: skip
    """Make a family's page and measure it, in its own viewport or another one. DataError where it is not rendered."""
    return begin(family, seed, options, variant=variant, viewport=viewport, ratio=ratio)()


def begin(
    family: str, seed: int, options: Mapping[str, Any], *, variant: str = "", viewport: Size | None = None,
    ratio: float = 1.0,
) -> Callable[[], Page]:  # fmt: skip
    """Begin to, and give what waits for the page: what is done meanwhile costs no time of the browser's."""
    make: Any = families[family]
    task: Task = make(seed, **options)
    looker = _looker((viewport or task.viewport, ratio))
    coming = looker.begin(task, viewport=viewport, ratio=ratio)

    def shown() -> Page:
        look = coming()
        _shown[os.getpid()] += 1
        return Page(
            task=task, look=look, scene=Scene(look), browser=looker.browser, options=options, variant=variant
        )  # fmt: skip

    return shown


def again(
    page: Page, variant: str, changed: Mapping[str, Any], *, viewport: Size | None = None, ratio: float = 1.0
) -> Page:
    """The same page with some options changed, or in another viewport."""
    options = {**page.options, **changed}
    return show(page.task.family, page.task.seed, options, variant=variant, viewport=viewport, ratio=ratio)
