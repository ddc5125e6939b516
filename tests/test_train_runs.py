"""What becomes of a run: interrupted and resumed, on two processes, merged, pushed, and what a wrong call is told."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hub_server import Hub
from test_train_text import losses, room, sft, write_rows
from typer.testing import CliRunner

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def qwen2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tiny_models import build

    return build("qwen2", tmp_path_factory.mktemp("models") / "qwen2")


@pytest.fixture(scope="module")
def whole(qwen2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    out = tmp_path_factory.mktemp("runs")
    sft(qwen2, write_rows(out / "rows.jsonl", 12), out / "whole", steps=12, lr=1e-2, batch=2)
    return out / "whole"


def weights(out: Path) -> dict[str, Any]:
    import safetensors.torch

    return dict(safetensors.torch.load_file(out / "adapter_model.safetensors"))


def call(*words: str) -> Any:
    """The command line as a user calls it, with what it prints of a mistake."""
    return subprocess.run(
        [sys.executable, "-m", "cuadata.cli", *words], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_ctrl_c_saves_and_resuming_ends_at_the_same_weights(qwen2: Path, whole: Path, tmp_path: Path) -> None:
    import torch

    words = [
        "--base",
        str(qwen2),
        "--data",
        str(whole.parent / "rows.jsonl"),
        "--out",
        str(tmp_path / "run"),
        "--no-bf16",
    ]
    words += ["--steps", "12", "--lr", "1e-2", "--batch", "2"]

    def press() -> None:
        log = tmp_path / "run" / "log.jsonl"
        while not log.exists() or log.read_text().count("\n") < 3:
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    stopped = CliRunner().invoke(room("sft").app, words)
    assert stopped.exit_code == 130, stopped.output
    assert "--resume goes on from there" in stopped.output
    at = len(losses(tmp_path / "run"))
    assert 3 <= at < 12, "it was to be stopped in the middle"
    refused = CliRunner().invoke(room("sft").app, words)
    assert "holds a run" in str(refused.exception)
    done = CliRunner().invoke(room("sft").app, [*words, "--resume"])
    assert done.exit_code == 0, done.output
    assert losses(tmp_path / "run") == losses(whole), "the log has every step once, with the undisturbed losses"
    one, other = weights(whole), weights(tmp_path / "run")
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_case_resume_keeps_adapter(cases: Path, tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model

    from cuadata.learning import adapters

    folder = cases / "training" / "B88-resume-keeps-adapter"
    held, want = (json.loads((folder / name).read_text()) for name in ("adapter.json", "expected.json"))
    expect = want["expect"]

    def base() -> Any:
        model = torch.nn.Sequential(torch.nn.Linear(4, 3, bias=False))
        model[0].weight.data = torch.tensor(held["W"])
        return model

    lora = get_peft_model(base(), LoraConfig(r=held["r"], lora_alpha=held["alpha"], target_modules=["0"]))
    for name, weight in lora.named_parameters():
        if "lora_" in name:
            weight.data = torch.tensor(held["A" if "lora_A" in name else "B"])
    lora.save_pretrained(str(tmp_path))
    resumed = adapters.adapted(base(), str(tmp_path))
    x = torch.tensor(held["x"])
    assert resumed(x).tolist() == pytest.approx(expect["y_after_resume"], abs=want["tolerance"])
    with resumed.disable_adapter():
        assert resumed(x).tolist() == pytest.approx(expect["y_if_adapter_was_lost"], abs=want["tolerance"])
    assert sum(w.numel() for w in resumed.parameters() if w.requires_grad) == expect["trainable_numbers"]
    assert len(resumed.peft_config) == expect["adapters"]


@pytest.mark.parametrize(("rank", "alpha", "rooted"), [(1, 1, False), (3, 8, False), (4, 16, True)])
def test_resumed_again_and_again_it_stays_one_adapter(rank: int, alpha: int, rooted: bool, tmp_path: Path) -> None:
    """Three phases, each from the folder of the one before; beside the second stands the frozen copy that a KL weight keeps."""
    import torch
    from peft import LoraConfig, get_peft_model

    from cuadata.learning import adapters

    torch.manual_seed(rank)
    plain, given = torch.randn(5, 6), torch.randn(6)

    def base() -> Any:
        model = torch.nn.Sequential(torch.nn.Linear(6, 5, bias=False))
        model[0].weight.data = plain.clone()
        return model

    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules=["0"], use_rslora=rooted)
    lora = get_peft_model(base(), config)
    for phase in ("1", "1.5", "2"):
        held = {name: torch.randn_like(w) for name, w in lora.named_parameters() if w.requires_grad}
        for name, weight in lora.named_parameters():
            if name in held:
                weight.data = held[name].clone()
        if phase == "1.5":
            lora.add_adapter("ref", config)
        lora.save_pretrained(str(tmp_path / phase))
        lora = adapters.adapted(base(), str(tmp_path / phase))
        first, second = (next(w for name, w in held.items() if f"lora_{which}" in name) for which in "AB")
        wanted = plain @ given + alpha / (rank**0.5 if rooted else rank) * (second @ (first @ given))
        assert torch.allclose(lora(given), wanted, atol=1e-4), phase
        assert list(lora.peft_config) == ["default"]
        assert sum(w.numel() for w in lora.parameters() if w.requires_grad) == rank * (5 + 6)


def test_merged_it_loads_in_plain_transformers_and_says_the_same(qwen2: Path, whole: Path, tmp_path: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    done = CliRunner().invoke(
        importlib.import_module("cuadata.commands.train").app,
        ["merge", str(whole), str(tmp_path / "model"), "--dtype", "float32"],
    )
    assert done.exit_code == 0, done.output
    words = AutoTokenizer.from_pretrained(tmp_path / "model")("Select MRW", return_tensors="pt")
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "model").eval()
    base = AutoModelForCausalLM.from_pretrained(qwen2, dtype=torch.float32)
    adapted = PeftModel.from_pretrained(base, whole).eval()
    with torch.no_grad():
        there, here = adapted(**words).logits, merged(**words).logits
        with adapted.disable_adapter():
            plain = adapted(**words).logits
    assert torch.allclose(there, here, atol=1e-4)
    assert (there - plain).abs().max() > 0.01, "the adapter is in it"


def test_a_push_puts_adapter_card_and_record_on_the_hub_and_no_path(whole: Path) -> None:
    with Hub() as hub:
        env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1"}
        env |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "0"}
        words = [sys.executable, "-m", "cuadata.cli", "train", "push", str(whole), "tester/run", "--json"]
        done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=ROOT, check=False)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["visibility"] == "private"
        assert hub.files("tester/run").keys() == set(told["files"])
        card = hub.read("tester/run", "README.md").decode()
        assert card.startswith("---\nlibrary_name: peft")
        assert "training loss" in card
        everything = b"".join(hub.read("tester/run", name) for name in told["files"] if name.endswith((".md", ".json")))
        assert str(whole.parent).encode() not in everything
        assert hub.repos["tester/run"].messages[1:] == ["Adapter trained with cuadata"], "one commit"
        open_one = [*words, "--public"]
        refused = subprocess.run(open_one, capture_output=True, text=True, env=env, cwd=ROOT, check=False)
        assert refused.returncode == 2
        assert "is private, and public was asked for" in refused.stderr


TORCHRUN = ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
#: `--multi_gpu` is what starts several processes; on a machine without a GPU they train on its CPU.
ACCELERATE = ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port"]


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.mark.parametrize("case", ["accelerate sft", "torchrun grpo"])
def test_two_processes_train_one_adapter(case: str, qwen2: Path, tmp_path: Path) -> None:
    launcher, trainer = case.split()
    rows = write_rows(tmp_path / "rows.jsonl", 8)
    options = ["--base", str(qwen2), "--data", str(rows), "--out", str(tmp_path / "run"), "--no-bf16"]
    options += ["--steps", "2", "--batch", "2", "--lr", "1e-2"]
    program = ["-m", "cuadata.train.sft", *options]
    if trainer == "grpo":
        program = [str(ROOT / "tests" / "grpo_worker.py"), str(qwen2), str(rows), str(tmp_path / "run")]
    start = TORCHRUN if launcher == "torchrun" else [*ACCELERATE, str(free_port())]
    words = [sys.executable, "-m", *start, *program]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=ROOT, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(losses(tmp_path / "run")) == 2, "one process writes the log"
    assert any(weight.abs().max() > 0 for name, weight in weights(tmp_path / "run").items() if "lora_B" in name)


@pytest.mark.parametrize(
    ("prompts", "group", "microbatch", "world", "want"),
    [(32, 16, 0, 1, (512, 1)), (32, 16, 128, 1, (128, 4)), (32, 16, 0, 2, (256, 1)), (4, 4, 8, 2, (8, 1))],
)
def test_a_step_is_shared_out_in_whole_groups(
    prompts: int, group: int, microbatch: int, world: int, want: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(world))
    assert room("grpo").shares(prompts, group, microbatch) == want
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ValueError, match="do not divide"):
        room("grpo").shares(prompts, group, microbatch)


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["--data", "none.jsonl", "--phase", "1.5"], "1.5 goes on with the --adapter", 2),
        (["--data", "bad.jsonl"], "bad.jsonl:2: is no JSON", 1),
        (["--data", "lost.jsonl"], "lost.jsonl:1: it has pictures, and the base model takes none", 1),
        (["--data", "marks.jsonl"], "too_few_marks: 1 pictures, 0 marks", 1),
        (["--data", "turns.jsonl"], "its completion is assistant, user, assistant; wanted one assistant message", 1),
        (["--data", "empty.jsonl"], "its answer has no token", 1),
        (["--data", "long.jsonl", "--max-tokens", "20"], "no row is left: 1 are longer", 1),
        (["--data", "folder"], "is a dataset of pictures, and the base model takes none", 2),
    ],
)
def test_bad_input_is_named(words: list[str], told: str, code: int, qwen2: Path, tmp_path: Path) -> None:
    user = [{"role": "user", "content": "Select MRW"}]
    good = {"prompt": user, "completion": [{"role": "assistant", "content": "click(1)"}]}
    rows: dict[str, list[Any]] = {
        "bad": [good, "{"],
        "lost": [{**good, "prompt": [{"role": "user", "content": [{"type": "image"}]}], "images": ["../secret.png"]}],
        "marks": [{**good, "images": ["a.png"]}],
        "turns": [{**good, "completion": [*good["completion"], *user, *good["completion"]]}],
        "empty": [{**good, "completion": [{"role": "assistant", "content": " "}]}],
        "long": [{**good, "prompt": [{"role": "user", "content": "Select " * 50}]}],
    }
    for name, held in rows.items():
        lines = [row if isinstance(row, str) else json.dumps(row) for row in held]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "folder").mkdir()
    words = [str(tmp_path / word) if word.endswith(".jsonl") or word == "folder" else word for word in words]
    done = CliRunner().invoke(room("sft").app, ["--base", str(qwen2), "--out", str(tmp_path / "out"), *words])
    assert told in str(done.exception)
    assert getattr(done.exception, "exit_code", None) == code
    assert not (tmp_path / "out").exists()


def test_a_picture_outside_of_the_rows_folder_is_not_read(tmp_path: Path, png: bytes) -> None:
    from cuadata.learning import training_rows

    row = {
        "prompt": [{"role": "user", "content": [{"type": "image"}]}],
        "completion": [{"role": "assistant", "content": "a"}],
    }
    (tmp_path / "rows").mkdir()
    for path in (tmp_path / "secret.png", tmp_path / "rows" / "a.png"):
        path.write_bytes(png)
    for name, told in (
        ("../secret.png", "is no file in"),
        (str(tmp_path / "secret.png"), "is no file in"),
        ("a.png", ""),
    ):
        (tmp_path / "rows" / "rows.jsonl").write_text(json.dumps({**row, "images": [name]}))
        if told:
            with pytest.raises(ValueError, match=told):
                list(training_rows.message_rows(tmp_path / "rows" / "rows.jsonl", vision=True))
        else:
            (read,) = training_rows.message_rows(tmp_path / "rows" / "rows.jsonl", vision=True)
            assert read["images"] == [{"bytes": png, "path": None}]


def test_a_mistake_is_one_sentence_and_the_help_reads_on_its_own(tmp_path: Path) -> None:
    wrong = call("train", "grpo", "--base", "x", "--out", str(tmp_path / "o"))
    assert wrong.returncode == 2
    assert wrong.stderr.strip().splitlines()[-1].startswith("cuadata: give task rows (--rows)")
    assert "Traceback" not in wrong.stderr
    shown = call("train", "--help")
    assert all(name in shown.stdout for name in ("sft", "rejection", "grpo", "merge", "push"))


@pytest.mark.parametrize("bad", [{"loss": 99.0}, {"loss": 0.1, "kl": 50.0}, {"loss": 0.0, "grad_norm": float("nan")}])
def test_a_run_that_leaves_its_band_is_stopped_and_put_back(bad: dict[str, float], tmp_path: Path) -> None:
    from types import SimpleNamespace

    from cuadata.learning.callbacks import Band

    class Model:
        saved = 0

        def save_pretrained(self, folder: str) -> None:
            Path(folder).mkdir(exist_ok=True)
            (Path(folder) / "adapter_model.safetensors").write_text(f"step {self.saved}")

    model, control = Model(), SimpleNamespace(should_training_stop=False)
    band = Band(tmp_path, max_kl=10, max_loss=10, patience=3, every=2)
    good = {"loss": 0.1, "kl": 0.2, "grad_norm": 1.0}
    for step, logs in enumerate([good, good, good, bad, good, bad, bad, bad], 1):
        model.saved = step
        state = SimpleNamespace(global_step=step, is_world_process_zero=True)
        band.on_log(None, state, control, logs, model)
        assert control.should_training_stop == (step == 8), f"step {step}: three in a row stop it"
    (tmp_path / "adapter_model.safetensors").write_text("diverged")
    assert band.stopped.startswith("step 8")
    assert band.restore(tmp_path) == "the last good adapter is kept"
    assert (tmp_path / "adapter_model.safetensors").read_text() == "step 2"
    assert "no good adapter" in Band(tmp_path / "other", max_kl=1, max_loss=1).restore(tmp_path)


def test_where_the_time_goes_is_read_off_the_log(tmp_path: Path) -> None:
    from cuadata.learning import step_times

    entries = [
        {"step": n, "reward": 0.5, "step_time": 4.0, "seconds/generate": 1.0, "seconds/score": 2.0, "terms/turns": 2 + n,
         "groups/flat_share": 0.5, "groups/flat_left": 0.25} for n in (1, 2)
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    told = step_times.table(tmp_path / "log.jsonl")
    for words in ("generate       1.00 s    25%", "score          2.00 s    50%", "optimise       1.00 s    25%"):
        assert words in told, told
    assert "3.50 calls a completion" in told
    assert "25% left after drawing again" in told


def test_a_preset_fills_in_what_is_not_said() -> None:
    import typer

    from cuadata.learning import presets

    seen: dict[str, Any] = {}
    app = typer.Typer()

    @app.command()
    def run(
        preset: str = typer.Option("", callback=presets.apply, is_eager=True), batch: int = 8, rank: int = 4
    ) -> None:
        seen.update(batch=batch, rank=rank)

    assert CliRunner().invoke(app, ["--preset", "7b", "--rank", "8"]).exit_code == 0
    assert seen == {"batch": presets.PRESETS["7b"]["batch"], "rank": 8}
    assert "no preset is named '9b'" in str(CliRunner().invoke(app, ["--preset", "9b"]).exception)
