"""What recording adds to a step: `python benchmarks/recorder.py [--browsergym PYTHON] [--rounds N] [--profile]`.

The same steps on the same pages, by four contestants that take turns step by step, each with a browser of its own: the bare
input through Playwright, the same with Playwright's tracing, the same with BrowserGym's observation (its waits of fixed
length taken out; PYTHON is the interpreter of an environment that has `browsergym-core`), and cuadata's recorder, which
observes before and after, acts, judges the effect and has the step on the disk when it returns. What a contestant adds is
told twice: its median less the bare one's, for a typical step of a page, and its mean less the bare one's, which is what a whole
recording pays.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuadata import browser, recorder
from cuadata.browsing.serve import Server
from cuadata.recorder import Recorder
from cuadata.types import Action, Outcome

WORKER = Path(__file__).with_name("recorder_worker.py")
#: Two actions on the one page that a person cannot tell from each other in length: a click, and three letters typed.
TYPED = "abc"


@dataclass(frozen=True, slots=True)
class Page:
    """A page and the steps on it, as (kind, CSS selector)."""

    name: str
    html: str
    steps: tuple[tuple[str, str], ...]


def form(fields: int = 12) -> Page:
    """A form of text fields and checkboxes; a click shows, a text is echoed."""
    rows = "".join(
        f'<p><label>Field {i} <input id=t{i} oninput="o{i}.textContent=this.value"></label> '
        f"<label><input type=checkbox id=c{i}> Box {i}</label> <output id=o{i}></output></p>"
        for i in range(fields)
    )
    steps = [step for i in range(fields) for step in (("click", f"#c{i}"), ("type", f"#t{i}"))]
    return Page("form", f"<!doctype html><title>Form</title><h1>Form</h1>{rows}", tuple(steps))


def table(rows: int = 57) -> Page:
    """A dashboard: side bar, cards, a table whose rows a click marks."""
    css = (
        "body{margin:0;font:14px sans-serif;display:flex}nav{width:200px;background:#36c;min-height:100vh}"
        "nav a{display:block;color:#fff;padding:8px 16px}.cards{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;"
        "padding:12px}.card{border:1px solid #ddd;border-radius:6px;padding:8px;box-shadow:0 1px 3px #0002}"
        "td,th{border:1px solid #ddd;padding:5px 10px}tr.on{background:#ffd}"
    )
    nav = "".join(f"<a href='#{i}'>Section {i}</a>" for i in range(14))
    cards = "".join(f"<div class=card><h3>Card {i}</h3>$ {i * 1375} <button>Details</button></div>" for i in range(8))
    lines = "".join(
        f"<tr><td><input type=checkbox></td><td>Person {i}</td><td>Engineer</td><td>Office {i % 5}</td><td>{i * 913}</td>"
        f"<td><button id=b{i} onclick=\"this.closest('tr').classList.toggle('on')\">Mark</button></td></tr>"
        for i in range(rows)
    )
    html = (
        f"<!doctype html><title>Dashboard</title><style>{css}</style><nav>{nav}</nav><main><div class=cards>{cards}</div>"
        f"<table>{lines}</table></main>"
    )
    return Page("dashboard", html, tuple(("click", f"#b{i}") for i in range(12)) * 2)


def dialogs() -> Page:
    """A menu that opens and closes over a long text: half of the picture changes with each click."""
    text = "".join(f"<p>Paragraph {i}: {'the quick brown fox jumps over the lazy dog ' * 4}</p>" for i in range(30))
    html = (
        "<!doctype html><title>Text</title><style>#m{position:fixed;inset:60px 200px;background:#eef;padding:20px}"
        "#m:not(.open){display:none}</style><button id=menu onclick=\"m.classList.toggle('open')\">Menu</button>"
        f"<div id=m>{''.join(f'<button>Item {i}</button>' for i in range(20))}</div>{text}"
    )
    return Page("menu", html, (("click", "#menu"),) * 24)


class Worker:
    """A contestant in a process of its own."""

    def __init__(self, name: str, python: str, executable: str) -> None:
        self.name = name
        words = [python, str(WORKER), name, executable]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()

    def ask(self, **request: str) -> Any:
        """One request, one answer."""
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with exit code {self.process.wait()}")
        return json.loads(line)

    def open(self, url: str) -> None:
        """Go to a page."""
        self.ask(open=url)

    def step(self, kind: str, css: str) -> float:
        """Do a step; milliseconds."""
        return float(self.ask(kind=kind, css=css, text=TYPED))

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


class Ours:
    """cuadata's recorder, in this process. Typing is one step of it, the click into the field included, as for the others."""

    name = "cuadata"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self.held: Recorder | None = None

    def open(self, url: str) -> None:
        """Go to a page; a new recording."""
        self.close()
        self.count += 1
        out = self.folder / f"recording-{self.count}"
        self.held = recorder.start(url, out, instruction="-", source="script")
        self.held.observe()

    def step(self, kind: str, css: str) -> float:
        """Do a step; milliseconds. The element is looked up before the clock starts, as for the others."""
        assert self.held is not None
        target = next(e for e in self.held.observe().elements if e.locator.css == css)
        text = TYPED if kind == "type" else None
        action = Action(type="type" if kind == "type" else "click", element=target.id, point=target.point, text=text)
        began = time.perf_counter()
        step = self.held.do(action)
        took = (time.perf_counter() - began) * 1000
        assert step.error is None, step.error
        return took

    def close(self) -> None:
        """End the recording."""
        if self.held is not None:
            self.held.close(Outcome(ended="success", success=None))
        self.held = None


