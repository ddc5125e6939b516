"""Trainers given what is wrong: one sentence and a code, and nothing written that looks like a run."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_train_text import room, sft, write_rows
from typer.testing import CliRunner

from cuadata.errors import CallError, DataError

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    from tiny_models import build

    folder = tmp_path_factory.mktemp("models")
    made = {"qwen2": ("qwen2", 0), "other": ("qwen2", 3), "vl": ("qwen2_5_vl", 0)}
    return {name: build(arch, folder / name, seed) for name, (arch, seed) in made.items()}


@pytest.fixture(scope="module")
def run(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two steps; `rows.jsonl` lies beside it."""
    out = tmp_path_factory.mktemp("runs")
    sft(models["qwen2"], write_rows(out / "rows.jsonl", 6), out / "run", steps=2, batch=2)
    return out / "run"


def told(name: str, *words: object) -> tuple[int, str]:
    """Exit code and sentence of a call of a trainer, which raises nothing but what a user is told."""
    done = CliRunner().invoke(room(name).app, [str(word) for word in words])
    error = done.exception
    if error is None or isinstance(error, SystemExit):
        return done.exit_code, done.output
    assert isinstance(error, CallError | DataError), repr(error)
    return error.exit_code, str(error)


def described(folder: Path, **changes: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def weights(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    import safetensors.torch

    path = folder / "adapter_model.safetensors"
    safetensors.torch.save_file(change(safetensors.torch.load_file(path)), path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


class Touch:
    """A pickle that leaves a file where it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def pickled(folder: Path) -> None:
    import torch

    (folder / "adapter_model.safetensors").unlink()
    torch.save({"x": Touch(folder / "read")}, folder / "adapter_model.bin")


ADAPTERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no weights": (lambda f: (f / "adapter_model.safetensors").unlink(), "adapter_model.safetensors is missing"),
    "cut off": (lambda f: cut(f / "adapter_model.safetensors"), "is cut off or no safetensors file"),
    "pickled": (pickled, "they can run code"),
    "no JSON": (lambda f: (f / "adapter_config.json").write_text("{"), "it is no JSON"),
    "no object": (lambda f: (f / "adapter_config.json").write_text("[]"), "describes no LoRA"),
    "another method": (lambda f: described(f, peft_type="IA3"), "describes no LoRA but 'IA3'"),
    "another rank": (lambda f: described(f, r=4), "does not fit its own description"),
    "fewer layers": (lambda f: described(f, target_modules=["q_proj"]), "weights have no layer"),
    "half of it": (lambda f: weights(f, lambda t: dict(sorted(t.items())[:3])), "layers lack theirs"),
    "no numbers": (lambda f: weights(f, lambda t: {n: w * float("nan") for n, w in t.items()}), "is no number"),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_that_is_not_what_it_says_is_refused(
    name: str, models: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    from cuadata.learning import merging

    damage, words = ADAPTERS[name]
    folder = tmp_path / "adapter"
    shutil.copytree(run, folder)
    damage(folder)
    rows, out = run.parent / "rows.jsonl", tmp_path / "out"
    code, said = told("sft", "--base", models["qwen2"], "--data", rows, "--adapter", folder, "--out", out)
    assert (code, words in said) == (1, True), said
    with pytest.raises(DataError, match=words.replace("(", r"\(")):
        merging.save_merged(folder, tmp_path / "whole")
    assert not out.exists() and not (tmp_path / "whole").exists() and not (folder / "read").exists()


@pytest.mark.parametrize("name", ["other", "vl"])
def test_an_adapter_goes_on_its_own_base_alone(name: str, models: dict[str, Path], run: Path, tmp_path: Path) -> None:
    words = ["--data", run.parent / "rows.jsonl", "--adapter", run, "--out", tmp_path / "out"]
    code, said = told("sft", "--base", models[name], *words)
    assert code == 2 and "whose weights are others" in said
    (shutil.copytree(run, tmp_path / "bare") / "run.json").unlink()
    words[3] = tmp_path / "bare"
    code, said = told("sft", "--base", models["vl"], *words)
    assert code == 1 and "layers lack theirs" in said or "does not fit" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rank", "4"], "begun with --rank 16, now 4"),
        (["--lr", "0.5"], "begun with --lr 0.0001, now 0.5"),
        (["--seed", "5"], "begun with --seed 0, now 5"),
        (["--data", "more.jsonl"], "begun with other data"),
        (["--base", "other"], "begun with a base of other weights"),
    ],
)
def test_a_run_is_gone_on_with_as_it_was_begun(
    words: list[str], sentence: str, models: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    write_rows(tmp_path / "more.jsonl", 9)
    out = shutil.copytree(run, tmp_path / "run")
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    held = {"--base": models["qwen2"], "--data": run.parent / "rows.jsonl", "--batch": 2, "--steps": 4}
    name, value = words
    held[name] = models[value] if name == "--base" else tmp_path / value if name == "--data" else value
    pairs = [word for pair in held.items() for word in pair]
    code, said = told("sft", *pairs, "--out", out, "--no-bf16", "--resume")
    assert code == 2 and sentence in said, said
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before


def test_all_that_a_run_read_is_what_it_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lies at the same paths: replayed rows, pictures beside the rows, the adapter that it began with."""
    from cuadata.learning import starting

    def file(name: str, text: str) -> Path:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    rows = file("rows.jsonl", json.dumps({**ROW, "images": ["pictures/a.png"]}) + "\n")
    files = {"pictures/a.png": "other data", "replay/actions/x": "another --replay"}
    files |= {"adapter/adapter_model.safetensors": "another --adapter"}
    for name in files:
        file(name, "first")
    options: dict[str, Any] = {"replay": tmp_path / "replay", "adapter": str(tmp_path / "adapter"), "rank": 4}
    again: dict[str, Any] = {"options": options, "data": rows, "base": "b"}
    starting.same(tmp_path / "out", None, **again)
    starting.same(tmp_path / "out", "checkpoint-1", **again)
    for name, words in files.items():
        file(name, "second")
        with pytest.raises(CallError, match=f"was begun with {words};"):
            starting.same(tmp_path / "out", "checkpoint-1", **again)
        file(name, "first")
    (tmp_path / "replay/chunks").mkdir()
    (tmp_path / "replay/actions/x").rename(tmp_path / "replay/chunks/x")
    with pytest.raises(CallError, match="another --replay"):
        starting.same(tmp_path / "out", "checkpoint-1", **again)
    (tmp_path / "replay/chunks/x").rename(tmp_path / "replay/actions/x")
    monkeypatch.chdir(tmp_path)
    starting.same(tmp_path / "out", "checkpoint-1", **{**again, "options": {**options, "adapter": "adapter"}})
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(CallError, match="was begun with 1 processes, now 2;"):
        starting.same(tmp_path / "out", "checkpoint-1", **again)


@pytest.mark.parametrize("broken", ["trainer_state.json", "optimizer.pt", "adapter_model.safetensors"])
def test_a_half_checkpoint_is_not_gone_on_from(broken: str, models: dict[str, Path], run: Path, tmp_path: Path) -> None:
    out = shutil.copytree(run, tmp_path / "run")
    shutil.copytree(out / "checkpoint-2", out / "checkpoint-3")
    cut(out / "checkpoint-3" / broken)
    (out / "log.jsonl").write_text((out / "log.jsonl").read_text() + '{"step": 3, "lo')  # the disk was full
    words = ["--base", models["qwen2"], "--data", run.parent / "rows.jsonl", "--out", out, "--no-bf16", "--batch", 2]
    assert told("sft", *words, "--steps", 4, "--resume")[0] == 0
    entries = map(json.loads, (out / "log.jsonl").read_text().splitlines())
    assert [entry["step"] for entry in entries if "loss" in entry] == [1, 2, 3, 4]
    for one in out.glob("checkpoint-*"):
        cut(one / broken)
    code, said = told("sft", *words, "--steps", 4, "--resume")
    assert code == 1 and "none of its checkpoints is whole" in said


@pytest.mark.parametrize("broken", ["", '{"passes": ['])
def test_a_checkpoint_without_the_state_of_its_groups_is_not_gone_on_from(
    broken: str, run: Path, tmp_path: Path
) -> None:
    """It is written last: a process that was killed between leaves all else."""
    from cuadata.learning import starting

    out = shutil.copytree(run, tmp_path / "run")
    shutil.copytree(out / "checkpoint-2", out / "checkpoint-3")
    (out / "checkpoint-2" / "groups_0.json").write_text("{}")
    if broken:
        (out / "checkpoint-3" / "groups_0.json").write_text(broken)
    gone_on = starting.begin(out, resume=True, force=False, keeps="groups")
    assert gone_on == str(out / "checkpoint-2")
    assert room("grpo").settings("grpo", out).save_total_limit == 2, "the one before is still there"


def test_the_folder_of_a_run_holds_nothing_else(models: dict[str, Path], run: Path, tmp_path: Path) -> None:
    words = ["--base", models["qwen2"], "--data", run.parent / "rows.jsonl", "--no-bf16", "--steps", 2]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "README.md").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for out, sentence in (
        ("set", "something that is no run"),
        ("file", "is a file"),
        ("file/x", "is a file, not a folder"),
    ):
        code, said = told("sft", *words, "--out", tmp_path / out, "--force")
        assert code == 2 and sentence in said
    assert (tmp_path / "set" / "README.md").read_text() == "mine"
    old = shutil.copytree(run, tmp_path / "run")
    (old / "last_good").mkdir()
    code, said = told("sft", *words[:2], "--data", tmp_path / "none.jsonl", "--out", old, "--force")
    assert code == 2 and "is not there" in said and (old / "adapter_model.safetensors").exists()
    assert told("sft", *words, "--out", old, "--force")[0] == 0
    assert not (old / "last_good").exists(), "an adapter of the earlier run could be put in the place of this one's"


ROW = {"prompt": [{"role": "user", "content": "x"}], "completion": [{"role": "assistant", "content": "a"}]}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({**ROW, "prompt": [{"role": "user", "content": 5}]}, "no list of messages"),
        ({**ROW, "prompt": [{"role": "alien", "content": "x"}]}, "no list of messages"),
        ({**ROW, "prompt": [{"role": "user", "content": "\ud83d"}]}, "no list of messages"),
        ({**ROW, "images": "rows.jsonl"}, "no list of files"),
        ({**ROW, "prompt": [{"role": "user", "content": [{"type": "image"}]}], "images": ["rows.jsonl"]}, "no picture"),
        ({**ROW, "prompt": [{"role": "user", "content": "a <|image_pad|>"}]}, "the model's mark of a picture"),
    ],
)
def test_a_row_that_is_none_is_named(row: Any, sentence: str, models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    words = ["--base", models["vl"], "--data", tmp_path / "rows.jsonl", "--out", tmp_path / "out"]
    code, said = told("sft", *words)
    assert code == 1 and sentence in said and "rows.jsonl:1" in said
    assert not (tmp_path / "out").exists()


def test_text_parts_are_text_to_a_text_model(models: dict[str, Path], tmp_path: Path) -> None:
    row = {**ROW, "prompt": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    sft(models["qwen2"], tmp_path / "rows.jsonl", tmp_path / "out", steps=1)
    assert (tmp_path / "out/adapter_model.safetensors").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--dtype", "int8"], "no base is held as 'int8'"),
        (["--lora-targets", "nope"], "'nope' is no linear layer"),
        (["--format", "nope"], "no format is named 'nope'"),
        (["--mix", "actions:-1"], "shares are above 0"),
        (["--seed", "-1"], "Invalid value for"),
        (["--base", "gone"], "is neither a folder nor"),
        (["--data", "gone.jsonl"], "gone.jsonl is not there"),
        (["--guard", "gone"], "--guard gone is not there"),
        (["--adapter", "gone"], "gone is not there"),
    ],
)
def test_a_wrong_option_of_sft_is_named(words: list[str], sentence: str, models: dict[str, Path], run: Path, tmp_path: Path) -> None:  # fmt: skip
    held = ["--base", models["qwen2"], "--data", run.parent / "rows.jsonl", "--out", tmp_path / "out"]
    code, said = told("sft", *held, *words)
    assert code == 2 and sentence in said
    assert not (tmp_path / "out").exists()


