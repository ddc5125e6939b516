"""What the arrival of the pointer changes is no effect of the press, and costs a picture only where it is not known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from cuadata import browser, image
from cuadata.browsing.looks import Looks
from cuadata.types import Action, Image, Size, Step

pytestmark = pytest.mark.browser
BUTTONS = "".join(f'<p><button id="b{i}">Send</button> <input type="checkbox" id="c{i}"></p>' for i in range(4))


@pytest.fixture
def page() -> Iterator[browser.Page]:
    with browser.open("<p>", viewport=Size(400, 300)) as opened:
        yield opened


def click(page: browser.Page, id: str) -> tuple[Step, int]:
    """The step of a click, and how many pictures it took."""
    seen = page.observe()
    target = next(e for e in seen.elements if e.locator.css == f"#{id}")
    tab, taken = page.twin.tab, []
    real = tab.shoot

    async def shoot(*words: Any, **more: Any) -> Image | None:
        taken.append(1)
        return await real(*words, **more)

    setattr(tab, "shoot", shoot)  # noqa: B010 - counts what the real one does
    try:
        return page.act(Action(type="click", element=target.id, point=target.point), observation=seen), len(taken)
    finally:
        delattr(tab, "shoot")


def test_native_buttons_that_do_nothing_have_no_effect_and_soon_cost_one_picture(page: browser.Page) -> None:
    page.rewrite(f"<!doctype html>{BUTTONS}")
    steps = [click(page, f"b{i}") for i in range(4)]
    assert [step.effect.kind for step, _ in steps if step.effect] == ["none"] * 4
    assert steps[0][1] == 2  # How it looks under the pointer is not known yet.
    assert [taken for _, taken in steps[2:]] == [1, 1]


def test_a_checkbox_is_seen_to_change_from_how_it_looked_under_the_pointer(page: browser.Page) -> None:
    page.rewrite(f"<!doctype html>{BUTTONS}")
    steps = [click(page, f"c{i}") for i in range(4)]
    assert [step.effect.kind for step, _ in steps if step.effect] == ["local"] * 4
    last = steps[-1][0].effect
    assert last is not None and last.region is not None and last.region.width <= 20
    assert steps[-1][1] == 1


def test_a_styled_page_costs_no_picture_for_the_pointer(page: browser.Page) -> None:
    style = "<style>button{border:1px solid #333;background:#cdf}</style>"
    page.rewrite(f"<!doctype html>{style}<button id='a'>One</button><p></p><a href='#' id='b'>Two</a>")
    assert [click(page, id)[1] for id in ("a", "b")] == [1, 1]


def test_what_a_page_draws_under_the_pointer_is_no_effect_of_the_press(page: browser.Page) -> None:
    page.rewrite("<!doctype html><canvas id='a' width='200' height='100' tabindex='0'></canvas>")
    page.evaluate(
        "() => { const c = document.querySelector('canvas'); c.addEventListener('mousemove',"
        " () => c.getContext('2d').fillRect(10, 10, 100, 60)); }"
    )
    step, taken = click(page, "a")
    assert taken >= 2
    assert step.effect is not None and step.effect.kind in ("none", "ambient")


def test_a_change_in_the_frame_after_the_press_is_in_picture_and_elements(page: browser.Page) -> None:
    page.rewrite("<!doctype html><button id='a'>Before</button>")
    page.evaluate(
        "() => { const b = document.querySelector('button'); b.onclick = () => requestAnimationFrame(() =>"
        " requestAnimationFrame(() => (b.textContent = 'After it'))); }"
    )
    step, _ = click(page, "a")
    assert step.after is not None and next(e for e in step.after.elements if e.locator.css == "#a").name == "After it"
    assert step.effect is not None and step.effect.kind == "local"


def picture(pixels: Any) -> Image:
    import io

    out = io.BytesIO()
    Pillow.fromarray(pixels).save(out, "PNG")
    return image.from_bytes(out.getvalue(), phash=False)


def test_looks_are_learnt_only_where_nothing_else_changed_and_told_apart_by_kind_and_pixels() -> None:
    before = np.full((60, 100, 3), 255, np.uint8)
    before[20:40, 10:30] = 200
    before[20:40, 60:80] = 200
    after = before.copy()
    after[20:40, 10:30] = 150
    first, second = ["button submit", True, 10, 20, 20, 20], ["button submit", True, 60, 20, 20, 20]
    looks = Looks()
    assert looks.predict(picture(before), [first], 1.0) is None
    looks.learn(picture(before), picture(after), [first], 1.0)
    found = looks.predict(picture(before), [second], 1.0)
    assert found is not None and (found[20:40, 60:80] == 150).all() and (found[20:40, 10:30] == 200).all()
    assert looks.predict(picture(before), [["input checkbox", *second[1:]]], 1.0) is None
    assert looks.predict(picture(before), [[second[0], False, *second[2:]]], 1.0) is None
    moved = after.copy()
    moved[0, 0] = 0
    other = Looks()
    other.learn(picture(before), picture(moved), [first], 1.0)
    assert other.predict(picture(before), [first], 1.0) is None
