"""Episodes of the checkbox ladder: what the oracle does, how a model does, what went wrong, and the arms beside each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cuadata.learning import training
from cuadata.statistics import intervals, paired
from cuadata.types import Action


def read(path: Path) -> list[dict[str, Any]]:
    """Rows of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def demonstration(row: dict[str, Any]) -> str:
    """The oracle's answer, read off the page as the prompt shows it: the calls that the instruction asks for."""
    lines = re.findall(r"^\[(\d+)\] (\S+)(?: '((?:[^'\\]|\\.)*)')?", row["prompt"][-1]["content"], re.MULTILINE)
    ids = {name.replace("\\'", "'"): int(number) for number, _, name in lines}
    words = row["instruction"]
    if row["family"].startswith("miniwob-click-checkboxes"):
        named = words[len("Select ") :].rsplit(" and click", 1)[0]
        wanted = [] if named.lower() == "nothing" else named.split(", ")
        return "\n".join(f"click({ids[name]})" for name in [*wanted, "Submit"])
    if row["family"] == "miniwob-enter-text":
        text = re.search(r'"(.*?)"', words)
        field = next(int(number) for number, role, _ in lines if role == "textbox")
        return f"type({field}, {text[1] if text else ''!r})\nclick({ids['Submit']})"
    if row["family"] == "miniwob-choose-list":
        menu = next(int(number) for number, role, _ in lines if role == "combobox")
        name = words[len("Select ") :].rsplit(" from the list", 1)[0]
        return f"select({menu}, {name!r})\nclick({ids['Submit']})"
    raise ValueError(f"no demonstrations are written for {row['family']}")


def evaluate(
    loaded: training.Loaded, rows: Sequence[dict[str, Any]], score: Any, *, batch: int, new_tokens: int
) -> list[dict[str, Any]]:
    """Greedy episodes, turn by turn: what the page shows after the answers so far is asked about until it is over."""
    from cuadata.learning.answering import end_ids
    from cuadata.learning.sampling import Sampler

    words = loaded.tokenizer
    sampler = Sampler(loaded.model, end_ids=end_ids(loaded), pad_id=words.pad_token_id, context=1024)
    answers: list[list[str]] = [[] for _ in rows]
    played: list[Any] = [None] * len(rows)
    waiting = list(range(len(rows)))
    prompts = [row["prompt"] for row in rows]
    for _ in range(10):
        if not waiting:
            break
        for start in range(0, len(waiting), batch):
            part = waiting[start : start + batch]
            padded = part + part[:1] * (batch - len(part))  # one batch size, one graph
            asked = [words.apply_chat_template(prompts[i], tokenize=False, add_generation_prompt=True) for i in padded]
            drawn = sampler.draw(
                [words(t, add_special_tokens=False)["input_ids"] for t in asked], new_tokens=new_tokens, temperature=0
            )
            for place, one in zip(part, drawn, strict=False):
                answers[place].append(words.decode(one.ids, skip_special_tokens=True))
        for place, result in zip(
            waiting, score.play([rows[i] for i in waiting], [answers[i] for i in waiting]), strict=True
        ):
            played[place] = result
            prompts[place] = result.prompt
        waiting = [i for i in waiting if prompts[i] is not None]
    return [episode(row, played[i], answers[i]) for i, row in enumerate(rows)]


def episode(row: dict[str, Any], played: Any, answers: list[str]) -> dict[str, Any]:
    """One evaluated episode as plain values, with the class of its failure."""
    held = {
        "seed": row["seed"], "size": row["size"], "instruction": row["instruction"], "answers": answers,
        **{name: played.terms[name] for name in ("raw", "exact", "default", "turns", "parsed", "submitted")},
        "actions": len(played.actions), "repeated": longest_repeat(played.actions),
    }  # fmt: skip
    return {**held, "failure": failure(row, held, played.actions)}


def longest_repeat(actions: Sequence[Action]) -> int:
    """The longest row of the same action."""
    best = run = 0
    for place, action in enumerate(actions):
        same = place > 0 and (action.type, action.element, action.text) == tuple(
            getattr(actions[place - 1], name) for name in ("type", "element", "text")
        )
        run = run + 1 if same else 1
        best = max(best, run)
    return best


def failure(row: dict[str, Any], held: dict[str, Any], actions: Sequence[Action]) -> str | None:
    """The class of a failed episode, by fixed rules; None for an exact success."""
    if held["exact"] >= 1:
        return None
    if not actions:
        return "no executable action"
    if not held["submitted"]:
        return "repeated-click loop" if held["repeated"] >= 3 else "budget exhausted"
    asked = set(re.findall(r"click\((\d+)\)", demonstration(row)))
    ticked = [
        number for number, count in Counter(str(a.element) for a in actions if a.type == "click").items() if count % 2
    ]
    if set(ticked) - asked:
        return "unrequested selection"
    short = len(asked - set(ticked))
    return f"premature submission, {short} short" if short else "other"


