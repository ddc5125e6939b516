"""The checkbox ladder: a small model on real MiniWoB++ pages, from base over SFT to GRPO, every stage on the same seeds.

    python examples/checkbox_ladder.py --base models/smollm2 --out runs/ladder            # one GPU
    python examples/checkbox_ladder.py --tiny --out runs/ladder-tiny                      # CPU, minutes, shows that it runs

Stages: the base; SFT on 20 oracle demonstrations; SFT on the model's own successes (rejection sampling, begun with
20 demonstrations where the base has no success); GRPO from the SFT adapter with the exact and with the default reward, over
seeds, KL weights and group sizes. Each is evaluated on the fixed test seeds, turn by turn on the live page with a budget of
ten actions, and compared with the SFT stage in a paired test. An arm is a process of its own. A finished arm is not run
again, an interrupted one goes on from its last checkpoint, and the table names the arms that were not run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from cuadata.learning import training
from cuadata.playing import plans
from cuadata.scores import runs
from cuadata.statistics import intervals, paired
from cuadata.types import Action

app = typer.Typer(add_completion=False)
FORMAT = "axtree"
#: TRL warns at every start that `rollout_func` may change; the trainer is pinned to versions where it works.
ENV = {**os.environ, "TRL_EXPERIMENTAL_SILENCE": "1"}
EXACT = "exact:1,raw:0.5,ended:0.1"
#: GRPO arms: reward terms, seed, and what differs; the same number of completions a step in all of them.
ARMS: dict[str, dict[str, Any]] = {
    **{f"exact-{seed}": {"terms": EXACT, "seed": seed} for seed in range(3)},
    **{f"default-{seed}": {"terms": "default:1,ended:0.1", "seed": seed} for seed in range(3)},
    "exact-only": {"terms": "exact:1,ended:0.1", "seed": 0},
    "exact-flat": {"terms": EXACT, "seed": 0, "rounds": 0},  # groups without spread are left in; beta 0 is exact-0
    "exact-beta0.02": {"terms": EXACT, "seed": 0, "beta": 0.02},
    "exact-beta0.1": {"terms": EXACT, "seed": 0, "beta": 0.1},
    "exact-group4": {"terms": EXACT, "seed": 0, "group": 4},  # groups of 16 are exact-0
}
EVERY = ("base", "sft", "self", *ARMS)


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
    if row["family"] == "miniwob-click-menu-2":
        name = re.search(r'"(.*?)"', words)
        return "\n".join(f"click({number})" for number, _, held in lines if name and held in ("Menu", name[1]))
    raise ValueError(f"no demonstrations are written for {row['family']}")


def write_rows(out: Path, family: str, train: int, test: int) -> None:
    """Task rows of the training and the test seeds, made once from the live page."""
    for name, seeds in (("train", range(train)), ("test", range(runs.FIRST_TEST_SEED, runs.FIRST_TEST_SEED + test))):
        path = out / f"{name}.jsonl"
        if not path.exists():
            rows = plans.task_rows(family, seeds, FORMAT)
            out.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def read(path: Path) -> list[dict[str, Any]]:
    """Rows of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- evaluation -----------------------------------------------------------------------------------------------------


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


# --- arms -----------------------------------------------------------------------------------------------------------


def trainer(name: str, *words: object) -> None:
    """Run a trainer as its own program."""
    subprocess.run([sys.executable, "-m", f"cuadata.train.{name}", *map(str, words)], check=True, env=ENV)