def race(contestants: list[Any], pages: tuple[Page, ...], rounds: int) -> dict[tuple[str, str], list[float]]:
    """Milliseconds of every step by (page, contestant); in each step all take their turn, in random order."""
    chance = random.Random(0)
    took: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for page in pages:
            Path(temporary, f"{page.name}.html").write_text(page.html)
        server = Server(Path(temporary))
        for page in pages * rounds:
            for one in contestants:
                one.open(f"{server.address}/{page.name}.html")
            for number, (kind, css) in enumerate(page.steps):
                for one in chance.sample(contestants, len(contestants)):
                    spent = one.step(kind, css)
                    if number:  # the first step of a page warms it up
                        took.setdefault((page.name, one.name), []).append(spent)
        server.close()
    return took


def table_of(took: dict[tuple[str, str], list[float]], names: list[str], pages: tuple[Page, ...]) -> str:
    """Milliseconds a step, and what each adds to the bare input, by the median and by the mean."""
    lines = [
        "| page | contestant | steps | median ms | 90th percentile | added, median | of BrowserGym's | added, mean | of BrowserGym's |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for page in (*(p.name for p in pages), "all"):
        held = {
            n: [ms for (p, name), spent in took.items() if name == n and page in (p, "all") for ms in spent]
            for n in names
        }
        for name, spent in held.items():
            cells = [f"{statistics.median(spent):.1f}", f"{statistics.quantiles(spent, n=10)[-1]:.1f}"]
            for middle in (statistics.median, statistics.fmean):
                added = {n: middle(ms) - middle(held["bare"]) for n, ms in held.items()}
                compared = "browsergym" in names and name != "bare"
                cells += [f"{added[name]:.1f}", f"{added[name] / added['browsergym']:.2f}" if compared else ""]
            lines.append(f"| {page} | {name} | {len(spent)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def profile(pages: tuple[Page, ...]) -> None:
    """Where the recorder's own time goes, in its loop's thread."""
    held = cProfile.Profile()
    with tempfile.TemporaryDirectory() as temporary:
        ours = Ours(Path(temporary))
        ours.open("data:text/html,warm")
        assert ours.held is not None
        loop = ours.held.page._loop.loop
        loop.call_soon_threadsafe(held.enable)
        race([ours], pages, 1)
        loop.call_soon_threadsafe(held.disable)
        time.sleep(0.1)
        ours.close()
    pstats.Stats(held).sort_stats("tottime").print_stats(45)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--browsergym", metavar="PYTHON", help="interpreter that has browsergym-core")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--profile", action="store_true", help="profile the recorder instead")
    asked = parser.parse_args()
    pages = (form(), table(), dialogs())
    if asked.profile:
        return profile(pages)
    found = browser.find()
    with tempfile.TemporaryDirectory() as temporary:
        contestants: list[Any] = [Worker(name, sys.executable, str(found.path)) for name in ("bare", "tracing")]
        if asked.browsergym:
            contestants.append(Worker("browsergym", asked.browsergym, str(found.path)))
        contestants.append(Ours(Path(temporary)))
        try:
            took = race(contestants, pages, asked.rounds)
        finally:
            for one in contestants:
                one.close()
    print(
        f"{found.kind} {found.version}, {asked.rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
    )
    print(table_of(took, [one.name for one in contestants], pages))


if __name__ == "__main__":
    main()