def test_a_guard_of_pictures_is_no_guard_of_a_text_model(models: dict[str, Path], run: Path, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    held = ["--base", models["qwen2"], "--data", run.parent / "rows.jsonl", "--out", tmp_path / "out"]
    code, said = told("sft", *held, "--guard", tmp_path / "set")
    assert code == 2 and "the base model takes none" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("config", "words"), [("recovery", "`cuadata recover` records"), ("grounding", "`cuadata generate`")]
)
def test_a_config_that_is_missing_is_named_with_what_makes_it(config: str, words: str, tmp_path: Path) -> None:
    from cuadata.learning import training_rows

    with pytest.raises(DataError, match=f"no train split of config '{config}'; there are: none; {words}"):
        training_rows.examples(tmp_path, config, "train")


def test_a_loss_that_is_no_number_leaves_no_adapter(models: dict[str, Path], run: Path, tmp_path: Path) -> None:
    held = ["--base", models["qwen2"], "--data", run.parent / "rows.jsonl", "--no-bf16", "--steps", 4, "--lr", "1e30"]
    code, said = told("sft", *held, "--out", tmp_path / "out")
    assert code == 1 and "diverged" in said and "lower --lr" in said
    assert not (tmp_path / "out" / "adapter_model.safetensors").exists()
    code, said = told("sft", *held, "--out", tmp_path / "out", "--resume")
    assert code == 1 and "none of its checkpoints is whole" in said


