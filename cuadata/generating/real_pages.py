"""Spatial, ordinal and appearance instructions for elements of pages that we did not make, through the same gates."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from cuadata import browser, build, image
from cuadata.browsing import engine
from cuadata.building import folders
from cuadata.errors import CallError, DataError
from cuadata.generating import colours, extents, mhtml, spatial_card, spatial_words
from cuadata.generating.spatial_balance import Table
from cuadata.generating.spatial_choosing import Chooser
from cuadata.generating.spatial_look import Look
from cuadata.generating.spatial_render import Page
from cuadata.generating.spatial_rows import ON_REAL_PAGES, WITHOUT
from cuadata.generating.spatial_scene import Scene
from cuadata.judging import gating, target_verdict
from cuadata.recordings import recording_reader
from cuadata.registry import gates
from cuadata.types import Image, Observation, Size, Task

#: Rows of one call at most: a folder of recordings may hold a hundred thousand moments.
MOST: Final = 100_000
#: Questions by name or look on one view of a page.
_NAMED: Final = 3
#: Share of the viewport's smaller side within which a reference stands to its target.
_REACH: Final = 0.3
_OUTSIDE: Final = "; where a file needs scripts or styles from outside its folder, name a folder above both with --root"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What was seen of a page in one moment."""

    page: Annotated[str, "address with secrets masked, or name of the file or recording"]
    site: Annotated[str, "host, or name of the file or recording"]
    number: Annotated[int, "among the views of this page, from 0"]
    observation: Observation
    browser: str


