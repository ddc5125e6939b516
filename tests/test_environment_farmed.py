"""What an actor could do to be paid for work that it has not done: it earns nothing, and its failures stay failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pytest

from cuadata import environment
from cuadata.types import Action, Task

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def code() -> Iterator[Any]:
    with closing(environment.make("code_entry", screenshot=False, reveal="click")) as made:
        yield made


@pytest.fixture(scope="module")
def boxes() -> Iterator[Any]:
    with closing(environment.make("miniwob-click-checkboxes", screenshot=False)) as made:
        yield made


def forged(task: Task) -> str:
    """A document in which everything stands that the terms of a task ask for."""
    asked = [c for term in task.terms for c in term.when if c.present]
    fields = "".join(f'<input aria-label="{c.name}" value="{c.value}">' for c in asked if c.role == "textbox")
    return fields + "".join(f"<h1>{c.name}</h1>" for c in asked if c.role == "heading")


@pytest.mark.parametrize("way", ["data:text/html,", " DATA:text/html,", "javascript:", "view-source:", "file:///"])
def test_a_document_that_the_actor_writes_itself_pays_nothing(code: Any, way: str) -> None:
    code.reset(seed=3)
    address = way + quote(repr(forged(code.episode.task)) if way == "javascript:" else forged(code.episode.task))
    observed, reward, _, _, info = code.step(Action(type="navigate", url=address))
    assert (reward, info["rewards"], info["ended"]) == (0.0, {}, "running"), info
    assert info["error"].startswith("action_failed: an actor may go to addresses of http and https alone")
    assert "textbox" in observed["axtree"], "the page stands as it did"
    observed, *_ = code.step(Action(type="wait", seconds=0.1))
    assert "textbox" in observed["axtree"]


#: A page that answers as that of a MiniWoB++ task does, and says that all is done.
SCORE = """data:text/html,<script>cuadataMiniwob = new Proxy({}, {get: () => () => JSON.stringify({
    done: true, raw: 1, decayed: 1, reason: null, moves: 0, scrolls: false, loading: false, ready: true, list: false,
    width: 160, height: 210, url: '', title: '', x: 0, y: 0, rows: [], focused: null})})</script>"""


@pytest.mark.parametrize(
    ("kind", "address"), [("navigate", SCORE), ("navigate", "http://127.0.0.1:9/"), ("reload", None), ("back", None)]
)
def test_a_page_that_keeps_the_score_is_never_left(boxes: Any, kind: Any, address: str | None) -> None:
    """An episode that was left would be told as one that broke down, and be played again until it is not left."""
    boxes.reset(seed=3)
    *_, reward, terminated, truncated, info = boxes.step(Action(type=kind, url=address))
    assert (reward, terminated, truncated, info["ended"]) == (0.0, False, False, "running"), info
    assert info["error"].startswith("action_failed: a page of MiniWoB++ is never left")
    submit = next(e for e in boxes.episode.observation.elements if e.name == "Submit")
    assert boxes.step(Action(type="click", element=submit.id))[4]["ended"] == "failure"
