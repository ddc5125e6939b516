"""A person at a real page, played with real pointer and key input: the acceptance cases, and one step an action."""

from __future__ import annotations

import asyncio
import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import page_cases
import people
import people_log
import pytest

from cuadata import image, recording, replay, split
from cuadata.browsing import loop
from cuadata.judging import gating, judging
from cuadata.people import person_terminal
from cuadata.types import Step

pytestmark = pytest.mark.browser

CASES = (
    "recorder/B32-contenteditable-typing", "recorder/B34-drag-on-custom-slider", "recorder/B35-hover-menu",
    "recorder/B37-canvas-button", "recorder/B38-typing-in-shadow-input", "recorder/B39-item-gone-before-click",
    "recorder/B40-typing-split-at-focus-change", "recorder/B108-name-is-not-the-text", "capture/B22-strict-csp",
    "capture/B23-frame-written-by-script", "capture/B25-native-select", "capture/B27-popup-closes-itself",
)  # fmt: skip
ACTIONS = {"select_option": "select"}


def check_step(step: Step, wanted: dict[str, Any], tolerance: float) -> None:
    """What a case says of one step."""
    action = step.action
    assert action.type == ACTIONS.get(wanted["action"], wanted["action"])
    assert step.observation.screenshot is not None and step.observation.time <= step.time
    if "text" in wanted:
        assert action.text == wanted["text"]
    if "keys" in wanted:
        assert list(action.keys) == wanted["keys"]
    if "value" in wanted:
        assert (action.value, action.text) == (wanted["value"], wanted["label"])
    for name, point in (("from_css", action.point), ("to_css", action.end), ("point_css", action.point)):
        if name in wanted:
            assert point is not None
            assert max(abs(point.x - wanted[name][0]), abs(point.y - wanted[name][1])) <= tolerance
    target = wanted.get("target", {})
    if target:
        assert step.target is not None
        css = [*target.get("frames", ()), *target.get("shadow", ()), *([target["css"]] if "css" in target else [])]
        assert not css or people.way(step.target.locator) == " ".join(css)
        assert target.get("name") in (None, step.target.name, step.target.text)
        if "bbox_css" in target:
            assert page_cases.close_to(step.target.bbox, target["bbox_css"], tolerance), step.target.bbox
    corrected = any(note.startswith("typed_with_correction") for note in step.observation.notes)
    assert corrected == wanted.get("typed_with_correction", False)
    if wanted.get("effect"):
        assert step.effect is not None and step.effect.happened, step.effect


@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_the_recorder(cases: Path, tmp_path: Path, name: str) -> None:
    told = page_cases.case(cases / name)
    expect = told["expect"]
    with people.recorded(cases / name, tmp_path / "out") as (session, hands):
        hands.play(told["do"])
        session.settle()
        for probe in [expect["probe"]] if "probe" in expect else expect.get("probes", ()):
            assert session.page.evaluate(probe["js"]) == probe["equals"]
        session.end("success")
    steps = recording.read(tmp_path / "out").steps
    wanted = expect.get("steps") or expect["steps_contain"]
    assert len(steps) == len(wanted), people.told(steps)
    for step, one in zip(steps, wanted, strict=True):
        check_step(step, one, told.get("tolerance_px", 0.5))
    if (
        name == "recorder/B32-contenteditable-typing"
    ):  # the focus is told as of the next input, not as the older tree says
        after, target = steps[0].after, steps[0].target
        assert after is not None and target is not None and after.focused == target.id
    if "picture_of_click_step_pixel" in expect:
        x, y = expect["picture_of_click_step_pixel"]["at"]
        assert steps[1].observation.screenshot is not None
        pixel = image.rgb(image.read(steps[1].observation.screenshot))[y, x].astype(int)
        assert np.abs(pixel - expect["picture_of_click_step_pixel"]["rgb"]).max() <= 2
    typed = [s for s in steps if s.action.type == "type"]
    for step, value in zip(typed, expect.get("value_after_each_type", ()), strict=False):
        assert step.target is not None and step.after is not None
        (now,) = (e for e in step.after.elements if e.locator == step.target.locator)
        assert (now.states.value, now.text) == (value, value)
    if (
        name == "recorder/B39-item-gone-before-click"
    ):  # the list listens, not its items; the choice is an example all the same
        (cut,) = split.examples(recording.read(tmp_path / "out"))
        assert judging.against(gating.judge(cut, gating.choose(without=["difficulty"]))) is None
    if "changed_region_css" in expect:
        assert steps[0].effect is not None
        assert page_cases.close_to(steps[0].effect.region, expect["changed_region_css"], 1)
    for step, one in zip(steps, wanted, strict=True):
        told_of = step.effect.state if step.effect is not None else ()
        assert step.observation.title == one.get("page_title", step.observation.title)
        assert not one.get("opens_page") or any("page opened" in phrase for phrase in told_of)
        assert one.get("after") != "page_closed" or any("page closed" in phrase for phrase in told_of)
    if "replay_from_start_reaches" in expect or "replay_reaches" in expect:
        assert all(p.holds for p in replay.replay(tmp_path / "out", cases / name / told["load"]["page"]))


