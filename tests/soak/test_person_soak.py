"""A long session of a person: 2,000 inputs, none missing or doubled against the page's own log, memory flat."""

from __future__ import annotations

import os
from pathlib import Path

import people_log
import pytest

pytestmark = pytest.mark.browser
SHARE = float(os.environ.get("CUADATA_SOAK", "1"))


def resident() -> float:
    """This process's resident megabytes."""
    words = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()
    return int(words[0]) / 1024


def test_two_thousand_inputs(tmp_path: Path) -> None:
    sizes: list[tuple[int, float]] = []
    told = people_log.compare(int(2000 * SHARE), tmp_path / "out", 11, lambda sent: sizes.append((sent, resident())))
    assert told["told"] == told["logged"]
    third = [size for _, size in sizes[len(sizes) // 3 :]]
    print(
        f"{told['sent']} inputs, {len(told['told'])} steps, {third[0]:.0f} to {third[-1]:.0f} MB resident after the first third"
    )
    assert third[-1] < third[0] + 120, sizes
