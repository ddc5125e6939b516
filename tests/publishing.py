"""Datasets to publish, and publications in a process of their own: the Hub's address is read when its client is imported."""

from __future__ import annotations

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
QUICK = "limits=Limits(silence=2, call=4, tries=3, wait=5)"


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


def script(folder: Path, how: str = "") -> str:
    """A program that publishes and prints the summary, or the error's type, exit code and words."""
    return f"""
import json, sys
from cuadata import hub
from cuadata.hub_remote import Limits
try:
    print(json.dumps(hub.publish({str(folder)!r}, {REPO!r}, {how or QUICK}).summary()))
except ValueError as error:
    print(json.dumps({{"error": type(error).__name__, "code": error.exit_code, "words": str(error)}}))
"""


def publish(folder: Path, hub: Hub | str, home: Path, how: str = "", token: str = "hf_test") -> Mapping[str, Any]:
    """Publish in a process of its own; the summary, or the error."""
    how = f"{QUICK}, {how}" if how else QUICK
    done = subprocess.run(
        [sys.executable, "-c", script(folder, how)],
        env=environment(hub, home, token),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    held: Mapping[str, Any] = json.loads(done.stdout)
    return held