FRAMES = """<!doctype html><meta charset=utf-8><style>body{margin:0}.a{position:absolute;top:60px;width:140px;height:70px}</style>
<x-closed style="position:absolute;left:10px;top:10px"></x-closed>
<iframe class=a style="left:10px" srcdoc="<button style='width:90px;height:30px'>plain</button>"></iframe>
<iframe class=a sandbox style="left:170px" srcdoc="<button style='width:90px;height:30px'>boxed</button>"></iframe>
<iframe class=a sandbox=allow-scripts style="left:330px" srcdoc="<button style='width:90px;height:30px'>scripted</button>"></iframe>
<script>customElements.define('x-closed', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'closed'}).innerHTML = '<input aria-label=Deep style="width:90px">' } });
window.addEventListener('pointerdown', e => e.stopImmediatePropagation(), true);</script>"""


def test_every_frame_and_root_is_heard_once(tmp_path: Path) -> None:
    def act(hands: people.Hands) -> None:
        for x, y in ((40, 20), (50, 85), (210, 85), (370, 85)):
            hands.click(x, y)
            time.sleep(0.2)

    held = people.played(FRAMES, tmp_path / "out", act)
    assert [s.action.type for s in held.steps] == ["click"] * 4
    assert [s.target and s.target.name for s in held.steps] == ["Deep", "plain", "boxed", "scripted"]
    points = [s.action.point for s in held.steps]
    assert [(p.x, p.y) for p in points if p is not None] == [(40, 20), (50, 85), (210, 85), (370, 85)]
    assert not any("cannot be heard" in note for note in held.notes)


VARIED = """<!doctype html><meta charset=utf-8><style>body{margin:0;height:3000px}</style>
<textarea id=t style="position:absolute;left:10px;top:10px;width:200px;height:60px"></textarea>
<input id=f type=file style="position:absolute;left:10px;top:90px">
<button id=d style="position:absolute;left:10px;top:130px;width:90px;height:30px"
  ondblclick="this.textContent='twice'" oncontextmenu="event.preventDefault()">Press</button>
<button id=q style="position:absolute;left:110px;top:130px;width:90px;height:30px" onclick="document.title=prompt('Who?')">Ask</button>"""


async def turn(page: Any, times: int) -> None:
    for _ in range(times):
        await page.mouse.wheel(0, 100)


