"""Plans on live pages: what they are worth, that each is played once, in one process or several, before or after it is asked."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuadata import environment
from cuadata.errors import DataError
from cuadata.playing import plans
from cuadata.types import Action

pytestmark = pytest.mark.browser
FAMILY = "miniwob-click-checkboxes"


def numbers(row: dict[str, Any], kind: str) -> list[int]:
    return [int(n) for n in re.findall(rf"^\[(\d+)\] {kind}", row["prompt"][-1]["content"], re.MULTILINE)]


@pytest.fixture(scope="module")
def asked() -> tuple[list[dict[str, Any]], list[str]]:
    """Answers to four tasks: all boxes, one box, nothing that can be read, no submission; the second one twice."""
    rows, answers = [], []
    for row in plans.task_rows(FAMILY, range(4), "axtree"):
        boxes, submit = numbers(row, "checkbox"), numbers(row, "button")[0]
        every = [f"click({box})" for box in boxes]
        one = f"{every[0]}\nclick({submit})"
        rows += [row] * 5
        answers += ["\n".join([*every, f"click({submit})"]), one, "I would click Submit.", every[0], one]
    return rows, answers


def by_hand(row: dict[str, Any], answer: str) -> tuple[float, bool]:
    """Raw reward and whether the page ended the episode, by an environment of its own."""
    env: Any = environment.make(FAMILY, screenshot=False, effect=False)
    try:
        _, info = env.reset(seed=row["seed"])
        for number in map(int, re.findall(r"click\((\d+)\)", answer)):
            *_, info = env.step(Action(type="click", element=number))
        return info["raw"], info["ended"] in ("success", "failure")
    finally:
        env.close()


@pytest.fixture(params=[0, 1, 2], ids=["this process", "one process", "two"])
def score(request: pytest.FixtureRequest) -> Iterator[plans.Scorer]:
    if not request.param:
        with contextlib.closing(plans.PlanScorer("axtree")) as here:
            yield here
        return
    with plans.scorer("axtree", request.param) as held:
        yield held


def test_plans_are_worth_what_the_page_pays(score: plans.Scorer, asked: tuple[list[dict[str, Any]], list[str]]) -> None:
    rows, answers = asked
    terms = score(rows, answers)
    assert [(t["raw"], bool(t["submitted"])) for t in terms[:5]] == [
        by_hand(row, answer) for row, answer in zip(rows[:5], answers[:5], strict=True)
    ]
    assert [t["parsed"] for t in terms] == [1.0, 1.0, 0.0, 1.0, 1.0] * 4
    assert {t["submitted"] for t in terms[3::5]} == {0.0}
    assert len({t["raw"] for t in terms}) > 1


def test_answers_told_of_early_are_worth_the_same_and_played_once(
    score: plans.Scorer, asked: tuple[list[dict[str, Any]], list[str]]
) -> None:
    rows, answers = asked
    began = time.perf_counter()
    score.start(rows[:12], answers[:12])
    assert time.perf_counter() - began < 2, "starting waits for no page"
    early = score(rows, answers)
    assert score(rows, answers) == early
    assert score.fresh == 16, "twenty answers, of which four do what others do"
    with plans.scorer("axtree", 1) as other:
        assert other(rows, answers) == early


def test_a_page_that_does_not_begin_is_told_and_tried_anew(
    asked: tuple[list[dict[str, Any]], list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows, answers = asked
    with contextlib.closing(plans.PlanScorer("axtree")) as score:
        with monkeypatch.context() as broken:
            broken.setattr("cuadata.episodes.miniwob.folder", lambda: tmp_path)
            score.start(rows[:2], answers[:2])
            with pytest.raises(DataError, match="did not begin"):
                score(rows[:2], answers[:2])
        assert len(score(rows[:2], answers[:2])) == 2


TRAINS = """
import os, signal, sys
from cuadata.playing import plans

def main():
    signal.signal(signal.SIGINT, lambda *_: None)  # as trainers do: the step ends first
    rows = plans.task_rows("modal", range(4), "axtree")
    with plans.scorer("axtree", 1) as score:
        score.start(rows[:2], ["click(1)\\nclick(2)"] * 2)
        print(*(pool._processes.copy().popitem()[0] for pool in score._pools), flush=True)
        sys.stdin.readline()
        print(len(score(rows, ["click(1)\\nclick(2)"] * 4)), flush=True)
        sys.stdin.readline()

if __name__ == "__main__":
    main()
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="groups of processes are of POSIX")
@pytest.mark.parametrize("end", ["at its end", "killed"])
def test_ctrl_c_at_the_terminal_lets_the_pages_play_on(end: str, tmp_path: Path) -> None:
    """It goes to every process of the group. And none is left behind, however the one that plays ends."""
    (tmp_path / "trains.py").write_text(TRAINS)
    words = [sys.executable, str(tmp_path / "trains.py")]
    started = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert started.stdin is not None and started.stdout is not None
    worker = int(started.stdout.readline())
    os.killpg(started.pid, signal.SIGINT)
    started.stdin.write("\n")
    started.stdin.flush()
    assert started.stdout.readline() == "4\n"
    if end == "killed":
        started.kill()
    started.communicate("\n", timeout=60)
    until = time.monotonic() + 30
    while alive(worker):
        assert time.monotonic() < until, "the process that plays is left behind"
        time.sleep(0.1)


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
