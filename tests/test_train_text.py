"""The text side of the trainers on a tiny model: sampling, SFT, resuming, GRPO with groups drawn again."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def qwen2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tiny_models import build

    return build("qwen2", tmp_path_factory.mktemp("models") / "qwen2")


def room(name: str) -> Any:
    """A trainer by name, as the command line finds it."""
    return importlib.import_module(f"cuadata.train.{name}")


def write_rows(path: Path, count: int = 8) -> Path:
    rows = [
        {
            "id": f"r{i}",
            "prompt": [{"role": "user", "content": f"[{i}] checkbox 'MRW'\nSelect MRW and click Submit"}],
            "completion": [{"role": "assistant", "content": f"click({i})\nclick(27)"}],
        }
        for i in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def losses(out: Path) -> list[float]:
    return [entry["loss"] for entry in map(json.loads, (out / "log.jsonl").read_text().splitlines()) if "loss" in entry]


def sft(base: Path, data: Path, out: Path, **options: Any) -> None:
    from typer.testing import CliRunner

    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = CliRunner().invoke(
        room("sft").app, ["--base", str(base), "--data", str(data), "--out", str(out), "--no-bf16", *words]
    )
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def phase1(qwen2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    sft(qwen2, write_rows(out / "rows.jsonl"), out / "phase1", steps=40, lr=1e-2, batch=8)
    return out / "phase1"


def test_the_loss_falls_and_the_same_adapter_goes_on(qwen2: Path, phase1: Path, tmp_path: Path) -> None:
    first = losses(phase1)
    assert first[-1] < 0.3 * first[0]
    sft(qwen2, phase1.parent / "rows.jsonl", tmp_path, steps=2, lr=1e-5, batch=8, adapter=phase1)
    assert losses(tmp_path)[0] < 0.4 * first[0], "a fresh adapter would begin at the first loss"
    assert json.loads((tmp_path / "run.json").read_text())["dataset_sha256"]


def test_an_answer_without_a_token_is_an_error(qwen2: Path, tmp_path: Path) -> None:
    from cuadata import training
    from cuadata.errors import DataError

    loaded = training.load(str(qwen2))
    row = {
        "id": "r",
        "prompt": [{"role": "user", "content": "x"}],
        "completion": [{"role": "assistant", "content": ""}],
    }
    with pytest.raises(DataError, match="r: its answer has no token"):
        training.with_answers_only([row], loaded, 100)


def test_long_rows_are_left_out_whole_and_counted(qwen2: Path, tmp_path: Path) -> None:
    from cuadata import training

    loaded = training.load(str(qwen2))
    rows = list(training.text_rows(write_rows(tmp_path / "rows.jsonl", 3)))
    rows[1]["prompt"][0]["content"] *= 50
    kept, dropped = training.with_answers_only(rows, loaded, 200)
    assert ([row["id"] for row in kept], dropped) == (["r0", "r2"], 1)


def test_the_sampler_draws_what_generate_draws(qwen2: Path) -> None:
    import torch

    from cuadata import training
    from cuadata.sampling import Sampler

    loaded = training.load(str(qwen2))
    words, model = loaded.tokenizer, loaded.model
    prompts = [
        words(text)["input_ids"] for text in ("Select MRW and click Submit", "[18] checkbox 'MRW' [21] checkbox '628'")
    ]
    sampler = Sampler(model, end_ids=[words.eos_token_id], pad_id=words.pad_token_id)
    greedy = sampler.draw(prompts, new_tokens=12, temperature=0)
    for prompt, sample in zip(prompts, greedy, strict=True):
        plain = model.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False)[0][len(prompt) :].tolist()
        assert plain == list(sample.ids)
    drawn = sampler.draw(prompts, new_tokens=6, temperature=0.7, seed=1)
    assert drawn == sampler.draw(prompts, new_tokens=6, temperature=0.7, seed=1)
    whole = torch.tensor([prompts[1] + list(drawn[1].ids)])
    odds = torch.log_softmax(model(whole).logits[0].float() / 0.7, -1)
    start = len(prompts[1]) - 1
    assert list(drawn[1].logprobs) == pytest.approx(
        [odds[start + i, token].item() for i, token in enumerate(drawn[1].ids)], abs=1e-4
    )


def high(rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[dict[str, float]]:
    """A bandit: whether the answer clicks number 5 or above, whatever was asked."""
    return [{"exact": float(a.startswith(("click(5", "click(6", "click(7")))} for a in answers]


def test_grpo_raises_the_reward_of_a_bandit(qwen2: Path, phase1: Path, tmp_path: Path) -> None:
    from cuadata import training

    grpo = room("grpo")
    loaded = training.load(str(qwen2), adapter=str(phase1))
    rows = training.task_rows(write_rows(tmp_path / "rows.jsonl"), loaded)
    arguments = grpo.settings(
        "grpo", tmp_path, max_steps=25, per_device_train_batch_size=64, num_generations=16, learning_rate=4e-3, beta=0.0,
        temperature=1.0, max_completion_length=12, loss_type="dapo", scale_rewards="group", bf16=False, seed=0,
        gradient_accumulation_steps=1,
    )  # fmt: skip
    guard = grpo.band_guard(tmp_path, max_kl=100, max_loss=100, patience=3)
    grpo.train_text(
        loaded, rows, high, arguments, tmp_path, terms={"exact": 1.0}, peft=None, context=256, rounds=1, guard=guard
    )  # fmt: skip
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    rewards = [entry["reward"] for entry in log if "reward" in entry]
    assert sum(rewards[-5:]) > 3 * sum(rewards[:5]) > 0
    assert all("groups/flat_share" in entry for entry in log if "reward" in entry)


def test_flat_groups_are_drawn_again() -> None:
    from cuadata.rollouts import Groups
    from cuadata.sampling import Sample

    class Fixed:
        def draw(self, prompts: Sequence[Sequence[int]], **_: Any) -> list[Sample]:
            return [Sample((p[0], i % 2), (0.0, 0.0), True) for i, p in enumerate(prompts)]

    class Words:
        def decode(self, ids: Sequence[int], **_: Any) -> str:
            return f"{ids[0]} {ids[1]}"

    def even_tasks_are_flat(rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[dict[str, float]]:
        return [
            {"exact": 1.0 if row["id"] % 2 == 0 else float(a.endswith("1"))}
            for row, a in zip(rows, answers, strict=True)
        ]

    pool = [{"id": i, "prompt_ids": [i]} for i in range(10)]
    groups = Groups(
        Fixed(), Words(), even_tasks_are_flat, weights={"exact": 1.0}, pool=pool, new_tokens=2, temperature=1.0, rounds=4  # type: ignore[arg-type]
    )  # fmt: skip
    drawn = groups.draw(pool[:4], 4)
    assert [group.spread for group in drawn] == [True] * 4
    assert groups.tally.flat >= 2
    assert groups.tally.drawn_again > 0
