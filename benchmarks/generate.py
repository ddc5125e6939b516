"""What a verified page costs: python benchmarks/generate.py [pages]

The floor (rewrite in place, one evaluation, one picture; nothing read or kept), the generator with names, questions, gates
and files, and a loop as people write it (goto, a bounding_box per element, page.screenshot), on the same pages. Wall pages/s
and CPU ms a page of this process, Playwright's driver and every browser process together; one process, one page at a time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from observe import cpu_seconds

from cuadata import engine, spatial_look, spatial_pages
from cuadata.registry import families
from cuadata.spatial_look import Looker
from cuadata.types import Task

SEED = 77


def tasks(count: int) -> list[Task]:
    """The pages of the plan, one after the other."""
    found = []
    for number in range(count):
        family, axes = spatial_pages.plan(SEED)[number % len(spatial_pages.plan(SEED))]
        make: Any = families[family]
        found.append(make(SEED * 1_000_000 + number, **axes))
    return found


def measured(name: str, count: int, work: Callable[[], int]) -> None:
    """Run once and print."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    pages = work()
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    print(f"{name:12} {pages:5} pages {pages / wall:6.1f} pages/s {1000 * cpu / pages:7.0f} CPU ms/page", flush=True)


def floor(looker: Looker, held: list[Task]) -> int:
    """What the browser alone costs."""
    loop, page = engine.engine()[0], looker._page
    assert page is not None

    async def one(html: str) -> None:
        await page.evaluate(spatial_look._script(), html)
        await looker._session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})

    for task in held:
        head, _, tail = spatial_look._without_fonts(task.html or "")
        loop.run(one(head + tail), 15)
    return len(held)


def plain(held: list[Task]) -> None:
    """As people write it; measured before the browser ends, since what ended processes spent is not told any more."""
    from playwright.sync_api import sync_playwright

    from cuadata import browser

    with sync_playwright() as play, tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        started = play.chromium.launch(executable_path=str(browser.find().path))
        page = started.new_page(viewport={"width": 1280, "height": 720})

        def loop() -> int:
            for task in held:
                file.seek(0)
                file.truncate()
                file.write(task.html or "")
                file.flush()
                page.goto(f"file://{file.name}")
                for element in page.locator("[id]").all():
                    element.bounding_box()
                    element.is_visible()
                page.screenshot()
            return len(held)

        measured("plain loop", len(held), loop)
        started.close()


def ours(rows: int) -> int:
    """Everything but the Parquet files: renderings of one block."""
    with tempfile.TemporaryDirectory() as folder:
        job = spatial_pages.Job(number=0, rows=rows, seed=SEED, infeasible=0.1, pairs=0.0, folder=folder)
        spatial_pages.make(job)
        return spatial_pages.read(folder, 0).counts["renders"]


def main(count: int) -> None:
    """Warm up, then one after the other, the floor twice around."""
    held = tasks(count)
    ours(20)
    with Looker() as looker:
        looker.look(held[0])
        measured("floor", count, lambda: floor(looker, held))
        measured("generator", count, lambda: ours(4 * count))
        measured("floor again", count, lambda: floor(looker, held))
    plain(held[: max(5, count // 4)])
    spatial_pages.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
