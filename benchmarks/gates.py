"""How fast gates are: python benchmarks/gates.py [--examples 4000] [--json]

Examples with page evidence (30 elements and four instructions a page, half of them spatial) go through every gate that looks at no
picture, as a build does it, on two processes. Printed are examples a second of both and of one, the processor time of an example as a build
judges it and with every gate asked by itself, processor time by gate, what gates share of an example (its instruction read,
its page looked up) on a line of its own, the steps of the repository's recordings in the same way, and the time for one page of
20,000 elements. A loop of plain additions is timed beside them, so that machines can be compared, and one machine with itself
under load.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cuadata import privacy, recording, split
from cuadata.judging import claims, gating, sensitive
from cuadata.registry import gates
from cuadata.rows import Candidate, Example, Target
from cuadata.types import (
    Action,
    BBox,
    Effect,
    Element,
    Evidence,
    Image,
    Locator,
    Observation,
    Relation,
    Size,
    Step,
    Trajectory,
)
from cuadata.wording import descriptions, phrases

WORDS = [
    "Open",
    "Edit",
    "Share",
    "Print",
    "Export",
    "Import",
    "Delete",
    "Rename",
    "Archive",
    "Move",
    "Undo",
    "Redo",
    "Bold",
    "Italic",
    "Zoom",
    "Filter",
    "Sort",
    "Group",
]
KINDS = ("file", "page", "view", "folder")
ROLES = ("button", "link", "checkbox", "tab")
VIEWPORT = Size(1280, 720)
SHOT = Image(sha256="f" * 64, width=1280, height=720, format="png", phash="0" * 16, path="shot.png")


def element(id: int, role: str, name: str, box: BBox) -> Element:
    """An element that a person sees whole."""
    return Element(
        id=id, role=role, name=name, text=name, tag=role, bbox=box, point=box.center, seen=1.0, hit=1.0,
        interactive=True, locator=Locator(css=f"#e{id}"), evidence=Evidence(rects=(box,), in_viewport=1.0),
    )  # fmt: skip


def row(one: Element) -> Target:
    """An element as a row holds it."""
    return Target(
        role=one.role, name=one.name, text=one.text, bbox=one.bbox, point=one.point, seen=1.0, hit=1.0, locator=one.locator
    )  # fmt: skip


def candidate(number: int, target: Element, page: Observation, text: str, *more: Any) -> Candidate:
    """A click on an element, as a trajectory of one step yields it."""
    reference, relation = more if more else (None, None)
    action = Action(type="click", point=target.point, element=target.id)
    step = Step(index=0, time=1e9, observation=page, action=action, target=target, effect=Effect(kind="local"))
    made = Example(
        id=f"t{number}/0", trajectory_id=f"t{number}", step_index=0, image=SHOT, image_width=1280, image_height=720,
        viewport_width=1280, viewport_height=720, device_pixel_ratio=1.0, instruction=text, action=action,
        target=row(target), references=() if reference is None else (row(reference),), relation=relation,
        provenance=json.dumps({"source": "bench", "recording": f"t{number}", "step": 0, "browser": "none"}),
    )  # fmt: skip
    whole = Trajectory(id=f"t{number}", instruction=text, source="bench", steps=(step,))
    return Candidate(example=made, observation=page, step=step, trajectory=whole)


def make(count: int, seed: int) -> list[Candidate]:
    """Examples on pages of 30 elements, four instructions a page, every page with its own names."""
    chance = random.Random(seed)
    found: list[Candidate] = []
    while len(found) < count:
        names = chance.sample([f"{word} {kind} {chance.randrange(40)}" for word in WORDS for kind in KINDS], 30)
        grid = tuple(
            element(place + 1, chance.choice(ROLES), name, BBox(40 + place % 6 * 200, 40 + place // 6 * 120, 120, 36))
            for place, name in enumerate(names)
        )
        page = Observation(screenshot=SHOT, viewport=VIEWPORT, url="https://a.test/", time=1e9 - 0.2, elements=grid)
        for place in chance.sample(range(30), 4):
            found.append(_instructed(len(found), place, page))
    return found[:count]


def _instructed(number: int, place: int, page: Observation) -> Candidate:
    """A direct instruction or a spatial one, in turn."""
    target = page.elements[place]
    if number % 2:
        return candidate(number, target, page, f"Click on the '{target.name}' {target.role}")
    other = page.elements[place - 1 if place % 6 else place + 1]
    relation: Relation = "right_of" if other.id < target.id else "left_of"
    text = f"Click on the nearest {target.role} {relation.replace('_', ' ')} '{other.name}'"
    return candidate(number, target, page, text, other, relation)


def without_pictures() -> tuple[gating.Chosen, ...]:
    """Every gate but those that open the picture."""
    return tuple(one for one in gating.choose() if not one.name.startswith("screenshot_"))


def through(candidates: Sequence[Candidate]) -> tuple[float, float]:
    """Seconds by the clock and of the processor for all of them through all gates; every one has to be kept."""
    gates = without_pictures()
    gc.freeze()  # a build holds few pages at a time; those of the benchmark are not to be gone through again and again
    clock, processor = time.perf_counter(), time.process_time()
    for one in candidates:
        against = gating.against(gating.judge(one, gates), "actions")
        assert against is None, against
    return time.perf_counter() - clock, time.process_time() - processor


def _half(job: tuple[int, int]) -> tuple[float, float]:
    return through(make(*job))


def on_two_processes(count: int) -> tuple[float, float]:
    """Examples a second over two processes that start together: by the clock, and by the processor time that they got."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_half, [(count // 2, 1), (count // 2, 2)], chunksize=1)
    half = count // 2
    return 2 * half / max(clock for clock, _ in found), sum(half / processor for _, processor in found)