def tasks(path: Path, *rows: dict[str, Any]) -> Path:
    held = {"family": "modal", "seed": 1, "prompt": ROW["prompt"]}
    path.write_text("".join(json.dumps({**held, **row}) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "words", "code", "sentence"),
    [
        ({"family": "none"}, [], 1, "there is no family 'none'"),
        ({"seed": "x"}, [], 1, "wanted a whole number"),
        ({}, [], 2, "has 1 tasks, fewer than the --prompts 2"),
        ({}, ["--terms", "nope:1"], 2, "no reward term is named nope"),
        ({}, ["--terms", "exact:0"], 2, "one weight at least is not 0"),
        ({}, ["--terms", "exact:1e300"], 2, "none is beyond a million"),
        ({}, ["--context", "8"], 2, "raise --context"),
        ({}, ["--epsilon-high", "-1"], 2, "Invalid value for"),
    ],
)
def test_grpo_names_what_it_cannot_learn_from(
    row: dict[str, Any], words: list[str], code: int, sentence: str, models: dict[str, Path], tmp_path: Path
) -> None:
    held = ["--base", models["qwen2"], "--rows", tasks(tmp_path / "rows.jsonl", row), "--out", tmp_path / "out"]
    found = told("grpo", *held, "--prompts", 2, "--group", 2, "--new-tokens", 4, *words)
    assert found[0] == code and sentence in found[1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--criterion", "nope"], "no reward term is named nope"),
        (["--adapter", "gone"], "gone is not there"),
        (["--format", "nope"], "no format is named 'nope'"),
    ],
)
def test_rejection_writes_nothing_before_it_drew(words: list[str], sentence: str, models: dict[str, Path], tmp_path: Path) -> None:  # fmt: skip
    held = ["--base", models["qwen2"], "--rows", tasks(tmp_path / "rows.jsonl", {}), "--out", tmp_path / "out"]
    code, said = told("rejection", *held, *words)
    assert code == 2 and sentence in said
    assert not (tmp_path / "out").exists()


