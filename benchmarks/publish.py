"""Publishing rows with pictures to the test server: time and peak memory of the client, and whether it survives kills.

    python benchmarks/publish.py --rows 5000 --picture 100000
    python benchmarks/publish.py --rows 500 --shard 5000000 --kills 10

The client runs in a process of its own. Rows are built first and are not part of the figures. `peak_mb` is the client's,
`peak_mb_of_opener` that of the process in which it opens the published set again.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuadata import build

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import publishing
from hub_server import Hub

REPO = "tester/benchmark"

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
    from PIL import Image as Pillow

    from cuadata import image

    side = max(8, round((size / 3) ** 0.5))
    for number in range(count):
        noise = np.random.default_rng(number).integers(0, 256, (side, side, 3), dtype=np.uint8)
        out = io.BytesIO()
        Pillow.fromarray(noise).save(out, "PNG", compress_level=0)
        yield publishing.example(number, image=image.from_bytes(out.getvalue()), image_width=side, image_height=side)


def client(folder: Path, hub: Hub, home: Path) -> subprocess.Popen[str]:
    """A publication in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", _CLIENT, str(folder)],
        env=publishing.environment(hub, home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What an undisturbed client said."""
    out, err = process.communicate()
    if process.returncode:
        sys.exit(err[-2000:])
    told: dict[str, Any] = json.loads(out)
    return told


def state(hub: Hub) -> tuple[Any, ...]:
    """What is to be seen on the Hub: files by hash, how many commits, tags."""
    held = hub.repos[REPO]
    return hub.files(REPO), len(held.commits), held.tags


def killed(folder: Path, hub: Hub, home: Path, kills: int, seconds: float) -> dict[str, Any]:
    """Publish, killed `kills` times at moments drawn at random within `seconds`, then once to the end."""
    draw, done, early = random.Random(0), 0, 0
    while done < kills:
        process = client(folder, hub, home)
        try:
            process.wait(draw.uniform(0, seconds))
            early += 1
        except subprocess.TimeoutExpired:
            process.kill()
            done += 1
        process.communicate()
    finished(client(folder, hub, home))
    return {"kills": done, "ended_before_its_kill": early, "shards_sent": hub.taken}


def main() -> None:
    """Build, publish, print one object."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=5000)
    asked.add_argument("--picture", type=int, default=100_000, help="bytes of a picture, about")
    asked.add_argument("--shard", type=int, default=500_000_000, help="bytes of a shard, at most")
    asked.add_argument("--kills", type=int, default=0, help="publish once more, killed so many times at random moments")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, home = Path(place) / "set", Path(place) / "home"
        made = {"actions": rows(given.rows, given.picture)}
        build.build([], folder, rows=made, licence="cc0-1.0", workers=1, shard_bytes=given.shard)
        shards = list(folder.rglob("*.parquet"))
        told: dict[str, Any] = {"rows": given.rows, "mb": sum(path.stat().st_size for path in shards) / 1e6}
        with Hub() as hub:
            told |= finished(client(folder, hub, home))
            whole = state(hub)
            if given.kills:
                hub.forget()
                told |= killed(folder, hub, home, given.kills, told["seconds"])
                told |= {"shards": len(shards), "same_end": state(hub) == whole}
        print(json.dumps(told))


if __name__ == "__main__":
    main()
