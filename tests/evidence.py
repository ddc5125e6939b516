"""Examples with page evidence for the tests of gates: a settings page, painted and described alike, nothing wrong on it."""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Sequence
from dataclasses import replace

from cuadata import image
from cuadata.rows import Candidate, Example, Target
from cuadata.types import (
    Action,
    BBox,
    Effect,
    Element,
    Evidence,
    Image,
    Locator,
    Observation,
    Outcome,
    Point,
    Relation,
    Size,
    Step,
    Trajectory,
)

VIEWPORT = Size(1280, 720)
BROWSER_TIME = 1_700_000_000.0


def element(id: int, role: str, name: str, x: float, y: float, width: float, height: float, **more: object) -> Element:
    """An element that a person sees whole and that takes the click at its middle."""
    box = BBox(x, y, width, height)
    given: dict[str, object] = {
        "id": id,
        "role": role,
        "name": name,
        "text": name,
        "tag": role,
        "bbox": box,
        "point": box.center,
        "seen": 1.0,
        "hit": 1.0,
        "interactive": role not in ("heading", "generic", "paragraph"),
        "locator": Locator(css=f"#e{id}"),
        "evidence": Evidence(rects=(box,), in_viewport=1.0),
        **more,
    }
    return Element(**given)  # type: ignore[arg-type]


TITLE = element(1, "heading", "Settings", 40, 24, 300, 40)
CUT = element(2, "button", "Cut", 40, 100, 96, 32)
COPY = element(3, "button", "Copy", 152, 100, 96, 32)
PASTE = element(4, "button", "Paste", 264, 100, 96, 32)
SEARCH = element(5, "textbox", "Search", 400, 100, 320, 32)
LINK = element(6, "link", "Help", 760, 100, 60, 32)
EXPRESS = element(7, "checkbox", "Express", 40, 180, 20, 20)
SAVE = element(8, "button", "Save changes", 40, 640, 140, 36)
PAGE = (TITLE, CUT, COPY, PASTE, SEARCH, LINK, EXPRESS, SAVE)


def row(one: Element) -> Target:
    """An element as a row holds it."""
    return Target(
        role=one.role,
        name=one.name,
        text=one.text,
        bbox=one.bbox,
        point=one.point,
        seen=one.seen,
        hit=one.hit,
        locator=one.locator,
    )


