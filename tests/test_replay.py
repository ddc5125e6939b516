"""A recording acted again: by locators, and where one leads to something else now, only by what says that it is the same."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import page_cases
import people
import pytest

from cuadata import replay
from cuadata.errors import CallError

pytestmark = pytest.mark.browser


def test_a_recording_is_acted_again(cases: Path, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    shutil.copytree(cases / "recorder" / "B108-name-is-not-the-text", folder)
    with people.recorded(folder, tmp_path / "out") as (session, hands):
        hands.play(page_cases.case(folder)["do"])
        session.end("success")
    with pytest.raises(CallError, match=r"not served now: give it, as in `cuadata record PAGE --replay .*out`"):
        replay.replay(tmp_path / "out")
    (played,) = replay.replay(tmp_path / "out", folder / "page.html")
    assert played.holds and played.way == "locator"
    page = folder / "page.html"
    page.write_text(page.read_text().replace("<body>", "<body><i></i>"))
    (moved,) = replay.replay(tmp_path / "out", page)
    assert (moved.holds, moved.way) == (False, "name") and "found by its name" in moved.reason
    page.write_text("<!doctype html><p>gone")
    (gone,) = replay.replay(tmp_path / "out", page)
    assert (gone.holds, gone.way) == (False, "none") and gone.reason.startswith("target_missing")


RENAMED = """<!doctype html><meta charset=utf-8><style>body{margin:0}nav>*{position:absolute;top:10px;width:120px;height:30px}</style>
<nav><button id=save style="left:10px" onclick="document.title += 'a'">Save</button>
<button style="left:150px" onclick="document.title += 'b'">Cart (2)</button>
<a href="#news" style="left:290px" onclick="document.title += 'c'">News</a>
<button style="left:430px" onclick="document.title += 'd'">Keep</button></nav>"""


def test_an_element_that_was_renamed_in_place_is_acted_on_only_where_something_says_that_it_is_the_same(
    tmp_path: Path,
) -> None:
    def act(hands: people.Hands) -> None:
        for x in (40, 180, 320, 460):
            hands.click(x, 25)
            time.sleep(0.7)

    site = tmp_path / "site"
    site.mkdir()
    page = site / "page.html"
    page.write_text(RENAMED)
    people.played(page, tmp_path / "out", act)
    assert [p.holds for p in replay.replay(tmp_path / "out", page)] == [True] * 4
    renamed = RENAMED
    for before, now in ((">Save", ">Store"), ("(2)", "(3)"), (">News", ">What is new"), (">Keep", ">Delete all")):
        renamed = renamed.replace(before, now)
    page.write_text(renamed)
    played = replay.replay(tmp_path / "out", page)
    assert [(p.holds, p.way) for p in played] == [(False, "locator")] * 3 + [(False, "none")]
    assert [p.reason for p in played] == [
        "renamed: button 'Save' is button 'Store' now, with the same id",
        "renamed: button 'Cart (2)' is button 'Cart (3)' now, which differs in its numbers only",
        "renamed: link 'News' is link 'What is new' now, with the same href",
        "target_missing: its locator leads to button 'Delete all' now, and at its point is button 'Delete all', which"
        + " nothing says is the same",
    ]


def test_a_dialog_that_was_not_recorded_is_dismissed_and_told(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    page = site / "page.html"
    before = "<!doctype html><button id=b style='width:90px;height:30px'>Go</button><button id=c style='width:90px;height:30px'>On</button>"
    page.write_text(before)

    def act(hands: people.Hands) -> None:
        hands.click(40, 20)
        time.sleep(0.7)
        hands.click(140, 20)

    people.played(page, tmp_path / "out", act)
    page.write_text(before.replace("id=b", "id=b onclick='alert(\"Sure?\")'"))
    played = replay.replay(tmp_path / "out", page)
    assert [p.holds for p in played] == [True, False]
    assert [p.way for p in played] == ["locator"] * 2
    assert played[1].reason == "the page asked 'Sure?' (alert), which the recording does not answer; it was dismissed"
