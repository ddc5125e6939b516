"""Datasets to publish, and publications in a process of their own: the Hub's address is read when its client is imported."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from hub_server import Hub

from cuadata import build, image
from cuadata.rows import Example, Target
from cuadata.types import Action, BBox, Image, Point

REPO = "tester/browser"


def picture(number: int, size: tuple[int, int] = (64, 48)) -> Image:
    """A PNG of noise that no other number has."""
    from PIL import Image as Pillow

    noise = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Pillow.fromarray(noise).save(out, "PNG")
    return image.from_bytes(out.getvalue())


def example(number: int, **more: Any) -> Example:
    """A row of its own site: a click on a button."""
    given: dict[str, Any] = {
        "id": f"t{number:03d}/0",
        "trajectory_id": f"t{number:03d}",
        "step_index": 0,
        "image": picture(number),
        "image_width": 64,
        "image_height": 48,
        "viewport_width": 64,
        "viewport_height": 48,
        "device_pixel_ratio": 1.0,
        "instruction": f"Open item {number}",
        "action": Action(type="click", point=Point(20.0, 15.0)),
        "target": Target(role="button", name=f"Item {number}", bbox=BBox(10, 10, 20, 10), point=Point(20.0, 15.0)),
        "site": f"shop{number}.test",
        "provenance": json.dumps({"recording": f"r{number}"}),
    }
    return Example(**(given | more))


def dataset(out: Path, count: int = 12, *, licence: str = "cc-by-4.0", shard_bytes: int = 40_000, **more: Any) -> Path:
    """A built dataset of one config with several shards; `more` goes into row 3."""
    rows = [example(number, **(more if number == 3 else {})) for number in range(count)]
    build.build(
        [],
        out,
        rows={"actions": rows},
        licence=licence,
        shard_bytes=shard_bytes,
        workers=1,
        fractions={"train": 0.8, "test": 0.2},
    )
    return out


def environment(hub: Hub | str, home: Path, token: str = "hf_test") -> dict[str, str]:
    """Where the client finds the Hub, and nothing of the user's own."""
    url = hub if isinstance(hub, str) else hub.url
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    told = {"HF_ENDPOINT": url, "HF_TOKEN": token, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    return kept | told | {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


def reading(repo: str, rows: int) -> str:
    """Code that reads a published `actions` config of so many rows with plain `datasets`, pandas and DuckDB.

    It needs nothing of this project, and prints what read the rows.
    """
    return f"""
import glob, importlib.util
import datasets, duckdb, huggingface_hub, pandas
assert datasets.get_dataset_config_names({repo!r}) == ["actions"]
whole = datasets.load_dataset({repo!r}, "actions")
rows = list(datasets.load_dataset({repo!r}, "actions", split="train", streaming=True))
assert len(whole["train"]) == len(rows) and len(whole["train"]) + len(whole["test"]) == {rows}
assert rows[0]["image"].size == (64, 48) == whole["train"][0]["image"].size
assert rows[0]["instruction"] == whole["train"][0]["instruction"]
assert [row["action"] for row in rows] == whole["train"]["action"][:]
folder = huggingface_hub.snapshot_download({repo!r}, repo_type="dataset")
files = sorted(glob.glob(folder + "/actions/train-*.parquet"))
frame = pandas.concat([pandas.read_parquet(file) for file in files])
assert list(frame.instruction) == [row["instruction"] for row in rows]
assert frame.image.iloc[0]["bytes"][:4] == b"\\x89PNG"
counted = duckdb.sql(f"select count(*), min(action.type) from read_parquet({{files}})").fetchall()[0]
assert counted == (len(rows), "click"), counted
print("read by", ", ".join(f"{{m.__name__}} {{m.__version__}}" for m in (datasets, pandas, duckdb)))
"""


_WORKER = """
import json, os, sys
from cuadata import hub
from cuadata.publishing.hub_remote import Limits
for line in sys.stdin:
    job = json.loads(line)
    os.environ["HF_TOKEN"] = job["token"]
    how = {"limits": Limits(silence=2, call=5, tries=3, wait=5), **job["how"]}
    try:
        told = hub.publish(job["folder"], job["repo"], **how).summary()
    except ValueError as error:
        told = {"error": type(error).__name__, "code": getattr(error, "exit_code", None), "words": str(error)}
    print(json.dumps(told), flush=True)
"""


class Publisher:
    """A process that publishes, one job after the other, to one Hub. Its short limits keep faults that stay short."""

    def __init__(self, hub: Hub, home: Path) -> None:
        self.home = home
        self.hub = hub
        self.begin()

    def begin(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            env=environment(self.hub, self.home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, folder: Path, repo: str = REPO, token: str = "hf_test", **how: Any) -> Mapping[str, Any]:
        """The summary of a publication, or its error; empty where the process was killed over it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        job = {"folder": str(folder), "repo": repo, "token": token, "how": how}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        held: Mapping[str, Any] = json.loads(line) if line else {}
        return held

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
