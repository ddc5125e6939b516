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
            "family": "modal",
            "seed": i,
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
    sft(qwen2, write_rows(out / "rows.jsonl", 4), out / "phase1", steps=20, lr=1e-2, batch=4, rank=32)
    return out / "phase1"


def test_the_loss_falls_and_the_same_adapter_goes_on(qwen2: Path, phase1: Path, tmp_path: Path) -> None:
    first = losses(phase1)
    assert first[-1] < 0.5 * first[0]
    sft(qwen2, phase1.parent / "rows.jsonl", tmp_path, steps=1, lr=1e-5, batch=4, adapter=phase1)
    assert losses(tmp_path)[0] < 0.6 * first[0], "a fresh adapter would begin at the first loss"
    assert json.loads((tmp_path / "run.json").read_text())["dataset_sha256"]


def test_an_answer_without_a_token_is_an_error(qwen2: Path, tmp_path: Path) -> None:
    from cuadata.errors import DataError
    from cuadata.learning import training, training_rows

    loaded = training.load(str(qwen2))
    row = {
        "id": "r",
        "prompt": [{"role": "user", "content": "x"}],
        "completion": [{"role": "assistant", "content": ""}],
    }
    with pytest.raises(DataError, match="r: its answer has no token"):
        training_rows.with_answers_only([row], loaded, 100)


def test_long_rows_are_left_out_whole_and_counted(qwen2: Path, tmp_path: Path) -> None:
    from cuadata.learning import training, training_rows

    loaded = training.load(str(qwen2))
    rows = list(training_rows.message_rows(write_rows(tmp_path / "rows.jsonl", 3), vision=False))
    rows[1]["prompt"][0]["content"] *= 50
    kept, dropped = training_rows.with_answers_only(rows, loaded, 200)
    assert ([row["id"] for row in kept], dropped) == (["r0", "r2"], 1)


def test_the_sampler_draws_what_generate_draws(qwen2: Path) -> None:
    import torch

    from cuadata.learning import training
    from cuadata.learning.sampling import Sampler

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


def test_prompts_read_once_and_lora_merged_change_no_probability(qwen2: Path) -> None:
    """Log-probabilities against the adapter's own forward pass, within 1e-4, and not a bit of the trained weights moves."""
    import torch
    from peft import get_peft_model

    from cuadata.learning import training
    from cuadata.learning.sampling import Sampler

    loaded = training.load(str(qwen2))
    words = loaded.tokenizer
    model = get_peft_model(loaded.model, training.lora("all-linear", rank=4, alpha=8))
    sampler = Sampler(model, end_ids=[words.eos_token_id], pad_id=words.pad_token_id)
    group = [
        words(text)["input_ids"] for text in ("Select MRW and click Submit", "[18] checkbox 'MRW'") for _ in range(4)
    ]
    for seed in range(2):  # the second draw is after a step: the merged copy follows
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight, std=0.05)
        before = {name: weight.clone() for name, weight in model.state_dict().items()}
        drawn = sampler.draw(group, new_tokens=8, temperature=0.8, seed=seed)
        assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
        assert len({sample.ids for sample in drawn}) > 2, "the completions of a group are drawn apart"
        model.eval()
        for prompt, sample in zip(group, drawn, strict=True):
            odds = torch.log_softmax(model(torch.tensor([prompt + list(sample.ids)])).logits[0].float() / 0.8, -1)
            plain = [odds[len(prompt) - 1 + i, token].item() for i, token in enumerate(sample.ids)]
            assert list(sample.logprobs) == pytest.approx(plain, abs=1e-4)


