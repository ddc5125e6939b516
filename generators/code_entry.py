"""A code that has to be earned, read off the page, typed and submitted."""

from __future__ import annotations

from typing import Literal

from cuadata.registry import families
from cuadata.types import Condition, Move, Size, Task, Term

from ._code import Code, Reveal, click, earn, enter, terms
from ._code import code as draw_code
from ._draw import Draw
from ._site import Button, render, site

Path = Literal["solution", "type_before_reveal", "submit_empty", "repeat_click", "wrong_code"]
PHRASES = (
    "Find the access code, type it into “{field}” and press {submit}.",
    "Get your code, enter it in the field “{field}” and confirm with {submit}.",
    "Unlock the page: reveal the code, type it under “{field}”, press {submit}.",
)


@families.add
def code_entry(
    seed: int,
    *,
    path: Path = "solution",
    reveal: Reveal | None = None,
    theme: str | None = None,
    layout: str | None = None,
    button: Button | None = None,
    revealed: float = 0.1,
    typed: float = 0.1,
    accepted: float = 1.0,
) -> Task:
    """A six-character code, shown after scrolling, hovering, waiting, clicking or dragging; typed and submitted.

    `path` puts a wrong path in place of the solution; `reveal`, `theme`, `layout` and `button` fix axes that the seed
    would draw. `revealed`, `typed` and `accepted` are the values of the terms.
    """
    draw = Draw("code_entry", seed)
    page = site(draw, theme=theme, layout=layout, button=button)
    held = draw_code(draw, reveal=reveal)
    done = Condition(role="heading", name="Code accepted")
    phrase = draw.rng("phrase").choice(PHRASES)
    return Task(
        id=f"code_entry/{seed}",
        family="code_entry",
        seed=seed,
        instruction=phrase.format(field=held.field_label, submit=held.submit),
        html=render("code_entry.html.j2", site=page, code=held, fixed=held.reveal == "scroll_page"),
        viewport=Size(1280, 720),
        bindings=held.bindings,
        solution=_paths(held)[path],
        terms=(
            *terms(held, revealed=revealed, typed=typed),
            Term(name="accepted", value=accepted, when=(done,)),
        ),
        success=(done,),
        axes=draw.axes,
        template=f"code_entry-{page.template}-{held.reveal}",
    )


def _paths(c: Code) -> dict[Path, tuple[Move, ...]]:
    """The solution and the wrong paths that a reward must not pay for."""
    submit = click(c, "submit", "enter")
    return {
        "solution": (*earn(c), *enter(c, c.code)),
        "type_before_reveal": enter(c, "ABC123"),
        "submit_empty": (*earn(c), submit, submit),
        "repeat_click": (click(c, "field", "enter"),) * 6,
        "wrong_code": (*earn(c), *enter(c, c.code[::-1])),
    }
