"""Points of an element that the same boxes cover are hit tested once: what is said of each is what a hit test says of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import hard_page
import pytest
import torture

from cuadata import browser
from cuadata.types import Size

pytestmark = pytest.mark.browser
STYLE = "<style>body{margin:0;font:13px sans-serif}body *{box-sizing:border-box}</style>"
PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='100' height='60'%3E"
    "%3Crect width='100' height='60' fill='teal'/%3E%3C/svg%3E"
)
#: Whether what is hit at each point is the target or in it, as the page itself sees it.
TRUTH = """(points) => points.map(([x, y]) => {
  const target = document.querySelector('#t'), hit = document.elementFromPoint(x, y);
  return hit !== null && (hit === target || target.contains(hit));
})"""
COUNT = """(() => {
  if (!globalThis.counted) for (const proto of [Document.prototype, ShadowRoot.prototype])
    for (const name of ['elementFromPoint', 'elementsFromPoint']) {
      const real = proto[name];
      proto[name] = function (x, y) { globalThis.counted++; return real.call(this, x, y); };
    }
  globalThis.counted = 0;
  return 0;
})()"""


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Page]:
    with browser.open("<p>", viewport=Size(500, 400), limit=15.0) as opened:
        yield opened


def ask(page: browser.Page, expression: str) -> Any:
    """The value of an expression in the world of page.js."""
    frame = page.twin.tab.held[0].frame
    return page._loop.run(frame.value(expression, 30), 40)


def told(page: browser.Page, expression: str) -> Any:
    """As `ask`, of JSON text."""
    frame = page.twin.tab.held[0].frame
    return page._loop.run(frame.told(expression, 30), 40)


def shape(chance: random.Random) -> str:
    """A style that makes a box hard to tell from its rectangle, or none."""
    kinds = [
        "", "", "border-radius:50%", "border-radius:18px", "border-radius:4px 40px 10px", "clip-path:circle(30px at 50px 40px)",
        "clip-path:inset(10px 20px)", "clip-path:polygon(0 0,100% 0,0 100%)", "transform:rotate(20deg)", "transform:scale(.7)",
        "transform:skewX(12deg)", "pointer-events:none", "z-index:-1", "clip:rect(5px,80px,50px,0)", "zoom:.8", "overflow:hidden",
        "transform:rotateY(180deg)", "rotate:30deg", "visibility:hidden", "display:none", "opacity:0", "overflow:clip",
    ]  # fmt: skip
    return chance.choice(kinds)


def box(chance: random.Random, what: str, held: str = "") -> str:
    """A box somewhere in the viewport."""
    left, top = chance.randint(-40, 300), chance.randint(-40, 200)
    size = f"width:{chance.randint(20, 260)}px;height:{chance.randint(20, 180)}px"
    ground = chance.choice(["#9c6", "rgba(0,0,0,.2)", "none"])
    return f'<div {what} style="position:absolute;left:{left}px;top:{top}px;{size};background:{ground};{shape(chance)}">{held}</div>'


def target(chance: random.Random) -> str:
    """What is looked at: a control, a drawn shape, an image with areas, an area, or a box of another element."""
    place = f"position:absolute;left:{chance.randint(0, 200)}px;top:{chance.randint(0, 120)}px;{shape(chance)}"
    areas = '<area shape="rect" coords="10,5,40,50" href="#"><area shape="circle" coords="70,30,20" href="#">'
    area = '<area id="t" shape="poly" coords="5,55,95,55,50,2" href="#">'
    shapes = (
        '<circle id="t" cx="60" cy="50" r="40" tabindex="0"/><rect x="50" y="0" width="60" height="40" fill="red"/>'
    )
    image = f'src="{PICTURE}" width="100" height="60" usemap="#m" style="{place}"'
    held = '<a id="t" href="#" style="display:contents"><i style="display:block;width:90px;height:70px">x</i></a>'
    return chance.choice(
        [
            f'<button id="t" style="{place};width:150px;height:90px"></button>',
            f'<button id="t" style="{place};width:150px;height:90px"><span>In it</span></button>',
            f'<div style="{place}">{held}</div>',
            f'<svg width="140" height="100" style="{place}">{shapes}</svg>',
            f'<img id="t" {image} tabindex="0"><map name="m">{areas}</map>',
            f'<img {image}><map name="m">{areas}{area}</map>',
        ]
    )


def drawn(seed: int) -> str:
    """A page of one target among boxes of many shapes, some of them around it."""
    chance = random.Random(seed)
    inner = target(chance)
    for _ in range(chance.randint(0, 2)):
        inner = box(chance, 'class="around"', inner + (box(chance, "") if chance.random() < 0.4 else ""))
    covers = [
        box(chance, "", '<button style="width:20px;height:15px"></button>' if chance.random() < 0.3 else "")
        for _ in range(4)
    ]
    cut = chance.randint(0, 4)
    return f"<!doctype html>{STYLE}{''.join(covers[:cut])}{inner}{''.join(covers[cut:])}"


def test_each_point_of_a_grid_is_said_to_be_hit_where_a_hit_test_says_so(page: browser.Page) -> None:
    wrong, tried = [], 0
    for seed in range(200):
        page.rewrite(drawn(seed))
        found = [e for e in page.observe(screenshot=False).elements if e.locator.css == "#t"]
        number = ask(page, "cuadata.serials.get(document.querySelector('#t')) ?? 0")
        points = told(page, "cuadata.grids()").get(str(number), [])
        truth = page.evaluate(TRUTH, [p[:2] for p in points])
        exact = len(points) > 0 and found and found[0].evidence.unsure is None
        wrong += [
            (seed, p[:2], bool(p[3])) for p, real in zip(points, truth, strict=True) if exact and bool(p[3]) != real
        ]
        tried += len(points)
    assert tried > 1500
    # A cell stands for all that lies in it: a point within a px of its edge may be told as the cell is.
    assert len(wrong) <= 3, wrong


@pytest.mark.parametrize(("cases", "most"), [(torture.CASES, 340), (hard_page.CASES, 480)], ids=["torture", "hard"])
def test_a_page_of_hard_cases_needs_about_two_hit_tests_an_element(cases: tuple[torture.Case, ...], most: int) -> None:
    size = Size(torture.WIDTH, torture.HEIGHT + 10)
    with browser.open(torture.page(cases), viewport=size, limit=15.0) as opened:
        opened.observe(screenshot=False)
        ask(opened, COUNT)
        told(opened, "cuadata.measure()")
        assert 100 < ask(opened, "globalThis.counted") <= most


@pytest.mark.parametrize(
    "cover",
    [
        "border-radius:50%", "border-radius:40px", "clip-path:circle(40px at 75px 75px)", "clip-path:ellipse(60px 30px)",
        "clip-path:polygon(0 0,100% 0,0 100%)", "transform:rotate(30deg)",
    ],
)  # fmt: skip
def test_a_cover_that_is_no_rectangle_covers_what_it_paints(page: browser.Page, cover: str) -> None:
    body = (
        '<button id="t" style="position:absolute;left:100px;top:100px;width:200px;height:150px;border:0"></button>'
        f'<div style="position:absolute;left:170px;top:120px;width:150px;height:150px;background:#960;{cover}"></div>'
    )
    page.rewrite(f"<!doctype html>{STYLE}{body}")
    seen = next(e for e in page.observe(screenshot=False).elements if e.locator.css == "#t")
    free = page.evaluate(
        "() => { let free = 0; for (let x = 100.5; x < 300; x += 2) for (let y = 100.5; y < 250; y += 2)"
        " free += document.elementFromPoint(x, y).id === 't'; return free / (100 * 75); }"
    )
    assert seen.hit == pytest.approx(free, abs=0.07)
    assert seen.seen == pytest.approx(free, abs=0.07)


def test_content_of_a_box_with_a_clip_is_seen_beyond_the_box(page: browser.Page) -> None:
    """`clip` cuts at its own edges; what runs out of the box within these is there, and covers what lies under it."""
    body = (
        '<button id="t" style="position:absolute;left:20px;top:60px;width:60px;height:40px;border:0"></button>'
        '<div style="position:absolute;left:0;top:0;width:100px;height:20px;clip:rect(0,100px,200px,0)">'
        '<div style="width:50px;height:200px;background:#960"></div></div>'
    )
    page.rewrite(f"<!doctype html>{STYLE}{body}")
    seen = next(e for e in page.observe(screenshot=False).elements if e.locator.css == "#t")
    assert seen.hit == pytest.approx(0.5, abs=0.02)
