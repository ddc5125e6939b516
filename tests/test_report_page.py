"""The report of a build: complete, self-contained, safe to open, and drawn where things are."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import build_trajectories as made
import pytest

from cuadata import build
from cuadata.types import Action, Effect, Point, Trajectory
from cuadata.viewer import overlay, report

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(2)>"
#: What no page may hold, or what turns the words after it.
TURNING = "gpj.\x00\x1b[31m\u202efdp" + "longer" * 50


class Page(HTMLParser):
    """Tags and text of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def failing(trajectory: Trajectory) -> Trajectory:
    steps = list(trajectory.steps)
    steps[2] = replace(steps[2], effect=Effect(kind="none", similarity=1.0, reason=HOSTILE))
    return replace(trajectory, steps=tuple(steps))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("report")
    for number in range(3):
        trajectory = made.checkout(f"c{number}", seed=number, task=number > 0)
        made.save(failing(trajectory) if number else trajectory, there / "recordings")
    made.save(
        replace(made.checkout("hostile", task=False, seed=9), instruction=HOSTILE + TURNING, site=HOSTILE),
        there / "recordings",
    )
    out = there / "set"
    build.build([("recordings", there / "recordings")], out, workers=1, finish=(report.write,))
    return out


def test_it_shows_what_was_kept_and_what_was_not(folder: Path) -> None:
    text = (folder / report.PAGE).read_text()
    page = Page(text)
    words = " ".join(page.words.split())
    assert "4 trajectories" in words or "trajectories4" in words.replace(" ", "")
    for said in ("no_effect", "Nothing changed after the action", "dismiss", "click button 'Accept all'", "c1, step 2"):
        assert said in words, said
    figures = [dict(attrs) for tag, attrs in page.tags if tag == "figure"]
    assert {f["class"] for f in figures} == {"kept", "gone"}
    pictures = [attrs["src"] for tag, attrs in page.tags if tag == "img"]
    assert len(pictures) == len(figures)
    for src in pictures:
        assert src is not None and (folder / report.PAGE).parent.joinpath(src).is_file()
    named = {Path(str(src)).name for src in pictures}
    assert {p.name for p in (folder / "report" / "pictures").iterdir()} == named


def test_it_asks_nothing_of_the_net_and_runs_nothing(folder: Path) -> None:
    text = (folder / report.PAGE).read_text()
    page = Page(text)
    assert not {"script", "link", "iframe", "object", "base"} & {tag for tag, _ in page.tags}
    assert not [a for _, attrs in page.tags for a in attrs if a.startswith("on")]
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert HOSTILE in page.words  # as words, not as markup
    assert r"gpj.\x00\x1b[31m\u202efdp" in page.words and not set("\x00\x1b\u202e") & set(text)


def test_the_same_dataset_gives_the_same_page(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("report"))
    report.write(tmp_path / "copy")
    assert (tmp_path / "copy" / report.PAGE).read_bytes() == (folder / report.PAGE).read_bytes()


@pytest.mark.parametrize("configs", [("actions",), ("rejected",), ("tasks",)])
def test_it_can_be_written_of_a_part(folder: Path, tmp_path: Path, configs: tuple[str, ...]) -> None:
    source = [("recordings", folder.parent / "recordings")]
    build.build(source, tmp_path / "set", workers=1, configs=configs, thumbnails=0, finish=(report.write,))
    text = (tmp_path / "set" / report.PAGE).read_text()
    assert ("no picture" in text) == (configs == ("rejected",))


BOX = {"x": 10.0, "y": 20.0, "width": 30.0, "height": 40.0}


def drawn(action: Action, **target: Any) -> str:
    from cuadata import schema

    held = {"bbox": BOX, "point": {"x": 25.0, "y": 40.0}, **target}
    return str(overlay.svg(700, 350, schema.to_row(action), held if target is not None else None))


def test_boxes_points_and_arrows_stand_where_they_are() -> None:
    click = drawn(Action(type="click", point=Point(12.0, 34.0)))
    assert 'viewBox="0 0 700 350"' in click
    assert 'class="target" x="8.0" y="18.0" width="34.0" height="44.0"' in click
    assert 'class="point" d="M12.0 34.0h' in click
    drag = drawn(Action(type="drag", point=Point(12.0, 34.0), end=Point(112.0, 34.0)))
    assert "M12.0 34.0L112.0 34.0" in drag
    down = str(overlay.svg(700, 350, {"type": "scroll", "scroll_x": None, "scroll_y": 300.0, "point": None}, None))
    assert "M350.0 175.0L350.0 262.5" in down
    left = str(overlay.svg(700, 350, {"type": "scroll", "scroll_x": -5.0, "scroll_y": 0.0, "point": None}, None))
    assert "M350.0 175.0L262.5 175.0" in left
    typed = drawn(Action(type="type", text="Ann"))
    assert 'class="point" d="M25.0 40.0h' in typed
    nothing = str(overlay.svg(0, 0, {"type": "press", "keys": ["Enter"]}, None, [{"bbox": BOX}, {"bbox": None}]))
    assert nothing.count("reference") == 1 and "point" not in nothing


@pytest.mark.browser
def test_a_browser_shows_every_picture_and_nothing_runs_over(folder: Path) -> None:
    from cuadata import browser

    for width in (1280, 420):
        from cuadata.types import Size

        with browser.open(folder / report.PAGE, viewport=Size(width, 800)) as page:
            page.evaluate("document.querySelectorAll('img').forEach(i => { i.loading = 'eager' })")
            broken = page.evaluate(
                "Promise.all([...document.images].map(i => i.decode().then(() => 0, () => 1))).then(a => a.filter(x => x).length)"
            )
            assert broken == 0
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            boxes = page.evaluate(
                "[...document.querySelectorAll('.shot')].filter(s => s.querySelector('svg')).map(s => {"
                " const a = s.querySelector('img').getBoundingClientRect(), b = s.querySelector('svg').getBoundingClientRect();"
                " return Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y), Math.abs(a.width - b.width), Math.abs(a.height - b.height)) })"
            )
            assert boxes and max(boxes) < 1
