"""What is done on which page for the labelled pairs: one line a scenario.

A scenario's `effect` is what it was written for; the DOM must agree when it is played. `half` is `dev` for the pages that
the thresholds were chosen on, MiniWoB++ and TodoMVC, and `test` for those that were looked at only afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from effect_scenarios_test import TEST


@dataclass(frozen=True)
class Scenario:
    """One action on one page."""

    id: str
    kind: str
    page: str
    do: tuple[Any, ...]
    effect: bool | None = None
    setup: str = ""
    before: tuple[tuple[Any, ...], ...] = ()
    ambient: tuple[tuple[str, int, int], ...] = ()
    look: tuple[float, ...] = (0.35,)

    @property
    def site(self) -> str:
        """The site that the page belongs to."""
        return self.page.split("/")[0]

    @property
    def half(self) -> str:
        """dev or test."""
        return "dev" if self.site in ("miniwob", "todomvc") else "test"


#: Classes that recall is told by -> the kinds of scenarios in them.
CLASSES = {
    "small control": "tick tick_all radio star cell delete",
    "text": "type type_one type_space type_secret delete_one step badge text enter enter_empty",
    "focus": "focus focus_key",
    "colour": "colour row_selected invalid theme progress shade raster",
    "panel": "menu menu_close menu_card sidebar collapse collapse_card modal modal_close tab dialog select tree open icon edit toast",
    "page": "submit page link filter filter_empty table_search table_sort table_length table_page press shape",
    "scroll": "scroll scroll_small scroll_end drag slider",
    "late": "late",
    "state only": "below_fold",
    "moves alone": "spinner clock video pulse bar marquee all caret",
}  # fmt: skip


def class_of(kind: str) -> str:
    """The class of a kind of scenario: an effect beside movement, one of `CLASSES`, or an input that does nothing."""
    if "_beside_" in kind:
        return "beside movement"
    return next((name for name, kinds in CLASSES.items() if kind in kinds.split()), "dead input")


#: Begin a MiniWoB episode that does not run out; its mark of every click is no part of the page.
_EPISODE = (
    "document.getElementById('click-canvas').style.display='none';core.EPISODE_MAX_TIME=100000;"
    "Math.seedrandom({seed});core.startEpisodeReal()"
)
_MINIWOB: list[tuple[str, str, int, tuple[Any, ...], bool | None]] = [
    # task, kind, seed, action, effect
    ("click-checkboxes", "tick", 1, ("click", "#boxes input"), True),
    ("click-checkboxes", "tick", 5, ("click", "#boxes label >> nth=1"), True),
    ("click-checkboxes-large", "tick", 3, ("click", "#area input >> nth=2"), True),
    ("click-option", "radio", 1, ("click", "#boxes input"), True),
    ("click-option", "radio", 4, ("click", "#boxes label >> nth=2"), True),
    ("click-checkboxes", "submit", 2, ("click", "#subbtn"), True),
    ("click-button", "submit", 3, ("click", "#area button"), True),
    ("click-link", "dead_text", 1, ("at", 80, 25), False),
    ("click-tab-2", "tab", 2, ("click", "#area li[role=tab] >> nth=1"), True),
    ("click-tab", "tab", 3, ("click", "#area li[role=tab] >> nth=2"), True),
    ("click-tab", "repeat", 3, ("click", "#area li[role=tab] >> nth=0"), None),
    ("click-collapsible", "collapse", 1, ("click", "#area h3"), True),
    ("click-collapsible-2", "collapse", 1, ("click", "#area h3 >> nth=1"), True),
    ("click-dialog", "dialog", 1, ("click", ".ui-dialog-titlebar-close"), True),
    ("click-dialog", "blank", 2, ("at", 900, 500), None),
    ("click-scroll-list", "select", 1, ("click", "#area select option >> nth=1"), True),
    ("choose-list", "select", 1, ("select", "#area select", None), True),
    ("enter-text", "focus", 1, ("click", "#tt"), True),
    ("enter-text", "dead_text", 2, ("click", "#query"), False),
    ("enter-text", "type_one", 2, ("type", "x"), True),
    ("enter-text", "type", 3, ("type", "Deneen"), True),
    ("enter-date", "focus", 1, ("click", "#tt"), True),
    ("use-slider", "slider", 1, ("drag", "#slider .ui-slider-handle", 30, 0), True),
    ("use-slider", "dead_text", 2, ("click", "#query"), False),
    ("use-spinner", "step", 1, ("click", ".ui-spinner-up"), True),
    ("use-spinner", "step", 2, ("press", "ArrowDown"), True),
    ("use-autocomplete", "type", 1, ("type", "a"), True),
    ("click-menu", "menu", 1, ("click", "#area li"), None),
    ("navigate-tree", "tree", 1, ("click", "#tree li span"), None),
    ("navigate-tree", "blank", 2, ("at", 140, 200), False),
    ("email-inbox", "star", 1, ("click", ".star"), None),
    ("email-inbox", "open", 2, ("click", ".email-thread"), None),
    ("email-inbox", "dead_text", 3, ("click", "#query"), False),
    ("social-media", "icon", 1, ("click", ".like"), None),
    ("social-media", "icon", 2, ("click", ".more"), None),
    ("tic-tac-toe", "cell", 1, ("click", "#area td, #area .tic-tac-toe, #area #ttt-0"), None),
    ("click-pie", "blank", 1, ("at", 300, 300), False),
    ("click-shape", "shape", 2, ("click", "#area_svg > *"), None),
    ("grid-coordinate", "shape", 1, ("click", "#area svg circle"), None),
    ("text-editor", "focus", 1, ("click", "#editor .ql-editor, #editor"), None),
    ("scroll-text-2", "scroll", 1, ("wheel", 60, 80, 100), None),
    ("scroll-text-2", "scroll_small", 2, ("wheel", 3, 80, 100), None),
    ("login-user", "type_secret", 1, ("type", "s"), True),
    ("login-user", "dead_text", 2, ("click", "#form label >> nth=0"), None),
    ("hot-cold", "text", 1, ("at", 60, 120), None),
    ("click-color", "dead_text", 1, ("click", "#query"), False),
    ("count-shape", "dead_shape", 1, ("click", "#area_svg > *"), None),
    ("simple-algebra", "type_one", 1, ("type", "7"), True),
    ("simple-algebra", "type_space", 2, ("type", " "), True),
    ("read-table", "dead_text", 1, ("click", "#area td"), False),
    ("find-word", "dead_text", 1, ("click", "#area p"), False),
    ("multi-orderings", "dead_text", 1, ("click", "#query"), False),
    ("phone-book", "page", 1, ("click", "#area .pagination li >> nth=2"), None),
    ("search-engine", "blank", 1, ("at", 600, 600), False),
    ("order-food", "dead_text", 1, ("click", "#query"), False),
    ("number-checkboxes", "tick", 1, ("click", "#area input >> nth=7"), True),
    ("email-inbox", "raster", 4, ("eval", "document.querySelector('#area').style.willChange='transform'"), False),
    ("enter-text", "raster", 5, ("eval", "document.querySelector('#query').style.willChange='opacity'"), False),
    ("read-table", "raster", 6, ("eval", "document.querySelector('#wrap').style.willChange='transform'"), False),
    ("text-transform", "type_one", 7, ("type", "Q"), True),
    ("use-colorwheel", "focus", 8, ("click", "#area input"), None),
    ("click-widget", "radio", 9, ("click", "#area input[type=radio]"), None),
    ("click-shades", "shade", 10, ("click", "#area .color, #area span"), None),
    ("drag-circle", "drag", 11, ("drag", "#area svg circle, #area .ui-draggable, #area div", 20, 15), None),
    ("resize-textarea", "drag", 12, ("at", 40, 100), None),
]
_FOCUS = {
    ("enter-text", "type_one"): "#tt",
    ("enter-text", "type"): "#tt",
    ("use-spinner", "step"): "#spinner",
    ("use-autocomplete", "type"): "#tags",
    ("login-user", "type_secret"): "#password",
    ("simple-algebra", "type_one"): "#math-answer",
    ("simple-algebra", "type_space"): "#math-answer",
    ("text-transform", "type_one"): "#area input",
}
_AMBIENT: list[tuple[str, str, int, tuple[Any, ...], bool, tuple[tuple[str, int, int], ...]]] = [
    ("click-checkboxes", "spinner", 11, ("at", 400, 400), False, (("spinner", 320, 120),)),
    ("click-checkboxes", "clock", 12, ("click", "#query"), False, (("clock", 320, 120),)),
    ("click-option", "video", 13, ("click", "#query"), False, (("video", 320, 120),)),
    ("enter-text", "pulse", 14, ("click", "#query"), False, (("pulse", 320, 120),)),
    ("click-button", "bar", 15, ("click", "#query"), False, (("bar", 320, 120),)),
    ("click-tab-2", "marquee", 16, ("click", "#query"), False, (("marquee", 320, 120),)),
    ("click-checkboxes", "tick_beside_spinner", 17, ("click", "#boxes input"), True, (("spinner", 320, 120),)),
    ("click-checkboxes", "tick_beside_video", 18, ("click", "#boxes input"), True, (("video", 320, 120),)),
    ("click-option", "radio_beside_clock", 19, ("click", "#boxes input"), True, (("clock", 60, 180),)),
    ("enter-text", "type_beside_marquee", 20, ("type", "k"), True, (("marquee", 320, 120),)),
    ("enter-text", "caret", 21, ("none",), False, ()),
    ("login-user", "caret", 22, ("none",), False, ()),
    ("use-spinner", "caret", 23, ("none",), False, ()),
    ("click-checkboxes", "nothing", 24, ("none",), False, ()),
]


def _miniwob() -> list[Scenario]:
    made = []
    rows = [(*row, ()) for row in _MINIWOB] + list(_AMBIENT)
    for task, kind, seed, do, effect, ambient in rows:
        setup = _EPISODE.format(seed=seed)
        field = _FOCUS.get((task, kind)) or ("#tt" if kind.startswith("type_beside") else "")
        if kind == "caret":
            field = {"enter-text": "#tt", "login-user": "#username", "use-spinner": "#spinner"}[task]
        if do[0] == "select":
            do = (
                "eval",
                "const s=document.querySelector('#area select');s.selectedIndex=(s.selectedIndex+1)%s.options.length",
            )
        before = (("click", field),) if field else ()
        name = f"miniwob/{task}/{kind}-{seed}"
        page = f"miniwob/miniwob/{task}.html"
        made.append(Scenario(name, kind, page, do, effect, setup, before, ambient))
    return made


_NEW = "#new-todo"
_TWO = (("click", _NEW), ("type", "buy milk"), ("press", "Enter"), ("type", "walk the dog"), ("press", "Enter"))
_TODO: list[tuple[str, tuple[tuple[Any, ...], ...], tuple[Any, ...], bool | None, str]] = [
    # kind, what is done before, action, effect, which applications
    ("type_one", (("click", _NEW),), ("type", "b"), True, "vanillajs mithril"),
    ("type", (("click", _NEW),), ("type", "buy milk"), True, "canjs spine"),
    ("enter", (("click", _NEW), ("type", "buy milk")), ("press", "Enter"), True, "vanillajs backbone ractive"),
    ("enter_empty", (("click", _NEW),), ("press", "Enter"), False, "canjs knockoutjs mithril"),
    (
        "tick",
        _TWO,
        ("click", "#todo-list .toggle"),
        True,
        "vanillajs canjs backbone knockoutjs angularjs mithril ractive",
    ),
    ("tick_all", _TWO, ("click", "#toggle-all"), True, "vanillajs knockoutjs"),
    ("filter", _TWO, ("click", "#filters a >> nth=1"), True, "vanillajs angularjs backbone"),
    ("filter_empty", _TWO, ("click", "#filters a >> nth=2"), True, "canjs mithril"),
    ("repeat", _TWO, ("click", "#filters a >> nth=0"), None, "knockoutjs ractive"),
    ("delete", _TWO, ("click", "#todo-list li"), None, "canjs angularjs"),
    ("edit", _TWO, ("double", "#todo-list label"), True, "vanillajs knockoutjs backbone"),
    ("dead_text", _TWO, ("click", "#todo-list label"), False, "mithril angularjs"),
    ("blank", _TWO, ("at", 120, 640), None, "vanillajs canjs"),
    ("blank", (), ("at", 120, 640), False, "spine knockoutjs"),
    ("dead_heading", (), ("click", "#header h1"), False, "backbone ractive"),
    ("nothing", _TWO, ("none",), False, "vanillajs backbone"),
    ("caret", _TWO, ("none",), False, "canjs angularjs"),
    (
        "late",
        _TWO,
        ("eval", "setTimeout(()=>document.querySelector('#todo-list .toggle').click(),1400)"),
        True,
        "vanillajs canjs mithril knockoutjs",
    ),
    (
        "below_fold",
        _TWO,
        ("eval", "document.querySelector('#info p').textContent='Saved on the server'"),
        True,
        "backbone",
    ),
]
_TODO_AMBIENT: list[tuple[str, tuple[Any, ...], bool, tuple[tuple[str, int, int], ...], str]] = [
    ("spinner", ("click", "#header h1"), False, (("spinner", 1000, 200),), "vanillajs"),
    ("clock", ("at", 120, 640), False, (("clock", 1000, 30),), "mithril"),
    ("video", ("click", "#header h1"), False, (("video", 60, 300),), "knockoutjs"),
    ("marquee", ("click", "#header h1"), False, (("marquee", 20, 20),), "angularjs"),
    ("pulse", ("click", "#header h1"), False, (("pulse", 1000, 400),), "ractive"),
    ("bar", ("click", "#header h1"), False, (("bar", 900, 500),), "canjs"),
    ("tick_beside_spinner", ("click", "#todo-list .toggle"), True, (("spinner", 300, 240),), "vanillajs"),
    ("tick_beside_video", ("click", "#todo-list .toggle"), True, (("video", 60, 300),), "ractive"),
    ("edit_beside_clock", ("double", "#todo-list label"), True, (("clock", 1000, 30),), "vanillajs"),
    ("filter_beside_marquee", ("click", "#filters a >> nth=1"), True, (("marquee", 20, 20),), "knockoutjs"),
]


def _todo() -> list[Scenario]:
    made = []
    rows = [(kind, before, do, effect, apps, ()) for kind, before, do, effect, apps in _TODO]
    for kind, do, effect, ambient, app in _TODO_AMBIENT:
        rows.append((kind, (*_TWO, ("at", 700, 660)), do, effect, app, ambient))
    for kind, before, do, effect, apps, ambient in rows:
        for app in apps.split():
            look = (0.25, 0.6, 1.0, 1.5, 2.0) if kind == "late" else (0.35,)
            name = f"todomvc/{app}/{kind}" + ("" if before else "-new")
            made.append(Scenario(name, kind, f"todomvc/examples/{app}/", do, effect, "", before, ambient, look))
    return made


SCENARIOS: list[Scenario] = [*_miniwob(), *_todo(), *(Scenario(*row) for row in TEST)]
