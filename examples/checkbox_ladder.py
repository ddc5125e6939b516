"""The checkbox ladder: a small model on real MiniWoB++ pages, from base over SFT to GRPO, every stage on the same seeds.

    python examples/checkbox_ladder.py --base models/smollm2 --out runs/ladder            # one GPU
    python examples/checkbox_ladder.py --tiny --out runs/ladder-tiny                      # CPU, minutes, shows that it runs

Stages: the base; SFT on 20 oracle demonstrations; SFT on the model's own successes (rejection sampling, begun with
20 demonstrations where the base has no success); GRPO from the SFT adapter with the exact and with the default reward, over
seeds, KL weights and group sizes. Each is evaluated on the fixed test seeds, turn by turn on the live page with a budget of
ten actions, and compared with the SFT stage in a paired test (ladder_episodes.py). An arm is a process of its own, several
at once on the GPUs there are. A finished arm is not run again, an interrupted one goes on from its last checkpoint, and the
table names the arms that were not run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from ladder_episodes import demonstration, evaluate, figure, read, report, summary, table

from cuadata.learning import training
from cuadata.playing import plans
from cuadata.scores import runs

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
    **{f"exact-group4-{seed}": {"terms": EXACT, "seed": seed, "group": 4} for seed in range(3)},  # else groups of 16
}
#: Arms of rejection sampling: from the base, and from the adapter of the SFT stage.
SELF = ("self", "self-sft")
EVERY = ("base", "sft", *SELF, *ARMS)


def write_rows(out: Path, family: str, train: int, test: int) -> None:
    """Task rows of the training and the test seeds, made once from the live page."""
    for name, seeds in (("train", range(train)), ("test", range(runs.FIRST_TEST_SEED, runs.FIRST_TEST_SEED + test))):
        path = out / f"{name}.jsonl"
        if not path.exists():
            rows = plans.task_rows(family, seeds, FORMAT)
            out.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))


# --- evaluation -----------------------------------------------------------------------------------------------------


# --- arms -----------------------------------------------------------------------------------------------------------


def trainer(name: str, *words: object) -> None:
    """Run a trainer as its own program. Ctrl-C reaches it too, and it is left the time to save its step."""
    command = [sys.executable, "-m", f"cuadata.train.{name}", *map(str, words)]
    running = subprocess.Popen(command, env=ENV)
    try:
        code = running.wait()
    except KeyboardInterrupt:
        running.wait()
        raise
    if code:
        raise subprocess.CalledProcessError(code, command)


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
    out: Path, base: str, name: str, steps: int, samples: int, tasks: int, demos: int, flags: Sequence[str]
) -> Path:
    """SFT on what the model solved by itself; from the base after at most 20 demonstrations where it solves nothing."""
    where = out / name
    rows = where / "tasks.jsonl"
    where.mkdir(parents=True, exist_ok=True)
    rows.write_text("".join(json.dumps(row) + "\n" for row in read(out / "train.jsonl")[-tasks:]))
    common = ("--base", base, "--rows", rows, "--samples", samples, "--steps", steps, "--lr", 5e-4, *flags)
    begun = where / "begun_with.json"
    if not begun.exists():
        words, adapter = f"{demos} oracle demonstrations", out / "sft" / "adapter"
        if name == "self":
            if collected(*common, "--out", where / "from_base", "--rounds", 1):
                words, adapter = "its own successes alone", where / "from_base" / "round0" / "adapter"
            else:
                demos = min(demos, 20)
                adapter = supervised(out, base, demos, steps, flags, f"{name}/begin")
                words = f"{demos} oracle demonstrations"
        begun.write_text(json.dumps({"begun_with": words, "adapter": str(adapter)}) + "\n")
    first = json.loads(begun.read_text())["adapter"]
    collected(*common, "--adapter", first, "--out", where, "--rounds", 2)
    rounds = sorted(where.glob("round*/adapter/run.json"))
    return rounds[-1].parent if rounds else Path(first)


def collected(*words: object) -> bool:
    """Run rejection sampling; False where it says by exit code 1 that no answer was accepted."""
    try:
        trainer("rejection", *words)
    except subprocess.CalledProcessError as error:
        if error.returncode != 1:
            raise
        return False
    return True


def reinforced(out: Path, base: str, name: str, steps: int, prompts: int, flags: Sequence[str]) -> Path:
    """One GRPO arm from the SFT adapter."""
    arm = ARMS[name]
    group = arm.get("group", 16)
    if (out / name / "adapter" / "run.json").exists():
        return out / name / "adapter"
    trainer("grpo", "--base", base, "--adapter", out / "sft" / "adapter", "--rows", out / "train.jsonl", "--format", FORMAT,
            "--terms", arm["terms"], "--seed", arm["seed"], "--beta", arm.get("beta", 0.0), "--group", group,
            "--prompts", prompts * 16 // group, "--steps", steps, "--rounds", arm.get("rounds", 2),
            "--microbatch", min(64, prompts * 16), "--resume",
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


@app.command()
def main(
    out: Path = typer.Option(Path("runs/ladder"), help="where everything goes"),
    base: str = typer.Option("", help="folder of SmolLM2-135M-Instruct, or any chat model"),
    family: str = typer.Option("miniwob-click-checkboxes", help="or miniwob-enter-text, miniwob-choose-list"),
    arms: str = typer.Option(",".join(EVERY), help="arms to run, by comma; the GRPO arms need sft"),
    parallel: int = typer.Option(1, min=1, help="arms at once, shared out over the GPUs there are"),
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
    words = [sys.executable, __file__, "--out", str(out), "--base", base, "--family", family, "--steps", str(steps)]
    words += ["--demos", str(demos), "--tasks", str(tasks), "--test", str(test), "--new-tokens", str(new_tokens)]
    words += ["--tiny"] if tiny else []
    wanted = [name for name in arms.split(",") if not (out / name / "report.json").exists()]
    first = [name for name in ("sft", "base") if name in wanted]  # GRPO goes on from the adapter of `sft`
    failed = together(first, parallel, words, began)
    failed += together([name for name in wanted if name not in first], parallel, words, began)
    held = summary(out, EVERY)
    (out / "results.json").write_text(json.dumps(held, indent=2) + "\n")
    (out / "table.md").write_text(table(held) + "\n")
    typer.echo(table(held))
    figure(out, held)
    if failed:
        typer.echo(f"failed: {', '.join(failed)}; the same command goes on with them", err=True)
        raise typer.Exit(1)


def together(names: Sequence[str], parallel: int, words: Sequence[str], began: float) -> list[str]:
    """Run arms as processes, at most `parallel` at once, each on one GPU; the names of those that failed."""
    import torch

    gpus = torch.cuda.device_count()
    waiting, running, failed = list(names), dict[int, tuple[str, subprocess.Popen[bytes]]](), []
    try:
        while waiting or running:
            for slot in range(parallel):
                if slot not in running and waiting:
                    env = {**os.environ, "CUDA_VISIBLE_DEVICES": str(slot % gpus)} if gpus > 1 else None
                    name = waiting.pop(0)
                    running[slot] = name, subprocess.Popen([*words, "--only", name], env=env)
            for slot, (name, process) in list(running.items()):
                if process.poll() is not None:
                    del running[slot]
                    failed += [name] if process.returncode else []
                    told = "FAILED" if process.returncode else "done"
                    typer.echo(f"{name}: {told} after {time.perf_counter() - began:.0f} s", err=True)
            time.sleep(0.2)
    except KeyboardInterrupt:
        for _, process in running.values():
            process.wait()
        raise
    return failed


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
    elif name in SELF:
        steps, samples, tasks = (2, 2, 4) if tiny else (60, 8, 500)
        adapter = own_successes(out, base, name, steps, samples, tasks, demos, flags)
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


if __name__ == "__main__":
    app()