def test_every_kind_of_input_is_one_step(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("x")

    def act(hands: people.Hands) -> None:
        hands.click(50, 30)
        hands._ime({"compose": ["n", "ni"], "commit": "\u4f60"})
        hands.type("ab")
        hands._upload({"css": "#f", "files": [str(file)]})
        hands.click(50, 145, click_count=2)
        hands.click(50, 145, button="right")
        hands.run(turn(hands.page, 3))
        time.sleep(0.7)

    held = people.played(VARIED, tmp_path / "out", act)
    told = [(s.action.type, s.action.text or s.action.files or s.action.scroll_y) for s in held.steps]
    assert told == [
        ("click", None), ("type", "\u4f60ab"), ("upload", ("letter.txt",)), ("double_click", None), ("right_click", None), ("scroll", 300.0),
    ]  # fmt: skip


def test_a_dialog_is_answered_by_the_person(tmp_path: Path) -> None:
    def act(hands: people.Hands) -> None:
        tab = hands.session.page.twin.tab
        clicked = asyncio.run_coroutine_threadsafe(tab.page.mouse.click(150, 145), loop.shared().loop)
        page_cases.wait_until(lambda: tab.dialog is not None)
        assert tab.dialog is not None
        hands.run(tab.dialog.accept("Ann"))
        clicked.result(5)

    held = people.played(VARIED, tmp_path / "out", act)
    assert [s.action.type for s in held.steps] == ["click", "dialog"]
    assert (held.steps[1].action.accept, held.steps[1].action.text) == (True, "Ann")
    assert held.steps[1].observation.dialogs[0].message == "Who?"


def test_pause_drop_thought_and_the_ends(tmp_path: Path) -> None:
    said: list[str] = []
    with people.recording_of(VARIED, tmp_path / "out", instruction="") as (session, hands):
        hands.click(50, 145)
        session.settle()
        person_terminal.command(session, "p", said.append)
        hands.click(50, 30)
        hands.type("unheard")
        time.sleep(0.3)
        # What a page still shows is seen when it goes on: nothing may be left of it.
        hands._eval({"js": "document.querySelector('#t').value = ''"})
        person_terminal.command(session, "p", said.append)
        person_terminal.command(session, "t it is the other one", said.append)
        hands.click(50, 145)
        session.settle()
        hands.click(50, 30)
        session.settle()
        person_terminal.command(session, "d", said.append)
        assert not person_terminal.command(session, "s", said.append), "nobody has said what was to be done"
        assert person_terminal.command(session, "s Press it twice", said.append)
    held = recording.read(tmp_path / "out")
    assert people.told(held.steps) == [("click", "#d"), ("click", "#d")]
    assert [s.thought for s in held.steps] == [None, "it is the other one"]
    assert (held.instruction, held.outcome.ended) == ("Press it twice", "success")
    files = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    unpacked = [gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in files]
    assert any(b"textbox" in one for one in unpacked) and b"unheard" not in b"".join(unpacked)


def test_a_discarded_recording_holds_nothing(tmp_path: Path) -> None:
    with people.recording_of(VARIED, tmp_path / "out") as (session, hands):
        hands.click(50, 145)
        session.settle()
        session.end("discard")
    held = recording.read(tmp_path / "out")
    assert (held.outcome.ended, held.steps) == ("discarded", ())
    assert not list((tmp_path / "out" / "blobs").iterdir())


def test_two_hundred_inputs_against_the_pages_own_log(tmp_path: Path) -> None:
    told = people_log.compare(200, tmp_path / "out", seed=7)
    assert told["told"] == told["logged"]


def test_what_a_person_does_to_the_browser_itself(tmp_path: Path) -> None:
    """Twice an address, back, forward, reload; each long enough after the last input to be nobody's doing but theirs."""
    site = tmp_path / "site"
    site.mkdir()
    for name in ("one", "two", "three"):
        (site / f"{name}.html").write_text(f"<!doctype html><title>{name}</title><h1>{name}</h1>")
    with people.recording_of(site / "one.html", tmp_path / "out") as (session, hands):
        base = hands.page.url.rpartition("/")[0]
        acts = (
            hands.page.goto(f"{base}/two.html"),
            hands.page.goto(f"{base}/three.html"),
            hands.page.go_back(),
            hands.page.go_forward(),
            hands.page.reload(),
        )
        for told, act in enumerate(acts, 1):
            time.sleep(1.2)
            hands.run(act)
            session.ready()
            # A person waits for the page; on a busy machine that takes its time.
            end = time.monotonic() + 15
            while session.steps < told and time.monotonic() < end:
                time.sleep(0.1)
        session.settle()
        session.end("success")
    steps = recording.read(tmp_path / "out").steps
    assert [s.action.type for s in steps] == ["navigate", "navigate", "back", "forward", "reload"]
    assert [(s.action.url or "").rpartition("/")[2] for s in steps[:2]] == ["two.html", "three.html"]
    assert [s.observation.title for s in steps] == ["one", "two", "three", "two", "three"]
    assert [s.after and s.after.title for s in steps] == ["two", "three", "two", "three", "three"]


BUTTONS = """<!doctype html><meta charset=utf-8><style>body{margin:0;font:14px sans-serif}*{position:absolute}</style>
<p id=p style="left:10px;top:10px;margin:0;width:200px;height:20px">Three words here</p>
<a id=a href="#there" style="left:10px;top:50px;width:90px;height:20px">Link</a>
<button id=b style="left:10px;top:90px;width:90px;height:30px" onclick="this.textContent += '!'">Press</button>"""


def test_clicks_of_other_counts_and_buttons(tmp_path: Path) -> None:
    """Triple: a double click and a click, as docs/recording_people.md says. Middle: a click with Control."""

    def act(hands: people.Hands) -> None:
        hands.click(40, 20, click_count=3)
        time.sleep(0.8)
        hands.click(40, 60, button="middle")
        time.sleep(0.8)

    held = people.played(BUTTONS, tmp_path / "out", act)
    told = [(s.action.type, s.target and s.target.locator.css, s.action.modifiers) for s in held.steps]
    assert told[:3] == [("double_click", "#p", ()), ("click", "#p", ()), ("click", "#a", ("Control",))]
    assert {s.action.type for s in held.steps[3:]} <= {"switch_page"}


def test_a_sharp_screen_and_a_profile_of_ones_own(tmp_path: Path) -> None:
    """Pixel ratio 2: boxes and points are CSS px, the picture has twice as many. What the profile holds is there again."""
    profile = tmp_path / "profile"
    page = (
        "<!doctype html><script>localStorage.n = +(localStorage.n || 0) + 1; document.title = localStorage.n</script>"
    )
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text(f"{page}{BUTTONS}")
    held = people.played(
        site / "page.html",
        tmp_path / "out",
        lambda hands: hands.click(55, 105),
        profile=profile,
        device_pixel_ratio=2.0,
    )
    (step,) = held.steps
    shot, target = step.observation.screenshot, step.target
    assert shot is not None and target is not None and target.bbox is not None and step.action.point is not None
    assert (shot.width, shot.height) == (2 * step.observation.viewport.width, 2 * step.observation.viewport.height)
    assert (target.bbox.x, target.bbox.y, target.bbox.width, target.bbox.height) == (10, 90, 90, 30)
    assert (step.action.point.x, step.action.point.y) == (55, 105)
    assert step.observation.device_pixel_ratio == 2.0
    assert any(profile.iterdir())


KINDS = """<!doctype html><meta charset=utf-8><style>body{margin:0;font:14px sans-serif}
body>*{position:absolute;left:10px;margin:0;width:160px;height:28px;box-sizing:border-box}</style>
<textarea id=area style="top:10px;height:60px"></textarea>
<input id=range type=range min=0 max=10 value=3 style="top:80px">
<input id=box type=checkbox style="top:115px;width:20px;height:20px">
<x-outer style="top:145px"></x-outer>
<ul id=list style="top:180px;padding:0;list-style:none"><li id=item style="height:14px">Berlin</li><li>Bern</li></ul>
<button id=named aria-label="Close window" style="top:215px" onclick="this.dataset.n = 1; this.textContent = 'o'">x</button>
<div id=wide style="top:250px;height:40px;overflow:auto"><div style="width:900px;height:20px">wide</div></div>
<details id=more style="top:300px;height:auto"><summary id=sum>More</summary>inside</details>
<label id=lab style="top:350px"><input id=radio type=radio name=r>Yes</label>
<div id=tall style="top:390px;height:60px;overflow:auto"><div style="height:900px">tall</div></div>
<div id=role role=button tabindex=0 style="top:460px" onkeydown="if (event.key === 'Enter') this.textContent = 'Gone in'">Go in</div>
<script>
customElements.define('x-outer', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = '<x-inner></x-inner>' } });
customElements.define('x-inner', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = '<input id=deep aria-label=Deep style="width:150px">' } });
list.addEventListener('pointerdown', () => item.remove());
</script>"""


def test_siblings_of_the_cases_are_one_step_each(tmp_path: Path) -> None:
    """Written before it was played: what is done, and the one step that it has to be."""

    def turn_over(hands: people.Hands, x: float, y: float, right: float, down: float) -> None:
        hands.run(hands.page.mouse.move(x, y))
        hands.run(hands.page.mouse.wheel(right, down))
        time.sleep(0.8)

    def act(hands: people.Hands) -> None:
        hands.click(60, 40)
        hands.type("one")
        hands.press("Enter")  # text here, since the field has lines
        hands.type("twoo")
        hands.press("Backspace")
        hands.press("Control+a")
        hands.press("Tab")
        hands.press("ArrowRight")
        hands.press("Tab")
        hands.press("Space")
        hands.click(60, 160)
        hands.type("deep")
        for x, y in ((30, 190), (60, 229), (40, 310), (60, 362)):
            hands.click(x, y)
            time.sleep(0.8)
        turn_over(hands, 60, 270, 120, 0)
        turn_over(hands, 60, 420, 0, 200)
        hands.click(60, 474)
        time.sleep(0.8)
        hands.press("Enter")

    held = people.played(KINDS, tmp_path / "out", act)
    told = [
        (
            s.action.type,
            s.target.locator.css if s.target is not None else "",
            s.action.text or s.action.keys or (s.action.scroll_x or 0, s.action.scroll_y or 0),
        )
        for s in held.steps
    ]
    still = (0, 0)
    assert told == [
        ("click", "#area", still),
        ("type", "#area", "one\ntwo"),
        ("press", "#area", ("Control", "a")),
        ("press", "#area", ("Tab",)),
        ("press", "#range", ("ArrowRight",)),
        ("press", "#range", ("Tab",)),
        ("press", "#box", (" ",)),
        ("click", "#deep", still),
        ("type", "#deep", "deep"),
        ("click", "#item", still),
        ("click", "#named", still),
        ("click", "#sum", still),
        ("click", "#lab", still),  # a label acts on its control
        ("scroll", "#wide", (120, 0)),
        ("scroll", "#tall > div:nth-child(1)", (0, 200)),
        ("click", "#role", still),
        ("press", "#role", ("Enter",)),
    ]
    assert held.steps[10].target is not None and held.steps[10].target.name == "Close window"
