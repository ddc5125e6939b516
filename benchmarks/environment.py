"""MiniWoB++ episodes a second against BrowserGym and the package's own Selenium environment, in one run, in turns.

    python benchmarks/environment.py --browsergym PYTHON [--rounds 3] [--longer 1] [--task click-checkboxes]

PYTHON is an interpreter that has `browsergym-miniwob`, in an environment of its own: it pins another Playwright. Selenium
needs `chromedriver` of the browser's version. Each system lives in a process of its own and plays in turns with the others;
a turn is some episodes of the same seeds. Every episode is played by the same oracle with real pointer input, from the text
that its system shows; all systems must be asked the same for the same seed, and every episode must earn a raw reward of 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from cuadata.browsing import browser_find
from cuadata.episodes import miniwob

WORKER = Path(__file__).with_name("environment_worker.py")
#: System -> episodes a turn: about as many seconds for each.
TURN = {
    "browsergym": 2,
    "browsergym-no-waits": 3,
    "selenium": 8,
    "selenium-no-screenshot": 12,
    "cuadata": 40,
    "cuadata-screenshot": 16,
    "cuadata-vector": 64,
    "cuadata-vector-screenshot": 32,
}
TICKS = os.sysconf("SC_CLK_TCK")
Turns = dict[str, list[dict[str, Any]]]


class Worker:
    """A system's process; it sleeps between its turns."""

    def __init__(self, system: str, python: str) -> None:
        found = browser_find.find()
        whole = shutil.which("chromium") or str(found.path)  # chromedriver starts no headless shell
        places = {
            "CHROMIUM": str(found.path),
            "MINIWOB_URL": f"file://{miniwob.folder()}/miniwob/",
            "MINIWOB_CHROME_BINARY": whole,
            "MINIWOB_CHROMEDRIVER": shutil.which("chromedriver") or "",
        }
        self.process = subprocess.Popen(
            [python, WORKER, system], env=os.environ | places, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def play(self, task: str, first: int, count: int) -> dict[str, Any]:
        """Its turn: SystemExit where the process has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{task} {first} {count}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("{"):
                told: dict[str, Any] = json.loads(line)
                return told
        raise SystemExit(f"{self.process.args} ended with {self.process.wait()}")

    def cpu(self) -> float:
        """CPU seconds of it and of all that it started, living or ended, from /proc."""
        rows = {}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit():
                    words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    rows[int(entry.name)] = (int(words[1]), sum(map(int, words[11:15])) / TICKS)
        family = {self.process.pid}
        while more := {pid for pid, (parent, _) in rows.items() if parent in family} - family:
            family |= more
        return sum(rows[pid][1] for pid in family if pid in rows)

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def turns(workers: dict[str, Worker], task: str, rounds: int, longer: int) -> Turns:
    """Everyone's turns; the first one, in which pages are opened, is not counted and short."""
    found: Turns = {system: [] for system in workers}
    for number in range(rounds + 1):
        for system, worker in workers.items():
            count = TURN[system] * longer if number else min(TURN[system], 2)
            before = worker.cpu()
            told = worker.play(task, 1000 * number, count)
            told["cpu"] = worker.cpu() - before
            if any(abs(raw - 1) > 1e-9 for raw in told["raws"]):
                raise SystemExit(f"{system} did not solve {task}: {told['raws']}")
            if number:
                found[system].append(told)
    return found


def same_goals(found: Turns) -> bool:
    """Whether the same seed asked the same in every system."""
    for number in range(len(next(iter(found.values())))):
        asked = [held[number]["goals"] for held in found.values() if held[number]["goals"]]
        if len({tuple(goals[: min(map(len, asked))]) for goals in asked}) != 1:
            return False
    return True


def rates(held: list[dict[str, Any]], of: str = "seconds") -> list[float]:
    """Episodes a second, or a second of CPU, of every turn."""
    return [len(told["raws"]) / told[of] for told in held]


def table(task: str, found: Turns) -> None:
    """Print a row a system; ratios are medians over the rounds, each of the two turns of one round."""
    bases = [system for system in ("browsergym", "browsergym-no-waits") if system in found]
    heads = ["episodes", "episodes/s", "reset ms", "step ms", "CPU ms/episode"]
    heads += [f"{what} x {base}" for base in bases for what in ("episodes/s", "CPU")]
    print(f"| {task} |", " | ".join(heads), "|\n|---|" + "---:|" * len(heads))
    for system, held in found.items():
        cells = [system, sum(len(told["raws"]) for told in held), f"{statistics.median(rates(held)):.2f}"]
        cells += [f"{statistics.median(ms for told in held for ms in told[kind]):.1f}" for kind in ("reset", "step")]
        cells.append(f"{1000 / statistics.median(rates(held, 'cpu')):.0f}")
        for base in bases:
            for of in ("seconds", "cpu"):
                ratios = [a / b for a, b in zip(rates(held, of), rates(found[base], of), strict=True)]
                cells.append(f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})")
        print("|", " | ".join(map(str, cells)), "|")
    if sum(bool(held[0]["goals"]) for held in found.values()) > 1:
        print(f"\nthe same goals for the same seeds in every system: {same_goals(found)}")
    print()


def main() -> None:
    """Play and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument(
        "--browsergym", help="a Python that has browsergym-miniwob; without it only ours and Selenium play"
    )
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument(
        "--longer", type=int, default=1, help="times as many episodes a turn, where there are many cores"
    )
    asked.add_argument("--task", action="append", help="click-checkboxes and click-test by default")
    asked.add_argument("--system", action="append", choices=list(TURN), help="only these")
    asked.add_argument("--pages", default="8", help="pages of the vectorised rows")
    asked.add_argument("--browsers", default="2", help="browsers that these pages are spread over")
    given = asked.parse_args()
    os.environ |= {"PAGES": given.pages, "BROWSERS": given.browsers}
    chosen = [s for s in TURN if (given.browsergym or "browsergym" not in s) and s in (given.system or TURN)]
    found = browser_find.find()
    print(f"{found.kind} {found.version}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    workers = {s: Worker(s, given.browsergym if s.startswith("browsergym") else sys.executable) for s in chosen}
    try:
        for task in given.task or ("click-checkboxes", "click-test"):
            table(task, turns(workers, task, given.rounds, given.longer))
    finally:
        for worker in workers.values():
            worker.close()


if __name__ == "__main__":
    main()
