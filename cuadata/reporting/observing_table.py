"""An observation for a person to read."""

from __future__ import annotations

from pathlib import Path

from cuadata import image
from cuadata.errors import CallError, DataError
from cuadata.judging.observing import Observed
from cuadata.rows import Verdict
from cuadata.types import BBox, Element, Observation


def show(found: Observed) -> None:
    """Print the selected elements with their verdicts, or all elements where none were selected."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    observation = found.observation
    console = Console()
    size = f"{observation.viewport.width}x{observation.viewport.height} CSS px"
    console.print(Text(f"{observation.title or '(no title)'}  {observation.url}  {size}  {found.browser}"))
    for note in observation.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    for dialog in observation.dialogs:
        console.print(Text(f"{dialog.type}: {dialog.message!r}, accepted: {dialog.accepted}", style="yellow"))
    table = Table(box=None, pad_edge=False)
    if found.selects:
        for name in ("select", "matches", "element", "box", "seen", "hit", "verdict", "why"):
            table.add_column(name, overflow="fold")
        for one in found.selects:
            pairs = [(one.element, one.verdict), *one.others] if one.element else [(None, one.verdict)]
            for i, (element, verdict) in enumerate(pairs):
                head = (one.select, str(one.matches)) if i == 0 else ("", "")
                table.add_row(*map(Text, (*head, *_judged(element, verdict))))
    else:
        for name in ("id", "role", "name", "box", "seen", "hit", "takes input", "locator"):
            table.add_column(name, overflow="fold")
        for element in observation.elements:
            table.add_row(*map(Text, _listed(element)))
    console.print(table)


def _judged(element: Element | None, verdict: Verdict) -> tuple[str, ...]:
    words = verdict.keep if verdict.reason is None else f"{verdict.keep}: {verdict.reason}"
    if element is None:
        return ("", "", "", "", words, "nothing matches")
    told = f"{element.role} {element.name!r}"
    return (told, _box(element.bbox), f"{element.seen:.2f}", f"{element.hit:.2f}", words, verdict.evidence)


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