def supervised(out: Path, base: str, demos: int, steps: int, flags: Sequence[str], folder: str = "sft") -> Path:
    """SFT on oracle demonstrations of the first training seeds."""
    where = out / folder
    if (where / "adapter" / "run.json").exists():
        return where / "adapter"
    rows = read(out / "train.jsonl")[:demos]
    where.mkdir(parents=True, exist_ok=True)
    shown = [{**row, "completion": [{"role": "assistant", "content": demonstration(row)}]} for row in rows]
    (where / "demonstrations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in shown))
    trainer("sft", "--base", base, "--data", where / "demonstrations.jsonl", "--out", where / "adapter", "--steps", steps,
            "--lr", 5e-4, "--resume", *flags)  # fmt: skip
    return where / "adapter"


def own_successes(
    out: Path, base: str, steps: int, samples: int, tasks: int, demos: int, flags: Sequence[str]
) -> Path:  # fmt: skip
    """SFT on what the model solved by itself, after at most 20 demonstrations where it solves nothing."""
    where = out / "self"
    rows = where / "tasks.jsonl"
    where.mkdir(parents=True, exist_ok=True)
    rows.write_text("".join(json.dumps(row) + "\n" for row in read(out / "train.jsonl")[-tasks:]))
    common = ("--base", base, "--rows", rows, "--samples", samples, "--steps", steps, "--lr", 5e-4, *flags)
    begun = where / "begun_with.json"
    if not begun.exists():
        # Exit code 1 says that no answer was accepted; anything else is a fault and stops the arm.
        try:
            trainer("rejection", *common, "--out", where / "from_base", "--rounds", 1)
            words, adapter = "its own successes alone", where / "from_base" / "round0" / "adapter"
        except subprocess.CalledProcessError as error:
            if error.returncode != 1:
                raise
            demos = min(demos, 20)
            words, adapter = f"{demos} oracle demonstrations", supervised(out, base, demos, steps, flags, "self/begin")
        begun.write_text(json.dumps({"begun_with": words, "adapter": str(adapter)}) + "\n")
    try:
        trainer(
            "rejection", *common, "--adapter", json.loads(begun.read_text())["adapter"], "--out", where, "--rounds", 2
        )
    except subprocess.CalledProcessError as error:
        if error.returncode != 1:
            raise
    rounds = sorted(where.glob("round*/adapter/run.json"))
    return rounds[-1].parent if rounds else Path(json.loads(begun.read_text())["adapter"])


def reinforced(out: Path, base: str, name: str, steps: int, prompts: int, flags: Sequence[str]) -> Path:
    """One GRPO arm from the SFT adapter."""
    arm = ARMS[name]
    group = arm.get("group", 16)
    if (out / name / "adapter" / "run.json").exists():
        return out / name / "adapter"
    trainer("grpo", "--base", base, "--adapter", out / "sft" / "adapter", "--rows", out / "train.jsonl", "--format", FORMAT,
            "--terms", arm["terms"], "--seed", arm["seed"], "--beta", arm.get("beta", 0.0), "--group", group,
            "--prompts", prompts * 16 // group, "--steps", steps, "--rounds", arm.get("rounds", 2),
            "--microbatch", min(128, prompts * 16), "--resume",
            "--out", out / name / "adapter", *flags)  # fmt: skip
    return out / name / "adapter"


def judge(out: Path, base: str, name: str, adapter: Path | None, batch: int, new_tokens: int) -> None:
    """Evaluate one arm on the test rows and write its episodes and report."""
    loaded = training.load(
        base, adapter=str(adapter) if adapter else None, trainable=False, dtype="bfloat16" if _cuda() else "float32"
    )
    if adapter is not None:
        loaded = training.Loaded(loaded.model.merge_and_unload(), loaded.processor, loaded.vision)
    with plans.scorer(FORMAT) as score:
        held = evaluate(loaded, read(out / "test.jsonl"), score, batch=batch, new_tokens=new_tokens)
    where = out / name
    where.mkdir(parents=True, exist_ok=True)
    (where / "episodes.jsonl").write_text("".join(json.dumps(e) + "\n" for e in held))
    (where / "report.json").write_text(json.dumps(report(held), indent=2) + "\n")


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()


def summary(out: Path) -> dict[str, Any]:
    """All arms beside each other, each against SFT in a paired test, and the default against the exact reward."""
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
    begun = out / "self" / "begun_with.json"
    return {
        "arms": held,
        "against_sft": against,
        "exact_against_default": criterion,
        "self_begun_with": json.loads(begun.read_text())["begun_with"] if "self" in held else None,
        "not_run": [name for name in EVERY if name not in found],
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
    if held["self_begun_with"]:
        lines += ["", f"`self` was begun with {held['self_begun_with']}."]
    return "\n".join(lines)


@app.command()
def main(
    out: Path = typer.Option(Path("runs/ladder"), help="where everything goes"),
    base: str = typer.Option("", help="folder of SmolLM2-135M-Instruct, or any chat model"),
    family: str = typer.Option("miniwob-click-checkboxes", help="or miniwob-enter-text, miniwob-click-menu-2"),
    arms: str = typer.Option(",".join(EVERY), help="arms to run, by comma; the GRPO arms need sft"),
    parallel: int = typer.Option(1, help="GRPO arms at once on the one GPU"),
    demos: int = typer.Option(20, help="oracle demonstrations of the SFT stage"),
    steps: int = typer.Option(45, help="GRPO steps"),
    tasks: int = typer.Option(2000, help="training seeds"),
    test: int = typer.Option(200, help="test seeds"),
    new_tokens: int = typer.Option(48, help="longest answer"),
    only: str = typer.Option("", help="run this one arm and nothing else (used by the processes)"),
    tiny: bool = typer.Option(False, help="a tiny random model and few steps: shows that the whole command runs"),
) -> None:
    """Climb the ladder, or the part of it that is still missing."""
    began = time.perf_counter()
    if tiny:
        base, tasks, test, demos, steps = _tiny(out), 12, 4, 4, 2
        arms = "base,sft,exact-0,default-0" if arms == ",".join(EVERY) else arms
        new_tokens = min(new_tokens, 8)
    if unknown := set(arms.split(",")) - set(EVERY):
        raise typer.BadParameter(f"no arm is named {', '.join(sorted(unknown))}; there are: {', '.join(EVERY)}")
    if not base:
        raise typer.BadParameter("give --base, or --tiny to see that the command runs")
    _same_run(out, {"base": base, "family": family, "demos": demos, "steps": steps, "tasks": tasks, "test": test})
    flags = ["--no-bf16"] if not _cuda() else []
    prompts, batch = (1, 4) if tiny else (32, 200)
    write_rows(out, family, tasks, test)
    run = {
        "out": out,
        "base": base,
        "flags": flags,
        "prompts": prompts,
        "steps": steps,
        "demos": demos,
        "batch": batch,
        "new_tokens": new_tokens,
        "tiny": tiny,
    }
    if only:
        climb(only, **run)
        return
    wanted = [name for name in arms.split(",") if not (out / name / "report.json").exists()]
    first = [name for name in wanted if name in ("base", "sft")]
    rest = [name for name in wanted if name not in first]
    words = [sys.executable, __file__, "--out", str(out), "--base", base, "--family", family, "--steps", str(steps)]
    words += ["--demos", str(demos), "--tasks", str(tasks), "--test", str(test), "--new-tokens", str(new_tokens)]
    words += ["--tiny"] if tiny else []
    failed = []
    for group in [*([name] for name in first), *(rest[i : i + parallel] for i in range(0, len(rest), parallel))]:
        running = [subprocess.Popen([*words, "--only", name]) for name in group]
        for name, process in zip(group, running, strict=True):
            failed += [name] if process.wait() else []
            told = "FAILED" if name in failed else "done"
            typer.echo(f"{name}: {told} after {time.perf_counter() - began:.0f} s", err=True)
    held = summary(out)
    (out / "results.json").write_text(json.dumps(held, indent=2) + "\n")
    (out / "table.md").write_text(table(held) + "\n")
    typer.echo(table(held))
    _figure(out, held)
    if failed:
        typer.echo(f"failed: {', '.join(failed)}; the same command goes on with them", err=True)
        raise typer.Exit(1)


def _same_run(out: Path, asked: dict[str, Any]) -> None:
    """Arms are compared, so a folder holds arms of one setting; BadParameter where another is asked for."""
    path = out / "setting.json"
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asked, indent=2) + "\n")
    held = json.loads(path.read_text())
    if other := {name: held.get(name) for name in asked if held.get(name) != asked[name]}:
        raise typer.BadParameter(f"{out} holds a ladder with {other}; give another --out")


