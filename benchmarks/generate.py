"""What a verified page costs: python benchmarks/generate.py [pages] [--cudag PYTHON]

The floor (rewrite in place, one evaluation, one picture; nothing read or kept) and the generator with names, questions, gates,
minimal pairs and files, on pages of one plan, in two processes at once, as `cuadata generate --workers 2` runs: wall pages/s,
and CPU ms a page of Python, Playwright's driver and every browser process together. Both are warm: browsers run, and
Chromium's accessibility tree was asked once a template. Then, in one process: a loop as people write it (goto, a
bounding_box per element, page.screenshot). `--cudag PYTHON`, a Python with PyPI cudag 0.2.1: pictures and rows of pages with the
same boxes, names and questions, drawn without a browser by `generate_cudag.py`, in two processes at once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from observe import cpu_seconds

from cuadata.browsing import engine
from cuadata.generating import spatial_blocks, spatial_look, spatial_pages, spatial_render
from cuadata.generating.spatial_look import Looker
from cuadata.registry import families
from cuadata.types import Task

SEED = 77
PROCESSES = 2
ROUNDS = 2


def tasks(count: int, number: int = 0) -> list[Task]:
    """The pages of a block's plan, one after the other."""
    job = spatial_blocks.Job(number=number, rows=1, seed=SEED, infeasible=0, pairs=0, folder="")
    made = []
    for place in range(count):
        family, seed, axes = job.page(place)
        make: Any = families[family]
        made.append(make(seed, **axes))
    return made


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


def ours(rows: int, number: int) -> int:
    """Everything but the Parquet files: the renderings of one block."""
    with tempfile.TemporaryDirectory() as folder:
        job = spatial_blocks.Job(number=number, rows=rows, seed=SEED, infeasible=0.1, pairs=0.0, folder=folder)
        spatial_pages.make(job)
        return spatial_blocks.read(folder, number).counts["renders"]


def work(number: int, count: int, start: Any, told: Any) -> None:
    """One process: floor and generator in turn, each begun together with the other processes."""
    viewport = spatial_blocks.VIEWPORTS[0]
    with Looker() as looker:
        for task in tasks(len(spatial_blocks.plan(SEED)), number):
            looker.look(task, viewport=viewport)
        held = tasks(count, number)
        runs: dict[str, Callable[[], int]] = {
            "floor": lambda: floor(looker, held),
            "generator": lambda: ours(4 * count, 3 * number),
        }
        for run in runs.values():
            run()
        for name in [*runs] * ROUNDS:
            start.wait()
            cpu, wall = cpu_seconds(), time.perf_counter()
            pages = runs[name]()
            told.put((name, pages, cpu_seconds() - cpu, time.perf_counter() - wall))
    spatial_render.close()


def together(count: int) -> dict[str, tuple[float, float]]:
    """Name -> wall pages/s and CPU ms a page, over all processes and rounds."""
    context = get_context("spawn")
    start, told = context.Barrier(PROCESSES), context.Queue()
    running = [context.Process(target=work, args=(n, count, start, told)) for n in range(PROCESSES)]
    for one in running:
        one.start()
    found: dict[str, list[tuple[int, float, float]]] = {"floor": [], "generator": []}
    for _ in range(2 * ROUNDS * PROCESSES):
        name, *rest = told.get(timeout=600)
        found[name].append((rest[0], rest[1], rest[2]))
    for one in running:
        one.join()
    return {
        name: (
            sum(n / wall for n, _, wall in all_) / ROUNDS,
            1000 * sum(c for _, c, _ in all_) / sum(n for n, _, _ in all_),
        )
        for name, all_ in found.items()
    }


def plain(held: list[Task]) -> tuple[float, float]:
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

        found = _measured(loop)
        started.close()
    return found


def drawn(python: str, count: int) -> tuple[float, float]:
    """What `generate_cudag.py` needs for pages with the boxes and questions of a block of ours."""
    with tempfile.TemporaryDirectory() as folder:
        job = spatial_blocks.Job(number=0, rows=5 * count, seed=SEED, infeasible=0.0, pairs=0.0, folder=folder)
        spatial_pages.make(job)
        pages = Path(folder, "pages.json")
        pages.write_text(json.dumps(_given(spatial_blocks.read(folder, 0))[:count]), encoding="utf-8")
        script = Path(__file__).with_name("generate_cudag.py")
        running = [
            subprocess.Popen(
                [python, script, pages, Path(folder, f"cudag-{n}")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            for n in range(PROCESSES)
        ]
        told = [json.loads(one.communicate()[0]) for one in running]
    spatial_render.close()
    pages_made = sum(one["pages"] for one in told)
    return sum(one["pages"] / one["wall"] for one in told), 1000 * sum(one["cpu"] for one in told) / pages_made


def _given(block: spatial_blocks.Block) -> list[dict[str, Any]]:
    """Pages of rows that show one picture: what their questions speak of, and what they ask."""
    pages: dict[str, dict[str, Any]] = {}
    for row in block.grounding:
        page = pages.setdefault(row.image.sha256, {"elements": {}, "questions": []})
        for one in (*row.candidates, *row.references):
            if one.bbox is not None:
                box = [one.bbox.x, one.bbox.y, one.bbox.width, one.bbox.height]
                page["elements"][str(box)] = {"box": box, "label": one.name or one.text}
        if row.action.point is not None:
            point = [round(row.action.point.x), round(row.action.point.y)]
            page["questions"].append({"instruction": row.instruction, "point": point})
    return [{**page, "elements": list(page["elements"].values())} for page in pages.values()]


def _measured(run: Callable[[], int]) -> tuple[float, float]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    pages = run()
    return pages / (time.perf_counter() - wall), 1000 * (cpu_seconds() - cpu) / pages


def main(count: int, cudag: str | None) -> None:
    """Print the table."""
    found = together(count)
    rate, cost = found["floor"]
    found["plain loop, 1 process"] = plain(tasks(max(5, count // 4)))
    if cudag is not None:
        found["cudag, no browser"] = drawn(cudag, count)
    for name, (pages, cpu) in found.items():
        share = f"{100 * pages / rate:4.0f} % of the floor's pages/s, {100 * cost / cpu:4.0f} % for the same CPU"
        print(f"{name:22} {pages:6.1f} pages/s {cpu:7.0f} CPU ms/page  {share}", flush=True)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pages", nargs="?", type=int, default=40)
    asked.add_argument("--cudag", metavar="PYTHON")
    given = asked.parse_args()
    main(given.pages, given.cudag)
