"""Script-free pages for pointing: the font that travels with them, and a task whose target is whatever takes the focus."""

from __future__ import annotations

import base64
import functools
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from cuadata.errors import CallError
from cuadata.types import Action, Axis, Binding, Condition, Locator, Move, Size, Task, Term

from ._site import HERE, render

T = TypeVar("T")
#: DejaVu Sans, cut down to Latin, Cyrillic, Hebrew and Arabic; its licence is in `dejavu.txt`.
_FONTS: Final = ((400, "dejavu.woff2"), (700, "dejavu-bold.woff2"))
SCALES: Final = (0.85, 1.0, 1.25, 1.5)


@functools.cache
def fonts() -> str:
    """The style sheet's font faces, with the fonts in it."""
    rules = []
    for weight, file in _FONTS:
        data = base64.b64encode((HERE / file).read_bytes()).decode()
        rules.append(
            f'@font-face {{ font-family: "Cuadata Sans"; font-weight: {weight}; '
            f"src: url(data:font/woff2;base64,{data}) format('woff2'); }}"
        )
    return "".join(rules)


def check_scale(scale: float) -> float:
    """The scale of the text; CallError for one that no page is made for."""
    if not 0.5 <= scale <= 3:
        raise CallError(f"scale={scale} is not between 0.5 and 3")
    return scale


def scene(template: str, *, language: str = "en", direction: str = "ltr", scale: float = 1.0, **values: Any) -> str:
    """The HTML of a scene's template."""
    shown = render(template, fonts=fonts(), language=language, direction=direction, scale=check_scale(scale), **values)
    return "\n".join(line for line in shown.splitlines() if line.strip())


def pointing(
    family: str, seed: int, html: str, *, words: str, role: str, name: str, id: str, axes: tuple[Axis, ...],
    viewport: Size, template: str,
) -> Task:  # fmt: skip
    """A task to click one element; it is done when that element has the focus."""
    way = Locator(css=f"#{id}")
    focused = Condition(role=role, name=name, state="focused", value="true")
    return Task(
        id=f"{family}/{seed}",
        family=family,
        seed=seed,
        instruction=f"Click {words}.",
        html=html,
        viewport=viewport,
        bindings=(Binding(word=words, part="target", locator=way),),
        solution=(Move(action=Action(type="click"), locator=way, phase="act"),),
        terms=(Term(name="done", value=1.0, when=(focused,)),),
        success=(focused,),
        axes=axes,
        template=template,
    )


def swapped(items: Sequence[T], swap: tuple[int, int] | None) -> list[T]:
    """The items with two of them in each other's place. CallError where there are not so many."""
    held = list(items)
    if swap is not None:
        one, other = swap
        if not (0 <= one < len(held) and 0 <= other < len(held)):
            raise CallError(f"swap={swap} is not possible with {len(held)} elements")
        held[one], held[other] = held[other], held[one]
    return held
