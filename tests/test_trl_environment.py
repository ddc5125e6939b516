"""The environments as TRL takes them: every public method a tool, rewards by each criterion, GRPO that runs."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from cuadata.errors import CallError
from cuadata.playing import trl_environment

NAMES = {"click", "hover", "drag", "type", "press", "scroll", "wait"}


def test_public_methods_are_the_tools_and_nothing_else() -> None:
    made = trl_environment.tools("modal")
    methods = {n: m for n, m in inspect.getmembers(made, inspect.isfunction) if not n.startswith("_")}
    assert set(methods) == NAMES | {"reset", "get_reward"}
    for name in NAMES:
        told = inspect.getdoc(methods[name]) or ""
        parameters = [p for p in inspect.signature(methods[name]).parameters if p != "self"]
        assert all(f"{p}:" in told.split("Args:")[1] for p in parameters), name
    with pytest.raises(CallError, match="no reward is named 'best'"):
        trl_environment.tools("modal", reward="best")  # type: ignore[arg-type]


@pytest.mark.browser
def test_an_episode_by_tools() -> None:
    env: Any = trl_environment.tools("miniwob-click-checkboxes", reward="raw")()
    told = env.reset(seed=5)
    assert isinstance(told, str) and told.startswith("Select ") and "checkbox" in told
    number = {line.split("'")[1]: int(line[1:].split("]")[0]) for line in told.splitlines() if line.startswith("[")}
    wanted = told.splitlines()[0].removeprefix("Select ").split(" and click")[0].split(", ")
    for name in wanted:
        assert f"checkbox '{name}', checked" in env.click(number[name])
    assert env.click(99).startswith("target_stale")
    assert "The episode is over: success." in env.click(number["Submit"])
    assert env.get_reward() == 1.0 and env.click(1) == "The episode is over: success."
    seeing: Any = trl_environment.tools("code_entry", screenshot=True, reveal="click")()
    picture, text = seeing.reset(seed=2)
    assert picture["image"].size == (1280, 720) and "Access code" in text["text"] or "code" in text["text"]


@pytest.mark.browser
@pytest.mark.train
@pytest.mark.filterwarnings("ignore")
def test_grpo_with_tools_and_with_plans_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset
    from tiny_models import build, template
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer  # pyright: ignore[reportPrivateImportUsage]

    folder = build("qwen2", tmp_path / "model")
    words = AutoTokenizer.from_pretrained(folder)
    words.chat_template = template("qwen2_5")
    rows = Dataset.from_list(
        [{"prompt": [{"role": "user", "content": "Act."}], "seed": s, "family": "miniwob-click-test"} for s in range(2)]
    )
    options: dict[str, Any] = {
        "output_dir": str(tmp_path / "out"), "max_steps": 1, "per_device_train_batch_size": 2, "num_generations": 2,
        "max_completion_length": 8, "report_to": "none", "use_cpu": True, "bf16": False, "save_strategy": "no",
        "dataloader_pin_memory": False,
    }  # fmt: skip
    trainings: list[dict[str, Any]] = [
        {"environment_factory": trl_environment.tools("miniwob-click-test", reward="exact")},
        {"reward_funcs": trl_environment.plan_reward("axtree", pages=1)},
    ]
    for given in trainings:
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(folder), args=GRPOConfig(**options), train_dataset=rows,
            processing_class=words, **given,
        )  # fmt: skip
        trainer.train()
        assert any("reward" in line for line in trainer.state.log_history)
