"""Elements that other boxes cross: how much of them is seen and takes the click, by arithmetic over where the boxes lie."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cuadata import browser
from cuadata.types import Element, Size

pytestmark = pytest.mark.browser
STYLE = (
    "<style>body{margin:0}#t,.c{position:absolute;border:0;padding:0;margin:0}#t{left:100px;top:100px;width:200px;height:100px;"
    "background:#cdf;font:13px sans-serif}.c{background:#960}</style>"
)
TARGET = '<button id="t" style="{}">Send</button>'


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Page]:
    with browser.open("<p>", viewport=Size(800, 600)) as opened:
        yield opened


def target(page: browser.Page, body: str) -> Element:
    page.rewrite(f"<!doctype html>{STYLE}{body}")
    return found(page)


def found(page: browser.Page) -> Element:
    return next(e for e in page.observe(screenshot=False).elements if e.locator.css == "#t")


def cover(left: float, top: float, width: float, height: float, style: str = "") -> str:
    """A box over the target, whose own lies at 100, 100 and is 200x100 px large."""
    return f'<div class="c" style="left:{left}px;top:{top}px;width:{width}px;height:{height}px;{style}"></div>'


SHARES = {
    "nothing across it": (TARGET.format(""), 1.0, 1.0),
    "half of it covered": (TARGET.format("") + cover(200, 90, 150, 150), 0.5, 0.5),
    "a cover thinner than the space between points of a grid": (TARGET.format("") + cover(150, 100, 4, 100), 0.98, 0.98),
    "three covers that overlap": (
        TARGET.format("") + cover(100, 100, 100, 50) + cover(150, 100, 100, 50) + cover(180, 120, 40, 80), 0.525, 0.525,
    ),
    "a cover that lets clicks through": (TARGET.format("") + cover(200, 90, 150, 150, "pointer-events:none"), 0.5, 1.0),
    "a cover that paints nothing": (TARGET.format("") + cover(200, 90, 150, 150, "background:none"), 1.0, 0.5),
    "a cover below it": (cover(200, 90, 150, 150) + TARGET.format(""), 1.0, 1.0),
    "a cover that is cut itself": (TARGET.format("") + cover(100, 100, 200, 100, "clip-path:inset(0 0 0 75%)"), 0.75, 0.75),
    "a cover in a box that clips it": (
        TARGET.format("") + '<div style="position:absolute;left:250px;top:0;width:50px;height:400px;overflow:hidden">'
        + cover(-250, 100, 400, 100) + "</div>", 0.75, 0.75,
    ),
    "text that runs out of a box beside it": (
        TARGET.format("") + '<div style="position:absolute;left:20px;top:100px;width:10px;height:100px;white-space:nowrap;'
        'font:100px/100px monospace;color:transparent">xxx</div>', 1.0, None,
    ),
    "a generated box across it": (
        "<style>i::after{content:'';position:absolute;left:200px;top:90px;width:150px;height:150px;background:#960}</style>"
        + TARGET.format("") + "<i></i>", 0.5, 0.5,
    ),
    "a box around it that clips": (
        '<div style="position:absolute;left:0;top:0;width:150px;height:400px;overflow:hidden">' + TARGET.format("") + "</div>",
        0.25, 0.25,
    ),
    "a clip path of its own": (TARGET.format("clip-path:inset(10px 0 40% 20px)"), 0.45, 0.45),
    "a clip of its own": (TARGET.format("clip:rect(0,50px,auto,0)"), 0.25, 0.25),
    "scrollers in scrollers": (
        '<div style="position:absolute;left:0;top:0;width:400px;height:180px;overflow:hidden">'
        '<div style="position:absolute;left:0;top:0;width:250px;height:300px;overflow:hidden">' + TARGET.format("")
        + "</div></div>", 0.6, 0.6,
    ),
    "a target that is scaled and moved": (
        TARGET.format("transform:translate(50px,20px) scale(.5)") + cover(200, 120, 20, 100), 0.8, 0.8,
    ),
    "a cover that is turned": (TARGET.format("") + cover(200, 0, 300, 300, "transform:rotate(90deg)"), 0.5, 0.5),
    "half out of the viewport": (TARGET.format("left:-100px"), 0.5, 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARES)
def test_what_is_seen_and_hit_is_what_the_boxes_leave(page: browser.Page, name: str) -> None:
    body, seen, hit = SHARES[name]
    element = target(page, body)
    assert element.seen == pytest.approx(seen, abs=0.011 if "turned" not in name else 0.04)
    if hit is not None:
        assert element.hit == pytest.approx(hit, abs=0.011 if "turned" not in name else 0.04)
    assert element.point is not None
    x, y = element.point.x, element.point.y
    assert page.evaluate(f"document.elementFromPoint({x}, {y}).id") == "t"


def test_a_rule_for_generated_boxes_that_comes_later_is_noticed(page: browser.Page) -> None:
    assert target(page, TARGET.format("") + "<i></i>").seen == 1
    rule = "i::before{content:'';position:fixed;left:100px;top:100px;width:100px;height:100px;background:#960}"
    page.evaluate("(rule) => void document.styleSheets[0].insertRule(rule, 0)", rule)
    assert found(page).seen == pytest.approx(0.5, abs=0.1)


ROWS = "".join(f"<div style='height:20px'><b>{number}</b></div>" for number in range(3000))
INNER = f"<style>body{{margin:0;background:#eee}}</style>{ROWS}"


def test_a_frame_with_a_large_page_is_seen_as_far_as_what_lies_over_it_lets_it(page: browser.Page) -> None:
    """The points that were tried in the frame are told to the document around it, of a page of 6,000 elements too."""
    inner = INNER.replace("<b>3</b>", '<button id="far" style="width:200px;height:20px;border:0;padding:0">x</button>')
    page.rewrite(
        "<!doctype html><style>body{margin:0}iframe{border:0;width:400px;height:300px}</style><iframe></iframe>"
        '<div style="position:absolute;left:150px;top:0;width:400px;height:300px;background:#960"></div>'
    )
    page.evaluate(
        "async (html) => { const frame = document.querySelector('iframe'); frame.srcdoc = html;"
        " await new Promise(done => frame.onload = done); }",
        inner,
    )
    held = next(e for e in page.observe(screenshot=False).elements if e.locator.css == "#far")
    assert held.seen == pytest.approx(0.75, abs=0.06)
    assert held.hit == pytest.approx(0.75, abs=0.06)
    assert held.point is not None and held.point.x < 150
