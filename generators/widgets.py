"""Controls as real pages have them, in ten kinds of layout, six themes and five languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from cuadata.registry import families
from cuadata.types import Size, Task

from ._draw import Draw
from ._labels import DAYS, ICONS, KEYS, LANGUAGES, LIKEWISE, PEOPLE, USES
from ._scene import Place, pointing, scene, swapped
from ._site import THEMES

#: Layout -> kinds of control that stand in it, columns, and how many controls there are.
LAYOUTS: Final[dict[str, tuple[tuple[str, ...], int, tuple[int, ...]]]] = {
    "toolbar": (("icon", "icon", "button"), 1, (6, 9, 12)),
    "form": (("text", "select", "text", "checkbox", "button"), 3, (6, 9, 12)),
    "table": (("button", "link", "checkbox"), 3, (9, 12)),
    "cards": (("button", "icon", "link"), 3, (6, 10, 12)),
    "list": (("button", "checkbox", "icon"), 1, (5, 7, 9)),
    "tree": (("treeitem",), 1, (6, 9)),
    "calendar": (("gridcell",), 7, (28, 31)),
    "menu": (("menuitem",), 1, (6, 9)),
    "keypad": (("key",), 3, (12,)),
    "settings": (("switch", "slider", "radio", "select"), 1, (5, 7)),
}
ROLES: Final = {
    "icon": "button", "button": "button", "link": "link", "checkbox": "checkbox", "radio": "radio", "switch": "switch",
    "text": "textbox", "select": "combobox", "slider": "slider", "menuitem": "menuitem", "treeitem": "treeitem",
    "gridcell": "button", "key": "button",
}  # fmt: skip
#: Kinds of control that do what their word says; a checkbox or a field of that name is for something else.
_DOING: Final = ("button", "link", "menuitem")
#: What a control of each kind is called in an instruction.
NOUNS: Final = {
    "button": "button", "link": "link", "checkbox": "checkbox", "radio": "radio button", "switch": "switch",
    "textbox": "text field", "combobox": "dropdown", "slider": "slider", "menuitem": "menu item", "treeitem": "list item",
}  # fmt: skip
#: Density -> padding in controls and gap between them, CSS px.
DENSITIES: Final = {"tight": (2, 5), "usual": (6, 12), "airy": (10, 26)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """One control."""

    id: str
    kind: str
    role: str
    name: str
    look: str = ""
    does: str = ""
    path: str = ""
    on: bool = False


@families.add
def widgets(
    seed: int,
    *,
    layout: str | None = None,
    theme: str | None = None,
    language: str | None = None,
    density: str | None = None,
    viewport: Size = Size(1280, 720),
    scale: float = 1.0,
    swap: tuple[int, int] | None = None,
    without: Sequence[int] = (),
    cover: Sequence[int] = (),
    font: str = "sans",
    overlay: Place | None = None,
) -> Task:
    """5 to 31 controls in one panel: a toolbar, form, table, cards, list, tree, calendar, menu, keypad or settings.

    `layout`, `theme`, `language` and `density` fix axes that the seed would draw; `scale` enlarges the text, `font` is sans
    or serif, `overlay` lays a notice over the page: left, top, width and height in CSS px. For minimal pairs: `swap`
    exchanges two controls, `without` leaves an empty place for some, `cover` paints over some; they are numbered from 0
    in document order.
    """
    draw = Draw("widgets", seed)
    layout = draw.axis("layout", tuple(LAYOUTS), layout)
    theme = draw.axis("theme", tuple(THEMES), theme)
    language = draw.axis("language", tuple(LANGUAGES), language)
    density = draw.axis("density", tuple(DENSITIES), density)
    kinds, columns, counts = LAYOUTS[layout]
    number = draw.rng("count").choice(counts)
    draw.note("count", number)
    direction, words = LANGUAGES[language]
    held = _widgets(draw.rng("widgets"), kinds, number, words)
    placed = swapped(held, swap)
    rng, (pad, gap) = draw.rng("place"), DENSITIES[density]
    html = scene(
        "widgets.html.j2", title=rng.choice(words), language=language, direction=direction, scale=scale,
        theme=THEMES[theme], layout=layout, widgets=placed, columns=columns, pad=pad, gap=gap,
        rows=rng.sample(PEOPLE, len(PEOPLE)), heading=rng.choice(("Workspace", "Overview", "Studio", "Archive room")),
        x=rng.randint(8, max(16, viewport.width - 760)), y=rng.randint(8, viewport.height // 4),
        covered=[f"e{n}" for n in cover], absent=[f"e{n}" for n in without], font=font, overlay=overlay,
    )  # fmt: skip
    aim = draw.rng("target").choice([one for one in held if int(one.id[1:]) not in without] or held)
    return pointing(
        "widgets", seed, html, words=f"the '{aim.name}' {NOUNS[aim.role]}", role=aim.role, name=aim.name, id=aim.id,
        axes=draw.axes, viewport=viewport, template=f"widgets-{layout}-{theme}",
    )  # fmt: skip


def _widgets(rng: Random, kinds: Sequence[str], count: int, words: Sequence[str]) -> list[Widget]:
    """Controls whose names are all different."""
    if kinds in (("gridcell",), ("key",)):
        held = [*(DAYS if kinds == ("gridcell",) else KEYS).items()][:count]
        return [
            Widget(id=f"e{n}", kind="button", role="button", name=name, does=use) for n, (name, use) in enumerate(held)
        ]
    english = dict(zip(words, LANGUAGES["en"][1], strict=True))
    labels, icons = rng.sample(words, len(words)), rng.sample(ICONS, len(ICONS))
    made = list[Widget]()
    for n in range(count):
        kind = rng.choice(kinds) if n >= len(kinds) else kinds[n]
        if kind == "icon":
            icon = icons.pop()
            made.append(Widget(id=f"e{n}", kind=kind, role="button", name=icon.name, look=icon.look, does=icon.does,
                               path=icon.path))  # fmt: skip
        else:
            drawn = "item" if kind in ("menuitem", "treeitem") else kind
            name, on = labels.pop(), rng.random() < 0.4
            does, _ = USES.get(english[name], ("", ())) if kind in _DOING else ("", ())
            made.append(Widget(id=f"e{n}", kind=drawn, role=ROLES[kind], name=name, does=does, on=on))
    shown = {english.get(one.name, one.name) for one in made}
    return [
        replace(one, does="") if not shown.isdisjoint(LIKEWISE.get(english.get(one.name, one.name), ())) else one
        for one in made
    ]
