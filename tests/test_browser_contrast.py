"""What paints nothing that differs from its ground is not seen; what a browser paints by itself is."""

from __future__ import annotations

import pytest

from cuadata import browser
from cuadata.types import Size

pytestmark = pytest.mark.browser
BARE = "border:0;background:none"

SHOWN = {
    "file field": "<input type=file>",
    "file field with a white name": "<input type=file style='color:#fff'>",
    "bare file field": f"<style>.n::file-selector-button{{display:none}}</style><input type=file class=n style='{BARE}'>",
    "submit without a value": f"<input type=submit style='{BARE}'>",
    "bare date": f"<input type=date style='appearance:none;{BARE}'>",
    "gradient": "<button style='border:0;color:#fff;background:linear-gradient(#00f,#0ff)'>A</button>",
    "dark even gradient": "<button style='border:0;color:#fff;background:linear-gradient(#00f,#00f)'>A</button>",
    "on a gradient": f"<p style='background:linear-gradient(#00f,#0ff)'><button style='{BARE};color:#fff'>A</button></p>",
    "shadowed text": f"<button style='{BARE};color:#fff;text-shadow:0 0 2px #000'>A</button>",
    "shadowed box": f"<button style='{BARE};color:#fff;box-shadow:0 0 #0000, 0 0 4px #000'>A</button>",
}
UNSEEN = {
    "white file field": "<style>.n::file-selector-button{display:none}</style><input type=file class=n style='color:#fff'>",
    "white reset": f"<input type=reset style='{BARE};color:#fff'>",
    "submit with an empty value": f"<input type=submit value='' style='{BARE}'>",
    "shadow of no colour": f"<button style='{BARE};color:#fff;box-shadow:0 0 #0000, 0 0 #0000'>A</button>",
    "text shadow of no colour": f"<button style='{BARE};color:#fff;text-shadow:0 0 2px transparent'>A</button>",
    "gradient of no colour": "<button style='border:0;color:#fff;background:linear-gradient(transparent,transparent)'>A</button>",
    "even gradient": "<button style='border:0;color:#fff;background:linear-gradient(#fff,#fff)'>A</button>",
    "on an even gradient": f"<p style='background:linear-gradient(#fff,#fff)'><button style='{BARE};color:#fff'>A</button></p>",
}


def test_only_what_differs_from_its_ground_is_painted() -> None:
    cells = {**SHOWN, **UNSEEN}
    body = "".join(f"<div style='height:40px' class=cell>{html}</div>" for html in cells.values())
    style = "<style>body, p { margin: 0; background: #fff }</style>"
    with browser.open(f"<!doctype html><title>Paint</title>{style}{body}", viewport=Size(800, 800)) as page:
        _, [found] = page.select(".cell button, .cell input")
    contrasts = [255 if one.evidence.contrast is None else one.evidence.contrast for one in found]
    assert len(contrasts) == len(cells)
    seen = {name for name, contrast in zip(cells, contrasts, strict=True) if contrast >= 12}
    assert seen == set(SHOWN)
