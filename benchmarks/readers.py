"""What was published, read in a fresh environment: plain `datasets` (streaming and not), pandas and DuckDB, no cuadata.

    python benchmarks/readers.py [--python PATH]

It publishes a small set to the test server, makes a virtual environment (or takes the one whose interpreter is given), and
fails where a reader does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import publishing
from hub_server import Hub

ROWS = 12


def environment(place: Path) -> Path:
    """The interpreter of a new environment with the readers in it."""
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "datasets", "pandas", "duckdb", "pillow"], check=True)
    return python


def main() -> None:
    """Publish, read, print what read it."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--python", type=Path, help="interpreter of an environment that has the readers and no cuadata")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as place, Hub() as hub:
        folder = Path(place)
        publisher = publishing.Publisher(hub, folder / "home")
        told = publisher(publishing.dataset(folder / "set", ROWS))
        publisher.close()
        if "error" in told:
            sys.exit(told["words"])
        python = given.python or environment(folder / "fresh")
        known = subprocess.run([python, "-c", "import cuadata"], capture_output=True, cwd=place, check=False)
        if known.returncode == 0:
            sys.exit(f"{python} has cuadata; give an environment without it")
        done = subprocess.run(
            [python, "-c", publishing.reading(publishing.REPO, ROWS)],
            env=publishing.environment(hub, folder / "fresh-home"),
            cwd=place,
            check=False,
        )
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
