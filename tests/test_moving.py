"""What moves by itself stands still in every picture, is waited for where it ends soon, and is no effect of an action."""

from __future__ import annotations

import html
import time

import pytest

from cuadata import browser
from cuadata.types import Action, Effect, Observation

pytestmark = pytest.mark.browser
FRAMES = "@keyframes turn{to{transform:rotate(1turn)}}@keyframes along{from{transform:translateX(300px)}}@keyframes fade{to{opacity:.2}}"
PLACES = ("document", "open", "closed", "frame")


def page(animation: str, place: str = "document") -> str:
    """A page with one moving thing and a button that does nothing."""
    moves = f"<style>{FRAMES}i{{display:block;width:40px;height:40px;background:linear-gradient(90deg,red,blue);animation:{animation}}}</style>"
    moves += "<i role=img aria-label=moves></i>"
    if place == "frame":
        moves = f'<iframe srcdoc="{html.escape(moves)}"></iframe>'
    elif place != "document":
        moves = f"<div id=h></div><script>h.attachShadow({{mode: '{place}'}}).innerHTML = `{moves}`</script>"
    return f"<!doctype html>{moves}<p><button>Does nothing</button>"


def clicked(opened: browser.Page) -> tuple[Observation, Effect]:
    """The first observation, and what a click on the button was found to change."""
    seen = opened.observe()
    button = next(e for e in seen.elements if e.role == "button")
    effect = opened.act(Action(type="click", element=button.id, point=button.point), observation=seen).effect
    assert effect is not None
    return seen, effect


def digest(observation: Observation) -> str:
    assert observation.screenshot is not None
    return observation.screenshot.sha256


@pytest.mark.parametrize("animation", ["turn 1s linear infinite", "turn 1s linear 2000"])
@pytest.mark.parametrize("place", PLACES)
def test_a_spinner_stands_at_its_beginning_in_every_picture(place: str, animation: str) -> None:
    with browser.open(page(animation, place)) as opened:
        pictures = set()
        for _ in range(3):
            pictures.add(digest(opened.observe()))
            time.sleep(0.13)
        _, effect = clicked(opened)
    assert len(pictures) == 1
    assert not effect.happened, effect


@pytest.mark.parametrize("place", ("document", "open"))
def test_what_moves_slowly_is_no_effect_of_a_click(place: str) -> None:
    with browser.open(page("along 20s linear infinite", place)) as opened:
        opened.observe()
        _, effect = clicked(opened)
    assert effect.kind == "ambient", effect


@pytest.mark.parametrize("place", PLACES)
def test_what_comes_to_rest_soon_is_waited_for(place: str) -> None:
    with browser.open(page("along 1.5s linear", place)) as opened:
        seen, effect = clicked(opened)
    moved = next(e for e in seen.elements if e.name == "moves")
    assert moved.bbox is not None and moved.bbox.x < 60
    assert not effect.happened, effect


@pytest.mark.parametrize("animation", ["along 60s linear", "fade .3s 60s both", "turn 1s linear 300"])
def test_what_ends_too_late_is_not_waited_for(animation: str) -> None:
    with browser.open(page(animation)) as opened:
        assert not any("did not stand still" in note for note in opened.observe().notes)


def test_an_animation_that_its_page_stops_later_stops() -> None:
    with browser.open(page("turn 1s linear infinite")) as opened:
        opened.observe()
        opened.evaluate("document.querySelector('i').style.animationPlayState = 'paused'")
        opened.observe()
        states = opened.evaluate("document.getAnimations().map((a) => [a.playState, a.playbackRate])")
    assert states == [["paused", 1]]


def test_what_was_told_because_it_was_asked_for_is_not_gone_afterwards() -> None:
    with browser.open("<!doctype html><div id=a style='height:40px'></div><p><button>Does nothing</button>") as opened:
        seen, ((_,), (button,)) = opened.select("#a", "button")
        for given in (seen, None):
            step = opened.act(Action(type="click", element=button.id, point=button.point), observation=given)
            assert step.effect is not None and not step.effect.happened, step.effect
