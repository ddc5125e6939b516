"""The gauntlet: rooms of overlays, a scrolling dialog and a code, thirty steps in all; each skill alone and in the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuadata.registry import families
from cuadata.types import Condition, Move, Size, Task, Term

from . import _code, _modal, _overlay
from ._draw import Draw
from ._site import Button, render, site

Path = Literal["solution", "fake_close", "type_before_dismissing", "wrong_radio", "submit_empty", "repeat_click"]
Start = Literal["overlays", "modal", "code"]
Until = Literal["overlays", "modal", "code", "end"]
OVERLAYS = 3
END = "All steps done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """One room: three overlays, a dialog, a code. `starts` leaves out what lies before the start state."""

    title: str
    starts: Start
    overlays: tuple[_overlay.Overlay, ...]
    chained: bool
    modal: _modal.Modal
    code: _code.Code

    @property
    def anchor(self) -> Condition:
        """The room is the one that is open."""
        return Condition(role="heading", name=self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What the terms of every room pay."""

    dismissed: float
    wrong: float
    right: float
    submitted: float
    revealed: float
    typed: float
    accepted: float
    finished: float


@families.add
def gauntlet(
    seed: int,
    *,
    path: Path = "solution",
    rooms: int = 5,
    start: Start = "overlays",
    until: Until = "end",
    scrolls: int | None = None,
    markup: _modal.Markup | None = None,
    reveal: _code.Reveal | None = None,
    theme: str | None = None,
    layout: str | None = None,
    button: Button | None = None,
    silent: bool = False,
    guarded: bool = False,
    delay: float = _code.DELAY,
    dismissed: float = 0.1,
    wrong: float = 0.02,
    right: float = 0.1,
    submitted: float = 1.0,
    revealed: float = 0.1,
    typed: float = 0.1,
    accepted: float = 1.0,
    finished: float = 1.0,
) -> Task:
    """Thirty steps in five rooms: dismiss three overlays, choose in a scrolling dialog, earn a code, enter it.

    `start` is where the first room begins (the overlays; the modal, after the overlays; the code, after the modal) and
    `until` where the last one ends, so that `rooms=1, start="modal", until="modal"` is one skill alone and the defaults
    are the whole. `path` puts a wrong path in place of the solution; `scrolls`, `markup`, `reveal`, `theme`, `layout` and
    `button` fix axes that the seed would draw. `silent`: fake close buttons say nothing when they are pressed; `guarded`:
    submit controls are disabled until there is something to submit; `delay`: seconds until a code comes that was asked
    for. The rest are the values of the terms. The terms of the steps are named
    `room1_overlay_1` to `room5_accepted`.
    """
    draw = Draw("gauntlet", seed)
    page = site(draw, theme=theme, layout=layout, button=button)
    held = [
        _room(
            draw,
            i,
            rooms,
            start if i == 0 else "overlays",
            page.button,
            scrolls,
            markup,
            reveal,
            silent,
            guarded,
            delay,
        )
        for i in range(rooms)
    ]
    values = Values(dismissed=dismissed, wrong=wrong, right=right, submitted=submitted, revealed=revealed, typed=typed,
                    accepted=accepted, finished=finished)  # fmt: skip
    terms, success = _terms(held, until, values)
    draw.note("start", start)
    draw.note("until", until)
    return Task(
        id=f"gauntlet/{seed}",
        family="gauntlet",
        seed=seed,
        instruction=_instruction(rooms, start, until),
        html=render("gauntlet.html.j2", site=page, rooms=held, steps=_steps(rooms, start, until), end=END, fixed=True),
        viewport=Size(1280, 720),
        bindings=tuple(b for room in held for b in (*room.modal.bindings, *room.code.bindings)),
        solution=_paths(held, until)[path],
        terms=terms,
        success=success,
        axes=draw.axes,
        template=f"gauntlet-{page.template}",
    )


def _room(
    draw: Draw,
    index: int,
    rooms: int,
    starts: Start,
    button: str,
    scrolls: int | None,
    markup: _modal.Markup | None,
    reveal: _code.Reveal | None,
    silent: bool,
    guarded: bool,
    delay: float,
) -> Room:
    name = f"r{index + 1}"
    arrival = draw.axis(f"{name}-arrival", _overlay.ARRIVALS)
    far = draw.axis(f"{name}-far", (1, 2, 3), scrolls)
    return Room(
        title=f"Room {index + 1} of {rooms}",
        starts=starts,
        overlays=tuple(
            _overlay.overlays(
                draw, OVERLAYS, fakes=None, arrival=arrival, markup=button, prefix=f"{name}o", silent=silent
            )
        ),
        chained=arrival == "chained",
        modal=_modal.modal(
            draw, name=f"{name}m", markup=markup, scrolls=far, wrong_choice="refused", wanted=True, guarded=guarded
        ),
        code=_code.code(draw, name=f"{name}c", reveal=reveal, guarded=guarded, delay=delay),
    )


