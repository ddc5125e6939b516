"""Scenarios of the test half, sb-admin-2 and the gauntlet, written from their HTML, played after the thresholds were frozen.

Rows of id, class, page, action, effect (None: the DOM says), setup, what is done before, ambient, times of the frames after.
"""

from __future__ import annotations

from typing import Any

_SITE = "sb-admin-2"
_ONCE, _LATE = (0.35,), (0.25, 0.6, 1.0, 1.5, 2.0)
_FRAMED = ("index", "buttons", "cards", "tables", "charts", "404", "blank", "utilities-color", "utilities-other")

#: class, pages, action, effect, what is done before
_PLAIN: list[tuple[str, str, tuple[Any, ...], bool | None, tuple[tuple[Any, ...], ...]]] = [
    ("menu", "index cards tables", ("click", "#userDropdown"), True, ()),
    ("menu", "buttons 404", ("click", "#alertsDropdown"), True, ()),
    ("menu", "blank utilities-color", ("click", "#messagesDropdown"), True, ()),
    ("menu_close", "index blank", ("at", 700, 640), True, (("click", "#userDropdown"), ("wait", 500))),
    ("menu_card", "cards", ("click", "#dropdownMenuLink"), True, ()),
    ("sidebar", "index tables", ("click", "#sidebarToggle"), True, ()),
    ("collapse", "buttons blank charts", ("click", "#accordionSidebar .nav-link >> nth=1"), None, ()),
    ("collapse", "index utilities-other", ("click", "#accordionSidebar .nav-link >> nth=2"), None, ()),
    ("collapse_card", "cards", ("click", "[href='#collapseCardExample']"), True, ()),
    ("modal", "index blank", ("click", "[data-target='#logoutModal']"), True, (("click", "#userDropdown"), ("wait", 400))),
    (
        "modal_close",
        "index",
        ("click", "#logoutModal .btn-secondary"),
        True,
        (("click", "#userDropdown"), ("wait", 400), ("click", "[data-target='#logoutModal']"), ("wait", 700)),
    ),
    ("tick", "login", ("click", "label[for=customCheck]"), True, ()),
    ("tick", "login-2", ("click", "label[for=customCheck]"), True, (("click", "label[for=customCheck]"), ("at", 60, 600))),
    ("focus", "login", ("click", "input[type=email]"), True, ()),
    ("focus", "register", ("click", "#exampleFirstName"), True, ()),
    ("focus", "index tables", ("click", "#content .navbar-search input >> nth=0"), True, ()),
    ("focus_key", "login register", ("press", "Tab"), True, ()),
    ("type_one", "login", ("type", "k"), True, (("click", "input[type=email]"),)),
    ("type_one", "register", ("type", "i"), True, (("click", "#exampleLastName"),)),
    ("type_one", "index blank", ("type", "l"), True, (("click", "#content .navbar-search input >> nth=0"),)),
    ("type", "forgot-password", ("type", "kim@example.org"), True, (("click", "input[type=email]"),)),
    ("type_space", "register", ("type", " "), True, (("click", "#exampleFirstName"), ("type", "Kim"))),
    ("type_secret", "login", ("type", "9"), True, (("click", "input[type=password]"),)),
    ("delete_one", "login", ("press", "Backspace"), True, (("click", "input[type=email]"), ("type", "kim"))),
    ("table_search", "tables", ("type", "Tok"), True, (("click", "#dataTable_filter input"),)),
    ("table_sort", "tables", ("click", "#dataTable th >> nth=3"), True, ()),
    ("table_sort", "tables-2", ("click", "#dataTable th >> nth=0"), True, ()),
    ("table_length", "tables", ("select", "#dataTable_length select", "25"), True, ()),
    ("table_page", "tables", ("click", "#dataTable_paginate li >> nth=2"), True, (("wheel", 2000, 700, 400), ("wait", 600))),
    (
        "table_page_dead",
        "tables",
        ("click", "#dataTable_previous"),
        None,
        (("wheel", 2000, 700, 400), ("wait", 900)),
    ),
    ("scroll", "index buttons", ("wheel", 300, 700, 400), True, ()),
    ("scroll_small", "index cards tables", ("wheel", 3, 700, 400), True, ()),
    ("scroll_end", "404 blank", ("wheel", 300, 700, 400), None, ()),
    ("scroll_up_dead", "index buttons", ("wheel", -300, 700, 400), False, ()),
    ("hover_chart", "charts", ("at", 640, 380), None, ()),
    ("link", "404", ("click", "#content-wrapper a[href='index.html']"), True, ()),
    ("link", "login", ("click", "a[href='register.html']"), True, ()),
    ("brand_button", "buttons", ("click", ".btn-google"), None, ()),
    ("round_button", "buttons", ("click", ".btn-circle >> nth=4"), None, ()),
    ("dead_text", "index cards tables charts 404 blank utilities-color", ("click", "#content h1, #content .error"), False, ()),
    ("dead_text", "buttons login-3", ("click", "h6, h1"), False, ()),
    ("dead_cell", "tables", ("click", "#dataTable td >> nth=7"), False, ()),
    ("dead_icon", "index", ("click", "#content .fa-calendar"), False, ()),
    ("dead_heading", "charts cards", ("click", ".card-header h6"), False, ()),
    ("blank", "index buttons cards tables 404 blank login register", ("at", 1268, 700), None, ()),
    ("blank", "forgot-password utilities-other", ("at", 1266, 690), None, ()),
    ("repeat", "index blank", ("click", "#content h1"), False, (("click", "#content h1"),)),
    ("nothing", "index tables login", ("none",), False, ()),
    ("caret", "login register forgot-password", ("none",), False, (("click", "input >> nth=0"),)),
    ("key_dead", "index blank 404", ("press", "F9"), False, ()),
    ("key_dead", "login", ("press", "a"), False, ()),
]  # fmt: skip

