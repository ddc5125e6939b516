"""The acceptance cases of the browser and of capturing, driven through the public API."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import page_cases
import pytest

from cuadata import browser, image
from cuadata.judging import target_verdict
from cuadata.types import Action, Element, Observation

pytestmark = pytest.mark.browser

#: Words of the cases for what a verdict's reason may be.
FITTING = {
    "hidden": {"target_hidden"},
    "not_interactive": {"target_not_interactive"},
    "covered": {"target_occluded"},
    "off_viewport": {"target_offscreen"},
    "clipped": {"target_clipped"},
    "zero_size": {"target_too_small"},
}
ELEMENTS = (
    "B01-iframe-border-padding",
    "B03-nested-open-shadow-hidden-twin",
    "B06-clickable-without-role",
    "B07-device-pixel-ratio-2",
    "B09-css-zoom",
    "B10-overlay-covers-target",
    "B12-viewport-units-and-below-fold",
    "B13-scrolled-page-and-clipped-child",
    "B18-thirty-frames-one-vanishes",
    "B19-hidden-input-with-label",
)


def check_element(observation: Observation, element: Element, wanted: dict[str, Any], tolerance: float) -> None:
    """What a case says of one element."""
    if "bbox_css" in wanted:
        assert page_cases.close_to(element.bbox, wanted["bbox_css"], tolerance), (element.bbox, wanted)
    if "clickable" in wanted:
        assert (element.interactive or element.acts_on is not None) is wanted["clickable"]
    if "role" in wanted:
        assert element.role == wanted["role"]
    if wanted.get("name") and element.evidence.rendered and element.hit:
        assert element.name == wanted["name"]
    verdict = target_verdict.verdict(element, observation)
    if wanted["verdict"] == "keep_if_point_in":
        assert verdict.keep == "yes" and element.point is not None
        x, y, width, height = wanted["free_region_css"]
        assert x <= element.point.x < x + width and y <= element.point.y < y + height
    elif wanted["verdict"] == "keep":
        assert verdict.keep == "yes", (wanted, verdict)
    else:
        assert verdict.keep == "no" and verdict.reason in FITTING[wanted["reason"]], (wanted, verdict)
    if "covered_by" in wanted:
        assert element.evidence.covered_by == wanted["covered_by"]


def check_picture(observation: Observation, expect: dict[str, Any]) -> None:
    """Size and colours of the picture."""
    assert observation.screenshot is not None and observation.screenshot.data is not None
    if "image_size" in expect:
        assert [observation.screenshot.width, observation.screenshot.height] == expect["image_size"]
    pixels = image.rgb(observation.screenshot.data)
    for one in expect.get("image_pixels", ()):
        x, y = one["at"]
        assert np.abs(pixels[y, x].astype(int) - one["rgb"]).max() <= 2, (one, pixels[y, x])


def check_probe(page: browser.Page, expect: dict[str, Any]) -> None:
    """What the page itself says afterwards."""
    probes = [expect["probe"]] if "probe" in expect else expect.get("probes", ())
    for probe in probes:
        value = page.evaluate(probe["js"])
        assert value == probe["equals"] if "equals" in probe else value in probe["one_of"], (probe, value)


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_have_their_boxes_and_verdicts(cases: Path, name: str) -> None:
    folder = cases / "browser" / name
    told = page_cases.case(folder)
    expect = told["expect"]
    with page_cases.opened(folder) as page:
        selectors = [one["ref"]["css"] for one in expect["elements"]]
        observation, found = page.select(*selectors)
        check_picture(observation, expect)
        ids = [e.id for e in observation.elements]
        assert len(set(ids)) == len(ids)
        for one, elements in zip(expect["elements"], found, strict=True):
            element = page_cases.find(observation, elements, one["ref"])
            check_element(observation, element, one, told.get("tolerance_px", 0.5))
            if "acts_on" in one:
                control = next(e for e in observation.elements if e.id == element.acts_on)
                assert control.locator.css == one["acts_on"]
        for prefix, count in expect.get("element_count_by_name_prefix", {}).items():
            assert sum(e.name.startswith(prefix) for e in observation.elements) == count
        page_cases.Player(page).play(told.get("do", ()))
        check_probe(page, expect)


def test_ignored_wrappers_drop_nothing(cases: Path) -> None:
    folder = cases / "browser" / "B05-ax-ignored-wrappers"
    expect = page_cases.case(folder)["expect"]
    with page_cases.opened(folder) as page:
        seen = page.observe()
    for wanted in expect["ax_controls"]:
        held = [e for e in seen.elements if e.role == wanted["role"] and e.name == wanted["name"] and e.acts_on is None]
        assert len(held) == 1, wanted
    assert not any(name in e.name for e in seen.elements for name in expect["ax_absent"])
    ghost = next(e for e in seen.elements if e.locator.css == expect["dom_visible_but_not_in_ax"][0]["css"])
    assert page_cases.close_to(ghost.bbox, expect["dom_visible_but_not_in_ax"][0]["bbox_css"], 0.5)
    assert ghost.text == "Ghost" and ghost.interactive


def test_names_and_states_are_those_of_the_accessibility_tree(cases: Path) -> None:
    folder = cases / "browser" / "B107-accessibility-without-removed-call"
    with page_cases.opened(folder) as page:
        seen = page.observe()
    assert not seen.notes
    for wanted in page_cases.case(folder)["expect"]["ax_nodes_include"]:
        held = [e for e in seen.elements if (e.role, e.name) == (wanted["role"], wanted["name"]) and e.acts_on is None]
        assert len(held) == 1, wanted
        states = held[0].states
        if "checked" in wanted:
            assert states.checked == "true"
        if "expanded" in wanted:
            assert states.expanded is False
        if "value" in wanted:
            assert states.value == "3"


def test_a_remembered_element_never_slides_to_a_neighbour(cases: Path) -> None:
    folder = cases / "browser" / "B14-stale-reference-after-insert"
    told = page_cases.case(folder)
    with page_cases.opened(folder) as page:
        (step,) = page_cases.Player(page).play(told["do"])
        assert page.evaluate("document.body.dataset.last ?? null") == "Beta"
        assert step.target is not None and step.target.name == "Beta"
        page.evaluate("document.querySelectorAll('button')[2].remove()")
        gone = page.act(step.action.__class__(type="click", element=step.target.id))
        assert gone.error is not None and gone.error.startswith("target_stale")
        assert page.evaluate("document.body.dataset.last") == "Beta"


def test_a_new_tab_is_observed_when_it_opens(cases: Path) -> None:
    folder = cases / "browser" / "B15-new-tab-observation"
    expect = page_cases.case(folder)["expect"]
    with page_cases.opened(folder) as page:
        player = page_cases.Player(page)
        verbs = page_cases.case(folder)["do"]
        player.play(verbs[:1])
        assert [p.title for p in page.pages if p.active] == ["Second"]
        player.play(verbs[1:])
        assert len(page.pages) == expect["pages"]
        assert page.title == expect["final_title_of_page_2"]
    for step, wanted in zip(player.steps, expect["steps"], strict=True):
        assert step.observation.title == wanted["page_title"] and step.error is None
        assert step.target is not None and step.target.locator.css == wanted["target"]["css"]
        assert page_cases.close_to(step.target.bbox, wanted["target"]["bbox_css"], 0.5)
        assert step.effect is not None and step.effect.happened is True
    assert any("page opened" in phrase for phrase in player.steps[0].effect.state)  # type: ignore[union-attr]


@pytest.mark.parametrize("policy", ["accept", "dismiss"])
def test_a_dialog_is_answered_and_told_as_it_was(cases: Path, policy: str) -> None:
    folder = cases / "browser" / "B16-alert-dialog"
    told = page_cases.case(folder)
    began = time.monotonic()
    with page_cases.opened(folder, dialogs=policy) as page:
        (step,) = page_cases.Player(page).play(told["do"])
        answer = page.evaluate("document.body.dataset.answer")
    assert time.monotonic() - began < told["expect"]["max_seconds"]
    assert step.after is not None and step.after.screenshot is not None
    (dialog,) = step.after.dialogs
    assert (dialog.type, dialog.message) == ("confirm", "Delete 3 files?")
    assert str(dialog.accepted).lower() == answer == str(policy == "accept").lower()


def test_a_font_that_never_arrives_blocks_no_picture(cases: Path) -> None:
    folder = cases / "capture" / "B21-font-never-arrives"
    told = page_cases.case(folder)
    began = time.monotonic()
    with page_cases.opened(folder, limit=2.0) as page:
        observation, (found,) = page.select("#go")
        assert time.monotonic() - began < told["expect"]["max_seconds"]
        check_picture(observation, told["expect"])
        check_element(observation, found[0], told["expect"]["elements"][0], 0.5)
        assert any("font" in note for note in observation.notes)
        began = time.monotonic()
        page.observe()
        assert time.monotonic() - began < 2.0, "what did not arrive is not waited for twice"


def test_a_strict_policy_stays_as_strict(cases: Path) -> None:
    folder = cases / "capture" / "B22-strict-csp"
    told = page_cases.case(folder)
    with page_cases.opened(folder, patience=0.2) as page:
        (step,) = page_cases.Player(page).play(told["do"])
        assert page.evaluate("document.documentElement.dataset.inline ?? null") is None
    assert step.target is not None and step.target.locator.css == "#go"
    assert page_cases.close_to(step.target.bbox, [60, 60, 200, 50], 0.5)


def test_a_frame_written_by_script_is_reached(cases: Path) -> None:
    folder = cases / "capture" / "B23-frame-written-by-script"
    told = page_cases.case(folder)
    with page_cases.opened(folder) as page:
        (step,) = page_cases.Player(page).play(told["do"])
        check_probe(page, told["expect"])
    assert step.target is not None
    assert (step.target.locator.frames, step.target.locator.css) == (("#ed",), "#bold")
    assert page_cases.close_to(step.target.bbox, [60, 82, 60, 30], 0.5)


def test_an_option_is_chosen_as_an_option(cases: Path) -> None:
    folder = cases / "capture" / "B25-native-select"
    told = page_cases.case(folder)
    with page_cases.opened(folder) as page:
        (step,) = page_cases.Player(page).play(told["do"])
        check_probe(page, told["expect"])
    assert (step.action.type, step.action.value, step.action.text) == ("select", "cat", "Cat")
    assert step.target is not None and page_cases.close_to(step.target.bbox, [110, 40, 160, 30], 0.5)
    assert step.effect is not None and step.effect.happened


def test_a_popup_that_closes_itself_leads_back_to_its_opener(cases: Path) -> None:
    folder = cases / "capture" / "B27-popup-closes-itself"
    told = page_cases.case(folder)
    with page_cases.opened(folder) as page:
        steps = page_cases.Player(page).play(told["do"])
        assert page.title == told["expect"]["final_title"]
    assert [s.observation.title for s in steps] == ["Opener", "Pop", "Opener"]
    assert [s.target.locator.css if s.target else None for s in steps] == ["#ask", "#ok", "#next"]
    assert all(s.error is None and s.effect is not None and s.effect.happened for s in steps)
    assert any("page closed" in phrase for phrase in steps[1].effect.state)  # type: ignore[union-attr]


def test_every_click_of_a_long_run_is_told_with_its_effect(cases: Path) -> None:
    """An episode of B30; the memory of ten of them is measured in the soak tests."""
    folder = cases / "capture" / "B30-long-run-soak"
    expect = page_cases.case(folder)["expect"]
    with page_cases.opened(folder) as page:
        player = page_cases.Player(page)
        for number in range(1, expect["clicks_per_episode"] + 1):
            (*_, step) = player.play([{"do": "click", "at": [110, 55]}])
            assert step.effect is not None and step.effect.happened, (number, step.effect)
            assert f"-> '{number}'" in step.effect.state[0]
        assert page.evaluate("document.getElementById('o').textContent") == expect["counter_at_end_of_each_episode"]
        began = time.monotonic()
    assert time.monotonic() - began < expect["budget"]["close_seconds"]


@pytest.mark.parametrize("style", ["", "button{transition:opacity .2s}button:focus{opacity:.99}"])
def test_the_focus_and_what_runs_at_once_end_no_wait_for_an_effect(style: str) -> None:
    """A sibling of B56: the button takes the focus and fades, the field before it says that it changed; the text is late."""
    html = (
        f"<!doctype html><style>{style}</style><input aria-label=Name>"
        "<button onclick=\"setTimeout(() => (this.textContent = 'Done'), 900)\">Go</button>"
    )
    with browser.open(html, online=False) as page:
        field, button = (e for e in page.observe().elements if e.role in ("textbox", "button"))
        began = time.monotonic()
        assert page.act(Action(type="click", element=field.id)).effect.happened  # type: ignore[union-attr]
        assert time.monotonic() - began < 2, "to enter a field is an effect by itself"
        page.act(Action(type="type", element=field.id, text="Ann"))
        step = page.act(Action(type="click", element=button.id))
    assert step.effect is not None and step.effect.happened, step.effect
    assert step.after is not None and [e.name for e in step.after.elements if e.role == "button"] == ["Done"]


@pytest.mark.parametrize("modes", ["open closed", "closed open", "closed closed closed"])
def test_closed_roots_are_reached_in_each_other_and_on_hosts_without_a_size(modes: str) -> None:
    """A sibling of B03: components in components, each on a host whose only child is placed by itself."""
    html = f"""<!doctype html><div id=host style="position:absolute;left:200px;top:150px"></div><script>
    let host = document.querySelector('#host'), root
    for (const mode of '{modes}'.split(' ')) {{
      root = host.attachShadow({{mode}})
      root.innerHTML = '<div style="position:absolute;left:10px;top:20px"></div>'
      host = root.firstChild
    }}
    root.innerHTML = '<button style="position:absolute;width:140px;height:36px">Order</button>'
    </script>"""
    with browser.open(html) as page:
        observation = page.observe()
    (button,) = [e for e in observation.elements if e.name == "Order"]
    inner = len(modes.split()) - 1
    assert page_cases.close_to(button.bbox, (200 + 10 * inner, 150 + 20 * inner, 140, 36), 0.5)
    assert len(button.locator.shadow) == inner + 1
    assert target_verdict.verdict(button, observation).keep == "yes"


def test_a_frame_that_never_answers_costs_neither_the_others_nor_the_selectors() -> None:
    """A sibling of B18: the script of one frame runs without end, and holds the whole page's process."""
    pay = "".join(f"<iframe srcdoc='<button>Pay {n}</button>'></iframe>" for n in range(3))
    endless = '<iframe srcdoc="<script>setTimeout(() => { for (;;); }, 400)</script>"></iframe>'
    with browser.open(f"<!doctype html>{pay}{endless}", limit=3.0) as page:
        time.sleep(1.0)
        observation, (found,) = page.select("button")
    assert [e.name for e in found] == ["Pay 0", "Pay 1", "Pay 2"]
    assert any("without end" in note for note in observation.notes)


