"""Whether generating keeps its memory flat: python benchmarks/generate_memory.py [--minutes 15] [--n 200000] [--seed 1]

`cuadata generate spatial --workers 1` runs for so long, in a folder that goes away, and is stopped. Every few seconds the resident
memory of all its processes is read, by kind: Python with Playwright's driver, renderers, and the rest of the browser. Printed are
ten times of the run with the pages rendered by then, as the finished blocks count them, and what each kind held.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from build import family

from cuadata.generating import spatial_blocks

KINDS = ("python", "renderers", "browser")
EVERY = 5.0


class Sample(NamedTuple):
    """Resident memory at one time."""

    seconds: float
    pages: int
    held: dict[str, int]  # MB by kind


def memory(pid: int) -> dict[str, int]:
    """MB that a process and those below it hold, by kind."""
    held = dict.fromkeys(KINDS, 0)
    for one in family(pid):
        try:
            words = Path(f"/proc/{one}/cmdline").read_bytes()
            status = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        kind = "renderers" if b"--type=renderer" in words else "browser" if b"--headless" in words else "python"
        kind = "browser" if b"--type=" in words and kind == "python" else kind
        held[kind] += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) // 1024
    return held


class Counted:
    """Pages of the finished blocks in a folder, each block read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = 0
        self._next = 0

    def now(self) -> int:
        """Pages by now."""
        while spatial_blocks.path(self.folder, self._next).exists():
            self.pages += spatial_blocks.read(self.folder, self._next).counts["renders"]
            self._next += 1
        return self.pages


def watch(child: subprocess.Popen[bytes], counted: Counted, seconds: float) -> list[Sample]:
    """A sample every few seconds until the time is over or the run ends."""
    begun, found = time.monotonic(), list[Sample]()
    while (past := time.monotonic() - begun) < seconds and child.poll() is None:
        time.sleep(EVERY)
        found.append(Sample(past, counted.now(), memory(child.pid)))
    return found


def main() -> None:
    """Run, watch, stop and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--n", type=int, default=200_000, help="rows asked for; more than there is time for")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "made")
        words = [sys.executable, "-m", "cuadata.cli", "generate", "spatial", "--n", str(asked.n), "--workers", "1"]
        child = subprocess.Popen([*words, "--seed", str(asked.seed), "--out", str(out)], start_new_session=True)
        try:
            found = watch(child, Counted(out.with_name(f".{out.name}.pages")), 60 * asked.minutes)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGTERM)
                child.wait(60)
    print(f"{'minutes':>8} {'pages':>7} " + " ".join(f"{kind + ' MB':>13}" for kind in KINDS) + f" {'all MB':>8}")
    for number in range(1, 11):
        one = found[max(0, number * len(found) // 10 - 1)]
        shown = " ".join(f"{one.held[kind]:13}" for kind in KINDS)
        print(f"{one.seconds / 60:8.1f} {one.pages:7} {shown} {sum(one.held.values()):8}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
