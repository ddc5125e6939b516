"""An observation for a person to read."""

from __future__ import annotations

import json
from pathlib import Path

from cuadata import image
from cuadata.errors import CallError, DataError
from cuadata.judging.observing import Observed
from cuadata.reporting.showing import plainly
from cuadata.rows import Verdict
from cuadata.types import BBox, Element, Observation

#: Wider than any line that is printed.
_UNBROKEN = 10_000


def show(found: Observed) -> None:
    """Print the selected elements with their verdicts, or all elements where none were selected."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    observation = found.observation
    console = Console()
    if not console.is_terminal:  # a file or a pipe breaks no line
        console.width = _UNBROKEN
    size = f"{observation.viewport.width}x{observation.viewport.height} CSS px"
    console.print(Text(plainly(f"{observation.title or '(no title)'}  {observation.url}  {size}  {found.browser}")))
    for note in observation.notes:
        console.print(Text(plainly(f"note: {note}"), style="yellow"))
    for dialog in observation.dialogs:
        console.print(Text(plainly(f"{dialog.type}: {dialog.message!r}, accepted: {dialog.accepted}"), style="yellow"))
    if found.selects:
        for one in found.selects:
            console.print(Text(plainly(f"{one.select}: matches {one.matches}"), style="bold"))
            for element, verdict in [(one.element, one.verdict), *one.others]:
                console.print(Padding(Text(plainly(_judged(element, verdict))), (0, 0, 0, 2), expand=False))
                console.print(Padding(Text(plainly(_facts(verdict)), style="dim"), (0, 0, 0, 6), expand=False))
        return
    table = Table(box=None, pad_edge=False)
    for name in ("id", "role", "name", "box", "seen", "hit", "takes input", "locator"):
        table.add_column(name, overflow="fold")
    for element in observation.elements:
        table.add_row(*(Text(plainly(cell)) for cell in _listed(element)))
    console.print(table)


def _judged(element: Element | None, verdict: Verdict) -> str:
    """An element with what the gates say of it."""
    words = verdict.keep if verdict.reason is None else f"{verdict.keep}: {verdict.reason}"
    if element is None:
        return words
    return f"{element.role} {element.name!r}  {_box(element.bbox)}  seen {element.seen:.2f}  hit {element.hit:.2f}  {words}"


def _facts(verdict: Verdict) -> str:
    """The values that decided, in words that a narrow terminal can break, without those that the line above tells."""
    held = json.loads(verdict.evidence)
    return ", ".join(f"{key}: {json.dumps(value)}" for key, value in held.items() if key not in ("seen", "hit"))


def _listed(element: Element) -> tuple[str, ...]:
    name = element.name or element.text
    way = " >> ".join((*element.locator.frames, *element.locator.shadow, element.locator.css))
    takes = "yes" if element.interactive else ""
    if element.acts_on is not None:
        takes = f"for [{element.acts_on}]"
    return (
        str(element.id), element.role, name[:60], _box(element.bbox), f"{element.seen:.2f}", f"{element.hit:.2f}", takes, way
    )  # fmt: skip


def _box(box: BBox | None) -> str:
    return "" if box is None else f"{box.x:g},{box.y:g} {box.width:g}x{box.height:g}"


def save(observation: Observation, path: Path, *, force: bool = False) -> None:
    """Write the picture into a file. CallError where the file exists, DataError where there is no picture."""
    if path.exists() and not force:
        raise CallError(f"{path} exists; give another name, or --force")
    if path.is_dir() or not path.parent.is_dir():
        raise CallError(f"{path} cannot be written: it is a folder, or the folder {path.parent} is not there")
    if observation.screenshot is None:
        raise DataError(f"there is no picture: {'; '.join(observation.notes)}", place=observation.url)
    path.write_bytes(image.read(observation.screenshot))