@functools.lru_cache(maxsize=64)
def picture(boxes: tuple[BBox, ...], size: Size = VIEWPORT) -> Image:
    """A real PNG in which every element has ink."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    shot = Pillow.new("RGB", (size.width, size.height), "white")
    draw = ImageDraw.Draw(shot)
    for box in boxes:
        draw.rectangle((box.x, box.y, box.right - 1, box.bottom - 1), fill="#2050c0", outline="black")
    out = io.BytesIO()
    shot.save(out, "PNG")
    return image.from_bytes(out.getvalue())


def example(
    target: Element,
    instruction: str,
    *,
    elements: Sequence[Element] = PAGE,
    references: Sequence[Element] = (),
    relation: Relation | None = None,
    name: str = "t0",
    shot: Image | None = None,
) -> Candidate:
    """A click on an element of a page, as a trajectory of one step yields it."""
    picture_of = shot or picture(tuple(one.bbox for one in elements if one.bbox is not None))
    action = Action(type="click", point=target.point, element=target.id)
    observation = Observation(
        screenshot=picture_of,
        viewport=VIEWPORT,
        url="https://settings.test/",
        time=BROWSER_TIME - 0.2,
        elements=tuple(elements),
    )
    step = Step(
        index=0,
        time=BROWSER_TIME,
        observation=observation,
        action=action,
        target=target,
        effect=Effect(kind="local", similarity=0.4),
    )
    made = Example(
        id=f"{name}/0",
        trajectory_id=name,
        step_index=0,
        image=picture_of,
        image_width=picture_of.width,
        image_height=picture_of.height,
        viewport_width=VIEWPORT.width,
        viewport_height=VIEWPORT.height,
        device_pixel_ratio=1.0,
        instruction=instruction,
        action=action,
        target=row(target),
        references=tuple(map(row, references)),
        relation=relation,
        effect="local",
        site="settings.test",
    )
    whole = Trajectory(
        id=name, instruction=instruction, source="script", steps=(step,), outcome=Outcome(ended="success", success=True)
    )
    return Candidate(example=made, observation=observation, step=step, trajectory=whole)


def direct() -> Candidate:
    """A good example without a relation."""
    return example(COPY, "Click on the 'Copy' button")


def spatial() -> Candidate:
    """A good example with one."""
    return example(
        PASTE, ["Click on the button to the left of 'Search'", "below 'Settings'"][0],
        elements=(TITLE, PASTE, SEARCH, LINK, EXPRESS, SAVE),
        references=(SEARCH,), relation="left_of",
    )  # fmt: skip


WORDS = ("Open", "Edit", "Share", "Print", "Export", "Import", "Delete", "Rename", "Archive", "Move", "Copy", "Paste",
         "Undo", "Redo", "Bold", "Italic", "Zoom", "Filter", "Sort", "Group", "Merge", "Split", "Lock", "Reset")  # fmt: skip
ROLES = ("button", "link", "checkbox", "tab")


def many(count: int, seed: int = 0) -> list[Candidate]:
    """Good examples on pages of 30 elements: a grid of named things, half of the instructions spatial."""
    chance = random.Random(seed)
    found: list[Candidate] = []
    while len(found) < count:
        found.append(_one(chance, f"g{len(found)}"))
    return found


def _one(chance: random.Random, name: str) -> Candidate:
    names = chance.sample([f"{word} {kind}" for word in WORDS for kind in ("file", "page", "view")], 30)
    columns, rows = 6, 5
    left, top = chance.uniform(20, 60), chance.uniform(20, 60)
    elements = []
    for place, label in enumerate(names):
        x, y = left + place % columns * 200, top + place // columns * 120
        role = ROLES[(place // columns + chance.randrange(2)) % len(ROLES)]
        elements.append(element(place + 1, role, label, round(x), round(y), chance.choice((96, 120, 140)), 36))
    if chance.random() < 0.5:
        target = chance.choice(elements)
        return example(target, f"Click on the '{target.name}' {target.role}", elements=elements, name=name, shot=FLAT)
    place = chance.randrange(columns * rows)
    beside = [p for p in (place - 1, place + 1) if 0 <= p < len(elements) and p // columns == place // columns]
    target, reference = elements[place], elements[chance.choice(beside)]
    relation: Relation = "left_of" if target.id < reference.id else "right_of"
    text = f"Click on the nearest {target.role} {relation.replace('_', ' ')} '{reference.name}'"
    return example(target, text, elements=elements, references=(reference,), relation=relation, name=name, shot=FLAT)


#: A picture with ink everywhere, where it does not matter what it shows.
FLAT = picture(tuple(BBox(x, y, 6, 6) for x in range(0, 1280, 18) for y in range(0, 720, 18)))


def without_a_page(candidate: Candidate) -> Candidate:
    """The same row as an imported set has it: boxes only."""
    page = None if candidate.observation is None else replace(candidate.observation, elements=())
    step = None if candidate.step is None or page is None else replace(candidate.step, observation=page)
    example = replace(
        candidate.example, references=tuple(replace(r, locator=None) for r in candidate.example.references)
    )
    target = example.target and replace(example.target, locator=None, seen=None, hit=None)
    return replace(candidate, observation=page, step=step, example=replace(example, target=target))


def at(candidate: Candidate, point: Point) -> Candidate:
    """The same example, clicking elsewhere."""
    return replace(candidate, example=replace(candidate.example, action=replace(candidate.example.action, point=point)))