def climb(
    name: str,
    *,
    out: Path,
    base: str,
    flags: list[str],
    prompts: int,
    steps: int,
    demos: int,
    batch: int,
    new_tokens: int,
    tiny: bool,
) -> None:
    """Train one arm and evaluate it."""
    adapter: Path | None = None
    if name == "sft":
        adapter = supervised(out, base, demos, 2 if tiny else 150, flags)
    elif name == "self":
        steps, samples, tasks = (2, 2, 4) if tiny else (60, 8, 500)
        adapter = own_successes(out, base, steps, samples, tasks, demos, flags)
    elif name in ARMS:
        adapter = reinforced(out, base, name, steps, prompts, [*flags, "--new-tokens", str(new_tokens), "--lr", "1e-4"])
    judge(out, base, name, adapter, batch, new_tokens)


def _tiny(out: Path) -> str:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from tiny_models import build

    folder = out / "tiny_model"
    if not folder.exists():
        build("qwen2", folder)
    return str(folder)


def _figure(out: Path, held: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = sorted(held["arms"], key=lambda name: held["arms"][name]["exact"]["rate"])
    figure, axis = plt.subplots(figsize=(8, 0.45 * len(names) + 1.2))
    for place, name in enumerate(names):
        exact = held["arms"][name]["exact"]
        low, high = exact["interval"]
        axis.barh(place, 100 * exact["rate"], color="#3b6ea5", height=0.6)
        axis.plot([100 * low, 100 * high], [place, place], color="#1b1b1b", linewidth=1.5)
        axis.plot(100 * held["arms"][name]["default"]["rate"], place, "o", color="#c9772b", markersize=5)
    axis.set_yticks(range(len(names)), names)
    axis.set_xlim(0, 100)
    axis.set_xlabel("success on the fixed test seeds, % (bar: exact with 95 % Wilson interval; dot: default)")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(out / "ladder.png", dpi=130)


if __name__ == "__main__":
    app()