def _instruction(rooms: int, start: Start, until: Until) -> str:
    first = {
        "overlays": "close whatever covers the page, choose the wanted option in the dialog and submit it, then get the "
        "code, type it and submit it",
        "modal": "choose the wanted option in the dialog and submit it, then get the code, type it and submit it",
        "code": "get the code, type it and submit it",
    }[start]
    if rooms == 1 and until != "end":
        first = {
            "overlays": "close whatever covers the page",
            "modal": "choose the wanted option and submit it",
            "code": "get the code",
        }[until]
    return f"Go through {rooms} rooms. In each, {first}." if rooms > 1 else f"{first[0].upper()}{first[1:]}."


def _steps(rooms: int, start: Start, until: Until) -> int:
    """Steps that are there to be done: six a room, fewer where it starts late or ends early."""
    return (
        6 * rooms
        - {"overlays": 0, "modal": 3, "code": 4}[start]
        - {"overlays": 3, "modal": 2, "code": 1, "end": 0}[until]
    )


def _terms(rooms: list[Room], until: Until, v: Values) -> tuple[tuple[Term, ...], tuple[Condition, ...]]:
    """The terms of every room in the order in which they come, and what success asks for."""
    found: list[Term] = []
    end = Condition(role="heading", name=END)
    success: tuple[Condition, ...] = (end,)
    for index, room in enumerate(rooms):
        last, anchor, name = index == len(rooms) - 1, room.anchor, f"room{index + 1}_"
        if room.starts == "overlays":
            found += _overlay.terms(room.overlays, anchor, v.dismissed, chained=room.chained, prefix=name)
        if last and until == "overlays":
            success = (anchor, *(Condition(role="dialog", name=o.title, present=False) for o in room.overlays))
            break
        if room.starts != "code":
            found += _modal.terms(
                room.modal, wrong=v.wrong, right=v.right, submitted=v.submitted, anchor=(anchor,), prefix=name
            )
        if last and until == "modal":
            success = (anchor, *room.modal.saved)
            break
        shown, typed = _code.terms(room.code, revealed=v.revealed, typed=v.typed, anchor=(anchor,), prefix=name)
        found.append(shown)
        if last and until == "code":
            success = (anchor, room.code.shown)
            break
        found.append(typed)
        found.append(Term(name=f"{name}accepted", value=v.accepted, when=(end if last else rooms[index + 1].anchor,)))
    return (*found, Term(name="finished", value=v.finished, when=success)), success


def _moves(room: Room, until: Until) -> tuple[Move, ...]:
    """The way through one room, to where it ends."""
    first = _overlay.dismissals(room.overlays) if room.starts == "overlays" else ()
    choice = _modal.choose(room.modal, room.modal.right) if room.starts != "code" and until != "overlays" else ()
    earned = _code.earn(room.code) if until in ("code", "end") else ()
    entered = _code.enter(room.code, room.code.code) if until == "end" else ()
    return (*first, *choice, *earned, *entered)


def _wrongly(room: Room, until: Until, *, last: bool) -> tuple[Move, ...]:
    """The way through one room with a wrong choice submitted first, which is refused; the last room ends with that."""
    way = _moves(room, until)
    if room.starts == "code" or until == "overlays":
        return () if last else way
    right = next(i for i, m in enumerate(way) if m.locator is not None and m.locator.css == f"#{room.modal.right.id}")
    slip = (_modal.click(room.modal, room.modal.wrong.id), _modal.click(room.modal, f"{room.modal.id}-submit"))
    return (*way[:right], *slip, *(() if last else way[right:]))


def _paths(rooms: list[Room], until: Until) -> dict[Path, tuple[Move, ...]]:
    """The solution and the wrong paths that a reward must not pay for."""
    one = rooms[0]
    out = _overlay.dismissals(one.overlays) if one.starts == "overlays" else ()
    top = one.overlays[0]
    fake = top.fakes[0].id if top.fakes else top.id
    submit = _modal.click(one.modal, f"{one.modal.id}-submit")
    ends: list[Until] = ["end" for _ in rooms]
    ends[-1] = until
    return {
        "solution": tuple(move for room, end in zip(rooms, ends, strict=True) for move in _moves(room, end)),
        "fake_close": (_overlay.click(fake),) * 3,
        "type_before_dismissing": _code.enter(one.code, one.code.code),
        "wrong_radio": tuple(
            move for room, end in zip(rooms, ends, strict=True) for move in _wrongly(room, end, last=room is rooms[-1])
        ),
        "submit_empty": (*out, *_modal.choose(one.modal, one.modal.right)[:-2], submit),
        "repeat_click": (_overlay.click(top.real.id),) * 6,
    }
