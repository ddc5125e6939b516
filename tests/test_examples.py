"""The ladder's table says what was not run; the patch head learns its labels."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def example(name: str) -> Any:
    """A program of `examples/` as a module."""
    sys.path[:0] = [str(ROOT / "examples")]  # as when the program is run
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def episodes(path: Path, exact: list[int]) -> None:
    path.mkdir(parents=True)
    rows = [
        {"size": 1, "exact": float(e), "default": 1.0, "actions": 2, "parsed": 1.0, "repeated": 1, "failure": None if e else "other"}
        for e in exact
    ]  # fmt: skip
    (path / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_ladder_compares_what_was_run_and_names_the_rest(tmp_path: Path) -> None:
    ladder = example("checkbox_ladder")
    episodes(tmp_path / "sft", [0] * 8 + [1] * 2)
    episodes(tmp_path / "exact-0", [1] * 10)
    episodes(tmp_path / "default-0", [0] * 7 + [1] * 3)
    held = ladder.summary(tmp_path, ladder.EVERY)
    assert held["against_sft"]["exact-0"] == {"gain": 0.8, "lost": 0, "won": 8, "p": 2 / 2**8, "method": "exact"}
    assert held["exact_against_default"]["exact-0 against default-0"]["won"] == 7
    text = ladder.table(held)
    assert {"base", "self", "exact-only", "exact-flat", "exact-beta0.02", "exact-group4-1", "default-2"} <= set(
        held["not_run"]
    )
    assert all(f"| {name} | not run |" in text for name in held["not_run"])
    assert not [name for name in ("sft", "exact-0") if f"| {name} | not run" in text]


def test_a_ladder_of_another_setting_is_refused(tmp_path: Path) -> None:
    ladder = example("checkbox_ladder")
    ladder._same_run(tmp_path, {"steps": 45})
    ladder._same_run(tmp_path, {"steps": 45})
    with pytest.raises(Exception, match="holds a ladder with {'steps': 45}"):
        ladder._same_run(tmp_path, {"steps": 10})


@pytest.mark.train
def test_the_patch_head_learns_where_the_navy_box_is() -> None:
    """Boxes at places of their own, in every test picture another than in training: chance is 1 patch of 30."""
    from test_train_vision import example as row

    from cuadata.rows import Grounding

    def grounding(number: int) -> Grounding:
        held = row(number)
        return Grounding(**{one.name: getattr(held, one.name) for one in dataclasses.fields(held)})

    head = example("patch_head")
    items = [head.item(grounding(number)) for number in range(10)]
    assert all(one.right.any() for one in items)
    found = head.judge(head.train(items[::2], epochs=25, seed=0, lr=5e-3), items[1::2])
    assert found["rate"] > 3 * found["random_patch"], found
