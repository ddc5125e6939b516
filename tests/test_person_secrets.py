"""A page that tries in many ways to get a password into the output: every byte that is written is searched."""

from __future__ import annotations

import base64
import gzip
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np
import page_cases
import people
import pytest

from cuadata import image, recording
from cuadata.types import Element, Image, Step, Trajectory

pytestmark = pytest.mark.browser

PASSWORD = "Tulip&Moss-4711"


def forms(secret: str) -> set[bytes]:
    """A secret as a page could write it."""
    coded = {base64.b64encode(b"x" * n + secret.encode())[n + 1 : -4].decode() for n in (0, 1, 2)}
    return {
        one.encode()
        for one in (secret, quote(secret), secret.replace("&", "&amp;"), secret[::-1], secret.encode().hex(), *coded)
    }


def written(folder: Path) -> bytes:
    """Every byte of a recording, packed ones also unpacked."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found += [str(path).encode(), data, gzip.decompress(data) if path.suffix == ".gz" else b""]
    return b"\n".join(found)


def test_secrets_never_reach_the_disk(cases: Path, tmp_path: Path) -> None:
    folder = cases / "recorder" / "B41-secrets-never-stored"
    expect = page_cases.case(folder)["expect"]
    with people.recorded(folder, tmp_path / "out") as (session, hands):
        hands.play(page_cases.case(folder)["do"])
        session.settle()
        assert session.page.evaluate(expect["probe"]["js"]) == expect["probe"]["equals"]
        session.end("success", instruction=f"Log in with password {expect['probe']['equals']}")
    data = written(tmp_path / "out")
    for text in expect["must_not_occur"]:
        assert text.encode() not in data, text
    for text in expect["must_occur"]:
        assert text.encode() in data, text
    held = recording.read(tmp_path / "out")
    told = [f"{kind} {'into ' if kind == 'type' else ''}{way}" for kind, way in people.told(held.steps)]
    left = iter(told)
    assert all(one in left for one in expect["steps_kept"]), told
    last = held.steps[-1].after
    assert last is not None
    for region in expect["picture_regions_to_mask_css"]:
        assert is_masked(last.screenshot, region)


def is_masked(shot: Image | None, region: list[float]) -> bool:
    """Whether a part of a picture is of one colour."""
    assert shot is not None
    x, y, width, height = (int(n) for n in region)
    part = image.rgb(image.read(shot))[y : y + height, x : x + width]
    return bool((part == part[0, 0]).all())


HOSTILE = """<!doctype html><meta charset=utf-8><title>in</title><style>body{margin:8px;font:16px monospace}
#spelt span{position:relative}#css::after{content:attr(data-v)}</style>
<input id=pw type=password aria-label=Key style="width:240px;height:30px"><input id=twin aria-label=Copy>
<button id=go style="width:60px;height:30px">Go</button><p id=plain></p><p id=spelt></p><p id=css></p><canvas id=paint width=300 height=30></canvas>
<select id=list aria-label=List></select><textarea id=area aria-label=Area></textarea><a id=link href="#">link</a><div id=named role=img></div>
<iframe id=frame srcdoc="<p>nothing</p>"></iframe>
<script>
const $ = (id) => document.getElementById(id), pw = $('pw');
pw.addEventListener('keydown', e => { document.title = (document.title + e.key).slice(-40) });
pw.addEventListener('input', () => { const v = pw.value;
  pw.setAttribute('value', v); pw.setAttribute('placeholder', v);                     // 1 its own attributes
  document.title = 'you typed ' + v;                                                  // 2 the title
  history.replaceState(0, '', '#q=' + encodeURIComponent(v) + '&b=' + btoa(v));       // 3 the address, also in base64
  $('plain').textContent = 'You: ' + v;                                               // 4 text
  $('spelt').innerHTML = [...v].map(c => '<span>' + c.replace('&', '&amp;') + '</span>').join('');  // 5 letter by letter
  $('css').dataset.v = v;                                                             // 6 generated content
  $('twin').value = v; $('area').value = [...v].reverse().join('');                   // 7 other fields, backwards
  $('list').innerHTML = '<option>' + v.replace('&', '&amp;') + '</option>';           // 8 an option
  $('named').setAttribute('aria-label', v); $('link').href = '/x?p=' + encodeURIComponent(v);  // 9 names and links
  $('frame').contentDocument.body.textContent = v;                                    // 10 another document
  const g = $('paint').getContext('2d'); g.clearRect(0, 0, 300, 30); g.font = '20px serif'; g.fillText(v, 5, 20);  // 11 paint
  sessionStorage.v = v; document.cookie = 'v=' + encodeURIComponent(v); console.log(v);  // 12 storage and log
});
pw.addEventListener('change', () => { pw.type = 'text' });                            // 13 shown as soon as it is left
$('go').addEventListener('click', () => { const n = document.createElement('input');  // 14 replaced by another field
  n.value = pw.value; n.id = 'new'; n.setAttribute('aria-label', 'Plain'); pw.replaceWith(n);
  window.open('javascript:document.title=' + JSON.stringify(JSON.stringify(n.value))) });
