"""Names of pages and files do not write on the terminal that they are shown on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cuadata.reporting import printing
from cuadata.reporting.showing import plainly

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "a\x1b[2J\x1b[31m\r\x9b1m\u202eb"
SHOWN = r"a\x1b[2J\x1b[31m\r\x9b1m\u202eb"


@pytest.mark.parametrize(("text", "shown"), [
    (HOSTILE, SHOWN),
    ("two\nlines\tand a tab", r"two\nlines\tand a tab"),
    ("Überschrift \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f4bb\xa0ok", None),
])  # fmt: skip
def test_what_acts_on_a_terminal_is_written_out_and_no_more(text: str, shown: str | None) -> None:
    assert plainly(text) == (shown if shown is not None else text)


def test_tables_and_lines_show_names_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Square brackets are no markup either: `[/b]` stopped the command that was to show it."""
    printing.table(HOSTILE, ["", HOSTILE], [[f"{HOSTILE} [/b] [red]", "1"]])
    printing.say(HOSTILE)
    printing.warn([HOSTILE])
    told = capsys.readouterr().err
    assert told.count(SHOWN) == 5 and "[/b] [red]" in told
    assert not set("\x1b\r\x9b\u202e") & set(told)


def test_an_error_that_names_a_hostile_id_is_shown_plainly(tmp_path: Path) -> None:
    held = tmp_path / "r"
    shutil.copytree(ROOT / "examples" / "recordings" / "overlays-seed0", held / "one")
    header = held / "one" / "header.json"
    header.write_text(header.read_text().replace('"id":"overlays/0/oracle', '"id":"\\u001b[31m', 1))
    shutil.copytree(held / "one", held / "two")
    command = [
        sys.executable,
        "-m",
        "cuadata.cli",
        "build",
        "--source",
        "recordings",
        str(held),
        "--out",
        str(tmp_path / "o"),
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 1
    assert "\x1b" not in told.stderr and r"\x1b[31m" in told.stderr
