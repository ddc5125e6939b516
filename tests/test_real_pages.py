"""Questions about pages that nobody generated: recordings, files and web archives, through the same gates."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from cuadata import dataset, image
from cuadata.errors import CallError, DataError
from cuadata.generating import colours, mhtml, real_pages
from cuadata.rows import Grounding
from cuadata.types import BBox

RECORDINGS = Path(__file__).resolve().parent.parent / "examples" / "recordings"
PAGE = """<!doctype html><title>Player</title><style>
button { position: absolute; width: 90px; height: 34px; border: 0; } p { position: absolute; margin: 0 }</style>
<button style="left:40px;top:40px;background:#1d4ed8;color:#fff">Play</button>
<button style="left:160px;top:40px;background:#ddd">Stop</button>
<button style="left:280px;top:40px;background:#ddd">\uf04b Next</button>
<button style="left:160px;top:120px;background:#ddd">Louder</button>
<p style="left:40px;top:300px">A sentence that nobody would use to say where a button of this page is to be found.</p>"""


def made(out: Path, page: str, seed: int = 0, places: int = 8) -> list[Grounding]:
    real_pages.generate([page], out, seed=seed, places=places)
    return [
        row for split in dataset.configs(out)["grounding"] for row in dataset.read(out, "grounding", split, Grounding)
    ]


def test_recordings_give_rows_about_what_was_seen(tmp_path: Path) -> None:
    rows = made(tmp_path / "out", str(RECORDINGS))
    assert len(rows) > 30
    assert {"direct", "spatial"} <= {row.perspective for row in rows}
    assert len({row.relation for row in rows}) > 6
    for row in rows:
        assert row.target is not None and row.target.bbox is not None and row.action.point is not None
        box, point = row.target.bbox, row.action.point
        assert box.x <= point.x <= box.right and box.y <= point.y <= box.bottom
        assert row.failures.count("") == 1
        for reference in row.references:
            assert reference.bbox is not None and len(reference.name or reference.text) <= 48


@pytest.mark.browser
def test_a_file_gives_places_looks_and_opposites(tmp_path: Path) -> None:
    page = tmp_path / "player.html"
    page.write_text(PAGE, encoding="utf-8")
    rows = made(tmp_path / "out", str(page))
    told = [row.instruction for row in rows]
    assert any(row.relation in ("left_of", "right_of", "above", "below") for row in rows)
    assert not any("\uf04b" in text or "sentence" in text for text in told)
    assert all(row.provenance.count("player.html") and row.site == "player.html" for row in rows)


@pytest.mark.browser
def test_a_file_that_needs_a_script_from_outside_its_folder(tmp_path: Path) -> None:
    """As MiniWoB++ pages do: without the script there is nothing to ask about, and the error says what would do."""
    page = tmp_path / "site" / "pages" / "player.html"
    page.parent.mkdir(parents=True)
    (tmp_path / "site" / "draw.js").write_text(f"document.documentElement.innerHTML = {PAGE!r};", encoding="utf-8")
    page.write_text("<!doctype html><script src='../draw.js'></script>", encoding="utf-8")
    with pytest.raises(DataError, match="outside its folder, name a folder above both with --root"):
        made(tmp_path / "out", str(page))
    real_pages.generate([str(page)], tmp_path / "out", root=tmp_path / "site")
    assert len(list(dataset.read(tmp_path / "out", "grounding"))) > 3


@pytest.mark.browser
def test_a_web_archive_is_read_as_the_page_that_it_was(tmp_path: Path) -> None:
    archive = tmp_path / "player.mhtml"
    archive.write_bytes(archived())
    assert len(made(tmp_path / "out", str(archive))) > 3


def archived() -> bytes:
    page = PAGE.replace("<style>", '<link rel="stylesheet" href="https://site.example/a.css?x=1&amp;y=2"><style>', 1)
    page += '<script>alert(1)</script><iframe src="cid:frame-1@mhtml.blink"></iframe>'
    parts = [
        ("text/html", "https://site.example/", "", page),
        ("text/css", "https://site.example/a.css?x=1&y=2", "", "body { background: white }"),
        ("text/html", "", "<frame-1@mhtml.blink>", "<p>inner</p>"),
    ]
    lines = [
        "From: <Saved by Blink>",
        "MIME-Version: 1.0",
        'Content-Type: multipart/related; type="text/html"; boundary="BB"',
    ]
    lines.append("")
    for kind, at, cid, text in parts:
        lines += ["--BB", f"Content-Type: {kind}; charset=utf-8", "Content-Transfer-Encoding: 8bit"]
        lines += [f"Content-Location: {at}"] * bool(at) + [f"Content-ID: {cid}"] * bool(cid) + ["", text]
    return "\r\n".join([*lines, "--BB--", ""]).encode()


def test_an_archive_is_unpacked_under_names_of_our_own(tmp_path: Path) -> None:
    archive, folder = tmp_path / "page.mhtml", tmp_path / "parts"
    folder.mkdir()
    archive.write_bytes(archived())
    page = mhtml.unpack(archive, folder)
    text = page.read_text(encoding="utf-8")
    assert page.parent == folder and len(list(folder.iterdir())) == 3
    assert "site.example/a.css" not in text and "cid:" not in text and "alert" not in text
    sheet = next(folder.glob("*.css"))
    assert f'href="{sheet.name}"' in text and "background: white" in sheet.read_text()
    archive.write_bytes(b"<html>no archive</html>")
    with pytest.raises(DataError, match="no part of type text/html"):
        mhtml.unpack(archive, folder)


def test_a_colour_is_named_where_people_agree() -> None:
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (400, 40), "white")
    shown = {"#d62828": "red", "#2563eb": "blue", "#168c3c": "green", "#777777": "", "#0f9696": "", "#fff": ""}
    for place, colour in enumerate(shown):
        ImageDraw.Draw(picture).rectangle((place * 50, 0, place * 50 + 39, 39), fill=colour)
    out = io.BytesIO()
    picture.save(out, "PNG")
    boxes = [BBox(place * 50, 0, 40, 40) for place in range(len(shown))]
    assert colours.named(image.from_bytes(out.getvalue()), boxes, 1.0) == list(shown.values())
    assert colours.named(image.from_bytes(out.getvalue()), [BBox(900, 0, 10, 10)], 1.0) == [""]


def test_a_colour_that_somebody_may_name_is_hinted_at() -> None:
    """A dark blue ground, blue letters, a turquoise that is blue to some: none of them is 'the blue one' beside another."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (300, 40), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 39, 39), fill="#3b5998")
    draw.rectangle((50, 15, 89, 18), fill="#2563eb")
    draw.rectangle((100, 0, 139, 39), fill="#00b4c8")
    draw.rectangle((150, 0, 189, 39), fill="#777777")
    out = io.BytesIO()
    picture.save(out, "PNG")
    boxes = [BBox(place * 50, 0, 40, 40) for place in range(6)]
    hints = colours.hinted(image.from_bytes(out.getvalue()), [*boxes, BBox(900, 0, 10, 10)], 1.0)
    assert [sorted(one) for one in hints] == [["blue"], ["blue"], ["blue", "green"], [], [], [], []]