def report(episodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Rates with Wilson intervals, by size, lengths and failures."""

    def rate(values: list[bool]) -> dict[str, Any]:
        low, high = intervals.wilson(sum(values), len(values)) or (None, None)
        return {
            "hits": sum(values),
            "n": len(values),
            "rate": sum(values) / max(len(values), 1),
            "interval": [low, high],
        }

    sizes = sorted({e["size"] for e in episodes})
    return {
        "exact": rate([e["exact"] >= 1 for e in episodes]),
        "default": rate([e["default"] >= 1 for e in episodes]),
        "by_size": {str(s): rate([e["exact"] >= 1 for e in episodes if e["size"] == s]) for s in sizes},
        "actions_mean": sum(e["actions"] for e in episodes) / len(episodes),
        "parsed": sum(e["parsed"] for e in episodes) / len(episodes),
        "loops": sum(e["repeated"] >= 3 for e in episodes),
        "failures": dict(Counter(e["failure"] for e in episodes if e["failure"]).most_common()),
    }


def summary(out: Path, every: Sequence[str]) -> dict[str, Any]:
    """All arms beside each other, those of `every` that were not run by name, each against SFT in a paired test, and the default against the exact reward."""
    found = {p.parent.name: read(p.parent / "episodes.jsonl") for p in sorted(out.glob("*/episodes.jsonl"))}
    held: dict[str, Any] = {name: report(episodes) for name, episodes in found.items()}

    def test(first: str, second: str) -> dict[str, Any]:
        one, other = ([e["exact"] >= 1 for e in found[name]] for name in (first, second))
        result = paired.mcnemar(one, other)
        gain = (sum(other) - sum(one)) / len(one)
        return {
            "gain": gain,
            "lost": result.only_first,
            "won": result.only_second,
            "p": result.p,
            "method": result.method,
        }

    against = {name: test("sft", name) for name in found if "sft" in found and name not in ("sft", "base")}
    criterion = {
        f"{name} against {name.replace('exact', 'default')}": test(name.replace("exact", "default"), name)
        for name in found
        if name.replace("exact", "default") in found and name.startswith("exact-")
    }
    begun = {path.parent.name: json.loads(path.read_text())["begun_with"] for path in out.glob("*/begun_with.json")}
    return {
        "arms": held,
        "against_sft": against,
        "exact_against_default": criterion,
        "begun_with": {name: words for name, words in begun.items() if name in held},
        "not_run": [name for name in every if name not in found],
    }


def table(held: dict[str, Any]) -> str:
    """The ladder as Markdown."""
    lines = [
        "| arm | exact | default | gain over SFT (p) | loops | actions | by size, exact |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, arm in sorted(held["arms"].items(), key=lambda item: item[1]["exact"]["rate"]):
        exact, gain = arm["exact"], held["against_sft"].get(name)
        span = "{:.1f} to {:.1f}".format(*(100 * v for v in exact["interval"]))
        against = f"{100 * gain['gain']:+.1f} ({gain['p']:.2g})" if gain else ""
        sizes = ", ".join(f"{size}: {r['hits']}/{r['n']}" for size, r in arm["by_size"].items())
        lines.append(
            f"| {name} | {100 * exact['rate']:.1f} ({span}) | {100 * arm['default']['rate']:.1f} | {against} | {arm['loops']} "
            f"| {arm['actions_mean']:.1f} | {sizes} |"
        )
    lines += [f"| {name} | not run | | | | | |" for name in held["not_run"]]
    lines += ["", *(f"`{name}` was begun with {words}." for name, words in held["begun_with"].items())]
    return "\n".join(lines)


def figure(out: Path, held: dict[str, Any]) -> None:
    """Bars of the exact success with their intervals, dots of the default one, as `ladder.png`."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = sorted(held["arms"], key=lambda name: held["arms"][name]["exact"]["rate"])
    drawn, axis = plt.subplots(figsize=(8, 0.45 * len(names) + 1.2))
    for place, name in enumerate(names):
        exact = held["arms"][name]["exact"]
        low, high = exact["interval"]
        axis.barh(place, 100 * exact["rate"], color="#3b6ea5", height=0.6)
        axis.plot([100 * low, 100 * high], [place, place], color="#1b1b1b", linewidth=1.5)
        default = 100 * held["arms"][name]["default"]["rate"]
        axis.plot(default, place, "o", color="#c9772b", markersize=5, clip_on=False)  # whole at the end of the axis too
    axis.set_yticks(range(len(names)), names)
    axis.set_xlim(0, 100)
    axis.set_xlabel("success on the fixed test seeds, % (bar: exact with 95 % Wilson interval; dot: default)")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    drawn.tight_layout()
    drawn.savefig(out / "ladder.png", dpi=130)
