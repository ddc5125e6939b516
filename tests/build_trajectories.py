"""Trajectories for tests, made without a browser: pages with overlays, fields and buttons, painted and described alike.

Each state of a page is painted as a real PNG in which every element has ink, so that gates that look at pictures see
what the evidence says. `checkout()` is the shape that most tests want: two overlays, a form, a submit button.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cuadata import image, recording
from cuadata.seeing.differences import state_difference
from cuadata.types import (
    Action,
    BBox,
    Binding,
    Condition,
    Effect,
    Element,
    Evidence,
    Image,
    Locator,
    Move,
    Observation,
    Outcome,
    PageInfo,
    Phase,
    Size,
    States,
    Step,
    Task,
    Trajectory,
)

VIEWPORT = Size(640, 360)
START = 1_700_000_000.0
_COLOURS = {"button": "#2050c0", "textbox": "#f4f4f4", "dialog": "#fff4d0", "checkbox": "#ffffff", "link": "#ddeeff"}


@dataclass(frozen=True)
class Page:
    """A state of the page: what is on it, in painting order, and where it is."""

    elements: tuple[Element, ...]
    url: str = "https://shop.test/checkout"
    title: str = "Checkout"
    focused: int | None = None


def element(
    id: int, role: str, name: str, box: tuple[float, float, float, float], *, css: str = "", **more: object
) -> Element:
    """An element that a person sees whole and that takes the click at its middle."""
    bbox = BBox(*box)
    given: dict[str, object] = {
        "id": id,
        "role": role,
        "name": name,
        "text": name,
        "tag": {"textbox": "input", "checkbox": "input", "dialog": "div", "link": "a"}.get(role, role),
        "bbox": bbox,
        "point": bbox.center,
        "seen": 1.0,
        "hit": 1.0,
        "interactive": role != "dialog",
        "locator": Locator(css=css or f"#e{id}"),
        "evidence": Evidence(rects=(bbox,), in_viewport=1.0),
        **more,
    }
    return Element(**given)  # type: ignore[arg-type]


@functools.lru_cache(maxsize=512)
def paint(elements: tuple[Element, ...], size: Size = VIEWPORT, ratio: float = 1.0, seed: int = 0) -> bytes:
    """A PNG of the viewport with every element drawn in its box; `seed` tints a corner, for pictures that differ."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    picture = Pillow.new("RGB", (round(size.width * ratio), round(size.height * ratio)), "white")
    draw = ImageDraw.Draw(picture)
    if seed:
        draw.rectangle((0, 0, 5, 5), fill=(seed % 251, seed // 251 % 251, 97))
    for one in elements:
        if one.bbox is None:
            continue
        left, top = one.bbox.x * ratio, one.bbox.y * ratio
        right, bottom = one.bbox.right * ratio - 1, one.bbox.bottom * ratio - 1
        draw.rectangle((left, top, right, bottom), fill=_COLOURS.get(one.role, "#cccccc"), outline="black")
        draw.text((left + 4, top + 4), one.states.value or one.name, fill="black")
        if one.states.checked == "true":
            draw.line((left, top, right, bottom), fill="black", width=2)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


@functools.lru_cache(maxsize=512)
def picture(elements: tuple[Element, ...], size: Size = VIEWPORT, ratio: float = 1.0, seed: int = 0) -> Image:
    """The described picture of a page."""
    return image.from_bytes(paint(elements, size, ratio, seed))


def observe(page: Page, time: float, *, size: Size = VIEWPORT, ratio: float = 1.0, seed: int = 0) -> Observation:
    """What a browser would have measured of this page at this time, seconds since the epoch."""
    return Observation(
        screenshot=picture(page.elements, size, ratio, seed),
        viewport=size,
        device_pixel_ratio=ratio,
        url=page.url,
        title=page.title,
        time=time,
        pages=(PageInfo(index=0, title=page.title, url=page.url, active=True),),
        elements=page.elements,
        focused=page.focused,
    )


def play(
    pages: Sequence[Page],
    actions: Sequence[Action],
    *,
    id: str = "t0",
    instruction: str = "Order as Ann with express delivery",
    source: str = "oracle",
    task: Task | None = None,
    thoughts: Sequence[str | None] = (),
    start: float = START,
    **look: object,
) -> Trajectory:
    """A trajectory in which action i leads from page i to page i+1, a second apart; the picture before is 0.2 s older.

    The observation after a step is the one before the next: the same object, as the recorder makes it.
    """
    seen = [observe(page, start + i - 0.2, **look) for i, page in enumerate(pages)]  # type: ignore[arg-type]
    steps = []
    for i, action in enumerate(actions):
        held = {e.id: e for e in pages[i].elements}
        target = held.get(action.element) if action.element is not None else None
        changes = state_difference(seen[i], seen[i + 1])
        steps.append(
            Step(
                index=i,
                time=start + i,
                observation=seen[i],
                action=action,
                target=target,
                after=seen[i + 1],
                thought=thoughts[i] if i < len(thoughts) else None,
                effect=Effect(kind="local" if pages[i] != pages[i + 1] else "none", similarity=0.5, state=changes),
            )
        )
    return Trajectory(
        id=id,
        instruction=instruction,
        source=source,
        task=task,
        steps=tuple(steps),
        outcome=Outcome(ended="success", success=True, exact=1.0, raw=1.0),
        site="shop.test",
        browser="headless-shell 150",
    )


def click(target: Element) -> Action:
    """A click at an element's point."""
    return Action(type="click", element=target.id, point=target.point)


def type_into(target: Element, text: str) -> Action:
    """Typing into a field."""
    return Action(type="type", element=target.id, text=text)


COOKIES = element(10, "dialog", "Cookies", (0, 260, 640, 100), css="#cookies")
ACCEPT = element(11, "button", "Accept all", (480, 290, 120, 40), css="#accept", dialog=10, parent=10)
OFFER = element(20, "dialog", "Offer", (160, 60, 320, 200), css="#offer")
CLOSE = element(21, "button", "Close", (440, 64, 32, 32), css="#close", dialog=20, parent=20)
NAME = element(1, "textbox", "Name", (40, 40, 240, 32), css="#name")
EXPRESS = element(2, "checkbox", "Express", (40, 90, 20, 20), css="#express", states=States(checked="false"))
SUBMIT = element(3, "button", "Order", (40, 130, 120, 36), css="#order")
FORM = (NAME, EXPRESS, SUBMIT)


def with_state(one: Element, **states: object) -> Element:
    """The element in another state."""
    return replace(one, states=replace(one.states, **states))  # type: ignore[arg-type]


def checkout_task(seed: int = 0) -> Task:
    """The task that `checkout` solves; its overlays are bound by no word of the instruction."""

    def move(one: Element, action: Action, phase: Phase) -> Move:
        return Move(action=replace(action, element=None, point=None), locator=one.locator, phase=phase)

    return Task(
        id=f"checkout/{seed}",
        family="checkout",
        seed=seed,
        instruction="Order as Ann with express delivery",
        html="<!doctype html><title>Checkout</title>",
        viewport=VIEWPORT,
        bindings=(
            Binding(word="Ann", part="target", locator=NAME.locator),
            Binding(word="express delivery", part="target", locator=EXPRESS.locator),
            Binding(word="Order", part="control", locator=SUBMIT.locator),
        ),
        solution=(
            move(ACCEPT, click(ACCEPT), "dismiss"),
            move(CLOSE, click(CLOSE), "dismiss"),
            move(EXPRESS, click(EXPRESS), "act"),
            move(NAME, type_into(NAME, "Ann"), "enter"),
            move(SUBMIT, click(SUBMIT), "enter"),
        ),
        success=(Condition(role="heading", name="Thank you"),),
        template="checkout",
    )


def checkout(id: str = "t0", *, task: bool = True, seed: int = 0, **more: object) -> Trajectory:
    """Dismiss a banner and a pop-up, tick express, type the name, order: the phases are those of `checkout_task`.

    `seed` tints the pictures, so that trajectories of other seeds have other pictures.
    """
    ticked = (NAME, with_state(EXPRESS, checked="true"), SUBMIT)
    filled = (with_state(NAME, value="Ann", focused=True), ticked[1], SUBMIT)
    thanks = element(30, "heading", "Thank you", (40, 40, 300, 40), interactive=False)
    pages = (
        Page((*FORM, COOKIES, ACCEPT, OFFER, CLOSE)),
        Page((*FORM, OFFER, CLOSE)),
        Page(FORM),
        Page(ticked),
        Page(filled, focused=NAME.id),
        Page((thanks,), url="https://shop.test/thanks", title="Thank you"),
    )
    actions = (click(ACCEPT), click(CLOSE), click(EXPRESS), type_into(NAME, "Ann"), click(SUBMIT))
    made = checkout_task(seed) if task else None
    return play(pages, actions, id=id, task=made, seed=seed, **more)  # type: ignore[arg-type]


def save(trajectory: Trajectory, folder: Path) -> Path:
    """Write a trajectory as a recording into `folder`/its id; the recording's folder."""
    path = folder / trajectory.id.replace("/", "-")
    with recording.create(
        path,
        id=trajectory.id,
        instruction=trajectory.instruction,
        source=trajectory.source,
        task=trajectory.task,
        viewport=trajectory.steps[0].observation.viewport if trajectory.steps else VIEWPORT,
        browser=trajectory.browser,
        site=trajectory.site,
        notes=trajectory.notes,
    ) as writer:
        for step in trajectory.steps:
            writer.add(step)
        writer.close(trajectory.outcome)
    return path
