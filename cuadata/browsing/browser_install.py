"""Gets a browser where there is none: Playwright's own, else the system's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuadata.browsing import browser_find
from cuadata.browsing.browser_find import Found, NoBrowser

Say = Callable[[str], None]
#: A download of 120 MB over a slow line.
LIMIT = 900


@dataclass(frozen=True, slots=True)
class Try:
    """One way to get a browser, and how it went."""

    command: tuple[str, ...]
    failed: str | None


def install(say: Say) -> Found:
    """The browser that is there, or the one that could be installed. NoBrowser with everything that was tried."""
    try:
        return browser_find.find()
    except NoBrowser as missing:
        if os.environ.get("CUADATA_CHROMIUM"):
            raise
        say(str(missing))
    tried: list[Try] = []
    for command in ways():
        say(f"trying: {' '.join(command)}")
        failed = _run(command)
        tried.append(Try(command, failed))
        if failed is None:
            try:
                return browser_find.find()
            except NoBrowser:
                tried[-1] = Try(command, "it ended well, but no browser was found afterwards")
        say(f"  {tried[-1].failed}")
    told = "\n".join(f"  {' '.join(one.command)}: {one.failed}" for one in tried)
    raise NoBrowser(
        "no Chromium is here and none could be installed. Tried:\n"
        f"{told}\nInstall one yourself (`apt-get install chromium-headless-shell` or `chromium`, or Google Chrome) and run"
        " `cuadata doctor` again, or set CUADATA_CHROMIUM to the path of a Chromium executable."
    )


def ways() -> list[tuple[str, ...]]:
    """Commands that may bring a browser, in the order in which they are tried."""
    playwright = (sys.executable, "-m", "playwright", "install")
    found: list[tuple[str, ...]] = [(*playwright, "chromium-headless-shell"), (*playwright, "chromium")]
    if _is_debian() and shutil.which("apt-get"):
        front = () if os.geteuid() == 0 else ("sudo", "-n") if shutil.which("sudo") else None
        if front is not None:
            found.append((*front, "apt-get", "update"))
            get = (*front, "apt-get", "install", "-y", "--no-install-recommends")
            found += [(*get, "chromium-headless-shell"), (*get, "chromium")]
    return found


def _is_debian() -> bool:
    try:
        words = Path("/etc/os-release").read_text().lower()
    except OSError:
        return False
    return "debian" in words or "ubuntu" in words


def _run(command: Sequence[str]) -> str | None:
    """None where the command ended well, else why not."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else f"it ended with code {done.returncode}"


def starts(found: Found) -> str:
    """Open a page in this browser and say what it is. NoBrowser where it does not start."""
    from cuadata import browser

    try:
        with browser.open("<!doctype html><title>works</title><button>OK</button>") as page:
            seen = page.observe()
            if seen.screenshot is None or not seen.elements:
                raise NoBrowser(f"{found.path} starts, but a page could not be observed: {'; '.join(seen.notes)}")
            return page.browser
    except NoBrowser:
        raise
    except Exception as error:
        words = str(error).strip().splitlines()
        raise NoBrowser(f"{found.path} ({found.how}) does not start: {words[0] if words else error!r}") from error
