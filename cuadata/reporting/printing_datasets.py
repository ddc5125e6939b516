"""What the dataset commands show on stderr: tables of what was kept and why the rest was not, and how far the work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cuadata import reasons
from cuadata.reporting.printing import say, table

#: Values of a column that are listed; the others are summed up.
_LISTED = 8


def build(summary: Mapping[str, Any]) -> None:
    """Kept rows by config and split, and examples that were not kept by reason."""
    kept, rejected, steps = summary["kept"], summary["rejected"], summary["steps"]
    if summary["resumed"]:
        say(f"went on from an interrupted build: {summary['resumed']} inputs had been read")
    names = [*summary["splits"]["fractions"]]
    rows = [
        [config, *(f"{held.get(name, 0):,}" for name in names), f"{sum(held.values()):,}"]
        for config, held in kept.items()
    ]
    title = f"{summary['trajectories']:,} trajectories, {steps:,} steps: kept"
    table(title, ["config", *names, "all"], rows or [["nothing", *([""] * len(names)), "0"]])
    lines = [
        [reason, f"{count:,}", f"{100 * count / max(1, steps):.1f}", reasons.REASONS.get(reason, "")]
        for reason, count in rejected.items()
    ]
    if lines:
        table("rejected", ["reason", "steps", "%", "what it means"], lines, words=("what it means",))
    elif "rejected" in summary["configs"]:
        say("rejected: nothing")
    else:
        say("rejected: not counted, since the config `rejected` was not asked for")
    if failed := summary["failed_trajectories"]:
        counted = "task_failed" in summary["rejected"] or "rejected" not in summary["configs"]
        wise = "" if counted else "; what worked in them was kept, wise or not"
        say(f"trajectories that failed their task: {failed:,}{wise}")
    if several := summary["asked"]["several_answers"]:
        prompts, rows = summary["asked"]["prompts"], summary["asked"]["rows"]
        say(f"prompts of actions with several answers: {several:,} of {prompts:,}, in {rows:,} rows")
    for name, wanted in summary["splits"]["wanted_rows"].items():
        got = summary["splits"]["rows"][name]
        if got != wanted:
            groups = summary["splits"]["groups"]
            say(f"split {name}: {got:,} rows of actions where its share is {wanted:,}: {groups} groups that never part")
    for one in summary["damaged"]:
        say(f"left out: {one['place']}: {one['message']}")
    say(f"dataset: {summary['out']}")


def published(summary: Mapping[str, Any]) -> None:
    """What a publication wrote, and what it could not check."""
    if summary["resumed"]:
        say(f"went on from an interrupted publication: {summary['resumed']} shards had been uploaded")
    say(f"{summary['visibility']}: {summary['url']}, version {summary['tag']}, commit {summary['commit'][:12]}")
    say(f"{len(summary['added'])} files written, {len(summary['deleted'])} stale shards deleted")
    say(f"opened again and compared: {', '.join(summary['opened'])}")
    for one in summary["unchecked"]:
        say(f"not checked: {one}")


def stats(found: Mapping[str, Any]) -> None:
    """A line for each split, then the counts of its columns."""
    lines = [
        [
            f"{config}/{split}" if config else split,
            f"{held['rows']:,}",
            f"{held['shards']}",
            f"{held['bytes'] / 1e6:,.1f}",
            f"{held['row_groups']}",
            f"{held['largest_row_group_bytes'] / 1e6:,.1f}",
        ]
        for config, splits in found["configs"].items()
        for split, held in splits.items()
    ]
    table(str(found["folder"]), ["", "rows", "shards", "MB", "row groups", "largest, MB"], lines)
    for config, splits in found["configs"].items():
        for split, held in splits.items():
            counted = [[name, _counts(values)] for name, values in held["counts"].items() if set(values) - {"none", ""}]
            if counted:
                table(f"{config}/{split}" if config else split, ["", "values"], counted, words=("values",))


def _counts(values: Mapping[str, int]) -> str:
    listed = [f"{name or 'none'} {count:,}" for name, count in list(values.items())[:_LISTED]]
    left = list(values.values())[_LISTED:]
    return ", ".join([*listed, *([f"{len(left)} more {sum(left):,}"] if left else [])])


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr where that is a terminal; called with what is being done, how much is done, how much there is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    tasks: dict[str, Any] = {}

    def told(what: str, done: int, of: int) -> None:
        if not tasks:
            bar.start()  # not before: it has a thread, and work that is done in processes forks them while there is none
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=of)
        bar.update(tasks[what], completed=done)

    try:
        yield told
    finally:
        bar.stop()
