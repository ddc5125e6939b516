"""A scrolling, fixed dialog with eleven options: scroll to the one asked for, choose it, submit."""

from __future__ import annotations

from typing import Literal

from cuadata.registry import families
from cuadata.types import Move, Size, Task

from ._draw import Draw
from ._modal import Markup, Modal, choose, click, terms
from ._modal import modal as draw_modal
from ._site import Button, render, site

Path = Literal["solution", "wrong_radio", "submit_empty", "repeat_click", "back_and_forth", "cancel"]
PHRASES = (
    "Choose “{option}” in the dialog and press {submit}.",
    "In “{title}”, select {option}, then press {submit}.",
    "Set {label} to {option} and press {submit}.",
    "Select the option {option} and confirm it with {submit}.",
)


@families.add
def modal(
    seed: int,
    *,
    path: Path = "solution",
    markup: Markup | None = None,
    scrolls: int | None = 3,
    submit_at: Literal["end", "foot"] | None = None,
    wrong_choice: Literal["refused", "saved"] | None = None,
    theme: str | None = None,
    layout: str | None = None,
    button: Button | None = None,
    wrong: float = 0.02,
    right: float = 0.1,
    submitted: float = 1.0,
) -> Task:
    """A scrolling fixed dialog with 11 options, radios in five markups: three scrolls, the right radio, submit.

    `path` puts a wrong path in place of the solution. `scrolls` is how many scrolls of 300 px the solution needs, None
    draws 1 to 4. `markup`, `submit_at` (in the scrolled content or below it), `wrong_choice` (whether a wrong one is
    refused or saved), `theme`, `layout` and `button` fix axes that the seed would draw. `wrong`, `right` and `submitted`
    are the values of the terms: any other radio, the right one, and the right one saved with the dialog gone.
    """
    draw = Draw("modal", seed)
    page = site(draw, theme=theme, layout=layout, button=button)
    held = draw_modal(draw, markup=markup, scrolls=scrolls, submit_at=submit_at, wrong_choice=wrong_choice)
    phrase = draw.rng("phrase").choice(PHRASES)
    return Task(
        id=f"modal/{seed}",
        family="modal",
        seed=seed,
        instruction=phrase.format(
            option=held.right.value, submit=held.submit, title=held.title, label=held.label.lower()
        ),
        html=render("modal.html.j2", site=page, dialog=held, fixed=False),
        viewport=Size(1280, 720),
        bindings=held.bindings,
        solution=_paths(held)[path],
        terms=terms(held, wrong=wrong, right=right, submitted=submitted),
        success=held.saved,
        axes=draw.axes,
        template=f"modal-{page.template}-{held.markup}",
    )


def _paths(m: Modal) -> dict[Path, tuple[Move, ...]]:
    """The solution and the wrong paths that a reward must not pay for."""
    scrolled = choose(m, m.right)[: m.scrolls]
    right, wrong, submit = click(m, m.right.id), click(m, m.wrong.id), click(m, f"{m.id}-submit")
    return {
        "solution": choose(m, m.right),
        "wrong_radio": choose(m, m.wrong),
        "submit_empty": (*scrolled, submit, submit),
        "repeat_click": (*scrolled, *(wrong,) * 6),
        "back_and_forth": (*scrolled, *(right, wrong) * 4),
        "cancel": (*scrolled, right, click(m, f"{m.id}-cancel")) if m.closable else (*scrolled, right),
    }
