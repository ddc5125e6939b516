"""Slow proofs: long runs with flat memory, browsers killed at random, the whole gauntlet on a hundred seeds.

`make soak` runs them; the suite leaves them out. `CUADATA_SOAK=0.1` does a tenth of everything.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cuadata import recorder, recording
from cuadata.episodes import registration, terms
from cuadata.geometry import union
from cuadata.playing import environment_vector, playing
from cuadata.playing.playing import Plan
from cuadata.types import Action, BBox, Element, Locator, Move, Outcome, Point, Task

pytestmark = pytest.mark.browser
SHARE = float(os.environ.get("CUADATA_SOAK", "1"))


def processes() -> list[tuple[int, str, float]]:
    """Number, command line and resident megabytes of every process that this one started, at any depth."""
    told = subprocess.run(["ps", "-eww", "-o", "pid=,ppid=,rss=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 3) for line in told.stdout.splitlines()]
    known, found = {os.getpid()}, list[tuple[int, str, float]]()
    for _ in range(8):
        for pid, parent, resident, *words in rows:
            if int(parent) in known and int(pid) not in known:
                known.add(int(pid))
                found.append((int(pid), words[0] if words else "", int(resident) / 1024))
    return [one for one in found if not one[1].startswith("ps ")]


def megabytes() -> float:
    """Resident memory of this process and all that it started."""
    own = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return own + sum(size for _, _, size in processes())


def test_twenty_thousand_steps_keep_their_memory_and_leave_no_process() -> None:
    before = {pid for pid, _, _ in processes()}
    envs: Any = environment_vector.make("miniwob-click-checkboxes", 8, browsers=2, screenshot=False, effect=False)
    rng, wanted, done = random.Random(0), int(20_000 * SHARE), 0
    envs.reset(seed=0)
    marks: list[float] = []
    while done < wanted:
        answers = []
        for episode in envs.episodes:
            held = [e.id for e in episode.observation.elements if e.point is not None] or [1]
            answers.append(Action(type="click", element=rng.choice(held)))
        envs.step(answers)
        done += 8
        if done % max(wanted // 20, 8) < 8:
            marks.append(megabytes())
    envs.close()
    half = len(marks) // 2  # eight renderers' heaps take over 10,000 steps to warm up, and hold still from there on
    early, late = sum(marks[half - 1 : half + 2]) / 3, sum(marks[-3:]) / 3
    print(f"{done} steps, {early:.0f} MB at half, {late:.0f} MB at the end")
    assert late < early + 80
    left = [pid for pid in browsers() if pid not in before]
    assert not left, f"processes are left: {left}"


def test_ten_long_episodes_keep_their_memory(cases: Path) -> None:
    """B30: ten episodes of thirty clicks, each click with twenty requests."""
    import page_cases

    folder = cases / "capture" / "B30-long-run-soak"
    told = page_cases.case(folder)
    marks: list[float] = []
    for _ in range(told["expect"]["episodes"]):
        with page_cases.opened(folder) as page:
            player = page_cases.Player(page)
            for number in range(1, told["expect"]["clicks_per_episode"] + 1):
                player.play([{"do": "click", "at": [110, 55]}, {"do": "wait_for_text", "text": str(number)}])
            said = page.evaluate("document.getElementById('o').textContent")
            assert said == told["expect"]["counter_at_end_of_each_episode"]
            marks.append(megabytes())
    print(f"{marks[2]:.0f} MB in the third episode, {marks[-1]:.0f} MB in the last")
    assert marks[-1] - marks[2] < told["expect"]["budget"]["rss_growth_mb_from_episode_3_to_10"]


def browsers() -> list[int]:
    """The browsers of this process; a shell that started one is none."""
    return [p for p, words, _ in processes() if "--user-data-dir" in words and not words.startswith("/bin/sh")]


def test_chromium_killed_twenty_times_in_a_thousand_episodes_loses_none(tmp_path: Path) -> None:
    number = int(1000 * SHARE)
    plan = Plan(
        family="miniwob-click-checkboxes", policy="oracle", seeds=range(number), screenshot=False, workers=4, browsers=2,
        retries=5,
    )  # fmt: skip
    rng, ended, killed = random.Random(1), [0], list[int]()
    moments = set(rng.sample(range(number - 1), max(int(20 * SHARE), 2)))

    def kill() -> None:
        """At these episodes a browser dies, whatever the other pages are doing at that moment."""
        ended[0] += 1
        if ended[0] not in moments:
            return
        time.sleep(rng.uniform(0, 0.1))
        if alive := browsers():
            killed.append(rng.choice(alive))
            os.kill(killed[-1], signal.SIGKILL)
        else:  # one is being started again: the next episode's end will do
            moments.add(ended[0] + 1)

    held = playing.play(plan, tmp_path / "out", progress=kill)
    assert [p.seed for p in held] == list(range(number)) and all(p.exact for p in held)
    lines = list(playing.lines(tmp_path / "out"))
    broken = [line for line in lines if line.ended == "error"]
    print(f"{len(killed)} kills, {len(broken)} episodes marked as broken down, {len(held)} of {number} finished")
    assert len({line.name for line in lines}) == len(lines) == len(recording.find(tmp_path / "out"))
    assert len(killed) >= len(moments) - 1
    counting = [(line.seed, line.sample) for line in lines if line.ended not in playing.BROKEN]
    assert len(counting) == len(set(counting)) == number


def test_the_oracle_finishes_thirty_of_thirty_steps_on_a_hundred_seeds(tmp_path: Path) -> None:
    number = max(int(100 * SHARE), 2)
    plan = Plan(family="gauntlet", policy="oracle", seeds=range(number), screenshot=False, workers=3, browsers=2)
    held = playing.play(plan, tmp_path / "out")
    for line in held:
        steps = thirty(registration.task("gauntlet", line.seed))
        assert steps <= set(line.fired), (line.seed, steps - set(line.fired))
        assert line.exact


def thirty(task: Task) -> set[str]:
    """Names of the terms that stand for the gauntlet's steps."""
    held = {t.name for t in task.terms if t.name.endswith(("submitted", "revealed", "accepted")) or "overlay" in t.name}
    assert len(held) == 30
    return held


