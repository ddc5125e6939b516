"""What the README says of the commands and files is so."""

from __future__ import annotations

import re
from pathlib import Path

from cuadata.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent


def test_every_command_stands_in_the_readme_in_its_own_words() -> None:
    text = (ROOT / "README.md").read_text()
    rows = dict(re.findall(r"^\| `cuadata (\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert rows == {name: line for name, (_, line) in COMMANDS.items()}


def test_every_file_that_the_readme_links_is_there() -> None:
    text = (ROOT / "README.md").read_text()
    linked = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r"(?<![\w/])((?:docs|examples)/[\w./-]+\w)", text)
    assert linked
    assert [name for name in linked if not (ROOT / name).exists()] == []