def test_completions_that_have_ended_are_told_of_while_others_are_drawn(qwen2: Path) -> None:
    """And what is drawn stays the same."""
    from cuadata.learning import training
    from cuadata.learning.sampling import Sampler

    loaded = training.load(str(qwen2))
    words = loaded.tokenizer
    prompts = [words("Select MRW and click Submit")["input_ids"]] * 16
    sampler = Sampler(loaded.model, end_ids=range(0, len(words), 12), pad_id=words.pad_token_id)
    told: list[dict[int, tuple[int, ...]]] = []
    drawn = sampler.draw(prompts, new_tokens=30, temperature=1.0, seed=3, ended=lambda found: told.append(dict(found)))
    assert drawn == sampler.draw(prompts, new_tokens=30, temperature=1.0, seed=3)
    lengths = [len(sample.ids) for sample in drawn]
    assert max(lengths) > 16, "the seed no longer shows what is to be shown"
    assert [place for found in told for place in found] == sorted(
        (place for place, length in enumerate(lengths) if length <= (max(lengths) - 1) // 8 * 8),
        key=lambda place: ((lengths[place] - 1) // 8, place),
    )
    assert all(drawn[place].ids == ids and drawn[place].ended for found in told for place, ids in found.items())


def test_a_scorer_that_can_is_told_of_answers_early() -> None:
    """Each with its own row, and none is lost that ended last."""
    from cuadata.learning.rollouts import Groups
    from cuadata.learning.sampling import Sample

    class Fixed:
        def draw(self, prompts: Sequence[Sequence[int]], ended: Any = None, **_: Any) -> list[Sample]:
            samples = [Sample((p[0], i), (0.0, 0.0), True) for i, p in enumerate(prompts)]
            ended({3: samples[3].ids, 5: samples[5].ids})
            log.append("drawn")
            return samples

    class Words:
        def decode(self, ids: Sequence[int], **_: Any) -> str:
            return f"{ids[0]} {ids[1]}"

    class Early:
        def start(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> None:
            log.append([(row["id"], answer) for row, answer in zip(rows, answers, strict=True)])

        def __call__(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[dict[str, float]]:
            return [{"exact": float(answer.endswith(("1", "5")))} for answer in answers]

    log: list[Any] = []
    pool = [{"id": i, "prompt_ids": [i]} for i in range(2)]
    groups = Groups(
        Fixed(), Words(), Early(), weights={"exact": 1.0}, pool=pool, new_tokens=2, temperature=1.0, rounds=0  # type: ignore[arg-type]
    )  # fmt: skip
    drawn = groups.draw(pool, 4)
    assert log == [[(0, "0 3"), (1, "1 5")], "drawn"]
    assert [group.texts for group in drawn] == [("0 0", "0 1", "0 2", "0 3"), ("1 4", "1 5", "1 6", "1 7")]
    assert [group.rewards for group in drawn] == [(0.0, 1.0, 0.0, 0.0)] * 2


def lower(rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> list[dict[str, float]]:
    """A bandit: whether the answer begins with a lower-case letter, whatever was asked."""
    return [{"exact": float(answer[:1].islower())} for answer in answers]


@pytest.mark.parametrize("algorithm", ["grpo", "rloo"])
def test_the_reward_of_a_bandit_rises(algorithm: str, qwen2: Path, tmp_path: Path) -> None:
    import torch
    from datasets import Dataset

    from cuadata.learning import callbacks, plan_rewards, training, training_rows

    grpo = room("grpo")
    torch.manual_seed(0)
    loaded = training.load(str(qwen2))
    # Tied to embeddings as small as at the start, the logits of so narrow a model can prefer no class of tokens.
    loaded.model.get_input_embeddings().weight.data *= 4
    rows = training_rows.task_rows(write_rows(tmp_path / "rows.jsonl", 4), loaded)
    arguments = grpo.settings(
        algorithm, tmp_path, max_steps=15, per_device_train_batch_size=32, num_generations=16, learning_rate=1e-2, beta=0.0,
        temperature=1.0, max_completion_length=2, loss_type="dapo", scale_rewards="group", bf16=False, seed=0,
        gradient_checkpointing=False, lr_scheduler_type="constant",
    )  # fmt: skip
    common: dict[str, Any] = {
        "rounds": 1,
        "peft": training.lora("all-linear", rank=8, alpha=16),
        "watchers": [callbacks.Journal(tmp_path / "log.jsonl"), callbacks.Band(tmp_path, max_kl=100, max_loss=100)],
    }
    if algorithm == "grpo":
        grpo.train_text(loaded, rows, lower, arguments, terms={"exact": 1.0}, context=256, **common)
    else:
        table = Dataset.from_list([{"prompt": row["prompt"], "id": row["id"]} for row in rows])
        grpo.train_generated(loaded, table, plan_rewards.functions(lower, rows, {"exact": 1.0}), arguments, **common)
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    rewards = [entry["reward"] for entry in log if "reward" in entry]
    assert len(rewards) == 15
    assert sum(rewards[-4:]) / 4 > sum(rewards[:2]) / 2 + 0.2, rewards
    if algorithm == "grpo":
        assert all("groups/flat_share" in entry for entry in log if "reward" in entry)


def test_flat_groups_are_drawn_again() -> None:
    from cuadata.learning.rollouts import Groups
    from cuadata.learning.sampling import Sample

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
    again = Groups(
        Fixed(), Words(), even_tasks_are_flat, weights={"exact": 1.0}, pool=pool, new_tokens=2, temperature=1.0, rounds=4, seed=9  # type: ignore[arg-type]
    )  # fmt: skip
    again.restore(json.loads(json.dumps(groups.state())))
    assert [g.row["id"] for g in again.draw(pool[:4], 4)] == [g.row["id"] for g in groups.draw(pool[:4], 4)]


def test_a_task_is_found_by_its_prompt_however_its_messages_are_written() -> None:
    """A table of messages gives each the keys of all, in one order."""
    from collections import defaultdict
    from types import SimpleNamespace

    from datasets import Dataset

    from cuadata.learning.rollouts import rollout

    prompts: list[Any] = [
        [{"role": "user", "content": "a"}],
        [{"content": "b", "role": "user"}],
        [{"role": "user", "content": "c", "name": "x"}],
    ]
    tasks = [{"id": number, "prompt": prompt} for number, prompt in enumerate(prompts)]
    asked: list[Any] = []
    groups: Any = SimpleNamespace(draw=lambda rows, size: asked.__iadd__(rows)[:0], metrics=lambda drawn: {})
    table = Dataset.from_list([{"prompt": prompt} for prompt in prompts])
    trainer = SimpleNamespace(_metrics={"train": defaultdict(list)})
    rollout(groups, tasks, 1)(list(table["prompt"]), trainer)
    assert [row["id"] for row in asked] == [0, 1, 2]