def test_rounds_are_not_drawn_by_several_processes_into_one_folder(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    held = ["--base", models["qwen2"], "--rows", tasks(tmp_path / "rows.jsonl", {}), "--out", tmp_path / "out"]
    code, said = told("rejection", *held)
    assert code == 2 and "start it without a launcher" in said
    assert not (tmp_path / "out").exists()


def test_rounds_are_gone_on_with_as_they_were_begun(tmp_path: Path) -> None:
    from cuadata.learning import starting

    rows = tasks(tmp_path / "rows.jsonl", {})
    out = tmp_path / "out"
    begun = starting.rounds(out, options={"base": "a", "samples": 2}, data=rows)
    assert not out.exists()
    starting.put(out, begun)
    starting.rounds(out, options={"base": "a", "samples": 2}, data=rows)
    with pytest.raises(CallError, match="begun with --samples 2, now 8"):
        starting.rounds(out, options={"base": "a", "samples": 8}, data=rows)
    tasks(rows, {"seed": 2})
    with pytest.raises(CallError, match="begun with other data"):
        starting.rounds(out, options={"base": "a", "samples": 2}, data=rows)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "x").write_text("mine")
    with pytest.raises(CallError, match="is no run of rounds"):
        starting.rounds(tmp_path / "foreign", options={"base": "a"}, data=rows)


