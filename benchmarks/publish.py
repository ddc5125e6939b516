"""Publishing rows with pictures to the test server: time and peak memory of the client.

    python benchmarks/publish.py --rows 5000 --picture 100000

The server runs in a process of its own and keeps files on disk. Rows are built first and are not part of the figures.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

_CLIENT = """
import json, resource, sys, time
began = time.perf_counter()
from cuadata import hub
done = hub.publish(sys.argv[1], "tester/benchmark").summary()
own, opener = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
told = {"seconds": time.perf_counter() - began, "peak_mb": own, "peak_mb_of_opener": opener, "opened": done["opened"]}
print(json.dumps(told))
"""


def rows(count: int, size: int) -> Iterator[Any]:
    """Examples whose pictures are noise of about `size` bytes each, every one another."""
    import numpy as np
    import publishing
    from PIL import Image as Pillow

    from cuadata import image

    side = max(8, round((size / 3) ** 0.5))
    for number in range(count):
        noise = np.random.default_rng(number).integers(0, 256, (side, side, 3), dtype=np.uint8)
        out = io.BytesIO()
        Pillow.fromarray(noise).save(out, "PNG", compress_level=0)
        yield publishing.example(number, image=image.from_bytes(out.getvalue()), image_width=side, image_height=side)


def main() -> None:
    """Build, publish, print one object."""
    import publishing

    from cuadata import build

    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=5000)
    asked.add_argument("--picture", type=int, default=100_000, help="bytes of a picture, about")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "set"
        build.build([], folder, rows={"actions": rows(given.rows, given.picture)}, licence="cc0-1.0", workers=1)
        size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        server = subprocess.Popen(
            [sys.executable, str(TESTS / "hub_server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdin is not None and server.stdout is not None
        url = server.stdout.readline().strip()
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _CLIENT, str(folder)],
            env=publishing.environment(url, Path(place) / "home"),
            capture_output=True,
            text=True,
            check=False,
        )
        server.stdin.close()
        server.wait()
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        told = {"rows": given.rows, "mb": size / 1e6, "wall": time.perf_counter() - began, **json.loads(done.stdout)}
        print(json.dumps(told))


if __name__ == "__main__":
    main()