#: class, page, setup: what the page does by a script of its own
_SCRIPTED: list[tuple[str, str, tuple[Any, ...], bool, str]] = [
    ("disabled", "login", ("click", "#customCheck + label"), False, "document.querySelector('#customCheck').disabled=true"),
    ("disabled", "register", ("click", "#exampleFirstName"), False, "document.querySelector('#exampleFirstName').disabled=true"),
    ("disabled", "index", ("click", "#content .navbar-search button >> nth=0"), False,
     "document.querySelectorAll('.navbar-search button').forEach(b=>b.disabled=true)"),
    ("toast", "blank", ("eval", "document.body.insertAdjacentHTML('beforeend',`<div class='alert alert-success shadow' style='position:fixed;right:16px;bottom:16px;z-index:2000'>Saved</div>`)"), True, ""),
    ("badge", "index", ("eval", "document.querySelector('.badge-counter').textContent='4+'"), True, ""),
    ("badge", "blank", ("eval", "document.querySelectorAll('.badge-counter')[1].textContent='8'"), True, ""),
    ("progress", "index", ("eval", "document.querySelector('.progress-bar').style.width='53%'"), True, ""),
    ("colour", "cards", ("eval", "document.querySelector('.border-left-primary .text-primary').className='text-xs font-weight-bold text-success text-uppercase mb-1'"), True, ""),
    ("colour", "buttons", ("eval", "document.querySelector('.btn-success.btn-circle').classList.replace('btn-success','btn-danger')"), True, ""),
    ("row_selected", "tables", ("eval", "document.querySelector('#dataTable tbody tr').classList.add('table-active')"), True, ""),
    ("invalid", "login", ("eval", "document.querySelector('input[type=email]').classList.add('is-invalid')"), True, ""),
    ("theme", "blank", ("eval", "document.querySelector('#accordionSidebar').classList.replace('bg-gradient-primary','bg-gradient-dark')"), True, ""),
    ("below_fold", "index", ("eval", "document.querySelector('footer span').textContent='Stored on the server'"), True, ""),
    ("below_fold", "tables", ("eval", "document.querySelector('footer span').textContent='Stored on the server'"), True, ""),
    ("raster", "cards", ("eval", "document.querySelector('.container-fluid').style.willChange='transform'"), False, ""),
    ("raster", "index", ("eval", "document.querySelector('#content').style.willChange='opacity'"), False, ""),
    ("late", "blank", ("eval", "setTimeout(()=>document.querySelector('#userDropdown').click(),1300)"), True, ""),
    ("late", "login", ("eval", "setTimeout(()=>document.querySelector('#customCheck').click(),1300)"), True, ""),
    ("late", "tables", ("eval", "setTimeout(()=>document.querySelector('#dataTable th').click(),1300)"), True, ""),
    ("late", "index", ("eval", "setTimeout(()=>{document.querySelector('.badge-counter').textContent='9+'},1300)"), True, ""),
]  # fmt: skip