def test_a_round_whose_training_fails_ends_with_its_code() -> None:
    import typer

    from cuadata.learning import starting

    with pytest.raises(typer.Exit) as left:
        starting.child([sys.executable, "-c", "raise SystemExit(130)"])
    assert left.value.exit_code == 130
    starting.child([sys.executable, "-c", "pass"])


@pytest.mark.parametrize("kind", ["file", "run", "named"])
def test_merging_replaces_no_file_and_no_run(kind: str, run: Path, tmp_path: Path) -> None:
    from cuadata.learning import merging

    held = shutil.copytree(run, tmp_path / "run")
    (tmp_path / "file").write_text("mine")
    if kind == "named":
        described(held, base_model_name_or_path=None)
    out = {"file": tmp_path / "file", "run": held, "named": tmp_path / "whole"}[kind]
    with pytest.raises(
        CallError, match={"file": "is a file", "run": "is or holds the input", "named": "give --base"}[kind]
    ):
        merging.save_merged(held, out, force=True)
    assert (tmp_path / "file").read_text() == "mine" and not (tmp_path / "whole").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of this kind are of POSIX")
def test_a_full_disk_is_named_and_leaves_what_can_be_gone_on_from(
    models: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    resource = importlib.import_module("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    words = ["--base", models["qwen2"], "--data", run.parent / "rows.jsonl", "--out", tmp_path / "out", "--no-bf16"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        code, said = told("sft", *words, "--steps", 4, "--save-steps", 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 1 and "the disk takes no more" in said
    code, said = told("sft", *words, "--steps", 4, "--save-steps", 2, "--resume")
    assert code == 1 and "none of its checkpoints is whole" in said


def test_ctrl_c_that_a_library_caught_before_training_is_not_forgotten() -> None:
    import signal

    from cuadata.learning import callbacks

    before = signal.getsignal(signal.SIGINT)
    try:
        stop = callbacks.Interrupt()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            stop.on_train_begin(None, None, None)
        stop = callbacks.Interrupt()
        stop.on_train_begin(None, None, None)
        signal.raise_signal(signal.SIGINT)
        assert stop.asked, "in training the step is ended first"
    finally:
        signal.signal(signal.SIGINT, before)
