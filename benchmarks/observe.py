"""What an observation costs, by its parts: python benchmarks/observe.py [rounds] [--script]

Six pages: the two pages of hard cases of the tests, the first 84 cases of each, a list of 20,000 elements, an admin dashboard. Wall
and CPU milliseconds; on a machine that does other work as well only the CPU figures mean something. CPU is that of this process,
Playwright's driver and every browser process together; that of the renderer is of its main thread, to the nanosecond, the least
and the median of the rounds, each after a change of the document. `--script` measures `page.js` alone.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuadata import browser
from cuadata.types import Size

TESTS = Path(__file__).resolve().parent.parent / "tests"
TICKS = os.sysconf("SC_CLK_TCK")


#: What peers do for each control: its box, its style, and what lies at its centre. Milliseconds.
CENTRES = """() => {
  document.body.dataset.n = Math.random();
  const began = performance.now(), kept = [];
  for (const e of document.querySelectorAll('[id],a,button,input,select,textarea,[role],[tabindex]')) {
    const r = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (!r.width || !r.height || style.visibility !== 'visible' || style.display === 'none' || style.opacity === '0') continue;
    const hit = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
    if (hit && (e === hit || e.contains(hit))) kept.push([e.tagName, r.x, r.y, r.width, r.height, e.innerText]);
  }
  JSON.stringify(kept);
  return performance.now() - began;
}"""


def cpu_seconds() -> float:
    """CPU seconds of this process and all that it started, from /proc."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(words[1])
            spent[int(entry.name)] = (int(words[11]) + int(words[12])) / TICKS
    family = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        if not more:
            return sum(spent.get(pid, 0.0) for pid in family)
        family |= more


def renderer_ms() -> float:
    """CPU milliseconds of the main threads of all renderers that this process started."""
    spent = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and "--type=renderer" in (entry / "cmdline").read_text() and is_ours(entry):
                spent += int((entry / "task" / entry.name / "schedstat").read_text().split()[0])
        except OSError:
            continue
    return spent / 1e6


