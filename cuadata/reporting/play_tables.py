"""The tables of rollouts and environment checks, on stderr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuadata.reporting import printing

if TYPE_CHECKING:
    from cuadata.episodes.taskfile import Bound
    from cuadata.playing.environment_check import Report
    from cuadata.types import Condition


def rollout(held: Mapping[str, Any]) -> None:
    """What one rollout came to."""
    rows = [[f"ended: {name}", f"{count}"] for name, count in held["ended"].items()]
    rows += [[f"paid: {name}", f"{count}"] for name, count in held["terms"].items()]
    body = [
        ["exact, % [95 %]", printing.rate(held["exact"])],
        ["default, % [95 %]", printing.rate(held["default"])],
        ["mean raw reward", f"{held['mean_raw']:.3f}"],
        *rows,
        ["steps", f"{held['steps']}"],
    ]
    if held["browser_share"] is not None:
        share = f"{100 * held['browser_share']:.1f}" if held["has_model"] else "no model"
        body.append(["browser's share of the time, %", share])
    title = f"{held['policy']} on {held.get('skill', held['family'])}, {printing.counted(held['episodes'], 'episode')}"
    printing.table(title, ["", ""], body)
    for again in held.get("again", ()):
        printing.say(f"{again['skill']} scored again: exact {printing.rate(again['exact'])}")
    if "passed" in held and not held["passed"]:
        printing.say(f"{held['skill']} is not passed; the curriculum stops here")


def report(held: Report) -> None:
    """How often each term fired on each path, and why the check fails."""
    fired = held.fired()
    rows = [[name, f"{sum(paths.values())}", _paths(paths)] for name, paths in fired.items()]
    printing.table(f"{held.family}: reward terms", ["term", "fired", "on"], rows)
    paths = held.plain()["paths"]
    body = [[n, f"{p['successes']} of {p['episodes']}", f"{p['mean_reward']:.3f}"] for n, p in paths.items()]
    printing.table("paths", ["path", "successes", "mean reward"], body)
    for problem in held.problems:
        printing.say(f"fails: {problem}")


def _paths(paths: Mapping[str, int]) -> str:
    """Paths by how often they fired a term, markups counted together."""
    plain = {name: n for name, n in paths.items() if "=" not in name}
    marked = sum(n for name, n in paths.items() if "=" in name)
    told = [f"{name} {n}" for name, n in plain.items()] + ([f"markups {marked}"] if marked else [])
    return ", ".join(told) or "nothing"


def said(condition: Condition) -> str:
    """A condition in words."""
    if condition.url is not None:
        return f"an address with '{condition.url}'"
    if condition.script is not None:
        return f"a script {condition.script!r:.60}"
    name = f" '{condition.name}'" if condition.name is not None else ""
    state = f" with {condition.state}={condition.value}" if condition.state is not None else ""
    return f"{condition.role or 'anything'}{name}{state}" + ("" if condition.present else ", absent")


def bound(held: Sequence[Bound]) -> None:
    """The nodes that each condition of a file finds."""
    rows = []
    for one in held:
        nodes = [
            f"{e.role} {e.name!r} {e.locator.css}"[:90] + (f" {one.condition.state}={told}" if told else "")
            for e, told in zip(one.elements, one.told or (None,) * len(one.elements), strict=True)
        ]
        rows.append(
            [one.term, said(one.condition), f"{len(nodes)}", "; ".join(nodes[:3]) or ("later" if one.later else "")]
        )
    printing.table("terms on the page", ["term", "condition", "nodes", ""], rows)


def unbound(held: Sequence[Bound]) -> list[str]:
    """Why terms cannot pay on a page, a sentence each; empty where all can."""
    found = []
    for one in held:
        if not one.dead:
            continue
        if one.failure is not None:
            found.append(f"{one.term}: {said(one.condition)} does not run on the page: {one.failure}")
        elif one.silent:
            found.append(
                f"{one.term}: what the page has of {said(one.condition)} tells no state '{one.condition.state}'; say "
                "`later: true` where it will"
            )
        else:
            found.append(f"{one.term}: nothing on the page is {said(one.condition)}")
    return found


def standing(names: Sequence[str]) -> list[str]:
    """What is to be known of terms that hold on a page as it is: a sentence each."""
    return [
        "success: the task is won on the page as it is, before anything is done"
        if name == "success"
        else f"{name}: it holds on the page as it is, so that it never pays"
        for name in names
    ]


def bound_plain(held: Sequence[Bound], problems: Sequence[str], warnings: Sequence[str] = ()) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "passes": not problems,
        "problems": list(problems),
        "warnings": list(warnings),
        "conditions": [
            {
                "term": b.term,
                "condition": said(b.condition),
                "later": b.later,
                "nodes": [{"role": e.role, "name": e.name, "css": e.locator.css} for e in b.elements],
                **({"states": list(b.told)} if b.told else {}),
            }
            for b in held
        ],
    }


def baseline(held: Mapping[str, Any]) -> None:
    """The trivial policies of a family."""
    rows = [
        [name, printing.rate(row["exact"]), printing.rate(row["default"]),
         "-" if row["mean_raw"] is None else f"{row['mean_raw']:.3f}", f"{row['mean_steps']:.1f}"]
        for name, row in held["policies"].items()
    ]  # fmt: skip
    title = f"{held['family']}, seeds {held['seeds'][0]} to {held['seeds'][1]}"
    printing.table(title, ["policy", "exact, % [95 %]", "default, % [95 %]", "mean raw", "steps"], rows)