MODALS = {
    "behind a dialog of an open root": ("open", "r.firstChild.showModal()"),
    "behind a dialog of a closed root": ("closed", "r.firstChild.showModal()"),
    "in a dialog behind another": ("open", "d.showModal(); e.showModal()"),
    "in a dialog behind one that is held by it": ("open", "d.showModal(); f.showModal()"),
}


@pytest.mark.parametrize("which", MODALS)
def test_what_a_modal_dialog_stops_is_disabled_whichever_holds_it(which: str) -> None:
    mode, script = MODALS[which]
    html = f"""<!doctype html><dialog id=d style="margin:0"><button id=in>In</button><dialog id=f>f</dialog></dialog><dialog id=e>e</dialog>
    <button id=out>Out</button><div id=h></div><script>const r = h.attachShadow({{mode: '{mode}'}})
    r.innerHTML = '<dialog style="margin:200px">r</dialog>'; {script}</script>"""
    with browser.open(html) as page:
        observation, found = page.select("#in", "#out")
    for (element,) in found:
        if element.evidence.rendered:
            assert element.evidence.inert
            assert target_verdict.verdict(element, observation).reason == "target_disabled", which


def test_a_name_ends_where_its_words_do() -> None:
    """Chromium's tree keeps white space beside hidden parts: a name with it matches no name that a person reads."""
    html = "<!doctype html><button><i aria-hidden=true>*</i> Rate</button><a href=#><b>Read</b> <i hidden>z</i></a>"
    with browser.open(html) as page:
        names = [e.name for e in page.observe().elements if e.role in ("button", "link")]
    assert names == ["Rate", "Read"]
