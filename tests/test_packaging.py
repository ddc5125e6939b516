"""The wheel holds the tracked files under one name."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("cuadata", "filters", "generators", "schemas", "train")


def test_wheel_holds_the_tree(tmp_path: Path) -> None:
    tracked = subprocess.check_output(["git", "ls-files", *ROOMS], cwd=ROOT, text=True).split()
    for name in [*tracked, "pyproject.toml", "README.md"]:  # a copy: setuptools packs what a stale build/ still holds
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    pip = [sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", tmp_path / "dist", tmp_path], check=True)
    wheel = zipfile.ZipFile(next((tmp_path / "dist").glob("*.whl")))
    shipped = {n for n in wheel.namelist() if ".dist-info/" not in n}
    assert shipped == {n if n.startswith("cuadata/") else f"cuadata/{n}" for n in tracked}