</script>"""


def test_a_hostile_page_gets_no_password_into_the_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with people.recording_of(HOSTILE, tmp_path / "out") as (session, hands):
        hands.click(100, 22)
        hands.type(PASSWORD, pause=40)
        hands.press("Tab")
        hands.type("!")
        session.settle()
        go = hands.run(hands.page.locator("#go").bounding_box())
        hands.click(go["x"] + 10, go["y"] + 10)
        time.sleep(0.5)
        session.settle()
        session.end("success")
    held = recording.read(tmp_path / "out")
    data = written(tmp_path / "out") + "".join(capfd.readouterr()).encode()
    for form in forms(PASSWORD):
        assert form.lower() not in data.lower(), form
    assert b"masked-password-1" in data
    assert ("type", "#pw") in people.told(held.steps)
    check_pictures(held)


def check_pictures(held: Trajectory) -> None:
    """Where a page shows the secret, its pictures are painted over: no ink of letters is left in those places."""
    typed = next(n for n, step in enumerate(held.steps) if step.action.type == "type")
    for step in held.steps[typed + 1 :]:
        if step.observation.screenshot is None or not step.observation.elements:
            continue
        for element in shown(step):
            box = element.bbox
            assert box is not None
            pixels = image.rgb(image.read(step.observation.screenshot))
            part = pixels[int(box.y) + 3 : int(box.bottom) - 3, int(box.x) + 3 : int(box.x) + 60]
            assert part.size == 0 or np.ptp(part) == 0, (step.index, element.locator)


def shown(step: Step) -> list[Element]:
    """The elements of the hostile page that show the secret."""
    ids = {"#pw", "#twin", "#area", "#paint", "#spelt", "#plain"}
    return [e for e in step.observation.elements if e.locator.css in ids and e.bbox is not None and e.seen == 1]


HINT = """<!doctype html><meta charset=utf-8><title>Reset swordfish-77</title><style>body{margin:0;font:16px sans-serif}
*{position:absolute}</style><p id=hint style="left:10px;top:10px;width:300px;height:30px;margin:0">Use swordfish-77 today</p>
<button id=ok style="left:10px;top:60px;width:90px;height:30px" onclick="hint.remove(); document.title='On'">Got it</button>
<input type=password id=p style="left:10px;top:110px;width:200px;height:30px">"""


def test_a_secret_that_a_page_showed_before_it_was_typed_is_masked_in_the_steps_before(tmp_path: Path) -> None:
    with people.recording_of(HINT, tmp_path / "out") as (session, hands):
        hands.click(50, 75)
        session.settle()
        assert b"swordfish" in written(tmp_path / "out"), "nobody knows yet that it is one"
        hands.click(100, 125)
        hands.type("swordfish-77")
        session.settle()
        page_cases.wait_until(
            lambda: b"swordfish" not in written(tmp_path / "out")
        )  # a recorder that is killed now leaves none
        session.end("success")
    assert b"swordfish" not in written(tmp_path / "out")
    held = recording.read(tmp_path / "out")
    assert [s.action.type for s in held.steps] == ["click", "click", "type"]
    first = held.steps[0].observation
    assert first.screenshot is not None
    assert not image.rgb(image.read(first.screenshot))[14:36, 14:150].any(), "the hint is black in the picture too"
    assert any("before it was known" in note for note in held.notes)
    assert len(list((tmp_path / "out" / "blobs").iterdir())) >= 2
