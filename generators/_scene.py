"""Script-free pages for pointing: the font that travels with them, and a task whose target is whatever takes the focus."""

from __future__ import annotations

import base64
import functools
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from cuadata.errors import CallError, DataError
from cuadata.types import Action, Axis, Binding, Condition, Locator, Move, Size, Task, Term

from ._site import HERE, render

T = TypeVar("T")
#: DejaVu Sans and Serif, cut down to Latin, Cyrillic, Hebrew and Arabic; its licence is in `dejavu.txt`.
_FILES: Final = (
    ("Sans", 400, "dejavu.woff2"), ("Sans", 700, "dejavu-bold.woff2"),
    ("Serif", 400, "dejavu-serif.woff2"), ("Serif", 700, "dejavu-serif-bold.woff2"),
)  # fmt: skip
#: Name -> the style sheet's families; what the serif lacks (Hebrew, Arabic) is drawn with the sans.
FONTS: Final = {
    "sans": '"Cuadata Sans", sans-serif',
    "serif": '"Cuadata Serif", "Cuadata Sans", serif',
}
Place = tuple[float, float, float, float]


@functools.cache
def fonts() -> str:
    """The style sheet's font faces, with the fonts in it. DataError where one is not there: no other draws the same page."""
    rules = []
    for family, weight, file in _FILES:
        try:
            data = base64.b64encode((HERE / file).read_bytes()).decode()
        except FileNotFoundError as error:
            raise DataError(
                "this font comes with the package and is not there; install the package again",
                place=str(error.filename),
            ) from error
        rules.append(
            f'@font-face {{ font-family: "Cuadata {family}"; font-weight: {weight}; '
            f"src: url(data:font/woff2;base64,{data}) format('woff2'); }}"
        )
    return "".join(rules)


def check_scale(scale: float) -> float:
    """The scale of the text; CallError for one that no page is made for."""
    if not 0.5 <= scale <= 3:
        raise CallError(f"scale={scale} is not between 0.5 and 3")
    return scale


def scene(
    template: str, *, language: str = "en", direction: str = "ltr", scale: float = 1.0, font: str = "sans",
    overlay: Place | None = None, **values: Any,
) -> str:  # fmt: skip
    """The HTML of a scene's template. `overlay` lays a notice over it: left, top, width and height in CSS px."""
    if font not in FONTS:
        raise CallError(f"font={font!r} is not known; there are: {', '.join(FONTS)}")
    shown = render(
        template, fonts=fonts(), language=language, direction=direction, scale=check_scale(scale), overlay=overlay,
        font=FONTS[font], **values,
    )  # fmt: skip
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
