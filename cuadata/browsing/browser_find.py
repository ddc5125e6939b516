"""Where a Chromium is: the environment's word first, then Playwright's own, then the system's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cuadata.errors import CallError

Kind = Literal["chromium", "headless-shell", "chrome"]

#: Names of executables on the path, the quickest first: the headless shell starts in half the time of the whole browser.
SYSTEM: tuple[str, ...] = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PLACES: tuple[str, ...] = (
    "/usr/bin",
    "/usr/local/bin",
    "/snap/bin",
    "/opt/google/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A browser that can be started."""

    path: Annotated[Path, "the executable"]
    kind: Annotated[Kind, "a headless shell shows no window"]
    version: Annotated[str, "as the executable says it"]
    how: Annotated[str, "who named it: CUADATA_CHROMIUM, Playwright or the system"]


class NoBrowser(CallError):
    """No Chromium could be found; the message says what would do."""


def find(*, headed: bool = False) -> Found:
    """The browser to use; `headed` passes over headless shells. NoBrowser that says what would do."""
    return describe(*place(headed=headed))


def place(*, headed: bool = False) -> tuple[Path, str]:
    """Where it is and who named it, as of `find`, which asks its version besides."""
    named = os.environ.get("CUADATA_CHROMIUM")
    if named:
        path = Path(named)
        if not path.is_file():
            raise NoBrowser(f"CUADATA_CHROMIUM names {named}, which is no file; give the path of a Chromium executable")
        return path, "CUADATA_CHROMIUM"
    for path, how in (*((p, "Playwright") for p in playwright_paths()), *((p, "the system") for p in system_paths())):
        if headed and kind_of(path) == "headless-shell":
            continue
        return path, how
    raise NoBrowser("no Chromium was found; run `cuadata doctor --install`, or set CUADATA_CHROMIUM to an executable")


def describe(path: Path, how: str) -> Found:
    """A browser from its executable; the version is asked of the executable itself."""
    return Found(path=path, kind=kind_of(path), version=version_of(path), how=how)


def kind_of(path: Path) -> Kind:
    """What an executable is, from its name and its folder."""
    words = str(path).lower()
    if "headless" in words:
        return "headless-shell"
    return "chrome" if "chrome" in path.name.lower() and "chromium" not in words else "chromium"


def version_of(path: Path) -> str:
    """What `--version` prints; empty where it prints nothing within 10 s."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = [w for w in done.stdout.split() if w[:1].isdigit()]
    return words[0] if words else ""


def playwright_paths() -> list[Path]:
    """Executables that Playwright has downloaded, headless shells first, the newest build first."""
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or _cache() / "ms-playwright")
    patterns = (
        "chromium_headless_shell-*/*/headless_shell*",
        "chromium_headless_shell-*/*/chrome-headless-shell*",
        "chromium-*/chrome-linux*/chrome",
        "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
        "chromium-*/chrome-win*/chrome.exe",
    )
    found = [p for pattern in patterns for p in sorted(root.glob(pattern), key=_build, reverse=True)]
    return [p for p in found if p.is_file() and os.access(p, os.X_OK)]


def _build(path: Path) -> int:
    digits = [p.rsplit("-", 1)[-1] for p in path.parts if p.startswith("chromium")]
    return int(digits[-1]) if digits and digits[-1].isdigit() else 0


def _cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def system_paths() -> list[Path]:
    """Executables on the search path and in the usual places."""
    found = [Path(p) for name in SYSTEM if (p := shutil.which(name))]
    found += [Path(p) / n for p in PLACES for n in SYSTEM if (Path(p) / n).is_file()]
    found += [Path(p) for p in PLACES if Path(p).is_file()]
    return list(dict.fromkeys(found))
