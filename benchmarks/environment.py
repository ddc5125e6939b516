"""MiniWoB++ episodes a second against BrowserGym and the package's own Selenium environment, in one run, in turns.

    python benchmarks/environment.py --browsergym PYTHON [--rounds 3] [--task click-checkboxes]

PYTHON is an interpreter that has `browsergym-miniwob`, in an environment of its own: it pins another Playwright. Selenium
needs `chromedriver` of the browser's version. Each system lives in a process of its own and plays in turns with the others;
a turn is some episodes of the same seeds. Every episode is played by the same oracle with real pointer input, from the text
that its system shows; all systems must be asked the same for the same seed, and every episode must earn a raw reward of 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from cuadata import browser_find, miniwob

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

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def turns(workers: dict[str, Worker], task: str, rounds: int) -> Turns:
    """Everyone's turns; the first one, in which pages are opened, is not counted."""
    found: Turns = {system: [] for system in workers}
    for number in range(rounds + 1):
        for system, worker in workers.items():
            count = TURN[system] if number else min(TURN[system], 2)
            told = worker.play(task, 1000 * number, count)
            if any(abs(raw - 1) > 1e-9 for raw in told["raws"]):
                raise SystemExit(f"{system} did not solve {task}: {told['raws']}")
            if number:
                found[system].append(told)
    return found


def same_goals(found: Turns) -> bool:
    """Whether the same seed asked the same in every system."""
    for number in range(len(found["cuadata"])):
        asked = [held[number]["goals"] for held in found.values() if held[number]["goals"]]
        if len({tuple(goals[: min(map(len, asked))]) for goals in asked}) != 1:
            return False
    return True


def rates(held: list[dict[str, Any]]) -> list[float]:
    """Episodes a second of every turn."""
    return [len(told["raws"]) / told["seconds"] for told in held]


def table(task: str, found: Turns) -> None:
    """Print a row a system; ratios are medians over the rounds, each of the two turns of one round."""
    bases = [system for system in ("browsergym", "browsergym-no-waits", "cuadata") if system in found]
    print(f"| {task} | episodes | episodes/s | reset ms | step ms |", *(f"x {base} |" for base in bases))
    print("|---|---:|---:|---:|---:|" + "---:|" * len(bases))
    for system, held in found.items():
        one = rates(held)
        cells = [system, sum(len(told["raws"]) for told in held), f"{statistics.median(one):.2f}"]
        cells += [f"{statistics.median(ms for told in held for ms in told[kind]):.1f}" for kind in ("reset", "step")]
        for base in bases:
            ratios = [a / b for a, b in zip(one, rates(found[base]), strict=True)]
            cells.append(f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        print("|", " | ".join(map(str, cells)), "|")
    print(f"\nthe same goals for the same seeds in every system: {same_goals(found)}\n")


def main() -> None:
    """Play and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument(
        "--browsergym", help="a Python that has browsergym-miniwob; without it only ours and Selenium play"
    )
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--task", action="append", help="click-checkboxes and click-test by default")
    asked.add_argument("--system", action="append", choices=list(TURN), help="only these")
    given = asked.parse_args()
    chosen = [s for s in TURN if (given.browsergym or "browsergym" not in s) and s in (given.system or TURN)]
    found = browser_find.find()
    print(f"{found.kind} {found.version}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    workers = {s: Worker(s, given.browsergym if s.startswith("browsergym") else sys.executable) for s in chosen}
    try:
        for task in given.task or ("click-checkboxes", "click-test"):
            table(task, turns(workers, task, given.rounds))
    finally:
        for worker in workers.values():
            worker.close()


if __name__ == "__main__":
    main()