_STRIPED = "document.querySelectorAll('.progress-bar').forEach(e=>{e.classList.add('progress-bar-striped','progress-bar-animated')})"
_SPINNER = (
    "document.querySelector('.card-body').insertAdjacentHTML('afterbegin',"
    "`<div class='spinner-border text-primary' data-ambient></div>`)"
)
_GROWER = _SPINNER.replace("spinner-border", "spinner-grow")
#: class, page, action, effect, setup, ambient
_MOVING: list[tuple[str, str, tuple[Any, ...], bool, str, tuple[tuple[str, int, int], ...]]] = [
    ("spinner", "index", ("click", "#content h1"), False, "", (("spinner", 620, 30),)),
    ("spinner", "cards", ("click", "#content h1"), False, _SPINNER, ()),
    ("spinner", "buttons", ("click", "#content h1"), False, _GROWER, ()),
    ("bar", "index", ("click", "#content h1"), False, _STRIPED, ()),
    ("bar", "blank", ("click", "#content h1"), False, "", (("bar", 500, 300),)),
    ("clock", "tables", ("click", "#content h1"), False, "", (("clock", 620, 26),)),
    ("clock", "login", ("at", 60, 600), False, "", (("clock", 620, 26),)),
    ("video", "charts", ("click", "#content h1"), False, "", (("video", 900, 500),)),
    ("video", "blank", ("click", "#content h1"), False, "", (("video", 500, 300),)),
    ("pulse", "index", ("click", "#content h1"), False, "", (("pulse", 620, 30),)),
    ("pulse", "register", ("at", 60, 600), False, "", (("pulse", 40, 40),)),
    ("marquee", "404", ("click", "#content .error"), False, "", (("marquee", 620, 26),)),
    ("marquee", "cards", ("click", "#content h1"), False, "", (("marquee", 620, 26),)),
    ("all", "index", ("click", "#content h1"), False, _STRIPED, (("spinner", 620, 20), ("clock", 700, 26), ("video", 300, 560))),
    ("menu_beside_spinner", "index", ("click", "#userDropdown"), True, "", (("spinner", 620, 30),)),
    ("menu_beside_video", "blank", ("click", "#alertsDropdown"), True, "", (("video", 300, 300),)),
    ("tick_beside_clock", "login", ("click", "label[for=customCheck]"), True, "", (("clock", 60, 40),)),
    ("tick_beside_all", "login", ("click", "label[for=customCheck]"), True, "", (("spinner", 60, 40), ("clock", 60, 140), ("video", 20, 300))),
    ("focus_beside_pulse", "register", ("click", "#exampleFirstName"), True, "", (("pulse", 40, 40),)),
    ("type_beside_bar", "index", ("type", "z"), True, _STRIPED, ()),
    ("badge_beside_bar", "index", ("eval", "document.querySelector('.badge-counter').textContent='5+'"), True, _STRIPED, ()),
    ("badge_beside_clock", "blank", ("eval", "document.querySelectorAll('.badge-counter')[1].textContent='9'"), True, "", (("clock", 1080, 26),)),
    ("scroll_beside_spinner", "cards", ("wheel", 3, 700, 400), True, "", (("spinner", 620, 30),)),
    ("sidebar_beside_marquee", "tables", ("click", "#sidebarToggle"), True, "", (("marquee", 620, 26),)),
]  # fmt: skip


def _row(
    kind: str, page: str, do: Any, effect: Any, setup: str, before: Any, ambient: Any, look: Any
) -> tuple[Any, ...]:
    name, _, number = page.rpartition("-")
    file = name if name and number.isdigit() else page
    return (f"{_SITE}/{page}/{kind}", kind, f"{_SITE}/{file}.html", do, effect, setup, before, ambient, look)


def _rows() -> list[tuple[Any, ...]]:
    made = []
    for kind, pages, do, effect, before in _PLAIN:
        made += [_row(kind, page, do, effect, "", before, (), _ONCE) for page in pages.split()]
    for kind, page, do, known, setup in _SCRIPTED:
        made.append(_row(kind, page, do, known, setup, (), (), _LATE if kind == "late" else _ONCE))
    for kind, page, do, known, setup, ambient in _MOVING:
        field: Any = (("click", "#content .navbar-search input >> nth=0"),) if kind.startswith("type_") else ()
        made.append(_row(kind, page, do, known, setup, field, ambient, _ONCE))
    return made


def _gauntlet(seed: int, moves: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Moves of a gauntlet's solution, each after those before it, and presses beside them that do nothing."""
    from cuadata.registry import families

    steps = []
    for move in families["gauntlet"](seed).solution:
        css, action = move.locator.css if move.locator else "", move.action
        if action.type == "click":
            steps.append((("click", css),))
        elif action.type == "scroll":
            steps.append((("wheel", action.scroll_y, css),))
        elif action.type == "type":
            steps.append((("click", css), ("type", action.text)))
        else:
            steps.append((("over", css), ("wait", 1500)))
    made = []
    for number in moves:
        before = tuple(one for step in steps[:number] for one in step) + steps[number][:-1]
        page = f"gauntlet/{seed}.html"
        do = steps[number][-1]
        kind = {"click": "press", "wheel": "scroll", "type": "type"}[do[0]]
        name = f"gauntlet/{seed}/{number}"
        made.append((f"{name}-{kind}", kind, page, do, True, "", before, (), _ONCE))
        made.append((f"{name}-blank", "blank", page, ("at", 1270, 708), None, "", before, (), _ONCE))
        made.append((f"{name}-text", "dead_text", page, ("click", "h1, h2, p"), None, "", before, (), _ONCE))
    return made


TEST = [*_rows(), *_gauntlet(3, (0, 2, 3, 5, 6, 9)), *_gauntlet(11, (1,)), *_gauntlet(12, (0, 2))]
