"""The page around a task: a brand, a theme, a layout and copy, drawn from the seed; and the way from template to HTML."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import jinja2

from ._draw import Draw
from ._words import HEADLINES, NAVIGATION, PRODUCTS, brand, paragraph

HERE = Path(__file__).parent

#: Theme -> values of the style sheet's variables.
THEMES: dict[str, dict[str, str]] = {
    "paper": {"ground": "#f6f7f9", "panel": "#ffffff", "ink": "#1c2430", "muted": "#5d6878", "line": "#d9dee6",
              "accent": "#2457c5", "on-accent": "#ffffff", "radius": "8px", "font": "system-ui, sans-serif"},
    "slate": {"ground": "#14181f", "panel": "#1e242e", "ink": "#e8ecf2", "muted": "#9aa6b6", "line": "#36404f",
              "accent": "#5aa2ff", "on-accent": "#0b1220", "radius": "10px", "font": "system-ui, sans-serif"},
    "sand": {"ground": "#f3ece1", "panel": "#fffaf2", "ink": "#3a2d20", "muted": "#7b6a57", "line": "#dfd0ba",
             "accent": "#a14a1f", "on-accent": "#ffffff", "radius": "3px", "font": "Georgia, 'DejaVu Serif', serif"},
    "mint": {"ground": "#e9f4ef", "panel": "#ffffff", "ink": "#15332a", "muted": "#55756a", "line": "#c4ddd2",
             "accent": "#0f7a58", "on-accent": "#ffffff", "radius": "16px", "font": "system-ui, sans-serif"},
    "mono": {"ground": "#ffffff", "panel": "#ffffff", "ink": "#000000", "muted": "#444444", "line": "#000000",
             "accent": "#000000", "on-accent": "#ffffff", "radius": "0px", "font": "'DejaVu Sans Mono', monospace"},
    "lilac": {"ground": "#f4f0fb", "panel": "#ffffff", "ink": "#2a2140", "muted": "#6d6388", "line": "#ddd3f0",
              "accent": "#6b3fc0", "on-accent": "#ffffff", "radius": "12px", "font": "system-ui, sans-serif"},
}  # fmt: skip
LAYOUTS = ("cards", "article", "table")
Button = Literal["button", "input", "aria"]
BUTTONS: tuple[Button, ...] = ("button", "input", "aria")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What the templates need to draw the page around a task."""

    brand: str
    navigation: tuple[str, ...]
    headline: str
    paragraphs: tuple[str, ...]
    products: tuple[tuple[str, str], ...]
    theme: str
    layout: str
    button: str

    @property
    def template(self) -> str:
        """What the page was made from: splits keep one template on one side."""
        return f"{self.layout}-{self.theme}"

    @property
    def variables(self) -> dict[str, str]:
        """The style sheet's variables of the theme."""
        return THEMES[self.theme]


def site(draw: Draw, *, theme: str | None = None, layout: str | None = None, button: Button | None = None) -> Site:
    """Draw a site; `theme`, `layout` and the markup of its buttons may be given."""
    rng = draw.rng("site")
    return Site(
        brand=brand(rng),
        navigation=rng.choice(NAVIGATION),
        headline=rng.choice(HEADLINES),
        paragraphs=tuple(paragraph(rng, 3) for _ in range(8)),
        products=tuple(rng.sample(PRODUCTS, 8)),
        theme=draw.axis("theme", tuple(THEMES), theme),
        layout=draw.axis("layout", LAYOUTS, layout),
        button=draw.axis("button", BUTTONS, button),
    )


@functools.cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["style"] = (HERE / "_style.css").read_text(encoding="utf-8")
    made.globals["behaviour"] = (HERE / "_behaviour.js").read_text(encoding="utf-8")
    return made


def render(template: str, **values: Any) -> str:
    """The HTML of a template with these values; a value that the template misses is an error."""
    return _environment().get_template(template).render(**values)
