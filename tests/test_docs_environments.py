"""What docs/environments.md shows runs, and is read, as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuadata import environment
from cuadata.episodes import registration, taskfile
from cuadata.episodes.episode import Episode

TEXT = (Path(__file__).parents[1] / "docs" / "environments.md").read_text(encoding="utf-8")


@pytest.mark.browser
def test_the_first_lines_run(capsys: pytest.CaptureFixture[str]) -> None:
    held: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[0], held)  # noqa: S102
    assert "dialog" in capsys.readouterr().out and held["terminated"] is False


def test_the_task_file_is_one(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "task.yaml").write_text(re.sub(r"solution: .*\n", "", shown))
    task = taskfile.read(tmp_path / "task.yaml")
    assert [(t.name, t.value) for t in task.terms] == [("chosen", 0.1), ("sent", 1.0)] and task.success


def test_names_and_options_that_it_speaks_of_are_there() -> None:
    for family in re.findall(r'make(?:_vec)?\("(?:cuadata/)?([\w-]+?)(?:-v0)?"', TEXT):
        assert registration.known(family), family
    task = registration.task("modal", 0, right=0.2, markup="aria")
    assert next(t.value for t in task.terms if t.name == "right_radio") == 0.2
    keys = set(environment.tell(Episode(environment.stage_of(task), task)))
    told = set(re.findall(r"`(\w+)`", next(line for line in TEXT.splitlines() if line.startswith("| `info`"))))
    assert told - keys == {"info", "target_stale"}, told - keys
