"""Overlays over a page with a plain task: what covers the page is dismissed first, by the control that really does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuadata.registry import families
from cuadata.types import Action, Binding, Condition, Locator, Move, Size, Task, Term

from ._draw import Draw
from ._overlay import ARRIVALS, Overlay, click, dismissals, terms
from ._overlay import overlays as draw_overlays
from ._site import Button, render, site

Path = Literal["solution", "fake_close", "act_before_dismissing", "repeat_click", "submit_empty"]
WORDS = ("lamp", "kettle", "twine", "ruler", "apron", "tray", "bowl", "hook")
DOCUMENTS = ("price list", "timetable", "floor plan", "size chart", "annual report")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The plain task under the overlays: open something, tick and save, or search."""

    kind: str
    title: str
    label: str
    button: str
    text: str
    instruction: str
    result: str


@families.add
def overlays(
    seed: int,
    *,
    path: Path = "solution",
    count: int | None = None,
    fakes: int | None = None,
    arrival: Literal["stacked", "chained"] | None = None,
    job: Literal["open", "tick", "search"] | None = None,
    theme: str | None = None,
    layout: str | None = None,
    button: Button | None = None,
    dismissed: float = 0.1,
    done: float = 1.0,
) -> Task:
    """A page under 2 to 4 overlays (cookies, newsletter, prize, notice, offer, app) with fake close buttons, and a task.

    `path` puts a wrong path in place of the solution; `count`, `fakes` (of each overlay), `arrival`, `job`, `theme`,
    `layout` and `button` fix axes that the seed would draw; `dismissed` is paid for each overlay, `done` for the task.
    """
    draw = Draw("overlays", seed)
    page = site(draw, theme=theme, layout=layout, button=button)
    number = draw.axis("count", (2, 3, 4), count) if count is None else count
    draw.note("count", number)
    arrives = draw.axis("arrival", ARRIVALS, arrival)
    held = draw_overlays(draw, number, fakes=fakes, arrival=arrives, markup=page.button)
    draw.note("kinds", "+".join(o.kind for o in held))
    draw.note("fakes", sum(len(o.fakes) for o in held))
    todo = _job(draw, job)
    anchor = Condition(role="heading", name=page.headline)
    finished = Condition(role="heading", name=todo.result)
    gone = tuple(Condition(role="dialog", name=o.title, present=False) for o in held)
    chained = arrives == "chained"
    return Task(
        id=f"overlays/{seed}",
        family="overlays",
        seed=seed,
        instruction=f"Close whatever covers the page. {todo.instruction}",
        html=render("overlays.html.j2", site=page, heading=page.headline, overlays=held, job=todo, fixed=False),
        viewport=Size(1280, 720),
        bindings=_bindings(todo),
        solution=_paths(held, todo)[path],
        terms=(*terms(held, anchor, dismissed, chained=chained), Term(name="done", value=done, when=(finished, *gone))),
        success=(finished, *gone),
        axes=draw.axes,
        template=f"overlays-{page.template}",
    )


def _job(draw: Draw, given: str | None) -> Job:
    kind = draw.axis("job", ("open", "tick", "search"), given)
    rng = draw.rng("job-words")
    if kind == "tick":
        words = "Send me the invoice by e-mail"
        return Job(kind=kind, title="Your settings", label=words, button="Save", text="", result="Settings saved",
                   instruction=f"Then tick “{words}” and press Save.")  # fmt: skip
    if kind == "search":
        word = rng.choice(WORDS)
        return Job(kind=kind, title="Search the shop", label="What are you looking for?", button="Search", text=word,
                   result=f"Results for “{word}”", instruction=f"Then search the shop for “{word}”.")  # fmt: skip
    document = rng.choice(DOCUMENTS)
    button = f"Open the {document}"
    return Job(kind=kind, title="Downloads", label=f"The {document} was updated this week.", button=button, text="",
               result=f"The {document} is open", instruction=f"Then press “{button}”.")  # fmt: skip


def _bindings(todo: Job) -> tuple[Binding, ...]:
    button = Binding(word=todo.button, part="target", locator=Locator(css="#finish"))
    if todo.kind == "open":
        return (button,)
    word = todo.text if todo.kind == "search" else todo.label
    field = Binding(word=word, part="target", locator=Locator(css="#field"))
    return (field, Binding(word=todo.button, part="control", locator=Locator(css="#finish")))


def _task_moves(todo: Job) -> tuple[Move, ...]:
    field, press = Locator(css="#field"), Move(action=Action(type="click"), locator=Locator(css="#finish"), phase="act")
    if todo.kind == "tick":
        return (Move(action=Action(type="click"), locator=field, phase="act"), press)
    if todo.kind == "search":
        return (
            Move(action=Action(type="type", text=todo.text), locator=field, phase="enter"),
            Move(action=press.action, locator=press.locator, phase="enter"),
        )
    return (press,)


def _paths(held: list[Overlay], todo: Job) -> dict[Path, tuple[Move, ...]]:
    """The solution and the wrong paths that a reward must not pay for."""
    first = held[0]
    fake = first.fakes[0].id if first.fakes else first.id
    job = _task_moves(todo)
    return {
        "solution": (*dismissals(held), *job),
        "fake_close": (click(fake), click(fake), *dismissals(held)[1:], *job),
        "act_before_dismissing": job,
        "repeat_click": (click(first.real.id),) * 6,
        "submit_empty": (
            *dismissals(held),
            Move(action=Action(type="click"), locator=Locator(css="main h1"), phase="act"),
        ),
    }
