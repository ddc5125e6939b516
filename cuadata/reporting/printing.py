"""What the evaluation commands show: tables and words on stderr, one JSON object on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cuadata.reporting.showing import plainly


def data(result: Mapping[str, Any]) -> None:
    """One object on stdout."""
    sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")


def say(words: str) -> None:
    """A line on stderr."""
    sys.stderr.write(plainly(words, lines=True) + "\n")


def warn(words: Iterable[str]) -> None:
    """Sentences on stderr, a line each, that nobody should overlook beside a figure; in colour on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    for one in words:
        console.print(Text(plainly(f"WARNING: {one}", lines=True), style="bold yellow"), soft_wrap=True)


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr; call what it gives once an item."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def result(held: Mapping[str, Any]) -> None:
    """The table of an evaluation, of logged answers or of episodes."""
    if "by_variant" in held:
        answers(held)
    else:
        episodes(held)


def rate(held: Mapping[str, Any]) -> str:
    """A rate with its interval, in percent: 65.5 [60.9, 69.8]."""
    value, ends = held.get("accuracy", held.get("rate")), held.get("interval")
    if value is None or ends is None:
        return "-"
    return f"{100 * value:.1f} [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"


def counted(number: int, thing: str) -> str:
    """A number of things: 1 episode, 2 episodes."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def answers(result: Mapping[str, Any]) -> None:
    """Accuracy by variant, where the misses went, and what policies that look at nothing reach."""
    told = any("misses" in held for held in result["by_variant"].values())
    lacking = bool(result["unanswered"])
    head = [
        "", "n", "accuracy, % [95 %]",
        *(["no answer", "of all, % [95 %]"] if lacking else []),
        "unread", *(["on the reference, % of misses"] if told else []),
    ]  # fmt: skip
    lines = {**result["by_variant"], "all": result}
    if result["by_feasible"]:
        lines |= {
            "something is meant": result["by_feasible"].get("feasible"),
            "infeasible": result["by_feasible"]["infeasible"],
        }
    body = [_answer_row(name, held, told, lacking) for name, held in lines.items() if held is not None]
    trivial = [
        [f"trivial: {name}", f"{held['n']}", rate(held), *([""] * (len(head) - 3))]
        for name, held in result["trivial"].items()
    ]
    table(f"{result['name']} on {result['what']}, {result['tolerance_px']:g} px of slack", head, [*body, *trivial])
    for variant, held in result["flips"].items():
        say(
            f"{variant} against {held['against']}: {held['broken']} broken, {held['fixed']} fixed of {held['n']} "
            f"({100 * (held['rate'] or 0):.1f} % flip), p = {held['p']:.2g}"
        )
    for words in result["notes"]:
        say(words)
    warn(result["warnings"])


def _answer_row(name: str, held: Mapping[str, Any], told: bool, lacking: bool) -> list[str]:
    found = [name, f"{held['n']}", rate(held)]
    if lacking:
        whole = {"accuracy": held["accuracy_all"], "interval": held["interval_all"]}
        found += [f"{held['unanswered']} of {held['questions']}", rate(whole)]
    found.append(f"{held.get('parse_failures', '')}")
    if told:
        share = held.get("misses", {}).get("on_reference", {}).get("share")
        found.append("" if share is None else f"{100 * share:.1f} of {held['misses']['n']}")
    return found


def episodes(result: Mapping[str, Any]) -> None:
    """Exact and default success beside the trivial policies, and how episodes failed."""
    lines = {result["name"]: result, **{f"trivial: {k}": v for k, v in result["trivial"].items()}}
    body = [[name, f"{held['n']}", rate(held["exact"]), rate(held["default"])] for name, held in lines.items()]
    table(f"{result['name']} on {result['what']}", ["", "n", "exact, % [95 %]", "default, % [95 %]"], body)
    for size, held in result["by_size"].items():
        say(f"size {size}: exact {rate(held['exact'])} of {held['n']}")
    for name, held in result["failures"].items():
        say(f"{name.replace('_', ' ')}: {held['episodes']} episodes")


def comparison(result: Mapping[str, Any]) -> None:
    """The verdict of each paired test."""
    named = {"exact": result["exact"], "default": result["default"], **result["by_variant"]}
    lines = {name: held for name, held in named.items() if held is not None}
    body = [
        [
            name,
            f"{held['n']}",
            rate(held["first"]),
            rate(held["second"]),
            f"{100 * held['difference']:+.1f} [{100 * held['interval'][0]:+.1f}, {100 * held['interval'][1]:+.1f}]",
            f"{held['p']:.2g}",
            "none" if held["smallest"] is None else f"{100 * held['smallest']:.1f}",
        ]
        for name, held in lines.items()
    ]
    head = ["", "n", "first, %", "second, %", "difference, points", "p", "smallest shown"]
    table(f"{result['second']} against {result['first']} on {result['what']}", head, body)
    for name, held in lines.items():
        say(f"{name}: {held['verdict']}")
    warn(result["warnings"])


def selection(result: Mapping[str, Any]) -> None:
    """What was kept, and why the rest was not."""
    total = max(1, result["judged"])
    found = {"kept": result["kept"], **result["reasons"]}
    rows = [[name.replace("_", " "), f"{count}", f"{100 * count / total:.1f}"] for name, count in found.items()]
    low, high = result["bounds"]
    title = f"{result['kept']} of {result['judged']} kept: {result['by'].replace('_', ' ')} from {low:g} to {high:g}"
    table(title, ["", "questions", "%"], rows)
    for name, count in result["vouched"].items():
        say(f"{count} that no rollout hit were kept on the word of {name}")
    if result["most_samples"] == 1:
        say(
            "every question has one sample, so its rate is 0 or 1 and says little: log several of each, or widen the bounds "
            "with --keep 0:1"
        )


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, words: Sequence[str] = ()) -> None:
    """A table on stderr. The first column and those named in `words` hold words, the others figures."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for number, name in enumerate(head):
        shown.add_column(Text(plainly(name)), justify="left" if number == 0 or name in words else "right")
    for line in rows:
        shown.add_row(*(Text(plainly(cell)) for cell in line))  # no markup: a name may hold square brackets
    console = Console(stderr=True)
    if not console.is_terminal:  # a file or a pipe is as wide as the table, unless that holds whole sentences
        natural = console.measure(shown, options=console.options.update(width=400)).maximum
        console.width = max(console.width, min(natural, 120))
    console.print(plainly(title), style="bold", highlight=False, markup=False, soft_wrap=True)
    console.print(shown)