def is_ours(entry: Path) -> bool:
    """Whether a process, by its folder in /proc, descends from this one."""
    while entry.name not in ("0", "1"):
        if entry.name == str(os.getpid()):
            return True
        entry = entry.parent / (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
    return False


def torture(which: str, most: int | None = None) -> tuple[str, Size]:
    """One of the pages of hard cases of the tests, or its first cases; frames of another site stay empty here."""
    sys.path.insert(0, str(TESTS))
    module, cases = importlib.import_module("torture"), importlib.import_module(which).CASES[:most]
    rows = -(-len(cases) // module.COLUMNS)
    return module.page(cases), Size(module.WIDTH, max(rows * module.CELL_HEIGHT + 14, 60))


def long_list(rows: int = 4000) -> tuple[str, Size]:
    """20,000 elements, five a row; about 40 rows are on the screen at a time."""
    body = "".join(
        f"<div><input type=checkbox aria-label='Row {i}'><a href='#{i}'>Item {i}</a><span>{i * 7 % 1000}</span>"
        "<button>Edit</button></div>"
        for i in range(rows)
    )
    return f"<!doctype html><style>div{{height:24px}}</style><title>List</title>{body}", Size(1280, 720)


def dashboard(rows: int = 57) -> tuple[str, Size]:
    """A side bar, a top bar, cards and a table, as admin templates have them."""
    css = (
        "body{margin:0;font:14px sans-serif;display:flex}nav{width:220px;background:#36c;color:#fff;min-height:100vh}"
        "nav a{display:block;color:#fff;padding:10px 16px;text-decoration:none}nav a:hover{background:#25a}"
        "header{display:flex;gap:12px;padding:12px;border-bottom:1px solid #ddd;position:sticky;top:0;background:#fff}"
        ".cards{display:grid;grid-template-columns:repeat(4,1fr);gap:16px;padding:16px}.card{border:1px solid #ddd;"
        "border-radius:6px;padding:14px;box-shadow:0 1px 3px #0002}table{border-collapse:collapse;margin:16px}"
        "td,th{border:1px solid #ddd;padding:6px 10px}.btn{background:#36c;color:#fff;border:0;border-radius:4px;padding:6px 12px}"
    )
    nav = "".join(f"<a href='#{i}'>Section {i}</a>" for i in range(14))
    cards = "".join(
        f"<div class=card><h2>Card {i}</h2><p>$ {i * 1375}</p><button class=btn>Details</button></div>"
        for i in range(8)
    )
    head = "".join(f"<th>{name}</th>" for name in ("", "Name", "Position", "Office", "Age", "Salary", ""))
    lines = "".join(
        f"<tr><td><input type=checkbox></td><td>Person {i}</td><td>Engineer</td><td>Office {i % 5}</td><td>{20 + i % 40}</td>"
        f"<td>{i * 913}</td><td><a href='#e{i}'>Edit</a> <button class=btn>Delete</button></td></tr>"
        for i in range(rows)
    )
    return (
        f"<!doctype html><title>Dashboard</title><style>{css}</style><nav>{nav}</nav><main><header><input placeholder=Search>"
        f"<button class=btn>Go</button><select><option>Week<option>Month</select></header><div class=cards>{cards}</div>"
        f"<table><tr>{head}</tr>{lines}</table></main>"
    ), Size(1280, 720)


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, float, Any]:
    """Median wall ms, mean CPU ms, and the last result."""
    walls = []
    before = cpu_seconds()
    result = None
    for _ in range(rounds):
        began = time.perf_counter()
        result = work()
        walls.append((time.perf_counter() - began) * 1000)
    return statistics.median(walls), (cpu_seconds() - before) * 1000 / rounds, result


CHANGE = "document.body.dataset.n = Math.random(); document.body.offsetWidth; 0"


def script(name: str, opened: browser.Page, rounds: int) -> None:
    """The rows of `page.js` on the main document of a page that was observed."""
    run, frame = opened._loop.run, opened.twin.tab.held[0].frame
    spent = []
    for _ in range(rounds):
        run(frame.value(CHANGE, 60), 60)
        before = renderer_ms()
        run(frame.told("cuadata.measure()", 60), 60)
        spent.append(renderer_ms() - before)
    print(
        f"| {name} | page.js, CPU of the renderer, least and median | | {min(spent):.1f}, {statistics.median(spent):.1f} |"
    )
    row(name, "  its own clock", run(frame.told("cuadata.measure()", 60), 60)["took"], 0)
    spent = []
    for _ in range(rounds):
        before = renderer_ms()
        opened.evaluate(CENTRES)
        spent.append(renderer_ms() - before)
    print(f"| {name} | a loop over centres, the same | | {min(spent):.1f}, {statistics.median(spent):.1f} |")


def measure(name: str, page: tuple[str, Size], rounds: int, alone: bool) -> None:
    """The rows of one page."""
    html, viewport = page
    with browser.open(html, viewport=viewport, limit=20.0) as opened:
        run = opened._loop.run
        wall, cpu, seen = timed(opened.observe, 1)
        count = len(seen.elements)
        row(name, f"first observation, {count} elements", wall, cpu)
        tab = opened.twin.tab
        script(name, opened, rounds)
        if alone:
            return
        row(name, "picture alone", *timed(lambda: run(tab.shoot(1.0, []), 20), rounds)[:2])
        row(name, "observation without a change", *timed(opened.observe, rounds)[:2])

        def changed() -> Any:
            opened.evaluate("document.body.dataset.n = Math.random()")
            return opened.observe()

        row(name, "observation after a change (new tree)", *timed(changed, max(rounds // 4, 1))[:2])


def row(page: str, what: str, wall: float, cpu: float) -> None:
    """One line of the table."""
    print(f"| {page} | {what} | {wall:.1f} | {cpu:.1f} |" if cpu else f"| {page} | {what} | {wall:.1f} | |")


def main() -> None:
    """Print the table."""
    words = [word for word in sys.argv[1:] if word != "--script"]
    rounds, alone = int(words[0]) if words else 20, "--script" in sys.argv
    found = browser.find()
    print(f"{found.kind} {found.version}, {rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| page | part | wall ms | CPU ms |\n|---|---|---|---|")
    measure("hard cases", torture("torture"), rounds, alone)
    measure("the first 84 of them", torture("torture", 84), rounds, alone)
    measure("more hard cases", torture("hard_page"), rounds, alone)
    measure("the first 84 of these", torture("hard_page", 84), rounds, alone)
    measure("dashboard", dashboard(), rounds, alone)
    measure("20,000 elements", long_list(), max(rounds // 4, 2), alone)


if __name__ == "__main__":
    main()