def an_example(candidates: Sequence[Candidate], seconds: float = 8.0) -> dict[str, float]:
    """Microseconds of the processor an example, as a build judges it and gate by gate, in turns of twenty examples.

    Of each twenty the least of many tries counts, so that other work on the machine shows little. What is remembered of
    texts is forgotten before every try, since a build meets new ones.
    """
    chosen = without_pictures()
    held = [gates[one.name] for one in chosen]
    ways: dict[str, Callable[[Candidate], object]] = {
        "as_a_build": lambda one: gating.verdicts(one, chosen),
        "gate_by_gate": lambda one: [gate(one) for gate in held],
    }
    pieces = [candidates[at : at + 20] for at in range(0, len(candidates), 20)]
    least = {name: [float("inf")] * len(pieces) for name in ways}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, judge in ways.items():
            sensitive._clean.clear()
            for remembered in (phrases.read, privacy._found, descriptions._normal):
                remembered.cache_clear()
            for place, piece in enumerate(pieces):
                start = time.process_time_ns()
                for one in piece:
                    judge(one)
                least[name][place] = min(least[name][place], time.process_time_ns() - start)
    return {name: sum(found) / len(candidates) / 1000 for name, found in least.items()}


def recorded() -> list[Candidate]:
    """The steps of the recordings that come with the repository."""
    folders = sorted((Path(__file__).parent.parent / "examples" / "recordings").iterdir())
    return [one for folder in folders for one in split.examples(recording.read(folder))]


def per_gate(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Microseconds of the processor an example by gate; `(reading)` is what they share."""
    held = {one.name: gates[one.name] for one in without_pictures()}
    found = dict.fromkeys(("(reading)", *held), 0)
    tick = time.thread_time_ns
    own = min(-(tick() - tick()) for _ in range(1000))
    for one in candidates:
        start = tick()
        claims.read(one)
        found["(reading)"] += tick() - start - own
        for name, gate in held.items():
            start = tick()
            gate(one)
            found[name] += tick() - start - own
    return {name: spent / len(candidates) / 1000 for name, spent in sorted(found.items(), key=lambda item: -item[1])}


def big_page(count: int = 20_000) -> float:
    """Seconds of the processor for all gates on one example of a page of so many elements."""
    grid = tuple(element(n, "button", f"Item {n}", BBox(n % 200 * 6.0, n // 200 * 7.0, 5, 5)) for n in range(count))
    page = Observation(screenshot=SHOT, viewport=VIEWPORT, time=1e9 - 0.2, elements=grid)
    one = candidate(0, grid[700], page, "Click on the nearest button left of 'Item 701'", grid[701], "left_of")
    return best(lambda: through([one])[1])


def best(measure: Callable[[], float], tries: int = 3) -> float:
    """The least of a few tries."""
    return min(measure() for _ in range(tries))


def additions() -> float:
    """Millions of plain additions a second on one core."""

    def once() -> float:
        start = time.process_time()
        sum(range(1_000_000))
        return time.process_time() - start

    return 1 / best(once)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=4000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    clock, processor = max(on_two_processes(asked.examples) for _ in range(3))
    alone = best(lambda: through(make(asked.examples // 2, 1))[1])
    held: dict[str, Any] = {
        "gates": len(without_pictures()),
        "examples_per_second_two_processes": clock,
        "examples_per_second_of_processor_time_two_cores": processor,
        "examples_per_second_of_processor_time_one_process": asked.examples // 2 / alone,
        "microseconds_an_example": an_example(make(min(asked.examples, 800), 11)),
        "microseconds_a_recorded_step": an_example(recorded()),
        "microseconds_by_gate": per_gate(make(min(asked.examples, 1000), 3)),
        "seconds_for_20000_elements": big_page(),
        "million_additions_per_second": additions(),
    }
    if asked.json:
        print(json.dumps(held))
        return
    print(
        f"{held['gates']} gates, two processes: {clock:,.0f} examples/s by the clock, {processor:,.0f} by processor time; "
        f"one: {asked.examples // 2 / alone:,.0f} by processor time"
    )
    for name, what in (("microseconds_an_example", "an example"), ("microseconds_a_recorded_step", "a recorded step")):
        found = held[name]
        print(f"{found['as_a_build']:.0f} us {what} as a build judges it, {found['gate_by_gate']:.0f} us gate by gate")
    print(f"{held['seconds_for_20000_elements']:.2f} s for one page of 20,000 elements")
    print(f"{held['million_additions_per_second']:.0f} million additions/s on one core")
    for name, micros in list(held["microseconds_by_gate"].items())[:14]:
        print(f"{micros:8.1f} us  {name:24} {2e6 / micros:12,.0f} examples/s on two cores")


if __name__ == "__main__":
    main()
