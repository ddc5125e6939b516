"""GTA1: a grounding model that answers with one point, `(x,y)` in px.

Grammar: Yan98/GTA1. The picture counts as it is given to the model: a picture whose sides are multiples of 28 passes the
processor unchanged; for others, run with `View.frame="resized"`, which follows the processor's resize.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuadata.contracts import ParseFailure, Prompt, View
from cuadata.geometry import Frame
from cuadata.registry import formats
from cuadata.speaking import pointing
from cuadata.speaking.grid import Grid
from cuadata.speaking.model_format import ModelFormat
from cuadata.types import Action


class GTA1(ModelFormat):
    """GTA1: one point (x,y) in px; it says clicks only."""

    name = "gta1"
    frame = Frame("px", factor=28, min_pixels=3136, max_pixels=4096 * 2160)
    says = frozenset(("click",))

    def system_text(self, prompt: Prompt) -> str:
        wide, tall = self.grid(prompt.view).extent
        return (
            "You locate elements of user interfaces. Given a screenshot and a description of an element, give the "
            f"coordinates of that element as a single point.\n\nThe picture is {wide:.0f}x{tall:.0f} px, width first. "
            "For an element with an area, give its centre.\n\nAnswer with the pair of coordinates only:\n(x,y)"
        )

    def say(self, action: Action, grid: Grid, view: View) -> str:
        x, y = grid.write(action.point, "a click")
        return f"({x},{y})"

    def actions(self, text: str, view: View) -> Iterator[Action]:
        """One click: a model that runs on past its answer names more points, but it was asked for one."""
        if (word := pointing.other_act(text)) is not None:
            raise ParseFailure(f"'{word}' is no click, and this family says nothing else", kind="unsupported_action")
        yield Action(type="click", point=self.grid(view).read_place(pointing.answer(text)))


formats.add(GTA1())
