"""Effects on live pages: what changed by meaning alone, by look alone, elsewhere, or only seems to have changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from cuadata import browser
from cuadata.types import Action, Element, Point, Size

pytestmark = pytest.mark.browser
HEAD = "<!doctype html><title>t</title><style>body{margin:20px;font:16px sans-serif}button,#go{width:120px;height:32px}</style>"
SHADOW = """<div id=host></div><script>
const root = host.attachShadow({mode: 'MODE'});
root.innerHTML = '<label><input type=radio name=a checked>Small</label> <label id=go><input type=radio name=a>Large</label>'
</script>"""
BLOCK = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='80'><rect width='80' height='80' fill='{}'/></svg>"


@dataclass(frozen=True, slots=True)
class Sibling:
    """A page, what is done in it, and whether that did anything."""

    html: str
    happened: bool
    says: str = ""
    action: Action | None = None  # None: a click on what is called Go
    first: str = ""  # an expression that is evaluated before
    ratio: float = 1.0


def _click(script: str, body: str) -> str:
    return (
        f"{HEAD}{body}<script>document.querySelector('#go').addEventListener('click', (e) => {{ {script} }})</script>"
    )


LARGE = Action(type="click", point=Point(110, 30))
_FIELD = f"{HEAD}<input id=field aria-label=Field value=abc>"
NOTICE = (
    "<p id=note style='position:fixed;right:9px;bottom:9px'>Saved</p>"
    "<script>setInterval(() => { note.hidden = !note.hidden }, 300)</script>"
)
LONGER_THAN_A_FLIP = "new Promise((done) => setTimeout(done, 1800))"
SIBLINGS: dict[str, Sibling] = {
    "a switch that only assistive technology hears": Sibling(
        _click("go.ariaChecked = 'true'", "<div id=go role=switch aria-checked=false tabindex=0>Go</div>"), True, "checked"
    ),
    "a box that was mixed and is ticked": Sibling(
        _click("go.ariaChecked = 'true'", "<div id=go role=checkbox aria-checked=mixed tabindex=0>Go</div>"), True, "checked"
    ),
    "a state of a component library": Sibling(
        _click("go.dataset.state = 'checked'", "<button id=go role=radio data-state=unchecked>Go</button>"), True, "checked"
    ),
    "a menu that is told to be open": Sibling(
        _click("go.ariaExpanded = 'true'", "<button id=go aria-expanded=false>Go</button>"), True, "expanded"
    ),
    "another control that cannot be used any more": Sibling(
        _click(
            "other.disabled = true",
            "<style>#other{color:#333;background:#ddd;border:0}</style><button id=go>Go</button> <button id=other>Send</button>",
        ),
        True,
        "disabled",
    ),
    "a radio in an open shadow root": Sibling(HEAD + SHADOW.replace("MODE", "open"), True, "checked", LARGE),
    "a radio in a closed shadow root": Sibling(HEAD + SHADOW.replace("MODE", "closed"), True, "checked", LARGE),
    "one more option of a list that takes several": Sibling(
        f"{HEAD}<select multiple size=3 aria-label=Sizes style='font:16px sans-serif'><option selected>S<option>M<option>L</select>",
        True,
        "selected",
        Action(type="select", text="L"),
    ),
    "words in an editable text that are drawn in no colour": Sibling(
        f"{HEAD}<div id=edit contenteditable role=textbox aria-label=Note style='color:transparent;outline:0'>abc</div>",
        True,
        "",
        Action(type="type", text="xyz"),
        first="edit.focus(), getSelection().selectAllChildren(edit), getSelection().collapseToEnd()",
    ),
    "the caret put into an editable text without a role": Sibling(
        f"{HEAD}<div id=go contenteditable style='outline:0;caret-color:transparent'></div>", True, "focus: none ->"
    ),
    "a press on a text that is not editable": Sibling(
        f"{HEAD}<div id=go contenteditable=false tabindex=0 style='outline:0'></div>", False
    ),
    "the caret in another colour": Sibling(
        _FIELD + "<script>field.onkeydown = () => { field.style.caretColor = 'red' }</script>",
        False,
        action=Action(type="press", keys=("Shift",)),
        first="field.focus()",
    ),
    "a caret that blinks at two pixels a CSS pixel": Sibling(
        _FIELD, False, action=Action(type="press", keys=("Shift",)), first="field.focus()", ratio=2.0
    ),
    "a page scrolled by one pixel": Sibling(
        f"{HEAD}<div style='height:3000px;background:repeating-linear-gradient(#fff 0 9px,#ccc 9px 18px)'></div>",
        True,
        "scroll",
        Action(type="scroll", scroll_y=1.0, scroll_unit="px"),
    ),
    "another picture of the same brightness": Sibling(
        _click(
            f'''shown.src = "data:image/svg+xml," + encodeURIComponent("{BLOCK.format('rgb(0,150,31)')}")''',
            f"""<button id=go>Go</button> <img id=shown alt=Colour src="data:image/svg+xml,{BLOCK.format('rgb(200,60,34)')}">""",
        ),
        True,
    ),
    "a toast far from the click": Sibling(
        _click(
            "document.body.insertAdjacentHTML('beforeend', '<p style=\"position:fixed;right:9px;bottom:9px\">Saved</p>')",
            "<button id=go>Go</button>",
        ),
        True,
    ),
    "a notice that comes and goes by itself": Sibling(
        f"{HEAD}<button id=go>Go</button>{NOTICE}", False, first=LONGER_THAN_A_FLIP
    ),
    "a word that comes beside a notice that comes and goes by itself": Sibling(
        _click("said.textContent = 'Sent'", f"<button id=go>Go</button><p id=said></p>{NOTICE}"), True, "Sent",
        first=LONGER_THAN_A_FLIP,
    ),
    "a notice that came by itself and is closed": Sibling(
        _click(
            "note.remove()",
            "<button id=go>Close</button><p id=note hidden>Saved</p>"
            "<script>setTimeout(() => { note.hidden = false }, 300)</script>",
        ),
        True,
        "gone",
        first=LONGER_THAN_A_FLIP,
    ),
    "the same page loaded again": Sibling(
        f"{HEAD}<button id=go>Go</button><p>Nothing else.</p>", False, action=Action(type="reload")
    ),
}  # fmt: skip


def _action(one: Sibling, elements: Sequence[Element]) -> Action:
    """What is done; an option is chosen in the page's only list, a click is on what is called Go."""
    if one.action is None:
        return Action(type="click", element=next(e.id for e in elements if e.locator.css == "#go"))
    if one.action.type == "select":
        return replace(one.action, element=next(e.id for e in elements if e.tag == "select"))
    return one.action


@pytest.mark.parametrize("name", SIBLINGS)
def test_whether_it_did_anything(name: str) -> None:
    one = SIBLINGS[name]
    with browser.open(one.html, viewport=Size(640, 400), device_pixel_ratio=one.ratio) as page:
        if one.first:
            page.evaluate(one.first)
        seen = page.observe()
        step = page.act(_action(one, seen.elements), observation=seen)
    assert step.error is None and step.effect is not None, step.error
    assert step.effect.happened is one.happened, step.effect
    assert one.says in " ".join(step.effect.state), step.effect