def generate(
    pages: Sequence[str],
    out: Path | str,
    *,
    seed: int = 0,
    viewport: Size = browser.VIEWPORT,
    views: int = 3,
    places: int = 8,
    root: Path | None = None,
    force: bool = False,
    progress: build.Progress = lambda what, done, of: None,
) -> dict[str, Any]:
    """Write `grounding` rows about real elements into a dataset; the summary that `--json` prints.

    `pages`: addresses, HTML or MHTML files, recordings or folders of them. `views`: how far a page is scrolled, one
    viewport each. `places`: questions by place on one view, at most. `root`: a folder above the HTML files that is served
    with them, where they need scripts or styles of it. CallError for a page that is not there, DataError
    where one does not open or no page gives a row.
    """
    out = Path(out)
    if not pages or views < 1 or places < 1:
        raise CallError(f"{len(pages)} pages, views={views}, places={places}: give at least 1 of each")
    folders.refuse(out, force=force, reads=pages)
    chosen = gating.choose([name for name in gates.names() if name not in WITHOUT or name in ON_REAL_PAGES])
    chooser = Chooser(most=MOST, gates=chosen, places=places, fewest=places // 2)
    seen: Counter[str] = Counter()
    for done, asked in enumerate(pages, 1):
        for view in look(asked, viewport=viewport, views=views, root=root):
            before = len(chooser.rows)
            chooser.choose(_page(view), Random(f"relations/{seed}/{view.site}/{view.number}"), named=_NAMED)
            seen[asked] += len(chooser.rows) - before
        progress("looking at pages", done, len(pages))
    if not chooser.rows:
        raise DataError(
            f"no question about {', '.join(pages)} is kept: {_reasons(chooser) or 'nothing on them has a name'}"
            + ("" if root or not any(map(engine.is_file, pages)) else _OUTSIDE)
        )
    rows: dict[str, list[Any]] = {"grounding": chooser.rows, "rejected": chooser.rejected}
    build.build(
        [], out, rows=rows, gates=[one.name for one in chosen], keep_together=("site",), seed=seed, force=force,
        title="Relations on real pages", progress=progress,
    )  # fmt: skip
    return _summary(chooser, seen, [one for one in pages if not seen[one]]) | {"out": str(out)}


def _summary(chooser: Chooser, seen: Counter[str], empty: Sequence[str]) -> dict[str, Any]:
    trivial = Table()
    for row in chooser.rows:
        shown = spatial_card.seen_of(row)
        if shown is not None:
            trivial.add(shown)
    return {
        "rows": {"grounding": len(chooser.rows), "rejected": len(chooser.rejected)},
        "pages": dict(seen),
        "perspectives": dict(Counter(row.perspective for row in chooser.rows)),
        "relations": dict(Counter(row.relation for row in chooser.rows if row.relation)),
        "pair_kinds": dict(Counter(row.pair_kind for row in chooser.rows if row.pair_kind)),
        "rejected": _reasons(chooser),
        "trivial_predictors": trivial.rows(),
        "notes": [f"{one}: no question about it is kept" for one in empty],
    }


def _reasons(chooser: Chooser) -> dict[str, int]:
    return dict(Counter(row.reason for row in chooser.rejected).most_common())


def look(asked: str, *, viewport: Size, views: int, root: Path | None = None) -> Iterator[View]:
    """What can be seen of a page: view after view, or moment after moment of recordings; `root` as for `generate`."""
    path = Path(asked)
    if engine.is_address(asked):
        yield from _opened(asked, asked, urlsplit(asked).hostname or asked[:40], viewport, views)
    elif path.is_dir():
        yield from _recorded(path)
    elif path.suffix.lower() in mhtml.SUFFIXES and path.is_file():
        with tempfile.TemporaryDirectory(prefix="cuadata-") as folder:
            yield from _opened(mhtml.unpack(path, Path(folder)), asked, path.name, viewport, views)
    elif path.is_file():
        yield from _opened(path, asked, path.name, viewport, views, root)
    else:
        raise CallError(f"{asked[:200]!r} is neither an address, nor a file, nor a folder of recordings")


def _opened(
    page: str | Path, asked: str, site: str, viewport: Size, views: int, root: Path | None = None
) -> Iterator[View]:
    with browser.open(page, viewport=viewport, root=root) as opened:
        last = None
        for number in range(views):
            observation = opened.observe()
            if observation.scroll == last:
                break
            last = observation.scroll
            unsure = target_verdict.undecided(tuple(e for e in observation.elements if e.interactive), observation)
            if unsure:
                observation = opened.pixels(unsure, observation)
            where = observation.url if engine.is_address(asked) else site
            yield View(page=where, site=site, number=number, observation=observation, browser=opened.browser)
            opened.evaluate("scrollBy(0, innerHeight)")


def _recorded(folder: Path) -> Iterator[View]:
    """Moments of recordings, each picture once."""
    for place in recording_reader.find(folder):
        header, pictures = recording_reader.read_header(place), set[str]()
        for step in recording_reader.read(place).steps:
            shot = step.observation.screenshot
            if shot is not None and shot.sha256 not in pictures:
                pictures.add(shot.sha256)
                yield View(
                    page=header.id, site=header.id, number=step.index, observation=step.observation,
                    browser=header.browser,
                )  # fmt: skip


def _page(view: View) -> Page:
    """A view as the questions need it, its elements by their colours too."""
    seen = view.observation
    if seen.screenshot is not None:  # decoded once, for all of its rows
        seen = replace(seen, screenshot=_with_looks(seen.screenshot))
    look = Look(seen, _looks(seen), {})
    reach = _REACH * min(seen.viewport.width, seen.viewport.height)
    task = Task(
        id=f"{view.site}/{view.number}", family=view.site, seed=0, instruction="", url=seen.url, template=view.site,
        viewport=seen.viewport,
    )  # fmt: skip
    return Page(
        task=task,
        look=look,
        scene=Scene(look, reach=reach, extents=_extents(seen)),
        browser=view.browser,
        source=view.page,
    )


def _extents(seen: Observation) -> extents.Extents:
    """What the picture shows of the elements; nothing where there is none, or none that decodes."""
    if seen.screenshot is None:
        return extents.Extents()
    return extents.measure(seen.screenshot, seen.elements, seen.screenshot.width / seen.viewport.width)


def _with_looks(shot: Image) -> Image:
    """With its hash and colours; as it is where it does not decode, for a gate to say so."""
    try:
        return image.with_looks(shot)
    except (ValueError, OSError):
        return shot


def _looks(seen: Observation) -> dict[int, str]:
    """Controls that have a plain colour, and no other of their kind may be called by it: id -> "blue button"."""
    if seen.screenshot is None:
        return {}
    controls = [e for e in seen.elements if e.interactive and e.bbox is not None and e.seen >= 1 / 3]
    scale = seen.screenshot.width / seen.viewport.width
    boxes = [e.bbox for e in controls if e.bbox is not None]
    found, hints = colours.named(seen.screenshot, boxes, scale), colours.hinted(seen.screenshot, boxes, scale)
    nouns = [spatial_words.noun(e, None) for e in controls]
    might = Counter((n, c) for n, hint in zip(nouns, hints, strict=True) for c in hint)
    return {e.id: f"{c} {n}" for e, c, n in zip(controls, found, nouns, strict=True) if c and n and might[n, c] < 2}