REGIONS = """<!doctype html><title>Shop</title><style>* { margin: 0 } a, button { display: inline-block; padding: 6px 14px }
.wide { display: block; width: 300px; color: #fff; text-align: center } nav, p, div { margin: 14px }</style>
<nav aria-label="Breadcrumb"><a href="#h">Home</a> <span>›</span> <span>Prices</span></nav>
<div><a href="#c">Chat <b>17</b></a> <a href="#i">Inbox</a> <a href="#t">Trash</a></div>
<p>Choose a way to pay</p>
<a class="wide" style="background:#4e73df" href="#1">Card</a>
<a class="wide" style="background:#3b5998" href="#2">Transfer</a>
<button style="position:absolute;left:400px;top:-20px;height:44px">Hidden words</button>"""


@pytest.mark.browser
def test_regions_parts_and_what_is_cut_off_are_not_spoken_of(tmp_path: Path) -> None:
    """Nobody sees the label of a landmark or the words that the view cuts off; a badge is a part of its link."""
    page = tmp_path / "shop.html"
    page.write_text(REGIONS, encoding="utf-8")
    told = [row for seed in range(4) for row in made(tmp_path / str(seed), str(page), seed, places=30)]
    assert len(told) > 20
    for row in told:
        assert not {"Breadcrumb", "›", "17", "Hidden words"} & {one.name or one.text for one in row.references}
        assert row.target is not None and row.target.name != "Hidden words"
        assert "blue link" not in row.instruction, "the way to pay by transfer is blue too"
    assert any(one.text == "Choose a way to pay" or one.text == "Prices" for row in told for one in row.references)


_PLACED = (
    "<style>body { margin: 30px } button { position: absolute; width: 120px; height: 36px } p { width: 400px }</style>"
)
_HEADED = """<h2>Billing</h2><button style="left:900px;top:80px">Pay now</button>
<button style="left:30px;top:170px">Invoices</button><button style="left:30px;top:240px">Notes</button>"""
_TILTED = """<button style="left:100px;top:200px;width:400px;transform:rotate(45deg)">Diagonal</button>
<button style="left:170px;top:310px;width:70px">Corner</button><button style="left:380px;top:90px">Edge</button>
<button style="left:700px;top:200px">Left</button><button style="left:840px;top:200px">Right</button>"""
_BROKEN = """<p>See the <a href="#1">first rather longish link</a> or, if you want to, <a href="#2">the other one which wraps
around here</a>, or <a href="#3">Mail</a>.</p><button>Agree</button><button style="left:200px">Refuse</button>"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("body", "untrue"),
    [
        (_HEADED, "(?=.*Billing.*)(?=.*(under|below|nearest|closest|column))"),
        (_TILTED, "within|inside|contain|overlap"),
        (_BROKEN, "within|inside|contain|overlap|link.* (of|above|over|below|under|to) "),
    ],
)
def test_nobody_is_asked_by_a_box_that_is_not_seen(body: str, untrue: str, tmp_path: Path) -> None:
    """A heading's box is as wide as the page, a tilted one's has empty corners, a broken link's holds its neighbours."""
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><html lang=en>" + _PLACED + body, encoding="utf-8")
    told = [row for seed in range(4) for row in made(tmp_path / str(seed), str(page), seed)]
    assert any(row.relation for row in told)
    assert not [row.instruction for row in told if row.relation and re.match(f".*({untrue})", row.instruction)]


@pytest.mark.parametrize("page", ["nowhere.html", "no such folder"])
def test_a_page_that_is_not_there_is_refused(page: str, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="neither an address, nor a file"):
        real_pages.generate([page], tmp_path / "out")
    with pytest.raises(CallError, match="0 pages"):
        real_pages.generate([], tmp_path / "out")
    assert not (tmp_path / "out").exists()
