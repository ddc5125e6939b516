"""More siblings of the recorder's cases: what goes away under the pointer, keys that a page leads elsewhere, documents that leave."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import page_cases
import people
import pytest

from cuadata import browser, recording
from cuadata.browsing.frames import Frame, FrameGone
from cuadata.browsing.serve import Server
from cuadata.people.person_session import Session
from cuadata.types import Step

pytestmark = pytest.mark.browser
STYLE = "<!doctype html><meta charset=utf-8><style>body{margin:0;font:14px sans-serif}.p{position:absolute;margin:0;width:100px;height:30px}</style>"


def told(step: Step) -> tuple[str, str, str]:
    """What was done, on what, and with which text, keys or distance."""
    action = step.action
    where = people.way(step.target.locator) if step.target is not None else ""
    scrolled = f"{action.scroll_y:g}" if action.scroll_y is not None else ""
    return action.type, where, action.text or "+".join(action.keys) or scrolled


OPENER = f"""{STYLE}<title>Opener</title><button class=p id=ask style="left:10px;top:10px" onclick="open('pop.html','','width=300,height=200')">Ask</button>
<button class=p id=next style="left:10px;top:60px" onclick="document.title='Next'">Next</button>"""
POP = f"""{STYLE}<title>Pop</title><button class=p id=ok style="left:10px;top:10px" onpointerdown="window.close()">OK</button>"""


def test_a_pop_up_that_closes_at_pointerdown_holds_nothing_up(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text(OPENER)
    (site / "pop.html").write_text(POP)
    with people.recording_of(site / "page.html", tmp_path / "out") as (session, hands):
        hands.click(50, 25)
        hands._switch_to_new_page({"do": ""})
        hands.click(50, 25)
        page_cases.wait_until(lambda: session.page.pages[0].active)
        began = time.monotonic()
        session.ready()
        took = time.monotonic() - began
        hands.click(50, 75)
        session.settle()
        session.end("success")
    assert [told(s) for s in recording.read(tmp_path / "out").steps] == [
        ("click", "#ask", ""),
        ("click", "#ok", ""),
        ("click", "#next", ""),
    ]
    assert took < 10, "the button that was pressed in the pop-up is up"


LED = f"""{STYLE}<div id=grid class=p role=grid tabindex=0 style="left:10px;top:10px">cell<input id=cell aria-label=Cell style="opacity:0;width:10px"></div>
<ul id=mails class=p role=listbox tabindex=0 aria-label=Mails style="left:10px;top:60px"></ul>
<div id=wheel class=p style="left:10px;top:110px;height:60px;overflow:auto"><p style="margin:0;height:900px">tall</p></div>
<iframe id=frame class=p style="left:200px;top:10px;width:200px;height:80px;border:0" srcdoc="<body style='margin:0'>
<button id=bye style='width:90px;height:30px' onpointerdown='parent.frame.remove()'>Bye</button>"></iframe>
<script>grid.onkeydown = (e) => {{ if (e.target === grid && e.key.length === 1) cell.focus() }};
mails.onkeydown = (e) => {{ mails.innerHTML += '<li>' + e.key }};</script>"""


def test_keys_and_wheels_that_go_on_elsewhere_have_their_own_moment_and_target(tmp_path: Path) -> None:
    def act(hands: people.Hands) -> None:
        hands.click(245, 25)  # the frame goes, and the release is heard by the page around it
        time.sleep(0.8)
        hands.click(90, 30)
        hands.type("abc", pause=60)
        hands.click(60, 75)
        for key in ("j", "j", "k"):
            hands.press(key)
        hands.run(hands.page.mouse.move(50, 130))
        for down in (120, 120, -120):
            hands.run(hands.page.mouse.wheel(0, down))
            time.sleep(0.05)

    held = people.played(LED, tmp_path / "out", act)
    assert [told(s) for s in held.steps] == [
        ("click", "#frame #bye", ""),
        ("click", "#grid", ""),
        ("type", "#cell", "abc"),
        ("click", "#mails", ""),
        ("press", "#mails", "j"),
        ("press", "#mails", "j"),
        ("press", "#mails", "k"),
        ("scroll", "#wheel > p:nth-child(1)", "240"),
        ("scroll", "#wheel > p:nth-child(1)", "-120"),
    ]
    letters = [sum(e.tag == "li" for e in s.observation.elements) for s in held.steps[4:7]]
    assert letters == [0, 1, 2], "each key has what stood before it"


def test_a_drag_out_of_a_frame_ends_where_it_was_let_go(tmp_path: Path) -> None:
    page = f"""{STYLE}<iframe id=frame class=p style="left:50px;top:40px;width:300px;height:200px" srcdoc="<body style='margin:0'>
<div id=knob draggable=true style='position:absolute;left:20px;top:20px;width:40px;height:40px;background:teal'>x</div>"></iframe>
<div id=place class=p style="left:400px;top:40px;width:200px;height:200px" ondragover="event.preventDefault()"
ondrop="event.preventDefault();this.textContent='dropped'">here</div>"""
    held = people.played(
        page, tmp_path / "out", lambda hands: hands._drag({"from": (90, 80), "to": (500, 100), "steps": 8})
    )
    (step,) = held.steps
    point, end = step.action.point, step.action.end
    assert point is not None and end is not None
    assert (step.action.type, point.x, point.y, end.x, end.y) == ("drag", 90, 80, 500, 100)


def test_a_look_that_fails_ends_no_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look, faults = Session._look, [KeyError(2)]

    async def once(session: Session) -> None:
        if session.last_input and faults:
            raise faults.pop()
        await look(session)

    monkeypatch.setattr(Session, "_look", once)
    page = f"{STYLE}<button class=p id=a style='left:10px;top:10px' onclick=\"this.textContent += '.'\">A</button>"
    with people.recording_of(page, tmp_path / "out") as (session, hands):
        for _ in range(2):
            hands.click(50, 25)
            time.sleep(0.9)
        session.settle()
        session.end("success")
    assert not faults
    steps = recording.read(tmp_path / "out").steps
    assert [told(s) for s in steps] == [("click", "#a", "")] * 2
    assert all(s.after is not None for s in steps), "it was looked at again"


def test_a_document_that_has_left_is_not_taken_for_the_one_in_its_frame(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.html").write_text(f"<!doctype html><title>{name}</title><button>{name}</button>")
    with Server(tmp_path) as server, browser.open(f"{server.address}/one.html") as page:
        page.observe(screenshot=False)
        old: Frame = page.twin.tab.held[0].frame
        page.goto(f"{server.address}/two.html")
        for _ in range(3):
            with contextlib.suppress(FrameGone):
                pytest.fail(f"it answered: {page.run(old.value('document.title'), 10)}")