class Hand:
    """Does a task's moves as a person does: by points alone, never the same, in notches of the wheel, with slips."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.rng = task, random.Random(seed)
        self.fired: list[str] = []

    def __call__(self, held: recorder.Recorder) -> Outcome:
        """Act on the recorder's page to the end of the moves."""
        self.held = held
        self.ledger = terms.Ledger.open(self.task.terms, held.observe())
        for number, move in enumerate(self.task.solution):
            if number % 7 == 3:  # a slip: a click on nothing
                self.do(type="click", point=Point(self.rng.uniform(2, 6), self.rng.uniform(2, 6)))
            self.move(move)
        won = terms.all_hold(self.task.success, held.observe())
        return Outcome(ended="success" if won else "failure", success=won)

    def do(self, **action: Any) -> None:
        """One action, and what it paid."""
        step = self.held.do(Action(**action))
        assert step.error is None, (step.action, step.error)
        self.fired += [reward.name for reward in self.ledger.pay(self.held.observe())]

    def move(self, move: Move) -> None:
        """One move of the solution, in as many actions as a hand needs."""
        action = move.action
        if action.type == "scroll":
            at = self.somewhere(self.box(move.locator)) if move.locator else Point(640, 360)
            for _ in range(round((action.scroll_y or 0) / 100)):
                self.do(type="scroll", point=at, scroll_y=1.0, scroll_unit="click")
        elif action.type == "wait":
            self.do(type="wait", seconds=action.seconds)
        elif action.type == "drag":
            end = self.box(move.end)
            self.do(type="drag", point=self.box(move.locator).center, end=end.center)
        else:
            at = self.somewhere(self.box(move.locator))
            self.do(type="hover", point=Point(at.x + self.rng.uniform(-2, 2), at.y + self.rng.uniform(-2, 2)))
            if action.type != "hover":
                self.do(type="click", point=at)
            if action.type == "type":
                self.write(action.text or "")

    def write(self, text: str) -> None:
        """Keys with a slip in the middle, taken back."""
        half = len(text) // 2
        self.do(type="type", text=text[:half] + self.rng.choice("qxz"))
        self.do(type="press", keys=("Backspace",))
        self.do(type="type", text=text[half:])

    def box(self, locator: Locator | None) -> BBox:
        """Where an element is now; it is waited for as a person waits."""
        for _ in range(30):
            found: Element | None = next((e for e in self.held.observe().elements if e.locator == locator), None)
            if found is not None and (box := union([found.bbox] if found.bbox else [])) is not None:
                return box
            self.held.moved()
            time.sleep(0.1)
        raise AssertionError(f"nothing is at {locator}")

    def somewhere(self, box: BBox) -> Point:
        """A point in the middle half of a box."""
        x, y = (self.rng.uniform(0.25, 0.75) for _ in range(2))
        return Point(box.x + box.width * x, box.y + box.height * y)


@pytest.mark.parametrize("seed", range(max(int(3 * SHARE), 1)))
def test_a_hand_with_slips_finishes_the_gauntlet_through_the_recorder(tmp_path: Path, seed: int) -> None:
    task = registration.task("gauntlet", seed)
    hand = Hand(task, seed)
    held = recording.read(recorder.record(task, tmp_path / "out", hand))
    assert held.outcome.success and thirty(task) <= set(hand.fired), thirty(task) - set(hand.fired)
    assert len(held.steps) > len(task.solution) * 2 and all(s.action.element is None for s in held.steps)
